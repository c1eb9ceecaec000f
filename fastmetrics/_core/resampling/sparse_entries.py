"""States of entries of the table of units without the entries that have no rows: they are sent, and merge."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.resampling.additive_replicates import JackknifeStates


class SparseEntries:
    """What `JackknifeStates` have of some rows: a row of `values` for each integer, a column for each entry with rows.

    `columns` are the places of the integers in a state. Both ascend.
    """

    def __init__(self, statistic: Any, states: JackknifeStates) -> None:
        self.statistic = statistic
        self.n_entries = states.replicates
        self.columns = np.flatnonzero(states.row_of >= 0)
        self.entries = np.flatnonzero(states.used()).astype(np.int32)
        self.values = states.sums[np.ix_(states.row_of[self.columns], self.entries)]

    def merge(self, other: SparseEntries) -> None:
        columns, entries = np.union1d(self.columns, other.columns), np.union1d(self.entries, other.entries)
        values = np.zeros((columns.shape[0], entries.shape[0]), np.int64)
        for own in (self, other):
            values[np.ix_(np.searchsorted(columns, own.columns), np.searchsorted(entries, own.entries))] += own.values
        self.columns, self.entries, self.values = columns, entries, values

    def states(self) -> JackknifeStates:
        """The states of all entries."""
        states = JackknifeStates(self.statistic, self.n_entries)
        states.sums = np.zeros((self.columns.shape[0], self.n_entries), np.int64)
        states.sums[:, self.entries] = self.values
        states.row_of[self.columns] = np.arange(self.columns.shape[0])
        return states
