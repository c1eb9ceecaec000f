"""States of statistics that need no exchange: one for every statistic, output and slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Output, RowBlock
from fastmetrics._core.exchange.blocks import order_by_number, scatter_rows
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.row_ranges import split_statistics
from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.state import State, Sums
from fastmetrics._core.statistic import adds_by_unit
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.covered_states import CoveredStates
from fastmetrics.engine.partial.slice_counts import SliceCounts
from fastmetrics.engine.plan.metric_plan import Plan

if TYPE_CHECKING:
    from fastmetrics._core.resampling.counted_row_replicates import CountedRows



class AddedStates(NamedTuple):
    """Sums that take the place of those of the same keys, tables that are to be merged, and the counts of slices."""

    sums: dict[StateKey, State]
    tables: list[tuple[StateKey, State]]
    counts: SliceCounts | None


def number_of(slice_number: int | None, numbers: np.ndarray | None) -> int | None:
    """The number here of a slice of another state; None is all rows."""
    return slice_number if slice_number is None or numbers is None else int(numbers[slice_number])


class AdditiveStates:
    """States of additive statistics, for every output and slice; created when they are first needed."""

    def __init__(
        self,
        plan: Plan,
        outputs: list[Output],
        slices: GroupingSets,
        budget: MemoryBudget | None = None,
        counted: CountedRows | None = None,
    ) -> None:
        self.slices = slices
        self.statistics = plan.statistics["none"]
        self.unsliced = plan.unsliced
        self.checks = [own.check for own in split_statistics(plan.statistics["range"])[1]]
        self.outputs = outputs
        self.budget = budget
        self.counted = counted
        self.has_classes = plan.label_kinds.binary
        self.counts: SliceCounts | None = None  # of slices; the first block shows how many labels there are
        self.covered: dict[int, CoveredStates] = {}
        self.numbers_in_covers: list[tuple[CoveredStates, np.ndarray]] = []  # of the block that was counted last
        self.sums: dict[StateKey, State] = {}
        self.by_output_and_slice: dict[tuple[int, int | None], list[State]] = {}

    def state(self, statistic: Any, output: int, slice_number: int | None) -> State:
        """The state of a statistic for an output and a slice."""
        key = (statistic, output, slice_number)
        state = self.sums.get(key)
        if state is None:
            state = self.sums[key] = self.new_state(statistic)
        return state

    def new_state(self, statistic: Any) -> State:
        """A state of no rows, which counts against the budget."""
        state: State = statistic.empty()
        state.limit_memory(self.budget)
        return state

    def states(self, output: int, slice_number: int | None) -> list[State]:
        """The states of all statistics for an output and a slice: one look-up, since there may be many slices."""
        states = self.by_output_and_slice.get((output, slice_number))
        if states is None:
            states = [self.state(statistic, output, slice_number) for statistic in self.statistics]
            self.by_output_and_slice[output, slice_number] = states
        return states

    def update(self, columns: RowBlock, units: np.ndarray | None = None) -> None:
        """Add a block of rows. `units` are the hashes of their resampling units, if no exchange keeps the rows.

        Statistics of the range exchange check the values here, where rows have their numbers.
        """
        if columns.slice_codes:
            self.count(columns)
        for output in self.outputs if self.checks else ():
            rows = columns.rows_of_output(output)
            for check in self.checks:
                check(rows)
        for output_number, output in enumerate(self.outputs if self.unsliced else ()):
            rows = columns.rows_of_output(output)
            for statistic in self.unsliced:
                statistic.update(self.state(statistic, output_number, None), rows)
        if not self.statistics:
            return
        if columns.score_columns:
            self.update_non_numeric(columns, units)
            return
        if not columns.slice_codes:
            self.update_slice(columns, None)
            return
        try:
            self.update_slices(columns)
        except ValueError:
            # The first bad row of a slice need not be the first of the block. Without slices the first one is found.
            for rows in map(columns.rows_of_output, self.outputs):
                for statistic in self.statistics:
                    statistic.update(statistic.empty(), rows)
            raise

    def count(self, columns: RowBlock) -> None:
        """Count the rows of the slices of a block, and the positive ones."""
        if self.counts is None:
            self.counts = SliceCounts(len(columns.labels) if self.has_classes else 0)
        self.counts.add(columns)
        in_covers: set[int] = set()
        self.numbers_in_covers = []
        for cover, numbers in self.slices.number_covers(columns.slice_codes) if self.use_covers(columns) else ():
            states = self.covered.setdefault(id(cover), CoveredStates(cover, self.counts.n_labels))
            states.count(numbers, columns.labels)
            self.numbers_in_covers.append((states, numbers))
            in_covers.update(cover.sets)
        for set_number, own in enumerate(self.slices.sets):
            if set_number not in in_covers:
                numbers = self.slices.number_set(set_number, columns.slice_codes)
                self.counts.add_slices(numbers, columns.labels, own.global_numbers())

    def use_covers(self, columns: RowBlock) -> bool:
        """Do covers count the rows of a block, and add them to states? All statistics have to add to many states."""
        return not columns.score_columns and all(map(adds_by_unit, self.statistics))

    def update_slices(self, columns: RowBlock) -> None:
        """Add a block to the slices of the base sets; those of the others are added up in the end."""
        covered: set[int] = set()
        for states, numbers in self.numbers_in_covers:
            states.update(self.statistics, [columns.rows_of_output(output) for output in self.outputs], numbers)
            covered.update(states.cover.sets)
        sets = [number for number in self.slices.base_sets() if number not in covered]
        for slice_number, block in split_by_slice(columns, self.slices, sets):
            self.update_slice(block, slice_number)

    def update_slice(self, columns: RowBlock, slice_number: int | None) -> None:
        for output_number, output in enumerate(self.outputs):
            rows = columns.rows_of_output(output)
            for statistic, state in zip(self.statistics, self.states(output_number, slice_number), strict=True):
                statistic.update(state, rows)

    def update_non_numeric(self, columns: RowBlock, units: np.ndarray | None) -> None:
        """Columns that are not numeric are not moved: they are read once, and slices add the counts of their rows."""
        for output_number, output in enumerate(self.outputs):
            rows = columns.non_numeric_rows(output)
            for index, statistic in enumerate(self.statistics):
                counted_rows = statistic.count_rows(rows)
                if self.counted is not None and units is not None:
                    n_bytes = self.counted.add(statistic, output_number, counted_rows, units, self.slices_of(columns))
                    self.reserve(n_bytes)
                for slices in self.base_slices(columns):
                    for slice_number, counted in split_counts_by_slice(counted_rows, slices):
                        statistic.add(self.states(output_number, slice_number)[index], counted)

    def slices_of(self, columns: RowBlock) -> np.ndarray | None:
        """The slice of every row: a column for every grouping set, with the numbers of that set."""
        if not columns.slice_codes:
            return None
        every = range(len(self.slices.sets))
        return np.stack([self.slices.number_set(number, columns.slice_codes) for number in every], axis=1)

    def base_slices(self, columns: RowBlock) -> Iterator[np.ndarray | None]:
        """The slice of every row, in every base set; None if rows have no slices."""
        if not columns.slice_codes:
            yield None
            return
        for set_number in self.slices.base_sets():
            own = self.slices.sets[set_number]
            yield own.global_numbers()[self.slices.number_set(set_number, columns.slice_codes)]

    def reserve(self, n_bytes: int) -> None:
        """Count the numbers that intervals need of every row against the memory budget: they stay in memory."""
        if n_bytes and self.budget is not None:
            self.budget.require_state(n_bytes, "the counts of every row, which intervals need,")

    def settle(self) -> None:
        """Add the states of covers to those of slices."""
        bases = self.slices.base_sets() if self.covered else []
        for states in self.covered.values():
            for statistic, output, slice_number, state in states.by_slice(bases):
                self.state(statistic, output, slice_number).merge(state)
            if self.counts is not None:
                for slices, rows in states.counts_by_slice():
                    self.counts.add_many(slices, rows)
        self.covered.clear()
        self.numbers_in_covers = []

    def merge(self, other: AdditiveStates) -> None:
        other.settle()
        for key, state in other.sums.items():
            self.state(*key).merge(state)
        if other.counts is not None:
            self.counts = SliceCounts(other.counts.n_labels) if self.counts is None else self.counts
            self.counts.merge(other.counts)

    def merged_with(self, others: Sequence[NumberedStates]) -> AddedStates:
        """What these states are with others, none of which changes: `take` makes it so."""
        sums: dict[StateKey, State] = {}
        tables: list[tuple[StateKey, State]] = []
        counts = None if self.counts is None else self.counts.copy()
        for other, numbers in others:
            other.settle()
            for (statistic, output, number), state in other.sums.items():
                key = statistic, output, number_of(number, numbers)
                if not isinstance(state, Sums):
                    tables.append((key, state))
                    known = self.sums.get(key)
                    (self.new_state(statistic) if known is None else known).check_merge(state)
                    continue
                merged = sums.get(key)
                if merged is None:
                    before = self.sums.get(key)
                    merged = sums[key] = before.copy() if isinstance(before, Sums) else statistic.empty()
                merged.merge(state)
            if other.counts is not None:
                counts = SliceCounts(other.counts.n_labels) if counts is None else counts
                counts.merge(other.counts, numbers)
        return AddedStates(sums, tables, counts)

    def take(self, merged: AddedStates) -> None:
        """Make these states what they are with others. Tables are merged here: they may be too large to copy."""
        for key, table in merged.tables:
            self.state(*key).merge(table)
        self.sums.update(merged.sums)
        self.counts = merged.counts
        self.by_output_and_slice.clear()

    def clear(self) -> None:
        """Remove all states, and free what they reserved."""
        for state in self.sums.values():
            state.close()
        self.covered.clear()
        self.sums.clear()
        self.counts = None
        self.by_output_and_slice.clear()


def split_counts_by_slice(counted: Any, slices: np.ndarray | None) -> Iterator[tuple[int | None, Any]]:
    """The counts of the rows of every slice."""
    if slices is None:
        yield None, counted
        return
    order = np.argsort(slices, kind="stable")
    numbers, moved = slices[order], counted[order]
    starts = np.flatnonzero(np.concatenate(([True], numbers[1:] != numbers[:-1]))).tolist()
    for start, stop in pairwise([*starts, len(numbers)]):
        yield int(numbers[start]), moved[start:stop]


def split_by_slice(
    columns: RowBlock, slices: GroupingSets, sets: Iterable[int]
) -> Iterator[tuple[int | None, RowBlock]]:
    """The rows of every slice of some grouping sets, with its number; all rows (None) if they have no slices."""
    if not columns.slice_codes:
        yield None, columns
        return
    without_codes = columns._replace(slice_codes=())
    for set_number in sets:
        numbers = slices.sets[set_number].numbers
        for local, block in split_rows(without_codes, slices.number_set(set_number, columns.slice_codes)):
            yield numbers[local], block


def split_rows(columns: RowBlock, slices: np.ndarray) -> list[tuple[int, RowBlock]]:
    """The rows of every slice of a block: NumPy views of columns in the order of slices."""
    starts, destinations = order_by_number(slices, int(slices.max()) + 1)

    def move(values: np.ndarray) -> np.ndarray:
        return scatter_rows(values, destinations)

    moved = columns._replace(row_numbers=None).move(move)
    by_slice = []
    for number in np.flatnonzero(starts[1:] > starts[:-1]).tolist():
        where = slice(*starts[number : number + 2].tolist())
        by_slice.append((number, moved.move(itemgetter(where))))
    return by_slice


# Additive states, and the numbers of their slices in others; None: the same.
NumberedStates = tuple[AdditiveStates, np.ndarray | None]
