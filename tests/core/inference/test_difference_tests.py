"""p-values and intervals of differences beside SciPy's tests, at the ends of doubles, and with few units."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp
from scipy import stats

from fastmetrics._core.inference.difference_tests import (
    Change,
    DistanceChange,
    change_between,
    two_sided_pvalue,
)
from fastmetrics._core.inference.errors import ErrorEstimate, estimate_error
from oracles.inference.holm import distance_change
from support.cases import each_case


def error_of(size, n_units, df=None):
    return ErrorEstimate(size, n_units - 1.0 if df is None else df, n_units, n_units)


def test_the_mean_of_pairs_has_the_paired_t_test():
    generator = np.random.default_rng(3)
    first = generator.normal(size=40)
    second = first + generator.uniform(-0.7, 1.1, size=40)  # without tails: all degrees of freedom are left
    of_first, of_second = ((own - own.mean()) / 39 for own in (first, second))
    change = change_between("maximize", (first.mean(), second.mean()), estimate_error(of_second - of_first, 40))
    exact = stats.ttest_rel(second, first)
    p = two_sided_pvalue(change)
    assert p.probability == pytest.approx(exact.pvalue, rel=1e-10)
    assert p.logarithm == pytest.approx(math.log(exact.pvalue), rel=1e-10)
    interval = exact.confidence_interval(0.9)
    assert change.interval(0.9).ends == pytest.approx((interval.low, interval.high), rel=1e-10)
    for bound in (-0.3, 0.0, 0.1, 0.5):
        above = stats.ttest_rel(second, first + bound, alternative="greater").pvalue
        assert change.above(bound).probability == pytest.approx(min(2 * above, 1), rel=1e-10)
        assert change.below(bound).probability == pytest.approx(min(2 * (1 - above), 1), rel=1e-9)


def test_p_is_as_small_as_it_is():
    p = two_sided_pvalue(Change(1.0, error_of(0.01, 10**5, 2000.0)))
    with mp.workdps(40):
        exact = mp.betainc(1000, 0.5, 0, mp.mpf(2000) / 12000, regularized=True)
        assert p == (pytest.approx(float(mp.log(exact)), rel=1e-13), 0.0)
    assert two_sided_pvalue(Change(1.0, error_of(0.009, 10**5, 2000.0))) < p


@each_case("size", [0.0, 1e-9, 1e-300])
def test_p_is_never_below_that_of_the_sign_test(size):
    for n_units, least in ((2, 0.5), (4, 0.125), (11, 2.0**-10), (1000, 2.0**-999), (5000, 0.0)):
        p = two_sided_pvalue(Change(-0.25, error_of(size, n_units)))
        if size == 1e-300 or n_units <= 11 or not size:
            assert p == (pytest.approx((1 - n_units) * math.log(2)), least)
        assert p.probability >= least
    assert two_sided_pvalue(Change(0.0, error_of(size, 4))) == (0.0, 1.0)


def test_few_units_show_no_difference_at_a_high_level():
    change = Change(0.5, error_of(0.001, 4))
    assert change.interval(0.95) == (None, "too few units: 4 show no difference at this level")
    assert change.interval(0.8).ends is not None
    assert Change(0.5, error_of(0.0, 40)).interval(0.95).ends is None


def test_no_error_no_test():
    for change in (
        Change(0.5, estimate_error(np.array([0.1]), 1)), Change(math.nan, error_of(0.1, 9)),
        DistanceChange(0.5, Change(0.5, estimate_error(np.array([0.1]), 1)), Change(0.5, error_of(0.1, 9))),
        DistanceChange(0.5, Change(0.5, error_of(0.1, 9)), Change(0.5, error_of(math.nan, 9))),
    ):  # fmt: skip
        assert two_sided_pvalue(change).is_missing
        assert change.above(0.1).is_missing
        assert change.below(-0.1).is_missing
        assert change.interval(0.3).ends is None


sizes = st.floats(1e-3, 3)
values = st.floats(-5, 5)


@given(values, sizes, values, sizes, st.integers(9, 500), st.sampled_from([0.5, 0.9, 0.99]), st.floats(-4, 4))
def test_a_claim_is_shown_exactly_if_the_interval_says_so(value, size, total, total_size, n_units, level, bound):
    difference, around = Change(value, error_of(size, n_units)), Change(total, error_of(total_size, n_units))
    for change in (difference, DistanceChange(distance_change(value, total), difference, around)):
        low, high = change.interval(level).ends
        above, below = change.above(bound).probability, change.below(bound).probability
        if all(abs(p - (1 - level)) > 1e-9 for p in (above, below)):
            assert (above < 1 - level) == (low > bound)
            assert (below < 1 - level) == (high < bound)
        assert low <= change.value + 1e-12
        assert change.value - 1e-12 <= high


@given(values, sizes, values, sizes)
def test_an_interval_of_distances_has_all_that_its_parts_allow(value, size, total, total_size):
    difference, around = Change(value, error_of(size, 50)), Change(total, error_of(total_size, 50))
    low, high = DistanceChange(distance_change(value, total), difference, around).interval(0.95).ends
    (d_low, d_high), (s_low, s_high) = difference.interval(0.95).ends, around.interval(0.95).ends
    # The extremes of sign(D S) min(|D|, |S|) lie at the corners, or where |D| = |S|.
    ds = np.concatenate((np.linspace(d_low, d_high, 60), np.clip([s_low, s_high, -s_low, -s_high, 0], d_low, d_high)))
    ss = np.concatenate((np.linspace(s_low, s_high, 60), np.clip([d_low, d_high, -d_low, -d_high, 0], s_low, s_high)))
    found = [distance_change(d, s) for d in ds.tolist() for s in ss.tolist()]
    assert min(found) == pytest.approx(low, abs=1e-9)
    assert max(found) == pytest.approx(high, abs=1e-9)


def test_distances_have_the_sign_of_the_farther_value():
    ones = np.linspace(-1, 1, 21) * 1e-3
    apart, together = estimate_error(-ones[::-1] - ones, 21), estimate_error(ones - ones[::-1], 21)
    change = change_between("closest_to_one", (0.9, 1.05), apart, together)
    assert change.value == pytest.approx(-0.05)
    assert change.difference.value == pytest.approx(0.15)
    assert change.total.value == pytest.approx(-0.05)
    assert change.below(0.0) < change.above(0.0) == (0.0, 1.0)
    assert change_between("closest_to_zero", (-0.1, 0.05), apart, together).value == pytest.approx(-0.05)
    assert isinstance(change_between("none", (0.9, 1.05), apart), Change)


@each_case(("a", "b", "farther"), [(0.0, 0.0, 0), (-0.3, 0.3, 0), (0.4, 0.4, 0), (-0.02, 0.0, -1), (0.01, -0.03, 1)])
def test_size_where_the_sign_of_a_distance_is_in_doubt(a, b, farther):
    """Two correlated models about the best value: a wrong claim in at most 5 % of logs."""
    generator = np.random.default_rng(8)
    common, own = generator.normal(0, 1, (400, 60)), generator.normal(0, 0.2, (400, 60))
    wrong = 0
    for shared, apart in zip(common, own, strict=True):
        first, second = a + shared, b + shared + apart
        of_first, of_second = (first - first.mean()) / 59, (second - second.mean()) / 59
        errors = estimate_error(of_second - of_first, 60), estimate_error(of_second + of_first, 60)
        change = change_between("closest_to_zero", (first.mean(), second.mean()), *errors)
        wrong += (farther <= 0 and change.above(0.0).probability < 0.05) or (
            farther >= 0 and change.below(0.0).probability < 0.05
        )
    assert wrong / 400 < 0.085
