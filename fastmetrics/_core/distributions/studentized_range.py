"""The distribution of the studentized range."""

from __future__ import annotations

import math

import numpy as np

from fastmetrics._core.distributions.incomplete_integrals import HALF_LOG_TWO_PI, expm1_remainder
from fastmetrics._core.distributions.quantiles import solve_falling
from fastmetrics._core.elementary import exp, log, log1p
from fastmetrics._kernels.significance import tail_integrals

# The trapezoidal rule converges faster than any power of the step: the integrands are analytic and vanish at both ends.
LOG_STEP = 0.12
DEVIATIONS = 9.0
# On the left the density of log s falls as s^df; after this many e-foldings it is below the rounding of the sum.
E_FOLDINGS = 40.0
LOG_TWO = 0.6931471805599453


def studentized_range_pvalue(q: float, k: int, df: float) -> float:
    """P(Q >= q), where Q is the range of k standard normals divided by an independent s = sqrt(chi2(df) / df).

    It is the integral over u = log s of the density of s times P(range >= q s). No nearly equal numbers are subtracted,
    so small tails keep full precision: the relative error is below 1e-11.
    """
    if q <= 0:
        return 1.0
    # The integrand is largest near here: exp(-df s^2 / 2 - q^2 s^2 / 4) s^df.
    center = -log1p(q * q / (2 * df)) / 2
    deviation = 1 / math.sqrt(2 * df)
    low, high = center - DEVIATIONS * deviation - E_FOLDINGS / df, center + DEVIATIONS * deviation
    u = np.linspace(low, high, math.ceil((high - low) / min(LOG_STEP, 0.4 * deviation)) + 1)
    density = exp(log_constant(df) - df / 2 * expm1_remainder(2 * u))
    tails = np.empty(len(u))
    tail_integrals.range_tails(q * exp(u), k, tails)
    return min(math.fsum((density * tails).tolist()) * float(u[1] - u[0]), 1.0)


def log_constant(df: float) -> float:
    """log of 2 (df/2)^(df/2) e^(-df/2) / Gamma(df/2)."""
    half = df / 2
    return LOG_TWO + log(half) / 2 - HALF_LOG_TWO_PI - tail_integrals.stirling_error(half)


def studentized_range_quantile(tail: float, k: int, df: float) -> float:
    """The q that the studentized range exceeds with probability `tail`."""
    low, high = 0.0, 4.0
    while studentized_range_pvalue(high, k, df) > tail:
        low, high = high, 2 * high
    return solve_falling(lambda q: log(studentized_range_pvalue(q, k, df) / tail), low, high)
