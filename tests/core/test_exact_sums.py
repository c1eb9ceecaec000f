"""Exact sums: every bit equals the rational sum rounded once, for any order of the terms."""

import itertools
import math
import operator
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core import exact
from fastmetrics._core.exact import DoubleDoubles, exact_sum
from fastmetrics._core.state import Fields, KnownSums, ManySparseSums
from fastmetrics._core.state import exact_sum as exact_field
from oracles.sums import correctly_rounded_sum
from support import strategies
from support.cases import each_case

TINY = 5e-324
LARGE = 1.7976931348623157e308


def bits(value):
    return struct.pack("<d", value)


def assert_exact(values, dtype="float64"):
    array = np.array(values, dtype=dtype)
    expected = correctly_rounded_sum(array.tolist())
    value = exact_sum(array)
    assert type(value) is float
    if math.isnan(expected):
        assert math.isnan(value)
    else:
        assert bits(value) == bits(expected), (value.hex(), expected.hex())


HARD_SUMS = {
    "empty": [],
    "one": [0.1],
    "cancellation": [1e300, 1.0, -1e300],
    "cancellation to zero": [0.1, 0.2, 0.3, -0.3, -0.2, -0.1],
    "cancellation to a subnormal": [1e300, TINY, -1e300],
    "subnormals": [TINY] * 7,
    "subnormals becoming normal": [2.2250738585072014e-308 - TINY, TINY],
    "largest subnormal twice": [2.225073858507201e-308] * 2,
    "half an ulp, to even": [1.0, 2.0**-53],
    "half an ulp and a bit, up": [1.0, 2.0**-53, 2.0**-106],
    "half an ulp less a bit, down": [1.0, 2.0**-53, -(2.0**-106)],
    "half an ulp and the smallest bit, up": [1.0, 2.0**-53, TINY],
    "odd, half an ulp, to even": [1.0 + 2.0**-52, 2.0**-53],
    "negative half": [-1.0, -(2.0**-53), -TINY],
    "borrow through every limb": [LARGE, -TINY],
    "carry through every limb": [-LARGE, TINY, LARGE],
    "all exponents": [2.0**exponent for exponent in range(-1074, 1023)],
    "alternating exponents": [(-1.0) ** exponent * 2.0**exponent for exponent in range(-1074, 1024)],
    "overflow": [LARGE, LARGE],
    "negative overflow": [-LARGE, -LARGE],
    "overflow by half an ulp": [LARGE, 2.0**970],
    "largest that does not overflow": [LARGE, math.nextafter(2.0**970, 0.0)],
    "intermediate overflow": [LARGE, LARGE, LARGE, -LARGE, -LARGE],
    "deep intermediate overflow": [LARGE] * 5000 + [-LARGE] * 4999,
    "negative zero": [-0.0, 0.0],
    "infinity": [math.inf, 1.0, -LARGE],
    "negative infinity": [1.0, -math.inf],
    "opposite infinities": [math.inf, -math.inf],
    "nan": [1.0, math.nan],
    "nan and infinity": [math.inf, math.nan],
}


@pytest.mark.parametrize("name", HARD_SUMS)
def test_hard_sums(name):
    values = HARD_SUMS[name]
    assert_exact(values)
    assert_exact(values[::-1])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=60))
def test_any_finite_floats(values):
    assert_exact(values)


@given(st.lists(st.floats(width=32), max_size=60))
def test_any_float32(values):
    assert_exact(values, "float32")


@given(st.lists(st.sampled_from([math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, LARGE, -LARGE, TINY]), max_size=8))
def test_special_values_follow_ieee(values):
    assert_exact(values)


@given(st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=30))
def test_values_and_their_negatives_cancel_to_zero(values):
    assert exact_sum(np.array(values + [-value for value in reversed(values)])) == 0.0


