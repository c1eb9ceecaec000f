"""Replicates of score statistics: the states they would have of a log in which units come as often as weights say.

Rows are brought into falling order of score once; then replicates walk down side by side, ABREAST at a time, each with
a weight for every lot of units (`lots.py`). A statistic that knows how to be walked offers `lanes`; of the others, and
of rows that have weights themselves, replicates are made one by one (`repeated_rows.py`). Either way a replicate's
state is the very one that the statistic has of the repeated rows, whatever the cuts, the threads and the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np

from fastmetrics._core.blocks import BlockStore, WholeBlock
from fastmetrics._core.by_group import HASH
from fastmetrics._core.by_score import KEY, LOT, ScoreBuckets, scores_of_keys
from fastmetrics._core.lots import Lots, draw
from fastmetrics._core.parallel import for_each
from fastmetrics._core.repeated_rows import OneByOne
from fastmetrics._core.rows import SERIAL_ROWS, SLICE, WEIGHT, Scratch, View, addresses, label_name
from fastmetrics._core.score_runs import (
    Advance,
    BucketSource,
    ScoreWork,
    cut_finely,
    fill,
    key_range,
    split_rows,
)  # fmt: skip
from fastmetrics._core.weighted import WeightScale, WeightSpan, merge_spans, scale_of, span_of
from fastmetrics._kernels import scorereplicates

ABREAST: int = scorereplicates.ABREAST
MOST_PIECE_ROWS = 1 << 23  # rows that are put in order before replicates walk down them
MOST_BUCKET_ROWS = 1 << 31
SHORT_ROWS = 1 << 32
MOST_ROWS = 1 << 50  # of a log: times 255, the greatest weight, they stay below 2**62
KEPT_BYTES = 1 << 26  # of weights that are kept for the next piece
KEPT_SHARE = 16  # of the memory allowed, where rows were spilled
MOST_WEIGHT = 255
FEW_ROWS = 1 << 12  # below this, ranges are put in order and walked by one thread


class LaneWeights(NamedTuple):
    """The weights of a block of replicates: of every lot (row) in every lane; those beyond the last replicate are 0."""

    table: np.ndarray
    most: int
    n: int


class LaneTotals:
    """Rows of each class in every replicate of a block, looked up when a statistic first asks."""

    def __init__(self, count: Callable[[], np.ndarray], weights: LaneWeights) -> None:
        self.count = count
        self.weights = weights
        self.known: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray:
        """int64[2, ABREAST]: negatives, positives."""
        if self.known is None:
            self.known = np.zeros((2, ABREAST), np.int64)
            scorereplicates.total_lanes(self.weights.table, self.count(), self.known)
        return self.known


    @property
    def are_short(self) -> bool:
        """Has every replicate fewer than 2**32 rows? Products of two counts then have 62 bits."""
        return int(self.rows.sum(0).max()) < SHORT_ROWS


class FallingRows(NamedTuple):
    """A bucket's rows in falling order of score: see scorelanes.h. Keys are inverted, one a row, where they are kept.

    Of rows with weights, in no order: `classes` has keys, lots and weights of negatives and of positives.
    """

    codes: np.ndarray
    segments: np.ndarray
    keys: np.ndarray | None = None
    classes: tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...] = ()


class Lanes(Protocol):
    """A block of replicates on their way down."""

    def walk(self, rows: FallingRows, weights: LaneWeights) -> None: ...

    def tie(self, keys: np.ndarray, own: np.ndarray) -> None:
        """Rows that all have one score: own[label, lane]."""
        ...

    def states(self, n: int) -> list[Any]:
        """Of the first n lanes."""
        ...


class Walk(NamedTuple):
    """What all ranges of an evaluation share."""

    work: ScoreWork
    draws: Draws
    keeps_keys: bool
    scale: WeightScale | None
    advance: Advance | None


class Draws:
    """Weights, block of replicates by block: drawn again for every piece where they are too many to be kept."""

    def __init__(self, lots: Lots, seed: int, replicates: int, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.lots = lots
        self.seed = seed
        self.replicates = replicates
        self.n_blocks = -(-replicates // ABREAST)
        self.n_lots = max(1, len(lots.keys))
        self.kept: list[LaneWeights | None] = [None] * self.n_blocks

    def of(self, block: int) -> LaneWeights:
        weights = self.kept[block]
        if weights is None:
            first = block * ABREAST
            stop = min(first + ABREAST, self.replicates)
            table = draw(self.lots, self.seed, first, first + ABREAST)
            table[:, stop - first :] = 0
            if not table.shape[0]:
                table = np.zeros((1, ABREAST), np.uint8)
            weights = LaneWeights(table, max(1, int(table.max())), stop - first)
            if self.n_blocks * table.nbytes <= self.most_bytes:
                self.kept[block] = weights
        return weights


def replicate_scores(
    work: ScoreWork,
    lots: Lots,
    seed: int,
    replicates: int,
    n_slices: int = 0,
    advance: Advance | None = None,
) -> dict[tuple[Any, int | None], list[Any]]:
    """The states of every replicate, of all rows (slice None) or with n_slices those of every slice that has rows.

    The source's blocks have the hash of every row's unit (HASH).
    """
    names = [*work.names(), HASH, *([SLICE] if n_slices else [])]
    blocks = work.source.whole_blocks(names)
    rows = sum(block.rows for block in blocks)
    if rows >= MOST_ROWS:
        raise OverflowError(f"{rows} rows are more than replicates can count")
    splitter = split_rows(work, blocks, rows, n_slices)
    ranges = [splitter.buckets_of_slice(number) for number in range(n_slices)] or [range(splitter.n_buckets)]
    ranged = BlockStore(2 * splitter.n_buckets, None if work.source.in_memory else work.source.room)
    kept = KEPT_BYTES if ranged.room is None else min(KEPT_BYTES, ranged.room.limit // KEPT_SHARE)
    draws = Draws(lots, seed, replicates, kept)
    walk = Walk(work, draws, False, scale_of_repeated(work), advance)
    states: dict[tuple[Any, int | None], list[Any]] = {}

    def numbers_of(columns: dict[str, np.ndarray]) -> np.ndarray:
        numbers = lots.numbers(columns[HASH])
        if numbers.shape[0] and int(numbers.min()) < 0:
            raise ValueError("there are units that are in no lot: lots have to be those of all rows")
        return numbers.astype(np.uint16)

    try:
        fill(work, ranged, splitter, blocks, bool(n_slices), (), numbers_of)
        for number, own in enumerate(ranges):
            for statistic, found in replicate_range(walk, ranged, own).items():
                states[statistic, number if n_slices else None] = found
    finally:
        ranged.close()
    return states


def replicate_range(walk: Walk, ranged: BlockStore, own: range) -> dict[Any, list[Any]]:
    """The states of every replicate of some buckets: all of a slice, or of all rows. None if they are empty."""
    bucket_rows = ranged.partition_rows.reshape(-1, 2).sum(1)
    if not bucket_rows[own.start : own.stop].any():
        return {}
    counted: list[np.ndarray] = []
    lock = Lock()

    def count() -> np.ndarray:
        with lock:
            if not counted:
                counted.append(count_lots(ranged, own, walk.draws.n_lots))
            return counted[0]

    lanes: list[list[Any]] = [[]] * walk.draws.n_blocks

    def make_starter() -> Callable[[int], None]:
        def start(block: int) -> None:
            lanes[block] = start_lanes(walk, count, block)

        return start

    for_each(len(lanes), make_starter, walk.work.n_threads)
    walk = walk._replace(keeps_keys=any(isinstance(one, OneByOne) for block in lanes for one in block))
    if any(one.needs_survey for block in lanes for one in block if isinstance(one, OneByOne)):
        walk_store(walk._replace(advance=None), ranged, own, lanes, True)
    walk_store(walk, ranged, own, lanes)
    states: dict[Any, list[Any]] = {}
    for place, statistic in enumerate(walk.work.statistics):
        states[statistic] = [
            state for block, row in enumerate(lanes) for state in row[place].states(walk.draws.of(block).n)
        ]
    return states


def start_lanes(walk: Walk, count: Callable[[], np.ndarray], block: int) -> list[Any]:
    """The lanes of every statistic for a block of replicates, at the top."""
    weights = walk.draws.of(block)
    totals = LaneTotals(count, weights)
    lanes = []
    for statistic in walk.work.statistics:
        found = None
        if not walk.work.weighted and hasattr(statistic, "lanes"):
            found = statistic.lanes(totals)
        lanes.append(found or OneByOne(statistic, totals, weights.n, walk.scale))
    return lanes


def walk_store(walk: Walk, ranged: BlockStore, own: range, lanes: list[list[Any]], surveys: bool = False) -> None:
    """All replicates down some buckets, from the last one on."""
    bucket_rows = ranged.partition_rows.reshape(-1, 2).sum(1)
    room = ranged.room
    in_memory = ranged.in_memory
    most_rows = MOST_PIECE_ROWS
    if not in_memory and room is not None:
        most_rows = max(1, min(most_rows, room.run_bytes // max(1, ranged.row_bytes)))
    held = BucketRows(ScoreBuckets(ranged.held), 0) if in_memory else None
    scratch = Scratch()
    for piece in cut_pieces(own, bucket_rows, most_rows):
        rows = int(bucket_rows[piece.start : piece.stop].sum())
        if held is None and rows > 2 * most_rows:
            walk_large(walk, ranged, piece.start, lanes, surveys)
        else:
            buckets = held or load_buckets(ranged, piece, scratch)
            walk_piece(walk, buckets, piece, bucket_rows, lanes, surveys)
        if walk.advance is not None:
            walk.advance(rows)


def cut_pieces(own: range, bucket_rows: np.ndarray, most_rows: int) -> Iterator[range]:
    """Runs of buckets of at most so many rows, or a single one of more, the last ones first."""
    counts = bucket_rows[own.start : own.stop].tolist()
    stop = own.stop
    while stop > own.start:
        start = stop - 1
        rows = counts[start - own.start]
        while start > own.start and rows + counts[start - 1 - own.start] <= most_rows:
            start -= 1
            rows += counts[start - own.start]
        if rows:
            yield range(start, stop)
        stop = start


class BucketRows:
    """A run of buckets in memory; `first` is the number that bucket 0 of those at hand has among all."""

    def __init__(self, buckets: ScoreBuckets, first: int) -> None:
        self.buckets = buckets
        self.first = first
        self.lots = [block.columns[LOT] for block in buckets.blocks]
        self.lot_addresses = addresses(self.lots)

    def order(self, bucket: int, rows: int, keeps_keys: bool, scratch: Scratch) -> FallingRows:
        """One bucket's rows, which it has, in falling order."""
        if rows >= MOST_BUCKET_ROWS:
            raise OverflowError(f"{rows} rows have neighbouring scores: more than a range can hold")
        buckets = self.buckets
        kernel = scorereplicates.order_bucket_u64 if buckets.double_scores else scorereplicates.order_bucket_u32
        key_type = buckets.key_type
        keys = np.empty(rows, key_type) if keeps_keys else scratch.take("keys", key_type, rows)
        codes = np.empty(rows, np.uint16)
        segments = scratch.take("segments", np.int32, rows)
        n_segments = kernel(
            buckets.addresses, self.lot_addresses, buckets.offsets, bucket - self.first, keys,
            scratch.take("other keys", key_type, rows), codes, scratch.take("other codes", np.uint16, rows),
            scratch.take("places", np.int64, scorereplicates.DIGITS), segments,
        )  # fmt: skip
        return FallingRows(codes, segments[:n_segments].copy(), keys if keeps_keys else None)

    def classes(self, bucket: int) -> FallingRows:
        """One bucket's rows with weights, as they stand."""
        buckets, own = self.buckets, bucket - self.first
        columns = (buckets.keys, self.lots, buckets.weights or [])
        found = tuple(tuple(buckets.of_class(column, own, label) for column in columns) for label in (0, 1))
        return FallingRows(np.empty(0, np.uint16), np.empty(0, np.int32), None, found)  # type: ignore[arg-type]


