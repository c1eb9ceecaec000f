"""The states of an additive statistic in many resampling units, in one table."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.exact import MAX_UNNORMALIZED
from fastmetrics._core.state import HALF_BITS, LOW_HALF, Sums
from fastmetrics._kernels.numeric import sums
from fastmetrics._kernels.resampling import poisson_weights

MAX_OTHERS = 1 << 17  # values that are kept


class UnitStateTable:
    """The states of n unit buckets: counts, int64[n, n_counts], and sums, int64[n, n_sums, SIZE].

    Statistics add rows in any order: `numbers` (int32) has the state of every row. Values are added to windows of 128
    bits, which are close to each other in memory. A few values, far smaller or greater than the first ones, do not fit
    and are kept. `normalize` adds all of them to the sums. While there are windows alone, the sums take no memory:
    limbs are made of the windows.
    """

    def __init__(self, statistic: Any, n: int) -> None:
        self.template = template = statistic.empty()
        n_sums = template.exact.shape[0]
        self.counts = np.zeros((n, *template.counts.shape), np.int64)
        self.n_sums = n_sums
        self.windows = np.zeros((n, n_sums, 2), np.uint64)
        self.made_sums: np.ndarray | None = None
        self.place = 1
        self.others: list[tuple[np.ndarray, np.ndarray]] = []  # values and the places of their sums
        self.n_others = 0
        self.in_windows = 0  # values added since the windows were empty

    @property
    def exact(self) -> np.ndarray:
        """The sums; made at the first use."""
        if self.made_sums is None:
            self.made_sums = np.zeros((self.counts.shape[0], self.n_sums, exact.SIZE), np.int64)
        return self.made_sums

    @property
    def has_sums(self) -> bool:
        """Were values added to the sums?"""
        return self.made_sums is not None

    def counts_of(self, name: str) -> np.ndarray:
        """A count of all unit buckets: a view."""
        return self.counts[:, self.template.fields.places[name]]

    def set_flag(self, name: str) -> None:
        """Make a count of all unit buckets 1."""
        self.counts[:, self.template.fields.places[name]] = 1

    def add_counts(self, name: str, numbers: np.ndarray) -> None:
        """Add numbers[i] to a count, or a wide count, of unit bucket i."""
        place = self.template.fields.places[name]
        if name in self.template.fields.wide:
            self.counts[:, place] += numbers >> HALF_BITS
            self.counts[:, place + 1] += numbers & LOW_HALF
        else:
            self.counts[:, place] += numbers

    def count(self, numbers: np.ndarray, cells: np.ndarray | None = None) -> None:
        """Count every row: in the count with the number of its cell (uint16), by default in the first."""
        sums.count_by_number(numbers, cells, self.counts)

    def add(self, values: np.ndarray, numbers: np.ndarray, name: str, cells: np.ndarray | None = None) -> None:
        """Add the value of every row to a sum: of an array of sums the one with the number of its cell (uint16)."""
        column = self.template.fields.places[name]
        n = values.shape[0]
        if self.in_windows + n > MAX_UNNORMALIZED:
            self.normalize()
        if not self.in_windows:
            self.place = sums.place_of_window(values)
        self.in_windows += n
        rows = np.empty(n, np.int32)
        n_others = sums.add_to_windows(values, numbers, cells, column, self.place, self.windows, rows)
        if n_others:
            rows = rows[:n_others]
            places = numbers[rows] * np.int32(self.windows.shape[1]) + np.int32(column)
            self.others.append((values[rows], places if cells is None else places + cells[rows]))
            self.n_others += n_others
            if self.n_others > MAX_OTHERS:
                self.add_others()

    def add_others(self) -> None:
        """Add the values that were kept to the sums."""
        for values, places in self.others:
            sums.add_by_number(values, places, self.exact.reshape(-1, exact.SIZE))
        self.others, self.n_others = [], 0

    def sort_others(self) -> None:
        """Order the values that were kept by the places of their sums."""
        if self.others:
            values, places = (np.concatenate(column) for column in zip(*self.others, strict=True))
            order = np.argsort(places, kind="stable")
            self.others = [(values[order], places[order])]

    def normalize(self) -> None:
        """Add everything to the sums, and bring them to the canonical form."""
        self.add_others()
        sums.empty_windows(self.windows, self.place, self.exact)
        self.in_windows = 0

    def state(self, index: int) -> Sums:
        """The state of one unit bucket. It shares the table's memory."""
        if self.in_windows or self.others:
            self.normalize()
        state: Sums = self.template.with_memory(self.counts[index], self.exact[index])
        return state

    def add_part(self, other: UnitStateTable, start: int) -> None:
        """Add the states of another table's buckets from `start` on, as many as this table has.

        The other table has called `sort_others`. Windows stay windows if both tables have nothing else.
        """
        n, n_sums = self.windows.shape[:2]
        part = slice(start, start + n)
        self.counts += other.counts[part]
        if not (self.has_sums or other.has_sums or other.others) and self.has_place_for(other):
            sums.add_windows(self.windows, np.ascontiguousarray(other.windows[part]))
            self.in_windows += other.in_windows
            return
        if self.in_windows:
            self.normalize()
        if other.has_sums:
            np.add(self.exact, other.exact[part], out=self.exact)
        first = np.int32(start * n_sums)
        for values, places in other.others:
            own = slice(*np.searchsorted(places, (first, first + n * n_sums)).tolist())
            sums.add_by_number(values[own], places[own] - first, self.exact.reshape(-1, exact.SIZE))
        sums.empty_windows(other.windows[part].copy(), other.place, self.exact)

    def has_place_for(self, other: UnitStateTable) -> bool:
        """Return whether the windows can take those of another table; they get its place if they are empty."""
        if not other.in_windows:
            return True
        if not self.in_windows:
            self.place = other.place
        return self.place == other.place and self.in_windows + other.in_windows <= MAX_UNNORMALIZED

    def select(self, numbers: np.ndarray) -> UnitStateTable:
        """The states with these numbers."""
        if numbers.shape[0] < self.counts.shape[0]:
            if self.made_sums is not None:
                self.made_sums = self.made_sums[numbers]
            self.counts, self.windows = self.counts[numbers], self.windows[numbers]
        return self

    def total(self) -> Sums:
        """The state of all rows."""
        n_sums = self.windows.shape[1]
        total = exact.new_states(1, n_sums)
        if self.has_sums:
            self.normalize()
            total += self.exact.sum(axis=0)
        for values, places in self.others:
            sums.add_by_number(values, places % np.int32(n_sums), total[0])
        sums.empty_windows(self.windows.copy(), self.place, total)
        state: Sums = self.template.with_memory(self.counts.sum(axis=0), total[0])
        return state

    def nonzero_columns(self) -> tuple[np.ndarray, np.ndarray]:
        """The indices of a state's integers that are not zero in all unit buckets, and their values, a row per bucket.

        Limbs are in sign-magnitude form, so that small negative sums are sparse too. The table is not read afterwards.
        """
        n, n_counts = self.counts.shape
        count_columns = np.flatnonzero(self.counts.any(axis=0))
        places, limbs = self.limbs_of_sums() if self.has_sums or self.others else self.limbs_of_windows()
        used = np.flatnonzero(np.bitwise_or.reduce(limbs, axis=0)) if n else np.empty(0, np.int64)
        values = np.concatenate((self.counts[:, count_columns], limbs[:, used]), axis=1)
        return np.concatenate((count_columns, n_counts + places[used])), np.ascontiguousarray(values)

    def limbs_of_windows(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the limbs that windows span, among all limbs of a state, and these limbs of every state."""
        n, n_sums = self.windows.shape[:2]
        if not self.in_windows:
            return np.empty(0, np.int64), np.empty((n, 0), np.int64)
        limbs = np.empty((n, n_sums, sums.LIMBS_OF_WINDOW), np.int64)
        first = sums.limbs_of_windows(self.windows, self.place, limbs)
        places = first + np.arange(sums.LIMBS_OF_WINDOW) + exact.SIZE * np.arange(n_sums)[:, None]
        return places.reshape(-1), limbs.reshape(n, -1)

    def limbs_of_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """The same for states whose sums are not in windows alone: all limbs."""
        if self.in_windows or self.others:
            self.normalize()
        poisson_weights.to_sign_magnitude(self.exact.reshape(-1, exact.SIZE), exact.LIMBS)
        limbs = self.exact.reshape(self.exact.shape[0], -1)
        return np.arange(limbs.shape[1]), limbs
