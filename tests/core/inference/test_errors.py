"""Standard errors, degrees of freedom and covariances beside fractions, in any order and of any size."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastmetrics._core.inference.errors import (
    ErrorEstimate,
    combine_errors,
    estimate_covariance,
    estimate_error,
    without_rounding,
)
from oracles.inference import errors as oracle
from support.cases import each_case

numbers = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))
columns = st.lists(numbers, min_size=2, max_size=30)


@given(columns, st.data())
def test_errors_are_those_of_fractions(changes, data):
    n_effective = data.draw(st.integers(2, len(changes)))
    found = estimate_error(np.array(changes), n_effective)
    assert found.standard_error == pytest.approx(oracle.standard_error(changes), rel=1e-14)
    assert found.df == pytest.approx(float(oracle.degrees_of_freedom(changes, n_effective)), rel=1e-14)
    assert 1 <= found.df <= n_effective - 1
    assert found[2:] == (len(changes), n_effective)


@given(columns, st.randoms(use_true_random=False))
def test_bits_do_not_depend_on_the_order(changes, random):
    shuffled = list(changes)
    random.shuffle(shuffled)
    assert estimate_error(np.array(shuffled), 2) == estimate_error(np.array(changes), 2)


@each_case("exponent", [-1060, -600, 0, 600, 1000])
def test_nothing_overflows(exponent):
    changes = np.array([3.0, -4.0, 12.0, 84.0])
    found, usual = estimate_error(np.ldexp(changes, exponent), 4), estimate_error(changes, 4)
    assert found.standard_error == math.ldexp(usual.standard_error, exponent) or exponent < -1000
    assert found.standard_error > 0
    assert found.df == usual.df
    if abs(exponent) <= 400:
        assert estimate_covariance(np.ldexp(changes, exponent), changes) == pytest.approx(
            math.ldexp(usual.standard_error**2, exponent)
        )


@given(columns)
def test_the_mean_has_the_textbook_error(values):
    """Leaving a row out changes a mean by (x - mean) / (n - 1)."""
    changes = oracle.left_out_changes(lambda sums: Fraction(sums[0], sums[1]), [(Fraction(v), 1) for v in values])
    found = estimate_error(np.array([float(change) for change in changes]), len(values))
    assert found.standard_error == pytest.approx(oracle.squared_deviations_error(values), rel=1e-12)


@given(columns)
def test_covariances(changes):
    first, second = np.array(changes), np.array(changes[::-1])
    exact = float(oracle.covariance(changes, changes[::-1]))
    size = float(oracle.covariance(list(map(abs, changes)), list(map(abs, changes[::-1]))))
    assert estimate_covariance(first, second) == pytest.approx(exact, rel=1e-14, abs=1e-14 * size)
    assert estimate_covariance(first, second) == estimate_covariance(second, first)
    own = estimate_error(first, 2).standard_error
    assert math.sqrt(estimate_covariance(first, first)) == pytest.approx(own, rel=1e-14)


def test_no_error():
    for changes, n_effective in (([0.5], 1), ([], 0), ([0.5, 0.25], 1), ([0.5, math.nan], 2), ([math.inf, 1.0], 2)):
        found = estimate_error(np.array(changes), n_effective)
        assert math.isnan(found.standard_error)
        assert math.isnan(found.df)
    assert estimate_error(np.zeros(4), 3) == ErrorEstimate(0.0, 2.0, 4, 3)
    assert math.isnan(estimate_covariance(np.array([1.0]), np.array([1.0])))
    assert math.isnan(estimate_covariance(np.array([1.0, math.nan]), np.array([1.0, 2.0])))


def test_rounding_is_no_error():
    """Equal losses: the means without each unit differ by rounding, or not at all."""
    losses = np.full(1000, 0.1)
    means = np.array([np.delete(losses, unit).mean() for unit in range(1000)])
    error = estimate_error(losses.mean() - means, 1000)
    assert 0 < error.standard_error < 1e-13
    assert without_rounding(error, 0.1) == error._replace(standard_error=0.0)
    assert without_rounding(error, 1e-9) == error
    missing = estimate_error(np.array([1.0]), 1)
    assert math.isnan(without_rounding(missing, 1.0).standard_error)


def test_a_heavy_unit_has_few_degrees_of_freedom():
    changes = np.full(10_000, 1e-6)
    changes[7] = 1.0
    assert estimate_error(changes, 10_000).df == pytest.approx(1, rel=1e-3)
    assert estimate_error(np.array([0.0, 1e-200, 0.0]), 3).df == 1


def test_equal_units_have_all_degrees_of_freedom():
    assert estimate_error(np.tile([1.0, -1.0], 50), 100).df == 99


def test_independent_values_have_the_degrees_of_freedom_of_welch():
    generator = np.random.default_rng(1)
    first, second = generator.normal(size=7), generator.normal(1, 3, size=12)
    errors = [ErrorEstimate(float(stats.sem(own)), len(own) - 1.0, len(own), len(own)) for own in (first, second)]
    found = combine_errors(*errors)
    exact = stats.ttest_ind(second, first, equal_var=False)
    assert found.df == pytest.approx(exact.df, rel=1e-13)
    assert (second.mean() - first.mean()) / found.standard_error == pytest.approx(exact.statistic, rel=1e-13)
    assert found[2:] == (19, 7)
    assert combine_errors(ErrorEstimate(0.0, 3.0, 4, 4), ErrorEstimate(0.0, 6.0, 7, 7)) == (0.0, 3.0, 11, 4)
    assert combine_errors(ErrorEstimate(0.0, 3.0, 4, 4), errors[0])[:2] == pytest.approx(errors[0][:2])
    assert math.isnan(combine_errors(estimate_error(np.zeros(1), 1), errors[0]).standard_error)
