"""Base of states that count pairs of labels: tables of cells, and the codes of the labels in their columns.

Labels are identified by value, so tables of any rows can be merged: integers stand for themselves, texts have codes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import numpy as np

from fastmetrics._core.columns.label_codes import LabelCodes, translate_codes
from fastmetrics._core.columns.label_columns import ComparedLabels
from fastmetrics._core.columns.row_blocks import NonNumericRows
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.state import State, check_state, restore_state
from fastmetrics._core.statistic import ColumnStatistic, Resamplable
from fastmetrics._core.tables.cell_table import Cells, CellTable, carry_limbs, join_cells

# The types and shapes of the arrays of a table, and of codes.
CELLS = ((np.int64, None),) * 3 + ((np.int64, None, None), (np.int64, 1))
LABELS = ((np.uint8, None), (np.int64, None), (np.uint8, None))
ALL = slice(None)
# Of some cells and the positions of the labels in their columns: the positions and the cells that count in each sum.
Selection = Callable[..., Iterable[tuple[np.ndarray, Any]]]
# Which codes the labels of both columns of a table have; None: the column has no labels.
ColumnCodes = tuple[int | None, int | None]


class LabelSums(NamedTuple):
    """Labels as ascending integers, and sums of the amounts of their cells: int64[n_sums, n_limbs, n_labels].

    `cells` are those that were added last, which say what the amounts are; `n_cells` were added in all.
    """

    labels: np.ndarray
    sums: np.ndarray
    cells: Cells
    n_cells: int

    @property
    def n_bytes(self) -> int:
        return self.labels.nbytes + self.sums.nbytes


def add_labels(known: LabelSums | None, cells: Cells, n_columns: int, select: Selection) -> LabelSums:
    """Sums of the labels in the first columns of cells, added to the known ones."""
    columns, n_known = [cells.first, cells.second][:n_columns], 0
    if known is not None:
        columns, n_known = [known.labels, *columns], known.labels.shape[0]
    labels, positions = np.unique(np.concatenate(columns), return_inverse=True)
    selected = tuple(select(cells, *positions[n_known:].reshape(n_columns, -1)))
    sums = np.zeros((len(selected), cells.amounts.shape[0], labels.shape[0]), np.int64)
    if known is not None:
        sums[:, :, positions[:n_known]] = known.sums
    for own, (where, rows) in zip(sums, selected, strict=True):
        add_amounts(own, where, cells.amounts[:, rows])
    return LabelSums(labels, sums, cells, cells.size + (0 if known is None else known.n_cells))


def add_amounts(sums: np.ndarray, positions: np.ndarray, amounts: np.ndarray) -> None:
    """Add the amounts of cells, int64[n_limbs, n], to the sums of positions."""
    for into, own in zip(sums, amounts, strict=True):
        np.add.at(into, positions, own)
    carry_limbs(sums)


class ContingencyState(State):
    """Counts of pairs of labels.

    Attributes
    ----------
    codes : tuple of LabelCodes
        What the integers of columns of labels mean.
    tables : tuple of CellTable
        The cells.
    cached : object or None
        What metrics read of the tables, made once for all of them.
    """

    __slots__ = ("budget", "cached", "codes", "label_bytes", "tables")

    def __init__(self, n_codes: int, n_tables: int) -> None:
        self.codes = tuple(LabelCodes() for _ in range(n_codes))
        self.tables = tuple(CellTable() for _ in range(n_tables))
        self.cached: Any = None
        self.budget: MemoryBudget | None = None
        self.label_bytes = 0  # reserved

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_state, (type(self), *self.arrays())

    @abstractmethod
    def column_codes(self) -> tuple[ColumnCodes, ...]:
        """The codes of the columns of each table."""

    @property
    def n_bytes(self) -> int:
        """The approximate size of what is in memory."""
        return sum(codes.n_bytes for codes in self.codes) + sum(table.n_bytes for table in self.tables)

    def limit_memory(self, budget: MemoryBudget | None) -> None:
        """Count the tables against a budget; what does not fit is spilled."""
        self.budget = budget
        for table in self.tables:
            table.limit_memory(budget)

    def reserve_labels(self, more: int = 0) -> None:
        """Count the different labels, and more bytes that grow with their number, against the budget.

        They stay in memory.
        """
        grown = sum(codes.n_bytes for codes in self.codes) + more - self.label_bytes
        if self.budget is not None and grown > 0:
            self.budget.require_state(grown, "the different labels")
            self.label_bytes += grown

    def sum_labels(self, table: CellTable, n_columns: int, select: Selection) -> LabelSums:
        """Sums of the labels in the first columns of a table. If its cells are spilled, they count as labels do."""
        parts = table.parts()
        found = add_labels(None, next(parts), n_columns, select)
        pending: list[Cells] = []
        for part in parts:
            pending.append(part)
            if sum(cells.size for cells in pending) >= found.labels.shape[0]:  # each time all labels are sorted
                found = add_labels(found, join_cells(pending), n_columns, select)
                self.reserve_labels(found.n_bytes)
                pending = []
        return add_labels(found, join_cells(pending), n_columns, select) if pending else found

    def close(self) -> None:
        """Free the memory of a state that was merged into another."""
        for table in self.tables:
            table.close()
        if self.budget is not None:
            self.budget.release_state(self.label_bytes)
        self.label_bytes = 0

    def check_merge(self, other: Any) -> None:
        """Check that the labels of both fit the budget together."""
        if self.budget is None:
            return
        n_bytes = [sum(codes.n_bytes for codes in own.codes) for own in (self, other)]
        if self.budget.reserve_state(sum(n_bytes)):  # the memory of codes may double when it grows
            self.budget.release_state(sum(n_bytes))
            return
        grown = -self.label_bytes
        for own, theirs in zip(self.codes, other.codes, strict=True):
            both = LabelCodes()
            both.merge(own)
            both.merge(theirs)
            grown += both.n_bytes
        self.budget.require_state(max(grown, 0), "the different labels")
        self.budget.release_state(max(grown, 0))

    def merge_labels(self, other: Any) -> tuple[np.ndarray | None, ...]:
        """Add the labels of another state; the integer of each of its texts, column by column."""
        self.cached = None
        return tuple(own.merge(theirs) for own, theirs in zip(self.codes, other.codes, strict=True))

    def merge(self, other: Any) -> None:
        """Add the rows of another state of the same kind, which may be this one."""
        integers = self.merge_labels(other)
        self.reserve_labels()
        for table, theirs, columns in zip(self.tables, other.tables, self.column_codes(), strict=True):
            for cells in [theirs.cells()] if theirs is table else theirs.parts():
                table.add_cells(recode_cells(cells, columns, integers))

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The sorted cells of each table; and of each column of labels the texts joined, their offsets and the types.

        States of the same rows have equal arrays, whatever the order of the rows.
        """
        positions, labels = zip(*(codes.arrays() for codes in self.codes), strict=True)
        cells = [
            recode_cells(table.cells(), columns, positions).arrays()
            for table, columns in zip(self.tables, self.column_codes(), strict=True)
        ]
        return tuple(array for own in (*cells, *labels) for array in own)

    def layout(self) -> tuple[tuple[Any, ...], ...]:
        return CELLS * len(self.tables) + LABELS * len(self.codes)

    def load_arrays(self, *arrays: np.ndarray) -> None:
        all_cells = self.read_cells(arrays)
        self.reserve_labels()
        for table, cells in zip(self.tables, all_cells, strict=True):
            table.add_cells(cells)

    def read_cells(self, arrays: tuple[np.ndarray, ...]) -> list[Cells]:
        """The cells of the tables of a state, whose labels are made known here."""
        left = iter(arrays)
        all_cells = [Cells.of_arrays(*islice(left, len(CELLS))) for _ in self.tables]
        n_texts = [codes.load_arrays(*islice(left, len(LABELS))) for codes in self.codes]
        for cells, columns in zip(all_cells, self.column_codes(), strict=True):
            for labels, number in zip((cells.first, cells.second), columns, strict=True):
                known = None if number is None else n_texts[number]
                if number is not None and known is not None:
                    check_state(self.codes[number].is_known(labels, known), "a cell has an unknown label")
        return all_cells


