"""Pairs won inside every slice: the score statistic of AUC for all ways to divide rows into slices, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import label_name
from fastmetrics._core.columns.slice_sets import SliceSet, column_names
from fastmetrics._core.exchange.range_exchange import ScoreBuckets
from fastmetrics._core.exchange.runs import ClassTotals, SlicedStatistic
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.exchange import slice_rows


class PairCounts(NamedTuple):
    """Rows of each class, and twice the number of pairs that the positive row won; a tie counts once."""

    negatives: int
    positives: int
    wins: int


class SlicePairCounts(NamedTuple):
    """The rows of each class, and twice the pairs won, of the slices of all sets; the pairs are Python's integers."""

    negatives: np.ndarray
    positives: np.ndarray
    wins: np.ndarray


class PairsWonBySlice(SlicedStatistic):
    """`PairsWon` of the slices of several sets, without weights. The rows of a bucket are ordered once for all sets."""

    def __init__(self, sets: Sequence[SliceSet]) -> None:
        self.sets = tuple(sets)

    @property
    def kept_columns(self) -> tuple[str, ...]:
        """The columns that buckets have beside the scores."""
        return column_names(self.sets)

    @property
    def n_slices(self) -> int:
        return sum(own.n_slices for own in self.sets)

    def empty(self) -> SlicePairCounts:
        negatives, positives = np.zeros((2, self.n_slices), np.int64)
        return SlicePairCounts(negatives, positives, np.zeros(self.n_slices, object))

    def merge(self, higher: SlicePairCounts, lower: SlicePairCounts, totals: ClassTotals) -> SlicePairCounts:
        between = 2 * lower.negatives.astype(object) * higher.positives.astype(object)
        return SlicePairCounts(
            higher.negatives + lower.negatives, higher.positives + lower.positives, higher.wins + lower.wins + between
        )

    def from_tied_blocks(self, blocks: Sequence[Any]) -> SlicePairCounts:
        """The state of rows that all have one score."""
        counts = np.zeros((2, self.n_slices), np.int64)
        for block in blocks:
            columns = block.load()
            labels = columns[label_name(0)]
            starts = 0
            for own in self.sets:
                numbers = own.number(columns, np.empty(labels.shape[0], np.uint16))
                of_set = counts[:, starts : starts + own.n_slices]
                slice_rows.count_rows(numbers, labels ^ 1, of_set[0])
                slice_rows.count_rows(numbers, labels, of_set[1])
                starts += own.n_slices
        negatives, positives = counts
        return SlicePairCounts(negatives, positives, negatives.astype(object) * positives.astype(object))

    def range_counter(self, buckets: ScoreBuckets) -> Callable[[int, int], SlicePairCounts]:
        """A thread's function from a range of buckets to its state."""
        names = self.kept_columns
        most = max(1, int(buckets.class_counts().sum(axis=1).max()))
        keys = ColumnBlocks(buckets.keys)
        code_columns = [ColumnBlocks([block.columns[name] for block in buckets.blocks]) for name in names]
        rows = np.empty((3, most), np.uint64)
        codes = np.empty((len(names), most), np.uint16)
        unordered, numbers = np.empty((2, most), np.uint16)
        ordered = np.empty(most, np.uint32)

        def count(start: int, stop: int) -> SlicePairCounts:
            pairs = [np.zeros((own.n_slices, slice_rows.N_FIELDS), np.int64) for own in self.sets]
            last_run = 0
            for bucket in range(start, stop):
                n = slice_rows.order_bucket(
                    keys, code_columns, buckets.offsets, bucket, rows, unordered, codes, ordered
                )
                columns = {name: of_column[:n] for name, of_column in zip(names, codes, strict=True)}
                first_run = last_run
                for own, of_set in zip(self.sets, pairs, strict=True):
                    of_rows = own.number(columns, numbers[:n])
                    last_run = slice_rows.add_ordered(ordered[:n], of_rows, first_run, of_set)
            return state_of(np.concatenate(pairs))

        return count

    def by_slice(self, state: SlicePairCounts) -> Iterator[tuple[int | None, PairCounts]]:
        """What every slice that has rows is called, and its state."""
        names = [own.outside(number) for own in self.sets for number in range(own.n_slices)]
        for name, *counts in zip(names, *(column.tolist() for column in state), strict=True):
            if counts[0] or counts[1]:
                yield name, PairCounts(*counts)


def state_of(pairs: np.ndarray) -> SlicePairCounts:
    """The state of pairs as the kernel writes them."""
    low, high = pairs[:, [slice_rows.WINS, slice_rows.HIGH_WINS]].view(np.uint64).T.astype(object)
    return SlicePairCounts(pairs[:, slice_rows.NEGATIVES], pairs[:, slice_rows.POSITIVES], low + high * (1 << 64))
