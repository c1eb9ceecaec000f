"""The binomial distribution, and the exact limits of a share."""

from __future__ import annotations

import math

from fastmetrics._core.distributions.incomplete_integrals import beta_density, beta_tails
from fastmetrics._core.distributions.normal import normal_quantile
from fastmetrics._core.distributions.quantiles import solve_log_tail
from fastmetrics._core.elementary import exp, log, log1p
from fastmetrics._kernels.significance import tail_integrals

NEGLIGIBLE = 2.0**-100  # beside 1, times any number of trials


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k) for X ~ Binomial(n, p): small tails keep full precision."""
    if k < 0:
        return 0.0
    return 1.0 if k >= n else beta_tails(n - k, k + 1, 1 - p, p).below


def beta_quantile(a: float, b: float, tail: float, *, mid: bool = False) -> float:
    """The x with I_x(a, b) = tail, for a > 0, b >= 1 and tails below 1/2; 0 if it is below the least double.

    I_x(a, b) is the probability of at least a successes in a + b - 1 trials. `mid`: that of a successes counts half. Of
    both, the density of log(x) has a concave logarithm, so the tail has one, as Newton's method needs it.
    """
    start = start_of_few(a, b, tail) if a < 1 else start_of_many(a, b, tail)
    if a < 1 and start < NEGLIGIBLE:
        return start

    def tail_and_rise(x: float) -> tuple[float, float]:
        below, rise = tail_integrals.beta_tails(a, b, x, 1 - x)[0], beta_density(a, b, x, 1 - x) / (1 - x)
        if not mid:
            return below, rise
        half = rise / a / 2  # half of the probability of a successes
        return below - half, rise - half * (a - (b - 1) * x / (1 - x))

    return solve_log_tail(tail_and_rise, tail, start)


def start_of_many(a: float, b: float, tail: float) -> float:
    """A start for `beta_quantile`, for a >= 1: Abramowitz and Stegun, "Handbook of mathematical functions", 26.5.22."""
    z = -normal_quantile(tail)
    third = (z * z - 3) / 6
    of_a, of_b = 1 / (2 * a - 1), 1 / (2 * b - 1)
    mean = 2 / (of_a + of_b)
    w = z * math.sqrt(max(mean + third, 0.0)) / mean - (of_b - of_a) * (third + 5 / 6 - 2 / (3 * mean))
    return a / (a + b * exp(min(2 * w, 600.0)))


def start_of_few(a: float, b: float, tail: float) -> float:
    """The x with x^a / (a B(a, b)) = tail. It is below the quantile, and next to it if it is near 0."""
    mean = a / (a + b)
    log_beta = a * log(mean) + b * log1p(-mean) - log(beta_density(a, b, mean, 1 - mean))
    return exp((log(tail * a) + log_beta) / a)


def share_limits(successes: float, n: float, tail: float, *, mid: bool = False) -> tuple[float, float]:
    """The exact limits of a share (C. Clopper, E. Pearson, Biometrika 26, 1934), each with this tail or mid-p tail.

    Successes and trials need not be integers, without `mid`.
    """
    low = beta_quantile(successes, n - successes + 1, tail, mid=mid) if successes else 0.0
    high = 1 - beta_quantile(n - successes, successes + 1, tail, mid=mid) if successes < n else 1.0
    return low, high
