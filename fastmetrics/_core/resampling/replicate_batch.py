"""Batches of replicates: REPLICATES_PER_BATCH replicates are computed together, in one pass over the rows.

These types are shared by the sweep over the rows (`range_replicates.py`) and by the statistics. `SerialReplicates` are
computed one by one, from rows repeated as often as the replicate's weights. They are for statistics without a
`replicate_batch`, for replicates that are too large for it, and for rows whose own weights are too far apart for
`weighted_batch.py`. A row that gets weight k in a replicate occurs k times there. The repeated rows go to the same
methods of the statistic as the rows of a log. So the state of a replicate is exactly that of the repeated rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from fastmetrics._core.exact import integer_sum
from fastmetrics._core.exchange.sorted_rows import sweep_of_sorted
from fastmetrics._core.exchange.threshold_sweep import NO_ROWS, ClassTotals, RangePosition, sweep_of_tie
from fastmetrics._core.exchange.weighted_ranges import WeightScale, rows_of_classes
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.resampling import score_replicates

REPLICATES_PER_BATCH: int = score_replicates.REPLICATES_PER_BATCH
SMALL_ROWS = 1 << 32
NO_SEGMENTS = np.empty(0, np.int32)
NO_WEIGHTS = np.empty(0)


class ReplicateBatchWeights(NamedTuple):
    """The weights of a batch: one row per unit bucket, one column per replicate.

    `n` is the number of replicates; columns beyond it are 0. `max_weight` is at least 1.
    """

    table: np.ndarray
    max_weight: int
    n: int


class ReplicateBatchTotals:
    """Rows of each class in every replicate of a batch, computed at the first use.

    `count()` returns the rows of each class in every unit bucket.
    """

    def __init__(self, count: Callable[[], np.ndarray], weights: ReplicateBatchWeights) -> None:
        self.count = count
        self.weights = weights
        self.totals: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray:
        """int64[2, REPLICATES_PER_BATCH]: negatives, positives."""
        if self.totals is None:
            self.totals = np.zeros((2, REPLICATES_PER_BATCH), np.int64)
            score_replicates.replicate_totals(self.weights.table, self.count(), self.totals)
        return self.totals

    @property
    def are_small(self) -> bool:
        """Has every replicate fewer than 2**32 rows? Then a product of two counts has at most 62 bits."""
        return int(self.rows.sum(0).max()) < SMALL_ROWS


class DescendingRows(NamedTuple):
    """The rows of a bucket in descending order of score (replicate_batch.h).

    Rows with weights have `row_weights` and no segments. `classes` is for `SerialReplicates`: unit buckets, ascending
    keys and, if rows have weights, weights of the negatives and of the positives.
    """

    codes: np.ndarray
    segments: np.ndarray = NO_SEGMENTS
    classes: tuple[tuple[np.ndarray, ...], ...] = ()
    row_weights: np.ndarray = NO_WEIGHTS


class ReplicateBatch(Protocol):
    """The replicates of one statistic in a batch. They get all rows in descending order of score."""

    def sweep(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> None:
        """Add the rows of a bucket, all below those added so far."""
        ...

    def add_tie(self, keys: np.ndarray, tied_counts: np.ndarray) -> None:
        """Add rows that all have one score: tied_counts[label, replicate]."""
        ...

    def states(self, n: int) -> list[Any]:
        """The states of the first n replicates."""
        ...


class SerialReplicates:
    """The replicates of one statistic in a batch, each computed by itself. It has the methods of ReplicateBatch.

    Parameters
    ----------
    statistic : ScoreStatistic
        The statistic.
    totals : ReplicateBatchTotals
        Rows of each class in every replicate.
    n : int
        The number of replicates.
    scale : WeightScale or None
        The scale of the rows' weights; None for rows without weights.
    """

    def __init__(self, statistic: Any, totals: ReplicateBatchTotals, n: int, scale: WeightScale | None) -> None:
        self.statistic = statistic
        self.totals = totals
        self.n = n
        self.scale = scale
        self.state_of_replicate: list[Any] = [None] * n
        self.above = [NO_ROWS] * n
        self.total_weights = [NO_ROWS] * n  # with weights of rows: filled by add_weight_totals
        self.tied = [NO_ROWS] * n

    @property
    def needs_weight_totals(self) -> bool:
        """Must the weights of all rows be known before the first sweep?"""
        return self.scale is not None and bool(self.statistic.needs_position)

    def position(self, replicate: int) -> RangePosition:
        """The position of the next rows of a replicate."""
        if self.scale is not None:
            return RangePosition(self.total_weights[replicate], self.above[replicate])
        negatives, positives = self.totals.rows[:, replicate].tolist()
        return RangePosition(ClassTotals(negatives, positives), self.above[replicate])

    def add_state(self, replicate: int, state: Any, totals: ClassTotals) -> None:
        """Merge the state of a range that lies below all others so far."""
        high = self.state_of_replicate[replicate]
        if high is not None:
            state = self.statistic.merge(state, high, self.position(replicate).totals)
        self.state_of_replicate[replicate] = state
        self.above[replicate] = self.above[replicate].plus(totals)

    def count(self, classes: list[tuple[np.ndarray, ...]]) -> ClassTotals:
        """The totals of repeated rows; the weights only if they are needed."""
        weights = (integer_sum(of_class[1]) for of_class in classes) if self.needs_weight_totals else ()
        return ClassTotals(*(len(of_class[0]) for of_class in classes), *weights)

    def sweep(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> None:
        for replicate in range(self.n):
            classes = repeat_classes(rows, weights, replicate)
            totals = self.count(classes)
            if totals.negatives == totals.positives == 0:
                continue
            position = self.position(replicate)
            if self.scale is None:
                keys = np.concatenate([of_class[0] for of_class in classes])
                state = self.statistic.from_sweep(sweep_of_sorted(keys, totals, self.statistic), position)
            else:
                negatives, positives = ((of_class[0], of_class[1]) for of_class in classes)
                state = self.statistic.from_weighted_rows(rows_of_classes(negatives, positives, self.scale), position)
            self.add_state(replicate, state, totals)

    def add_weight_totals(self, buckets: list[DescendingRows], weights: ReplicateBatchWeights) -> None:
        """Add the weights of rows to the totals of every replicate, before the first sweep."""
        if not self.needs_weight_totals:
            return
        for rows in buckets:
            for replicate, sums in enumerate(self.total_weights):
                self.total_weights[replicate] = sums.plus(self.count(repeat_classes(rows, weights, replicate)))

    def add_tie(self, keys: np.ndarray, tied_counts: np.ndarray) -> None:
        """Add rows without weights that all have one score: tied_counts[label, replicate]."""
        for replicate in range(self.n):
            tied = ClassTotals(*tied_counts[:, replicate].tolist())
            if tied != NO_ROWS:
                state = self.statistic.from_sweep(sweep_of_tie(keys, tied), self.position(replicate))
                self.add_state(replicate, state, tied)

    def add_tied_rows(
        self,
        labels: np.ndarray,
        row_weights: np.ndarray,
        unit_buckets: np.ndarray,
        weights: ReplicateBatchWeights,
        only_totals: bool,
    ) -> None:
        """Add some weighted rows of a tie that is loaded block by block, or only their weights to the totals."""
        sums = self.total_weights if only_totals else self.tied
        for replicate in range(self.n):
            repeats = weights.table[unit_buckets, replicate]
            repeated_labels, repeated_weights = np.repeat(labels, repeats), np.repeat(row_weights, repeats)
            classes = [repeated_weights[repeated_labels == label] for label in (0, 1)]
            totals = ClassTotals(*map(len, classes), *map(integer_sum, classes))
            sums[replicate] = sums[replicate].plus(totals)

    def end_tie(self, score: float) -> None:
        """Make the state of the tie whose rows were added."""
        for replicate, tied in enumerate(self.tied):
            if tied != NO_ROWS:
                state = self.statistic.from_weighted_tie(score, tied, self.position(replicate))
                self.add_state(replicate, state, tied)
        self.tied = [NO_ROWS] * self.n

    def states(self, n: int) -> list[Any]:
        return [self.statistic.empty() if state is None else state for state in self.state_of_replicate[:n]]


def repeat_classes(
    rows: DescendingRows, weights: ReplicateBatchWeights, replicate: int
) -> list[tuple[np.ndarray, ...]]:
    """The rows of each class that one replicate has in a bucket: ascending keys and, if rows have weights, weights."""
    classes = []
    for unit_buckets, *columns in rows.classes:
        repeats = weights.table[unit_buckets, replicate]
        classes.append(tuple(np.repeat(column, repeats) for column in columns))
    return classes
