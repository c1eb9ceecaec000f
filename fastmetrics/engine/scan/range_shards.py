"""Ranges of scores whose rows come from several partitions: totals, shards, and the states of whole ranges.

An engine that moves rows itself divides the scores at `cuts`, sends all shards of a range to one place, and merges the
states of ranges in the order of scores.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import (
    SLICE,
    WEIGHT,
    RowBlock,
    ScoreLabelPair,
    label_name,
    role_name,
    score_name,
)
from fastmetrics._core.exchange.block_store import Block as StoredBlock
from fastmetrics._core.exchange.block_store import BlockStore, order_by_number, scatter_rows
from fastmetrics._core.exchange.bucket_positions import GlobalTotals
from fastmetrics._core.exchange.class_ranges import ClassPairRows, OfClasses, PairReduction
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.range_exchange import ordered_keys
from fastmetrics._core.exchange.range_reduction import RangeReduction, reduce_ranges, store_columns
from fastmetrics._core.exchange.row_ranges import (
    Position,
    RowRangeReduction,
    RowRangeStatistic,
    add_totals,
    needs_totals,
    needs_whole_column,
    reduce_row_ranges,
    split_statistics,
)
from fastmetrics._core.exchange.threshold_sweep import NO_ROWS, ClassTotals, RangePosition
from fastmetrics._core.exchange.weighted_ranges import WeightSpan, merge_spans, scale_of, span_of
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.range_replicates import replicate_scores
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics._core.resampling.row_range_replicates import replicate_row_ranges
from fastmetrics._kernels.numeric import sums
from fastmetrics.engine.input.slices import SliceNumbers, SliceValues
from fastmetrics.engine.plan.column_names import ColumnNames
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.plan.resampling_options import Resampling
from fastmetrics.engine.scan.additive_states import split_rows_by_slice
from fastmetrics.engine.scan.intervals import ReplicateStates
from fastmetrics.engine.scan.scan import Scan
from fastmetrics.engine.scan.score_columns import ScoreColumn, read_statistics, score_columns
from fastmetrics.engine.scan.slice_counts import RowCount

WHOLE_COLUMN = -1  # the range number of a shard that belongs to a whole score column
SPLIT_ROWS = 1 << 22  # rows that are split into ranges at a time

ROWS_CHANGED = "the rows changed between two passes: there are units that were not there when they were counted"

# A statistic, the number of a score-label pair (in a range: of a label), and the values of a slice (None: all rows).
SliceStateKey = tuple[Any, int, SliceValues | None]
# The numbers of a label and a score column, and the values of a slice (None: all rows).
RangeKey = tuple[int, int, SliceValues | None]
# A statistic that reads rows, the numbers of a label and a score column, and the values of a slice (None: all rows).
RowTotalKey = tuple[Any, int, int, SliceValues | None]


class PartitionResampling(NamedTuple):
    """What every partition needs for resampling: the options, and the buckets of the units of all partitions."""

    options: Resampling
    unit_buckets: UnitBuckets


class RangeTotals(NamedTuple):
    """Rows and weights of each class, by range number (no entry without rows); `span` is that of all weights.

    `row_totals` are those of statistics that read rows.
    """

    ranges: dict[RangeKey, dict[int, ClassTotals]]
    span: WeightSpan
    row_totals: dict[RowTotalKey, dict[int, Any]]

    @property
    def known(self) -> bool:
        """Were ranges counted?"""
        return bool(self.ranges or self.row_totals)

    def row_position(self, key: RowTotalKey, range_number: int) -> Position:
        """The total of a slice, and of its rows above a range, for a statistic that reads rows."""
        total = above = None
        for number, in_range in self.row_totals.get(key, {}).items():
            total = add_totals(total, in_range)
            above = add_totals(above, in_range) if number > range_number else above
        return Position(total, above)

    def merge(self, other: RangeTotals) -> RangeTotals:
        ranges = {key: dict(by_number) for key, by_number in self.ranges.items()}
        for key, by_number in other.ranges.items():
            merged = ranges.setdefault(key, {})
            for number, totals in by_number.items():
                merged[number] = merged[number].plus(totals) if number in merged else totals
        row_totals = {key: dict(by_number) for key, by_number in self.row_totals.items()}
        for row_key, totals_by_number in other.row_totals.items():
            own = row_totals.setdefault(row_key, {})
            for number, total in totals_by_number.items():
                own[number] = add_totals(own.get(number), total)
        return RangeTotals(ranges, merge_spans(self.span, other.span), row_totals)

    def position(self, key: RangeKey, range_number: int) -> RangePosition:
        """The totals of a slice, and of its rows above a range."""
        totals = above = NO_ROWS
        for number, in_range in self.ranges.get(key, {}).items():
            totals = totals.plus(in_range)
            above = above.plus(in_range) if number > range_number else above
        return RangePosition(totals, above)


EMPTY_COUNTS: dict[SliceValues | None, RowCount] = {}
NO_TOTALS = RangeTotals({}, WeightSpan(), {})


class ScoreRangeShard(NamedTuple):
    """Rows of a partition in one range of a score column; `slices` has the values of the slices of rows."""

    score: int
    range_number: int
    slices: list[SliceValues]
    columns: dict[str, np.ndarray]


class PartitionState(NamedTuple):
    """The state of a partition, or of a range of scores: counts of rows, and states by slice values.

    `range_number` is the number of the range; `replicates` are present if units are resampled; `n_classes` is the
    number of probabilities of a row, if metrics read them. `counts` are the rows of slices, of a partition.
    """

    rows: int
    dropped: dict[str, int]
    label_kinds_seen: tuple[int, ...]
    slices: list[SliceValues]
    states: dict[SliceStateKey, Any]
    totals: RangeTotals
    range_number: int = 0
    replicates: dict[SliceStateKey, Any] | None = None
    n_classes: int | None = None
    counts: Mapping[SliceValues | None, RowCount] = EMPTY_COUNTS


def find_range_numbers(scores: np.ndarray, cuts: Sequence[float]) -> np.ndarray:
    """The number of the range of every score."""
    edges = ordered_keys(np.array(cuts, scores.dtype))
    numbers: np.ndarray = np.searchsorted(edges, ordered_keys(scores), "right").astype(np.uint16)
    return numbers


def stored_columns(scan: Scan, column: ScoreColumn) -> list[str]:
    """The columns that the rows of one score column have in a store."""
    names = [label_name(number) for number in range(len(scan.names.labels))] + column.stored_names()
    names += [role_name(role) for role, _ in scan.names.others]
    names += [WEIGHT] if scan.names.weight is not None else []
    return names + ([SLICE] if scan.names.by else [])


def split_into_ranges(
    scan: Scan, column: ScoreColumn, score: int, cuts: Sequence[float]
) -> Iterator[ScoreRangeShard]:
    """The rows of score column number `score` as shards of ranges, a few million rows at a time."""
    names = stored_columns(scan, column)
    slices = scan.slices.values()
    readers = deque(scan.range_store().block_readers(names))
    while readers:
        blocks = []
        rows = 0
        while readers and rows < SPLIT_ROWS:
            rows += readers[0].rows
            blocks.append(readers.popleft().load())
        if rows == 0:
            continue
        columns = column.select({name: np.concatenate([block[name] for block in blocks]) for name in names})
        numbers = find_range_numbers(columns[score_name(0)], cuts)
        starts, destinations = order_by_number(numbers, len(cuts) + 1)
        moved = {name: scatter_rows(own, destinations) for name, own in columns.items()}
        for number in np.flatnonzero(starts[1:] > starts[:-1]).tolist():
            where = slice(*starts[number : number + 2].tolist())
            yield ScoreRangeShard(score, number, slices, {name: own[where] for name, own in moved.items()})


def iterate_score_column(scan: Scan, column: ScoreColumn) -> Iterator[dict[str, np.ndarray]]:
    """The rows of one score column with their units, block by block."""
    if scan.unit_exchange is None:
        return
    for reader in scan.unit_exchange.store.block_readers([*stored_columns(scan, column), HASH]):
        yield {name: np.array(own) for name, own in column.select(reader.load()).items()}


class RangeShards:
    """Collects all shards of some ranges, and computes the states of these ranges.

    `totals` are those of all ranges, if they were counted before. With `resampling`, shards of whole score columns give
    replicates. `n_classes` is the number of probabilities of a row.
    """

    def __init__(
        self,
        plan: Plan,
        names: ColumnNames,
        budget: MemoryBudget | None,
        totals: RangeTotals,
        resampling: PartitionResampling | None = None,
        n_classes: int = 0,
    ) -> None:
        self.plan = plan
        self.names = names
        self.columns = score_columns(plan, names, n_classes)
        self.n_classes = n_classes
        self.budget = budget
        self.totals = totals
        self.resampling = resampling
        self.stores: dict[tuple[int, int], tuple[BlockStore, SliceNumbers]] = {}

    def add(self, shard: ScoreRangeShard) -> None:
        key = (shard.score, shard.range_number)
        if key not in self.stores:
            self.stores[key] = BlockStore(1, self.budget), SliceNumbers(self.names.by)
        store, slices = self.stores[key]
        columns = dict(shard.columns)
        if SLICE in columns:
            columns[SLICE] = slices.number_slices(shard.slices)[columns[SLICE]]
        block = StoredBlock(columns, np.array([0, columns[score_name(0)].shape[0]], np.int32))
        store.add(block, store.try_reserve(block.n_bytes()))

    def resolve(self) -> Iterator[tuple[int, PartitionState]]:
        """The number of a score column and the state of a range of it, range by range."""
        all_statistics, _ = split_statistics(self.plan.statistics["range"])
        all_statistics = read_statistics(all_statistics, self.n_classes)
        is_weighted = self.names.weight is not None
        for (score, range_number), (store, slices) in self.stores.items():
            values = slices.values()
            rows = int(store.partition_rows.sum())
            statistics = list(filter(self.columns[score].has, all_statistics))
            if range_number == WHOLE_COLUMN and self.resampling is not None:
                replicates = replicate_score_column(
                    store, self.plan, self.names, self.resampling, values, statistics
                )
                yield score, PartitionState(rows, {}, (), values, {}, NO_TOTALS, WHOLE_COLUMN, replicates)
                store.close()
                continue
            states: dict[SliceStateKey, Any] = {}
            for label in range(max(1, len(self.names.labels))):
                states |= self.reduce_rows(store, label, score, range_number, values)
                if not statistics:
                    continue
                reductions = PairReduction(store, ScoreLabelPair(label, 0), is_weighted, statistics, 1)
                for slice_values in ([None], values) if values else ([None],):
                    n_slices = len(slice_values) if slice_values is values else 0
                    totals = self.global_totals(label, score, range_number, slice_values)
                    by_slice = reductions.reduce(partial(reduce_range, n_slices=n_slices, totals=totals))
                    for (statistic, number), state in by_slice.items():
                        states[statistic, label, None if number is None else values[number]] = state
            yield score, PartitionState(rows, {}, (), values, states, NO_TOTALS, range_number)
            store.close()

    def reduce_rows(
        self, store: BlockStore, label: int, score: int, range_number: int, values: list[SliceValues]
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
        reduction = RowRangeReduction(store, ScoreLabelPair(label, 0), statistics, len(values), 1, positions)
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
    is_pair = isinstance(reduction.source, ClassPairRows)
    return reduce_ranges(reduction, n_slices, global_totals=None if is_pair else totals)


def replicate_score_column(
    store: BlockStore,
    plan: Plan,
    names: ColumnNames,
    resampling: PartitionResampling,
    slices: list[Any],
    statistics: Sequence[Any],
) -> dict[tuple[Any, int, Any], ReplicateStates]:
    """The replicates of a score column of which a store has all rows: by statistic, label, and values of the slice.

    `statistics` are those of thresholds; plots are left out.
    """
    options = resampling.options
    check_unit_hashes((reader.load()[HASH] for reader in store.block_readers([HASH])), resampling.unit_buckets)
    of_metrics, row_statistics = split_statistics(plan.without_plots().statistics["range"])
    statistics = [own for own in statistics if isinstance(own, OfClasses) or own in of_metrics]
    replicates = {}
    replicate = partial(
        replicate_scores, unit_buckets=resampling.unit_buckets, seed=options.seed, replicates=options.replicates
    )
    n_labels = max(1, len(names.labels))
    if row_statistics:
        weights = ReplicateWeights(resampling.unit_buckets, options.seed, options.replicates)  # draws them all
        for label in range(n_labels):
            row_ranges = RowRangeReduction(store, ScoreLabelPair(label, 0), row_statistics, len(slices), 1)
            for (statistic, number), states in replicate_row_ranges(row_ranges, weights).items():
                values = None if number is None else slices[number]
                replicates[statistic, label, values] = ReplicateStates(states)
    for label in range(n_labels) if statistics else ():
        reductions = PairReduction(store, ScoreLabelPair(label, 0), names.weight is not None, statistics, 1)
        for n_slices in (0, len(slices)) if slices else (0,):
            found = reductions.reduce(partial(replicate, n_slices=n_slices))
            for (statistic, number), states in found.items():
                values = None if number is None else slices[number]
                replicates[statistic, label, values] = ReplicateStates(states)
    return replicates


def check_unit_hashes(blocks: Iterable[np.ndarray], unit_buckets: UnitBuckets) -> None:
    if any(hashes.shape[0] and int(unit_buckets.bucket_of(hashes).min()) < 0 for hashes in blocks):
        raise ValueError(ROWS_CHANGED)


def needs_whole_columns(plan: Plan) -> bool:
    """Return whether scores are not divided into ranges: another order is needed. All metrics of a part agree."""
    return any(map(needs_whole_column, plan.statistics["range"]))


def needs_range_totals(plan: Plan) -> bool:
    """Return whether ranges have to be counted before a statistic can make the state of one."""
    if needs_whole_columns(plan):
        return False
    statistics, row_statistics = split_statistics(plan.statistics["range"])
    return any(statistic.needs_position for statistic in statistics) or any(map(needs_totals, row_statistics))


def count_ranges(
    columns: RowBlock,
    scan: Scan,
    score_columns: Sequence[ScoreColumn],
    cuts: Sequence[Sequence[float]],
    range_statistics: Sequence[Any],
) -> RangeTotals:
    """Rows and weights of the classes in every range of a block, and what statistics that read rows have to know."""
    values = scan.slices.values()
    by_slice: list[tuple[SliceValues | None, RowBlock]] = [(None, columns)]
    if columns.slices is not None:
        by_slice += [(values[number], block) for number, block in split_rows_by_slice(columns, columns.slices)]
    statistics, row_statistics = split_statistics(range_statistics)
    row_totals = count_rows_of_ranges(scan, row_statistics, by_slice, cuts)
    totals: dict[RangeKey, dict[int, ClassTotals]] = {}
    for slice_values, block in by_slice if statistics else []:
        for score, column in enumerate(score_columns):
            all_labels, scores, row_weights = column.binary_rows(block)
            range_numbers = find_range_numbers(scores, cuts[score])
            for label, labels in enumerate(all_labels):
                n_classes = 2 * (len(cuts[score]) + 1)
                starts, destinations = order_by_number(2 * range_numbers + labels, n_classes)
                weights = [0] * n_classes
                if row_weights is not None:
                    states = exact.new_states(n_classes)
                    sums.sum_segments(scatter_rows(row_weights, destinations), starts, states)
                    weights = [exact.to_integer(state) for state in states]
                rows = np.diff(starts).tolist()
                totals[label, score, slice_values] = {
                    number: ClassTotals(*rows[2 * number : 2 * number + 2], *weights[2 * number : 2 * number + 2])
                    for number in np.unique(range_numbers).tolist()
                }
    span = WeightSpan() if columns.weights is None else span_of(columns.weights)
    return RangeTotals(totals, span, row_totals)


def count_rows_of_ranges(
    scan: Scan,
    statistics: Sequence[RowRangeStatistic],
    by_slice: list[tuple[SliceValues | None, RowBlock]],
    cuts: Sequence[Sequence[float]],
) -> dict[RowTotalKey, dict[int, Any]]:
    """The totals of statistics that read rows, for every range of a block."""
    totals: dict[RowTotalKey, dict[int, Any]] = {}
    for slice_values, block in by_slice if any(map(needs_totals, statistics)) else []:
        store = store_columns(block)
        for pair in scan.score_label_pairs:
            numbers = find_range_numbers(block.scores[pair.score], cuts[pair.score])
            reduction = RowRangeReduction(store, pair, statistics, 0, 1)
            columns = {name: column for name, column in block.arrays().items() if name in reduction.names()}
            for number in np.unique(numbers).tolist():
                where = numbers == number
                rows = reduction.rows_of({name: column[where] for name, column in columns.items()})
                for statistic in statistics:
                    by_number = totals.setdefault((statistic, pair.label, pair.score, slice_values), {})
                    by_number[number] = statistic.total(rows)
    return totals
