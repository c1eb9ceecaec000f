"""Quantiles and tail probabilities of the standard normal distribution."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from fastmetrics._core.elementary import log
from fastmetrics._kernels.significance import tail_integrals

LOG_ROOT_TWO_PI = 0.91893853320467274178
# Rational functions for quantiles: M. Wichura, "Algorithm AS 241: the percentage points of the normal distribution",
# Applied Statistics 37, 1988. Numerators and denominators, the highest power first.
NEAR_MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
IN_TAIL = (
    (7.7454501427834140764e-4, .0227238449892691845833, .24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, .0151986665636164571966, .14810397642748007459,
     .68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
FAR_IN_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, .0012426609473880784386, .026532189526576123093,
     .29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     .0148753612908506148525, .13692988092273580531, .59983220655588793769, 1.0),
)  # fmt: skip


def two_sided_quantile(level: float) -> float:
    """The z for which a standard normal variable lies in [-z, z] with probability `level`."""
    return -normal_quantile((1 - level) / 2)


@lru_cache(maxsize=1024)
def normal_quantile(p: float) -> float:
    """The z that a standard normal variable is below with probability p, strictly between 0 and 1.

    The relative error is below 1e-15.
    """
    from_middle = p - 0.5
    if abs(from_middle) <= 0.425:
        numerator, denominator = (horner(terms, 0.180625 - from_middle * from_middle) for terms in NEAR_MIDDLE)
        return numerator * from_middle / denominator
    root = math.sqrt(-log(p if from_middle <= 0 else 1 - p))
    terms, r = (IN_TAIL, root - 1.6) if root <= 5 else (FAR_IN_TAIL, root - 5)
    size = horner(terms[0], r) / horner(terms[1], r)
    return -size if from_middle < 0 else size


def horner(coefficients: tuple[float, ...], x: float) -> float:
    """The value of a polynomial, whose highest power comes first."""
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


def normal_pvalue(z: float, alternative: str) -> float:
    """The tail probability of the standard normal distribution beyond z, with full relative precision for every z."""
    if z != z:
        return z
    if alternative == "two-sided":
        return 2 * normal_tail(abs(z))
    return normal_tail(z if alternative == "greater" else -z)


def normal_tail(z: float) -> float:
    """The probability that a standard normal variable is above z, with a relative error below 1e-15 if z >= 0."""
    return tail_integrals.normal_tail(z)


def log_far_tail(z: float) -> float:
    """The logarithm of `normal_tail(z)` for z >= 30: the asymptotic series of Mills' ratio, to the last digits."""
    inverse_square, term, ratio = 1 / z / z, 1.0, 1.0
    for k in range(1, 12):
        term *= -(2 * k - 1) * inverse_square
        ratio += term
    return -z / 2 * z - log(z) - LOG_ROOT_TWO_PI + log(ratio)


def normal_tails(z: np.ndarray) -> np.ndarray:
    """The same for every number."""
    values, out = np.ascontiguousarray(z, np.float64), np.empty(z.shape)
    tail_integrals.normal_tails(values.reshape(-1), out.reshape(-1))
    return out
