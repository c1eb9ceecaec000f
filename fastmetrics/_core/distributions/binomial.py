"""The binomial distribution, and the exact limits of a share."""

from __future__ import annotations

import math

from fastmetrics._core.distributions.incomplete_integrals import beta_density, beta_tails
from fastmetrics._core.distributions.normal import normal_quantile
from fastmetrics._core.distributions.quantiles import solve_log_tail
from fastmetrics._core.elementary import exp
from fastmetrics._kernels.significance import tail_integrals


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k) for X ~ Binomial(n, p): small tails keep full precision."""
    if k < 0:
        return 0.0
    return 1.0 if k >= n else beta_tails(n - k, k + 1, 1 - p, p).below


def beta_quantile(a: float, b: float, tail: float, *, mid: bool = False) -> float:
    """The x with I_x(a, b) = tail, for a, b >= 1 and tails below 1/2.

    I_x(a, b) is the probability of at least a successes in a + b - 1 trials. `mid`: that of a successes counts half. Of
    both, the density of log(x) has a concave logarithm, so the tail has one, as Newton's method needs it.
    """
    # The start: Abramowitz and Stegun, "Handbook of mathematical functions", 1964, 26.5.22.
    z = -normal_quantile(tail)
    third = (z * z - 3) / 6
    of_a, of_b = 1 / (2 * a - 1), 1 / (2 * b - 1)
    mean = 2 / (of_a + of_b)
    w = z * math.sqrt(max(mean + third, 0.0)) / mean - (of_b - of_a) * (third + 5 / 6 - 2 / (3 * mean))

    def tail_and_rise(x: float) -> tuple[float, float]:
        below, rise = tail_integrals.beta_tails(a, b, x, 1 - x)[0], beta_density(a, b, x, 1 - x) / (1 - x)
        if not mid:
            return below, rise
        half = rise / a / 2  # half of the probability of a successes
        return below - half, rise - half * (a - (b - 1) * x / (1 - x))

    return solve_log_tail(tail_and_rise, tail, a / (a + b * exp(min(2 * w, 600.0))))


def share_limits(successes: int, n: int, tail: float, *, mid: bool = False) -> tuple[float, float]:
    """The exact limits of a share (C. Clopper, E. Pearson, Biometrika 26, 1934), each with this tail or mid-p tail."""
    low = beta_quantile(successes, n - successes + 1, tail, mid=mid) if successes else 0.0
    high = 1 - beta_quantile(n - successes, successes + 1, tail, mid=mid) if successes < n else 1.0
    return low, high
