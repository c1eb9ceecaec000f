"""Replicates of tables of counts: the cells of pairs of labels, or the keys that groups add to.

The cells of every unit stay in memory, and are weighted replicate by replicate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.statistic import Resamplable


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


class TableReplicates:
    """The tables of all replicates of one statistic, a `Resamplable` or a `GroupTableStatistic`."""

    def __init__(self, statistic: Any, replicates: int) -> None:
        self.statistic = statistic
        self.make = statistic.from_cells if isinstance(statistic, Resamplable) else statistic.table_of_keys
        self.replicates = replicates
        self.weights: Any = None
        self.labels: Any = None  # what cells are made of, for `make`
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, weights: Any, labels: Any, unit_buckets: np.ndarray, cells: np.ndarray, counts: np.ndarray) -> None:
        """Add cells (int64[n, m] or uint64[n, m]) of unit buckets, and how often each occurs."""
        self.weights, self.labels = weights, labels
        self.parts.append((unit_buckets, cells, counts))

    def merge(self, other: TableReplicates) -> None:
        if other.parts:
            self.weights, self.labels = other.weights, other.labels
            self.parts += other.parts

    def states(self) -> Iterator[Any]:
        """The table of every replicate."""
        if not self.parts:
            yield from (self.statistic.empty() for _ in range(self.replicates))
            return
        buckets, cells, counts = (np.concatenate(columns) for columns in zip(*self.parts, strict=True))
        found = CellsOfRows.find(cells)
        order = np.argsort(found.numbers, kind="stable")
        buckets, counts = buckets[order], counts[order]
        starts = np.searchsorted(found.numbers[order], np.arange(found.cells.shape[0]))
        for times in self.weights.by_replicate():
            own = times[buckets]
            present = np.flatnonzero(np.maximum.reduceat(own, starts)) if starts.shape[0] else starts
            sums = np.add.reduceat(own * counts, starts)[present] if starts.shape[0] else counts
            yield self.make(self.labels, found.cells[present], sums)
