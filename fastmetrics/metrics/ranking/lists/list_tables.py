"""Tables of ranked lists: the measures of every group of a hash exchange, for every rule of ties that it supports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import WEIGHT, Output, Scratch
from fastmetrics._core.columns.slice_sets import SliceSet
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import GroupKeys, GroupLayout, check_group_weights
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.ranking import ranked_lists
from fastmetrics.metrics.ranking.lists.group_workspace import GroupWorkspace
from fastmetrics.metrics.ranking.lists.large_groups import LargeGroupList, large_group_lists
from fastmetrics.metrics.ranking.lists.list_measures import BINARY_LOGARITHM, KINDS, TIES, Measure, MeasureTable, padded

NO_KEYS: np.ndarray = np.empty(0, np.uint64)
ROWS_PER_CALL = 1 << 16  # rows of the partitions whose groups one call of the kernel measures


class ListTable(NamedTuple):
    """Some groups as ranked lists: values (measure, group), counts (group, count), and weights of groups or None.

    `measure_index` is the row of `values` that holds a measure.
    """

    keys: GroupKeys
    values: np.ndarray
    counts: np.ndarray
    weights: np.ndarray | None
    measure_index: dict[Measure, int]

    def take(self, order: np.ndarray) -> ListTable:
        """The groups in another order."""
        weights = None if self.weights is None else self.weights[order]
        values = self.values.take(order, axis=1)  # unlike an index, this keeps each measure's values contiguous
        return ListTable(self.keys.take(order), values, self.counts[order], weights, self.measure_index)

    def segment(self, where: slice) -> ListTable:
        """A range of neighbouring groups."""
        weights = None if self.weights is None else self.weights[where]
        return ListTable(
            self.keys.take(where), self.values[:, where], self.counts[where], weights, self.measure_index
        )


class ListsByGroup(GroupWorkspace):
    """Measures the groups of a range of partitions at a time. Each thread has one, with its own memory.

    `values_per_output` is 1: values are made for a few partitions at a time, whatever range is asked for.
    """

    # An upper bound: pages of the kernel's memory are touched only for rows with a gain.
    ROW_BYTES = 8 * ranked_lists.WORDS_PER_ROW + 72
    ties = "average"

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
        rows = max(1, int(layout.partition_rows.max()))
        # One call of the kernel writes at most as many groups as its partitions have rows.
        most_groups = min(int(layout.partition_rows.sum()), rows + ROWS_PER_CALL)
        super().__init__(layout, outputs, scratch, most_groups)
        array = scratch.array
        measures = distinct_measures(statistics)
        self.measures = MeasureTable(measures)
        self.measure_index = {measure: number for number, measure in enumerate(measures)}
        self.discounts = BINARY_LOGARITHM.up_to(max(self.measures.ranks, rows))
        self.weights = layout.addresses(WEIGHT) if layout.weighted else NO_KEYS
        self.class_counts = array("class counts", np.int64, 2 * rows)
        self.grades = array("grades", np.float64, rows)
        self.memory = array("lists", np.uint64, ranked_lists.WORDS_PER_ROW * (rows + 2) + rows + ranked_lists.SPARE)
        self.weight_ranges = array("weights", np.float64, 2 * most_groups if layout.weighted else 0).reshape(2, -1)
        shape = (len(outputs), len(measures), most_groups)
        self.values = array("values", np.float64, len(outputs) * len(measures) * most_groups).reshape(shape)
        shape = (len(outputs), most_groups, ranked_lists.N_COUNTS)
        self.counts = array("counts", np.int64, len(outputs) * most_groups * ranked_lists.N_COUNTS).reshape(shape)

    def partition_ranges(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Ranges of partitions of at most ROWS_PER_CALL rows; a larger partition is a range of its own."""
        first = start
        rows = 0
        for partition in range(start, stop):
            partition_rows = int(self.layout.partition_rows[partition])
            if rows and rows + partition_rows > ROWS_PER_CALL:
                yield first, partition
                first, rows = partition, 0
            rows += partition_rows
        yield first, stop

    def tables(self, start: int, stop: int, own: SliceSet | None) -> Iterator[tuple[int, int | None, ListTable]]:
        """Yield (output, slice, groups) for the partitions start..stop. The next table overwrites a table's arrays."""
        layout = self.layout
        if own is not None:
            layout.number_slices(own, start, stop)
        for first, last in self.partition_ranges(start, stop):
            ranked_lists.measure_groups(
                layout.hashes, layout.labels, layout.scores, layout.heads, layout.tails,
                NO_KEYS if own is None else layout.slices, self.weights, layout.offsets, layout.graded,
                layout.double_scores, self.label_of_output, self.score_of_output, first, last, self.measures.integers,
                self.measures.numbers, *self.discounts, TIES[self.ties], self.table, self.group_of_row,
                self.cursors, self.scores, self.grades, self.memory, self.class_counts, self.hashes, self.heads,
                self.tails, self.slices, self.weight_ranges, self.values, self.counts, self.n_groups,
            )  # fmt: skip
            n = int(self.n_groups[0])
            if n == 0:
                continue
            keys = self.keys(n)
            weights = None
            if layout.weighted:
                check_group_weights(keys, self.weight_ranges[0, :n], self.weight_ranges[1, :n])
                weights = self.weight_ranges[0, :n]
            tables = (
                ListTable(keys, self.values[output, :, :n], self.counts[output, :n], weights, self.measure_index)
                for output in range(len(self.outputs))
            )
            yield from self.split_tables(enumerate(tables), own is not None)

    @classmethod
    def of_large_group(
        cls,
        statistics: Sequence[Any],
        rows: BlockStore,
        keys: GroupKeys,
        outputs: Sequence[Output],
        by_slice: bool,
        n_threads: int,
        key_texts: Any = None,
    ) -> Iterator[tuple[int, int | None, ListTable]]:
        """The tables of one group that does not fit in memory: its rows of grade zero are only counted."""
        measures = distinct_measures(statistics)
        for number, output in enumerate(outputs):
            for slice_number, ranked in large_group_lists(rows, keys, output, by_slice):
                yield number, slice_number, cls.of_large_list(measures, keys, ranked)

    @classmethod
    def of_large_list(cls, measures: list[Measure], keys: GroupKeys, ranked: LargeGroupList) -> ListTable:
        """The table of one group of which only the graded rows are in memory."""
        table = MeasureTable(measures)
        longest = n_graded = ranked.grades.shape[0]
        if any(measure.kind == KINDS["err"] for measure in measures):
            longest = max(n_graded, int((np.diff(ranked.starts) + ranked.tied_zeros).max(initial=0)))
        values = np.empty((len(measures), 1))
        counts = np.zeros((1, ranked_lists.N_COUNTS), np.int64)
        ranked_lists.measure_large_list(
            padded(ranked.grades), ranked.starts, np.ascontiguousarray(ranked.tied_zeros),
            np.ascontiguousarray(ranked.zeros_above), table.integers, table.numbers,
            *BINARY_LOGARITHM.up_to(max(table.ranks, ranked.rows)), TIES[cls.ties],
            np.empty(ranked_lists.WORDS_PER_ROW * (longest + 2) + n_graded + ranked_lists.SPARE, np.uint64),
            values[:, 0], counts[0],
        )  # fmt: skip
        return ListTable(keys, values, counts, np.array([ranked.weight]), {m: n for n, m in enumerate(measures)})


class OptimisticLists(ListsByGroup):
    """Of tied rows, the one with the higher grade is ranked first."""

    ties = "optimistic"


class PessimisticLists(ListsByGroup):
    """Of tied rows, the one with the higher grade is ranked last."""

    ties = "pessimistic"


TABLE_OF_TIES = {table.ties: table for table in (ListsByGroup, OptimisticLists, PessimisticLists)}


def distinct_measures(statistics: Sequence[Any]) -> list[Measure]:
    """The distinct measures that the statistics read."""
    return list(dict.fromkeys(statistic.measure for statistic in statistics))
