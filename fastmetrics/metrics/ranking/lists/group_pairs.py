"""Pairs won inside every group: the tables that GAUC, AUC by group and the GAUC plot read.

The hash exchange (`_core/exchange/hash_exchange.py`) brings the rows of a group into one partition. A kernel counts the
pairs of every group. One row of integers is left of each group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import (
    SLICE,
    WEIGHT,
    Output,
    Scratch,
    UnpooledScratch,
    label_name,
    score_name,
)
from fastmetrics._core.columns.slice_sets import SlicedTable, SliceSet
from fastmetrics._core.exact import EXPONENT, divide
from fastmetrics._core.exchange import weighted_ranges
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import GroupKeys, GroupLayout
from fastmetrics._core.exchange.range_exchange import ordered_keys
from fastmetrics._core.exchange.range_reduction import RangeReduction, reduce_ranges
from fastmetrics._core.exchange.weighted_ranges import WeightedPairs, split_classes
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.score_statistics.pair_counts import PairsWon
from fastmetrics._kernels.ranking import grouped_auc
from fastmetrics.metrics.ranking.lists.group_workspace import GroupWorkspace
from fastmetrics.metrics.ranking.lists.slice_pairs import PairsBySlice


class GroupPairs(NamedTuple):
    """Statistics of some groups: the rows of each class, and twice the pairs won (a tie counts one).

    With weights, `wins` is the weighted AUC itself, and `group_weights` are the groups' sums of weights. `one_class`
    counts groups that are not listed: those without positives, those without negatives, and the rows of both kinds.
    """

    keys: GroupKeys
    class_rows: np.ndarray
    wins: np.ndarray
    group_weights: np.ndarray | None
    one_class: np.ndarray | None = None

    def take(self, order: np.ndarray) -> GroupPairs:
        """The groups in another order."""
        weights = None if self.group_weights is None else self.group_weights[order]
        return GroupPairs(self.keys.take(order), self.class_rows.take(order, axis=0), self.wins[order], weights)

    def segment(self, where: slice) -> GroupPairs:
        """A range of neighboring groups."""
        weights = None if self.group_weights is None else self.group_weights[where]
        return GroupPairs(self.keys.take(where), self.class_rows[where], self.wins[where], weights)

    def auc(self) -> np.ndarray:
        """The AUC of every group, NaN if a class is missing."""
        negatives, positives = self.class_rows[:, 0], self.class_rows[:, 1]
        defined = (negatives > 0) & (positives > 0)
        out = np.full(self.wins.shape[0], np.nan)
        if self.group_weights is None:
            pairs = 2 * negatives[defined].astype(np.uint64) * positives[defined].astype(np.uint64)
            out[defined] = self.wins[defined].astype(np.float64) / pairs.astype(np.float64)
        else:
            out[defined] = self.wins[defined]
        return out


def auc_and_total(state: WeightedPairs) -> tuple[float, float]:
    """The AUC of a group of weighted rows, 0 if a class is missing, and its sum of weights."""
    auc = 0.0 if 0 in state.rows else weighted_ranges.weighted_auc(state)
    return auc, divide(sum(state.weights), 1 << EXPONENT)


class PairsByGroup(GroupWorkspace):
    """Counts the pairs of every group, a range of partitions at a time. Each thread has one, with its own memory."""

    ROW_BYTES = 52

    def __init__(
        self,
        statistics: Sequence[Any],
        layout: GroupLayout,
        chunks: list[tuple[int, int]],
        outputs: Sequence[Output],
        scratch: Scratch,
        key_texts: Any = None,
        only_pairs: bool = False,
    ) -> None:
        most_groups = max(1, max(int(layout.partition_rows[start:stop].sum()) for start, stop in chunks))
        super().__init__(layout, layout.find_groups(most_groups, scratch.array, outputs))
        self.only_pairs = only_pairs
        self.outputs = outputs
        self.memory = scratch
        self.counter = grouped_auc.GroupPairCounter(self.groups, scratch.array)

    def whole_tables(self, start: int, stop: int) -> Iterator[tuple[int, GroupPairs]]:
        n, wins, weights = self.count(start, stop, by_slice=False)
        if n:
            keys, class_rows = self.layout.keys(self.groups, n), self.counter.class_counts[:, :n]
            for number, output in enumerate(self.outputs):
                yield number, GroupPairs(keys, class_rows[output.label], wins[number], weights)

    def count(self, start: int, stop: int, by_slice: bool) -> tuple[int, np.ndarray, np.ndarray | None]:
        """Count the pairs of all groups. Returns the number of groups, their pairs won, and their weights if any."""
        n = self.counter.count(start, stop, by_slice)
        if not self.layout.rows.has_weights:
            return n, self.counter.wins[:, :n], None
        wins = self.counter.auc[:, :n]
        if np.isnan(wins).any():
            self.divide_integers(start, stop, by_slice)
        return n, wins, self.counter.totals[:n]

    def sliced_tables(self, start: int, stop: int, own: SliceSet) -> Iterator[tuple[int, SlicedTable]]:
        layout = self.layout
        if not layout.rows.has_weights:
            segments, one_class = self.sliced.count(start, stop, own, self.only_pairs)
            cells = self.sliced.cells
            for number, output in enumerate(self.outputs):
                table = GroupPairs(self.sliced.keys(), cells.class_counts[output.label], cells.wins[number], None)
                yield number, SlicedTable(table, own, segments, one_class[output.label] if self.only_pairs else None)
            return
        layout.number_slices(own, start, stop)
        n, wins, weights = self.count(start, stop, by_slice=True)
        if n == 0 or weights is None:
            return
        # Keys and counts are moved once for all outputs.
        order, segments = self.order_by_slice(n)
        keys, class_rows = layout.keys(self.groups, n).take(order), self.counter.class_counts[:, :n].take(order, axis=1)
        weights = weights[order]
        for number, output in enumerate(self.outputs):
            table = GroupPairs(keys, class_rows[output.label], wins[number, order], weights)
            yield number, SlicedTable(table, own, segments)

    @cached_property
    def sliced(self) -> PairsBySlice:
        """The memory for slices of groups, made when they are first asked for."""
        return PairsBySlice(self.layout, self.groups, self.memory)

    def divide_integers(self, start: int, stop: int, by_slice: bool) -> None:
        """Compute the values that the kernel left as NaN, in integers of any width."""
        layout = self.layout
        starts_of_partitions = self.counter.partition_starts[: 1 + stop - start].tolist()
        for partition, (first, end) in zip(range(start, stop), pairwise(starts_of_partitions), strict=True):
            uncertain = np.flatnonzero(np.isnan(self.counter.auc[:, first:end]).any(axis=0))
            if not uncertain.shape[0]:
                continue
            rows = int(layout.partition_rows[partition])
            groups = layout.find_groups(rows, UnpooledScratch().array)
            groups.find(partition, by_slice)
            group_of_row = groups.group_of_row[:rows]
            weights = self.column(WEIGHT, partition)
            order = np.argsort(group_of_row, kind="stable")
            starts = np.append(0, np.cumsum(np.bincount(group_of_row)))
            for number, output in enumerate(self.outputs):
                positive = self.column(label_name(output.label), partition).view(bool)
                score_keys = ordered_keys(self.column(score_name(output.score), partition))
                for group in uncertain.tolist():
                    own = order[starts[group] : starts[group + 1]]
                    rows_of_group = split_classes(positive[own], score_keys[own], weights[own])
                    state = weighted_ranges.weighted_pairs(rows_of_group)
                    auc, total = auc_and_total(state)
                    self.counter.auc[number, first + group], self.counter.totals[first + group] = auc, total

    def column(self, name: str, partition: int) -> np.ndarray:
        """A column of the rows of one partition, in the order of the blocks."""
        blocks = self.layout.blocks
        return np.concatenate(
            [block.columns[name][slice(*block.offsets[partition : partition + 2])] for block in blocks]
        )

    @staticmethod
    def of_large_group(
        statistics: Sequence[Any],
        rows: BlockStore,
        keys: GroupKeys,
        outputs: Sequence[Output],
        by_slice: bool,
        n_threads: int,
        key_texts: Any = None,
    ) -> Iterator[tuple[int, int | None, GroupPairs]]:
        """The tables of one group that does not fit in memory: its pairs are counted by ranges of scores."""
        is_weighted = WEIGHT in rows.types
        n_slices = 1 + rows.column_max(SLICE) if by_slice else 0
        for number, output in enumerate(outputs):
            states = reduce_ranges(RangeReduction(rows, output, is_weighted, [PairsWon()], n_threads), n_slices)
            for (_, slice_number), state in states.items():
                if isinstance(state, WeightedPairs):
                    auc, total = auc_and_total(state)
                    table = GroupPairs(keys, np.array([state.rows], np.int64), np.array([auc]), np.array([total]))
                else:
                    wins = np.array([state.wins], np.uint64)
                    table = GroupPairs(keys, np.array([state[:2]], np.int64), wins, None)
                if table.class_rows.any():
                    yield number, slice_number, table
