"""Additive states of the combinations of a cover, which add up to those of the slices of several grouping sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._kernels.exchange import slice_rows
from fastmetrics.engine.input.set_covers import Cover

if TYPE_CHECKING:
    from fastmetrics._core.resampling.unit_state_table import UnitStateTable

FIRST_SIZE = 1 << 9


class CoveredStates:
    """The states of one thread for every combination of a cover."""

    def __init__(self, cover: Cover, n_labels: int) -> None:
        self.cover = cover
        self.rows = np.zeros((1 + n_labels, 0), np.int64)
        self.size = 0
        self.tables: list[tuple[Any, int, Any]] = []
        self.open: dict[tuple[Any, int], Any] = {}

    def count(self, numbers: np.ndarray, labels: Sequence[np.ndarray]) -> None:
        """Count the rows of every combination, and the positive ones of every label of two classes."""
        most = int(numbers.max(initial=0)) + 1
        if most > self.rows.shape[1]:
            grown = np.zeros((len(self.rows), max(FIRST_SIZE, 2 * most)), np.int64)
            grown[:, : self.rows.shape[1]] = self.rows
            self.rows = grown
        for number, own in enumerate(self.rows):
            slice_rows.count_rows(numbers, labels[number - 1] if number else None, own)

    def counts_by_slice(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For every set that the cover has: the slice of every combination, and its counts."""
        for set_number in self.cover.sets:
            slices = self.cover.slices(set_number)[: self.rows.shape[1]]
            yield slices, self.rows[:, : slices.shape[0]]

    def update(self, statistics: Sequence[Any], rows_of_outputs: Sequence[Rows], numbers: np.ndarray) -> None:
        """Add row i to the states of combination numbers[i]."""
        from fastmetrics._core.resampling.unit_state_table import UnitStateTable  # imports resampling

        numbers = numbers.astype(np.int32)
        most = int(numbers.max(initial=-1)) + 1
        if most > self.size:
            # Tables do not grow: those that are full are kept until the end.
            self.keep_tables()
            self.size = max(FIRST_SIZE, 2 * most)
        for output, rows in enumerate(rows_of_outputs):
            for statistic in statistics:
                if (statistic, output) not in self.open:
                    self.open[statistic, output] = UnitStateTable(statistic, self.size)
                statistic.update_units(self.open[statistic, output], rows, numbers)

    def keep_tables(self) -> None:
        self.tables += [(statistic, output, table) for (statistic, output), table in self.open.items()]
        self.open.clear()

    def by_slice(self, sets: Sequence[int]) -> Iterator[tuple[Any, int, int, Any]]:
        """Statistic, output, slice and a state of it, for each of these sets that the cover has."""
        self.keep_tables()
        wanted = [self.cover.slices(own) for own in self.cover.sets if own in sets]
        for statistic, output, table in self.tables:
            table.normalize()
            # All statistics read all rows, but a table that is full has none of the later combinations.
            members = np.flatnonzero(self.rows[0, : len(table.counts)])
            for slices in wanted:
                for slice_number, state in add_up(table, members, slices[members]):
                    yield statistic, output, slice_number, state


def add_up(table: UnitStateTable, members: np.ndarray, slices: np.ndarray) -> Iterator[tuple[int, Any]]:
    """The states of a table's members added up by slice; one by one if to merge them is more than to add."""
    if table.template.fields.maxima:
        yield from zip(slices.tolist(), map(table.state, members.tolist()), strict=True)
        return
    order = np.argsort(slices, kind="stable")
    numbers, starts = np.unique(slices[order], return_index=True)
    counts = np.add.reduceat(table.counts[members[order]], starts)
    sums = np.add.reduceat(table.exact[members[order]], starts)
    for number, own_counts, own_sums in zip(numbers.tolist(), counts, sums, strict=True):
        for state in own_sums:
            exact.normalize(state)
        yield number, table.template.with_memory(own_counts, own_sums)
