"""The distribution of the studentized range, with full relative precision in the upper tail."""

from __future__ import annotations

import math

import numpy as np

from fastmetrics._core.comparison.test_results import special_functions

# The trapezoidal rule converges faster than any power of the step: the integrands are analytic and vanish at both ends.
Z_STEP = 0.125
Z_RANGE = 9.0
LOG_STEP = 0.12
DEVIATIONS = 9.0
# On the left the density of log s falls as s^df; after this many e-foldings it is below the rounding of the sum.
E_FOLDINGS = 40.0
MIN_STIRLING = 100.0
SQRT_TWO_PI = math.sqrt(2 * math.pi)


def studentized_range_pvalue(q: float, k: int, df: float) -> float:
    """P(Q >= q), where Q is the range of k standard normals divided by an independent s = sqrt(chi2(df) / df).

    It is the integral over u = log s of the density of s times P(range >= q s). No nearly equal numbers are subtracted,
    so small tails keep full precision.
    """
    if q <= 0:
        return 1.0
    # The integrand is largest near here: exp(-df s^2 / 2 - q^2 s^2 / 4) s^df.
    centre = -math.log1p(q * q / (2 * df)) / 2
    deviation = 1 / math.sqrt(2 * df)
    low, high = centre - DEVIATIONS * deviation - E_FOLDINGS / df, centre + DEVIATIONS * deviation
    u = np.linspace(low, high, math.ceil((high - low) / min(LOG_STEP, 0.4 * deviation)) + 1)
    density = np.exp(log_constant(df) - df / 2 * (np.expm1(2 * u) - 2 * u))
    return min(float((density * range_tail(q * np.exp(u), k)).sum() * (u[1] - u[0])), 1.0)


def log_constant(df: float) -> float:
    """log of 2 (df/2)^(df/2) e^(-df/2) / Gamma(df/2): by Stirling's series if its terms would cancel."""
    half = df / 2
    if half < MIN_STIRLING:
        return math.log(2) + half * math.log(half) - half - math.lgamma(half)
    series = 1 / (12 * half) - 1 / (360 * half**3) + 1 / (1260 * half**5)
    return math.log(2) + (math.log(half) - math.log(2 * math.pi)) / 2 - series


def range_tail(w: np.ndarray, k: int) -> np.ndarray:
    """P(range of k standard normals >= w).

    It is k times an integral over the largest normal, z: its density times the probability that at least one of the
    others is more than w below it.
    """
    special = special_functions()
    offsets = np.arange(-Z_RANGE, Z_RANGE + Z_STEP / 2, Z_STEP)
    z = w[:, None] / 2 + offsets
    below = special.ndtr(z)
    # The ratio may round to 1 or more: then no other normal is within w.
    ratio = np.minimum(special.ndtr(z - w[:, None]) / below, 1.0)
    with np.errstate(divide="ignore"):
        any_outside = -np.expm1((k - 1) * np.log1p(-ratio))
    terms = np.exp(-z * z / 2) * below ** (k - 1) * any_outside
    return np.asarray(terms.sum(axis=1) * (k * Z_STEP / SQRT_TWO_PI))


def studentized_range_quantile(tail: float, k: int, df: float) -> float:
    """The q that the studentized range exceeds with probability `tail`."""
    low, high = 0.0, 4.0
    while studentized_range_pvalue(high, k, df) > tail:
        low, high = high, 2 * high
    # Regula falsi (Illinois variant) on the logarithm of the tail.
    log_tail = math.log(tail)
    at_low, at_high = (math.log(studentized_range_pvalue(end, k, df)) - log_tail for end in (low, high))
    for _ in range(100):
        middle = low + (high - low) * min(max(at_low / (at_low - at_high), 0.01), 0.99)
        if not low < middle < high or high - low < 1e-13 * high:
            break
        at_middle = math.log(studentized_range_pvalue(middle, k, df)) - log_tail
        if at_middle == 0:
            return middle
        # The value at the end that stays is halved; otherwise it could stay for many offsets.
        if at_middle > 0:
            low, at_low, at_high = middle, at_middle, at_high / 2
        else:
            high, at_high, at_low = middle, at_middle, at_low / 2
    return middle