def load_buckets(ranged: BlockStore, piece: range, scratch: Scratch) -> BucketRows:
    run = ranged.load(list(ranged.types), 2 * piece.start, 2 * piece.stop, scratch)
    return BucketRows(ScoreBuckets(run.blocks()), piece.start)


def walk_piece(
    walk: Walk, buckets: BucketRows, piece: range, bucket_rows: np.ndarray, lanes: list[list[Any]], surveys: bool
) -> None:
    """All replicates down a run of buckets in memory: rows are put in order first, bucket by bucket."""
    filled = [bucket for bucket in reversed(piece) if bucket_rows[bucket]]
    falling: list[FallingRows | None] = [None] * len(filled)
    rows = int(bucket_rows[piece.start : piece.stop].sum())

    def make_orderer() -> Callable[[int], None]:
        scratch = Scratch()

        def order(number: int) -> None:
            bucket = filled[number]
            falling[number] = (
                buckets.classes(bucket)
                if walk.work.weighted
                else buckets.order(bucket, int(bucket_rows[bucket]), walk.keeps_keys, scratch)
            )

        return order

    def make_walker() -> Callable[[int], None]:
        def go(block: int) -> None:
            weights = walk.draws.of(block)
            for one in lanes[block]:
                if surveys:
                    one.survey(falling, weights)
                    continue
                for own in falling:
                    one.walk(own, weights)

        return go

    for_each(len(filled), make_orderer, walk.work.n_threads if rows > SERIAL_ROWS else 1)
    for_each(len(lanes), make_walker, walk.work.n_threads if rows > FEW_ROWS else 1)


