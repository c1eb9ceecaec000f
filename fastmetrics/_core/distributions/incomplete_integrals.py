"""The incomplete gamma and beta functions, both tails with full relative precision.

A tail is the density at its end, times an integral of the rest of the density relative to it. For the gamma function

    Q(a, x) = x^a e^-x / Gamma(a)  *  integral of exp(a u - x (e^u - 1)) over u > 0

and for the beta function

    I_x(a, b) = x^a (1-x)^b / B(a, b)  *  integral of exp(-a u) ((1 - x e^-u) / (1-x))^(b-1) / (1-x) over u > 0.

Of the two tails, the one is computed that does not contain the mode. Its integrand falls from its first value, nothing
is subtracted, and a sum over the nodes of a double exponential rule has an error of a few units in the last place (H.
Takahasi, M. Mori, "Double exponential formulas for numerical integration", 1974). Exponents are written so that their
large parts cancel before they are rounded. The density comes from Stirling's errors and deviances, whatever the size of
a and b (C. Loader, "Fast and accurate computation of binomial probabilities", 2000). All of it is in
`_kernels/significance/tail_integrals.pyx`.
"""

from __future__ import annotations

import numpy as np

from fastmetrics._core.elementary import expm1
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.significance import tail_integrals

SMALL = 0.5  # below it, what a function lacks to its first terms is the sum of a series
HALF_LOG_TWO_PI = 0.9189385332046727


class Tails(NamedTuple):
    """Probabilities below and above a number. The smaller one has full relative precision."""

    below: float
    above: float


def gamma_tails(a: float, x: float) -> Tails:
    """P(a, x) and Q(a, x), the regularized incomplete gamma functions, for a > 0 and x >= 0."""
    return Tails(*tail_integrals.gamma_tails(a, x))


def beta_tails(a: float, b: float, x: float, rest: float) -> Tails:
    """I_x(a, b) and 1 - I_x(a, b), the regularized incomplete beta functions, for a, b > 0 and x + rest = 1.

    Both x and 1 - x are given, so that neither loses digits.
    """
    return Tails(*tail_integrals.beta_tails(a, b, x, rest))


def beta_density(a: float, b: float, x: float, rest: float) -> float:
    """x^a rest^b / B(a, b)."""
    return tail_integrals.beta_density(a, b, x, rest)


def expm1_remainder(u: np.ndarray) -> np.ndarray:
    """e^u - 1 - u."""
    near = np.where(np.abs(u) < SMALL, u, 0.0)
    series = np.zeros_like(near)
    for k in range(16, 2, -1):
        series = (1 + near * series) / k
    far = expm1(np.where(near == u, 0.0, u)) - u
    return np.asarray(np.where(np.abs(u) < SMALL, near * near / 2 * (1 + near * series), far))
