"""The states of additive statistics by entry of the table of units, of all rows and of slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.exchange.group_reduction import reduce_groups
from fastmetrics._core.exchange.hash_exchange import HashExchange
from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.additive_replicates import JackknifeStates, JackknifeUnits, SliceRange
from fastmetrics._core.resampling.cell_entries import CellEntries
from fastmetrics._core.resampling.entry_states import add_entries, fits_in_memory, fits_in_tables
from fastmetrics._core.resampling.group_entries import EntriesOfGroups, EntryAccumulators
from fastmetrics._core.resampling.row_replicates import RowReduction
from fastmetrics._core.statistic import ByUnit
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_passes import SlicePass
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.scan.group_units import UnitsOfGroups
from fastmetrics.engine.scan.intervals import replicate_additive, slices_of_pass, split_slices_by_memory
from fastmetrics.engine.scan.resolve import group_reduction, group_statistics_by_table


class SlicesTogether(NamedTuple):
    """The states of the entries of slices in one table; `places` are those of the slices, by default their numbers."""

    states: JackknifeStates
    places: Mapping[int | None, int] | None = None

    def of_slices(self, numbers: Sequence[int | None]) -> JackknifeStates:
        places = numbers if self.places is None else [self.places[number] for number in numbers]
        return self.states.of_slices(np.array(places, np.int64))


class EntryStates:
    """The states of additive statistics by entry of the table of units.

    `by_key`: of all rows (None), or of one slice, by statistic, output and slice. `together`: of many slices, by
    statistic and output.
    """

    def __init__(self, by_key: dict[StateKey, Any]) -> None:
        self.by_key = by_key
        self.n_cells = max((own.cells.shape[0] for own in by_key.values() if isinstance(own, CellEntries)), default=0)
        self.together: dict[tuple[Any, int], SlicesTogether] = {}

    def add_groups(self, entries: EntriesOfGroups) -> None:
        """Add the entries of groups."""
        self.by_key.update({(*key, None): own for key, own in entries.of_all_rows.items()})
        self.together.update({key: SlicesTogether(own) for key, own in entries.of_slices.items()})

    def outside(self, slice_pass: SlicePass) -> EntryStates:
        """The same with the numbers that slices have outside a pass."""
        found = EntryStates(slice_pass.rename(self.by_key))
        places = {slice_pass.outside(number): number for number in range(slice_pass.n_slices)}
        found.together = {key: SlicesTogether(own.states, places) for key, own in self.together.items()}
        return found

    def items(self) -> Iterator[tuple[StateKey, Any]]:
        """The states of all rows, and of one slice after the other."""
        yield from self.by_key.items()
        for (statistic, output), own in self.together.items():
            for number in range(own.states.n_slices) if own.places is None else own.places:
                yield (statistic, output, number), own.of_slices([number])

    def find(self, statistic: Any, output: int, numbers: Sequence[int | None], units: JackknifeUnits) -> Any:
        """The states of some slices, in one table; (None,) is all rows."""
        together = self.together.get((statistic, output))
        if together is not None and numbers[0] is not None:
            return together.of_slices(numbers)
        found = [self.find_one((statistic, output, number)) for number in numbers]
        if len(found) == 1 and found[0] is not None:
            return found[0]
        joined = JackknifeStates(statistic, units.n_entries(numbers[0]), len(numbers))
        for place, own in enumerate(found):
            if own is not None:
                joined.put(place, own)
        return joined

    def find_one(self, key: StateKey) -> Any:
        """The states of all rows, or of one slice; None without rows."""
        found = self.by_key.get(key)
        return found.joined(self.n_cells) if isinstance(found, CellEntries) else found


def entries_of_slices(
    part: PartState,
    plan: Plan,
    rest: Plan,
    units: JackknifeUnits,
    units_of: UnitsOfGroups | None,
    n_threads: int,
) -> Iterator[tuple[SliceRange, EntryStates]]:
    """The states of additive statistics by entry, of the current pass: of so many slices as fit into memory.

    `rest` is the plan without the states that are known.
    """
    if not plan.needs("none") and not plan.needs("hash"):
        return
    of_rows = states_of_entries(part, rest, units, n_threads)
    found = EntryStates({}) if of_rows is None else of_rows
    others = rest if of_rows is None else rest.with_statistics(none=divide_by_unit(rest)[1])
    of_groups = entries_of_groups(part, rest, units, part.slice_pass.n_slices)
    if of_groups is not None and part.group_exchange is not None:
        others = others.with_statistics(hash=())
        found.add_groups(reduce_to_entries(part, part.group_exchange, rest, units, units_of, of_groups, n_threads))
    if not others.needs("none") and not others.needs("hash"):
        yield slices_of_pass(part.slice_pass), found
        return
    for slices in split_slices_by_memory(part, others, units.n_entries(0), n_threads):
        of_others = EntryStates(found.by_key | replicate_additive(part, others, units, units_of, n_threads, slices))
        of_others.together = found.together
        yield slices, of_others


def divide_by_unit(plan: Plan) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The statistics of rows that add rows to many states in one call, and the others."""
    by_unit = tuple(own for own in plan.statistics["none"] if isinstance(own, ByUnit))
    return by_unit, tuple(own for own in plan.statistics["none"] if own not in by_unit)


