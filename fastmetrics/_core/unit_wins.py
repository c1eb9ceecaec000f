"""Which units (days, users) one model does better in than another, by metrics that are made of sums over rows.

A unit's own value is what the metric's finaliser makes of the unit's state, which is what resampling weighs where every
lot is a unit. All rows of a unit are in one partition, so units are done with partition by partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.blocks import BlockStore
from fastmetrics._core.by_group import HASH
from fastmetrics._core.counted_rows import CountedRows
from fastmetrics._core.group_wins import GOODNESS, Wins
from fastmetrics._core.lots import Lots
from fastmetrics._core.parallel import for_each
from fastmetrics._core.registry import Metric
from fastmetrics._core.replicates import LOADED_BYTES, LotTable, RowPlan, add_parts, by_lot, runs_of_rows, sample_run
from fastmetrics._core.rows import LABEL, SCORE, SLICE, WEIGHT, Scratch, View
from fastmetrics._core.statistic import Sums

WinKey = tuple[Metric, int, int | None]  # number of the view, slice (None: all rows)


class UnitSums:
    """The state of every unit, in the place of the states of replicates."""

    def __init__(self, statistic: Any) -> None:
        template = statistic.new()
        self.width = int(template.counts.size + template.exact.size)
        self.states: dict[int, Sums] = {}

    def add(self, weights: Any, numbers: np.ndarray, table: LotTable) -> None:
        """Add states, or parts of them, of the units of these numbers."""
        for place, number in enumerate(numbers.tolist()):
            if number in self.states:
                self.states[number].merge(table.state(place))
            else:
                own = self.states[number] = Sums(0, 0)
                own.counts, own.exact = table.counts[place].copy(), table.exact[place].copy()


class OnlyLots(NamedTuple):
    """What cuts rows by lot, without any draws."""

    lots: Lots


class UnitStates:
    """The states of the units of some partitions, for every statistic, view and slice."""

    def __init__(self, lots: Lots) -> None:
        self.weights = OnlyLots(lots)
        self.found: dict[tuple[Any, int, int | None], UnitSums] = {}

    def sampled(self, *key: Any) -> UnitSums:
        if key not in self.found:
            self.found[key] = UnitSums(key[0])
        return self.found[key]

    def values(self, metric: Metric, view: int, number: int | None) -> np.ndarray:
        """The metric of every unit."""
        states = [self.found[own, view, number].states for own in metric.statistics()]
        values = [metric.finalise(*(own[unit] for own in states)).value for unit in states[0]]
        return np.array(values, np.float64)


def count_unit_wins(
    store: BlockStore, metrics: Sequence[Metric], plan: RowPlan, lots: Lots, n_threads: int
) -> dict[WinKey, Wins]:
    """Units won, lost and tied by (metric, view, slice), of every view but the first of its label.

    Every lot has to be a unit; the store has the hash of every row's unit.
    """
    names = [name for name in store.types if name in (HASH, WEIGHT, SLICE) or name.startswith((LABEL, SCORE))]
    room = store.room
    run_bytes = LOADED_BYTES if room is None or room.given is None else min(LOADED_BYTES, room.run_bytes)
    runs = [list(own) for _, own in groupby(runs_of_rows(store, run_bytes), lambda run: run[:2])]
    own: list[dict[WinKey, Wins]] = []

    def make_worker() -> Callable[[int], None]:
        mine: dict[WinKey, Wins] = {}
        own.append(mine)
        scratch = Scratch()

        def work(unit: int) -> None:
            states = UnitStates(lots)
            for start, stop, blocks in runs[unit]:
                sample_run(store.load(names, start, stop, scratch, blocks).columns, plan, states)  # type: ignore[arg-type]
            for key, wins in compared(states, metrics, plan.views):
                mine.setdefault(key, Wins()).merge(wins)

        return work

    for_each(len(runs), make_worker, n_threads)
    merged: dict[WinKey, Wins] = {}
    for mine in own:
        for key, wins in mine.items():
            merged.setdefault(key, Wins()).merge(wins)
    return merged


def count_counted_wins(
    counted: CountedRows, metrics: Sequence[Metric], views: Sequence[View], n_slices: int, lots: Lots
) -> dict[WinKey, Wins]:
    """The same of rows that are no numbers, by what was counted of each."""
    wanted = {own for metric in metrics for own in metric.statistics()}
    states = UnitStates(lots)
    for (statistic, view), blocks in counted.blocks.items():
        if statistic not in wanted:
            continue
        hashes, slices, rows = (np.concatenate(own) for own in zip(*blocks, strict=True))
        numbers = lots.numbers(hashes)
        for number in (None, *range(n_slices)):
            where = slice(None) if number is None else slices == number
            order, own, starts = by_lot(numbers[where])
            moved = rows[where][order]

            def part(start: int, stop: int, moved: np.ndarray = moved) -> np.ndarray:
                return moved[start:stop]

            sampled: Any = states.sampled(statistic, view, number)
            add_parts(sampled, statistic, statistic.add, states.weights, own, starts, part)  # type: ignore[arg-type]
    return dict(compared(states, metrics, views))


def compared(states: UnitStates, metrics: Sequence[Metric], views: Sequence[View]) -> Iterator[tuple[WinKey, Wins]]:
    """Every model against the first of its label, by the values of single units."""
    slices = dict.fromkeys(number for _, _, number in states.found)
    for number in slices:
        for metric in metrics:
            firsts: dict[int, np.ndarray] = {}
            for place, view in enumerate(views):
                values = states.values(metric, place, number)
                if view.label not in firsts:
                    firsts[view.label] = values
                    continue
                wins = Wins()
                wins.count(firsts[view.label], values, metric.spec.best)
                yield (metric, place, number), wins


def has_unit_values(metric: Metric) -> bool:
    """Is the metric made of sums over rows, and is one value of it better than another?

    Of rows of one unit a partition of all rows says nothing.
    """
    return metric.spec.exchange == "none" and metric.spec.best in GOODNESS and metric.spec.target != "partition"
