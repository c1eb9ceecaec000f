"""Quantiles: where a tail probability has a given value."""

from __future__ import annotations

import math
from collections.abc import Callable

from fastmetrics._core.elementary import exp, log

MOST_STEPS = 100
LAST_STEP = 2.0**-30  # relative; the error after a step of Newton's method is about its square


def solve_log_tail(tail_and_change: Callable[[float], tuple[float, float]], tail: float, start: float) -> float:
    """The x > 0 with this tail, by Newton's method for log(tail) as a function of log(x).

    `tail_and_change` gives the tail at x, and its change with log(x). The function must be concave: then all steps but
    the first lead to the same side of the quantile.
    """
    x = start
    for _ in range(MOST_STEPS):
        found, change = tail_and_change(x)
        step = log(found / tail) * found / change
        x *= exp(-step)
        if abs(step) < LAST_STEP:
            break
    return x


def solve_falling_logarithm(
    logarithm_and_slope: Callable[[float], tuple[float, float]], greatest: float, start: float
) -> float:
    """The x in (0, greatest] where a falling function is 0: Newton's method, or bisection if it leaves the range."""
    low, high, x = 0.0, greatest, min(start, greatest)
    for _ in range(MOST_STEPS):
        value, slope = logarithm_and_slope(x)
        if value > 0:
            low = x
        else:
            high = x
        step = value / slope if math.isfinite(value) and slope else math.inf
        if abs(step) < LAST_STEP * x:
            return x - step
        x = x - step if low < x - step < high else (low + high) / 2
    return x


def solve_falling(logarithm: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is 0, between `low` and `high`: regula falsi, in the Illinois variant."""
    at_low, at_high = logarithm(low), logarithm(high)
    middle = low
    for _ in range(MOST_STEPS):
        middle = low + (high - low) * min(max(at_low / (at_low - at_high), 0.01), 0.99)
        if not low < middle < high or high - low < 1e-13 * high:
            break
        at_middle = logarithm(middle)
        if at_middle == 0:
            return middle
        # The value at the end that stays is halved; otherwise it could stay for many steps.
        if at_middle > 0:
            low, at_low, at_high = middle, at_middle, at_high / 2
        else:
            high, at_high, at_low = middle, at_middle, at_low / 2
    return middle
