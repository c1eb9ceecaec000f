"""Ranges of scores whose rows come from several sources: the rows of a range make its states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE, WEIGHT, Output, label_name
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block, order_by_number, scatter_rows
from fastmetrics._core.exchange.bucket_positions import BucketWeights, GlobalTotals, totals_of_slices
from fastmetrics._core.exchange.class_ranges import OutputReduction
from fastmetrics._core.exchange.range_reduction import RangeReduction, merge_buckets, reduce_ranges, reduce_stored
from fastmetrics._core.exchange.row_ranges import (
    RangeCutter,
    RowRangeReduction,
    add_totals,
    count_rows,
    reduce_row_ranges,
    split_statistics,
)
from fastmetrics._core.exchange.runs import ClassTotals
from fastmetrics._core.exchange.stored_ranges import PartitionPair
from fastmetrics._core.exchange.weighted_ranges import scale_of
from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.statistic import Positioned
from fastmetrics.distributed.decisions import (
    PartDecision,
    RangeKey,
    RangeTotals,
    RowTotalKey,
    moves_buckets,
    no_totals,
)
from fastmetrics.distributed.score_columns import ScoreColumn, read_statistics, score_columns
from fastmetrics.distributed.summaries import RangeStates, SliceStateKey
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.input.slice_values import SliceValues
from fastmetrics.engine.partial.slice_passes import SlicePass, compute_slices, passes_of
from fastmetrics.engine.plan.plan_parts import PlanPart


class ScoreRange(NamedTuple):
    """The rows of a range of one score column, or of the whole column."""

    store: BlockStore
    slices: GroupingSets

    def passes(self) -> Iterator[tuple[SlicePass, list[SliceValues]]]:
        """The passes over the rows, and the values of the slices of each."""
        values = self.slices.values()
        for slice_pass in passes_of(self.slices):
            with compute_slices([self.store], self.slices, slice_pass):
                numbers = slice_pass.numbers
                yield slice_pass, values if numbers is None else [values[number] for number in numbers.tolist()]


# The replicates and the contributions of units of the slices of a pass over a whole column.
FindIntervals = Callable[["ScoreRangeReduction", SlicePass], tuple[dict[StateKey, Any], dict[StateKey, Any]]]


class ScoreRangeReduction(NamedTuple):
    """Statistics to compute over a range of a score column, or over the whole column.

    Attributes
    ----------
    key : (int, int)
        The numbers of the task and the part.
    column, number : int
        The numbers of the score column, and of the range.
    """

    rows: ScoreRange
    key: tuple[int, int]
    part: PlanPart
    column: int
    number: int
    decided: PartDecision

    @property
    def score_column(self) -> ScoreColumn:
        return score_columns(self.part, self.decided.n_classes)[self.column]

    @property
    def labels(self) -> range:
        return range(max(1, len(self.part.names.labels)))

    @property
    def store(self) -> BlockStore:
        return self.rows.store

    @property
    def totals(self) -> RangeTotals:
        return no_totals() if self.decided.totals is None else self.decided.totals

    def resolve(self, find_intervals: FindIntervals | None = None) -> RangeStates:
        """The states of all slices, and what intervals need, for which it has to be a whole column."""
        all_statistics, _ = split_statistics(self.part.plan.statistics["range"])
        statistics = list(filter(self.score_column.has, read_statistics(all_statistics, self.decided.n_classes)))
        states: dict[SliceStateKey, Any] = {}
        replicates: dict[SliceStateKey, Any] = {}
        entries: dict[SliceStateKey, Any] = {}
        for slice_pass, values in self.rows.passes():
            states |= by_values(self.reduce_pass(slice_pass, values, statistics), values)
            if find_intervals is not None:
                own_replicates, own_entries = find_intervals(self, slice_pass)
                replicates |= by_values(own_replicates, values)
                entries |= by_values(own_entries, values)
        return RangeStates(self.column, self.number, states, replicates, entries)

    @property
    def is_weighted(self) -> bool:
        return self.part.names.weight is not None

    def reduce_pass(
        self, slice_pass: SlicePass, values: list[SliceValues], statistics: Sequence[Any]
    ) -> dict[StateKey, Any]:
        """The states of the slices of a pass; `values` are those of its slices."""
        if self.in_buckets:
            return self.reduce_buckets(statistics)
        states: dict[StateKey, Any] = {}
        for label in self.labels:
            states |= self.reduce_rows(slice_pass, values, label)
            if not statistics:
                continue
            reductions = OutputReduction(self.store, Output(label, 0), self.is_weighted, statistics, 1)
            for n_slices in slice_pass.slice_counts():
                totals = self.global_totals(label, values if n_slices else [None])
                by_slice = reductions.reduce(partial(reduce_range, n_slices=n_slices, totals=totals))
                states |= {(statistic, label, number): state for (statistic, number), state in by_slice.items()}
        return states

    @property
    def in_buckets(self) -> bool:
        """Are the rows keys and weights by bucket and class?"""
        return self.decided.cuts[self.column] is not None and moves_buckets(self.part)

    def reduce_buckets(self, statistics: Sequence[Any]) -> dict[StateKey, Any]:
        """The states of all rows, which came in buckets."""
        weights = self.weigh_buckets(any(own.needs_position for own in statistics))
        reduction = RangeReduction(self.store, Output(0, 0), self.is_weighted, statistics, 1)
        buckets = [range(self.store.n_partitions // 2)]
        states, totals = reduce_stored(reduction, self.store, weights, buckets, self.global_totals(0, [None]))
        return {(own, 0, None): merge_buckets(own, states[own], totals.totals[0]) for own in statistics}

    def weigh_buckets(self, needs_sums: bool) -> BucketWeights:
        weights = BucketWeights(self.store.n_partitions // 2, needs_sums and self.is_weighted)
        for block in self.store.loaded_blocks() if self.is_weighted else ():
            weights.add_block(block)
        return weights

    def reduce_rows(self, slice_pass: SlicePass, values: list[SliceValues], label: int) -> dict[StateKey, Any]:
        """The states of the statistics that read the rows of a range."""
        _, statistics = split_statistics(self.part.plan.statistics["range"])
        if not statistics:
            return {}
        positions = None
        if self.totals.row_totals:
            numbers: list[tuple[int | None, SliceValues | None]] = [(None, None), *enumerate(values)]
            positions = {
                (statistic, number): self.totals.row_position((statistic, label, self.column, of_slice), self.number)
                for statistic in statistics
                for number, of_slice in numbers
            }
        reduction = self.row_reduction(slice_pass, values, label, statistics)._replace(positions=positions)
        by_slice = reduce_row_ranges(reduction)
        return {(statistic, label, number): state for (statistic, number), state in by_slice.items()}

    def row_reduction(
        self, slice_pass: SlicePass, values: list[SliceValues], label: int, statistics: Sequence[Any]
    ) -> RowRangeReduction:
        return RowRangeReduction(
            self.store, Output(label, 0), statistics, len(values), 1, all_rows=slice_pass.all_rows
        )

    def global_totals(self, label: int, slices: Sequence[SliceValues | None]) -> GlobalTotals | None:
        """The totals of slices over all ranges; None if ranges were not counted before."""
        if not self.totals.ranges:
            return None
        positions = [self.totals.position((label, self.column, values), self.number) for values in slices]
        scale = scale_of(self.totals.span) if self.is_weighted else None
        return GlobalTotals(
            [position.totals for position in positions], [position.above for position in positions], scale
        )

    # ------------------------------------------------------------------------------------------ counts of the range

    def count_range(self) -> RangeTotals:
        """Rows and weights of the classes of the range, and what statistics that read rows have to know of it."""
        statistics, row_statistics = split_statistics(self.part.plan.statistics["range"])
        positioned = [own for own in row_statistics if isinstance(own, Positioned)]
        totals = no_totals()
        for slice_pass, values in self.rows.passes():
            for label in self.labels:
                if statistics:
                    counted, weights = self.count_classes(slice_pass, values, label)
                    totals = totals.add(RangeTotals(counted, weights.span, {}))
                if positioned:
                    totals.row_totals.update(self.count_rows(slice_pass, values, label, positioned))
        return totals

    def count_classes(
        self, slice_pass: SlicePass, values: list[SliceValues], label: int
    ) -> tuple[dict[RangeKey, dict[int, ClassTotals]], BucketWeights]:
        """The rows and weights of both classes, of all rows and of every slice."""
        if self.in_buckets:
            weights, in_buckets = self.weigh_buckets(True), self.store.partition_rows.reshape(-1, 2)
            totals = totals_of_slices(in_buckets, weights.totals(), [range(len(in_buckets))], None).totals
            return {(label, self.column, None): {self.number: totals[0]}}, weights
        size = max(1, slice_pass.n_slices)
        rows, weights = np.zeros(2 * size, np.int64), BucketWeights(size, self.is_weighted)
        name, sliced = label_name(label), bool(slice_pass.n_slices)
        names = [name, *([WEIGHT] if self.is_weighted else []), *([SLICE] if sliced else [])]
        for reader in self.store.block_readers(names):
            columns = reader.load()
            numbers = self.score_column.is_positive(columns[name]).astype(np.uint16)
            numbers += 2 * columns[SLICE] if sliced else np.uint16(0)
            rows += np.bincount(numbers, minlength=2 * size)
            if self.is_weighted:
                starts, places = order_by_number(numbers, 2 * size)
                weights.add_block(Block({WEIGHT: scatter_rows(columns[WEIGHT], places)}, starts.astype(np.int32)))
        of_weights = weights.totals() or [(0, 0)] * size
        by_class = zip(rows.reshape(-1, 2).tolist(), of_weights, strict=True)
        of_slices = [ClassTotals(of_rows[0], of_rows[1], *own) for of_rows, own in by_class]
        found: dict[RangeKey, dict[int, ClassTotals]] = {}
        for number, own in enumerate(of_slices if sliced else ()):
            found[label, self.column, values[number]] = {self.number: own}
        if slice_pass.all_rows:
            total = of_slices[0]
            for own in of_slices[1:]:
                total = total.plus(own)
            found[label, self.column, None] = {self.number: total}
        return {key: own for key, own in found.items() if any(own[self.number].rows)}, weights

    def count_rows(
        self, slice_pass: SlicePass, values: list[SliceValues], label: int, positioned: Sequence[Any]
    ) -> dict[RowTotalKey, dict[int, Any]]:
        """The totals of statistics that read rows."""
        reduction = self.row_reduction(slice_pass, values, label, positioned)._replace(is_sorted=True)
        cutter = RangeCutter(reduction)
        found: dict[tuple[Any, int | None], Any] = {}
        try:
            for of_range in count_rows(reduction, positioned, cutter.cut_all()):
                for key, total in of_range.items():
                    found[key] = add_totals(found.get(key), total)
        finally:
            cutter.close()
        return {
            (statistic, label, self.column, None if number is None else values[number]): {self.number: total}
            for (statistic, number), total in found.items()
        }


def by_values(found: Mapping[StateKey, Any], values: list[SliceValues]) -> dict[SliceStateKey, Any]:
    """States by the values of slices in place of the numbers of a pass."""
    return {
        (statistic, label, None if number is None else values[number]): state
        for (statistic, label, number), state in found.items()
    }


def reduce_range(
    reduction: RangeReduction, n_slices: int, totals: GlobalTotals | None
) -> dict[tuple[Any, int | None], Any]:
    """The states of one range. Totals are those of a class against the rest: pairs of classes need none."""
    is_pair = isinstance(reduction.source, PartitionPair)
    return reduce_ranges(reduction, n_slices, global_totals=None if is_pair else totals)
