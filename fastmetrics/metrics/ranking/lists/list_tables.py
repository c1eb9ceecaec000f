"""Tables of ranked lists: the measures of every group of a hash exchange, for every rule of ties that it supports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from fastmetrics._core.columns.row_blocks import Output, Scratch
from fastmetrics._core.columns.slice_sets import SlicedTable, SliceSet
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import GroupKeys, GroupLayout, check_group_weights
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.ranking import ranked_lists
from fastmetrics.metrics.ranking.lists.group_workspace import GroupWorkspace
from fastmetrics.metrics.ranking.lists.large_groups import LargeGroupList, large_group_lists
from fastmetrics.metrics.ranking.lists.list_measures import BINARY_LOGARITHM, TIES, Measure, MeasureTable
from fastmetrics.metrics.ranking.lists.truth_lists import TruthLists

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
        """A range of neighboring groups."""
        weights = None if self.weights is None else self.weights[where]
        return ListTable(self.keys.take(where), self.values[:, where], self.counts[where], weights, self.measure_index)


class ListsByGroup(GroupWorkspace):
    """Measures the groups of a range of partitions at a time. Each thread has one, with its own memory.

    `values_per_output` is 1: values are made for a few partitions at a time, whatever range is asked for.
    """

    # An upper bound: pages of the kernel's memory are touched only for rows with a gain.
    ROW_BYTES = 8 * ranked_lists.WORDS_PER_ROW + 72
    ties = "average"
    of_truth: ClassVar[type[TruthLists]] = TruthLists

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
        # One call of the kernel writes at most as many groups as its partitions have rows.
        most_groups = min(int(layout.partition_rows.sum()), max(1, layout.rows.largest) + ROWS_PER_CALL)
        super().__init__(layout, layout.find_groups(most_groups, scratch.array, outputs))
        measures = distinct_measures(statistics)
        table = MeasureTable(measures)
        self.measure_index = {measure: number for number, measure in enumerate(measures)}
        weights = BINARY_LOGARITHM.up_to(max(table.ranks, layout.rows.largest))
        self.measurer = ranked_lists.GroupMeasurer(
            self.groups, table.of_kernel, weights, TIES[self.ties], scratch.array
        )

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

    def whole_tables(self, start: int, stop: int) -> Iterator[tuple[int, ListTable]]:
        yield from ((number, table) for number, table, _ in self.measure(start, stop, by_slice=False))

    def sliced_tables(self, start: int, stop: int, own: SliceSet) -> Iterator[tuple[int, SlicedTable]]:
        self.layout.number_slices(own, start, stop)
        for number, table, n in self.measure(start, stop, by_slice=True):
            if number == 0:  # the groups are the same for all outputs
                order, segments = self.order_by_slice(n)
            yield number, SlicedTable(table.take(order), own, segments)

    def measure(self, start: int, stop: int, by_slice: bool) -> Iterator[tuple[int, ListTable, int]]:
        """Yield (output, groups, number of groups), a few partitions at a time."""
        layout = self.layout
        for first, last in self.partition_ranges(start, stop):
            n = self.measurer.measure(first, last, by_slice)
            if n == 0:
                continue
            keys = layout.keys(self.groups, n)
            weights = None
            if layout.rows.has_weights:
                least, greatest = self.measurer.weight_ranges[:, :n]
                check_group_weights(keys, least, greatest)
                weights = least
            measured = zip(self.measurer.values, self.measurer.counts, strict=True)
            for number, (values, counts) in enumerate(measured):
                yield number, ListTable(keys, values[:, :n], counts[:n], weights, self.measure_index), n

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

    @staticmethod
    def of_lists(
        keys: GroupKeys,
        values: np.ndarray,
        counts: np.ndarray,
        weights: np.ndarray | None,
        measure_index: dict[Measure, int],
    ) -> ListTable:
        """The table of lists that were measured apart."""
        return ListTable(keys, values, counts, weights, measure_index)

    @classmethod
    def of_large_list(cls, measures: list[Measure], keys: GroupKeys, ranked: LargeGroupList) -> ListTable:
        """The table of one group of which only the graded rows are in memory."""
        table = MeasureTable(measures)
        values = np.empty((len(measures), 1))
        counts = np.zeros((1, ranked_lists.N_COUNTS), np.int64)
        ranked_lists.measure_large_list(
            ranked.grades, ranked.starts, np.ascontiguousarray(ranked.tied_zeros),
            np.ascontiguousarray(ranked.zeros_above), table.of_kernel,
            BINARY_LOGARITHM.up_to(max(table.ranks, ranked.rows)), TIES[cls.ties], values[:, 0], counts[0],
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
