"""Sums of errors at the ends of the range of doubles: terms as fractions and exponents that do not over- or underflow.

A squared error of 1e160, or a weight of 5e-324 times an error of 0.3, is no double, but the mean or the ratio that
follows from it may be one. The kernels then leave an infinite sum, or one so small that bits were lost, and the terms
are computed again here. Few calls need that, so NumPy is fast enough.
"""

from __future__ import annotations

import math

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.elementary import exp2, log, log1p, power
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.regression import errors

LOG_TWO = 0.6931471805599453
BAND_BITS = 512  # terms whose exponents fall into one band are summed as doubles
MOST_BITS = 1 << 20  # exponents beyond are cut: no result within the range of doubles needs them
DEVIANCES = {errors.POISSON: 1.0, errors.GAMMA: 2.0}


class Wide(NamedTuple):
    """Numbers fractions * 2**exponents; the fractions are zero, or at least 0.5 and below 1 in size."""

    fractions: np.ndarray
    exponents: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, exponents: np.ndarray | int = 0) -> Wide:
        """values * 2**exponents; the values are finite."""
        fractions, own = np.frexp(values)
        return cls(fractions, own.astype(np.int64) + exponents)

    def times(self, other: Wide) -> Wide:
        return Wide.of(self.fractions * other.fractions, self.exponents + other.exponents)

    def negative(self) -> Wide:
        return Wide(-self.fractions, self.exponents)

    def over(self, other: Wide) -> Wide:
        return Wide.of(self.fractions / other.fractions, self.exponents - other.exponents)

    def plus(self, other: Wide) -> Wide:
        """The sum, rounded once: the smaller number underflows only where it is below the rounding of the other."""
        low = np.int64(-MOST_BITS)
        own = np.where(self.fractions == 0, low, self.exponents)
        others = np.where(other.fractions == 0, low, other.exponents)
        top = np.maximum(own, others)
        return Wide.of(shifted(self.fractions, own - top) + shifted(other.fractions, others - top), top)

    def power(self, exponent: float) -> Wide:
        """Powers of numbers of at least 0. 0 has the power 0."""
        scaled = np.clip(exponent * self.exponents, -MOST_BITS, MOST_BITS)
        whole = np.floor(scaled)
        present = self.fractions > 0
        roots = power(np.where(present, self.fractions, 1.0), exponent) * exp2(scaled - whole)
        return Wide.of(np.where(present, roots, 0.0), whole.astype(np.int64))


