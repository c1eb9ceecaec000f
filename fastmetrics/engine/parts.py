"""States of a part of the rows, for engines that move rows themselves: what a part leaves behind, and how parts merge.

Whoever moves the rows sees to it that what an exchange wants is together: all rows of a group for statistics by group,
all rows of a range of scores for those by score. No row travels beyond its part.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.blocks import Block as StoredBlock
from fastmetrics._core.blocks import BlockStore, Room, reordered
from fastmetrics._core.by_score import ordered_keys
from fastmetrics._core.rows import SLICE, WEIGHT, Columns, View, label_name, score_name
from fastmetrics._core.score_runs import Known, ScoreWork, fold, resolve_scores
from fastmetrics._core.steps import NOTHING, ClassTotals, Place
from fastmetrics._core.weighted import WeightSpan, merge_spans, scale_of, span_of
from fastmetrics._kernels import partition, sums
from fastmetrics.engine.columns import Block, ColumnNames
from fastmetrics.engine.intervals import Replicates, finalise_all
from fastmetrics.engine.part_samples import Drawing, sample_part, walk_store, whole_columns
from fastmetrics.engine.plan import Plan
from fastmetrics.engine.resolve import States, empty_state, resolve
from fastmetrics.engine.scan import Scan, split_by_slice
from fastmetrics.engine.slices import SliceNumbers, SliceValues

WHOLE = -1  # the range of a piece whose score column is to be seen as a whole
PIECE_ROWS = 1 << 22  # rows that are cut into ranges together

# A statistic, the number of a view, and the values of a slice (None: all rows).
PartKey = tuple[Any, int, SliceValues | None]
# A label and a score column by number, and the values of a slice (None: all rows).
RangeKey = tuple[int, int, SliceValues | None]


class RangeTotals(NamedTuple):
    """Rows and weights of each class in every range of scores that has some, by its number; the span of all weights."""

    ranges: dict[RangeKey, dict[int, ClassTotals]]
    span: WeightSpan

    def merge(self, other: RangeTotals) -> RangeTotals:
        ranges = {key: dict(own) for key, own in self.ranges.items()}
        for key, theirs in other.ranges.items():
            own = ranges.setdefault(key, {})
            for number, totals in theirs.items():
                own[number] = own[number].plus(totals) if number in own else totals
        return RangeTotals(ranges, merge_spans(self.span, other.span))

    def place(self, key: RangeKey, number: int) -> Place:
        """All rows of a slice, and those above a range."""
        totals = above = NOTHING
        for own, counts in self.ranges.get(key, {}).items():
            totals = totals.plus(counts)
            above = above.plus(counts) if own > number else above
        return Place(totals, above)


NO_TOTALS = RangeTotals({}, WeightSpan())


class Piece(NamedTuple):
    """Rows of one range of one score column; what they hold of slices is numbered by `slices`."""

    score: int
    number: int
    slices: list[SliceValues]
    columns: dict[str, np.ndarray]


class Part(NamedTuple):
    """What is left of a part: how many rows it had, and the states of what was asked for.

    A part that is a range of scores has its number.
    """

    rows: int
    dropped: dict[str, int]
    seen: tuple[int, ...]
    slices: list[SliceValues]
    states: dict[PartKey, Any]
    totals: RangeTotals
    number: int = 0
    samples: dict[PartKey, Any] | None = None


def scan_part(
    plan: Plan,
    names: ColumnNames,
    on_invalid: str,
    batches: Iterable[Any],
    room: Room | None,
    cuts: Sequence[Sequence[float]] = (),
    once: bool = True,
    drawing: Drawing | None = None,
) -> Iterator[Part | Piece]:
    """Statistics without an exchange, and those by group, of a part that holds all rows of its groups.

    With `cuts`, ascending scores for every score column, the rows follow as pieces of the ranges between them; or, if
    the rows are not to be seen `once` only, the ranges are counted. With a `drawing`, the part has replicates, and rows
    of score columns follow with their units.
    """
    without_ranges = plan._replace(statistics=plan.statistics | {"score": ()})
    scan = Scan(plan if cuts and (once or drawing) else without_ranges, names, on_invalid, None, room)
    totals = NO_TOTALS
    try:
        first_row = 0
        for batch in batches:
            scan.prepare(batch)
            block = scan.reader.read(batch, first_row)
            first_row += batch.num_rows
            scan.take(block)
            if not once and block.columns is not None:
                totals = totals.merge(count_ranges(block.columns, scan, cuts))
            scan.note(block)
        if scan.rows == 0:
            return
        scan.plan = without_ranges
        part = part_of(scan, resolve(scan, 1, None, last=drawing is None).found, totals)
        if drawing is not None and scan.kept:
            part = part._replace(samples=by_values(scan, sample_part(scan, drawing)))
        yield part
        for number, own in enumerate(cuts if once else ()):
            yield from cut_rows(scan, number, own)
        for number in range(len(cuts) if drawing is not None else 0):
            for columns in whole_columns(scan, number):
                yield Piece(number, WHOLE, scan.reader.slices.values(), columns)
    finally:
        scan.close()


def scan_again(
    plan: Plan,
    names: ColumnNames,
    on_invalid: str,
    batches: Iterable[Any],
    room: Room | None,
    cuts: Sequence[Sequence[float]],
) -> Iterator[Piece]:
    """Only the pieces of ranges, of a part whose ranges were counted before."""
    only = plan._replace(statistics={"none": (), "group": (), "score": plan.statistics["score"]})
    scan = Scan(only, names._replace(unit=None), on_invalid, None, room)
    try:
        first_row = 0
        for batch in batches:
            block = scan.reader.read(batch, first_row)
            first_row += batch.num_rows
            scan.take(block._replace(keys=None))
            scan.note(block)
        for number, own in enumerate(cuts):
            yield from cut_rows(scan, number, own)
    finally:
        scan.close()


def range_numbers(scores: np.ndarray, cuts: Sequence[float]) -> np.ndarray:
    """The range that each score is in."""
    edges = ordered_keys(np.array(cuts, scores.dtype))
    numbers: np.ndarray = np.searchsorted(edges, ordered_keys(scores), "right").astype(np.uint16)
    return numbers


def cut_rows(scan: Scan, score: int, cuts: Sequence[float]) -> Iterator[Piece]:
    """The rows of one score column, range by range; a few million at a time."""
    names = [label_name(number) for number in range(len(scan.names.labels))] + [score_name(score)]
    names += [WEIGHT] if scan.names.weight is not None else []
    names += [SLICE] if scan.names.by else []
    values = scan.reader.slices.values()
    blocks = deque(scan.source().whole_blocks(names))
    while blocks:
        loaded = []
        rows = 0
        while blocks and rows < PIECE_ROWS:
            rows += blocks[0].rows
            loaded.append(blocks.popleft().load())
        if rows == 0:
            continue
        columns = {name: np.concatenate([own[name] for own in loaded]) for name in names}
        scores = columns[score_name(score)]
        ranges = range_numbers(scores, cuts)
        starts = np.empty(len(cuts) + 2, np.int64)
        destinations = np.empty(rows, np.uint32)
        partition.order_by_slice(ranges, starts, destinations)
        moved = {name: reordered(column, destinations) for name, column in columns.items()}
        moved[score_name(0)] = moved.pop(score_name(score))
        for number in np.flatnonzero(starts[1:] > starts[:-1]).tolist():
            where = slice(*starts[number : number + 2].tolist())
            yield Piece(score, number, values, {name: column[where] for name, column in moved.items()})


class Ranges:
    """Pieces of ranges that meet: all pieces of a range, of some ranges. `totals` are those of all ranges, if known."""

    def __init__(
        self, plan: Plan, names: ColumnNames, room: Room | None, totals: RangeTotals, drawing: Drawing | None = None
    ) -> None:
        self.plan = plan
        self.names = names
        self.room = room
        self.totals = totals
        self.drawing = drawing
        self.stores: dict[tuple[int, int], tuple[BlockStore, SliceNumbers]] = {}

    def add(self, piece: Piece) -> None:
        key = (piece.score, piece.number)
        if key not in self.stores:
            self.stores[key] = BlockStore(1, self.room), SliceNumbers(self.names.by)
        store, slices = self.stores[key]
        columns = dict(piece.columns)
        if SLICE in columns:
            columns[SLICE] = slices.number_of(piece.slices)[columns[SLICE]]
        block = StoredBlock(columns, np.array([0, columns[score_name(0)].shape[0]], np.int32))
        store.add(block, store.reserve(block.n_bytes()))

    def parts(self) -> Iterator[tuple[int, Part]]:
        """The number of the score column, and the states of a range of it."""
        statistics = self.plan.statistics["score"]
        is_weighted = self.names.weight is not None
        for (score, number), (store, slices) in self.stores.items():
            values = slices.values()
            rows = int(store.partition_rows.sum())
            if number == WHOLE and self.drawing is not None:
                walked = walk_store(store, self.plan, self.names, self.drawing, values)
                yield score, Part(rows, {}, (), values, {}, NO_TOTALS, WHOLE, walked)
                store.close()
                continue
            found = {}
            for label in range(len(self.names.labels)):
                work = ScoreWork(store, View(label, 0), is_weighted, statistics, 1)
                for wanted in ([None], values) if values else ([None],):
                    known = self.known(label, score, number, wanted)
                    n_slices = len(wanted) if wanted is values else 0
                    for (statistic, place), state in resolve_scores(work, n_slices, known=known).items():
                        found[statistic, label, None if place is None else values[place]] = state
            yield score, Part(rows, {}, (), values, found, NO_TOTALS, number)
            store.close()

    def known(
        self, label: int, score: int, number: int, values: Sequence[SliceValues | None]
    ) -> Known | None:
        """What is known of the slices a range has, where ranges were counted before."""
        if not self.totals.ranges:
            return None
        places = [self.totals.place((label, score, own), number) for own in values]
        scale = scale_of(self.totals.span) if self.names.weight is not None else None
        return Known([own.totals for own in places], [own.above for own in places], scale)


def needs_place(plan: Plan) -> bool:
    """Have ranges to be counted before a statistic can make the state of one?"""
    return any(statistic.needs_place for statistic in plan.statistics["score"])


def count_ranges(columns: Columns, scan: Scan, cuts: Sequence[Sequence[float]]) -> RangeTotals:
    """Rows and weights of the classes in every range of a block."""
    values = scan.reader.slices.values()
    parts: list[tuple[SliceValues | None, Columns]] = [(None, columns)]
    if columns.slices is not None:
        parts += [(values[number], part) for number, part in split_by_slice(columns, columns.slices)]
    found: dict[RangeKey, dict[int, ClassTotals]] = {}
    for own, part in parts:
        for score, scores in enumerate(part.scores):
            ranges = range_numbers(scores, cuts[score])
            for label, labels in enumerate(part.labels):
                n_classes = 2 * (len(cuts[score]) + 1)
                classes = 2 * ranges + labels
                starts = np.empty(n_classes + 1, np.int64)
                destinations = np.empty(part.rows, np.uint32)
                partition.order_by_slice(classes, starts, destinations)
                weights = [0] * n_classes
                if part.weights is not None:
                    states = exact.new_states(n_classes)
                    sums.sum_runs(reordered(part.weights, destinations), starts, states)
                    weights = [exact.to_integer(state) for state in states]
                rows = np.diff(starts).tolist()
                found[label, score, own] = {
                    number: ClassTotals(*rows[2 * number : 2 * number + 2], *weights[2 * number : 2 * number + 2])
                    for number in np.unique(ranges).tolist()
                }
    return RangeTotals(found, WeightSpan() if columns.weights is None else span_of(columns.weights))


def part_of(scan: Scan, found: dict[Any, Any], totals: RangeTotals) -> Part:
    """What is left of a part: states keyed by the values of slices instead of their numbers."""
    values = scan.reader.slices.values()
    return Part(scan.rows, scan.dropped, tuple(scan.seen), values, by_values(scan, found), totals)


def by_values(scan: Scan, found: dict[Any, Any]) -> dict[PartKey, Any]:
    values = scan.reader.slices.values()
    return {
        (statistic, view, None if number is None else values[number]): state
        for (statistic, view, number), state in found.items()
    }


class Merger:
    """Parts together: what a scan of all rows would have found."""

    def __init__(self, plan: Plan, names: ColumnNames, on_invalid: str) -> None:
        self.scan = Scan(plan, names, on_invalid, None)
        self.states = States()
        self.totals = NO_TOTALS
        self.samples: dict[tuple[Any, int, int | None], Any] = {}
        self.statistics = {statistic for own in plan.statistics.values() for statistic in own}

    def add_parts(self, parts: list[Part]) -> None:
        """Parts of scan_part, in any order; together they are all rows."""
        self.count(parts)
        for part in parts:
            self.totals = self.totals.merge(part.totals)
            for key, state in part.states.items():
                if key[0] not in self.statistics:
                    # What a statistic needs may be found elsewhere where parts are made: then it is not the same one.
                    raise ValueError(
                        f"a part was counted by {key[0]!r}; here there are {', '.join(map(repr, self.statistics))}"
                    )
                own = self.number(key)
                if own not in self.states.found:
                    self.states.found[own] = empty_state(key[0])
                self.states.found[own].merge(state)
            for key, sampled in (part.samples or {}).items():
                own = self.number(key)
                if own in self.samples:
                    self.samples[own].merge(sampled)
                else:
                    self.samples[own] = sampled

    def count(self, parts: list[Part]) -> None:
        """The rows of parts that together are all rows."""
        for part in parts:
            self.scan.reader.slices.number_of(part.slices)
            none = (None,) * len(part.seen)
            self.scan.note(Block(None, None, part.rows, part.dropped, part.seen, none))

    def add_ranges(self, parts: list[Part], score: int) -> None:
        """Parts that together are all ranges of score column number `score`."""
        for part in parts:
            for (statistic, label, values), walked in (part.samples or {}).items():
                view = self.scan.views.index(View(label, score))
                self.samples[self.number((statistic, view, values))] = walked
        in_order = sorted((part for part in parts if part.number != WHOLE), key=lambda part: part.number)
        ranges: dict[PartKey, list[Any]] = {}
        for part in in_order:
            for (statistic, label, values), state in part.states.items():
                view = self.scan.views.index(View(label, score))
                ranges.setdefault((statistic, view, values), []).append(state)
        for key, states in ranges.items():
            statistic, view, values = key
            place = self.totals.place((self.scan.views[view].label, score, values), 0)
            self.states.found[self.number(key)] = fold(statistic, states, place.totals)

    def replicates(self, drawing: Drawing) -> Replicates:
        """Of all metrics, when all parts are here."""
        resampling = drawing.resampling
        values = finalise_all(self.scan, self.samples, resampling.replicates) if self.scan.kept else {}
        return Replicates(values, drawing.lots, resampling)

    def number(self, key: PartKey) -> tuple[Any, int, int | None]:
        statistic, view, values = key
        return statistic, view, None if values is None else self.scan.reader.slices.numbers[values]
