"""States of score statistics: rows are put into buckets of neighbouring scores, counted, and merged in score order.

Rows that were spilled go to a second spill file in the order of their buckets, and come back run by run. A bucket that
is too large for the memory allowed is cut again; a single tie is never cut and never loaded: its counts say all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.blocks import Block, BlockStore, Room, WholeBlock, reordered
from fastmetrics._core.by_score import (
    KEY,
    LOT,
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
from fastmetrics._core.steps import (
    NOTHING,
    UNIT_BUCKETS,
    ClassTotals,
    Place,
    StepMaker,
    Steps,
    cut_units,
    steps_of_tie,
)  # fmt: skip
from fastmetrics._core.weighted import WeightedRows, WeightScale, WeightSpan, merge_spans, scale_of, span_of
from fastmetrics._kernels import partition, sums

SAMPLE_RUN = 64  # scores that are read together for a sample of spilled blocks
SAMPLED_BLOCKS = 256
LARGE_TIE = 1 << 20  # rows of a bucket from which it is worth a look whether they all have one score


class ScoreStatistic(Protocol):
    """What a statistic of the exchange by score offers. A state is that of a range of scores; ranges merge in order.

    One that can be counted faster than by steps, where nobody else needs those, has a `counter` besides.
    """

    needs_place: bool  # to make the state of a range: the totals of all rows, and how many are above
    needs_positives: bool  # steps have to be at the scores of positives, even if they are the commoner class

    def empty(self) -> Any: ...

    def of_steps(self, steps: Steps, place: Place) -> Any:
        """The state of a range without weights."""
        ...

    def of_weighted(self, rows: WeightedRows, place: Place) -> Any:
        """The state of a range with weights."""
        ...

    def of_weighted_tie(self, score: float, own: ClassTotals, place: Place) -> Any:
        """The state of rows with weights that all have one score."""
        ...

    def bounds(self, histogram: ScoreHistogram) -> tuple[Any, Any]:
        """States whose values certainly have the exact value between them. None in its place: there are none."""
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
Counted = dict[Any, dict[int, Any]]  # by statistic: the state of a run of buckets, by its first bucket


class Known(NamedTuple):
    """What is known of all rows where those at hand are only a range of them, slice by slice; the scale of weights."""

    totals: list[ClassTotals]
    above: list[ClassTotals]
    scale: WeightScale | None


class Places:
    """Where every bucket stands among the rows of its slice.

    Parameters
    ----------
    rows : ndarray of shape (n_buckets, 2)
        Rows of each bucket by class.
    weights : list of (int, int), or None
        The same in weights times 2**EXPONENT, where somebody needs it.
    ranges : list of range
        The buckets of every slice.
    known : Known
        The totals of slices, and what is above all these buckets.
    """

    def __init__(
        self, rows: np.ndarray, weights: list[tuple[int, int]] | None, ranges: list[range], known: Known
    ) -> None:
        self.rows = rows
        self.known = known
        self.ranges = ranges
        self.slice_of = np.repeat(np.arange(len(ranges)), [len(own) for own in ranges])
        self.above_rows = np.zeros((rows.shape[0], 2), np.int64)
        self.above_weights = [(0, 0)] * rows.shape[0]
        for own in ranges:
            place = slice(own.start, own.stop)
            self.above_rows[place] = rows[place][::-1].cumsum(0)[::-1] - rows[place]
            if weights is not None:
                above = (0, 0)
                for bucket in reversed(own):
                    self.above_weights[bucket] = above
                    above = above[0] + weights[bucket][0], above[1] + weights[bucket][1]

    def of(self, start: int, stop: int) -> Place:
        """The place of a run of buckets of one slice."""
        number = int(self.slice_of[start])
        negatives, positives = self.above_rows[stop - 1].tolist()
        above = ClassTotals(negatives, positives, *self.above_weights[stop - 1])
        return Place(self.known.totals[number], above.plus(self.known.above[number]))

    def units(
        self, without: Collection[int] = (), size: int = UNIT_BUCKETS, within: range | None = None
    ) -> list[tuple[int, int]]:
        """Runs of neighbouring buckets of one slice, those with rows; some buckets may be left out."""
        pieces = []
        everything = within or range(self.rows.shape[0])
        for own in self.ranges:
            own = range(max(own.start, everything.start), min(own.stop, everything.stop))
            start = own.start
            for bucket in sorted(bucket for bucket in without if bucket in own):
                pieces.append(range(start, bucket))
                start = bucket + 1
            pieces.append(range(start, own.stop))
        return [unit for unit in cut_units(pieces, size) if self.rows[unit[0] : unit[1]].any()]


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
    ranges = [splitter.buckets_of_slice(number) for number in range(n_slices)] or [range(splitter.n_buckets)]
    totals, scale = survey(work, n_slices) if known is None else (known.totals, known.scale)
    ranged = BlockStore(2 * splitter.n_buckets, None if work.source.in_memory else work.source.room)
    try:
        fill(work, ranged, splitter, blocks, bool(n_slices), spare)
        by_class = ranged.partition_rows.reshape(-1, 2).astype(np.int64)
        if known is None:
            known = Known(totals or add_up(by_class, ranges), [NOTHING] * len(ranges), scale)
        weights = weigh_buckets(work, ranged)
        counted = count_buckets(work, ranged, Places(by_class, weights, ranges, known), advance)
    finally:
        ranged.close()
    states: States = {}
    for statistic in work.statistics:
        own_states = sorted(counted[statistic].items())
        for number, own in enumerate(ranges):
            filled = [state for start, state in own_states if start in own]
            if filled:  # else a slice without rows: its state is empty, with weights or without
                states[statistic, number if n_slices else None] = fold(statistic, filled, known.totals[number])
    return states


def fold(statistic: ScoreStatistic, states: Sequence[Any], totals: ClassTotals) -> Any:
    """One state of those of neighbouring ranges, in ascending order."""
    if not states:
        return statistic.empty()
    merged = states[0]
    for state in states[1:]:
        merged = statistic.merge(merged, state, totals)
    return merged


def sweep_buckets(statistics: Sequence[ScoreStatistic], buckets: ScoreBuckets, n_threads: int) -> dict[Any, Any]:
    """The states of all buckets, which are those of all rows; without weights."""
    ranges = [range(buckets.n_buckets)]
    by_class = buckets.class_counts()
    totals = add_up(by_class, ranges)
    places = Places(by_class, None, ranges, Known(totals, [NOTHING], None))
    counted: Counted = {statistic: {} for statistic in statistics}
    count_units(statistics, buckets, places, places.units(), counted, None, n_threads)
    return {
        statistic: fold(statistic, [state for _, state in sorted(counted[statistic].items())], totals[0])
        for statistic in statistics
    }


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


def add_up(by_class: np.ndarray, ranges: list[range]) -> list[ClassTotals]:
    """Rows of every slice from those of the buckets."""
    return [ClassTotals(*by_class[own.start : own.stop].sum(0).tolist()) for own in ranges]


def weigh_buckets(work: ScoreWork, ranged: BlockStore) -> list[tuple[int, int]] | None:
    """The weights of each class in every bucket, exactly, where a statistic needs them."""
    if not work.weighted or not any(statistic.needs_place for statistic in work.statistics):
        return None
    states = exact.new_states(ranged.n_partitions)
    for block, offsets in ranged.block_offsets(0, ranged.n_partitions):
        weights = WholeBlock(ranged, [WEIGHT], block).load()[WEIGHT]
        sums.sum_runs(weights, np.array(offsets, np.int64), states)
    totals = [exact.to_integer(state) for state in states]
    return list(zip(totals[::2], totals[1::2], strict=True))


def fill(
    work: ScoreWork,
    ranged: BlockStore,
    splitter: Splitter,
    blocks: Sequence[Any],
    sliced: bool,
    spare: Sequence[np.ndarray],
    lots_of: Callable[[dict[str, np.ndarray]], np.ndarray] | None = None,
) -> None:
    """Every block in the order of its buckets; with the lots of its rows where replicates are wanted."""
    most_rows = max(block.rows for block in blocks)
    rows = sum(block.rows for block in blocks)

    def make_worker() -> Callable[[int], None]:
        scratch = RangeScratch(most_rows)
        reused = Scratch()

        def order(unit: int) -> None:
            columns = blocks[unit].load()
            labels, scores = (columns[name] for name in work.names()[:2])
            lots = None if lots_of is None else lots_of(columns)
            width = scores.dtype.itemsize + (8 if work.weighted else 0) + (0 if lots is None else lots.itemsize)
            held = ranged.reserve(labels.shape[0] * width + 8 * splitter.n_buckets)

            def take(name: str, dtype: np.dtype, length: int) -> np.ndarray:
                if name == KEY and spare:
                    return spare[unit].view(dtype)[:length]
                return np.empty(length, dtype) if held else reused.take(name, dtype, length)

            slices = columns[SLICE] if sliced else None
            block = order_by_score(splitter, labels, scores, slices, columns.get(WEIGHT), scratch, take, lots)
            ranged.add(block, held)

        return order

    for_each(len(blocks), make_worker, work.n_threads if rows > SERIAL_ROWS else 1)


def count_buckets(work: ScoreWork, ranged: BlockStore, places: Places, advance: Advance | None) -> Counted:
    """The states of all buckets that have rows, for every statistic."""
    counted: Counted = {statistic: {} for statistic in work.statistics}
    if not ranged.spilled:
        count_ties(work, ranged, places, counted)
        known = set(next(iter(counted.values())))
        units = places.units(known, 1 if work.weighted else UNIT_BUCKETS)
        count_units(work.statistics, ScoreBuckets(ranged.held), places, units, counted, advance, work.n_threads)
        return counted
    bucket_rows = places.rows.sum(1)
    room = ranged.room
    most_rows = max(1, (room.run_bytes if room is not None else 1 << 62) // ranged.row_bytes)
    runs = list(ranged.runs(most_rows * ranged.row_bytes, 2))
    large = [start for start, _ in runs if int(bucket_rows[start // 2]) > 2 * most_rows]
    runs = [run for run in runs if run[0] not in large]

    def make_run_worker() -> Callable[[int], None]:
        scratch = Scratch()

        def count(unit: int) -> None:
            first, stop = runs[unit][0] // 2, runs[unit][1] // 2
            run = ranged.load(list(ranged.types), *runs[unit], scratch)
            own = places.units(size=1 if work.weighted else UNIT_BUCKETS, within=range(first, stop))
            count_units(work.statistics, ScoreBuckets(run.blocks()), places, own, counted, advance, 1, first)

        return count

    for_each(len(runs), make_run_worker, work.n_threads)
    for start in large:
        bucket = start // 2
        for statistic, state in large_bucket(work, ranged, bucket, places).items():
            counted[statistic][bucket] = state
        if advance is not None:
            advance(int(bucket_rows[bucket]))
    return counted


def count_units(
    statistics: Sequence[ScoreStatistic],
    buckets: ScoreBuckets,
    places: Places,
    units: list[tuple[int, int]],
    counted: Counted,
    advance: Advance | None,
    n_threads: int,
    first: int = 0,
) -> None:
    """The states of runs of buckets; `first` is the number that bucket 0 of those at hand has among all."""

    def make_worker() -> Callable[[int], None]:
        make = state_maker(statistics, buckets, places, units, first)

        def count(number: int) -> None:
            start, stop = units[number]
            for statistic, state in zip(statistics, make(start, stop), strict=True):
                counted[statistic][start] = state
            if advance is not None:
                advance(int(places.rows[start:stop].sum()))

        return count

    for_each(len(units), make_worker, n_threads)


def state_maker(
    statistics: Sequence[ScoreStatistic],
    buckets: ScoreBuckets,
    places: Places,
    units: list[tuple[int, int]],
    first: int,
) -> Callable[[int, int], list[Any]]:
    """One thread's way from a run of buckets to its states."""
    weights, scale = buckets.weights, places.known.scale
    if weights is not None and scale is not None:

        def make_weighted(start: int, stop: int) -> list[Any]:
            negatives, positives = (
                (buckets.of_class(buckets.keys, start - first, label), buckets.of_class(weights, start - first, label))
                for label in (0, 1)
            )
            rows = WeightedRows(negatives, positives, scale)
            return [statistic.of_weighted(rows, places.of(start, stop)) for statistic in statistics]

        return make_weighted
    if len(statistics) == 1 and hasattr(statistics[0], "counter"):
        counter = statistics[0].counter(buckets)

        def make_alone(start: int, stop: int) -> list[Any]:
            states = [counter(bucket - first) for bucket in range(start, stop)]
            return [fold(statistics[0], states, NOTHING)]

        return make_alone
    at_positives = any(statistic.needs_positives for statistic in statistics)
    negatives, positives = places.rows.sum(0).tolist()
    pivot = 1 if at_positives or positives <= negatives else 0
    maker = StepMaker(buckets, pivot, [(start - first, stop - first) for start, stop in units])

    def make_steps(start: int, stop: int) -> list[Any]:
        steps = maker.make(start - first, stop - first)
        return [statistic.of_steps(steps, places.of(start, stop)) for statistic in statistics]

    return make_steps