def walk_large(walk: Walk, ranged: BlockStore, bucket: int, lanes: list[list[Any]], surveys: bool) -> None:
    """All replicates down a bucket that is too large to be loaded: a tie at once, everything else is cut again."""
    source = BucketSource(ranged, bucket)
    low, high = key_range(source)
    inner = walk.work._replace(source=source, view=View(0, 0))
    if low == high and walk.work.weighted:
        score = float(scores_of_keys(np.array([low], np.dtype(f"u{ranged.types[KEY].itemsize}")))[0])
        tie_weighted(walk, source, score, lanes, surveys)
        return
    if low == high:
        counts = count_lots(ranged, range(bucket, bucket + 1), walk.draws.n_lots)
        keys = np.array([low], np.dtype(f"u{ranged.types[KEY].itemsize}"))
        for block, row in enumerate(lanes):
            own = LaneTotals(lambda: counts, walk.draws.of(block)).rows
            for one in row:
                one.tie(keys, own)
        return
    blocks = source.whole_blocks([*inner.names(), LOT])
    rows = int(ranged.partition_rows[2 * bucket : 2 * bucket + 2].sum())
    splitter = cut_finely(inner, low, high, rows, ranged)
    finer = BlockStore(2 * splitter.n_buckets, ranged.room)
    try:
        fill(inner, finer, splitter, blocks, False, (), lambda columns: columns[LOT])
        walk_store(walk._replace(work=inner, advance=None), finer, range(splitter.n_buckets), lanes, surveys)
    finally:
        finer.close()


