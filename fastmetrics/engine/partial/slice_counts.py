"""How many rows every slice has, and how many of them are positive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import RowBlock
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.exchange import slice_rows

FIRST_SIZE = 16


class RowCount(NamedTuple):
    """The rows of a slice, and those with label 1 of every label column (empty if labels are not of two classes)."""

    rows: int
    positives: tuple[int, ...] = ()

    def plus(self, other: RowCount) -> RowCount:
        return RowCount(self.rows + other.rows, tuple(map(sum, zip(self.positives, other.positives, strict=True))))


class SliceCounts:
    """The rows and positives of every slice by its number, and of all rows together (None).

    `n_labels` is the number of label columns of two classes, whose positives are counted.
    """

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels
        self.total = np.zeros(1 + n_labels, np.int64)
        self.by_slice = np.zeros((1 + n_labels, 0), np.int64)

    def copy(self) -> SliceCounts:
        """Counts that change apart from these."""
        new = SliceCounts(self.n_labels)
        new.total, new.by_slice = self.total.copy(), self.by_slice.copy()
        return new

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The counts of all rows, the slices that have rows, and their counts."""
        numbers = np.flatnonzero(self.by_slice[0])
        return self.total, numbers, self.by_slice[:, numbers]

    def reserve(self, n_slices: int) -> None:
        """Make room for so many slices."""
        if n_slices > self.by_slice.shape[1]:
            grown = np.zeros((1 + self.n_labels, max(FIRST_SIZE, 2 * n_slices)), np.int64)
            grown[:, : self.by_slice.shape[1]] = self.by_slice
            self.by_slice = grown

    def add(self, columns: RowBlock) -> None:
        """Count the rows of a block together."""
        self.total[0] += columns.rows
        for number in range(self.n_labels):
            self.total[1 + number] += np.count_nonzero(columns.labels[number])

    def add_slices(self, numbers: np.ndarray, labels: tuple[np.ndarray, ...], slices: np.ndarray) -> None:
        """Count the rows of every slice of a grouping set; row i is in slice slices[numbers[i]]."""
        if not numbers.shape[0]:
            return
        found = np.zeros((1 + self.n_labels, int(numbers.max()) + 1), np.int64)
        for number, counts in enumerate(found):
            slice_rows.count_rows(numbers, labels[number - 1] if number else None, counts)
        self.add_many(slices[: found.shape[1]], found)

    def add_many(self, slices: np.ndarray, counts: np.ndarray) -> None:
        """Add the counts of several slices, a column for each; a slice may be there more than once."""
        if slices.shape[0]:
            self.reserve(int(slices.max()) + 1)
            for own, found in zip(self.by_slice, counts, strict=True):
                np.add.at(own, slices, found)

    def add_count(self, slice_number: int | None, count: RowCount) -> None:
        """Add the counts of a slice, or of all rows."""
        found = np.array([count.rows, *count.positives], np.int64)
        if slice_number is None:
            self.total += found
            return
        self.reserve(slice_number + 1)
        self.by_slice[:, slice_number] += found

    def merge(self, other: SliceCounts, numbers: np.ndarray | None = None) -> None:
        """Add the counts of others; their slice s is numbers[s] here."""
        self.total += other.total
        for number, count in other.counts().items():
            self.add_count(number if numbers is None else int(numbers[number]), count)

    def counts(self) -> dict[int, RowCount]:
        """The counts of every slice that has rows."""
        numbers = np.flatnonzero(self.by_slice[0]).tolist()
        return {number: self.count(number) for number in numbers}

    def count(self, slice_number: int | None) -> RowCount:
        """The counts of a slice, or of all rows."""
        if slice_number is None:
            rows, *positives = self.total.tolist()
        elif slice_number < self.by_slice.shape[1]:
            rows, *positives = self.by_slice[:, slice_number].tolist()
        else:
            return RowCount(0, (0,) * self.n_labels)
        return RowCount(rows, tuple(positives))

    def of_values(self, values: list[Any]) -> dict[Any, RowCount]:
        """The counts by the values of slices, and of all rows (None)."""
        return {None: self.count(None)} | {values[number]: count for number, count in self.counts().items()}

    def add_values(self, counts: Mapping[Any, RowCount], numbers: Mapping[Any, int]) -> None:
        """Add counts by the values of slices, whose numbers are given."""
        for values, count in counts.items():
            self.add_count(None if values is None else numbers[values], count)
