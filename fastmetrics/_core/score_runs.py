"""States of score statistics: rows are put into buckets of neighbouring scores, counted, and merged in score order.

Rows that were spilled go to a second spill file in the order of their buckets, and come back run by run. A bucket that
is too large for the memory allowed is cut again; a single tie is never cut and never loaded: its counts say all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.blocks import Block, BlockStore, Room, WholeBlock, reordered
from fastmetrics._core.by_score import (
    KEY,
    MAX_BUCKETS,
    SAMPLE,
    RangeScratch,
    ScoreBuckets,
    Splitter,
    cut_at,
    order_by_score,
    ordered_keys,
    scores_of_keys,
    split_scores,
    split_slices,
)  # fmt: skip
from fastmetrics._core.histogram import ScoreHistogram
from fastmetrics._core.parallel import for_each
from fastmetrics._core.rows import (
    SERIAL_ROWS,
    SLICE,
    WEIGHT,
    Columns,
    Scratch,
    View,
    block_bounds,
    label_name,
    score_name,
)
from fastmetrics._core.weighted import WeightScale, WeightSpan, merge_spans, scale_of, span_of
from fastmetrics._kernels import partition, sums

SAMPLE_RUN = 64  # scores that are read together for a sample of spilled blocks
SAMPLED_BLOCKS = 256
LARGE_TIE = 1 << 20  # rows of a bucket from which it is worth a look whether they all have one score


class ClassTotals(NamedTuple):
    """Rows of each class, and their weights times 2**EXPONENT where rows have weights."""

    negatives: int
    positives: int
    negative_weight: int = 0
    positive_weight: int = 0

    def plus(self, other: ClassTotals) -> ClassTotals:
        return ClassTotals(*(one + two for one, two in zip(self, other, strict=True)))


class ScoreStatistic(Protocol):
    """What a statistic of the exchange by score offers. A state is that of a range of scores; ranges merge in order."""

    needs_totals: bool  # of all ranges, to make the state of one

    def empty(self) -> Any: ...

    def counter(
        self, buckets: ScoreBuckets, totals: Callable[[int], ClassTotals], scale: WeightScale | None
    ) -> Callable[[int], Any]:
        """One thread's way from a bucket's number to its state. `totals(bucket)`: of all rows the bucket is part of."""
        ...

    def bounds(self, histogram: ScoreHistogram) -> tuple[Any, Any]:
        """States whose values certainly have the exact value between them."""
        ...

    def tie(self, own: ClassTotals, totals: ClassTotals, has_weights: bool) -> Any:
        """The state of rows that all have one score."""
        ...

    def merge(self, low: Any, high: Any, totals: ClassTotals) -> Any:
        """The state of two neighbouring ranges together."""
        ...


class Source(Protocol):
    """Rows for the exchange: blocks to be loaded by name of their columns, and the memory they may take."""

    room: Room | None

    @property
    def in_memory(self) -> bool: ...

    def whole_blocks(self, names: list[str]) -> Sequence[Any]: ...


class ScoreWork(NamedTuple):
    """What to resolve: one view of a source, and the statistics wanted of it."""

    source: Source
    view: View
    weighted: bool
    statistics: Sequence[ScoreStatistic]
    n_threads: int

    def names(self) -> list[str]:
        weight = [WEIGHT] if self.weighted else []
        return [label_name(self.view.label), score_name(self.view.score), *weight]


Advance = Callable[[int], None]
States = dict[tuple[Any, int | None], Any]  # by statistic and slice


class Known(NamedTuple):
    """What is known of all rows where those at hand are only a range of them: totals of every slice, and the scale."""

    totals: list[ClassTotals]
    scale: WeightScale | None


def resolve_scores(
    work: ScoreWork,
    n_slices: int = 0,
    spare: Sequence[np.ndarray] = (),
    advance: Advance | None = None,
    known: Known | None = None,
) -> States:
    """The states of all rows (slice None), or with n_slices those of every slice.

    `spare` is memory of eight bytes a row that nobody needs any more, block by block.
    """
    names = work.names() + ([SLICE] if n_slices else [])
    blocks = work.source.whole_blocks(names)
    rows = sum(block.rows for block in blocks)
    splitter = split_rows(work, blocks, rows, n_slices)
    totals, scale = survey(work, n_slices) if known is None else known
    ranged = BlockStore(2 * splitter.n_buckets, None if work.source.in_memory else work.source.room)
    try:
        fill(work, ranged, splitter, blocks, bool(n_slices), spare)
        by_class = ranged.partition_rows.reshape(-1, 2).tolist()
        if not work.weighted and known is None:
            totals = add_up(by_class, splitter, n_slices)
        slice_of_bucket = [0] * splitter.n_buckets
        for own in range(n_slices):
            for bucket in splitter.buckets_of_slice(own):
                slice_of_bucket[bucket] = own
        counted = count_buckets(work, ranged, lambda bucket: totals[slice_of_bucket[bucket]], scale, advance)
    finally:
        ranged.close()
    states: States = {}
    numbers: Sequence[int | None] = range(n_slices) if n_slices else [None]
    for statistic in work.statistics:
        for number in numbers:
            buckets = range(splitter.n_buckets) if number is None else splitter.buckets_of_slice(number)
            filled = [counted[statistic][bucket] for bucket in buckets if sum(by_class[bucket])]
            if not filled:
                continue  # a slice without rows: its state is empty, with weights or without
            states[statistic, number] = fold(statistic, filled, totals[number or 0])
    return states


def fold(statistic: ScoreStatistic, states: Sequence[Any], totals: ClassTotals) -> Any:
    """One state of those of neighbouring ranges, in ascending order."""
    if not states:
        return statistic.empty()
    merged = states[0]
    for state in states[1:]:
        merged = statistic.merge(merged, state, totals)
    return merged


def merge_buckets(statistic: ScoreStatistic, buckets: ScoreBuckets, totals: ClassTotals, n_threads: int) -> Any:
    """The state of all buckets, which are those of all rows; without weights."""
    states: list[Any] = [None] * buckets.n_buckets

    def make_worker() -> Callable[[int], None]:
        counter = statistic.counter(buckets, lambda bucket: totals, None)

        def count(bucket: int) -> None:
            states[bucket] = counter(bucket)

        return count

    for_each(buckets.n_buckets, make_worker, n_threads)
    return fold(statistic, states, totals)


def store_of(columns: Columns) -> BlockStore:
    """Columns in memory as a source: views of them, block by block."""
    store = BlockStore(1)
    arrays = columns.arrays()
    for start, stop in block_bounds(columns.rows):
        own = {name: array[start:stop] for name, array in arrays.items()}
        store.add(Block(own, np.array([0, stop - start], np.int32)), True)
    return store


def split_rows(work: ScoreWork, blocks: Sequence[WholeBlock], rows: int, n_slices: int) -> Splitter:
    """Cuts for the rows at hand, from a sample of them."""
    score = score_name(work.view.score)
    step = max(1, rows // SAMPLE)
    wanted = [score, SLICE] if n_slices else [score]
    pieces = []
    for block in work.source.whole_blocks(wanted):
        if work.source.in_memory:
            pieces.append([column[::step] for column in block.load().values()])
        else:
            # Neighbours in a spilled block have nothing to do with each other's scores: a short run is a fair sample.
            n = min(block.rows, max(SAMPLE_RUN, block.rows // step))
            pieces.append(list(block.load_part((block.rows - n) // 2, (block.rows - n) // 2 + n).values()))
    sample = [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
    room = work.source.room
    # Buckets of spilled rows come back by runs; there should be several in one.
    most_rows = None if work.source.in_memory or room is None else max(1, room.run_bytes // 32)
    if n_slices:
        return split_slices(sample[0], sample[1], rows, n_slices, most_rows)
    return split_scores(sample[0], rows, most_rows)


def survey(work: ScoreWork, n_slices: int) -> tuple[list[ClassTotals], WeightScale | None]:
    """Rows and weights of every slice (of all rows, without slices), and the scale for all weights."""
    if not work.weighted:
        return [], None
    names = [label_name(work.view.label), WEIGHT] + ([SLICE] if n_slices else [])
    n = max(1, n_slices)
    states = exact.new_states(n, 2)
    counts = np.zeros((n, 2), np.int64)
    span = WeightSpan()
    for block in work.source.whole_blocks(names):
        labels, weights, *slices = block.load().values()
        span = merge_spans(span, span_of(weights))
        starts = np.array([0, labels.shape[0]], np.int64)
        if n_slices:
            starts = np.empty(n + 1, np.int64)
            order = np.empty(labels.shape[0], np.uint32)
            partition.order_by_slice(slices[0], starts, order)
            labels, weights = reordered(labels, order), reordered(weights, order)
        for number in np.flatnonzero(starts[1:] > starts[:-1]).tolist():
            part = slice(*starts[number : number + 2])
            positives = np.count_nonzero(labels[part])
            counts[number] += (part.stop - part.start - positives, positives)
            sums.sum_where(labels[part], weights[part], states[number, 1])
            sums.sum_where(labels[part] ^ 1, weights[part], states[number, 0])
    totals = [
        ClassTotals(*counts[number].tolist(), *(exact.to_integer(state) for state in states[number]))
        for number in range(n)
    ]
    return totals, scale_of(span)


def add_up(by_class: list[list[int]], splitter: Splitter, n_slices: int) -> list[ClassTotals]:
    """Rows of every slice from those of the buckets."""
    ranges = [splitter.buckets_of_slice(number) for number in range(n_slices)] or [range(splitter.n_buckets)]
    return [
        ClassTotals(sum(by_class[bucket][0] for bucket in own), sum(by_class[bucket][1] for bucket in own))
        for own in ranges
    ]


def fill(
    work: ScoreWork,
    ranged: BlockStore,
    splitter: Splitter,
    blocks: Sequence[Any],
    sliced: bool,
    spare: Sequence[np.ndarray],
) -> None:
    """Every block in the order of its buckets."""
    most_rows = max(block.rows for block in blocks)
    rows = sum(block.rows for block in blocks)

    def make_worker() -> Callable[[int], None]:
        scratch = RangeScratch(most_rows)
        reused = Scratch()

        def order(unit: int) -> None:
            columns = blocks[unit].load()
            labels, scores = (columns[name] for name in work.names()[:2])
            width = scores.dtype.itemsize + (8 if work.weighted else 0)
            held = ranged.reserve(labels.shape[0] * width + 8 * splitter.n_buckets)

            def take(name: str, dtype: np.dtype, length: int) -> np.ndarray:
                if name == KEY and spare:
                    return spare[unit].view(dtype)[:length]
                return np.empty(length, dtype) if held else reused.take(name, dtype, length)

            slices = columns[SLICE] if sliced else None
            block = order_by_score(splitter, labels, scores, slices, columns.get(WEIGHT), scratch, take)
            ranged.add(block, held)

        return order

    for_each(len(blocks), make_worker, work.n_threads if rows > SERIAL_ROWS else 1)


def count_buckets(
    work: ScoreWork,
    ranged: BlockStore,
    totals: Callable[[int], ClassTotals],
    scale: WeightScale | None,
    advance: Advance | None,
) -> dict[Any, dict[int, Any]]:
    """The state of every bucket that has rows, for every statistic."""
    counted: dict[Any, dict[int, Any]] = {statistic: {} for statistic in work.statistics}
    bucket_rows = ranged.partition_rows.reshape(-1, 2).sum(1)
    if not ranged.spilled:
        buckets = ScoreBuckets(ranged.held)
        count_ties(work, ranged, totals, counted)

        def make_worker() -> Callable[[int], None]:
            counters = [(statistic, statistic.counter(buckets, totals, scale)) for statistic in work.statistics]

            def count(bucket: int) -> None:
                for statistic, counter in counters:
                    if bucket not in counted[statistic]:
                        counted[statistic][bucket] = counter(bucket)
                if advance is not None:
                    advance(int(bucket_rows[bucket]))

            return count

        for_each(ranged.n_partitions // 2, make_worker, work.n_threads)
        return counted
    room = ranged.room
    most_rows = max(1, (room.run_bytes if room is not None else 1 << 62) // ranged.row_bytes)
    runs = list(ranged.runs(most_rows * ranged.row_bytes, 2))
    large = [start for start, _ in runs if int(bucket_rows[start // 2]) > 2 * most_rows]
    runs = [run for run in runs if run[0] not in large]

    def make_run_worker() -> Callable[[int], None]:
        scratch = Scratch()

        def count(unit: int) -> None:
            start, stop = runs[unit]
            first = start // 2
            run = ranged.load(list(ranged.types), start, stop, scratch)
            buckets = ScoreBuckets(run.blocks())
            for statistic in work.statistics:
                counter = statistic.counter(buckets, lambda bucket: totals(first + bucket), scale)
                for bucket in range(buckets.n_buckets):
                    counted[statistic][first + bucket] = counter(bucket)
            if advance is not None:
                advance(int(run.bounds[-1]))

        return count

    for_each(len(runs), make_run_worker, work.n_threads)
    for start in large:
        bucket = start // 2
        for statistic, state in large_bucket(work, ranged, bucket, totals(bucket), scale).items():
            counted[statistic][bucket] = state
        if advance is not None:
            advance(int(bucket_rows[bucket]))
    return counted


def count_ties(
    work: ScoreWork, ranged: BlockStore, totals: Callable[[int], ClassTotals], counted: dict[Any, dict[int, Any]]
) -> None:
    """Large buckets of a single score: their counts say all, and nothing need be copied together."""
    by_class = ranged.partition_rows.reshape(-1, 2)
    for bucket in np.flatnonzero(by_class.sum(1) > LARGE_TIE).tolist():
        source = BucketSource(ranged, bucket)
        low, high = key_range(source)
        if low == high:
            own = own_totals(work, source, *by_class[bucket].tolist())
            for statistic in work.statistics:
                counted[statistic][bucket] = statistic.tie(own, totals(bucket), work.weighted)


def own_totals(work: ScoreWork, source: BucketSource, negatives: int, positives: int) -> ClassTotals:
    if not work.weighted:
        return ClassTotals(negatives, positives)
    return survey(work._replace(source=source, view=View(0, 0)), 0)[0][0]


def key_range(source: BucketSource) -> tuple[int, int]:
    """The least and the greatest key of a bucket."""
    low, high = 1 << 64, -1
    for block in source.whole_blocks([score_name(0)]):
        keys = ordered_keys(block.load()[score_name(0)])
        low, high = min(low, int(keys.min())), max(high, int(keys.max()))
    return low, high


class BucketSource:
    """The rows of one bucket as a source of their own: to be cut again."""

    in_memory = False

    def __init__(self, ranged: BlockStore, bucket: int) -> None:
        self.ranged = ranged
        self.bucket = bucket
        self.room = ranged.room

    def whole_blocks(self, names: list[str]) -> list[BucketBlock]:
        counts = [
            (block, offsets[0], offsets[2] - offsets[0], offsets[1] - offsets[0])
            for block, offsets in self.ranged.block_offsets(2 * self.bucket, 2 * self.bucket + 2)
        ]
        return [BucketBlock(self.ranged, names, *own) for own in counts if own[2]]


class BucketBlock(NamedTuple):
    """A bucket's rows of one block."""

    ranged: BlockStore
    names: list[str]
    block: Any
    first: int
    rows: int
    negatives: int

    def load(self) -> dict[str, np.ndarray]:
        return self.load_part(0, self.rows)

    def load_part(self, start: int, stop: int) -> dict[str, np.ndarray]:
        weights = [WEIGHT] if WEIGHT in self.names else []
        whole = WholeBlock(self.ranged, [KEY, *weights], self.block)
        columns = whole.load_part(self.first + start, self.first + stop)
        labels = (np.arange(start, stop) >= self.negatives).astype(np.uint8)
        known = {label_name(0): labels, score_name(0): scores_of_keys(columns[KEY])}
        if weights:
            known[WEIGHT] = np.ascontiguousarray(columns[WEIGHT])
        return {name: known[name] for name in self.names}


