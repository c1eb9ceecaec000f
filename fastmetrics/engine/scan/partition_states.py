"""States of partitions, and their merge, for engines that move rows themselves.

The engine has to bring the rows of an exchange together: all rows of a group into one partition for the hash exchange,
all shards of a range of scores into one place for the range exchange. Beyond that no row leaves its partition.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fastmetrics._core.columns.key_columns import KeyScratch
from fastmetrics._core.columns.row_blocks import ScoreLabelPair
from fastmetrics._core.exchange.class_ranges import OfClasses, join_replicates, join_states
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.range_reduction import merge_ranges
from fastmetrics._core.exchange.row_ranges import RowRangeStatistic, merge_neighbours
from fastmetrics._core.grouping import grouped
from fastmetrics._core.resampling.additive_replicates import AdditiveReplicates
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitBuckets, UnitCounter
from fastmetrics._core.resampling.value_replicates import ValueReplicates
from fastmetrics.engine.input.batch_validation import ColumnReader, ValidatedBatch
from fastmetrics.engine.input.row_selection import RowSelector
from fastmetrics.engine.input.slices import SliceNumbers
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.scan.additive_states import StateKey
from fastmetrics.engine.scan.group_units import find_units_of_groups
from fastmetrics.engine.scan.intervals import MetricReplicates, ReplicateStates, finalise_replicates, replicate_additive
from fastmetrics.engine.scan.plan_scan import LogScan
from fastmetrics.engine.scan.range_shards import (
    EMPTY_COUNTS,
    NO_TOTALS,
    WHOLE_COLUMN,
    PartitionResampling,
    PartitionState,
    RangeTotals,
    ScoreRangeShard,
    SliceStateKey,
    check_unit_hashes,
    count_ranges,
    iterate_score_column,
    split_into_ranges,
)
from fastmetrics.engine.scan.resolve import FinalStates, empty_state, resolve
from fastmetrics.engine.scan.scan import Scan
from fastmetrics.engine.scan.score_columns import score_columns
from fastmetrics.engine.scan.slice_counts import SliceCounts

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
                yield ScoreRangeShard(score, WHOLE_COLUMN, scan.slices.values(), rows)
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
    replicates = replicate_additive(scan, scan.plan.without_plots(), weights, find_units_of_groups(scan), 1)
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


def of_pair(states: dict[StateKey, Any], pair: int) -> dict[tuple[Any, int | None], Any]:
    """The states of a pair of columns, by statistic and slice."""
    return {(statistic, number): state for (statistic, own, number), state in states.items() if own == pair}


class PartitionMerger:
    """Merges partitions into the states of a scan of all their rows."""

    def __init__(self, part: PlanPart, on_invalid: str, slices: SliceNumbers | None = None) -> None:
        """`slices` are shared with the mergers of other parts of the plan."""
        plan = part.plan
        self.log_scan = LogScan([part], on_invalid, None, slices=slices)
        (self.scan,) = self.log_scan.scans
        self.states = FinalStates({})
        self.totals = NO_TOTALS
        self.replicates_by_key: dict[StateKey, Any] = {}
        self.statistics = {statistic for by_exchange in plan.statistics.values() for statistic in by_exchange}

    def add_partitions(self, partitions: list[PartitionState]) -> None:
        """Merge states of scan_partition, in any order. Together they have all rows."""
        self.count_rows(partitions)
        for partition in partitions:
            self.totals = self.totals.merge(partition.totals)
            for slice_key, state in partition.states.items():
                if slice_key[0] not in self.statistics:
                    # Statistics may depend on resources, such as a word list, that differ from machine to machine.
                    raise ValueError(
                        f"a partition was counted by {slice_key[0]!r}; here there are "
                        f"{', '.join(map(repr, self.statistics))}"
                    )
                key = self.state_key(slice_key)
                if key not in self.states.by_key:
                    self.states.by_key[key] = empty_state(slice_key[0])
                self.states.by_key[key].merge(state)
            for slice_key, replicates in (partition.replicates or {}).items():
                key = self.state_key(slice_key)
                if key in self.replicates_by_key:
                    self.replicates_by_key[key].merge(replicates)
                else:
                    self.replicates_by_key[key] = replicates

    def count_rows(self, partitions: list[PartitionState]) -> None:
        """Add the counts of partitions that together have all rows."""
        for partition in partitions:
            self.scan.slices.number_slices(partition.slices)
            kinds = partition.label_kinds_seen
            no_rows = (None,) * len(kinds)
            batch = ValidatedBatch(
                None, None, partition.rows, partition.dropped, kinds, no_rows, n_classes=partition.n_classes
            )
            self.scan.record_batch(batch)
            if partition.counts:
                if self.scan.counts is None:
                    self.scan.counts = SliceCounts(len(partition.counts[None].positives))
                self.scan.counts.add_values(partition.counts, self.scan.slices.numbers)

    def add_range_states(self, ranges: list[PartitionState], score: int, model: int | None = None) -> None:
        """Merge the states of all ranges of score column number `score`, by default that of model number `score`."""
        model = score if model is None else model
        for score_range in ranges:
            for (statistic, label, values), replicates in (score_range.replicates or {}).items():
                pair = self.scan.score_label_pairs.index(ScoreLabelPair(label, model))
                self.replicates_by_key[self.state_key((statistic, pair, values))] = replicates
        in_order = sorted(
            (score_range for score_range in ranges if score_range.range_number != WHOLE_COLUMN),
            key=lambda score_range: score_range.range_number,
        )
        states_in_order = grouped(item for score_range in in_order for item in score_range.states.items())
        for (statistic, label, values), states in states_in_order.items():
            pair = self.scan.score_label_pairs.index(ScoreLabelPair(label, model))
            key = self.state_key((statistic, pair, values))
            if isinstance(statistic, RowRangeStatistic):
                self.states.by_key[key] = merge_neighbours(statistic, states[::-1])
                continue
            totals = self.totals.position((label, score, values), 0).totals
            self.states.by_key[key] = merge_ranges(statistic, states, totals)

    def join_classes(self, replicates: int) -> None:
        """Join the states of problems of two classes, after all ranges were added."""
        statistics, n_classes = self.scan.plan.statistics["range"], self.scan.n_classes or 0
        if not self.scan.plan.has_vectors:
            return
        for pair in range(len(self.scan.score_label_pairs)):
            states = of_pair(self.states.by_key, pair)
            for (statistic, number), state in join_states(statistics, n_classes, states).items():
                self.states.by_key[statistic, pair, number] = state
            found = {
                key: list(own.states())
                for key, own in of_pair(self.replicates_by_key, pair).items()
                if isinstance(key[0], OfClasses)
            }
            for (statistic, number), by_replicate in join_replicates(
                statistics, n_classes, found, replicates
            ).items():
                self.replicates_by_key[statistic, pair, number] = ReplicateStates(by_replicate)

    def replicates(self, resampling: PartitionResampling) -> MetricReplicates:
        """The replicates of all metrics, after all partitions and ranges were added."""
        options = resampling.options
        if not self.scan.rows_kept:
            return MetricReplicates({}, resampling.unit_buckets, options)
        values = finalise_replicates(self.scan, self.replicates_by_key, options.replicates)
        return MetricReplicates(values, resampling.unit_buckets, options)

    def state_key(self, slice_key: SliceStateKey) -> StateKey:
        """The key of a state with the number of its slice instead of the slice's values."""
        statistic, pair, values = slice_key
        return statistic, pair, None if values is None else self.scan.slices.numbers[values]
