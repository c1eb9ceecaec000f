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
from fastmetrics._core.score_runs import ClassTotals, Known, ScoreWork, fold, resolve_scores
from fastmetrics._core.weighted import WeightSpan, merge_spans, scale_of, span_of
from fastmetrics._kernels import partition, sums
from fastmetrics.engine.columns import Block, ColumnNames
from fastmetrics.engine.plan import Plan
from fastmetrics.engine.resolve import States, empty_state, resolve
from fastmetrics.engine.scan import Scan, split_by_slice
from fastmetrics.engine.slices import SliceNumbers, SliceValues

PIECE_ROWS = 1 << 22  # rows that are cut into ranges together

# A statistic, the number of a view, and the values of a slice (None: all rows).
PartKey = tuple[Any, int, SliceValues | None]
# The number of a label, and the values of a slice (None: all rows).
TotalsKey = tuple[int, SliceValues | None]


class Totals(NamedTuple):
    """Rows and weights of each class, for every label and slice, and the span of all weights."""

    classes: dict[TotalsKey, ClassTotals]
    span: WeightSpan

    def merge(self, other: Totals) -> Totals:
        classes = dict(self.classes)
        for key, own in other.classes.items():
            classes[key] = classes[key].plus(own) if key in classes else own
        return Totals(classes, merge_spans(self.span, other.span))


NO_TOTALS = Totals({}, WeightSpan())


class Piece(NamedTuple):
    """Rows of one range of one score column; what they hold of slices is numbered by `slices`."""

    score: int
    number: int
    slices: list[SliceValues]
    columns: dict[str, np.ndarray]


class Part(NamedTuple):
    """What is left of a part: how many rows it had, and the states of what was asked for.

    `first_key` is where the part's scores begin, as an ordered integer.
    """

    rows: int
    dropped: dict[str, int]
    seen: tuple[int, ...]
    slices: list[SliceValues]
    states: dict[PartKey, Any]
    totals: Totals
    first_key: int = 0


def scan_part(
    plan: Plan,
    names: ColumnNames,
    on_invalid: str,
    batches: Iterable[Any],
    room: Room | None,
    cuts: Sequence[Sequence[float]] = (),
) -> Iterator[Part | Piece]:
    """Statistics without an exchange, and those by group, of a part that holds all rows of its groups.

    With `cuts`, ascending scores for every score column, the rows follow as pieces of the ranges between them.
    """
    without_ranges = plan._replace(statistics=plan.statistics | {"score": ()})
    scan = Scan(plan if cuts else without_ranges, names, on_invalid, None, room)
    totals_wanted = len(countable(plan)) < len(plan.statistics["score"])
    totals = NO_TOTALS
    try:
        first_row = 0
        for batch in batches:
            scan.prepare(batch)
            block = scan.reader.read(batch, first_row)
            first_row += batch.num_rows
            scan.take(block)
            if totals_wanted and block.columns is not None:
                totals = totals.merge(count_classes(block.columns, scan))
            scan.note(block)
        if scan.rows == 0:
            return
        scan.plan = without_ranges
        yield part_of(scan, resolve(scan, 1, None).found, totals)
        for number, own in enumerate(cuts):
            yield from cut_rows(scan, number, own)
    finally:
        scan.close()


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
        edges = ordered_keys(np.array(cuts, scores.dtype))
        ranges = np.searchsorted(edges, ordered_keys(scores), "right").astype(np.uint16)
        starts = np.empty(len(cuts) + 2, np.int64)
        destinations = np.empty(rows, np.uint32)
        partition.order_by_slice(ranges, starts, destinations)
        moved = {name: reordered(column, destinations) for name, column in columns.items()}
        moved[score_name(0)] = moved.pop(score_name(score))
        for number in np.flatnonzero(starts[1:] > starts[:-1]).tolist():
            where = slice(*starts[number : number + 2].tolist())
            yield Piece(score, number, values, {name: column[where] for name, column in moved.items()})


class Ranges:
    """Pieces of ranges that meet: all pieces of a range, of some ranges."""

    def __init__(self, plan: Plan, names: ColumnNames, room: Room | None) -> None:
        self.plan = plan
        self.names = names
        self.room = room
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
        statistics = countable(self.plan)
        for (score, number), (store, slices) in self.stores.items():
            values = slices.values()
            found = {}
            for label in range(len(self.names.labels)):
                work = ScoreWork(store, View(label, 0), self.names.weight is not None, statistics, 1)
                for n_slices in (0, len(values)) if values else (0,):
                    for (statistic, place), state in resolve_scores(work, n_slices).items():
                        found[statistic, label, None if place is None else values[place]] = state
            yield score, Part(0, {}, (), values, found, NO_TOTALS, number)
            store.close()


def countable(plan: Plan) -> list[Any]:
    """Score statistics whose ranges can be counted without knowing the others."""
    return [statistic for statistic in plan.statistics["score"] if not statistic.needs_totals]


