"""The threshold sweep of a range of buckets: its runs, made once for all statistics that read them."""

from __future__ import annotations

import numpy as np

from fastmetrics._core.exchange.range_exchange import ScoreBuckets, scores_of_keys
from fastmetrics._core.exchange.runs import ClassTotals, CountedRuns, Cut, Made, Points, RangePosition, Runs
from fastmetrics._kernels.sweep import mann_whitney, runs, threshold_sweep

BUCKETS_PER_RANGE = 4  # buckets of one sweep: several, so that little time is spent in Python


class BucketRuns(CountedRuns):
    """The runs of the buckets start to stop at every score: both classes are sorted."""

    def __init__(
        self, builder: SweepBuilder, start: int, stop: int, totals: ClassTotals, position: RangePosition, cut: Cut
    ) -> None:
        super().__init__(totals, position, cut)
        self.builder = builder
        self.start = start
        self.stop = stop

    def make(self) -> Made:
        return self.builder.sort(self.start, self.stop)

    def lowest_key(self) -> np.ndarray:
        return self.builder.lowest_key(self.start, self.stop)


class SweptRuns(BucketRuns):
    """The runs of a threshold sweep: one class is the pivot, and every second run is one of its distinct scores.

    The runs between them are rows of the other class. There is one key for each pivot. With `Cut.POSITIVES` positives
    are the pivots.
    """

    def make(self) -> Made:
        return self.builder.sweep(self.start, self.stop)

    @property
    def scores(self) -> np.ndarray:
        keys, negatives, _ = self.made
        scores = np.full(negatives.shape[0], np.nan)
        scores[1::2] = scores_of_keys(keys)
        return scores

    def points(self, position: RangePosition) -> Points:
        fps, tps = (column[1::2].astype(np.float64) for column in self.cumulate(position.above))
        return Points(scores_of_keys(self.made[0]), fps, tps)


class SweepBuilder:
    """Makes the runs of ranges of buckets; one object per thread.

    Parameters
    ----------
    buckets : ScoreBuckets
        Rows by score.
    pivot : {0, 1}
        The class whose scores are the thresholds of a sweep.
    bucket_ranges : list of (int, int)
        The ranges that `runs` will be called with.
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
                f"{largest_bucket} rows of one class have neighboring scores: more than a range can hold"
            )
        key_type = buckets.key_type
        self.pivots = np.empty((2, largest_bucket), key_type)
        self.cells = np.empty(mann_whitney.MAX_TABLE_CELLS + 2, np.uint32)
        self.conflicts = np.empty(mann_whitney.MAX_CONFLICTS, key_type)
        self.slots = np.empty(2 * largest_bucket + 1, np.uint32)
        self.keys = np.empty(most_pivots, key_type)
        self.masses = np.empty((2, 2 * most_pivots + 1), np.int64)

    def runs(self, start: int, stop: int, position: RangePosition) -> dict[Cut, Runs]:
        """The runs of the buckets start to stop; at least one of them has rows.

        They are valid until the first are made of the next range.
        """
        totals = ClassTotals(*(high - low for low, high in zip(self.below[start], self.below[stop], strict=True)))
        swept = SweptRuns(self, start, stop, totals, position, Cut.POSITIVES)
        by_score = BucketRuns(self, start, stop, totals, position, Cut.SCORES)
        return {Cut.CLASSES: swept, Cut.POSITIVES: swept, Cut.SCORES: by_score}

    def sweep(self, start: int, stop: int) -> Made:
        """The runs of a threshold sweep."""
        buckets = self.buckets
        n = threshold_sweep.sweep_buckets(
            buckets.addresses, buckets.offsets, start, stop, self.pivot, self.pivots, self.cells, self.conflicts,
            self.slots, self.keys, self.masses,
        )  # fmt: skip
        return self.keys[:n], self.masses[0, : 2 * n + 1], self.masses[1, : 2 * n + 1]

    def sort(self, start: int, stop: int) -> Made:
        """The runs at every score: both classes are sorted."""
        buckets, key_type = self.buckets, self.buckets.key_type
        rows = sum(self.below[stop]) - sum(self.below[start])
        keys, masses = np.empty(rows, key_type), np.empty((2, rows), np.int64)
        n = 0
        for bucket in reversed(range(start, stop)):
            by_class = [after - before for before, after in zip(*self.below[bucket : bucket + 2], strict=True)]
            rows_of_bucket = np.empty(sum(by_class), key_type)
            for label, own in enumerate(np.split(rows_of_bucket, by_class[:1])):
                threshold_sweep.gather_class(buckets.addresses, buckets.offsets, 2 * bucket + label, own)
                own.sort()
            free = slice(n, None)
            n += runs.runs_of_sorted(rows_of_bucket, by_class[0], Cut.SCORES, keys[free], *masses[:, free])
        return keys[:n], masses[0, :n], masses[1, :n]

    def lowest_key(self, start: int, stop: int) -> np.ndarray:
        """The least key of either class."""
        lowest = np.empty(1, self.buckets.key_type)
        threshold_sweep.lowest_key(self.buckets.addresses, self.buckets.offsets, start, stop, lowest)
        return lowest
