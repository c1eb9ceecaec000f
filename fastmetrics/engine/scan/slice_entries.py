"""The states of additive statistics by entry of the table of units, of all rows and of slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.exchange.group_reduction import reduce_groups
from fastmetrics._core.exchange.hash_exchange import HashExchange
from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.additive_replicates import (
    ALL_SLICES,
    JackknifeStates,
    JackknifeUnits,
    SliceRange,
)
from fastmetrics._core.resampling.cell_entries import CellEntries
from fastmetrics._core.resampling.entry_states import add_entries, most_entries
from fastmetrics._core.resampling.group_entries import EntriesOfGroups, EntryAccumulators
from fastmetrics._core.resampling.row_replicates import RowReduction
from fastmetrics._core.statistic import adds_by_unit
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_passes import SlicePass
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.scan.group_units import UnitsOfGroups
from fastmetrics.engine.scan.intervals import most_slices, ranges_of_slices, replicate_additive
from fastmetrics.engine.scan.resolve import group_reduction, group_statistics_by_table


class SlicesTogether(NamedTuple):
    """The states of the entries of slices in one table; `places` are those of the slices, by number."""

    states: JackknifeStates
    places: Mapping[int | None, int]

    @classmethod
    def of_range(cls, states: JackknifeStates, first: int = 0) -> SlicesTogether:
        """The slices from `first` on."""
        return cls(states, {first + place: place for place in range(states.n_slices)})

    def of_slices(self, numbers: Sequence[int | None]) -> JackknifeStates:
        return self.states.of_slices(np.array([self.places[number] for number in numbers], np.int64))


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
        self.together.update({key: SlicesTogether.of_range(own) for key, own in entries.of_slices.items()})

    def outside(self, slice_pass: SlicePass) -> EntryStates:
        """The same with the numbers that slices have outside a pass."""
        found = EntryStates(slice_pass.rename(self.by_key))
        for key, own in self.together.items():
            places = {slice_pass.outside(number): place for number, place in own.places.items()}
            found.together[key] = SlicesTogether(own.states, places)
        return found

    def items(self) -> Iterator[tuple[StateKey, Any]]:
        """The states of all rows, and of one slice after the other."""
        yield from self.by_key.items()
        for (statistic, output), own in self.together.items():
            for number in own.places:
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
    by_unit, others = divide_by_unit(part, rest)
    of_groups = entries_of_groups(part, rest, units, part.slice_pass.n_slices)
    if of_groups is not None and part.group_exchange is not None:
        others = others.with_statistics(hash=())
        reduce_to_entries(part, part.group_exchange, rest, units, units_of, of_groups, n_threads)
    has_others = others.needs("none") or others.needs("hash")
    n_entries = units.n_entries(0)
    most = [most_entries(by_unit, len(part.outputs), part.memory_budget) // n_entries] if by_unit else []
    most += [most_slices(part, others, n_entries, n_threads)] if has_others else []
    for slices in ranges_of_slices(part.slice_pass, min(most, default=1 + ALL_SLICES.stop)):
        found = states_of_entries(part, by_unit, units, slices, n_threads)
        if has_others:
            found.by_key |= replicate_additive(part, others, units, units_of, n_threads, slices)
        if of_groups is not None:
            found.add_groups(of_groups)
        yield slices, found


def divide_by_unit(part: PartState, plan: Plan) -> tuple[tuple[Any, ...], Plan]:
    """The statistics of stored rows that add rows to many states in one call, and the plan of the others."""
    if part.unit_exchange is None or part.states_by_unit:
        return (), plan  # no rows are stored, or only those of the first units
    by_unit = tuple(filter(adds_by_unit, plan.statistics["none"]))
    return by_unit, plan.with_statistics(none=tuple(own for own in plan.statistics["none"] if own not in by_unit))


def entries_of_groups(part: PartState, plan: Plan, units: JackknifeUnits, n_slices: int) -> EntriesOfGroups | None:
    """Where the entries of all groups are added up; None if there are none, or if they do not fit into memory."""
    statistics, n_outputs = plan.statistics["hash"], len(part.outputs)
    n_entries = units.n_entries(None) + n_slices * units.n_entries(0)
    if part.group_exchange is None or not statistics:
        return None
    if n_entries > most_entries(statistics, n_outputs, part.memory_budget):
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


def states_of_entries(
    part: PartState, statistics: tuple[Any, ...], units: JackknifeUnits, slices: SliceRange, n_threads: int
) -> EntryStates:
    """The states by entry, of some slices of the current pass, of statistics that add rows to many in one call."""
    entries = EntryStates({})
    if part.unit_exchange is None or not statistics:
        return entries
    n_slices = part.slice_pass.n_slices
    n_own = min(slices.stop, n_slices) - slices.start
    adds_slices = slices.all_rows and n_own and units.n_entries(0) == units.n_entries(None)
    sizes = (0,) * (slices.all_rows and not adds_slices) + (n_slices,) * (n_own > 0)
    reductions = [RowReduction(statistics, part.outputs, n, part.score_epsilons, slices) for n in sizes]
    found = add_entries(part.unit_exchange.store, reductions, units, n_threads)
    of_slices = found[-1] if n_own else {}
    of_all_rows = {key: own.of_all_slices() for key, own in of_slices.items()} if adds_slices else {}
    if slices.all_rows and not adds_slices:
        of_all_rows = found[0]
    entries.by_key.update({(*key, None): own for key, own in of_all_rows.items()})
    entries.together = {key: SlicesTogether.of_range(own, slices.start) for key, own in of_slices.items()}
    return entries
