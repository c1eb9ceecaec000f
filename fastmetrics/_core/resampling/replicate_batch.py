"""Batches of replicates: REPLICATES_PER_BATCH replicates read the rows of a range together.

A row that has weight k in a replicate occurs k times there. Every replicate of a range has runs of its own
(`exchange/runs.py`), so its state is exactly the statistic's state of the repeated rows. What a kernel computes for all
replicates in one pass over the rows (`resampling/score_replicates.pyx`) is computed at the first replicate that asks
for it. Other statistics read the repeated rows of one replicate after the other. `weighted_batch.py` does the same for
rows that have weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.exact import EXPONENT
from fastmetrics._core.exchange.runs import (
    NO_KEYS,
    NO_ROWS,
    ClassTotals,
    CountedRuns,
    CurvePoint,
    Cut,
    Made,
    Masses,
    RangePosition,
    RangeStatistic,
    Runs,
)
from fastmetrics._core.exchange.weighted_ranges import WeightedRows, WeightScale
from fastmetrics._core.exchange.weighted_sweep import runs_of_tie
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import computed_once
from fastmetrics._kernels.resampling import score_replicates as kernels

REPLICATES_PER_BATCH: int = kernels.REPLICATES_PER_BATCH
SMALL_ROWS = 1 << 32  # of a replicate: a product of two counts has at most 62 bits
WORD_UNITS = (20, 52, 84)  # the three words of a sum of precisions are multiples of 2**-20, 2**-52, 2**-84
NO_SEGMENTS = np.empty(0, np.int32)
NO_WEIGHTS = np.empty(0)


class ReplicateBatchWeights(NamedTuple):
    """The weights of a batch: one row per unit bucket, one column per replicate.

    `n` is the number of replicates; columns beyond it are 0. `max_weight` is at least 1.
    """

    table: np.ndarray
    max_weight: int
    n: int


class DescendingRows:
    """The rows of a bucket in descending order of score: codes and segments (replicate_batch.h), or codes and weights.

    `sort_keys()` returns their keys in the same order, which only some statistics need.
    """

    def __init__(
        self,
        codes: np.ndarray,
        segments: np.ndarray = NO_SEGMENTS,
        row_weights: np.ndarray = NO_WEIGHTS,
        sort_keys: Callable[[], np.ndarray] = lambda: NO_KEYS,
    ) -> None:
        self.codes = codes
        self.sort_keys = sort_keys
        self.segments = segments
        self.row_weights = row_weights

    @computed_once
    def keys(self) -> np.ndarray:
        return self.sort_keys()

    def times(self, column: np.ndarray) -> np.ndarray:
        """How often every row occurs in a replicate with the weights `column`."""
        times: np.ndarray = column[self.codes & kernels.UNIT_BUCKET_MASK]
        return times

    @property
    def is_positive(self) -> np.ndarray:
        flags: np.ndarray = (self.codes & kernels.POSITIVE_FLAG) != 0
        return flags


class DescendingRange:
    """The rows of a range: its buckets from the greatest scores down."""

    def __init__(self, buckets: Sequence[DescendingRows]) -> None:
        self.buckets = buckets

    @computed_once
    def counts(self) -> np.ndarray:
        """Rows of each class in every unit bucket."""
        mask = kernels.UNIT_BUCKET_MASK | kernels.POSITIVE_FLAG
        counts = sum(np.bincount(own.codes & mask, minlength=mask + 1) for own in self.buckets)
        return np.ascontiguousarray(np.reshape(counts, (2, -1)).T, np.int64)

    def repeat(self, column: np.ndarray) -> Made:
        """The runs at every score of a replicate."""
        made = []
        for bucket in self.buckets:
            times = bucket.times(column).astype(np.int64)
            present = np.flatnonzero(times)
            if present.shape[0]:
                keys, times, is_positive = bucket.keys[present], times[present], bucket.is_positive[present]
                first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
                by_class = (np.add.reduceat(times * of_class, first) for of_class in (~is_positive, is_positive))
                made.append((keys[first], *by_class))
        keys, negatives, positives = (np.concatenate(columns) for columns in zip(*made, strict=True))
        return keys, negatives, positives

    def repeat_weighted(self, column: np.ndarray, scale: WeightScale) -> WeightedRows:
        """The weighted rows of a replicate."""
        by_class: tuple[list[Any], list[Any]] = [], []
        for bucket in self.buckets:
            times, is_positive = bucket.times(column), bucket.is_positive
            for of_class, own in ((~is_positive, by_class[0]), (is_positive, by_class[1])):
                repeats = times * of_class
                own.append([np.repeat(rows, repeats) for rows in (bucket.keys, bucket.row_weights)])
        keys, weights = (np.concatenate(columns) for columns in zip(*by_class[0], *by_class[1], strict=True))
        return WeightedRows(keys, weights, sum(own[0].shape[0] for own in by_class[0]), scale)

    def lowest_key(self, column: np.ndarray) -> np.ndarray:
        """The least key of a replicate, which has rows."""
        for bucket in reversed(self.buckets):
            present = np.flatnonzero(bucket.times(column))
            if present.shape[0]:
                return bucket.keys[present[-1:]]
        raise ValueError("the replicate has no rows")


class ReplicatedRange(ABC):
    """The rows of a range in all replicates of a batch."""

    @property
    @abstractmethod
    def totals(self) -> list[ClassTotals]:
        """The totals of the range in every replicate."""

    @abstractmethod
    def runs(self, replicate: int, position: RangePosition, cut: Cut) -> Runs:
        """The runs of a replicate, which has rows. They may be shorter than the cut wants."""


class TiedRange(ReplicatedRange):
    """Rows that all have one key. `totals` have weights if rows have weights."""

    def __init__(self, key: np.ndarray, totals: list[ClassTotals], is_weighted: bool) -> None:
        self.key = key
        self.own_totals = totals
        self.is_weighted = is_weighted

    @property
    def totals(self) -> list[ClassTotals]:
        return self.own_totals

    def runs(self, replicate: int, position: RangePosition, cut: Cut) -> Runs:
        return runs_of_tie(self.key, self.totals[replicate], position, cut, self.is_weighted)


class CountedRange(ReplicatedRange):
    """Rows without weights; `positions` are those of the range in every replicate."""

    def __init__(
        self, rows: DescendingRange, weights: ReplicateBatchWeights, positions: Sequence[RangePosition]
    ) -> None:
        self.rows = rows
        self.weights = weights
        self.positions = positions
        self.is_small = max(sum(position.totals.rows) for position in positions) < SMALL_ROWS

    @computed_once
    def totals(self) -> list[ClassTotals]:
        return totals_of_counts(self.rows.counts, self.weights)

    def runs(self, replicate: int, position: RangePosition, cut: Cut) -> Runs:
        return ReplicateRuns(self, replicate, position, cut)

    def by_class(self, totals: Sequence[ClassTotals]) -> np.ndarray:
        """The rows of each class: int64[2, REPLICATES_PER_BATCH]."""
        counts = np.zeros((2, REPLICATES_PER_BATCH), np.int64)
        counts[:, : len(totals)] = np.array([own.rows for own in totals]).T
        return counts

    @property
    def all_rows(self) -> np.ndarray:
        return self.by_class([position.totals for position in self.positions])

    def above(self, words: int) -> np.ndarray:
        """A state of so many words for every replicate: the rows of each class above the range, and zeros."""
        state = np.zeros((words, REPLICATES_PER_BATCH), np.int64)
        state[:2] = self.by_class([position.above for position in self.positions])
        return state

    @computed_once
    def extremes(self) -> list[tuple[int, int]]:
        """`Runs.extremes` of every replicate."""
        totals, state = self.all_rows, np.zeros((3, REPLICATES_PER_BATCH), np.int64)
        table, most, _ = self.weights
        for own in self.rows.buckets:
            kernels.sweep_extremes(own.codes, table, most, totals, state)
        return list(zip(*state[1:].tolist(), strict=True))

    @computed_once
    def crossings(self) -> list[list[int]]:
        """The rows of each class at the points before and after the crossing of the rates."""
        totals, state = self.all_rows, self.above(7)
        table, most, _ = self.weights
        for own in self.rows.buckets:
            kernels.sweep_crossing(own.codes, table, most, totals, state)
        points: list[list[int]] = state[2:6].T.tolist()
        return points

    @computed_once
    def precisions(self) -> list[int]:
        """`Runs.precisions` of every replicate."""
        state = self.above(5)
        table, most, _ = self.weights
        for own in self.rows.buckets:
            kernels.sweep_precisions(own.codes, table, most, state)
        words = zip(*state[2:].tolist(), strict=True)
        return [sum(word << EXPONENT - unit for word, unit in zip(own, WORD_UNITS, strict=True)) for own in words]

    @computed_once
    def pairs(self) -> list[int]:
        """`Runs.pairs` of every replicate."""
        state = np.zeros((4, REPLICATES_PER_BATCH), np.int64)
        table, most, _ = self.weights
        for own in self.rows.buckets:
            kernels.sweep_pairs(own.codes, own.segments, table, most, state)
        low, high = state[2:].view(np.uint64).tolist()
        return [one + (other << 64) for one, other in zip(low, high, strict=True)]


class ReplicateRuns(CountedRuns):
    """The runs of one replicate, at every score. The points of the crossing have no scores."""

    def __init__(self, of_batch: CountedRange, replicate: int, position: RangePosition, cut: Cut) -> None:
        super().__init__(of_batch.totals[replicate], position, cut)
        self.of_batch = of_batch
        self.replicate = replicate

    @property
    def column(self) -> np.ndarray:
        """The weights of the replicate."""
        column: np.ndarray = self.of_batch.weights.table[:, self.replicate]
        return column

    def make(self) -> Made:
        return self.of_batch.rows.repeat(self.column)

    def lowest_key(self) -> np.ndarray:
        return self.of_batch.rows.lowest_key(self.column)

    def extremes(self, totals: Masses) -> tuple[int, int]:
        if self.of_batch.is_small and totals == self.of_batch.positions[self.replicate].totals.rows:
            return self.of_batch.extremes[self.replicate]
        return super().extremes(totals)

    def crossing(self, position: RangePosition) -> tuple[CurvePoint, CurvePoint]:
        if not self.of_batch.is_small:
            return super().crossing(position)
        fps_before, tps_before, fps, tps = self.of_batch.crossings[self.replicate]
        return CurvePoint(fps_before, tps_before, None), CurvePoint(fps, tps, None)

    def precisions(self, position: RangePosition) -> int:
        if self.of_batch.is_small:
            return self.of_batch.precisions[self.replicate]
        return super().precisions(position)

    def pairs(self) -> int:
        return self.of_batch.pairs[self.replicate]


def totals_of_counts(counts: np.ndarray, weights: ReplicateBatchWeights) -> list[ClassTotals]:
    """The rows of each class in every replicate, from those in every unit bucket."""
    totals = np.zeros((2, REPLICATES_PER_BATCH), np.int64)
    kernels.replicate_totals(weights.table, counts[: weights.table.shape[0]], totals)
    return [ClassTotals(*own) for own in totals.T[: weights.n].tolist()]


class ReplicateBatch:
    """The replicates of a batch: the states of every statistic over the ranges so far, from the greatest scores down.

    Parameters
    ----------
    statistics : sequence of RangeStatistic
    weights : ReplicateBatchWeights
    totals : list of ClassTotals
        Those of all rows in every replicate. With weights of rows they are added before the first range, if a statistic
        needs positions.
    """

    def __init__(
        self, statistics: Sequence[RangeStatistic], weights: ReplicateBatchWeights, totals: list[ClassTotals]
    ) -> None:
        self.statistics = statistics
        self.weights = weights
        self.totals = totals
        self.above = [NO_ROWS] * weights.n
        self.last: list[ClassTotals] | None = None  # those of the last range, which are not in `above` yet
        self.states: list[list[Any]] = [[None] * weights.n for _ in statistics]

    def positions(self) -> list[RangePosition]:
        """The positions of the next range."""
        if self.last is not None:
            self.above = [one.plus(other) for one, other in zip(self.above, self.last, strict=True)]
            self.last = None
        return [RangePosition(*own) for own in zip(self.totals, self.above, strict=True)]

    def add_totals(self, totals: list[ClassTotals]) -> None:
        """Add the totals of a range to those of all rows."""
        self.totals = [one.plus(other) for one, other in zip(self.totals, totals, strict=True)]

    def add(self, of_range: ReplicatedRange) -> None:
        """Add a range, which lies below all others so far."""
        for replicate, (position, totals) in enumerate(zip(self.positions(), of_range.totals, strict=True)):
            if not any(totals.rows):
                continue
            for statistic, states in zip(self.statistics, self.states, strict=True):
                state = statistic.find(of_range.runs(replicate, position, statistic.cut), position)
                higher = states[replicate]
                states[replicate] = state if higher is None else statistic.merge(higher, state, position.totals)
        self.last = of_range.totals

    def states_of(self, number: int) -> list[Any]:
        """The states of all replicates for statistic number `number`."""
        return [self.statistics[number].empty() if state is None else state for state in self.states[number]]
