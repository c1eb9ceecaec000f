"""Pairs won inside every group: the tables that GAUC, AUC by group and the GAUC plot read.

The hash exchange (`_core/exchange/hash_exchange.py`) brings the rows of a group into one partition. A kernel counts the
pairs of every group. One row of integers is left of each group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.columns.row_blocks import (
    SLICE,
    WEIGHT,
    ScoreLabelPair,
    Scratch,
    label_name,
    score_name,
)
from fastmetrics._core.exact import EXPONENT, divide
from fastmetrics._core.exchange import weighted_ranges
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import GroupKeys, GroupLayout
from fastmetrics._core.exchange.range_reduction import RangeReduction, reduce_ranges
from fastmetrics._core.exchange.weighted_ranges import WeightedPairs
from fastmetrics._core.score_statistics.pair_counts import PairsWon
from fastmetrics._kernels.ranking import grouped_auc
from fastmetrics._kernels.sweep import mann_whitney, weighted_pairs

NO_SLICES: np.ndarray = np.empty(0, np.uint64)


class GroupPairs(NamedTuple):
    """Statistics of some groups: the rows of each class, and twice the pairs won (a tie counts one).

    With weights, `wins` is the weighted AUC itself, and `group_weights` are the groups' sums of weights.
    """

    keys: GroupKeys
    class_rows: np.ndarray
    wins: np.ndarray
    group_weights: np.ndarray | None

    def take(self, order: np.ndarray) -> GroupPairs:
        """The groups in another order."""
        weights = None if self.group_weights is None else self.group_weights[order]
        return GroupPairs(self.keys.take(order), self.class_rows[order], self.wins[order], weights)

    def segment(self, where: slice) -> GroupPairs:
        """A range of neighbouring groups."""
        keys = GroupKeys(self.keys.hashes[where], self.keys.heads[where], self.keys.tails[where], self.keys.dtype)
        weights = None if self.group_weights is None else self.group_weights[where]
        return GroupPairs(keys, self.class_rows[where], self.wins[where], weights)

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


class PairsByGroup:
    """Counts the pairs of every group, a range of partitions at a time. Each thread has one, with its own memory."""

    ROW_BYTES = 52

    def __init__(
        self,
        statistics: Sequence[Any],
        layout: GroupLayout,
        chunks: list[tuple[int, int]],
        views: Sequence[ScoreLabelPair],
        scratch: Scratch,
    ) -> None:
        rows = max(1, int(layout.partition_rows.max()))
        most_groups = max(1, max(int(layout.partition_rows[start:stop].sum()) for start, stop in chunks))
        array = scratch.array
        self.layout = layout
        self.views = views
        self.label_of_view = np.array([view.label for view in views], np.int64)
        self.score_of_view = np.array([view.score for view in views], np.int64)
        self.table = array("table", np.uint32, max(64, 1 << (2 * rows - 1).bit_length()))
        self.group_of_row = array("group of row", np.uint32, rows)
        self.cursors = array("cursors", np.int64, 2 * rows)
        self.scores = array("scores", np.uint64, rows)
        self.scratch = array("scratch", np.uint64, rows)
        self.cells = array("cells", np.uint32, mann_whitney.MAX_TABLE_CELLS + 2)
        self.conflicts = array("conflicts", np.uint64, mann_whitney.MAX_CONFLICTS)
        self.hashes = array("hashes", np.uint64, most_groups)
        self.heads = array("heads", np.uint64, most_groups if layout.is_text else 0)
        self.tails = array("tails", np.uint64, most_groups if layout.is_text else 0)
        self.slices = array("slices", np.uint16, most_groups if layout.slices.shape[0] else 0)
        self.class_rows = array("class rows", np.int64, 2 * layout.n_labels * most_groups).reshape(
            layout.n_labels, most_groups, 2
        )
        self.wins = array("wins", np.uint64, len(views) * most_groups).reshape(len(views), most_groups)
        self.n_groups = np.zeros(1, np.int64)

    @staticmethod
    def values_per_pair(statistics: Sequence[Any]) -> int:
        return 1

    def tables(self, start: int, stop: int, by_slice: bool) -> Iterator[tuple[int, int | None, GroupPairs]]:
        """Yield (view, slice, groups) for the partitions start..stop. The next table overwrites a table's arrays."""
        layout = self.layout
        if layout.weighted:
            for partition in range(start, stop):
                if layout.partition_rows[partition]:
                    yield from self.weighted_tables(partition, by_slice)
            return
        grouped_auc.group_pairs(
            layout.hashes, layout.labels, layout.scores, layout.heads, layout.tails,
            layout.slices if by_slice else NO_SLICES, layout.offsets, layout.double_scores, self.label_of_view,
            self.score_of_view, start, stop, self.table, self.group_of_row, self.cursors, self.scores, self.scratch,
            self.cells, self.conflicts, self.hashes, self.heads, self.tails, self.slices, self.class_rows, self.wins,
            self.n_groups,
        )  # fmt: skip
        n = int(self.n_groups[0])
        if n == 0:
            return
        keys = self.keys(n)
        if not by_slice:
            for number, view in enumerate(self.views):
                yield number, None, GroupPairs(keys, self.class_rows[view.label, :n], self.wins[number, :n], None)
            return
        order, slice_ranges = self.order_by_slice(n)
        keys = keys.take(order)
        # The two counts of a group are reordered together, as one value of 16 bytes.
        pairs = self.class_rows.view(np.complex128)[:, :n, 0]
        class_rows = [pairs[label].take(order).view(np.int64).reshape(n, 2) for label in range(layout.n_labels)]
        for number, view in enumerate(self.views):
            table = GroupPairs(keys, class_rows[view.label], self.wins[number, :n][order], None)
            for slice_number, groups in slice_ranges:
                yield number, slice_number, table.segment(groups)

    def order_by_slice(self, n: int) -> tuple[np.ndarray, list[tuple[int, slice]]]:
        """The order of groups by slice, and the range of each slice in that order."""
        slice_of_group = self.slices[:n]
        order = np.argsort(slice_of_group, kind="stable")
        counts = np.bincount(slice_of_group)
        ends = np.cumsum(counts)
        present = np.flatnonzero(counts).tolist()
        return order, [(number, slice(int(ends[number] - counts[number]), int(ends[number]))) for number in present]

    def keys(self, n: int) -> GroupKeys:
        return GroupKeys(self.hashes[:n], self.heads[:n], self.tails[:n], self.layout.key_dtype)

    def weighted_tables(self, partition: int, by_slice: bool) -> Iterator[tuple[int, int | None, GroupPairs]]:
        layout = self.layout
        rows = int(layout.partition_rows[partition])
        table = self.table[: max(64, 1 << (2 * rows - 1).bit_length())]
        grouped_auc.number_groups(
            layout.hashes, layout.labels, layout.heads, layout.tails, layout.slices if by_slice else NO_SLICES,
            layout.offsets, partition, table, self.group_of_row, self.hashes, self.heads, self.tails, self.slices,
            self.class_rows[0], self.n_groups,
        )  # fmt: skip
        n = int(self.n_groups[0])
        blocks = [(block.columns, slice(*block.offsets[partition : partition + 2])) for block in layout.blocks]
        weights = np.concatenate([columns[WEIGHT][rows_of] for columns, rows_of in blocks])
        group_of_row = self.group_of_row[:rows]
        starts = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(group_of_row, minlength=n), out=starts[1:])
        for view_number, view in enumerate(self.views):
            labels = np.concatenate([columns[label_name(view.label)][rows_of] for columns, rows_of in blocks])
            scores = np.concatenate([columns[score_name(view.score)][rows_of] for columns, rows_of in blocks])
            # Sums of weights round, so they are taken in an order that depends on the rows' values only.
            order = np.lexsort((weights, labels, scores, group_of_row))
            auc, totals = np.empty(n), np.empty(n)
            class_rows = np.empty((n, 2), np.int64)
            weighted_pairs.weighted_group_auc(
                scores[order], labels[order], weights[order], starts, auc, totals, class_rows
            )
            if not by_slice:
                yield view_number, None, GroupPairs(self.keys(n), class_rows, auc, totals)
                continue
            group_order, slice_ranges = self.order_by_slice(n)
            by_slices = GroupPairs(
                self.keys(n).take(group_order), class_rows[group_order], auc[group_order], totals[group_order]
            )
            for slice_number, groups in slice_ranges:
                yield view_number, slice_number, by_slices.segment(groups)

    @staticmethod
    def of_large_group(
        statistics: Sequence[Any],
        rows: BlockStore,
        keys: GroupKeys,
        views: Sequence[ScoreLabelPair],
        by_slice: bool,
        n_threads: int,
    ) -> Iterator[tuple[int, int | None, GroupPairs]]:
        """The tables of one group that does not fit in memory: its pairs are counted by ranges of scores."""
        is_weighted = WEIGHT in rows.types
        n_slices = 1 + rows.column_max(SLICE) if by_slice else 0
        for number, view in enumerate(views):
            states = reduce_ranges(RangeReduction(rows, view, is_weighted, [PairsWon()], n_threads), n_slices)
            for (_, slice_number), state in states.items():
                if isinstance(state, WeightedPairs):
                    class_rows = np.array([state.rows], np.int64)
                    has_both_classes = 0 not in state.rows
                    wins = np.array([weighted_ranges.weighted_auc(state) if has_both_classes else 0.0])
                    total = np.array([divide(sum(state.weights), 1 << EXPONENT)])
                    table = GroupPairs(keys, class_rows, wins, total)
                else:
                    wins = np.array([state.wins], np.uint64)
                    table = GroupPairs(keys, np.array([state[:2]], np.int64), wins, None)
                if table.class_rows.any():
                    yield number, slice_number, table
