"""Tables of counts without the rows of an entry of the table of units, for every entry.

An entry has few of the cells, so what is kept are the cells of all rows, and for every entry those that it has. A table
is made for one entry at a time: never a matrix of entries and cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.resampling.additive_replicates import LEAST_ENTRIES
from fastmetrics._core.resampling.table_replicates import CellsOfRows

MOST_ENTRIES = 1 << 11  # of all rows; of slices so many of all of them together
MOST_CELLS = 1 << 26  # of the tables of all entries
# Numbers of entries are powers of two, or those of units: so entries of several states are joined to the same ones.


def n_table_entries(n_entries: int, n_slices: int) -> int:
    """How many entries tables of counts have: fewer than other states, because each is finalized by itself."""
    most = MOST_ENTRIES if not n_slices else min(MOST_ENTRIES, power_of_two_below(8 * MOST_ENTRIES // n_slices))
    return min(n_entries, max(LEAST_ENTRIES, most))


def bounded_by_cells(n_entries: int, n_cells: int) -> int:
    """How many of so many entries are left where tables have so many cells."""
    return min(n_entries, max(LEAST_ENTRIES, power_of_two_below(MOST_CELLS // max(1, n_cells))))


def power_of_two_below(number: int) -> int:
    """The greatest power of two that is at most a number of 1 or more, or 1."""
    return 1 << (max(1, number).bit_length() - 1)


class CellEntries:
    """The states of the rows without those of an entry, for every entry; `of_entries` are those of an entry alone.

    They can be pickled, and merge: `label_state` knows the labels that cells are made of.
    """

    n_slices = 1

    def __init__(self, statistic: Any, label_state: Any, cells: np.ndarray, counts: np.ndarray, n_entries: int) -> None:
        """`counts` is int64[n, 3]: the entry, the cell, and how many rows; entries ascend."""
        self.statistic, self.label_state = statistic, label_state
        self.n_entries = self.replicates = n_entries
        self.cells, self.counts = cells, counts
        self.entries: np.ndarray = np.arange(n_entries)
        self.alone = False

    @classmethod
    def of_rows(
        cls, statistic: Any, label_state: Any, cells: np.ndarray, numbers: np.ndarray, entries: np.ndarray, n: int
    ) -> CellEntries:
        """The cells by their numbers, of rows of these entries."""
        return cls(statistic, label_state, cells, count_equal(entries, numbers, cells.shape[0]), n)

    def __reduce__(self) -> tuple[Any, ...]:
        """The labels of a state get other integers when it is pickled."""
        integers = tuple(codes.arrays()[0] for codes in self.label_state.codes)
        cells = self.statistic.recode_rows(self.label_state, self.cells, integers)
        return CellEntries, (self.statistic, self.label_state, cells, self.counts, self.n_entries)

    def merge(self, other: CellEntries) -> None:
        """Add the rows of others of the same statistic."""
        integers = self.label_state.merge_labels(other.label_state)
        cells = self.statistic.recode_rows(other.label_state, other.cells, integers)
        found = CellsOfRows.find(np.concatenate((self.cells, cells)))
        first, second = np.split(found.numbers, [self.cells.shape[0]])
        counts = [
            np.stack((own.counts[:, 0], numbers[own.counts[:, 1]], own.counts[:, 2]), axis=1)
            for own, numbers in ((self, first), (other, second))
        ]
        self.cells, self.counts = found.cells, add_equal(np.concatenate(counts), found.cells.shape[0])

    def joined(self, n_cells: int) -> CellEntries:
        """With as many entries as the largest of all tables, of so many cells, may have."""
        n = bounded_by_cells(self.n_entries, n_cells)
        if n == self.n_entries:
            return self
        counts = self.counts.copy()
        counts[:, 0] = counts[:, 0] * n // self.n_entries
        return CellEntries(self.statistic, self.label_state, self.cells, add_equal(counts, self.cells.shape[0]), n)

    def used(self) -> np.ndarray:
        """Has an entry rows?"""
        return np.asarray(np.bincount(self.counts[:, 0], minlength=self.n_entries) > 0)

    def of_some(self, entries: np.ndarray) -> CellEntries:
        """The states of some entries; the others are not asked for."""
        return self.select(self.entries[entries], self.alone)

    def of_entries(self) -> CellEntries:
        """The states of every entry by itself."""
        return self.select(self.entries, True)

    def select(self, entries: np.ndarray, alone: bool) -> CellEntries:
        own = CellEntries(self.statistic, self.label_state, self.cells, self.counts, self.n_entries)
        own.entries, own.replicates, own.alone = entries, int(entries.shape[0]), alone
        return own

    def states(self) -> Iterator[Any]:
        """The state of every entry."""
        totals = np.bincount(self.counts[:, 1], self.counts[:, 2], self.cells.shape[0]).astype(np.int64)
        starts = np.searchsorted(self.counts[:, 0], self.entries)
        stops = np.searchsorted(self.counts[:, 0], self.entries, "right")
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            own, counts = self.counts[start:stop, 1], self.counts[start:stop, 2]
            if not self.alone:
                left = totals.copy()
                left[own] -= counts
                own = np.flatnonzero(left)
                counts = left[own]
            yield self.statistic.from_cells(self.label_state, self.cells[own], counts)


def count_equal(entries: np.ndarray, numbers: np.ndarray, n_cells: int) -> np.ndarray:
    """How many rows have the same entry and the same cell, in ascending order: int64[n, 3]."""
    return add_equal(np.stack((entries, numbers, np.ones_like(numbers)), axis=1), n_cells)


def add_equal(counts: np.ndarray, n_cells: int) -> np.ndarray:
    """Counts of entries and cells, of which several may have the same, with one for each, in ascending order."""
    places, where = np.unique(counts[:, 0] * np.int64(n_cells) + counts[:, 1], return_inverse=True)
    sums = np.bincount(where.reshape(-1), counts[:, 2], places.shape[0]).astype(np.int64)
    return np.stack((places // max(1, n_cells), places % max(1, n_cells), sums), axis=1)
