"""Counts of pairs of labels in the rows read so far: the engine's state for every metric of two partitions.

A table has one cell for every pair that occurs, whatever the number of rows. Classes and clusters may be of different
types: the two columns have codes of their own.
"""

from __future__ import annotations

import numpy as np

from fastmetrics._core.columns.label_columns import ComparedLabels
from fastmetrics._core.tables.cell_table import CellTable
from fastmetrics._core.tables.contingency_state import ALL, ColumnCodes, ContingencyState, ContingencyStatistic
from fastmetrics.metrics.clustering.contingency import AnyContingency, Contingency, LargeContingency


class PartitionTable(ContingencyState):
    """Counts of pairs of a class and a cluster."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(n_codes=2, n_tables=1)

    def column_codes(self) -> tuple[ColumnCodes, ...]:
        return ((0, 1),)

    @property
    def cells(self) -> CellTable:
        return self.tables[0]

    @property
    def n_rows(self) -> int:
        return self.cells.n_rows

    def number_rows(self, rows: ComparedLabels) -> list[np.ndarray]:
        """The labels of rows as the integers of this table, column by column."""
        columns = rows.first, rows.second
        for codes, column in zip(self.codes, columns, strict=True):
            codes.add_types(column.type_name)
        return [codes.number(column) for codes, column in zip(self.codes, columns, strict=True)]

    def add(self, rows: ComparedLabels) -> None:
        """Count rows."""
        self.cached = None
        first, second = self.number_rows(rows)
        self.reserve_labels()
        self.cells.add(first, second)

    def contingency(self) -> AnyContingency:
        """The contingency table, made once for all metrics. Its labels are the integers of this table."""
        if self.cached is None:
            if self.cells.moved is None:
                self.cached = Contingency.of_cells(*self.cells.cells()[:3], self.n_rows)
            else:
                self.cached = self.large_contingency()
        contingency: AnyContingency = self.cached
        return contingency

    def large_contingency(self) -> LargeContingency:
        """The sizes of classes and clusters in memory; cells are read part by part."""
        found = self.sum_labels(self.cells, 2, lambda cells, *columns: ((column, ALL) for column in columns))
        (classes, row_sums), (clusters, column_sums) = ((found.labels[own > 0], own[own > 0]) for (own,) in found.sums)
        return LargeContingency(self.cells.parts, found.n_cells, row_sums, column_sums, self.n_rows, classes, clusters)


class PartitionCounts(ContingencyStatistic):
    """The counts of pairs of labels of two columns."""

    __slots__ = ()

    def empty(self) -> PartitionTable:
        return PartitionTable()

    def number_rows(self, state: PartitionTable, counted: ComparedLabels) -> np.ndarray:
        """The labels of rows as the integers of a table: int64[n, 2]."""
        return np.stack(state.number_rows(counted), axis=1)

    def from_cells(self, state: PartitionTable, rows: np.ndarray, counts: np.ndarray) -> PartitionTable:
        """A table with the given cells (as integers of `state`) and counts."""
        table = PartitionTable()
        table.codes = tuple(codes.copy_labels() for codes in state.codes)
        first, second = map(np.ascontiguousarray, rows.T)
        table.cells.add(first, second, np.ascontiguousarray(counts))
        return table
