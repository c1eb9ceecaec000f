"""The states of statistics of groups, to which tables of groups are added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from fastmetrics._core.grouping import Key
from fastmetrics._core.state import Sums

StateKey = tuple[Any, int, int | None]  # statistic, number of the output, slice (None: all rows)


class MergedStates(ABC):
    """States by statistic, output and slice; those of one key merge."""

    states: dict[StateKey, Any]
    budget: Any = None  # the memory budget of states that grow with the groups

    def merge(self, other: MergedStates) -> None:
        merge_states(self.states, other.states)

    @abstractmethod
    def update(self, output: int, slice_number: int | None, table: Any) -> None:
        """Add a table of the groups of a slice, or of all rows (None)."""

    def update_slices(self, output: int, sliced: Any) -> None:
        """Add a `SlicedTable`."""
        for slice_number, table in sliced.of_slices():
            self.update(output, slice_number, table)


def merge_states(into: dict[Key, Any], other: Mapping[Key, Any]) -> None:
    """Add states by key: those of one key merge, the others are taken over."""
    for key, state in other.items():
        if key in into:
            into[key].merge(state)
        else:
            into[key] = state


class GroupAccumulators(MergedStates):
    """The states of additive statistics, by statistic, output and slice. A state is made at its first use."""

    def __init__(self, statistics: Sequence[Any]) -> None:
        self.statistics = statistics
        self.states: dict[StateKey, Any] = {}
        self.states_by_output: dict[tuple[int, int | None], list[Sums]] = {}

    def update(self, output: int, slice_number: int | None, table: Any) -> None:
        states = self.states_by_output.get((output, slice_number))
        if states is None:
            # Looked up once per output and slice: there may be many slices.
            keys = [(statistic, output, slice_number) for statistic in self.statistics]
            states = [self.states.setdefault(key, self.new_state(key[0])) for key in keys]
            self.states_by_output[output, slice_number] = states
        for statistic, state in zip(self.statistics, states, strict=True):
            statistic.update(state, table)

    def new_state(self, statistic: Any) -> Any:
        """An empty state. One that grows with the groups has the memory limit of the rows."""
        state = statistic.empty()
        if self.budget is not None:
            state.limit_memory(self.budget)
        return state