def shifted(values: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """values * 2**bits."""
    result: np.ndarray = np.ldexp(values, np.clip(bits, -5000, 5000).astype(np.int32))
    return result


def wide_totals(
    y_true: np.ndarray, y_pred: np.ndarray, row_weights: np.ndarray | None, kind: int, parameter: float
) -> tuple[list[int], int]:
    """The sum of the (weighted) terms of every output, times 2**(EXPONENT + shift), and the shift: not 0."""
    weights = None if row_weights is None else Wide.of(row_weights)
    n = y_true.shape[0]
    columns = zip(y_true.reshape(n, -1).T, y_pred.reshape(n, -1).T, strict=True)
    sums = []
    for truth, predictions in columns:
        terms = wide_terms(truth.astype(np.float64), predictions.astype(np.float64), kind, parameter)
        sums.append(sum_of_bands(terms if weights is None else terms.times(weights)))
    lowest = min(min((band for band in bands), default=0) for bands in sums)
    shift = max(BAND_BITS, -lowest * BAND_BITS)
    return [sum(part << band * BAND_BITS + shift for band, part in bands.items()) for bands in sums], shift


def sum_of_bands(terms: Wide) -> dict[int, int]:
    """The exact sum of the terms: for each band of exponents the sum times 2**(EXPONENT - BAND_BITS band)."""
    exponents = np.clip(terms.exponents, -MOST_BITS, MOST_BITS)
    bands = np.where(terms.fractions == 0, 0, exponents // BAND_BITS)
    sums = {}
    for band in np.unique(bands).tolist():
        rows = bands == band
        sums[band] = exact.integer_sum(shifted(terms.fractions[rows], exponents[rows] - band * BAND_BITS))
    return sums


def wide_terms(y: np.ndarray, p: np.ndarray, kind: int, parameter: float) -> Wide:
    """The terms of rows, of the kinds of `_kernels.regression.errors`. All numbers are finite and in the domain."""
    if kind in DEVIANCES or kind == errors.TWEEDIE:
        return deviances(Wide.of(y), Wide.of(p), DEVIANCES.get(kind, parameter))
    if kind == errors.SQUARED_LOG:
        error = Wide.of(log1p(y) - log1p(p))
    else:
        # Half of each: the difference of the largest doubles overflows. Below the normal numbers nothing is halved.
        halved = np.maximum(np.abs(y), np.abs(p)) > 1
        scale = np.where(halved, 0.5, 1.0)
        error = Wide.of(y * scale - p * scale, np.where(halved, 1, 0))
    if kind in (errors.SQUARED, errors.SQUARED_LOG):
        return error.times(error)
    if kind == errors.SIGNED:
        return error.negative()
    size = Wide(np.abs(error.fractions), error.exponents)
    if kind == errors.PINBALL:
        return size.times(Wide.of(np.where(error.fractions >= 0, parameter, 1.0 - parameter)))
    if kind == errors.PERCENTAGE:
        return size.over(Wide.of(np.maximum(np.abs(y), np.finfo(np.float64).eps)))
    return size


def deviances(y: Wide, p: Wide, power: float) -> Wide:
    """The deviance of a row is 2 p^(2 - power) times the unit deviance of the quotient of target and prediction."""
    difference = y.plus(p.negative()).over(p)
    close = (difference.fractions == 0) | (difference.exponents < -10 - math.frexp(max(1.0, abs(power)))[1])
    near, far = close_unit_deviances(difference, power), unit_deviances(y.over(p), power)
    fractions = np.where(close, near.fractions, far.fractions)
    exponents = np.where(close, near.exponents, far.exponents)
    return Wide(fractions, exponents + 1).times(p.power(2.0 - power))


def unit_deviances(quotient: Wide, power: float) -> Wide:
    """The deviance of targets `quotient` and predictions 1, divided by 2."""
    left, two = 1.0 - power, 2.0 - power
    ones = np.ones_like(quotient.fractions)
    one = Wide.of(ones)
    if power == 1.0:
        parts = [quotient.times(logarithms(quotient)), quotient.negative(), one]
    elif power == 2.0:
        parts = [quotient, logarithms(quotient).negative(), one.negative()]
    else:
        base = Wide(np.maximum(quotient.fractions, 0.0), quotient.exponents)
        parts = [
            base.power(two).times(Wide.of(ones / (left * two))), quotient.times(Wide.of(ones / -left)),
            Wide.of(ones / two),
        ]  # fmt: skip
    return parts[0].plus(parts[1]).plus(parts[2])


def close_unit_deviances(difference: Wide, power: float) -> Wide:
    """The same for a target 1 + d near 1, where the parts would cancel: d^2 (1/2 - power d / 6 + ...)."""
    d = shifted(difference.fractions, np.minimum(difference.exponents, 0))
    coefficients = [0.5]
    for k in range(2, 10):
        coefficients.append(-coefficients[-1] * (power + k - 2) / (k + 1))
    return difference.times(difference).times(Wide.of(np.polynomial.polynomial.polyval(d, coefficients)))


def logarithms(quotient: Wide) -> Wide:
    """Natural logarithms; that of 0, which is multiplied by 0, is that of its exponent."""
    positive = np.where(quotient.fractions > 0, quotient.fractions, 0.5)
    # Near 1 the exponent and the logarithm of the fraction cancel: both come from the number itself.
    plain = np.abs(quotient.exponents) < BAND_BITS
    numbers = np.where(plain, shifted(positive, np.where(plain, quotient.exponents, 0)), positive)
    return Wide.of(log(numbers) + np.where(plain, 0, quotient.exponents) * LOG_TWO)
