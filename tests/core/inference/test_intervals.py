"""Intervals beside SciPy's distributions, in their domains, and never of width zero."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from fastmetrics._core.inference.errors import ErrorEstimate, estimate_error
from fastmetrics._core.inference.intervals import find_interval, interval_of_reach
from fastmetrics._core.metric_spec import SCALES
from support.cases import each_case

ERROR = ErrorEstimate(0.05, 17.5, 40, 30)


@each_case("level", [0.5, 0.95, 0.999])
@each_case("value", [0.3, 0.9])
def test_scales(level, value):
    reach = stats.t.ppf((1 + level) / 2, 17.5) * 0.05
    plain = value - reach, value + reach
    logit = special.expit(special.logit(value) + np.array([-reach, reach]) / (value * (1 - value)))
    logarithm = np.exp(np.log(value) + np.array([-reach, reach]) / value)
    for scale, ends in (("share", logit), ("ratio", logarithm), ("real", plain)):
        assert find_interval(value, ERROR, scale, level) == (pytest.approx(tuple(ends), rel=1e-12), None)
    for scale, (least, greatest) in (("mean", (0, 1)), ("correlation", (-1, 1)), ("nonnegative", (0, math.inf))):
        cut = max(plain[0], least), min(plain[1], greatest)
        assert find_interval(value, ERROR, scale, level).ends == pytest.approx(cut, rel=1e-12)


@each_case(("successes", "n"), [(0, 1000), (4, 4), (2, 4), (7, 7), (1, 7), (1000, 1000)])
def test_few_units_have_the_exact_interval_of_a_share(successes, n):
    """Units of one row each: the error is that of a share of n - 1 trials, so trials are capped at the units."""
    values = np.repeat([1.0, 0.0], [successes, n - successes])
    share = successes / n
    error = estimate_error((values - share) / (n - 1), n)
    exact = stats.binomtest(successes, n).proportion_ci(method="exact")
    found = find_interval(share, error, "share", 0.95)
    if successes in (0, n):
        assert found.ends == pytest.approx((exact.low, exact.high), rel=1e-9, abs=1e-300)
        assert found.reason == "by Clopper and Pearson, conservative: the value is at a bound"
    else:
        quantiles = stats.norm.ppf(0.975) / stats.t.ppf(0.975, error.df)
        trials = min(n, share * (1 - share) * (quantiles / error.standard_error) ** 2)
        low = stats.beta.ppf(0.025, trials * share, trials - trials * share + 1)
        high = stats.beta.ppf(0.975, trials * share + 1, trials - trials * share)
        assert found.ends == pytest.approx((low, high), rel=1e-9)
        assert found.ends[0] < exact.low
        assert found.reason == f"by Clopper and Pearson, conservative: {n} units are few"


def test_four_users_that_are_all_right():
    error = ErrorEstimate(0.0, 3.0, 4, 4)
    for scale in ("share", "mean"):
        low, high = find_interval(1.0, error, scale, 0.95).ends
        assert (low, high) == (pytest.approx(0.025**0.25, rel=1e-12), 1.0)
        low, high = find_interval(0.0, error, scale, 0.95).ends
        assert (low, high) == (0.0, pytest.approx(1 - 0.025**0.25, rel=1e-12))
        assert find_interval(0.5, error, scale, 0.95).ends == pytest.approx(
            tuple(stats.beta.ppf((0.025, 0.975), (2, 3), (3, 2)))
        )


def test_rounding_does_not_move_a_value_from_its_bound():
    """BLEU of equal texts may be 100 + 4e-14."""
    for error in (ErrorEstimate(0.0, 3.0, 4, 4), ErrorEstimate(0.0, 39.0, 40, 40)):
        exact = find_interval(100.0, error, "percentage", 0.95)
        assert find_interval(100.00000000000004, error, "percentage", 0.95) == exact
        assert exact.ends[1] == 100.0


@each_case(
    ("value", "error", "scale", "reason"),
    [
        (0.5, ErrorEstimate(math.nan, math.nan, 1, 1), "share", "too few units: 1, and an interval needs at least 2"),
        (0.5, ErrorEstimate(math.nan, math.nan, 9, 1), "real", "too few units: 1, and an interval needs at least 2"),
        (0.5, ErrorEstimate(math.nan, math.nan, 9, 9), "share", "too few units: without one of them the value is"),
        (0.5, ErrorEstimate(0.0, 8.0, 9, 9), "share", "no unit changes the value, so it has no error to estimate"),
        (2.0, ErrorEstimate(0.0, 3.0, 4, 4), "ratio", "no unit changes the value"),
        (1.0, ErrorEstimate(0.0, 3.0, 4, 4), "correlation", "no unit changes the value"),
        (0.0, ErrorEstimate(0.0, 30.0, 40, 40), "nonnegative", "no unit changes the value"),
        (0.0, ErrorEstimate(0.1, 30.0, 40, 40), "ratio", "too few units: the error is too large for an interval"),
        (1e-9, ErrorEstimate(1e9, 1.0, 2, 2), "ratio", "too few units: the error is too large for an interval"),
        (math.nan, ERROR, "share", "the value is undefined"),
    ],
)  # fmt: skip
def test_no_interval_has_a_reason(value, error, scale, reason):
    ends, found = find_interval(value, error, scale, 0.95)
    assert ends is None
    assert re.match(reason, found)


@given(
    st.sampled_from(sorted(SCALES)), st.floats(0, 1), st.floats(1e-30, 1e3), st.integers(2, 60), st.floats(0, 1),
    st.sampled_from([0.01, 0.8, 0.95, 1 - 1e-9]),
)  # fmt: skip
def test_no_interval_leaves_its_domain_or_has_width_zero(scale, value, size, n_units, share_of_df, level):
    error = ErrorEstimate(size, 1 + share_of_df * (n_units - 2), n_units, n_units)
    found = find_interval(value, error, scale, level)
    if found.ends is None:
        assert found.reason
        return
    low, high = found.ends
    _, least, greatest, _ = SCALES[scale]
    assert least <= low <= value <= high <= greatest
    assert low < high
    assert low < value or value == least
    assert value < high or value == greatest


def test_a_value_at_or_beyond_its_bound_has_the_plain_interval_of_a_given_reach():
    """Corrected values may lie beyond."""
    assert interval_of_reach(0.0, ERROR, "share", 2.0).ends == (0.0, 0.1)
    assert interval_of_reach(-0.02, ERROR, "share", 2.0).ends == (0.0, pytest.approx(0.08))
    assert interval_of_reach(1.0, ERROR, "share", 2.0).ends == (0.9, 1.0)
