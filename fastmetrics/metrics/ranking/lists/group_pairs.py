"""Pairs won inside every group: the tables that GAUC, AUC by group and the GAUC plot read.

The hash exchange (`_core/exchange/hash_exchange.py`) brings the rows of a group into one partition. A kernel counts the
pairs of every group. One row of integers is left of each group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import (
    SLICE,
    WEIGHT,
    Output,
    Scratch,
    label_name,
    score_name,
)
from fastmetrics._core.columns.slice_sets import SliceSet
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
from fastmetrics._kernels.sweep import mann_whitney
from fastmetrics.metrics.ranking.lists.group_workspace import GroupWorkspace
from fastmetrics.metrics.ranking.lists.slice_pairs import PairsBySlice

NO_SLICES: np.ndarray = np.empty(0, np.uint64)


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
        """A range of neighbouring groups."""
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
        self.only_pairs = only_pairs
        most_groups = max(1, max(int(layout.partition_rows[start:stop].sum()) for start, stop in chunks))
        self.most_groups = most_groups
        super().__init__(layout, outputs, scratch, most_groups)
        self.memory, array = scratch, scratch.array
        self.scratch = array("scratch", np.uint64, len(self.scores))
        self.cells = array("cells", np.uint32, mann_whitney.MAX_TABLE_CELLS + 2)
        self.conflicts = array("conflicts", np.uint64, mann_whitney.MAX_CONFLICTS)
        self.class_rows = array("class rows", np.int64, 2 * layout.n_labels * most_groups).reshape(
            layout.n_labels, most_groups, 2
        )
        self.wins = array("wins", np.uint64, len(outputs) * most_groups).reshape(len(outputs), most_groups)
        self.auc = self.wins.view(np.float64)
        self.totals = array("totals", np.float64, most_groups if layout.weighted else 0)
        self.rows = array("rows", np.uint64, 4 * len(self.scores) if layout.weighted else 0).reshape(2, -1)
        self.n_groups = np.zeros(1 + max(stop - start for start, stop in chunks), np.int64)

    def tables(self, start: int, stop: int, own: SliceSet | None) -> Iterator[tuple[int, int | None, GroupPairs]]:
        """Yield (output, slice, groups) for the partitions start..stop. The next table overwrites a table's arrays."""
        layout, by_slice = self.layout, own is not None
        if own is not None and not layout.weighted:
            yield from self.tables_by_slice(start, stop, own)
            return
        if own is not None:
            layout.number_slices(own, start, stop)
        grouped_auc.group_pairs(
            layout.hashes, layout.labels, layout.scores, layout.weights, layout.heads, layout.tails,
            layout.slices if by_slice else NO_SLICES, layout.offsets, layout.double_scores, self.label_of_output,
            self.score_of_output, start, stop, self.table, self.group_of_row, self.cursors, self.scores, self.scratch,
            self.cells, self.conflicts, self.rows, self.hashes, self.heads, self.tails, self.slices, self.class_rows,
            self.wins, self.auc, self.totals, self.n_groups,
        )  # fmt: skip
        n = int(self.n_groups[0])
        if n == 0:
            return
        wins, weights = self.wins[:, :n], None
        if layout.weighted:
            wins, weights = self.auc[:, :n], self.totals[:n]
            if np.isnan(wins).any():
                self.divide_integers(start, stop, by_slice)
        keys, class_rows = self.keys(n), self.class_rows[:, :n]
        if not by_slice:
            for number, output in enumerate(self.outputs):
                yield number, None, GroupPairs(keys, class_rows[output.label], wins[number], weights)
            return
        # Keys and counts are moved once for all outputs.
        order, segments = self.order_by_slice()
        keys, class_rows = keys.take(order), class_rows.take(order, axis=1)
        weights = None if weights is None else weights[order]
        for number, output in enumerate(self.outputs):
            table = GroupPairs(keys, class_rows[output.label], wins[number, order], weights)
            for slice_number, where in segments:
                yield number, slice_number, table.segment(where)

    def tables_by_slice(self, start: int, stop: int, own: SliceSet) -> Iterator[tuple[int, int, GroupPairs]]:
        """As `tables` for a set of slices, without weights."""
        segments, one_class = self.sliced.count(start, stop, own, self.only_pairs)
        for number, output in enumerate(self.outputs):
            table = GroupPairs(self.sliced.keys(), self.sliced.class_rows[output.label], self.sliced.wins[number], None)
            for slice_number, where in segments:
                segment = table.segment(where)
                if self.only_pairs:
                    segment = segment._replace(one_class=one_class[output.label, slice_number])
                yield number, slice_number, segment

    @cached_property
    def sliced(self) -> PairsBySlice:
        """The memory for slices of groups, made when they are first asked for."""
        return PairsBySlice(self, self.memory, self.most_groups)

    def divide_integers(self, start: int, stop: int, by_slice: bool) -> None:
        """Compute the values that the kernel left as NaN, in integers of any width."""
        layout = self.layout
        n, *firsts = self.n_groups[: 1 + stop - start].tolist()
        for partition, first, end in zip(range(start, stop), firsts, [*firsts[1:], n], strict=True):
            uncertain = np.flatnonzero(np.isnan(self.auc[:, first:end]).any(axis=0))
            if not uncertain.shape[0]:
                continue
            rows = int(layout.partition_rows[partition])
            group_of_row, n_groups = np.empty(rows, np.uint32), np.zeros(1, np.int64)
            table = self.table[: max(64, 1 << (2 * rows - 1).bit_length())]
            own_keys = (self.hashes, self.heads, self.tails, self.slices)
            hashes, heads, tails, slices = (np.empty_like(array) for array in own_keys)
            grouped_auc.number_groups(
                layout.hashes, layout.labels, layout.heads, layout.tails, layout.slices if by_slice else NO_SLICES,
                layout.offsets, partition, table, group_of_row, hashes, heads, tails, slices,
                np.empty((rows, 2), np.int64), n_groups,
            )  # fmt: skip
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
                    self.auc[number, first + group], self.totals[first + group] = auc_and_total(state)

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
