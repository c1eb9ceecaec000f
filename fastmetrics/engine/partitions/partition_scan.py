"""The states of a partition, for engines that move rows themselves.

The engine has to bring the rows of an exchange together: all rows of a group into one partition for the hash exchange,
all shards of a range of scores into one place for the range exchange. Beyond that no row leaves its partition.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fastmetrics._core.columns.key_columns import KeyScratch
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.resampling.additive_replicates import AdditiveReplicates
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitBuckets, UnitCounter
from fastmetrics._core.resampling.value_replicates import ValueReplicates
from fastmetrics.engine.input.batch_validation import ColumnReader
from fastmetrics.engine.input.row_selection import RowSelector
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
from fastmetrics.engine.partitions.range_rows import ScoreRangeShard, shard_slices
from fastmetrics.engine.partitions.range_shards import check_unit_hashes
from fastmetrics.engine.partitions.score_columns import score_columns
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.scan.group_units import find_units_of_groups
from fastmetrics.engine.scan.intervals import ReplicateStates, replicate_additive, slices_of_view
from fastmetrics.engine.scan.plan_scan import LogScan
from fastmetrics.engine.scan.resolve import FinalStates, resolve
from fastmetrics.engine.scan.scan import Scan
from fastmetrics.engine.scan.slice_views import iterate_views

TRAVELLING_REPLICATES = (AdditiveReplicates, ValueReplicates)  # these merge, and are small when pickled


def scan_partition(
    parts: Sequence[PlanPart],
    number: int,
    on_invalid: str,
    batches: Iterable[Any],
    budget: MemoryBudget | None,
    cuts: Sequence[Sequence[float]] = (),
    in_one_pass: bool = True,
    resampling: PartitionResampling | None = None,
    n_classes: int = 0,
) -> Iterator[PartitionState | ScoreRangeShard]:
    """The state of a partition with whole groups: statistics without an exchange, and those of the hash exchange.

    They are those of part `number` of a plan; rows are selected by the columns of all parts.

    `cuts` are ascending scores for every score column. With them, the partition's rows follow as shards of the ranges
    between cuts; if not `in_one_pass`, the ranges are only counted. With `resampling`, the state has replicates, and
    the rows of score columns follow with their units. `n_classes` is the number of probabilities of a row.
    """
    plan = parts[number].plan
    columns = score_columns(*parts[number], n_classes) if cuts else []
    without_ranges = plan._replace(statistics=plan.statistics | {"range": ()})
    if not cuts or not (in_one_pass or resampling):
        parts = replace_part(parts, number, plan=without_ranges)
    log_scan = LogScan(parts, on_invalid, None, budget, number)
    (scan,) = log_scan.scans
    totals, range_statistics = NO_TOTALS, plan.statistics["range"]
    try:
        for (validated,) in log_scan.process_batches(batches):
            check_classes(scan, n_classes)
            if not in_one_pass and validated.columns is not None:
                totals = totals.merge(count_ranges(validated.columns, scan, columns, cuts, range_statistics))
        if scan.rows == 0:
            return
        scan.plan = without_ranges
        states = resolve(scan, 1, None, last=resampling is None)
        partition = make_partition_state(scan, states, totals)
        if resampling is not None and scan.rows_kept:
            replicates = key_by_slice_values(scan, replicate_partition(scan, resampling))
            partition = partition._replace(replicates=replicates)
        yield partition
        for score, score_cuts in enumerate(cuts if in_one_pass else ()):
            yield from split_into_ranges(scan, columns[score], score, score_cuts)
        for score in range(len(cuts) if resampling is not None else 0):
            for rows in iterate_score_column(scan, columns[score]):
                yield ScoreRangeShard(score, WHOLE_COLUMN, shard_slices(scan.slices), rows)
    finally:
        scan.close()


def check_classes(scan: Scan, n_classes: int) -> None:
    """Check that a partition has as many probabilities in a row as the others."""
    if n_classes and scan.n_classes is not None:
        scan.record_classes(n_classes)


def rescan_ranges(
    parts: Sequence[PlanPart],
    number: int,
    on_invalid: str,
    batches: Iterable[Any],
    budget: MemoryBudget | None,
    cuts: Sequence[Sequence[float]],
    n_classes: int = 0,
) -> Iterator[ScoreRangeShard]:
    """The shards of a partition whose ranges were counted in an earlier pass."""
    plan, names = parts[number]
    columns = score_columns(plan, names, n_classes)
    range_plan = plan._replace(statistics={"none": (), "hash": (), "range": plan.statistics["range"]})
    parts = replace_part(parts, number, plan=range_plan, names=names._replace(unit=None))
    log_scan = LogScan(parts, on_invalid, None, budget, number)
    (scan,) = log_scan.scans
    try:
        deque(log_scan.process_batches(batches), maxlen=0)
        for score, score_cuts in enumerate(cuts):
            yield from split_into_ranges(scan, columns[score], score, score_cuts)
    finally:
        scan.close()


def replace_part(parts: Sequence[PlanPart], number: int, **fields: Any) -> list[PlanPart]:
    """The parts of a plan with some fields of one replaced."""
    return [part._replace(**fields) if own == number else part for own, part in enumerate(parts)]


def make_partition_state(scan: Scan, states: FinalStates, totals: RangeTotals) -> PartitionState:
    """The state of a scanned partition. Slices are identified by their values: partitions number them differently."""
    kinds, slices = tuple(scan.label_kinds_seen), scan.slices.values()
    by_key = key_by_slice_values(scan, states.by_key)
    counts = EMPTY_COUNTS if scan.counts is None else scan.counts.of_values(slices)
    return PartitionState(
        scan.rows, scan.dropped, kinds, slices, by_key, totals, n_classes=scan.n_classes, counts=counts
    )


def key_by_slice_values(scan: Scan, states: dict[Any, Any]) -> dict[SliceStateKey, Any]:
    values = scan.slices.values()
    return {
        (statistic, pair, None if slice_number is None else values[slice_number]): state
        for (statistic, pair, slice_number), state in states.items()
    }


def count_units(parts: Sequence[PlanPart], number: int, on_invalid: str, batches: Iterable[Any]) -> UnitCounter:
    """The units of the valid rows of a partition, as part `number` of the plan reads them."""
    selector, reader, counter = RowSelector(parts, on_invalid), ColumnReader(*parts[number]), UnitCounter()
    first_row = 0
    for batch in batches:
        keys = reader.read(selector.select(batch, first_row)).unit_keys
        first_row += batch.num_rows
        if keys is not None and keys.rows:
            scratch = KeyScratch(keys.rows, keys.dtype)
            keys.hash_block(0, keys.rows, scratch)
            counter.add(scratch.hashes[: keys.rows])
    return counter


def replicate_partition(scan: Scan, resampling: PartitionResampling) -> dict[Any, Any]:
    """The replicates of a partition's additive statistics. Replicates of partitions can be merged."""
    check_units(scan, resampling.unit_buckets)
    options = resampling.options
    weights = ReplicateWeights(resampling.unit_buckets, options.seed, options.replicates)
    plan, units_of = scan.plan.without_plots(), find_units_of_groups(scan)
    replicates: dict[Any, Any] = {}
    for view in iterate_views(scan):
        replicates |= view.rename(replicate_additive(scan, plan, weights, units_of, 1, slices_of_view(view)))
    return {
        key: states if isinstance(states, TRAVELLING_REPLICATES) else ReplicateStates(list(states.states()))
        for key, states in replicates.items()
    }


def check_units(scan: Scan, unit_buckets: UnitBuckets) -> None:
    """Check that all units of a partition were counted: the bucket of another unit is no valid index."""
    if scan.counted_rows is not None:
        hashes = [block.hashes for blocks in scan.counted_rows.blocks.values() for block in blocks]
    elif scan.unit_exchange is not None:
        hashes = [reader.load()[HASH] for reader in scan.unit_exchange.store.block_readers([HASH])]
    else:
        units_of = find_units_of_groups(scan)
        hashes = [] if units_of is None else [units_of.units]
    check_unit_hashes(hashes, unit_buckets)