class ContingencyStatistic(Resamplable, ColumnStatistic):
    """Base of statistics whose state is a `ContingencyState` of two columns of labels."""

    __slots__ = ()

    def count_rows(self, rows: NonNumericRows) -> ComparedLabels:
        return ComparedLabels(rows.label, rows.score, rows.weights)

    def add(self, state: Any, counted: ComparedLabels) -> None:
        state.add(counted)

    def recode_rows(self, state: Any, rows: np.ndarray, integers: tuple[np.ndarray | None, ...]) -> np.ndarray:
        return recode_columns(rows, state.column_codes()[0], integers)


def recode_columns(rows: np.ndarray, columns: ColumnCodes, integers: tuple[np.ndarray | None, ...]) -> np.ndarray:
    """Rows of integers in whose first columns the i-th text of codes became integers[i]."""
    recoded = rows.copy()
    for place, number in enumerate(columns):
        codes = None if number is None else integers[number]
        if codes is not None:
            recoded[:, place] = translate_codes(np.ascontiguousarray(rows[:, place]), codes)
    return recoded


def recode_cells(cells: Cells, columns: ColumnCodes, integers: tuple[np.ndarray | None, ...]) -> Cells:
    """Cells in which the i-th text of codes became integers[i]. None: labels stay as they are."""
    own = [None if number is None else integers[number] for number in columns]
    if all(codes is None for codes in own):
        return cells
    first, second = (
        labels if codes is None else translate_codes(labels, codes)
        for labels, codes in zip((cells.first, cells.second), own, strict=True)
    )
    return cells._replace(first=first, second=second)