def count_ties(work: ScoreWork, ranged: BlockStore, places: Places, counted: Counted) -> None:
    """Large buckets of a single score: their counts say all, and nothing need be copied together."""
    for bucket in np.flatnonzero(places.rows.sum(1) > LARGE_TIE).tolist():
        source = BucketSource(ranged, bucket)
        low, high = key_range(source)
        if low == high:
            for statistic, state in tie_states(work, source, low, places, bucket).items():
                counted[statistic][bucket] = state


def tie_states(work: ScoreWork, source: BucketSource, key: int, places: Places, bucket: int) -> dict[Any, Any]:
    """The states of a bucket whose rows all have one score."""
    place = places.of(bucket, bucket + 1)
    own = own_totals(work, source, *places.rows[bucket].tolist())
    keys = np.array([key], np.dtype(f"u{source.ranged.types[KEY].itemsize}"))
    if work.weighted:
        score = float(scores_of_keys(keys)[0])
        return {statistic: statistic.of_weighted_tie(score, own, place) for statistic in work.statistics}
    steps = steps_of_tie(keys, own)
    return {statistic: statistic.of_steps(steps, place) for statistic in work.statistics}


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
        others = [name for name in (WEIGHT, LOT) if name in self.names]
        whole = WholeBlock(self.ranged, [KEY, *others], self.block)
        columns = whole.load_part(self.first + start, self.first + stop)
        labels = (np.arange(start, stop) >= self.negatives).astype(np.uint8)
        known = {label_name(0): labels, score_name(0): scores_of_keys(columns[KEY])}
        for name in others:
            known[name] = np.ascontiguousarray(columns[name])
        return {name: known[name] for name in self.names}


def large_bucket(work: ScoreWork, ranged: BlockStore, bucket: int, places: Places) -> dict[Any, Any]:
    """The states of a bucket that is too large to be loaded."""
    source = BucketSource(ranged, bucket)
    inner = work._replace(source=source, view=View(0, 0))
    low, high = key_range(source)
    if low == high:
        return tie_states(inner, source, low, places, bucket)
    place = places.of(bucket, bucket + 1)
    blocks = source.whole_blocks(inner.names())
    splitter = cut_finely(inner, low, high, int(places.rows[bucket].sum()), ranged)
    finer = BlockStore(2 * splitter.n_buckets, ranged.room)
    try:
        fill(inner, finer, splitter, blocks, False, ())
        by_class = finer.partition_rows.reshape(-1, 2).astype(np.int64)
        known = Known([place.totals], [place.above], places.known.scale)
        within = Places(by_class, weigh_buckets(inner, finer), [range(splitter.n_buckets)], known)
        counted = count_buckets(inner, finer, within, None)
    finally:
        finer.close()
    return {
        statistic: fold(statistic, [state for _, state in sorted(counted[statistic].items())], place.totals)
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