def tie_weighted(walk: Walk, source: BucketSource, score: float, lanes: list[list[Any]], surveys: bool) -> None:
    """A tie of rows with weights that is too large to be loaded: block by block."""
    for block in source.whole_blocks([label_name(0), WEIGHT, LOT]):
        labels, row_weights, lots = block.load().values()
        for number, row in enumerate(lanes):
            for one in row:
                one.add_tied(labels, row_weights, lots, walk.draws.of(number), surveys)
    if not surveys:
        for row in lanes:
            for one in row:
                one.end_tie(score)


def count_lots(ranged: BlockStore, own: range, n_lots: int) -> np.ndarray:
    """Rows of each class that every lot has in some buckets: int64[n_lots, 2]."""
    counts = np.zeros((n_lots, 2), np.int64)
    for block, offsets in ranged.block_offsets(2 * own.start, 2 * own.stop):
        if offsets[-1] == offsets[0]:
            continue
        lots = WholeBlock(ranged, [LOT], block).load_part(offsets[0], offsets[-1])[LOT]
        bounds = np.array(offsets, np.int64) - offsets[0]
        scorereplicates.count_lots(lots, bounds, counts)
    return counts


def scale_of_repeated(work: ScoreWork) -> WeightScale | None:
    """The scale for the weights of rows that may come MOST_WEIGHT times."""
    if not work.weighted:
        return None
    span = WeightSpan()
    for block in work.source.whole_blocks([WEIGHT]):
        span = merge_spans(span, span_of(block.load()[WEIGHT]))
    return scale_of(span._replace(rows=MOST_WEIGHT * span.rows))
