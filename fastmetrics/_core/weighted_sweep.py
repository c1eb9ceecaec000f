"""The threshold sweep of a range with weights: whole numbers at every distinct score, from the greatest down.

A weight is a whole multiple of 2**unit (`weighted.WeightScale`). Where their sum fits 62 bits they are int64, else
Python's own integers in an object array: slower, and as exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.by_score import scores_of_keys
from fastmetrics._core.exact import EXPONENT, divide
from fastmetrics._core.weighted import WeightedRows

INT64_BITS = 62  # of a sum: the last is left for what a float's own sum may be off


class WeightedSweep(NamedTuple):
    """Weights of either class at each distinct score, descending, in multiples of 2**(shift - EXPONENT)."""

    scores: np.ndarray
    negatives: np.ndarray
    positives: np.ndarray
    shift: int

    def cumulated(self) -> tuple[list[int], list[int]]:
        """Weights down to each score, from 0 at the range's upper end, times 2**EXPONENT."""
        sums = (np.cumsum(self.negatives).tolist(), np.cumsum(self.positives).tolist())
        return [own << self.shift for own in sums[0]], [own << self.shift for own in sums[1]]

    def floats(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same as float64, and the positives below each score: each rounded once, for a difference may be 0."""
        found = np.cumsum(self.positives)
        sums = (np.cumsum(self.negatives), found, found[-1] - found)
        negatives, positives, missed = map(self.rounded, sums)
        return negatives, positives, missed

    def rounded(self, sums: np.ndarray) -> np.ndarray:
        """Sums of weights as float64."""
        if self.negatives.dtype == np.int64:
            values: np.ndarray = np.ldexp(sums.astype(np.float64), self.shift - EXPONENT)
            return values
        return np.array([divide(int(own) << self.shift, 1 << EXPONENT) for own in sums])


def whole_numbers(weights: np.ndarray, unit: int) -> np.ndarray:
    """Weights as multiples of 2**unit."""
    scaled: np.ndarray = np.ldexp(weights, -unit)
    if float(scaled.sum()) < 2.0**INT64_BITS:
        return scaled.astype(np.int64)
    whole = np.empty(weights.shape[0], object)
    whole[:] = [to_whole(value, unit) for value in weights.tolist()]
    return whole


def to_whole(value: float, unit: int) -> int:
    """value / 2**unit, which is whole."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator << -unit) // denominator if unit < 0 else numerator // (denominator << unit)


def sweep_weighted(rows: WeightedRows) -> WeightedSweep:
    """Both classes' weights at every distinct score of a range."""
    keys = np.concatenate((rows.negatives[0], rows.positives[0]))
    whole = whole_numbers(np.concatenate((rows.negatives[1], rows.positives[1])), rows.scale.unit)
    is_positive = np.arange(len(keys)) >= len(rows.negatives[0])
    order = np.argsort(keys)[::-1]
    keys, whole, is_positive = keys[order], whole[order], is_positive[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    nothing: Any = np.zeros_like(whole)
    positives = np.add.reduceat(np.where(is_positive, whole, nothing), first)
    negatives = np.add.reduceat(np.where(is_positive, nothing, whole), first)
    return WeightedSweep(scores_of_keys(keys[first]), negatives, positives, rows.scale.shift)
