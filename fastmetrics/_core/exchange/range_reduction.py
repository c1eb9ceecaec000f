"""Score statistics over the range exchange: rows go to buckets of neighboring scores, buckets give states.

States of neighboring ranges merge in the order of the scores. Rows that were spilled are written to a second spill
file in the order of their buckets, and loaded one range of buckets at a time. A bucket that is too large for the memory
budget is split again. A bucket whose rows all have one score is neither split nor loaded: its counts are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import (
    SERIAL_ROWS,
    SLICE,
    WEIGHT,
    LargePages,
    Output,
    RowBlock,
    Scratch,
    block_bounds,
    label_name,
    score_name,
)
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.bucket_positions import BucketPositions, BucketWeights, GlobalTotals, totals_of_slices
from fastmetrics._core.exchange.range_exchange import (
    KEY,
    NO_SLICES,
    UNIT_BUCKET,
    ScoreBuckets,
    merge_neighbors,
    reorder_by_score,
    sample_columns,
    split_scores,
    split_slices,
)
from fastmetrics._core.exchange.runs import (
    NO_ROWS,
    ClassTotals,
    Cut,
    RangePosition,
    RangeStatistic,
    Runs,
    SlicedStatistic,
)
from fastmetrics._core.exchange.stored_ranges import BlockSource, PartitionPair
from fastmetrics._core.exchange.threshold_sweep import BUCKETS_PER_RANGE, SweepBuilder
from fastmetrics._core.exchange.weighted_ranges import scale_of
from fastmetrics._core.exchange.weighted_sweep import runs_of_tie, weighted_runs
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._core.statistic import CountsBuckets
from fastmetrics._kernels.numeric import sums
from fastmetrics._kernels.sweep.mann_whitney import Splitter

LARGE_TIE = 1 << 20  # from so many rows on, a bucket is tested for having a single score
RANGES_PER_THREAD = 4  # of buckets, for statistics of all slices at once


AnyStatistic = RangeStatistic | SlicedStatistic


class RangeReduction(NamedTuple):
    """Statistics to compute over the rows of a source, for one output. One that is sliced is the only one."""

    source: BlockSource
    output: Output
    weighted: bool
    statistics: Sequence[AnyStatistic]
    n_threads: int

    @property
    def kept_columns(self) -> tuple[str, ...]:
        """The columns (uint16) that buckets have beside scores and weights."""
        sliced = (own for own in self.statistics if isinstance(own, SlicedStatistic))
        return tuple(dict.fromkeys(name for own in sliced for name in own.kept_columns))

    def names(self) -> list[str]:
        """The columns to load."""
        weight = [WEIGHT] if self.weighted else []
        return [label_name(self.output.label), score_name(self.output.score), *weight, *self.kept_columns]


Advance = Callable[[int], None]
StatesBySlice = dict[tuple[Any, int | None], Any]  # by statistic and slice
StatesByBucket = dict[Any, dict[int, Any]]  # by statistic: the state of a range of buckets, by its first bucket


def reduce_ranges(
    reduction: RangeReduction,
    n_slices: int = 0,
    spare: Sequence[np.ndarray] = (),
    advance: Advance | None = None,
    global_totals: GlobalTotals | None = None,
) -> StatesBySlice:
    """The states of all rows (slice None), or with n_slices those of every slice.

    `spare` is memory of eight bytes a row that may be overwritten, one array per block. `advance(n)` is called when n
    more rows are done.
    """
    source = reduction.source
    names = reduction.names() + ([SLICE] if n_slices else [])
    blocks = source.block_readers(names)
    rows = sum(block.rows for block in blocks)
    splitter = split_rows(reduction, rows, n_slices)
    ranges = splitter.buckets_by_slice()
    ranged = BlockStore(2 * splitter.n_buckets, None if source.in_memory else source.budget)
    states_by_bucket, global_totals = reduce_split_rows(
        reduction, ranged, splitter, blocks, ranges, global_totals, spare, advance
    )
    states: StatesBySlice = {}
    for statistic in reduction.statistics:
        for number, buckets in enumerate(ranges):
            of_slice = {start: state for start, state in states_by_bucket[statistic].items() if start in buckets}
            if of_slice:  # a slice without rows has no state here
                key = statistic, number if n_slices else None
                states[key] = merge_buckets(statistic, of_slice, global_totals.totals[number])
    return states


def reduce_split_rows(
    reduction: RangeReduction,
    ranged: BlockStore,
    splitter: Splitter,
    blocks: Sequence[Any],
    ranges: list[range],
    global_totals: GlobalTotals | None,
    spare: Sequence[np.ndarray] = (),
    advance: Advance | None = None,
) -> tuple[StatesByBucket, GlobalTotals]:
    """Split blocks into the buckets of a store, which is closed then: the states of the buckets, and the totals.

    `ranges` are the buckets of every slice, or all buckets. Totals that are not given are those of these rows.
    """
    try:
        weights = fill_buckets(reduction, ranged, splitter, blocks, spare)
        return reduce_stored(reduction, ranged, weights, ranges, global_totals, advance)
    finally:
        ranged.close()


def reduce_stored(
    reduction: RangeReduction,
    ranged: BlockStore,
    weights: BucketWeights,
    ranges: list[range],
    global_totals: GlobalTotals | None,
    advance: Advance | None = None,
) -> tuple[StatesByBucket, GlobalTotals]:
    """The same for rows that are in buckets; `weights` are those of the buckets."""
    by_class = ranged.partition_rows.reshape(-1, 2).astype(np.int64)
    bucket_weights = weights.totals()
    if global_totals is None:
        scale = scale_of(weights.span) if reduction.weighted else None
        global_totals = totals_of_slices(by_class, bucket_weights, ranges, scale)
    positions = BucketPositions(by_class, bucket_weights, ranges, global_totals)
    return reduce_buckets(reduction, ranged, positions, advance), global_totals


def merge_buckets(statistic: AnyStatistic, states: Mapping[int, Any], totals: ClassTotals) -> Any:
    """One state from those of neighboring ranges of buckets, by the first bucket."""
    if not states:
        return statistic.empty()
    descending = [state for _, state in sorted(states.items(), reverse=True)]
    return merge_neighbors(descending, partial(statistic.merge, totals=totals))


def sweep_buckets(statistics: Sequence[AnyStatistic], buckets: ScoreBuckets, n_threads: int) -> dict[Any, Any]:
    """The states of all buckets together, without weights."""
    ranges = [range(buckets.n_buckets)]
    by_class = buckets.class_counts()
    totals = totals_of_slices(by_class, None, ranges, None)
    positions = BucketPositions(by_class, None, ranges, totals)
    states: StatesByBucket = {statistic: {} for statistic in statistics}
    reduce_bucket_ranges(statistics, buckets, positions, positions.bucket_ranges(), states, None, n_threads)
    return {
        statistic: merge_buckets(statistic, states[statistic], totals.totals[0])
        for statistic in statistics
    }


def store_columns(columns: RowBlock) -> BlockStore:
    """A store of columns in memory, block by block, without a copy."""
    store = BlockStore(1)
    arrays = columns.arrays()
    for start, stop in block_bounds(columns.rows):
        block_columns = {name: array[start:stop] for name, array in arrays.items()}
        store.add(Block(block_columns, np.array([0, stop - start], np.int32)), True)
    return store


def split_rows(reduction: RangeReduction, rows: int, n_slices: int) -> Splitter:
    """A splitter for the rows of the source, from a sample of them."""
    source, score = reduction.source, score_name(reduction.output.score)
    sample = sample_columns(source.block_readers([score, SLICE] if n_slices else [score]))
    # Buckets of spilled rows are loaded by ranges of buckets; a range should have several of them.
    max_rows = None if source.in_memory or source.budget is None else max(1, source.budget.bytes_per_range // 32)
    if n_slices:
        return split_slices(sample[score], sample[SLICE], rows, n_slices, max_rows)
    return split_scores(sample[score], rows, max_rows)


def fill_buckets(
    reduction: RangeReduction,
    ranged: BlockStore,
    splitter: Splitter,
    blocks: Sequence[Any],
    spare: Sequence[np.ndarray] = (),
    unit_buckets_of: Callable[[dict[str, np.ndarray]], np.ndarray] | None = None,
) -> BucketWeights:
    """Add every block to `ranged`, reordered by bucket. Returns the weights of the buckets.

    For replicates, `unit_buckets_of(columns)` returns the unit bucket of every row, which is stored too.
    """
    max_rows = max(block.rows for block in blocks)
    rows = sum(block.rows for block in blocks)
    n_threads = reduction.n_threads if rows > SERIAL_ROWS else 1
    kept = reduction.kept_columns
    needs_sums = reduction.weighted and any(statistic.needs_position for statistic in reduction.statistics)
    weights_by_thread = [BucketWeights(splitter.n_buckets, needs_sums)]

    def make_worker() -> Callable[[int], None]:
        slots = np.empty(max_rows, np.uint16)
        spill_scratch = Scratch()
        pages = LargePages()
        weights = BucketWeights(splitter.n_buckets, needs_sums)
        weights_by_thread.append(weights)

        def reorder_block(number: int) -> None:
            columns = blocks[number].load()
            labels, scores = (columns[name] for name in reduction.names()[:2])
            others = {name: columns[name] for name in ([WEIGHT] if reduction.weighted else [])}
            if unit_buckets_of is not None:
                others[UNIT_BUCKET] = unit_buckets_of(columns)
            others |= {name: columns[name] for name in kept}
            row_bytes = scores.dtype.itemsize + sum(own.itemsize for own in others.values())
            is_reserved = ranged.try_reserve(labels.shape[0] * row_bytes + 8 * splitter.n_buckets)

            def allocate(name: str, dtype: np.dtype, length: int) -> np.ndarray:
                if name == KEY and spare:
                    return spare[number].view(dtype)[:length]
                if not is_reserved:
                    return spill_scratch.array(name, dtype, length)
                return pages.array(dtype, length) if rows > SERIAL_ROWS else np.empty(length, dtype)

            slices = NO_SLICES if kept else columns.get(SLICE, NO_SLICES)
            block, _ = reorder_by_score(splitter, labels, scores, others, slots, allocate, slices)
            if reduction.weighted:
                weights.add_block(block)
            ranged.add(block, is_reserved)

        return reorder_block

    for_each(len(blocks), make_worker, n_threads)
    total, *others = weights_by_thread
    for weights in others:
        total.add(weights)
    return total


def reduce_buckets(
    reduction: RangeReduction, ranged: BlockStore, positions: BucketPositions, advance: Advance | None
) -> StatesByBucket:
    """The states of all buckets that have rows, for every statistic."""
    statistics, n_threads = reduction.statistics, reduction.n_threads
    buckets_per_range = 1 if reduction.weighted else BUCKETS_PER_RANGE
    if reduction.kept_columns:  # a state has all slices
        buckets_per_range = max(1, positions.rows.shape[0] // (RANGES_PER_THREAD * n_threads))
    states: StatesByBucket = {statistic: {} for statistic in statistics}
    if not ranged.spilled_blocks:
        reduce_large_ties(reduction, ranged, positions, states)
        done = set(next(iter(states.values())))
        bucket_ranges = positions.bucket_ranges(done, buckets_per_range)
        buckets = ScoreBuckets(ranged.blocks_in_memory)
        reduce_bucket_ranges(statistics, buckets, positions, bucket_ranges, states, advance, n_threads)
        return states
    bucket_rows = positions.rows.sum(1)
    budget = ranged.budget
    max_rows = max(1, (budget.bytes_per_range if budget is not None else 1 << 62) // ranged.row_bytes)
    ranges = list(ranged.partition_ranges(max_rows * ranged.row_bytes, 2))
    large = [start for start, _ in ranges if int(bucket_rows[start // 2]) > 2 * max_rows]
    ranges = [bounds for bounds in ranges if bounds[0] not in large]

    def make_worker() -> Callable[[int], None]:
        scratch = Scratch()

        def reduce_range(number: int) -> None:
            first, stop = ranges[number][0] // 2, ranges[number][1] // 2
            loaded = ranged.load_partitions(list(ranged.types), *ranges[number], scratch)
            bucket_ranges = positions.bucket_ranges(size=buckets_per_range, within=range(first, stop))
            buckets = ScoreBuckets(loaded.blocks())
            reduce_bucket_ranges(statistics, buckets, positions, bucket_ranges, states, advance, 1, first)

        return reduce_range

    for_each(len(ranges), make_worker, n_threads)
    for start in large:
        bucket = start // 2
        for statistic, state in reduce_large_bucket(reduction, ranged, bucket, positions).items():
            states[statistic][bucket] = state
        if advance is not None:
            advance(int(bucket_rows[bucket]))
    return states


def reduce_bucket_ranges(
    statistics: Sequence[AnyStatistic],
    buckets: ScoreBuckets,
    positions: BucketPositions,
    bucket_ranges: list[tuple[int, int]],
    states: StatesByBucket,
    advance: Advance | None,
    n_threads: int,
    first: int = 0,
) -> None:
    """Write the states of ranges of buckets; `first` is the number, among all buckets, of bucket 0 of those at hand."""

    def make_worker() -> Callable[[int], None]:
        states_of_range = make_reducer(statistics, buckets, positions, bucket_ranges, first)

        def reduce_range(number: int) -> None:
            start, stop = bucket_ranges[number]
            for statistic, state in zip(statistics, states_of_range(start, stop), strict=True):
                states[statistic][start] = state
            if advance is not None:
                advance(int(positions.rows[start:stop].sum()))

        return reduce_range

    for_each(len(bucket_ranges), make_worker, n_threads)


def make_reducer(
    statistics: Sequence[AnyStatistic],
    buckets: ScoreBuckets,
    positions: BucketPositions,
    bucket_ranges: list[tuple[int, int]],
    first: int,
) -> Callable[[int, int], list[Any]]:
    """A thread's function from a range of buckets to its states."""
    only: Any = statistics[0] if len(statistics) == 1 else None
    if isinstance(only, SlicedStatistic):
        count_rows = only.range_counter(buckets)
        return lambda start, stop: [count_rows(start - first, stop - first)]
    if isinstance(only, CountsBuckets) and buckets.weights is None:
        counted: Any = only
        count_bucket = only.bucket_counter(buckets)

        def count_range(start: int, stop: int) -> list[Any]:
            states = [count_bucket(bucket - first) for bucket in reversed(range(start, stop))]
            return [merge_neighbors(states, partial(counted.merge, totals=NO_ROWS))]

        return count_range
    readers = [own for own in statistics if isinstance(own, RangeStatistic)]
    at_hand = [(start - first, stop - first) for start, stop in bucket_ranges]
    make_runs = runs_maker(readers, buckets, positions, at_hand)

    def find_states(start: int, stop: int) -> list[Any]:
        position = positions.position_of(start, stop)
        runs = make_runs(start - first, stop - first, position)
        return [statistic.find(runs[statistic.cut], position) for statistic in readers]

    return find_states


