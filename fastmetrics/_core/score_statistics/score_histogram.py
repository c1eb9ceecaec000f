"""Scores in a bounded number of bins: the content of an approximate state, and certified bounds from it.

A bin is a prefix of the score's ordered bits. So bins are fine where scores are close together, whatever their scale.
Only bins that have rows are stored. If there are more than the state may hold, the last bit of all prefixes is dropped.
The number of remaining bits depends on the scores alone, not on the order in which they arrived or were merged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.exchange.range_exchange import ordered_keys
from fastmetrics._core.exchange.runs import (
    NO_ROWS,
    ClassTotals,
    CountedRuns,
    Cut,
    MadeRuns,
    RangePosition,
    RangeStatistic,
)
from fastmetrics._core.state import ArrayType, Field, Fields, State, Sums
from fastmetrics._core.statistic import AdditiveStatistic, Bounded

BIN_BYTES = 24  # a prefix and two counts
MOST_CELLS = 1 << 16  # of the table that counts prefixes without sorting them
KEY_BITS = 64  # of an ordered key; those of float32 use the lower half
NO_SCORE = np.uint64((1 << KEY_BITS) - 1)  # the key of NaN


def first_positions(ordered: np.ndarray) -> np.ndarray:
    """The index at which each distinct value of a sorted array begins."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(ordered) else np.empty(0, np.int64)