@each_case("size", [*strategies.EDGE_SIZES, 1023, 1024, 1025, 65535, 65536, 131073])
@each_case("dtype", ["float32", "float64"])
def test_equals_fsum_at_any_size(size, dtype):
    generator = np.random.default_rng(size)
    exponents = generator.integers(-30, 30, size).astype(dtype)
    values = (generator.standard_normal(size).astype(dtype) * np.exp2(exponents)).astype(dtype)
    expected = math.fsum(values.tolist())
    assert exact_sum(values) == expected
    assert exact_sum(values[::-1].copy()) == expected


def test_all_exponents_in_a_large_array():
    generator = np.random.default_rng(1)
    mantissas = generator.standard_normal(200_000)
    values = np.ldexp(mantissas, generator.integers(-1074, 1000, 200_000))
    assert exact_sum(values) == math.fsum(values.tolist())


@each_case("size", [4095, 4096, 4097, 300_000])
def test_many_equal_terms_carry(size):
    """Limbs that only grow must be carried before they overflow."""
    for value in (math.nextafter(1.0, 0.0), -math.nextafter(1.0, 0.0), TINY, 1e300):
        assert exact_sum(np.full(size, value)) == float(size * Fraction(value))


def test_order_does_not_matter():
    values = [1e300, 1.0, -1e300, TINY, 0.1, -1e-20]
    expected = exact_sum(np.array(values))
    for order in itertools.permutations(values):
        assert bits(exact_sum(np.array(order))) == bits(expected)


def test_a_read_only_input():
    values = np.array([0.1, 0.2, 0.3])
    values.flags.writeable = False
    assert exact_sum(values) == math.fsum([0.1, 0.2, 0.3])
    assert values.tolist() == [0.1, 0.2, 0.3]


@given(st.lists(st.lists(st.floats(-1e300, 1e300), max_size=4), min_size=1, max_size=5))
def test_many_states_are_the_integers_of_each(sums_of):
    states = np.array([exact.sum_state(np.array(values, np.float64), None) for values in sums_of])
    assert exact.to_integers(states) == [int(sum(map(Fraction, values)) * 2**exact.EXPONENT) for values in sums_of]
    fields = Fields("rows", exact_field("sum"))
    known = list(KnownSums.of_states(fields, np.arange(len(states))[:, None], states[:, None]))
    assert [state.integer("sum") for state in known] == exact.to_integers(states)
    assert [state.count("rows") for state in known] == list(range(len(states)))


def test_states_that_are_only_read_are_the_states():
    sums = [[1.0, 2.0], [math.inf, 0.0], [-0.5], [math.nan], [0.0]]
    states = np.array([exact.sum_state(np.array(values), None) for values in sums])
    known = list(KnownSums.of_states(Fields(exact_field("sum")), np.zeros((len(sums), 0), np.int64), states[:, None]))
    assert [state.is_finite("sum") for state in known] == [True, False, True, False, True]
    assert all(np.array_equal(state.exact[0], own) for state, own in zip(known, states, strict=True))
    no_sums = np.zeros((2, 0, exact.SIZE), np.int64)
    without_sums = KnownSums.of_states(Fields("a", "b"), np.array([[3, 4], [5, 6]]), no_sums)
    assert [(state.count("a"), state.count("b")) for state in without_sums] == [(3, 4), (5, 6)]


def numbers_and_fractions(random, n):
    """Numbers of many states, and what they are: counts, exact sums, and what becomes of them."""
    counts = random.integers(0, 10 ** random.integers(1, 18), n)
    states = exact.new_states(n, 2)
    for own in states:
        own[1] = exact.sum_state(random.normal(size=random.integers(0, 5)) * 10.0 ** random.integers(-9, 9), None)
    sums = [Fraction(exact.to_integer(own[1]), 1 << exact.EXPONENT) for own in states]
    return [
        (DoubleDoubles.of_counts(counts), list(map(Fraction, counts.tolist()))),
        (DoubleDoubles.of_states(states, 1), sums),
    ]


def combine(operation, first, second):
    """The results of fractions; None where there is none."""
    pairs = zip(first, second, strict=True)
    return [None if None in pair else operation(*pair) for pair in pairs]


