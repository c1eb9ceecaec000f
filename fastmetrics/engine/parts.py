"""States of a part of the rows, for engines that move rows themselves: what a part leaves behind, and how parts merge.

Whoever moves the rows sees to it that what an exchange wants is together: all rows of a group for statistics by group,
all rows of a range of scores for those by score. No row travels beyond its part.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.blocks import Room
from fastmetrics._core.by_score import ordered_keys
from fastmetrics._core.rows import Columns, View, score_name
from fastmetrics._core.score_runs import ClassTotals, Known, ScoreWork, fold, resolve_scores
from fastmetrics._core.weighted import WeightSpan, merge_spans, scale_of, span_of
from fastmetrics._kernels import sums
from fastmetrics.engine.columns import Block, ColumnNames
from fastmetrics.engine.plan import Plan
from fastmetrics.engine.resolve import States, empty_state, resolve
from fastmetrics.engine.scan import Scan, split_by_slice
from fastmetrics.engine.slices import SliceValues

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
    plan: Plan, names: ColumnNames, on_invalid: str, batches: Iterable[Any], room: Room | None
) -> Part | None:
    """Statistics without an exchange, and those by group, of a part that holds all rows of its groups.

    None where there are no rows.
    """
    scan = Scan(plan._replace(statistics=plan.statistics | {"score": ()}), names, on_invalid, None, room)
    totals = NO_TOTALS
    try:
        first_row = 0
        for batch in batches:
            scan.prepare(batch)
            block = scan.reader.read(batch, first_row)
            first_row += batch.num_rows
            scan.take(block)
            if plan.needs("score") and block.columns is not None:
                totals = totals.merge(count_classes(block.columns, scan))
            scan.note(block)
        if scan.rows == 0:
            return None
        states = resolve(scan, 1, None)
        return part_of(scan, states.found, totals)
    finally:
        scan.close()


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
    only = plan._replace(statistics={"none": (), "group": (), "score": plan.statistics["score"]})
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
            work = ScoreWork(source, view, names.weight is not None, plan.statistics["score"], 1)
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
