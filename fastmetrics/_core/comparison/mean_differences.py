"""The mean of paired differences, its standard error and its interval. Sums are exact, so the order does not matter.

It does not need scipy: a comparison of runs needs an interval with NumPy alone.
"""

from __future__ import annotations

import math

import numpy as np

from fastmetrics._core.distributions.student import student_quantile
from fastmetrics._core.exact import exact_sum
from fastmetrics._core.named_tuples import NamedTuple


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
