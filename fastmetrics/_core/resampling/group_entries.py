"""The states of additive statistics of groups by entry of the table of units, of all slices in one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.slice_sets import SlicedTable
from fastmetrics._core.resampling.additive_replicates import (
    JackknifeStates,
    JackknifeUnits,
    ReplicateAccumulators,
    add_units,
)
from fastmetrics._core.resampling.unit_state_table import UnitStateTable


class EntriesOfGroups:
    """The states of every entry, which all threads add to, by statistic and output: of all rows, and of all slices."""

    def __init__(self, statistics: Sequence[Any], n_outputs: int, units: JackknifeUnits, n_slices: int) -> None:
        keys = [(statistic, output) for statistic in statistics for output in range(n_outputs)]
        self.of_all_rows = {key: JackknifeStates(key[0], units.n_entries(None)) for key in keys}
        self.of_slices = {key: JackknifeStates(key[0], units.n_entries(0), n_slices) for key in keys}


class EntriesOfSlice:
    """What the groups of one slice are added to: the entries from `first` on."""

    def __init__(self, states: JackknifeStates, first: int) -> None:
        self.states, self.first = states, first
        self.width = states.width

    def add(self, weights: JackknifeUnits, numbers: np.ndarray, table: UnitStateTable) -> None:
        self.states.add_entries(weights.entries_of(numbers, self.states.n_entries) + self.first, table)


class EntryAccumulators(ReplicateAccumulators):
    """Adds groups to the states of their entries. Threads share these; there is nothing to merge."""

    weights: JackknifeUnits

    def __init__(
        self,
        statistics: Sequence[Any],
        units: JackknifeUnits,
        unit_of: Callable[[np.ndarray], np.ndarray] | None,
        entries: EntriesOfGroups,
    ) -> None:
        super().__init__(statistics, units, unit_of)
        self.entries = entries

    def sums_of(self, statistic: Any, output: int, slice_number: int | None) -> Any:
        if slice_number is None:
            return self.entries.of_all_rows[statistic, output]
        states = self.entries.of_slices[statistic, output]
        return EntriesOfSlice(states, slice_number * states.n_entries)

    def update_slices(self, output: int, sliced: SlicedTable) -> None:
        if not self.statistics or not sliced.segments:
            return
        numbers = np.array([sliced.own.outside(number) for number, _ in sliced.segments], np.int64)
        bounds = np.array([(where.start, where.stop) for _, where in sliced.segments], np.int64)
        lengths = bounds[:, 1] - bounds[:, 0]
        if not lengths.any():
            return
        groups = np.repeat(bounds[:, 1] - lengths.cumsum(), lengths) + np.arange(lengths.sum())
        n_entries = self.weights.n_entries(0)
        buckets = self.buckets_of(sliced.table.keys.hashes[groups])
        entries = self.weights.entries_of(buckets, n_entries) + np.repeat(numbers * n_entries, lengths)
        order = np.argsort(entries, kind="stable")
        entries = entries[order]
        starts = np.flatnonzero(np.append(True, entries[1:] != entries[:-1]))
        table = sliced.table.take(groups[order])

        def segment(start: int, stop: int) -> Any:
            return table.segment(slice(start, stop))

        for statistic in self.statistics:
            states = self.entries.of_slices[statistic, output]
            add_units(states, statistic, None, entries[starts], [*starts.tolist(), entries.shape[0]], segment)
