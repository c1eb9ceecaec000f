"""What a comparison could have shown, and how many units would show a difference.

A difference is found with a given power if it is as large as the quantiles of the test and of the power together, times
the standard error (H. Bloom, "Minimum detectable effects", Evaluation Review 19, 1995). With k times as many units of
the same kind, the variance is 1/k of what it is, and there are k times as many degrees of freedom.
"""

from __future__ import annotations

import math
from bisect import bisect_left

from fastmetrics._core.distributions.student import student_quantile, student_tail_quantile
from fastmetrics._core.inference.anytime import boundary_tail
from fastmetrics._core.inference.difference_tests import least_pvalue
from fastmetrics._core.inference.errors import ErrorEstimate
from fastmetrics._core.inference.intervals import why_no_error

POWER = 0.8
MOST_UNITS = 1 << 53


def smallest_difference(
    error: ErrorEstimate, level: float, power: float = POWER, tightest_at: float | None = None
) -> float | None:
    """The least difference that a two-sided test at this level finds with this power; None if it finds none.

    tightest_at: as of `anytime.py`.
    """
    if why_no_error(error) is not None or not error.standard_error:
        return None
    if least_pvalue(error.n_effective).probability >= 1 - level:
        return None
    reach = student_quantile(level, error.df)
    if tightest_at is not None:
        tail = boundary_tail(error.n_units, 1 - level, tightest_at)
        if tail is None:
            return None
        reach = student_tail_quantile(tail, error.df)
    return (reach + power_quantile(power, error.df)) * error.standard_error


def units_to_show(difference: float, error: ErrorEstimate, level: float, power: float = POWER) -> int | None:
    """How many units of the same kind show a difference of this size; None if no number is known to."""

    def is_enough(n_units: int) -> bool:
        found = smallest_difference(error_of_units(error, n_units), level, power)
        return found is not None and found <= abs(difference)

    if why_no_error(error) is not None or not error.standard_error or not is_enough(MOST_UNITS):
        return None
    return bisect_left(range(MOST_UNITS), True, lo=2, key=is_enough)


def error_of_units(error: ErrorEstimate, n_units: int) -> ErrorEstimate:
    """The error that so many units of the same kind would have."""
    times = n_units / error.n_units
    n_effective = int(times * error.n_effective)
    df = min(max(error.df * times, 1.0), max(n_effective - 1.0, 1.0))
    return ErrorEstimate(error.standard_error / math.sqrt(times), df, n_units, n_effective)


def power_quantile(power: float, df: float) -> float:
    """The t that a variable of Student's distribution is below with this probability."""
    return math.copysign(student_quantile(abs(2 * power - 1), df), power - 0.5)
