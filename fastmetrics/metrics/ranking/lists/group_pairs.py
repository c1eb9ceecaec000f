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
from fastmetrics.metrics.ranking.lists.group_workspace import GroupWorkspace

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


class PairsByGroup(GroupWorkspace):
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
        most_groups = max(1, max(int(layout.partition_rows[start:stop].sum()) for start, stop in chunks))
        super().__init__(layout, views, scratch, most_groups)
        array = scratch.array
        self.scratch = array("scratch", np.uint64, len(self.scores))
        self.cells = array("cells", np.uint32, mann_whitney.MAX_TABLE_CELLS + 2)
        self.conflicts = array("conflicts", np.uint64, mann_whitney.MAX_CONFLICTS)
        self.class_rows = array("class rows", np.int64, 2 * layout.n_labels * most_groups).reshape(
            layout.n_labels, most_groups, 2
        )
        self.wins = array("wins", np.uint64, len(views) * most_groups).reshape(len(views), most_groups)

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
        keys, class_rows = self.keys(n), self.class_rows[:, :n]
        if not by_slice:
            for number, view in enumerate(self.views):
                yield number, None, GroupPairs(keys, class_rows[view.label], self.wins[number, :n], None)
            return
        # Keys and counts are moved once for all views.
        order, segments = self.order_by_slice()
        keys, class_rows = keys.take(order), class_rows.take(order, axis=1)
        for number, view in enumerate(self.views):
            table = GroupPairs(keys, class_rows[view.label], self.wins[number, order], None)
            for slice_number, where in segments:
                yield number, slice_number, table.segment(where)

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
        starts = np.append(0, np.cumsum(np.bincount(group_of_row, minlength=n)))
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
            table_of_view = GroupPairs(self.keys(n), class_rows, auc, totals)
            yield from self.split_tables([(view_number, table_of_view)], by_slice)

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
                    wins = np.array([0.0 if 0 in state.rows else weighted_ranges.weighted_auc(state)])
                    total = np.array([divide(sum(state.weights), 1 << EXPONENT)])
                    table = GroupPairs(keys, class_rows, wins, total)
                else:
                    wins = np.array([state.wins], np.uint64)
                    table = GroupPairs(keys, np.array([state[:2]], np.int64), wins, None)
                if table.class_rows.any():
                    yield number, slice_number, table
