"""The states of an additive statistic in many resampling units, in one table."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.exact import MAX_UNNORMALISED
from fastmetrics._core.statistic import Sums
from fastmetrics._kernels.numeric import sums
from fastmetrics._kernels.resampling import poisson_weights

MAX_OTHERS = 1 << 17  # values that are kept


class UnitStateTable:
    """The states of n unit buckets: counts, int64[n, n_counts], and sums, int64[n, n_sums, SIZE].

    Statistics add rows in any order: `numbers` (int32) has the state of every row. Values are added to windows of 128
    bits, which are close to each other in memory. A few values, far smaller or greater than the first ones, do not fit
    and are kept. `normalise` adds all of them to the sums.
    """

    def __init__(self, statistic: Any, n: int) -> None:
        self.template = template = statistic.new()
        n_sums = template.exact.shape[0]
        self.counts = np.zeros((n, *template.counts.shape), np.int64)
        self.exact = np.zeros((n, n_sums, exact.SIZE), np.int64)  # memory that is not used is not taken
        self.windows = np.zeros((n, n_sums, 2), np.uint64)
        self.place = 1
        self.others: list[tuple[np.ndarray, np.ndarray]] = []  # values and the places of their sums
        self.n_others = 0
        self.in_windows = 0  # values added since the windows were empty
        self.has_sums = False  # were values added to the sums?

    def count(self, numbers: np.ndarray, cells: np.ndarray | None = None) -> None:
        """Count every row: in the count with the number of its cell (uint8), by default in the first."""
        sums.count_by_number(numbers, cells, self.counts)

    def add(self, values: np.ndarray, numbers: np.ndarray, cells: np.ndarray | None = None, column: int = 0) -> None:
        """Add the value of every row to a sum: `column`, or so many further as the number of its cell (uint8) says."""
        n = values.shape[0]
        if self.in_windows + n > MAX_UNNORMALISED:
            self.normalise()
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
        self.has_sums |= bool(self.others)
        self.others, self.n_others = [], 0

    def sort_others(self) -> None:
        """Order the values that were kept by the places of their sums."""
        if self.others:
            values, places = (np.concatenate(column) for column in zip(*self.others, strict=True))
            order = np.argsort(places, kind="stable")
            self.others = [(values[order], places[order])]

    def normalise(self) -> None:
        """Add everything to the sums, and bring them to the canonical form."""
        self.add_others()
        sums.empty_windows(self.windows, self.place, self.exact)
        self.in_windows = 0
        self.has_sums = True

    def state(self, index: int) -> Sums:
        """The state of one unit bucket. It shares the table's memory."""
        state: Sums = self.template.with_memory(self.counts[index], self.exact[index])
        return state

    def add_part(self, other: UnitStateTable, start: int) -> None:
        """Add the states of another table's buckets from `start` on, as many as this table has; then normalise.

        The other table has called `sort_others`.
        """
        n, n_sums = self.windows.shape[:2]
        part = slice(start, start + n)
        self.counts += other.counts[part]
        if other.has_sums:
            self.exact += other.exact[part]
        first = np.int32(start * n_sums)
        for values, places in other.others:
            own = slice(*np.searchsorted(places, (first, first + n * n_sums)).tolist())
            sums.add_by_number(values[own], places[own] - first, self.exact.reshape(-1, exact.SIZE))
        sums.empty_windows(other.windows[part].copy(), other.place, self.exact)
        self.has_sums = True

    def select(self, numbers: np.ndarray) -> UnitStateTable:
        """The states with these numbers of a normalised table."""
        if numbers.shape[0] < self.counts.shape[0]:
            self.counts, self.exact, self.windows = self.counts[numbers], self.exact[numbers], self.windows[numbers]
        return self

    def total(self) -> Sums:
        """The state of all rows."""
        n_sums = self.windows.shape[1]
        total = exact.new_states(1, n_sums)
        if self.has_sums:
            self.normalise()
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
        limbs = self.exact.reshape(n, -1)
        poisson_weights.to_sign_magnitude(self.exact.reshape(-1, exact.SIZE), exact.LIMBS)
        count_columns = np.flatnonzero(self.counts.any(axis=0))
        limb_columns = np.flatnonzero(np.bitwise_or.reduce(limbs, axis=0))
        values = np.concatenate((self.counts[:, count_columns], limbs[:, limb_columns]), axis=1)
        return np.concatenate((count_columns, n_counts + limb_columns)), np.ascontiguousarray(values)
