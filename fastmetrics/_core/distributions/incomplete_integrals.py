"""The incomplete gamma and beta functions, both tails with full relative precision.

A tail is the density at its end, times an integral of the rest of the density relative to it. For the gamma function

    Q(a, x) = x^a e^-x / Gamma(a)  *  integral of exp(a u - x (e^u - 1)) over u > 0

and for the beta function

    I_x(a, b) = x^a (1-x)^b / B(a, b)  *  integral of exp(-a u) ((1 - x e^-u) / (1-x))^(b-1) / (1-x) over u > 0.

Of the two tails, the one is computed that does not contain the mode. Its integrand falls from its first value, nothing
is subtracted, and a sum over the nodes of a double exponential rule has an error of a few units in the last place (H.
Takahasi, M. Mori, "Double exponential formulas for numerical integration", 1974). Exponents are written so that their
large parts cancel before they are rounded. The density comes from Stirling's errors and deviances, whatever the size of
a and b (C. Loader, "Fast and accurate computation of binomial probabilities", 2000).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from fastmetrics._core.elementary import exp, expm1, log, log1p
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.significance import tail_integrals

STEP = 0.03125  # of the double exponential rule
FIRST_NODE, LAST_NODE = -128, 120  # from 1e-19 to 1e16 times the scale
SMALL = 0.5  # below it, what a function lacks to its first terms is the sum of a series
HALF_LOG_TWO_PI = 0.9189385332046727
LEAST_SHIFTED = 12.0  # from here on, a few terms of Stirling's series are enough
STIRLING_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


class Tails(NamedTuple):
    """Probabilities below and above a number. The smaller one has full relative precision."""

    below: float
    above: float


def gamma_tails(a: float, x: float) -> Tails:
    """P(a, x) and Q(a, x), the regularised incomplete gamma functions, for a > 0 and x >= 0."""
    if x == 0 or math.isinf(x):
        return Tails(0.0, 1.0) if x == 0 else Tails(1.0, 0.0)
    density = gamma_density(a, x)
    if x < a:
        tail = density * integral(tail_integrals.GAMMA_BELOW, x - a, x, 0.0, 1 / (a - x + math.sqrt(x)))
        return Tails(min(tail, 1.0), max(1 - tail, 0.0))
    tail = density * integral(tail_integrals.GAMMA_ABOVE, a - 1 - x, a - 1, 0.0, 1 / (x - a + 1 + math.sqrt(a)))
    return Tails(max(1 - tail, 0.0), min(tail, 1.0))


def beta_tails(a: float, b: float, x: float, rest: float) -> Tails:
    """I_x(a, b) and 1 - I_x(a, b), the regularised incomplete beta functions, for a, b > 0 and x + rest = 1.

    Both x and 1 - x are given, so that neither loses digits.
    """
    if not x or not rest:
        return Tails(1.0, 0.0) if x else Tails(0.0, 1.0)
    if a * rest < b * x:  # x is above the mean: the tail above it
        return Tails(*reversed(beta_tails(b, a, rest, x)))
    odds = x / rest
    slope = a - (b - 1) * odds

    scale = 1 / (slope + math.sqrt(abs(b - 1) * odds / rest))
    tail = beta_density(a, b, x, rest) / rest * integral(tail_integrals.BETA, -slope, b - 1, odds, scale)
    return Tails(min(tail, 1.0), max(1 - tail, 0.0))


def gamma_density(a: float, x: float) -> float:
    """x^a e^-x / Gamma(a)."""
    return exp(-stirling_error(a) - deviance(a, x) - HALF_LOG_TWO_PI) * math.sqrt(a)


def beta_density(a: float, b: float, x: float, rest: float) -> float:
    """x^a rest^b / B(a, b)."""
    n = a + b
    errors = stirling_error(n) - stirling_error(a) - stirling_error(b)
    return exp(errors - deviance(a, n * x) - deviance(b, n * rest) - HALF_LOG_TWO_PI) * math.sqrt(a / n * b)


def integral(kind: int, slope: float, factor: float, odds: float, scale: float) -> float:
    """The integral over u > 0 of an integrand that falls from 1 to 0 within a few times the scale."""
    return tail_integrals.integral(kind, slope, factor, odds, scale, *double_exponential_rule())


@cache
def double_exponential_rule() -> tuple[np.ndarray, np.ndarray]:
    """Nodes exp(pi/2 sinh t) at equidistant t, and their weights."""
    t = np.arange(FIRST_NODE, LAST_NODE + 1) * STEP
    rising, falling = exp(t), exp(-t)
    nodes = exp(math.pi / 4 * (rising - falling))
    return nodes, nodes * (rising + falling) * (math.pi / 4 * STEP)


def expm1_remainder(u: np.ndarray) -> np.ndarray:
    """e^u - 1 - u."""
    near = np.where(np.abs(u) < SMALL, u, 0.0)
    series = np.zeros_like(near)
    for k in range(16, 2, -1):
        series = (1 + near * series) / k
    far = expm1(np.where(near == u, 0.0, u)) - u
    return np.asarray(np.where(np.abs(u) < SMALL, near * near / 2 * (1 + near * series), far))


def deviance(a: float, mean: float) -> float:
    """a log(a / mean) - a + mean, for a, mean > 0."""
    distance = (mean - a) / a
    if abs(distance) >= SMALL:
        return a * log(a / mean) + (mean - a)
    return -a * tail_integrals.log1p_remainder_of(distance)


def stirling_error(z: float) -> float:
    """log Gamma(z + 1) - (z + 1/2) log z + z - log(2 pi) / 2, for z > 0."""
    total = 0.0
    while z < LEAST_SHIFTED:
        # The error at z less the error at z + 1 is (z + 1/2) log(1 + 1/z) - 1.
        s = 1 / (2 * z + 1)
        if s < SMALL:
            total += inverse_tanh_remainder(s * s)
        else:
            total += (z + 0.5) * (log1p(z) - log(z)) - 1
        z += 1
    square, series = 1 / (z * z), 0.0
    for term in reversed(STIRLING_SERIES):
        series = series * square + term
    return total + series / z


def inverse_tanh_remainder(square: float) -> float:
    """artanh(s) / s - 1 of a square s^2 below 1/4."""
    series = 0.0
    for k in range(55, 1, -2):
        series = (series + 1 / k) * square
    return series