def runs_maker(
    statistics: Sequence[RangeStatistic],
    buckets: ScoreBuckets,
    positions: BucketPositions,
    bucket_ranges: list[tuple[int, int]],
) -> Callable[[int, int, RangePosition], Mapping[Cut, Runs]]:
    """A thread's function from a range of buckets and its position to its runs, for the cuts of the statistics."""
    cuts = {statistic.cut for statistic in statistics}
    scale = positions.global_totals.scale
    if buckets.weights is not None and scale is not None:
        scratch = Scratch(LargePages() if positions.rows.sum() > SERIAL_ROWS else None)

        def order_weighted_rows(start: int, stop: int, position: RangePosition) -> Mapping[Cut, Runs]:
            rows = buckets.weighted_rows(start, scale, scratch)
            return weighted_runs(rows, cuts)

        return order_weighted_rows
    negatives, positives = positions.rows.sum(0).tolist()
    pivot = 1 if Cut.POSITIVES in cuts or positives <= negatives else 0
    return SweepBuilder(buckets, pivot, bucket_ranges).runs


def reduce_large_ties(
    reduction: RangeReduction, ranged: BlockStore, positions: BucketPositions, states: StatesByBucket
) -> None:
    """Reduce large buckets of a single score from their counts, without copying their rows together."""
    for bucket in np.flatnonzero(positions.rows.sum(1) > LARGE_TIE).tolist():
        source = PartitionPair.of_bucket(ranged, bucket)
        keys = source.key_range()
        if keys.is_tie:
            for statistic, state in states_of_tie(reduction, source, keys.low, positions, bucket).items():
                states[statistic][bucket] = state


