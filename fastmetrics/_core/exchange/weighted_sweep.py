"""The threshold sweep of a range with weights: integers at every distinct score, from the greatest down.

A weight is an integer multiple of 2**unit (`weighted_ranges.WeightScale`). If the sum of the multiples fits 62 bits,
they are int64. Otherwise they are Python integers in an object array: slower, and as exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.exact import EXPONENT, divide
from fastmetrics._core.exchange.range_exchange import scores_of_keys
from fastmetrics._core.exchange.threshold_sweep import ClassTotals
from fastmetrics._core.exchange.weighted_ranges import WeightedRows

INT64_BITS = 62  # of a sum; one bit is spare because the sum is estimated in floats


class WeightedSweep(NamedTuple):
    """Weights of either class at each distinct score, descending, in multiples of 2**(shift - EXPONENT)."""

    scores: np.ndarray
    negatives: np.ndarray
    positives: np.ndarray
    shift: int

    def cumulative(self) -> tuple[list[int], list[int]]:
        """Cumulative weights of negatives and positives down to each score, times 2**EXPONENT."""
        negatives, positives = np.cumsum(self.negatives).tolist(), np.cumsum(self.positives).tolist()
        return [total << self.shift for total in negatives], [total << self.shift for total in positives]

    def cumulative_floats(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same as float64, and the weight of the positives below each score. Each number is rounded once."""
        positives_down_to = np.cumsum(self.positives)
        sums = (np.cumsum(self.negatives), positives_down_to, positives_down_to[-1] - positives_down_to)
        negatives, positives, positives_below = map(self.rounded, sums)
        return negatives, positives, positives_below

    def floats_below(self, above: ClassTotals) -> tuple[np.ndarray, np.ndarray]:
        """Weights of negatives and positives above the range and down to each score. Each number is rounded once."""
        negatives, positives = (
            np.array([divide(higher + weight, 1 << EXPONENT) for weight in weights])
            for higher, weights in zip(above[2:], self.cumulative(), strict=True)
        )
        return negatives, positives

    def totals(self, rows: WeightedRows) -> ClassTotals:
        """Rows and weights of both classes."""
        weights = (int(own.sum()) << self.shift for own in (self.negatives, self.positives))
        return ClassTotals(rows.negatives[0].shape[0], rows.positives[0].shape[0], *weights)

    def rounded(self, sums: np.ndarray) -> np.ndarray:
        """Sums of weights as float64."""
        if self.negatives.dtype == np.int64:
            values: np.ndarray = np.ldexp(sums.astype(np.float64), self.shift - EXPONENT)
            return values
        return np.array([divide(int(total) << self.shift, 1 << EXPONENT) for total in sums])


def to_multiples(weights: np.ndarray, unit: int) -> np.ndarray:
    """Weights as multiples of 2**unit."""
    scaled: np.ndarray = np.ldexp(weights, -unit)
    if float(scaled.sum()) < 2.0**INT64_BITS:
        return scaled.astype(np.int64)
    multiples = np.empty(weights.shape[0], object)
    multiples[:] = [to_multiple(value, unit) for value in weights.tolist()]
    return multiples


def to_multiple(value: float, unit: int) -> int:
    """value / 2**unit, which is an integer."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator << -unit) // denominator if unit < 0 else numerator // (denominator << unit)


def sweep_weighted(rows: WeightedRows) -> WeightedSweep:
    """Both classes' weights at every distinct score of a range."""
    keys = np.concatenate((rows.negatives[0], rows.positives[0]))
    multiples = to_multiples(np.concatenate((rows.negatives[1], rows.positives[1])), rows.scale.unit)
    is_positive = np.arange(len(keys)) >= len(rows.negatives[0])
    order = np.argsort(keys)[::-1]
    keys, multiples, is_positive = keys[order], multiples[order], is_positive[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    zeros: Any = np.zeros_like(multiples)
    positives = np.add.reduceat(np.where(is_positive, multiples, zeros), first)
    negatives = np.add.reduceat(np.where(is_positive, zeros, multiples), first)
    return WeightedSweep(scores_of_keys(keys[first]), negatives, positives, rows.scale.shift)