class ScoreHistogram(State):
    """Rows by class in bins of neighboring scores, in ascending order.

    Parameters
    ----------
    capacity : int
        The most bins that are stored.
    """

    __slots__ = ("capacity", "counts", "prefixes", "shift")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.shift = 0
        self.prefixes: np.ndarray = np.empty(0, np.uint64)
        self.counts: np.ndarray = np.empty((0, 2), np.int64)

    @property
    def is_exact(self) -> bool:
        """Is every bin a single score?"""
        return self.shift == 0

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    def arrays(self) -> tuple[np.ndarray, ...]:
        return np.array([self.shift]), self.prefixes, self.counts

    def layout(self) -> tuple[ArrayType, ...]:
        return (np.int64, 1), (np.uint64, None), (np.int64, None, 2)

    def load_arrays(self, *arrays: np.ndarray) -> None:
        shift, prefixes, counts = arrays
        if not 0 <= shift[0] <= KEY_BITS or (prefixes[1:] <= prefixes[:-1]).any():
            raise ValueError("a histogram's bins are out of order")
        if not prefixes.shape[0] == counts.shape[0] <= self.capacity:
            raise ValueError("a histogram has more bins than the state may, or other counts than bins")
        if (counts < 0).any():
            raise ValueError("a count is negative")
        self.shift, self.prefixes, self.counts = int(shift[0]), prefixes, counts

    def add(self, labels: np.ndarray, scores: np.ndarray) -> None:
        """Add checked rows. All scores of a histogram have one type."""
        keys = ordered_keys(scores).astype(np.uint64, copy=False) >> np.uint64(self.shift)
        low = keys.min() if len(keys) else np.uint64(0)
        if len(keys) and int(keys.max() - low) < MOST_CELLS:
            # Short prefixes are close together: they are counted in a table, without sorting.
            cells = np.bincount(2 * (keys - low).astype(np.int64) + labels).astype(np.int64)
            table = np.append(cells, 0)[: len(cells) + len(cells) % 2].reshape(-1, 2)
            present = np.flatnonzero(table.any(axis=1))
            self.set_bins(
                np.concatenate((self.prefixes, low + present.astype(np.uint64))),
                np.concatenate((self.counts, table[present])),
            )
            return
        positive = labels.view(bool)
        prefixes, counts = [self.prefixes], [self.counts]
        for label, class_keys in enumerate((keys[~positive], keys[positive])):
            class_keys.sort()
            edges = first_positions(class_keys)
            class_counts = np.zeros((len(edges), 2), np.int64)
            class_counts[:, label] = np.diff(np.append(edges, len(class_keys)))
            prefixes.append(class_keys[edges])
            counts.append(class_counts)
        self.set_bins(np.concatenate(prefixes), np.concatenate(counts))

    def merge(self, other: ScoreHistogram) -> None:
        """Add the rows of another histogram of the same capacity. The other is not changed."""
        shift = max(self.shift, other.shift)
        prefixes = [one.prefixes >> np.uint64(shift - one.shift) for one in (self, other)]
        counts = np.concatenate((self.counts, other.counts))
        self.shift = shift
        self.set_bins(np.concatenate(prefixes), counts)

    def copy(self) -> ScoreHistogram:
        """A copy that shares the arrays: bins are never changed in place."""
        new = ScoreHistogram(self.capacity)
        new.shift, new.prefixes, new.counts = self.shift, self.prefixes, self.counts
        return new

    def set_bins(self, prefixes: np.ndarray, counts: np.ndarray) -> None:
        """Merge equal prefixes into one bin, and drop bits until the bins fit the capacity."""
        order = np.argsort(prefixes, kind="stable")
        prefixes, counts = prefixes[order], counts[order]
        differing_bits = prefixes[1:] ^ prefixes[:-1]  # zero, or below the dropped bits: two prefixes are one bin

        def fits(bits: int) -> bool:
            return int(np.count_nonzero(differing_bits >> np.uint64(bits))) < self.capacity

        from bisect import bisect_left

        dropped = bisect_left(range(KEY_BITS), True, key=fits)
        prefixes = prefixes >> np.uint64(dropped)
        self.shift += dropped
        edges = first_positions(prefixes)
        self.prefixes = prefixes[edges] if len(prefixes) else prefixes
        self.counts = np.add.reduceat(counts, edges, axis=0) if len(prefixes) else counts

    @property
    def position(self) -> RangePosition:
        """The position of the range that all bins are together."""
        negatives, positives = self.counts.sum(axis=0).tolist()
        return RangePosition(ClassTotals(negatives, positives), NO_ROWS)

    def runs(self, first: int | None = None) -> CountedRuns:
        """The bins as runs, whose scores are not known.

        Class `first` has the greater scores in every bin. Without it, or if every bin is a single score, the rows of a
        bin tie.
        """
        counts = self.counts[::-1]
        if first is not None and not self.is_exact:
            ordered = np.zeros((2 * len(counts), 2), np.int64)
            ordered[::2, first], ordered[1::2, 1 - first] = counts[:, first], counts[:, 1 - first]
            counts = ordered
        negatives, positives = np.ascontiguousarray(counts.T)
        made = np.full(len(counts), NO_SCORE), negatives, positives
        return MadeRuns(self.position.totals, self.position, Cut.SCORES, made)

    def bins(self) -> list[tuple[int, int]]:
        """(negatives, positives) of every bin, ascending in score. Python integers: their products cannot overflow."""
        return [(negatives, positives) for negatives, positives in self.counts.tolist()]


class BoundedByOrder(RangeStatistic, Bounded):
    """A statistic that is extreme where one class has the greater scores in every bin."""

    __slots__ = ()

    def bounds(self, histogram: ScoreHistogram) -> tuple[Any, Any]:
        one, other = (self.find(histogram.runs(first), histogram.position) for first in (0, 1))
        return one, other


class ScoreCells(AdditiveStatistic):
    """Counts of negatives and positives below, between and above `edges`. A score equal to an edge counts as above."""

    __slots__ = ("edges",)

    def __init__(self, edges: np.ndarray) -> None:
        self.edges = edges

    def attributes(self) -> tuple[Any, ...]:
        return tuple(self.edges.tolist())

    @property
    def n_cells(self) -> int:
        return int(self.edges.shape[0]) + 1

    def empty(self) -> Sums:
        return Sums(Fields(Field("rows", length=2 * self.n_cells)))

    def update(self, state: Sums, rows: Rows) -> None:
        cells = np.searchsorted(self.edges, rows.scores, side="right")
        state.counts += np.bincount(2 * cells + rows.labels, minlength=2 * self.n_cells)
