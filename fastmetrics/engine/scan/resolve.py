"""After the scan: exchanges are resolved to the final state of every statistic, output and slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock, get_ident
from typing import Any

import numpy as np

from fastmetrics._core.columns.key_types import HEAD, TAIL
from fastmetrics._core.columns.slice_sets import ALL_ROWS, SliceSet, stored_slices
from fastmetrics._core.exchange.class_ranges import OutputReduction, join_states
from fastmetrics._core.exchange.group_reduction import GroupReduction, reduce_groups
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.range_reduction import RangeReduction, reduce_ranges
from fastmetrics._core.exchange.row_ranges import RowRangeReduction, reduce_row_ranges, split_statistics
from fastmetrics._core.group_accumulators import GroupAccumulators, StateKey
from fastmetrics._core.grouping import grouped
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.state import Sums
from fastmetrics._core.statistic import BySlices
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_passes import iterate_passes, passes_of, slice_sets
from fastmetrics.engine.partial.slices_and_rests import SlicesAndRests
from fastmetrics.engine.partial.slices_of_logs import SlicesOfLogs
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.scan.read_log import Progress

MOST_SLICES = 1 << 14  # whose pairs are counted in one pass: their counters fit the second-level cache


class FinalStates(NamedTuple):
    """The final states of all statistics, by statistic, output and slice."""

    by_key: dict[StateKey, Any]

    def select(self, statistics: tuple[Any, ...], output: int, slice_number: int | None) -> list[Any]:
        """The states of some statistics. A slice without rows of the output has empty states."""
        found = []
        for statistic in statistics:
            state = self.by_key.get((statistic, output, slice_number))
            found.append(statistic.empty() if state is None else state)
        return found


class ProgressCounter:
    """Counts processed rows in all threads; reports them to the caller's progress in the caller's thread only."""

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
    part: PartState,
    n_threads: int,
    progress: Progress | None,
    last: bool = True,
    new_states: Callable[[Sequence[Any]], Any] = GroupAccumulators,
    lists_all: bool = False,
) -> FinalStates:
    """The states of all statistics, exchange by exchange.

    `last`: the part is not used afterwards, so its buffers may be reused or released. `new_states` makes the
    accumulators that group tables are added to, which need groups of one class too if `lists_all`.
    """
    plan = part.plan
    states = FinalStates(merge_slices(part))
    if last:
        part.workers.clear()
        part.idle_workers.clear()
    tables = group_statistics_by_table(plan)
    by_slices, others = split_ranges(part)
    of_others = sum(len(own.slice_counts()) for own in passes_of(part.slices)) if others else 0
    passes = len(tables) + (of_others + len(by_slices)) * len(part.outputs)
    counter = ProgressCounter(progress, part.counts.rows_kept, part.counts.rows_kept * passes)
    counter.advance(0)
    if part.counts.rows_kept:
        spare: list[np.ndarray] = []
        if part.group_exchange is not None:
            for statistics in tables:
                reduction = group_reduction(part, statistics, new_states, slice_sets(part.slices), lists_all)
                states.by_key.update(reduce_groups(part.group_exchange, reduction, n_threads, counter.advance))
            if last:
                spare = part.group_exchange.store.drop_columns([HASH, HEAD, TAIL])
                spare = spare if part.group_exchange.store.in_memory else []
        resolve_slices(part, by_slices, states, n_threads, spare, counter.advance)
        if others:
            for slice_pass in iterate_passes(part):
                of_pass = FinalStates({})
                resolve_range_exchange(part, others, of_pass, n_threads, spare, counter.advance)
                states.by_key.update(slice_pass.rename(of_pass.by_key))
    counter.finish()
    return states


def merge_slices(part: PartState) -> dict[StateKey, Any]:
    """The additive states of all slices, and those of all rows, which are their sums."""
    states = dict(part.merge_additive_states().sums)
    for by_unit in part.states_by_unit:
        for key, sums in by_unit.totals().items():
            of_stored_rows = states.get(key)
            if isinstance(of_stored_rows, Sums):
                sums.merge(of_stored_rows)
            states[key] = sums
    slices = part.slices.slices if isinstance(part.slices, SlicesAndRests) else part.slices
    if slices.sets:
        add_coarser_sets(states, slices)
    if isinstance(part.slices, SlicesAndRests):
        part.slices.add_states(states)
        part.slice_counts = None if part.slice_counts is None else part.slices.with_counts(part.slice_counts)
    return states


def add_state(states: dict[StateKey, Any], key: StateKey, state: Any) -> None:
    """Add a state to that of a key, which is made at its first use."""
    total = states.get(key)
    if total is None:
        total = states[key] = key[0].empty()
    total.merge(state)


def add_coarser_sets(states: dict[StateKey, Any], sets: GroupingSets) -> None:
    """Add up the states of base sets to those of the other sets, and of all rows, which every set has once."""
    of_base = list(states.items())
    coarser, set_of_slices, bases = sets.coarser_slices(), sets.set_of_slices(), sets.base_sets()
    for (statistic, output, slice_number), state in of_base:
        if slice_number is None:
            continue
        if set_of_slices[slice_number] == bases[0]:
            add_state(states, (statistic, output, None), state)
        for numbers in coarser:
            if numbers[slice_number] >= 0:
                add_state(states, (statistic, output, int(numbers[slice_number])), state)


def group_reduction(
    part: PartState,
    statistics: Sequence[Any],
    new_states: Callable[[Sequence[Any]], Any],
    sets: Sequence[SliceSet] | None = None,
    lists_all: bool = True,
) -> GroupReduction:
    """The reduction of statistics that share one kind of table, over the groups of a part.

    `sets` are by default the slices of the current pass. Replicates need groups of one class too (`lists_all`).
    """
    sets = stored_slices(part.slice_pass.n_slices) if sets is None else sets
    texts = part.reader.key_texts if part.truth else part.reader.key_texts.rank()
    all_rows = part.slice_pass.all_rows and not isinstance(part.slices, SlicesOfLogs)  # nobody asks for both logs
    return GroupReduction(statistics, part.outputs, sets, new_states, texts, all_rows, lists_all)


def group_statistics_by_table(plan: Plan) -> list[list[Any]]:
    """Statistics of groups, in lists that share one kind of table."""
    return list(grouped((statistic.table, statistic) for statistic in plan.statistics["hash"]).values())


def split_ranges(part: PartState) -> tuple[list[Any], list[Any]]:
    """The statistics of ranges that take all slices in one pass, and those that take set after set."""
    statistics = list(part.plan.statistics["range"])
    if part.names.weight is not None or not len(part.slices):
        return [], statistics
    by_slices = [statistic for statistic in statistics if isinstance(statistic, BySlices)]
    return by_slices, [statistic for statistic in statistics if statistic not in by_slices]


def resolve_slices(
    part: PartState,
    statistics: Sequence[Any],
    states: FinalStates,
    n_threads: int,
    spare: list[np.ndarray],
    advance: Callable[[int], None],
) -> None:
    """Statistics of score ranges that take all rows and the slices of all sets in one pass."""
    for output_number, output in enumerate(part.outputs if statistics else ()):
        for statistic in statistics:
            for sets in split_sets([ALL_ROWS, *slice_sets(part.slices)]):
                own = statistic.by_slices(sets)
                reduction = RangeReduction(part.range_store(), output, False, [own], n_threads)
                found = reduce_ranges(reduction, spare=spare, advance=advance)[own, None]
                for slice_number, state in own.by_slice(found):
                    states.by_key[statistic, output_number, slice_number] = state


def split_sets(sets: Sequence[SliceSet]) -> list[list[SliceSet]]:
    """The sets of every pass: together they have at most MOST_SLICES slices, unless one alone has more."""
    parts: list[list[SliceSet]] = [[]]
    for own in sets:
        if parts[-1] and sum(other.n_slices for other in parts[-1]) + own.n_slices > MOST_SLICES:
            parts.append([])
        parts[-1].append(own)
    return parts


def resolve_range_exchange(
    part: PartState,
    all_statistics: Sequence[Any],
    states: FinalStates,
    n_threads: int,
    spare: list[np.ndarray],
    advance: Callable[[int], None],
) -> None:
    """The range exchange, one output after the other: all rows, then slice by slice."""
    is_weighted = part.names.weight is not None
    slice_pass = part.slice_pass
    statistics, row_statistics = split_statistics(all_statistics)
    for output_number, output in enumerate(part.outputs):
        if row_statistics:
            row_ranges = RowRangeReduction(
                part.range_store(), output, row_statistics, slice_pass.n_slices, n_threads, all_rows=slice_pass.all_rows
            )
            for (statistic, slice_number), state in reduce_row_ranges(row_ranges, advance).items():
                states.by_key[statistic, output_number, slice_number] = state
        if not statistics:
            continue
        reductions = OutputReduction(part.range_store(), output, is_weighted, statistics, n_threads)
        found: dict[Any, Any] = {}
        for slices in slice_pass.slice_counts():
            found |= reductions.reduce(partial(reduce_ranges, n_slices=slices, spare=spare, advance=advance))
        for (statistic, slice_number), state in join_states(statistics, reductions.n_classes, found).items():
            states.by_key[statistic, output_number, slice_number] = state
