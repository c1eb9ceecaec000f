"""The states of a partition, for engines that move rows themselves.

The engine has to bring the rows of an exchange together: all rows of a group into one partition for the hash exchange,
all shards of a range of scores into one place for the range exchange. Beyond that no row leaves its partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fastmetrics._core.columns.key_columns import KeyScratch
from fastmetrics._core.comparison.win_counts import UnitSums, WinCounts
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.additive_replicates import AdditiveReplicates
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitBuckets, UnitCounter
from fastmetrics._core.resampling.value_replicates import ValueReplicates
from fastmetrics.engine.input.batch_validation import ColumnReader
from fastmetrics.engine.input.row_selection import RowSelector
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_passes import iterate_passes
from fastmetrics.engine.partial.state_options import StateOptions
from fastmetrics.engine.partial.task_state import TaskState
from fastmetrics.engine.partitions.partition_state import (
    EMPTY_COUNTS,
    NO_TOTALS,
    WHOLE_COLUMN,
    PartitionResampling,
    PartitionState,
    RangeTotals,
    SliceStateKey,
)
from fastmetrics.engine.partitions.range_cuts import count_ranges, iterate_score_column, split_into_ranges
from fastmetrics.engine.partitions.range_rows import ScoreRangeShard, shard_values
from fastmetrics.engine.partitions.range_shards import check_unit_hashes
from fastmetrics.engine.partitions.score_columns import score_columns
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.scan.group_units import find_units_of_groups
from fastmetrics.engine.scan.intervals import ReplicateStates, replicate_additive, slices_of_pass
from fastmetrics.engine.scan.paired_models import states_for_wins
from fastmetrics.engine.scan.resolve import FinalStates, resolve

TRAVELLING = (AdditiveReplicates, ValueReplicates, UnitSums, WinCounts)  # these merge, and are small when pickled


class PartPass(NamedTuple):
    """What a pass over the rows computes of one part of a plan.

    Attributes
    ----------
    number : int
        That of the part.
    cuts : sequence of sequences of float
        Ascending scores for every score column, between which its rows are sent as shards; without cuts none are.
    in_one_pass : bool
        The ranges can be resolved without the totals of all ranges. Otherwise a first pass counts them, and a second
        one, which has their `totals`, sends the shards and nothing else.
    totals : RangeTotals
    resampling : PartitionResampling or None
        The states have replicates, and the rows of score columns are sent with their units.
    n_classes : int
        The number of probabilities of a row; 0 if metrics read none.
    """

    number: int = 0
    cuts: Sequence[Sequence[float]] = ()
    in_one_pass: bool = True
    totals: RangeTotals = NO_TOTALS
    resampling: PartitionResampling | None = None
    n_classes: int = 0

    @property
    def is_second(self) -> bool:
        """Is it the second pass over the rows?"""
        return self.totals.known

    @property
    def sends_ranges(self) -> bool:
        """Does it send shards of ranges?"""
        return bool(self.cuts) and (self.in_one_pass or self.is_second)

    def plan_to_scan(self, plan: Plan) -> Plan:
        """The plan with the statistics that the pass reads rows for."""
        if self.is_second:
            return plan.with_statistics(none=(), hash=())
        if self.sends_ranges or (self.cuts and self.resampling is not None):
            return plan
        return plan.with_statistics(range=())


class PartitionScan:
    """The scan of a partition's rows for some parts of a plan: all that share a pass.

    The partition has whole groups, if there are groups. Rows are selected by the columns of all parts of the plan.
    """

    def __init__(
        self, parts: Sequence[PlanPart], passes: Sequence[PartPass], on_invalid: str, budget: MemoryBudget | None
    ) -> None:
        self.parts = parts
        self.passes = passes
        scanned = list(parts)
        for own in passes:
            part = parts[own.number]
            scanned[own.number] = replace(part, plan=own.plan_to_scan(part.plan))
        self.log_scan = TaskState(scanned, StateOptions(on_invalid, budget), [own.number for own in passes])
        self.columns = [score_columns(parts[own.number], own.n_classes) if own.cuts else [] for own in passes]
        self.totals = [NO_TOTALS] * len(passes)

    def add(self, batch: Any, first_row: int) -> None:
        """Add a batch that begins at `first_row` of the partition."""
        validated = self.log_scan.process_batch(batch, first_row)
        self.log_scan.record_batch(validated)
        for index, (own, scan, rows) in enumerate(zip(self.passes, self.log_scan.parts, validated, strict=True)):
            check_classes(scan, own.n_classes)
            if own.cuts and not own.sends_ranges and rows.columns is not None:
                statistics = self.parts[own.number].plan.statistics["range"]
                counted = count_ranges(rows.columns, scan, self.columns[index], own.cuts, statistics)
                self.totals[index] = self.totals[index].merge(counted)

    def results(self) -> Iterator[tuple[int, PartitionState | ScoreRangeShard]]:
        """The number of a part with its state, and with its rows of score columns, part by part."""
        for index, (own, scan) in enumerate(zip(self.passes, self.log_scan.parts, strict=True)):
            if scan.counts.rows:
                for found in self.results_of(index):
                    yield own.number, found
            scan.close()

    def results_of(self, index: int) -> Iterator[PartitionState | ScoreRangeShard]:
        own, scan, columns = self.passes[index], self.log_scan.parts[index], self.columns[index]
        if not own.is_second:
            scan.plan = scan.plan.with_statistics(range=())
            states = resolve(scan, 1, None, last=own.resampling is None)
            partition = make_partition_state(scan, states, self.totals[index])
            if own.resampling is not None and scan.counts.rows_kept:
                replicates = key_by_slice_values(scan, replicate_partition(scan, own.resampling))
                partition = partition._replace(replicates=replicates)
            yield partition
        for score, cuts in enumerate(own.cuts if own.sends_ranges else ()):
            yield from split_into_ranges(scan, columns[score], score, cuts)
        for score, column in enumerate(columns if own.resampling is not None else ()):
            for rows in iterate_score_column(scan, column):
                yield ScoreRangeShard(score, WHOLE_COLUMN, shard_values(scan.slices), rows)

    def close(self) -> None:
        """Release all rows, in memory and on disk."""
        self.log_scan.close()


def check_classes(scan: PartState, n_classes: int) -> None:
    """Check that a partition has as many probabilities in a row as the others."""
    if n_classes and scan.counts.n_classes is not None:
        scan.counts.record_classes(n_classes)


def make_partition_state(scan: PartState, states: FinalStates, totals: RangeTotals) -> PartitionState:
    """The state of a scanned partition. Slices are identified by their values: partitions number them differently."""
    own = scan.counts
    kinds, slices = tuple(own.label_kinds_seen), scan.slices.values()
    by_key = key_by_slice_values(scan, states.by_key)
    counts = EMPTY_COUNTS if scan.slice_counts is None else scan.slice_counts.of_values(slices)
    return PartitionState(
        own.rows, own.dropped, kinds, slices, by_key, totals, n_classes=own.n_classes, counts=counts,
        filtered=own.filtered, sum_distances=own.sum_distances, float_keys=frozenset(scan.reader.float_keys),
    )  # fmt: skip


def key_by_slice_values(scan: PartState, states: dict[Any, Any]) -> dict[SliceStateKey, Any]:
    values = scan.slices.values()
    return {
        (statistic, output, None if slice_number is None else values[slice_number]): state
        for (statistic, output, slice_number), state in states.items()
    }


class PartitionUnits:
    """Counts the units of the valid rows of a partition, as the first part of a plan reads them."""

    def __init__(self, parts: Sequence[PlanPart], on_invalid: str) -> None:
        self.selector = RowSelector(parts, on_invalid)
        self.reader = ColumnReader(parts[0].plan, parts[0].names)
        self.counter = UnitCounter()

    def add(self, batch: Any, first_row: int) -> None:
        """Add a batch that begins at `first_row` of the partition."""
        keys = self.reader.read(self.selector.select(batch, first_row)).unit_keys
        if keys is not None and keys.rows:
            scratch = KeyScratch(keys.rows, keys.dtype)
            keys.hash_block(0, keys.rows, scratch)
            self.counter.add(scratch.hashes[: keys.rows])


def replicate_partition(scan: PartState, resampling: PartitionResampling) -> dict[Any, Any]:
    """The replicates of a partition's additive statistics. Replicates of partitions can be merged."""
    check_units(scan, resampling.unit_buckets)
    options = resampling.options
    weights = ReplicateWeights(resampling.unit_buckets, options.seed, options.replicates)
    plan, units_of = scan.plan.without_plots(), find_units_of_groups(scan)
    replicates = states_for_wins(scan, resampling.unit_buckets) if options.in_pairs else {}
    for slice_pass in iterate_passes(scan):
        found = replicate_additive(scan, plan, weights, units_of, 1, slices_of_pass(slice_pass))
        replicates |= slice_pass.rename(found)
    return {
        key: states if isinstance(states, TRAVELLING) else ReplicateStates(list(states.states()))
        for key, states in replicates.items()
    }


def check_units(scan: PartState, unit_buckets: UnitBuckets) -> None:
    """Check that all units of a partition were counted: the bucket of another unit is no valid index."""
    if scan.counted_rows is not None:
        hashes = [block.hashes for blocks in scan.counted_rows.blocks.values() for block in blocks]
    elif scan.unit_exchange is not None:
        hashes = [reader.load()[HASH] for reader in scan.unit_exchange.store.block_readers([HASH])]
    else:
        units_of = find_units_of_groups(scan)
        hashes = [] if units_of is None else [units_of.units]
    check_unit_hashes(hashes, unit_buckets)