def test_numbers_of_many_states_are_right_to_within_their_error():
    random = np.random.default_rng(0)
    known = 0
    for _ in range(200):
        numbers = numbers_and_fractions(random, 20)
        for _ in range(4):
            (one, first), (other, second) = (numbers[i] for i in random.integers(0, len(numbers), 2))
            factor = int(random.integers(-(10**9), 10**9)) ** 3
            ratios = combine(lambda x, y: x / y if y > 0 else None, first, second)
            numbers += [
                (one + other, combine(operator.add, first, second)),
                (one - other, combine(operator.sub, first, second)),
                (one * other, combine(operator.mul, first, second)),
                (factor * one, combine(operator.mul, [factor] * len(first), first)),
                (abs(one), combine(lambda x, _: abs(x), first, first)),
                (one.over(other), ratios),
            ]
            for quotient, ratio in zip(exact.quotients(one, other).tolist(), ratios, strict=True):
                if not math.isnan(quotient):
                    assert quotient == float(ratio)
                    known += 1
        for number, wanted in numbers:
            columns, rounded = number.columns.T.tolist(), number.rounded().tolist()
            for (high, low, error), nearest, value in zip(columns, rounded, wanted, strict=True):
                if math.isnan(high):
                    assert math.isnan(nearest)
                else:
                    assert abs(Fraction(high) + Fraction(low) - value) <= Fraction(error)
                    assert math.isnan(nearest) or nearest == float(value)
    assert known > 5000


@each_case("scale", [1.0, 1e-100, 1e100, 1e-300, math.inf])
def test_numbers_of_few_limbs_that_are_not_normalized(scale):
    """What is left of all rows without those of a unit: limb by limb."""
    random = np.random.default_rng(1)
    units = np.stack([exact.sum_state(scale * random.random(random.integers(1, 9)), None) for _ in range(50)])
    columns = np.flatnonzero(units.any(axis=0))
    left = ManySparseSums(
        Fields("rows", exact_field("others"), exact_field("sum")), np.ones((50, 1), np.int64),
        exact.SIZE + columns, (units.sum(axis=0) - units)[:, columns],
    )  # fmt: skip
    dense = left.dense()
    assert left.number("others").are_zero.all()
    found, wanted = left.number("sum"), dense.number("sum")
    assert np.array_equal(found.rounded(), wanted.rounded(), equal_nan=True)
    assert np.isnan(found.high).all() == (scale in (1e-300, math.inf))
    integers = exact.to_integers(dense.exact[:, 1])
    for (high, low, error), integer in zip(found.columns.T.tolist(), integers, strict=True):
        gap = abs((Fraction(high) + Fraction(low)) * (1 << exact.EXPONENT) - integer) if high == high else 0
        assert math.isnan(high) or gap <= Fraction(error) * (1 << exact.EXPONENT)


def test_numbers_that_are_not_known_are_nan():
    states = exact.new_states(4, 1)
    for state, value in zip(states[:, 0], (1e300, 1e-300, math.inf, math.nan), strict=True):
        state[:] = exact.sum_state(np.array([value]), None)
    assert np.isnan(DoubleDoubles.of_states(states, 0).rounded()).all()
    one, zero, two = (DoubleDoubles.of_counts(np.array([count])) for count in (1, 0, 2))
    assert np.isnan(exact.quotients(one, zero))
    assert np.isnan(exact.quotients(one, one - two))
    assert exact.quotients(zero, two) == 0
    assert zero.are_zero
    assert zero.or_one().rounded() == 1
    tiny = DoubleDoubles.of_integer(1).over(1 << 400)
    assert np.isnan((tiny * tiny * tiny).rounded())
    assert np.isnan((one * (1 << 400) * (1 << 400) * (1 << 400)).rounded())
    with pytest.raises(ValueError, match="different lengths"):
        _ = DoubleDoubles.of_counts(np.arange(3)) + DoubleDoubles.of_counts(np.arange(2))
