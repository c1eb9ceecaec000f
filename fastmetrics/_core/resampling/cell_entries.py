"""Tables of counts without the rows of an entry of the table of units, for every entry.

An entry has few of the cells, so what is kept are the cells of all rows, and for every entry those that it has. A table
is made for one entry at a time: never a matrix of entries and cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.additive_replicates import LEAST_ENTRIES

MOST_ENTRIES = 1 << 11  # of all rows; of slices so many of all of them together
MOST_CELLS = 1 << 26  # of the tables of all entries


def n_table_entries(n_entries: int, n_slices: int, n_cells: int) -> int:
    """How many entries tables of so many cells have: fewer than other states, because each is finalised by itself."""
    most = min(MOST_ENTRIES, 8 * MOST_ENTRIES // max(1, n_slices), MOST_CELLS // max(1, n_cells))
    return min(n_entries, max(LEAST_ENTRIES, most))


class CellsOfRows(NamedTuple):
    """The cells that occur, int64[n, m], and the number of every row's cell."""

    cells: np.ndarray
    numbers: np.ndarray

    @classmethod
    def find(cls, rows: np.ndarray) -> CellsOfRows:
        """The cells of rows of integers, in ascending order."""
        order = np.lexsort(rows.T[::-1])
        ordered = rows[order]
        begins = np.ones(rows.shape[0], bool)
        begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        numbers = np.empty(rows.shape[0], np.int64)
        numbers[order] = np.cumsum(begins) - 1
        return cls(ordered[begins], numbers)


class CellEntries:
    """The states of the rows without those of an entry, for every entry; `of_entries` are those of an entry alone."""

    def __init__(self, statistic: Any, label_state: Any, cells: np.ndarray, counts: np.ndarray, n_entries: int) -> None:
        """`counts` is int64[n, 3]: the entry, the cell, and how many rows; entries ascend."""
        self.statistic, self.label_state = statistic, label_state
        self.n_entries = self.replicates = n_entries
        self.n_slices = 1
        self.cells, self.counts = cells, counts
        self.totals = np.bincount(counts[:, 1], counts[:, 2], cells.shape[0]).astype(np.int64)
        self.entries: np.ndarray = np.arange(n_entries)
        self.alone = False

    @classmethod
    def of_rows(
        cls, statistic: Any, label_state: Any, cells: np.ndarray, numbers: np.ndarray, entries: np.ndarray, n: int
    ) -> CellEntries:
        """The cells by their numbers, of rows of these entries."""
        pairs, counts = np.unique(entries * np.int64(cells.shape[0]) + numbers, return_counts=True)
        columns = (pairs // max(1, cells.shape[0]), pairs % max(1, cells.shape[0]), counts)
        return cls(statistic, label_state, cells, np.stack(columns, axis=1), n)

    def used(self) -> np.ndarray:
        """Has an entry rows?"""
        return np.asarray(np.bincount(self.counts[:, 0], minlength=self.replicates) > 0)

    def of_some(self, entries: np.ndarray) -> CellEntries:
        """The states of some entries; the others are not asked for."""
        own = CellEntries(self.statistic, self.label_state, self.cells, self.counts, int(entries.shape[0]))
        own.entries, own.alone = self.entries[entries], self.alone
        return own

    def of_entries(self) -> CellEntries:
        """The states of every entry by itself."""
        own = self.of_some(np.arange(self.replicates))
        own.alone = True
        return own

    def states(self) -> Iterator[Any]:
        """The state of every entry."""
        starts = np.searchsorted(self.counts[:, 0], self.entries)
        stops = np.searchsorted(self.counts[:, 0], self.entries, "right")
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            own, counts = self.counts[start:stop, 1], self.counts[start:stop, 2]
            if not self.alone:
                left = self.totals.copy()
                left[own] -= counts
                own = np.flatnonzero(left)
                counts = left[own]
            yield self.statistic.from_cells(self.label_state, self.cells[own], counts)
