"""The distribution of the studentized range."""

from __future__ import annotations

import math

import numpy as np

from fastmetrics._core.distributions.incomplete_integrals import HALF_LOG_TWO_PI, expm1_remainder, stirling_error
from fastmetrics._core.distributions.normal import normal_tails
from fastmetrics._core.distributions.quantiles import solve_falling
from fastmetrics._core.elementary import exp, expm1, log, log1p

# The trapezoidal rule converges faster than any power of the step: the integrands are analytic and vanish at both ends.
Z_STEP = 0.125
Z_RANGE = 9.0
LOG_STEP = 0.12
DEVIATIONS = 9.0
# On the left the density of log s falls as s^df; after this many e-foldings it is below the rounding of the sum.
E_FOLDINGS = 40.0
LOG_TWO = 0.6931471805599453
SQRT_TWO_PI = math.sqrt(2 * math.pi)


def studentized_range_pvalue(q: float, k: int, df: float) -> float:
    """P(Q >= q), where Q is the range of k standard normals divided by an independent s = sqrt(chi2(df) / df).

    It is the integral over u = log s of the density of s times P(range >= q s). No nearly equal numbers are subtracted,
    so small tails keep full precision: the relative error is below 1e-11.
    """
    if q <= 0:
        return 1.0
    # The integrand is largest near here: exp(-df s^2 / 2 - q^2 s^2 / 4) s^df.
    centre = -log1p(q * q / (2 * df)) / 2
    deviation = 1 / math.sqrt(2 * df)
    low, high = centre - DEVIATIONS * deviation - E_FOLDINGS / df, centre + DEVIATIONS * deviation
    u = np.linspace(low, high, math.ceil((high - low) / min(LOG_STEP, 0.4 * deviation)) + 1)
    density = exp(log_constant(df) - df / 2 * expm1_remainder(2 * u))
    return min(math.fsum((density * range_tail(q * exp(u), k)).tolist()) * float(u[1] - u[0]), 1.0)


def log_constant(df: float) -> float:
    """log of 2 (df/2)^(df/2) e^(-df/2) / Gamma(df/2)."""
    half = df / 2
    return LOG_TWO + log(half) / 2 - HALF_LOG_TWO_PI - stirling_error(half)


def range_tail(w: np.ndarray, k: int) -> np.ndarray:
    """P(range of k standard normals >= w).

    It is k times an integral over the largest normal, z: its density times the probability that at least one of the
    others is more than w below it.
    """
    offsets = np.arange(-Z_RANGE, Z_RANGE + Z_STEP / 2, Z_STEP)
    z = w[:, None] / 2 + offsets
    below = normal_tails(-z)
    # The ratio may round to 1 or more: then no other normal is within w.
    ratio = np.minimum(normal_tails(w[:, None] - z) / below, 1.0)
    any_outside = -expm1((k - 1) * log1p(-ratio))
    terms = exp(-z * z / 2) * whole_power(below, k - 1) * any_outside
    return np.asarray(terms.sum(axis=1) * (k * Z_STEP / SQRT_TWO_PI))


def whole_power(x: np.ndarray, exponent: int) -> np.ndarray:
    """Powers by squares and products, which are rounded the same way everywhere."""
    result = np.ones_like(x)
    while exponent:
        if exponent % 2:
            result = result * x
        x, exponent = x * x, exponent // 2
    return result


def studentized_range_quantile(tail: float, k: int, df: float) -> float:
    """The q that the studentized range exceeds with probability `tail`."""
    low, high = 0.0, 4.0
    while studentized_range_pvalue(high, k, df) > tail:
        low, high = high, 2 * high
    return solve_falling(lambda q: log(studentized_range_pvalue(q, k, df) / tail), low, high)