def states_of_tie(
    reduction: RangeReduction, source: PartitionPair, key: int, positions: BucketPositions, bucket: int
) -> dict[Any, Any]:
    """The states of a bucket whose rows all have one score."""
    sliced = [own for own in reduction.statistics if isinstance(own, SlicedStatistic)]
    if sliced:
        names = [label_name(0), *reduction.kept_columns]
        return {own: own.from_tied_blocks(source.block_readers(names)) for own in sliced}
    position = positions.position_of(bucket, bucket + 1)
    tied = bucket_totals(reduction, source, *positions.rows[bucket].tolist())
    keys = np.array([key], np.dtype(f"u{source.store.types[KEY].itemsize}"))
    readers = [own for own in reduction.statistics if isinstance(own, RangeStatistic)]
    return {own: own.find(runs_of_tie(keys, tied, position, own.cut, reduction.weighted), position) for own in readers}


def bucket_totals(reduction: RangeReduction, source: PartitionPair, negatives: int, positives: int) -> ClassTotals:
    """The totals of a bucket, including its weights."""
    if not reduction.weighted:
        return ClassTotals(negatives, positives)
    states = exact.new_states(2)
    for block in source.block_readers([label_name(0), WEIGHT]):
        labels, weights = block.load().values()
        sums.sum_positive_weights((labels == 0).view(np.uint8), weights, states[0])
        sums.sum_positive_weights(labels, weights, states[1])
    return ClassTotals(negatives, positives, *(exact.to_integer(state) for state in states))


def reduce_large_bucket(
    reduction: RangeReduction, ranged: BlockStore, bucket: int, positions: BucketPositions
) -> dict[Any, Any]:
    """The states of a bucket that is too large to be loaded."""
    source = PartitionPair.of_bucket(ranged, bucket)
    inner = reduction._replace(source=source, output=Output(0, 0))
    keys = source.key_range()
    if keys.is_tie:
        return states_of_tie(inner, source, keys.low, positions, bucket)
    position = positions.position_of(bucket, bucket + 1)
    blocks = source.block_readers(inner.names())
    splitter = source.split(keys)
    finer = BlockStore(2 * splitter.n_buckets, ranged.budget)
    totals = GlobalTotals([position.totals], [position.above], positions.global_totals.scale)
    states, _ = reduce_split_rows(inner, finer, splitter, blocks, [range(splitter.n_buckets)], totals)
    return {
        statistic: merge_buckets(statistic, states[statistic], position.totals)
        for statistic in reduction.statistics
    }
