"""Ranked lists whose grades are in a truth table: its rows stand beside those of the log in the exchange by group.

Rows of the truth have NaN in place of scores. A row of the log gets the grade that the truth has of its item in its
group. Items of the group that a list does not show belong to its ideal list and to its totals. Groups of which the log
has no row have no list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core.columns.row_blocks import WEIGHT, Output, Scratch, label_name, role_name, score_name
from fastmetrics._core.columns.slice_sets import SlicedTable, SlicedTables, SliceSet
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import GroupKeys, GroupLayout, check_group_weights
from fastmetrics._core.kinds import ITEM_ROLE
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.ranking import run_qrels_join
from fastmetrics.metrics.ranking.lists.group_workspace import order_by_slice
from fastmetrics.metrics.ranking.lists.list_measures import (
    KINDS,
    TRUTH_ROWS,
    Lists,
    Measure,
    MeasureTable,
    measure_lists,
)

NOT_RELEVANT, UNJUDGED = 0.0, -1.0  # the grade of a row that the truth lacks


class ListsWithTruth(NamedTuple):
    """The lists of a partition: row order[i] of it is row i of the lists, whose scores are those of any output."""

    keys: GroupKeys
    slices: np.ndarray
    order: np.ndarray
    lists: Lists
    weights: np.ndarray | None
    truth_rows: np.ndarray


class TruthLists(SlicedTables):
    """Measures the lists of a range of partitions, one partition at a time. Each thread has one."""

    ROW_BYTES = 192  # both tables of rows, their order, grades and scores, and what the kernel keeps of a list

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
        self.layout, self.outputs, self.key_texts = layout, outputs, key_texts
        self.table = statistics[0].table
        self.groups = layout.find_groups(max(1, layout.rows.largest), scratch.array)
        measures = list(dict.fromkeys(statistic.measure for statistic in statistics))
        self.measures = MeasureTable(measures)
        self.measure_index: dict[Measure, int] = {measure: number for number, measure in enumerate(measures)}
        self.tells_unjudged = any(measure.kind == KINDS["bpref"] for measure in measures)

    @staticmethod
    def values_per_output(statistics: Sequence[Any]) -> int:
        return 1

    def whole_tables(self, start: int, stop: int) -> Iterator[tuple[int, Any]]:
        for partition in range(start, stop):
            yield from ((number, table) for number, table, _ in self.measure(partition, by_slice=False))

    def sliced_tables(self, start: int, stop: int, own: SliceSet) -> Iterator[tuple[int, SlicedTable]]:
        if not own.n_slices:  # there are rows of truth alone
            return
        self.layout.number_slices(own, start, stop)
        for partition in range(start, stop):
            for number, table, slices in self.measure(partition, by_slice=True):
                order, segments = order_by_slice(slices)
                yield number, SlicedTable(table.take(order), own, segments)

    def measure(self, partition: int, by_slice: bool) -> Iterator[tuple[int, Any, np.ndarray]]:
        """Yield (output, lists, slice of each list) of a partition."""
        joined = self.join(partition, by_slice) if self.layout.partition_rows[partition] else None
        if joined is None or not joined.lists.n_lists:
            return
        for number, output in enumerate(self.outputs):
            scores = self.layout.partition_column(score_name(output.score), partition)[joined.order]
            lists, signed_gains = joined.lists._replace(scores=scores), not self.tells_unjudged
            values, counts = measure_lists(lists, self.measures, self.table.ties, signed_gains=signed_gains)
            counts[:, TRUTH_ROWS] = joined.truth_rows
            table = self.table.of_lists(joined.keys, values, counts, joined.weights, self.measure_index)
            yield number, table, joined.slices

    def join(self, partition: int, by_slice: bool) -> ListsWithTruth:
        """Join the rows of both tables."""
        rows = int(self.layout.partition_rows[partition])
        n_groups = self.groups.find(partition)
        groups = self.groups.group_of_row[:rows].copy()
        n_lists, lists = n_groups, groups
        if by_slice:
            n_lists = self.groups.find(partition, True)
            lists = self.groups.group_of_row[:rows]
        names = role_name(ITEM_ROLE), score_name(0), label_name(0)
        items, scores, labels = (self.layout.partition_column(name, partition) for name in names)
        is_truth, unjudged = np.isnan(scores), UNJUDGED if self.tells_unjudged else NOT_RELEVANT
        twice, kept, order, truth_rows, *columns = run_qrels_join.join_truth(
            groups, lists, items, is_truth.view(np.uint8), labels, n_groups, n_lists, unjudged
        )
        keys = self.layout.keys(self.groups, n_lists)
        if twice >= 0:
            self.raise_twice(keys.at(int(lists[twice])), int(items[twice]), bool(is_truth[twice]))
        offsets, grades, unretrieved, unretrieved_offsets = columns
        keys = keys.take(kept)
        slices = self.groups.slices[:n_lists][kept] if by_slice else kept
        weights = None
        if self.layout.rows.has_weights and kept.shape[0]:
            of_rows = self.layout.partition_column(WEIGHT, partition)[order]
            weights = np.minimum.reduceat(of_rows, offsets[:-1])
            check_group_weights(keys, weights, np.maximum.reduceat(of_rows, offsets[:-1]))
        of_lists = Lists(grades, grades, offsets, unretrieved, unretrieved_offsets)
        return ListsWithTruth(keys, slices, order, of_lists, weights, truth_rows)

    def raise_twice(self, key: Any, item: int, of_truth: bool) -> NoReturn:
        """Raise the error for an item that a table has twice."""
        value = item if self.key_texts is None else self.key_texts.value(item)
        table = "truth" if of_truth else "the log"
        raise ValueError(f"{table} has item {value!r} of group {key!r} twice; an item stands once in a list")

    @staticmethod
    def of_large_group(
        statistics: Sequence[Any],
        rows: BlockStore,
        keys: GroupKeys,
        outputs: Sequence[Output],
        by_slice: bool,
        n_threads: int,
        key_texts: Any = None,
    ) -> Iterator[tuple[int, int | None, Any]]:
        raise ValueError(
            f"group {keys.at(0)!r} has {rows.rows} rows, more than the memory limit holds: a list and its truth have "
            "to be in memory together; allow more memory"
        )
