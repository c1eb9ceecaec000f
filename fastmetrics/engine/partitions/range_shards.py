"""Ranges of scores whose rows come from several partitions: all shards of a range make its states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Output
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.bucket_positions import GlobalTotals
from fastmetrics._core.exchange.class_ranges import OfClasses, OutputReduction
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.range_reduction import RangeReduction, reduce_ranges
from fastmetrics._core.exchange.row_ranges import RowRangeReduction, reduce_row_ranges, split_statistics
from fastmetrics._core.exchange.stored_ranges import PartitionPair
from fastmetrics._core.exchange.weighted_ranges import scale_of
from fastmetrics._core.resampling.range_replicates import replicate_scores
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics._core.resampling.row_range_replicates import replicate_row_ranges
from fastmetrics._core.statistic import Positioned
from fastmetrics.engine.input.slice_values import SliceValues
from fastmetrics.engine.partial.slice_passes import SlicePass
from fastmetrics.engine.partitions.partition_state import (
    NO_TOTALS,
    WHOLE_COLUMN,
    PartitionResampling,
    PartitionState,
    RangeTotals,
    SliceStateKey,
)
from fastmetrics.engine.partitions.range_rows import RangeRows, ScoreRangeShard
from fastmetrics.engine.partitions.score_columns import read_statistics, score_columns
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.scan.intervals import ReplicateStates

ROWS_CHANGED = "the rows changed between two passes: there are units that were not there when they were counted"


class RangeShards:
    """Collects all shards of some ranges, and computes the states of these ranges.

    `totals` are those of all ranges, if they were counted before. With `resampling`, shards of whole score columns give
    replicates. `n_classes` is the number of probabilities of a row.
    """

    def __init__(
        self,
        part: PlanPart,
        budget: MemoryBudget | None,
        totals: RangeTotals,
        resampling: PartitionResampling | None = None,
        n_classes: int = 0,
    ) -> None:
        self.plan = part.plan
        self.names = part.names
        self.columns = score_columns(part, n_classes)
        self.n_classes = n_classes
        self.budget = budget
        self.totals = totals
        self.resampling = resampling
        self.ranges: dict[tuple[int, int], RangeRows] = {}

    def add(self, shard: ScoreRangeShard) -> None:
        key = (shard.score, shard.range_number)
        if key not in self.ranges:
            self.ranges[key] = RangeRows(self.names, self.budget)
        self.ranges[key].add(shard)

    def resolve(self) -> Iterator[tuple[int, PartitionState]]:
        """The number of a score column and the state of a range of it, range by range."""
        all_statistics, _ = split_statistics(self.plan.statistics["range"])
        all_statistics = read_statistics(all_statistics, self.n_classes)
        for (score, range_number), rows in self.ranges.items():
            statistics = list(filter(self.columns[score].has, all_statistics))
            found: dict[SliceStateKey, Any] = {}
            is_whole = range_number == WHOLE_COLUMN and self.resampling is not None
            for slice_pass, values in rows.passes():
                if is_whole:
                    found |= self.replicate_pass(rows.store, slice_pass, values, statistics)
                else:
                    found |= self.reduce_pass(rows.store, slice_pass, values, score, range_number, statistics)
            state = PartitionState(rows.store.rows, {}, (), rows.slices.values(), {}, NO_TOTALS, range_number)
            yield score, state._replace(replicates=found) if is_whole else state._replace(states=found)
            rows.store.close()

    def replicate_pass(
        self, store: BlockStore, slice_pass: SlicePass, values: list[SliceValues], statistics: Sequence[Any]
    ) -> dict[SliceStateKey, ReplicateStates]:
        """The replicates of the slices of a pass, over a store that has all rows of a score column.

        `statistics` are those of thresholds; plots are left out.
        """
        if self.resampling is None:
            return {}
        options, unit_buckets = self.resampling.options, self.resampling.unit_buckets
        if slice_pass.all_rows:
            check_unit_hashes((reader.load()[HASH] for reader in store.block_readers([HASH])), unit_buckets)
        of_metrics, row_statistics = split_statistics(self.plan.without_plots().statistics["range"])
        statistics = [own for own in statistics if isinstance(own, OfClasses) or own in of_metrics]
        replicates: dict[SliceStateKey, ReplicateStates] = {}
        weights = ReplicateWeights(unit_buckets, options.seed, options.replicates) if row_statistics else None
        replicate = partial(
            replicate_scores, unit_buckets=unit_buckets, seed=options.seed, replicates=options.replicates
        )
        for label in range(max(1, len(self.names.labels))):
            output = Output(label, 0)
            found: dict[tuple[Any, int | None], list[Any]] = {}
            if weights is not None:
                all_rows = slice_pass.all_rows
                row_ranges = RowRangeReduction(store, output, row_statistics, len(values), 1, all_rows=all_rows)
                found |= replicate_row_ranges(row_ranges, weights)
            if statistics:
                reductions = OutputReduction(store, output, self.names.weight is not None, statistics, 1)
                for n_slices in slice_pass.slice_counts():
                    found |= reductions.reduce(partial(replicate, n_slices=n_slices))
            for (statistic, number), states in found.items():
                of_slice = None if number is None else values[number]
                replicates[statistic, label, of_slice] = ReplicateStates(states)
        return replicates

    def reduce_pass(
        self,
        store: BlockStore,
        slice_pass: SlicePass,
        values: list[SliceValues],
        score: int,
        range_number: int,
        statistics: Sequence[Any],
    ) -> dict[SliceStateKey, Any]:
        """The states of the slices of a pass in a range; `values` are those of its slices."""
        states: dict[SliceStateKey, Any] = {}
        for label in range(max(1, len(self.names.labels))):
            states |= self.reduce_rows(store, slice_pass, values, label, score, range_number)
            if not statistics:
                continue
            reductions = OutputReduction(store, Output(label, 0), self.names.weight is not None, statistics, 1)
            for n_slices in slice_pass.slice_counts():
                totals = self.global_totals(label, score, range_number, values if n_slices else [None])
                by_slice = reductions.reduce(partial(reduce_range, n_slices=n_slices, totals=totals))
                for (statistic, number), state in by_slice.items():
                    states[statistic, label, None if number is None else values[number]] = state
        return states

    def reduce_rows(
        self,
        store: BlockStore,
        slice_pass: SlicePass,
        values: list[SliceValues],
        label: int,
        score: int,
        range_number: int,
    ) -> dict[SliceStateKey, Any]:
        """The states of the statistics that read the rows of a range."""
        _, statistics = split_statistics(self.plan.statistics["range"])
        if not statistics:
            return {}
        positions = None
        if self.totals.row_totals:
            numbers: list[tuple[int | None, SliceValues | None]] = [(None, None), *enumerate(values)]
            positions = {
                (statistic, number): self.totals.row_position((statistic, label, score, of_slice), range_number)
                for statistic in statistics
                for number, of_slice in numbers
            }
        reduction = RowRangeReduction(
            store, Output(label, 0), statistics, len(values), 1, positions, all_rows=slice_pass.all_rows
        )
        return {
            (statistic, label, None if number is None else values[number]): state
            for (statistic, number), state in reduce_row_ranges(reduction).items()
        }

    def global_totals(
        self, label: int, score: int, range_number: int, slices: Sequence[SliceValues | None]
    ) -> GlobalTotals | None:
        """The totals of slices over all ranges; None if ranges were not counted before."""
        if not self.totals.ranges:
            return None
        positions = [self.totals.position((label, score, values), range_number) for values in slices]
        scale = scale_of(self.totals.span) if self.names.weight is not None else None
        return GlobalTotals(
            [position.totals for position in positions], [position.above for position in positions], scale
        )


def reduce_range(
    reduction: RangeReduction, n_slices: int, totals: GlobalTotals | None
) -> dict[tuple[Any, int | None], Any]:
    """The states of one range. Totals are those of a class against the rest: pairs of classes need none."""
    is_pair = isinstance(reduction.source, PartitionPair)
    return reduce_ranges(reduction, n_slices, global_totals=None if is_pair else totals)


def check_unit_hashes(blocks: Iterable[np.ndarray], unit_buckets: UnitBuckets) -> None:
    if any(hashes.shape[0] and int(unit_buckets.bucket_of(hashes).min()) < 0 for hashes in blocks):
        raise ValueError(ROWS_CHANGED)


def needs_whole_columns(plan: Plan) -> bool:
    """Return whether scores are not divided into ranges: another order is needed. All metrics of a part agree."""
    return any(own.needs_whole_column for own in plan.statistics["range"])


def needs_range_totals(plan: Plan) -> bool:
    """Return whether ranges have to be counted before a statistic can make the state of one."""
    if needs_whole_columns(plan):
        return False
    statistics, row_statistics = split_statistics(plan.statistics["range"])
    needs_position = any(statistic.needs_position for statistic in statistics)
    return needs_position or any(isinstance(own, Positioned) for own in row_statistics)
