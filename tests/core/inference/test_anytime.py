"""Confidence sequences: the boundary beside confseq's, p-values that agree, and false alarms over many looks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from fastmetrics._core.inference.anytime import anytime_log_pvalue, boundary, find_anytime_interval
from fastmetrics._core.inference.difference_tests import Change, DistanceChange, two_sided_pvalue
from fastmetrics._core.inference.errors import ErrorEstimate
from fastmetrics._core.inference.intervals import find_interval
from support.cases import each_case

# confseq 0.0.11: boundaries.normal_mixture_bound(units, alpha, tightest_at, 0.05, is_one_sided=False)
UNITS = (10, 100, 1000, 100_000, 10_000_000)
CONFSEQ = {
    (0.05, 1000): (28.72733015110024, 38.55054633530311, 95.98173584209047, 1126.289789723669, 13142.855101924579),
    (0.05, 50): (10.637547006557504, 30.614772188674166, 105.52070034257915, 1251.592814192079, 14236.916605621484),
    (0.001, 1000): (43.46692589040426, 57.047549574710054, 134.24758215610495, 1432.4521511066464, 15842.224787334528),
    (0.001, 50): (15.514237037554715, 42.05903662332505, 137.86935082198954, 1532.6246987789639, 16760.97562308555),
}


def error_of(n_units, size=0.1):
    return ErrorEstimate(size, n_units - 1.0, n_units, n_units)


@each_case(("alpha", "tightest_at"), list(CONFSEQ))
def test_the_boundary_is_that_of_confseq(alpha, tightest_at):
    for n, exact in zip(UNITS, CONFSEQ[alpha, tightest_at], strict=True):
        assert boundary(n, alpha, tightest_at) * math.sqrt(n) == pytest.approx(exact, rel=1e-14)


def test_the_widths_of_the_docstring():
    z = stats.norm.ppf(0.975)
    assert boundary(1000, 0.05, 1000) / z == pytest.approx(1.55, abs=0.01)
    assert max(boundary(n, 0.05, 1000) / z for n in (100, 10**6)) < 2
    around = [boundary(n, 0.05, 1000) for n in (700, 1000, 1400, 2000)]
    assert min(around) < min(boundary(100, 0.05, 1000), boundary(10**4, 0.05, 1000))


def test_intervals_reach_as_far_in_students_distribution():
    tail = stats.norm.sf(boundary(40, 0.1, 50.0))
    reach = stats.t.isf(tail, 39) * 0.1
    assert find_anytime_interval(0.4, error_of(40), "real", 0.9, 50).ends == pytest.approx((0.4 - reach, 0.4 + reach))
    logit = special.expit(special.logit(0.4) + np.array([-reach, reach]) / 0.24)
    assert find_anytime_interval(0.4, error_of(40), "share", 0.9, 50).ends == pytest.approx(tuple(logit))
    usual = find_interval(0.4, error_of(40), "real", 0.9).ends
    assert usual[1] < 0.4 + reach


def test_no_interval_has_a_reason():
    assert find_anytime_interval(1.0, error_of(40, 0.0), "share", 0.95).ends is None
    assert find_anytime_interval(math.nan, error_of(40), "real", 0.95) == (None, "the value is undefined")
    assert find_anytime_interval(0.5, error_of(1), "real", 0.95).reason.startswith("too few units")
    assert find_anytime_interval(0.5, error_of(5), "real", 0.95, 1e6) == (
        None, "too few units: 5, for intervals that suit 1e+06"
    )  # fmt: skip


@given(
    st.floats(-1, 1), st.floats(-1, 1), st.integers(8, 5000), st.sampled_from([0.8, 0.95, 0.999]),
    st.sampled_from([30.0, 1000.0]),
)  # fmt: skip
def test_p_is_small_exactly_if_the_interval_leaves_out_0(value, total, n_units, level, tightest_at):
    difference, around = (Change(own, error_of(n_units), tightest_at) for own in (value, total))
    for change in (difference, DistanceChange(0.0, difference, around)):
        p, interval = two_sided_pvalue(change), change.interval(level)
        if interval.ends is not None and abs(p.probability - (1 - level)) > 1e-9:
            assert (p.probability < 1 - level) == (not interval.ends[0] <= 0 <= interval.ends[1])
        one_look = two_sided_pvalue(change._replace(tightest_at=None) if isinstance(change, Change) else difference)
        assert isinstance(change, DistanceChange) or p >= one_look


def test_the_least_p():
    p = two_sided_pvalue(Change(1.0, error_of(10**5, 1e-3), 1000.0))
    assert -700 < p.logarithm < -600
    assert two_sided_pvalue(Change(1.0, error_of(4, 1e-9), 5.0)).probability == 0.125
    assert two_sided_pvalue(Change(0.0, error_of(40), 1000.0)) == (0.0, 1.0)
    assert anytime_log_pvalue(1.0, 1000, 1000.0) == 0.0


def test_false_alarms_over_365_looks():
    """Ten skewed units a day without a difference: the interval of one look leaves out 0 some day in most years."""
    generator, years, days, a_day = np.random.default_rng(4), 300, 365, 10
    units = generator.exponential(1, (years, days * a_day)) - 1
    n = np.arange(1, days * a_day + 1)
    means = np.cumsum(units, axis=1) / n
    variances = (np.cumsum(units**2, axis=1) / n - means**2) / np.maximum(n - 1, 1)
    looks = slice(2 * a_day - 1, None, a_day)
    t = (means[:, looks] / np.sqrt(variances[:, looks])).ravel()
    counts = np.tile(n[looks], years)
    reach = {m: stats.t.isf(stats.norm.sf(boundary(m, 0.05, 1000.0)), m - 1) for m in n[looks].tolist()}
    beyond = np.abs(t) > np.array([reach[m] for m in counts.tolist()])
    alarms = beyond.reshape(years, -1).any(axis=1).mean()
    usual = (np.abs(t) > stats.t.isf(0.025, counts - 1)).reshape(years, -1).any(axis=1).mean()
    assert alarms < 0.06
    assert usual > 0.3
