"""Elementary functions of our own: special arguments, exact cases, arrays and numbers alike."""

import math

import numpy as np
import pytest

from fastmetrics._core import elementary
from support.cases import each_case

INF, NAN = math.inf, math.nan
NAMES = ("log", "log1p", "log2", "exp", "exp2", "expm1", "sin", "cos", "tan", "arcsin", "arctan")
SPECIAL = [
    0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-310, 1.7976931348623157e308,
    -1.7976931348623157e308, 0.5, -0.5, 2.0, -2.0, 710.0, -746.0, 1024.0, -1076.0, 1e300, -1e300, 1e-300,
]  # fmt: skip


def bits(values):
    values = np.asarray(values, np.float64)
    return np.where(np.isnan(values), NAN, values).view(np.int64).tolist()


@each_case("name", NAMES)
def test_special_arguments_have_the_values_of_numpy(name):
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(np.array(SPECIAL))
    found = getattr(elementary, name)(np.array(SPECIAL))
    is_exact = ~np.isfinite(expected) | (np.abs(expected) <= 1) & (expected == np.rint(expected))
    assert bits(found[is_exact]) == bits(expected[is_exact])
    np.testing.assert_allclose(found, expected, rtol=3e-16)


@each_case("name", NAMES)
def test_arrays_and_numbers_have_the_same_bits(name):
    function = getattr(elementary, name)
    values = np.concatenate([SPECIAL, np.random.default_rng(1).normal(0, 2, 300)])
    expected = [function(value) for value in values.tolist()]
    assert all(type(value) is float for value in expected)
    assert bits(function(values)) == bits(expected)
    assert bits(function(values[::-1])) == bits(expected[::-1])
    assert bits(function(values.reshape(4, -1).T)) == bits(np.array(expected).reshape(4, -1).T)


@each_case("name", NAMES)
def test_shapes_and_types(name):
    function = getattr(elementary, name)
    assert function(np.array(0.5)).shape == ()
    assert function(np.empty((0, 3))).shape == (0, 3)
    assert function(np.ones(2, np.float32)).dtype == np.float64
    assert function(np.ones(2, np.int32)).tolist() == [function(1)] * 2
    assert type(function(np.float64(0.5))) is float


def test_powers_have_the_special_values_of_c():
    for x in [*SPECIAL, 3.0, -3.0, 0.25]:
        for y in [*SPECIAL, 3.0, -3.0, 2.0**53 + 2, -(2.0**53)]:
            try:
                expected = math.pow(x, y)
            except (OverflowError, ValueError):
                with np.errstate(all="ignore"):
                    expected = float(np.power(np.array([x]), np.array([y]))[0])
            found = elementary.power(x, y)
            assert found == pytest.approx(expected, rel=3e-16, nan_ok=True), (x, y)
            assert expected != expected or math.copysign(1, found) == math.copysign(1, expected), (x, y)


def test_powers_of_arrays_are_broadcast():
    x, y = np.array([[0.5], [2.0]]), np.array([1.0, 2.0, -1.0])
    assert elementary.power(x, y).tolist() == [[0.5, 0.25, 2.0], [2.0, 4.0, 0.5]]
    assert elementary.power(2, y).tolist() == [2.0, 4.0, 0.5]
    assert elementary.power(x, 3).tolist() == [[0.125], [8.0]]
    assert elementary.power(np.array([2.0]), np.array([[1.0, 2.0], [3.0, -1.0]])).tolist() == [[2.0, 4.0], [8.0, 0.5]]
    assert elementary.power(np.array([1.0, 2.0]), np.array([3.0])).tolist() == [1.0, 8.0]
    for result in (elementary.power(2.0, np.empty((0, 3))), elementary.power(np.empty((0, 3)), np.ones(3))):
        assert result.shape == (0, 3)
    assert elementary.power(np.array(2.0), np.array(3.0)).shape == ()


def test_exact_cases():
    k = np.arange(-1074, 1024)
    powers = np.ldexp(1.0, k)
    assert elementary.exp2(k).tolist() == powers.tolist()
    assert elementary.log2(powers).tolist() == k.tolist()
    assert elementary.power(2, k).tolist() == powers.tolist()
    whole = np.arange(1, 95).astype(float)
    assert elementary.power(whole, 8).tolist() == [n**8 for n in range(1, 95)]
    assert elementary.power(whole**2, 0.5).tolist() == whole.tolist()