def large_bucket(
    work: ScoreWork, ranged: BlockStore, bucket: int, totals: ClassTotals, scale: WeightScale | None
) -> dict[Any, Any]:
    """The states of a bucket that is too large to be loaded."""
    source = BucketSource(ranged, bucket)
    inner = work._replace(source=source, view=View(0, 0))
    low, high = key_range(source)
    negatives, positives = ranged.partition_rows[2 * bucket : 2 * bucket + 2].tolist()
    if low == high:
        own = own_totals(work, source, negatives, positives)
        return {statistic: statistic.tie(own, totals, work.weighted) for statistic in work.statistics}
    blocks = source.whole_blocks(inner.names())
    splitter = cut_finely(inner, low, high, negatives + positives, ranged)
    finer = BlockStore(2 * splitter.n_buckets, ranged.room)
    try:
        fill(inner, finer, splitter, blocks, False, ())
        counted = count_buckets(inner, finer, lambda _: totals, scale, None)
    finally:
        finer.close()
    return {
        statistic: fold(statistic, [counted[statistic][own] for own in sorted(counted[statistic])], totals)
        for statistic in work.statistics
    }


def cut_finely(work: ScoreWork, low: int, high: int, rows: int, ranged: BlockStore) -> Splitter:
    """Cuts at the quantiles of a sample, around its heaviest tie, and in the middle: every cut makes the range smaller,
    whatever the scores."""
    pieces = []
    blocks = work.source.whole_blocks([score_name(0)])
    sampled = blocks[:: -(-len(blocks) // SAMPLED_BLOCKS)]
    for block in sampled:
        n_places = max(1, SAMPLE // (SAMPLE_RUN * len(sampled)))
        for place in np.linspace(0, block.rows - 1, n_places).astype(np.int64).tolist():
            stop = min(block.rows, place + SAMPLE_RUN)
            pieces.append(ordered_keys(block.load_part(place, stop)[score_name(0)]))
    keys = np.sort(np.concatenate(pieces))
    share = max(1, (ranged.room.run_bytes if ranged.room is not None else 1 << 26) // ranged.row_bytes)
    n_buckets = max(2, min(MAX_BUCKETS, 4 * rows // share))
    quantiles = keys[np.arange(1, n_buckets) * len(keys) // n_buckets]
    values, counts = np.unique(keys, return_counts=True)
    heaviest = int(values[counts.argmax()])
    chosen = {int(cut) for cut in quantiles} | {heaviest, heaviest + 1, low + (high - low + 1) // 2}
    cuts = np.array(sorted(cut for cut in chosen if low < cut <= high), keys.dtype)
    return cut_at([cuts])


