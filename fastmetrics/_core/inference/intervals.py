"""Confidence intervals of a value from its error, on the scale that suits its domain.

Student's distribution is used on these scales: the logarithm of the odds for areas and shares, the logarithm for
positive ratios, and the value itself, cut at its domain, for all else. A value in [0, 1] that is at a bound or has few
units has the exact interval of a share (C. Clopper, E. Pearson, 1934) of as many independent trials as would have its
error, and of at most as many as it has units (E. Korn, B. Graubard, "Confidence intervals for proportions with small
expected number of positive counts estimated from survey data", 1998). It is conservative, and says so.

An interval is never of width zero, and never leaves the domain.
"""

from __future__ import annotations

import math

from fastmetrics._core.distributions.binomial import share_limits
from fastmetrics._core.distributions.normal import two_sided_quantile
from fastmetrics._core.distributions.student import student_quantile
from fastmetrics._core.elementary import exp
from fastmetrics._core.inference.errors import ErrorEstimate
from fastmetrics._core.metric_spec import SCALES
from fastmetrics._core.named_tuples import NamedTuple

LEAST_UNITS = 2
FEW_UNITS = 8  # below, an interval of a value in [0, 1] is that of a share


class ConfidenceInterval(NamedTuple):
    """Both ends, or None. `reason` says why there is none, or what to know of it."""

    ends: tuple[float, float] | None
    reason: str | None = None


def find_interval(value: float, error: ErrorEstimate, scale: str, level: float) -> ConfidenceInterval:
    """The confidence interval of a value at a level, two-sided, on a scale of `SCALES`. Differences are "real"."""
    missing = why_no_error(error) if math.isfinite(value) else "the value is undefined"
    if missing is not None:
        return ConfidenceInterval(None, missing)
    _, least, greatest, _ = SCALES[scale]
    is_at_bound = not least < value < greatest  # BLEU may be above 100 by rounding
    if least == 0 and math.isfinite(greatest) and (is_at_bound or error.n_effective < FEW_UNITS):
        why = "the value is at a bound" if is_at_bound else f"{error.n_effective} units are few"
        of_share = error._replace(standard_error=error.standard_error / greatest)
        low, high = share_interval(min(max(value / greatest, 0.0), 1.0), of_share, level)
        ends = between((low * greatest, high * greatest), value, scale)
        return ConfidenceInterval(ends, f"by Clopper and Pearson, conservative: {why}")
    return interval_of_reach(value, error, scale, student_quantile(level, error.df))


def why_no_error(error: ErrorEstimate) -> str | None:
    """Why a value has no standard error."""
    if min(error.n_units, error.n_effective) < LEAST_UNITS:
        found = min(error.n_units, error.n_effective)
        return f"too few units: {found}, and an interval needs at least {LEAST_UNITS}"
    if not math.isfinite(error.standard_error):
        return "too few units: without one of them the value is undefined"
    return None


def interval_of_reach(value: float, error: ErrorEstimate, scale: str, reach: float) -> ConfidenceInterval:
    """The interval that reaches so many standard errors to both sides, on the scale."""
    if error.standard_error == 0:
        return ConfidenceInterval(None, "no unit changes the value, so it has no error to estimate")
    half, transform = reach * error.standard_error, SCALES[scale].transform
    if transform == "logit" and 0 < value < 1:
        odds = exp(half / (value * (1 - value)))
        ends = value / (value + (1 - value) * odds), value / (value + (1 - value) / odds)
    elif transform == "log":
        factor = exp(half / value) if value > 0 else math.inf
        ends = value / factor, value * factor
    else:
        ends = value - half, value + half
    if not all(map(math.isfinite, ends)):
        return ConfidenceInterval(None, "too few units: the error is too large for an interval")
    return ConfidenceInterval(between(ends, value, scale))


def between(ends: tuple[float, float], value: float, scale: str) -> tuple[float, float]:
    """The ends within the domain; those that rounding made equal to the value move to its neighbors."""
    low = ends[0] if ends[0] < value else math.nextafter(value, -math.inf)
    high = ends[1] if ends[1] > value else math.nextafter(value, math.inf)
    return SCALES[scale].cut(low, high)


def share_interval(value: float, error: ErrorEstimate, level: float) -> tuple[float, float]:
    """Clopper and Pearson's limits of a share, for the number of trials that have this error."""
    n = float(error.n_effective)
    if error.standard_error and 0 < value < 1:
        quantiles = two_sided_quantile(level) / student_quantile(level, error.df)
        root = math.sqrt(value * (1 - value)) / error.standard_error * quantiles
        n = min(n, root * root)
    return share_limits(n * value, n, (1 - level) / 2)