def count_classes(columns: Columns, scan: Scan) -> Totals:
    """Rows and weights of the classes in a block."""
    values = scan.reader.slices.values()
    parts: list[tuple[SliceValues | None, Columns]] = [(None, columns)]
    if columns.slices is not None:
        parts += [(values[number], part) for number, part in split_by_slice(columns, columns.slices)]
    found: dict[TotalsKey, ClassTotals] = {}
    for own, part in parts:
        for number, labels in enumerate(part.labels):
            positives = int(np.count_nonzero(labels))
            weights = [0, 0]
            if part.weights is not None:
                for label, chosen in enumerate((labels ^ 1, labels)):
                    state = exact.new_states()
                    sums.sum_where(chosen, part.weights, state)
                    weights[label] = exact.to_integer(state)
            found[number, own] = ClassTotals(part.rows - positives, positives, *weights)
    return Totals(found, WeightSpan() if columns.weights is None else span_of(columns.weights))


def scan_range(
    plan: Plan, names: ColumnNames, on_invalid: str, batches: Iterable[Any], room: Room | None, totals: Totals
) -> Part | None:
    """Statistics by score of a part that holds all rows of a range of the first score column.

    Totals are those of all parts; there may be none if no statistic needs them. Other columns that are named are only
    looked at for what makes a row invalid. States are numbered by label.
    """
    statistics = tuple(statistic for statistic in plan.statistics["score"] if statistic.needs_totals)
    only = plan._replace(statistics={"none": (), "group": (), "score": statistics})
    scan = Scan(only, names, on_invalid, None, room)
    try:
        first_row = 0
        for batch in batches:
            block = scan.reader.read(batch, first_row)
            first_row += batch.num_rows
            scan.take(block)
            scan.note(block)
        if scan.rows == 0:
            return None
        if scan.kept == 0:
            return part_of(scan, {}, NO_TOTALS)
        source = scan.source()
        blocks = source.whole_blocks([score_name(0)])
        first_key = min(int(ordered_keys(block.load()[score_name(0)]).min()) for block in blocks)
        values = scan.reader.slices.values()
        found = {}
        for view in (View(number, 0) for number in range(len(names.labels))):
            work = ScoreWork(source, view, names.weight is not None, statistics, 1)
            for n_slices in (0, len(values)) if values else (0,):
                known = None
                if totals.classes:
                    keys: list[SliceValues | None] = [*values] if n_slices else [None]
                    own = [totals.classes.get((view.label, key), ClassTotals(0, 0)) for key in keys]
                    known = Known(own, scale_of(totals.span) if names.weight is not None else None)
                for (statistic, place), state in resolve_scores(work, n_slices, known=known).items():
                    found[statistic, view.label, place] = state
        return part_of(scan, found, NO_TOTALS, first_key)
    finally:
        scan.close()


def part_of(scan: Scan, found: dict[Any, Any], totals: Totals, first_key: int = 0) -> Part:
    """States keyed by the values of slices instead of their numbers."""
    values = scan.reader.slices.values()
    states = {
        (statistic, view, None if number is None else values[number]): state
        for (statistic, view, number), state in found.items()
    }
    return Part(scan.rows, scan.dropped, tuple(scan.seen), values, states, totals, first_key)


class Merger:
    """Parts together: what a scan of all rows would have found."""

    def __init__(self, plan: Plan, names: ColumnNames, on_invalid: str) -> None:
        self.scan = Scan(plan, names, on_invalid, None)
        self.states = States()
        self.totals = NO_TOTALS

    def add_parts(self, parts: list[Part]) -> None:
        """Parts of scan_part, in any order; together they are all rows."""
        self.count(parts)
        for part in parts:
            self.totals = self.totals.merge(part.totals)
            for key, state in part.states.items():
                own = self.number(key)
                if own not in self.states.found:
                    self.states.found[own] = empty_state(key[0])
                self.states.found[own].merge(state)

    def count(self, parts: list[Part]) -> None:
        """The rows of parts that together are all rows."""
        for part in parts:
            self.scan.reader.slices.number_of(part.slices)
            none = (None,) * len(part.seen)
            self.scan.note(Block(None, None, part.rows, part.dropped, part.seen, none))

    def add_ranges(self, parts: list[Part], score: int) -> None:
        """Parts of scan_range that together are all ranges of score column number `score`."""
        in_order = sorted(parts, key=lambda part: part.first_key)
        ranges: dict[PartKey, list[Any]] = {}
        for part in in_order:
            for (statistic, label, values), state in part.states.items():
                view = self.scan.views.index(View(label, score))
                ranges.setdefault((statistic, view, values), []).append(state)
        for key, states in ranges.items():
            statistic, view, values = key
            totals = self.totals.classes.get((self.scan.views[view].label, values), ClassTotals(0, 0))
            self.states.found[self.number(key)] = fold(statistic, states, totals)

    def number(self, key: PartKey) -> tuple[Any, int, int | None]:
        statistic, view, values = key
        return statistic, view, None if values is None else self.scan.reader.slices.numbers[values]
