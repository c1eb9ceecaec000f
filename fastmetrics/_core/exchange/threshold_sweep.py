"""The threshold sweep of a range of scores: counts at every threshold, made once for all statistics that need them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from fastmetrics._core.exact import EXPONENT, divide
from fastmetrics._core.exchange.range_exchange import ScoreBuckets, scores_of_keys
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.sweep import mann_whitney, threshold_sweep

BUCKETS_PER_RANGE = 4  # buckets of one sweep: several, so that little time is spent in Python


class ClassTotals(NamedTuple):
    """Rows of each class, and the weights of each class times 2**EXPONENT (0 without weights)."""

    negatives: int
    positives: int
    negative_weight: int = 0
    positive_weight: int = 0

    def plus(self, other: ClassTotals) -> ClassTotals:
        return ClassTotals(*(one + two for one, two in zip(self, other, strict=True)))

    def as_floats(self) -> tuple[float, float]:
        """The weights of both classes, each rounded once, or their rows if rows have no weights."""
        weights = self.negative_weight, self.positive_weight
        if not any(weights):
            return float(self.negatives), float(self.positives)
        return divide(weights[0], 1 << EXPONENT), divide(weights[1], 1 << EXPONENT)


NO_ROWS = ClassTotals(0, 0)


class RangePosition(NamedTuple):
    """Where a range lies: the totals of all rows, and the totals of the rows with greater scores."""

    totals: ClassTotals
    above: ClassTotals


class SweepRows(Protocol):
    """Rows behind a sweep, for statistics that need score keys as well as counts."""

    def other_keys_between(self, low: int, high: int) -> np.ndarray:
        """Keys of the class that is not the pivot, strictly between two keys."""
        ...

    def lowest_key(self) -> int:
        """The least key of either class."""
        ...


class ThresholdSweep(NamedTuple):
    """Counts at every threshold of a range, from the greatest score down.

    One class is the pivot: the thresholds are its distinct scores. The arrays are valid until the builder makes the
    next sweep.

    Attributes
    ----------
    pivot : {0, 1}
        The class whose scores are the thresholds.
    keys : ndarray
        The thresholds as ordered keys (`range_exchange.ordered_keys`), distinct and descending.
    pivot_counts : ndarray
        Rows of the pivot class at each threshold.
    tied_counts : ndarray
        Rows of the other class at each threshold.
    between_counts : ndarray
        Rows of the other class above threshold k and below threshold k - 1. The last entry counts those below all
        thresholds.
    class_totals : ClassTotals
        Rows of each class in the range.
    rows : SweepRows
        Access to the score keys.
    """

    pivot: int
    keys: np.ndarray
    pivot_counts: np.ndarray
    tied_counts: np.ndarray
    between_counts: np.ndarray
    class_totals: ClassTotals
    rows: SweepRows

    def scores(self) -> np.ndarray:
        return scores_of_keys(self.keys)

    def score_of(self, key: int) -> float:
        return float(scores_of_keys(np.array([key], self.keys.dtype))[0])


class SortedRows(NamedTuple):
    """Rows whose classes are sorted in ascending order: the pivot class, and the other class."""

    pivots: np.ndarray
    others: np.ndarray

    def other_keys_between(self, low: int, high: int) -> np.ndarray:
        return self.others[(self.others > low) & (self.others < high)]

    def lowest_key(self) -> int:
        return min(int(keys[0]) for keys in self if len(keys))


class BucketRows(NamedTuple):
    """The rows of a range of buckets."""

    buckets: ScoreBuckets
    start: int
    stop: int
    pivot: int

    def other_keys_between(self, low: int, high: int) -> np.ndarray:
        buckets = self.buckets
        by_bucket = [buckets.of_class(buckets.keys, bucket, 1 - self.pivot) for bucket in range(self.start, self.stop)]
        keys = np.concatenate(by_bucket)
        return keys[(keys > low) & (keys < high)]

    def lowest_key(self) -> int:
        lowest = np.empty(1, self.buckets.key_type)
        threshold_sweep.lowest_key(self.buckets.addresses, self.buckets.offsets, self.start, self.stop, lowest)
        return int(lowest[0])


def sweep_of_tie(keys: np.ndarray, tied: ClassTotals) -> ThresholdSweep:
    """The sweep of rows that all have the same key. One class may have no rows."""
    counts = np.array([[tied.positives], [tied.negatives]], np.int64)
    return ThresholdSweep(1, keys, counts[0], counts[1], np.zeros(2, np.int64), tied, SortedRows(keys, keys[:0]))


class SweepBuilder:
    """Makes the sweeps of ranges of buckets; one object per thread.

    Parameters
    ----------
    buckets : ScoreBuckets
        Rows by score.
    pivot : {0, 1}
        The class whose scores are the thresholds.
    bucket_ranges : list of (int, int)
        The ranges that `make` will be called with.
    """

    def __init__(self, buckets: ScoreBuckets, pivot: int, bucket_ranges: list[tuple[int, int]]) -> None:
        self.buckets = buckets
        self.pivot = pivot
        counts = buckets.class_counts()
        largest_bucket = max(1, int(counts[:, pivot].max(initial=0)))
        self.below: list[list[int]] = np.concatenate((np.zeros((1, 2), np.int64), counts.cumsum(0))).tolist()
        bounds = [(self.below[start], self.below[stop]) for start, stop in bucket_ranges]
        most_pivots = max(1, max((high[pivot] - low[pivot] for low, high in bounds), default=1))
        most_others = max((high[1 - pivot] - low[1 - pivot] for low, high in bounds), default=0)
        if largest_bucket >= threshold_sweep.MAX_PIVOTS or max(most_pivots, most_others) >= threshold_sweep.MAX_ROWS:
            raise OverflowError(
                f"{largest_bucket} rows of one class have neighbouring scores: more than a range can hold"
            )
        key_type = buckets.key_type
        self.pivots, self.scratch = np.empty((2, largest_bucket), key_type)
        self.cells = np.empty(mann_whitney.MAX_TABLE_CELLS + 2, np.uint32)
        self.conflicts = np.empty(mann_whitney.MAX_CONFLICTS, key_type)
        self.slots = np.empty(2 * largest_bucket + 1, np.uint32)
        self.keys = np.empty(most_pivots, key_type)
        self.pivot_counts, self.tied_counts, self.between_counts = np.empty((3, most_pivots + 1), np.int64)

    def make(self, start: int, stop: int) -> ThresholdSweep:
        """The sweep of the buckets start to stop; at least one of them has rows."""
        buckets = self.buckets
        n = threshold_sweep.sweep_buckets(
            buckets.addresses, buckets.offsets, start, stop, self.pivot, self.pivots, self.scratch, self.cells,
            self.conflicts, self.slots, self.keys, self.pivot_counts, self.tied_counts, self.between_counts,
        )  # fmt: skip
        totals = ClassTotals(*(high - low for low, high in zip(self.below[start], self.below[stop], strict=True)))
        rows = BucketRows(buckets, start, stop, self.pivot)
        return ThresholdSweep(
            self.pivot, self.keys[:n], self.pivot_counts[:n], self.tied_counts[:n], self.between_counts[: n + 1],
            totals, rows,
        )  # fmt: skip


