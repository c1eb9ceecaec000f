"""Errors of few rows, which are one call of a kernel: the bits of the general path."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core import exact
from fastmetrics._kernels.numeric import sums
from fastmetrics._kernels.regression import errors, moments
from support.cases import each_case, without_warnings
from support.regression_cases import D2, LOGARITHMIC, MEANS, VARIANCE_SCORES, columns, is_same

SHORT = [
    *(
        (name, {})
        for name in [*MEANS, "root_mean_squared_error", *LOGARITHMIC, *VARIANCE_SCORES, "median_absolute_error"]
    ),
    *(("d2_pinball_score", {"alpha": alpha}) for alpha in (0, 0.1, 0.25, 0.5, 0.7, 1)),
    ("d2_absolute_error_score", {}),
    *(("d2_tweedie_score", {"power": power}) for power in (-1, 0, 1, 1.5, 2, 3)),
]


@pytest.mark.parametrize(("name", "options"), SHORT)
@given(case=st.one_of(columns(st.floats(-0.9, 1e9), weighted=False), columns(st.floats(0, 1e-12), weighted=False)))
def test_the_short_path_has_the_bits_of_the_general_path(name, options, case):
    y_true, y_pred, _ = case
    if name == "d2_tweedie_score" and options["power"]:
        y_true, y_pred = np.abs(y_true) + 0.5, np.abs(y_pred) + 0.5
    function = getattr(fm, name)
    short = without_warnings(function, y_true, y_pred, **options)
    assert is_same(short, without_warnings(function.__wrapped__, y_true, y_pred, **options))


@each_case("rows", [1, 2, 15, 16, 17, 100, 2047, 2048, 2049, 5000, 32768, 32769, 70_000, 300_001])
def test_short_and_general_path_agree_for_any_number_of_rows(rows):
    y_true, y_pred = np.random.default_rng(rows).normal(3, 1, (2, rows)) ** 2
    for name in [*MEANS, *LOGARITHMIC, "median_absolute_error", *([*VARIANCE_SCORES, *D2] if rows > 1 else [])]:
        values = {getattr(fm, name)(y_true, y_pred, n_threads=n_threads) for n_threads in (None, 1, 2, 3)}
        assert len(values) == 1, name
    assert fm.max_error(y_true, y_pred) == np.abs(y_true - y_pred).max()


@given(
    st.lists(st.one_of(st.floats(-1e9, 1e9), st.floats(-1e-290, 1e-290), st.integers(-3, 3)), min_size=1, max_size=40),
    st.sampled_from([0, -1000, 900]),
)
def test_the_rounding_of_short_means(values, exponent):
    """A mean that the kernel returns equals the quotient of integers. If it is uncertain, it returns None."""
    terms = np.ldexp(np.array(values, np.float64), exponent)
    value = errors.try_mean_error(np.zeros(len(terms)), terms, errors.SIGNED, 0.0)
    if value is not None:
        assert value == float(sum(map(Fraction, terms.tolist())) / len(terms))


HALFWAY = {
    "half an ulp": [1.0, 1.0 + 2.0**-52],
    "half an ulp less a bit": [1.0, 1.0 + 2.0**-52, 1.0, 1.0 + 2.0**-52, -(2.0**-400), 2.0**-400, 0.0, 0.0],
    "halfway and a little": [1.0, 2.0**-53, 2.0**-200, 0.0],
    "halfway less a little": [1.0, 2.0**-53, -(2.0**-900), 0.0],
    "a third": [1.0, 0.0, 0.0],
    "zero": [1.0, -1.0],
    "subnormal": [5e-324, 0.0, 0.0],
    "tiny beside large": [1e300, 5e-324, -1e300],
    "greatest": [1.7976931348623157e308] * 3,
}


@pytest.mark.parametrize("name", HALFWAY)
def test_means_halfway_between_two_doubles(name):
    terms = np.array(HALFWAY[name])
    expected = float(sum(map(Fraction, terms.tolist())) / len(terms))
    assert errors.try_mean_error(np.zeros(len(terms)), terms, errors.SIGNED, 0.0) in (None, expected)
    state = exact.new_states(1)
    errors.add_error_terms(np.zeros(len(terms)), terms, None, errors.SIGNED, 0.0, 0, len(terms), state)
    assert exact.divide(exact.to_integer(state[0]), len(terms) << exact.EXPONENT) == expected


@each_case("rows", range(1, 12))
def test_means_of_few_are_often_halfway(rows):
    """Many quotients are halfway between two doubles. The kernel rounds them as integers do."""
    generator = np.random.default_rng(rows)
    y_true = np.zeros(rows)
    for _ in range(300):
        terms = np.ldexp(generator.integers(-(2**53), 2**53, rows), generator.integers(-3, 3, rows))
        value = errors.try_mean_error(y_true, terms, errors.SIGNED, 0.0)
        assert value == float(sum(map(Fraction, terms.tolist())) / rows)


def test_the_kernel_is_nearly_always_certain():
    """Otherwise the short path would be useless."""
    generator = np.random.default_rng(5)
    for rows in (1, 7, 100, 1000):
        y_true, y_pred = generator.normal(size=(2, rows))
        for kind in (errors.SIGNED, errors.SQUARED, errors.ABSOLUTE, errors.PERCENTAGE):
            assert errors.try_mean_error(y_true, y_pred, kind, 0.0) is not None
        if rows > 1:
            assert moments.try_explained_variance(y_true, y_pred, False) is not None
            assert moments.try_explained_variance(y_true, y_pred, True) is not None
            assert errors.try_d2_pinball(y_true, y_pred, 0.5) is not None
            assert errors.try_d2_tweedie(y_true, y_pred, errors.SQUARED, 0.0) is not None


SCALES = {
    "even": lambda chunk: 0,
    "growing": lambda chunk: 40 * chunk - 300,
    "shrinking": lambda chunk: 300 - 40 * chunk,
    "alternating": lambda chunk: (-1) ** chunk * 60,
    "beyond the split": lambda chunk: 450 if chunk % 3 else -500,
    "subnormal": lambda chunk: -1070 if chunk % 2 else 0,
}


@each_case("types", [("f8", "f8"), ("f4", "f4"), ("f4", "f8"), ("f8", "f4"), ("f8", "i8")])
@each_case("scale", SCALES)
@each_case("kind", ["SQUARED", "ABSOLUTE", "SIGNED"])
def test_sums_of_chunks_of_any_scale(kind, scale, types):
    """The state equals that of the terms summed one by one, for any scale of the chunk before."""
    generator = np.random.default_rng(8)
    rows = 2048 * 12 + 77
    exponents = np.array([SCALES[scale](row // 2048) for row in range(rows)])
    columns = []
    for dtype in types:
        limit = 1074 if dtype == "f8" else 120
        values = np.ldexp(generator.normal(size=rows), np.clip(exponents, -limit, limit))
        values[5000:7100] = 0.0
        columns.append((np.clip(np.round(values), -1e15, 1e15) if dtype == "i8" else values).astype(dtype))
    y_true, y_pred = columns
    for bad in (None, math.nan, math.inf, -math.inf):
        if bad is not None:
            y_true[[3000, 20_000]] = bad
        with np.errstate(over="ignore"):
            difference = y_true.astype("f8") - y_pred
            terms = {"SQUARED": difference * difference, "ABSOLUTE": np.abs(difference), "SIGNED": -difference}[kind]
        state, expected = exact.new_states(1), exact.new_states()
        flags = errors.add_error_terms(y_true, y_pred, None, getattr(errors, kind), 0.0, 0, rows, state)
        sums.sum_values(terms, None, expected)
        assert (state[0] == expected).all()
        assert flags == (0 if np.isfinite(terms).all() else errors.NOT_FINITE)


@pytest.mark.parametrize("kind", ["SQUARED", "ABSOLUTE", "SIGNED"])
def test_sums_of_terms_that_are_all_large(kind):
    """Sums of a SIMD lane that are as large as possible."""
    y_true = np.sqrt(np.random.default_rng(4).uniform(0.99, 1.0, 2048 * 5))
    y_pred = np.zeros(len(y_true))
    state = exact.new_states(1)
    errors.add_error_terms(y_true, y_pred, None, getattr(errors, kind), 0.0, 0, len(y_true), state)
    terms = {"SQUARED": y_true * y_true, "ABSOLUTE": y_true, "SIGNED": -y_true}[kind]
    assert exact.to_float(state[0]) == math.fsum(terms.tolist())
    assert exact.exact_sum(terms) == math.fsum(terms.tolist())
