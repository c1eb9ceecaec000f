"""Replicates of score statistics: their states in a log in which each unit occurs as often as its weight.

Rows are brought into descending order of score once. Then replicates read the rows together, REPLICATES_PER_BATCH at a
time, each with a weight for every unit bucket (`resampling_units.py`, `replicate_batch.py`). The state of a replicate
equals the statistic's state of the repeated rows, whatever the cuts, the threads and the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import (
    SERIAL_ROWS,
    SLICE,
    WEIGHT,
    Output,
    Scratch,
    addresses,
    label_name,
)
from fastmetrics._core.exchange.block_store import BlockReader, BlockStore
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.range_exchange import KEY, UNIT_BUCKET, ScoreBuckets
from fastmetrics._core.exchange.range_reduction import Advance, RangeReduction, fill_buckets, split_rows
from fastmetrics._core.exchange.runs import NO_ROWS, ClassTotals, RangeStatistic
from fastmetrics._core.exchange.stored_ranges import PartitionPair
from fastmetrics._core.exchange.weighted_ranges import WeightScale, WeightSpan, merge_spans, scale_of, span_of
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._core.resampling.replicate_batch import (
    REPLICATES_PER_BATCH,
    CountedRange,
    DescendingRange,
    DescendingRows,
    ReplicateBatch,
    ReplicateBatchWeights,
    TiedRange,
    totals_of_counts,
)
from fastmetrics._core.resampling.resampling_units import UnitBuckets, draw_weights
from fastmetrics._core.resampling.weighted_batch import WeightedRange, WeightedTotals
from fastmetrics._kernels.resampling import score_replicates, weighted_replicates

MAX_SORTED_ROWS = 1 << 21  # rows that are put in order before replicates read them
MAX_BUCKET_ROWS = 1 << 31
MAX_ROWS = 1 << 50  # of a log: times 255, the greatest weight, the sum stays below 2**62
CACHED_BYTES = 1 << 26  # of weights that are kept for the next range of buckets
CACHE_DIVISOR = 16  # if rows were spilled: the cache takes at most this part of the memory limit
MAX_WEIGHT = 255
FEW_ROWS = 1 << 12  # fewer rows are sorted and swept by one thread


class DescendingSweep(NamedTuple):
    """What all ranges of one evaluation share."""

    reduction: RangeReduction
    weight_cache: WeightCache
    scale: WeightScale | None
    advance: Advance | None

    @property
    def statistics(self) -> list[RangeStatistic]:
        return [own for own in self.reduction.statistics if isinstance(own, RangeStatistic)]

    @property
    def needs_positions(self) -> bool:
        return any(statistic.needs_position for statistic in self.statistics)


class WeightCache:
    """The weights of batches of replicates. If they are too many to be kept, they are drawn again at each use."""

    def __init__(self, unit_buckets: UnitBuckets, seed: int, replicates: int, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.unit_buckets = unit_buckets
        self.seed = seed
        self.replicates = replicates
        self.n_batches = -(-replicates // REPLICATES_PER_BATCH)
        self.n_unit_buckets = max(1, len(unit_buckets.keys))
        self.cached: list[ReplicateBatchWeights | None] = [None] * self.n_batches

    def weights_of(self, batch: int) -> ReplicateBatchWeights:
        weights = self.cached[batch]
        if weights is None:
            first = batch * REPLICATES_PER_BATCH
            stop = min(first + REPLICATES_PER_BATCH, self.replicates)
            table = draw_weights(self.unit_buckets, self.seed, first, first + REPLICATES_PER_BATCH)
            table[:, stop - first :] = 0
            if not table.shape[0]:
                table = np.zeros((1, REPLICATES_PER_BATCH), np.uint8)
            weights = ReplicateBatchWeights(table, max(1, int(table.max())), stop - first)
            if self.n_batches * table.nbytes <= self.max_bytes:
                self.cached[batch] = weights
        return weights


def replicate_scores(
    reduction: RangeReduction,
    unit_buckets: UnitBuckets,
    seed: int,
    replicates: int,
    n_slices: int = 0,
    advance: Advance | None = None,
) -> dict[tuple[Any, int | None], list[Any]]:
    """The states of every replicate: of all rows (slice None), or with n_slices those of every slice that has rows.

    The blocks of the source have the hash of every row's unit (HASH).
    """
    source = reduction.source
    blocks = source.block_readers([*reduction.names(), HASH, *([SLICE] if n_slices else [])])
    rows = sum(block.rows for block in blocks)
    if rows >= MAX_ROWS:
        raise OverflowError(f"{rows} rows are more than replicates can count")
    splitter = split_rows(reduction, rows, n_slices)
    ranged = BlockStore(2 * splitter.n_buckets, None if source.in_memory else source.budget)
    cached_bytes = CACHED_BYTES
    if ranged.budget is not None:
        cached_bytes = min(cached_bytes, ranged.budget.limit // CACHE_DIVISOR)
    weight_cache = WeightCache(unit_buckets, seed, replicates, cached_bytes)
    sweep = DescendingSweep(reduction, weight_cache, replicate_weight_scale(reduction), advance)
    states: dict[tuple[Any, int | None], list[Any]] = {}

    def unit_buckets_of_rows(columns: dict[str, np.ndarray]) -> np.ndarray:
        numbers = unit_buckets.bucket_of(columns[HASH])
        if numbers.shape[0] and int(numbers.min()) < 0:
            raise ValueError("some units are in no unit bucket: the buckets must be those of all rows")
        return numbers.astype(np.uint16)

    try:
        fill_buckets(reduction, ranged, splitter, blocks, unit_buckets_of=unit_buckets_of_rows)
        for number, buckets in enumerate(splitter.buckets_by_slice()):
            for statistic, of_statistic in replicate_range(sweep, ranged, buckets).items():
                states[statistic, number if n_slices else None] = of_statistic
    finally:
        ranged.close()
    return states


def replicate_range(sweep: DescendingSweep, ranged: BlockStore, buckets: range) -> dict[Any, list[Any]]:
    """The states of every replicate over the buckets of a slice, or of all rows. Empty if the buckets have no rows."""
    bucket_rows = ranged.partition_rows.reshape(-1, 2).sum(1)
    if not bucket_rows[buckets.start : buckets.stop].any():
        return {}
    counts = None
    if sweep.needs_positions and sweep.scale is None:
        counts = count_unit_buckets(ranged, buckets, sweep.weight_cache.n_unit_buckets)

    def start_batch(number: int) -> ReplicateBatch:
        weights = sweep.weight_cache.weights_of(number)
        totals = [NO_ROWS] * weights.n if counts is None else totals_of_counts(counts, weights)
        return ReplicateBatch(sweep.statistics, weights, totals)

    batches = for_each(sweep.weight_cache.n_batches, lambda: start_batch, sweep.reduction.n_threads)
    if sweep.needs_positions and sweep.scale is not None:
        sweep_store(sweep._replace(advance=None), ranged, buckets, batches, True)
    sweep_store(sweep, ranged, buckets, batches)
    return {
        statistic: [state for batch in batches for state in batch.states_of(index)]
        for index, statistic in enumerate(sweep.statistics)
    }


def sweep_store(
    sweep: DescendingSweep, ranged: BlockStore, buckets: range, batches: list[ReplicateBatch], only_totals: bool = False
) -> None:
    """Add some buckets to all batches, from the last bucket on; with `only_totals`, only their weights."""
    bucket_rows = ranged.partition_rows.reshape(-1, 2).sum(1)
    budget = ranged.budget
    in_memory = ranged.in_memory
    max_rows = MAX_SORTED_ROWS
    if not in_memory and budget is not None:
        max_rows = max(1, min(max_rows, budget.bytes_per_range // max(1, ranged.row_bytes)))
    all_buckets = ReplicateBuckets(ScoreBuckets(ranged.blocks_in_memory), 0) if in_memory else None
    scratch = Scratch()
    for bucket_range in descending_bucket_ranges(buckets, bucket_rows, max_rows):
        rows = int(bucket_rows[bucket_range.start : bucket_range.stop].sum())
        if all_buckets is None and rows > 2 * max_rows:
            sweep_large_bucket(sweep, ranged, bucket_range.start, batches, only_totals)
        else:
            loaded = all_buckets or load_buckets(ranged, bucket_range, scratch)
            sweep_buckets(sweep, loaded, bucket_range, bucket_rows, batches, only_totals)
        if sweep.advance is not None:
            sweep.advance(rows)


def descending_bucket_ranges(buckets: range, bucket_rows: np.ndarray, max_rows: int) -> Iterator[range]:
    """Ranges of buckets with at most max_rows rows, or a single bucket with more; the last ones first."""
    counts = bucket_rows[buckets.start : buckets.stop].tolist()
    stop = buckets.stop
    while stop > buckets.start:
        start = stop - 1
        rows = counts[start - buckets.start]
        while start > buckets.start and rows + counts[start - 1 - buckets.start] <= max_rows:
            start -= 1
            rows += counts[start - buckets.start]
        if rows:
            yield range(start, stop)
        stop = start


class ReplicateBuckets:
    """A range of buckets in memory; `first` is the number, among all buckets, of bucket 0 of those at hand."""

    def __init__(self, buckets: ScoreBuckets, first: int) -> None:
        self.buckets = buckets
        self.first = first
        self.unit_buckets = [block.columns[UNIT_BUCKET] for block in buckets.blocks]
        self.unit_bucket_addresses = addresses(self.unit_buckets)

    def sort_bucket(self, bucket: int, rows: int, scratch: Scratch) -> DescendingRows:
        """The rows of a bucket, at least one, in descending order of score, without weights."""
        if rows >= MAX_BUCKET_ROWS:
            raise OverflowError(f"{rows} rows have neighboring scores: more than a range can hold")
        buckets = self.buckets
        key_type = buckets.key_type
        codes = np.empty(rows, np.uint16)
        segments = scratch.array("segments", np.int32, rows)
        n_segments = score_replicates.order_bucket(
            buckets.addresses, self.unit_bucket_addresses, buckets.offsets, bucket - self.first,
            scratch.array("keys", key_type, rows), scratch.array("other keys", key_type, rows), codes,
            scratch.array("other codes", np.uint16, rows),
            scratch.array("digit starts", np.int64, score_replicates.RADIX_SIZE), segments,
        )  # fmt: skip
        return DescendingRows(codes, segments[:n_segments].copy(), sort_keys=lambda: self.sort_keys(bucket))

    def sort_keys(self, bucket: int) -> np.ndarray:
        """The keys of a bucket in descending order."""
        buckets = self.buckets
        keys = np.concatenate([buckets.of_class(buckets.keys, bucket - self.first, label) for label in (0, 1)])
        keys.sort()
        return keys[::-1]

    def sort_weighted_bucket(self, bucket: int) -> DescendingRows:
        """The rows of a bucket in descending order of score, with weights. The rows of a tie have any order."""
        buckets = self.buckets
        columns = [self.unit_buckets, buckets.keys, buckets.weights or []]
        classes = [[buckets.of_class(column, bucket - self.first, label) for column in columns] for label in (0, 1)]
        codes, keys, row_weights = (np.concatenate(parts) for parts in zip(*classes, strict=True))
        codes[classes[0][0].shape[0] :] |= score_replicates.POSITIVE_FLAG
        order = np.argsort(keys)[::-1]
        keys, codes = keys[order], codes[order]
        is_last = np.append(keys[1:] != keys[:-1], True)
        codes[is_last] |= weighted_replicates.LAST_OF_TIE_FLAG
        return DescendingRows(codes, row_weights=row_weights[order], sort_keys=lambda: self.sort_keys(bucket))


def load_buckets(ranged: BlockStore, bucket_range: range, scratch: Scratch) -> ReplicateBuckets:
    loaded = ranged.load_partitions(list(ranged.types), 2 * bucket_range.start, 2 * bucket_range.stop, scratch)
    return ReplicateBuckets(ScoreBuckets(loaded.blocks()), bucket_range.start)


def sweep_buckets(
    sweep: DescendingSweep,
    buckets: ReplicateBuckets,
    bucket_range: range,
    bucket_rows: np.ndarray,
    batches: list[ReplicateBatch],
    only_totals: bool,
) -> None:
    """Add a range of buckets in memory to all batches: first every bucket is sorted."""
    reduction, scale = sweep.reduction, sweep.scale
    filled = [bucket for bucket in reversed(bucket_range) if bucket_rows[bucket]]
    rows = int(bucket_rows[bucket_range.start : bucket_range.stop].sum())

    def make_sorter() -> Callable[[int], DescendingRows]:
        scratch = Scratch()

        def sort(number: int) -> DescendingRows:
            bucket = filled[number]
            if reduction.weighted:
                return buckets.sort_weighted_bucket(bucket)
            return buckets.sort_bucket(bucket, int(bucket_rows[bucket]), scratch)

        return sort

    n_threads = reduction.n_threads
    descending = DescendingRange(for_each(len(filled), make_sorter, n_threads if rows > SERIAL_ROWS else 1))

    def add_to_batch(number: int) -> None:
        batch, weights = batches[number], sweep.weight_cache.weights_of(number)
        if scale is None:
            batch.add(CountedRange(descending, weights, batch.positions()))
        elif only_totals:
            batch.add_totals(WeightedRange(descending, weights, scale, []).totals)
        else:
            batch.add(WeightedRange(descending, weights, scale, batch.positions()))

    for_each(len(batches), lambda: add_to_batch, n_threads if rows > FEW_ROWS else 1)


def sweep_large_bucket(
    sweep: DescendingSweep, ranged: BlockStore, bucket: int, batches: list[ReplicateBatch], only_totals: bool
) -> None:
    """Add a bucket that is too large to be loaded to all batches: a tie in one step, else finer buckets."""
    source = PartitionPair.of_bucket(ranged, bucket)
    keys = source.key_range()
    if keys.is_tie:
        key = np.array([keys.low], np.dtype(f"u{ranged.types[KEY].itemsize}"))
        for batch, totals in zip(batches, totals_of_tie(sweep, source, bucket), strict=True):
            if only_totals:
                batch.add_totals(totals)
            else:
                batch.add(TiedRange(key, totals, sweep.scale is not None))
        return
    inner = sweep.reduction._replace(source=source, output=Output(0, 0))
    blocks = source.block_readers([*inner.names(), UNIT_BUCKET])
    splitter = source.split(keys)
    finer = BlockStore(2 * splitter.n_buckets, ranged.budget)
    try:
        fill_buckets(inner, finer, splitter, blocks, unit_buckets_of=lambda columns: columns[UNIT_BUCKET])
        inner_sweep = sweep._replace(reduction=inner, advance=None)
        sweep_store(inner_sweep, finer, range(splitter.n_buckets), batches, only_totals)
    finally:
        finer.close()


def totals_of_tie(sweep: DescendingSweep, source: PartitionPair, bucket: int) -> list[list[ClassTotals]]:
    """The totals in every replicate of every batch of a tie that is too large to be loaded, block by block."""
    cache, ranged, scale = sweep.weight_cache, source.store, sweep.scale
    counts = count_unit_buckets(ranged, range(bucket, bucket + 1), cache.n_unit_buckets)
    weights = [cache.weights_of(number) for number in range(cache.n_batches)]
    rows = [totals_of_counts(counts, own) for own in weights]
    if scale is None:
        return rows
    sums = [WeightedTotals(own, scale) for own in weights]
    for block in source.block_readers([label_name(0), WEIGHT, UNIT_BUCKET]):
        labels, row_weights, codes = block.load().values()
        codes = np.where(labels, codes | score_replicates.POSITIVE_FLAG, codes).astype(np.uint16)
        for own in sums:
            own.add(DescendingRows(codes, row_weights=row_weights))
    return [own.totals(of_batch) for own, of_batch in zip(sums, rows, strict=True)]


def count_unit_buckets(ranged: BlockStore, buckets: range, n_unit_buckets: int) -> np.ndarray:
    """Rows of each class that every unit bucket has in some score buckets: int64[n_unit_buckets, 2]."""
    counts = np.zeros((n_unit_buckets, 2), np.int64)
    for block, offsets in ranged.block_offsets(2 * buckets.start, 2 * buckets.stop):
        if offsets[-1] == offsets[0]:
            continue
        unit_buckets = BlockReader(ranged, [UNIT_BUCKET], block).load_rows(offsets[0], offsets[-1])[UNIT_BUCKET]
        bounds = np.array(offsets, np.int64) - offsets[0]
        score_replicates.count_unit_buckets(unit_buckets, bounds, counts)
    return counts


def replicate_weight_scale(reduction: RangeReduction) -> WeightScale | None:
    """The scale for the weights of rows that may occur MAX_WEIGHT times; None without weights."""
    if not reduction.weighted:
        return None
    span = WeightSpan()
    for block in reduction.source.block_readers([WEIGHT]):
        span = merge_spans(span, span_of(block.load()[WEIGHT]))
    return scale_of(span._replace(rows=MAX_WEIGHT * span.rows))
