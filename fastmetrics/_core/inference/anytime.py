"""Intervals and p-values of one growing sample that may be looked at as often as one likes.

The asymptotic confidence sequence of I. Waudby-Smith, D. Arbour, R. Sinha, E. Kennedy, A. Ramdas ("Time-uniform central
limit theory and asymptotic confidence sequences", Annals of Statistics 52, 2024): with probability `level` the true
value lies in the intervals of all looks together. After n units it reaches

    sqrt((1 + 1/r) log((1 + r) / alpha^2)),  r = n (2 log(1/a) + log(1 + 2 log(1/a))) / n*,  a = 0.05

standard errors, H. Robbins' mixture of normal distributions. It is narrowest, for its level, about n* units; there it
is 1.55 times as wide as the interval of one look at 95 %, and less than twice as wide from n*/10 to 1,000 n*. The
tuning must not depend on the data. Few degrees of freedom: the tail of the normal distribution at the boundary is
looked up in Student's. Each unit enters once, with all of its rows.
"""

from __future__ import annotations

import math

from fastmetrics._core.distributions.normal import normal_quantile, normal_tail
from fastmetrics._core.distributions.student import LEAST_TAIL, student_tail_quantile
from fastmetrics._core.elementary import log, log1p
from fastmetrics._core.inference.errors import ErrorEstimate
from fastmetrics._core.inference.intervals import ConfidenceInterval, interval_of_reach, why_no_error

TIGHTEST_AT = 1000  # units
SPREAD = 2 * log(20) + log1p(2 * log(20))


def find_anytime_interval(
    value: float, error: ErrorEstimate, scale: str, level: float, tightest_at: float = TIGHTEST_AT
) -> ConfidenceInterval:
    """The interval of a value now, where all that were and will be looked at hold together at the level."""
    missing = why_no_error(error) if math.isfinite(value) else "the value is undefined"
    if missing is not None:
        return ConfidenceInterval(None, missing)
    tail = boundary_tail(error.n_units, 1 - level, tightest_at)
    if tail is None:
        return ConfidenceInterval(None, f"too few units: {error.n_units}, for intervals that suit {tightest_at:g}")
    return interval_of_reach(value, error, scale, student_tail_quantile(tail, error.df))


def boundary_tail(n_units: float, alpha: float, tightest_at: float) -> float | None:
    """The tail of the normal distribution at the boundary; None if it is too small for Student's quantiles."""
    tail = normal_tail(boundary(n_units, alpha, tightest_at))
    return None if tail < LEAST_TAIL else tail


def boundary(n_units: float, alpha: float, tightest_at: float) -> float:
    """How many standard errors of a normal variable the interval reaches to both sides after so many units."""
    r = n_units * SPREAD / tightest_at
    return math.sqrt((1 + 1 / r) * (log1p(r) - 2 * log(alpha)))


def anytime_log_pvalue(probability: float, n_units: int, tightest_at: float) -> float:
    """The logarithm of the p-value that holds for all looks together, from the two-sided one of this look.

    It is below log(alpha) exactly if the boundary is crossed. Tails below 1e-290 count as 1e-290.
    """
    z, r = normal_quantile(max(probability / 2, LEAST_TAIL)), n_units * SPREAD / tightest_at
    return min((log1p(r) - z * z * (r / (1 + r))) / 2, 0.0)
