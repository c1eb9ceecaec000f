"""The mean of paired differences, its standard error and its interval. Sums are exact, so the order does not matter.

It does not need scipy: a comparison of runs needs an interval with NumPy alone.
"""

from __future__ import annotations

import math

import numpy as np

from fastmetrics._core.exact import exact_sum
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.normal import two_sided_quantile

MANY_DEGREES = 200  # from here on, a series in 1 / df has errors below 1e-11 at usual levels


class MeanDifference(NamedTuple):
    """The mean of n differences and its errors. If n is too small, numbers are NaN and the interval is None."""

    n: int
    mean: float
    deviation: float
    standard_error: float
    effect_size: float

    def interval(self, level: float) -> tuple[float, float] | None:
        """Student's t interval of the mean."""
        if self.n < 2:
            return None
        reach = student_quantile(level, self.n - 1) * self.standard_error
        return self.mean - reach, self.mean + reach


def mean_difference(differences: np.ndarray, weights: np.ndarray | None = None) -> MeanDifference:
    """Mean, standard deviation (n - 1), standard error of the mean, and Cohen's d_z = mean / deviation.

    With weights w, the mean is sum(w d) / sum(w). The squared deviation is the weighted mean of squared deviations from
    that mean, times n / (n - 1). The standard error is that of a ratio, sqrt(n / (n - 1) * sum((w (d - mean))**2)) /
    sum(w). `differences` is float64.
    """
    n = int(differences.shape[0])
    nan = math.nan
    if not n:
        return MeanDifference(0, nan, nan, nan, nan)
    if differences.min() == differences.max():
        # Without sums: the mean of a constant is that constant, and its deviation is zero.
        mean = float(differences[0])
        effect = math.copysign(math.inf, mean) if mean and n > 1 else nan
        deviation = 0.0 if n > 1 else nan
        return MeanDifference(n, mean, deviation, deviation, effect)
    # Scaled by the exponent of the largest difference, which is undone below: squares neither overflow nor underflow.
    scale = int(np.frexp(np.abs(differences).max())[1])
    differences = np.ldexp(differences, -scale)
    total = float(n) if weights is None else exact_sum(weights)
    shares = 1.0 if weights is None else weights
    mean = exact_sum(shares * differences) / total
    from_mean = differences - mean
    squares = exact_sum(shares * from_mean * from_mean)
    error_squares = squares if weights is None else exact_sum((weights * from_mean) ** 2)
    deviation = math.sqrt(squares / total * (n / (n - 1)))
    error = math.sqrt(error_squares * (n / (n - 1))) / total
    effect = mean / deviation if deviation else nan
    mean, deviation, error = (math.ldexp(value, scale) for value in (mean, deviation, error))
    return MeanDifference(n, mean, deviation, error, effect)


def student_quantile(level: float, df: int) -> float:
    """The t for which a variable of Student's distribution lies in [-t, t] with probability `level`; df is an integer.

    Below 200 degrees of freedom it solves the finite sums for the integral (Abramowitz and Stegun 26.7.3, 26.7.4).
    Otherwise it uses the expansion around the normal quantile (26.7.5).
    """
    if df < MANY_DEGREES:
        low, high = 0.0, math.pi / 2
        while (middle := (low + high) / 2) not in (low, high):
            low, high = (middle, high) if probability_within(middle, df) < level else (low, middle)
        return math.sqrt(df) * math.tan(low)
    z = two_sided_quantile(level)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / df**power for power, term in enumerate(terms))


def probability_within(angle: float, df: int) -> float:
    """The probability of [-t, t], where t = sqrt(df) * tan(angle)."""
    sine, square = math.sin(angle), math.cos(angle) ** 2
    term, total = (math.cos(angle), 0.0) if df % 2 else (1.0, 0.0)
    for k in range(df % 2 + 2, df + 1, 2):
        total += term
        term *= square * (k - 1) / k
    return 2 / math.pi * (angle + sine * total) if df % 2 else sine * total