def entries_of_groups(part: PartState, plan: Plan, units: JackknifeUnits, n_slices: int) -> EntriesOfGroups | None:
    """Where the entries of all groups are added up; None if there are none, or if they do not fit into memory."""
    statistics, n_outputs = plan.statistics["hash"], len(part.outputs)
    n_states = (units.n_entries(None) + n_slices * units.n_entries(0)) * len(statistics) * n_outputs
    if part.group_exchange is None or not statistics or not fits_in_memory(n_states, part.memory_budget):
        return None
    return EntriesOfGroups(statistics, n_outputs, units, n_slices)


def reduce_to_entries(
    part: PartState,
    exchange: HashExchange,
    plan: Plan,
    units: JackknifeUnits,
    units_of: UnitsOfGroups | None,
    entries: EntriesOfGroups,
    n_threads: int,
) -> EntriesOfGroups:
    """Add all groups to their entries, of all rows and of the slices of the current pass."""

    def new_states(statistics: Sequence[Any]) -> EntryAccumulators:
        return EntryAccumulators(statistics, units, units_of, entries)

    for statistics in group_statistics_by_table(plan):
        reduce_groups(exchange, group_reduction(part, statistics, new_states, lists_all=False), n_threads)
    return entries


def states_of_entries(part: PartState, plan: Plan, units: JackknifeUnits, n_threads: int) -> EntryStates | None:
    """The states of rows by entry, of the slices of the current pass; None if `replicate_additive` has to make them.

    They are those of the statistics that add rows to many states in one call.
    """
    by_unit, _ = divide_by_unit(plan)
    if part.unit_exchange is None or part.states_by_unit or not by_unit:
        return None  # no rows are stored, or only those of the first units
    store, n_slices = part.unit_exchange.store, part.slice_pass.n_slices
    adds_slices = part.slice_pass.all_rows and n_slices and units.n_entries(0) == units.n_entries(None)
    reductions = [
        RowReduction(by_unit, part.outputs, n, part.score_epsilons)
        for n in part.slice_pass.slice_counts()[bool(adds_slices) :]
    ]
    if not fits_in_tables(store, reductions, units):
        return None
    found = add_entries(store, reductions, units, n_threads)
    of_slices = found[-1] if n_slices else {}
    of_all_rows = {key: own.of_all_slices() for key, own in of_slices.items()} if adds_slices else {}
    if part.slice_pass.all_rows and not adds_slices:
        of_all_rows = found[0]
    entries = EntryStates({(*key, None): own for key, own in of_all_rows.items()})
    entries.together = {key: SlicesTogether(own) for key, own in of_slices.items()}
    return entries
