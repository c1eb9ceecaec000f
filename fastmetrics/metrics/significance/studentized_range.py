"""The distribution of the studentized range, with its tail to full relative precision."""

from __future__ import annotations

import math

import numpy as np

from fastmetrics._core.significance import special_functions

# Trapezoids of functions that are analytic and die out at both ends converge faster than any power of their step.
STEP_OF_Z = 0.125
REACH_OF_Z = 9.0
STEP_OF_LOG = 0.12
DEVIATIONS = 9.0
# Where the density of log s falls as s^df, this many e-foldings are below the rounding of the sum.
FOLDINGS = 40.0
STIRLING_FROM = 100.0
ROOT_OF_TURN = math.sqrt(2 * math.pi)


def studentized_range_pvalue(q: float, k: int, df: float) -> float:
    """P(Q >= q) of the range of k standard normals over an independent sqrt(chi2(df) / df).

    The integral over u = log s of the density of s times P(range >= q s). No difference of nearly equal numbers is
    taken, so tails keep their digits.
    """
    if q <= 0:
        return 1.0
    # Density times tail is largest about here: exp(-df s^2 / 2 - q^2 s^2 / 4) s^df.
    centre = -math.log1p(q * q / (2 * df)) / 2
    deviation = 1 / math.sqrt(2 * df)
    low, high = centre - DEVIATIONS * deviation - FOLDINGS / df, centre + DEVIATIONS * deviation
    u = np.linspace(low, high, math.ceil((high - low) / min(STEP_OF_LOG, 0.4 * deviation)) + 1)
    density = np.exp(log_constant(df) - df / 2 * (np.expm1(2 * u) - 2 * u))
    return min(float((density * range_tail(q * np.exp(u), k)).sum() * (u[1] - u[0])), 1.0)


def log_constant(df: float) -> float:
    """log of 2 (df/2)^(df/2) e^(-df/2) / Gamma(df/2): by Stirling's series where its terms would cancel."""
    half = df / 2
    if half < STIRLING_FROM:
        return math.log(2) + half * math.log(half) - half - math.lgamma(half)
    series = 1 / (12 * half) - 1 / (360 * half**3) + 1 / (1260 * half**5)
    return math.log(2) + (math.log(half) - math.log(2 * math.pi)) / 2 - series


def range_tail(w: np.ndarray, k: int) -> np.ndarray:
    """P(range of k standard normals >= w): k times the integral over the largest, z, of its density times the
    probability that not all others are within w below it."""
    special = special_functions()
    steps = np.arange(-REACH_OF_Z, REACH_OF_Z + STEP_OF_Z / 2, STEP_OF_Z)
    z = w[:, None] / 2 + steps
    below = special.ndtr(z)
    # The ratio may round to 1 or beyond: then nobody is in between.
    ratio = np.minimum(special.ndtr(z - w[:, None]) / below, 1.0)
    with np.errstate(divide="ignore"):
        missed = -np.expm1((k - 1) * np.log1p(-ratio))
    terms = np.exp(-z * z / 2) * below ** (k - 1) * missed
    return np.asarray(terms.sum(axis=1) * (k * STEP_OF_Z / ROOT_OF_TURN))


def studentized_range_quantile(tail: float, k: int, df: float) -> float:
    """The q beyond which the range is with this probability."""
    low, high = 0.0, 4.0
    while studentized_range_pvalue(high, k, df) > tail:
        low, high = high, 2 * high
    # The secant of the tail's logarithm, kept between ends that are known.
    aim = math.log(tail)
    at_low, at_high = (math.log(studentized_range_pvalue(end, k, df)) - aim for end in (low, high))
    for _ in range(100):
        middle = low + (high - low) * min(max(at_low / (at_low - at_high), 0.01), 0.99)
        if not low < middle < high or high - low < 1e-13 * high:
            break
        found = math.log(studentized_range_pvalue(middle, k, df)) - aim
        if found == 0:
            return middle
        # An end that stays is halved, or it would stay for long.
        if found > 0:
            low, at_low, at_high = middle, found, at_high / 2
        else:
            high, at_high, at_low = middle, found, at_low / 2
    return middle
