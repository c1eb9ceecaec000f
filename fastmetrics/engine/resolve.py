"""After the scan: the exchanges are resolved, and every statistic has its final state for every view and slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock, get_ident
from typing import Any

import numpy as np

from fastmetrics._core.blocks import HEAD, TAIL
from fastmetrics._core.by_group import HASH
from fastmetrics._core.group_runs import GroupPlan, GroupStates, reduce_groups
from fastmetrics._core.score_runs import ScoreWork, resolve_scores
from fastmetrics.engine.feed import Progress
from fastmetrics.engine.plan import Plan
from fastmetrics.engine.scan import Scan, StateKey


class States:
    """The final states of all statistics, for every view and slice; what a slice lacks is empty."""

    def __init__(self) -> None:
        self.found: dict[StateKey, Any] = {}

    def of(self, statistics: tuple[Any, ...], view: int, number: int | None) -> list[Any]:
        return [self.found.get((own, view, number)) or empty_state(own) for own in statistics]


def empty_state(statistic: Any) -> Any:
    """The state of no rows: additive statistics make new ones, those of score ranges have empty ones."""
    return statistic.new() if hasattr(statistic, "new") else statistic.empty()


class Counter:
    """Rows that are done, told to the caller's progress in the caller's own thread."""

    def __init__(self, progress: Progress | None, rows: int, total: int, stage: str = "resolve") -> None:
        self.progress = progress
        self.stage = stage
        self.rows = rows
        self.total = total
        self.done = 0
        self.lock = Lock()
        self.thread = get_ident()

    def advance(self, rows: int) -> None:
        with self.lock:
            self.done += rows
            done = self.done
        if self.progress is not None and get_ident() == self.thread:
            self.progress(self.stage, min(self.rows, done * self.rows // max(1, self.total)), self.rows)

    def finish(self) -> None:
        if self.progress is not None:
            self.progress(self.stage, self.rows, self.rows)


def resolve(
    scan: Scan,
    n_threads: int,
    progress: Progress | None,
    last: bool = True,
    new_states: Callable[[Sequence[Any]], Any] = GroupStates,
) -> States:
    """The states of all statistics, exchange by exchange.

    `last`: nobody will ask the scan again, so its memory may be used on the way. `new_states` makes of the tables of
    groups what is wanted beside the states themselves.
    """
    plan = scan.plan
    states = States()
    states.found.update(additive_states(scan))
    if last:
        scan.workers.clear()
        scan.idle.clear()
    n_slices = len(scan.reader.slices)
    passes = (2 if n_slices else 1) * len(scan.views) * bool(plan.statistics["score"])
    tables = by_table(plan)
    counter = Counter(progress, scan.kept, scan.kept * (len(tables) + passes))
    counter.advance(0)
    if scan.kept:
        spare: list[np.ndarray] = []
        if scan.exchange is not None:
            for statistics in tables:
                group_plan = GroupPlan(statistics, scan.views, bool(n_slices), new_states)
                states.found.update(reduce_groups(scan.exchange, group_plan, n_threads, counter.advance))
            if last:
                spare = scan.exchange.store.forget([HASH, HEAD, TAIL])
                spare = spare if scan.exchange.store.in_memory else []
        if plan.statistics["score"]:
            resolve_views(scan, states, n_slices, n_threads, spare, counter.advance)
    counter.finish()
    return states


def additive_states(scan: Scan) -> dict[StateKey, Any]:
    """The additive states of all slices, and of all rows: the sum of the slices."""
    found = dict(scan.additive().sums)
    for (statistic, view, number), state in list(found.items()):
        if number is not None:
            total = found.get((statistic, view, None))
            if total is None:
                total = found[statistic, view, None] = statistic.new()
            total.merge(state)
    return found


def by_table(plan: Plan) -> list[list[Any]]:
    """Statistics of groups that share one kind of table."""
    tables: dict[Any, list[Any]] = {}
    for statistic in plan.statistics["group"]:
        tables.setdefault(statistic.table, []).append(statistic)
    return list(tables.values())


def resolve_views(
    scan: Scan,
    states: States,
    n_slices: int,
    n_threads: int,
    spare: list[np.ndarray],
    advance: Callable[[int], None],
) -> None:
    """The exchange by score, one view after the other: all rows, then slice by slice."""
    is_weighted = scan.names.weight is not None
    for number, view in enumerate(scan.views):
        work = ScoreWork(scan.source(), view, is_weighted, scan.plan.statistics["score"], n_threads)
        for slices in (0, n_slices) if n_slices else (0,):
            for (statistic, own), state in resolve_scores(work, slices, spare, advance).items():
                states.found[statistic, number, own] = state
