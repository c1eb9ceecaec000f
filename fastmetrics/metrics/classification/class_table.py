"""Labels and predicted labels as a state of the engine: the confusion matrix, or the counts of sets of labels.

Labels are identified by value, so tables of any rows can be merged: integers are used directly, texts are encoded by
their bytes, with one code for both columns. Only pairs that occur take memory.

Rows with one class each are counted by the pair of label and prediction. Rows with sets of labels are counted for each
of their labels, with the side it is on; and once by the sizes of the sets and of what they have in common, because all
averages over rows are functions of these three numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.columns.label_columns import ComparedLabels, LabelSets
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.state import check_state
from fastmetrics._core.statistic import ClassTables
from fastmetrics._core.tables.cell_table import Cells, CellTable
from fastmetrics._core.tables.contingency_state import (
    ColumnCodes,
    ContingencyState,
    ContingencyStatistic,
    recode_columns,
)
from fastmetrics._kernels.classification import label_sets as kernel
from fastmetrics.metrics.classification.class_cells import (
    ClassCells,
    SetCounts,
    counted_bytes,
    select_classes,
    select_sides,
)

MAX_REPORTED_CLASSES = 256
LABELS_PER_CHUNK = 1 << 16  # of sets that are matched in one call: they stay in cache
CLASSES, SETS = "class", "set"
FORMS = {CLASSES: "one class in a row", SETS: "sets of labels (lists)"}


def form_of(rows: ComparedLabels) -> str:
    """What a row has: CLASSES or SETS. Both columns have the same, which is checked where they are read."""
    return SETS if isinstance(rows.first, LabelSets) else CLASSES


class SetColumns(NamedTuple):
    """The sets of labels of rows: row i has the labels starts[i] to stops[i] of a column, as integers of a table."""

    labels: np.ndarray
    starts: np.ndarray
    stops: np.ndarray


class MatchedSets(NamedTuple):
    """The labels of rows of sets, each once in a row, with the sides they are on; and the sizes of the rows' sets.

    `rows` are the rows that these are, consecutive ones.
    """

    rows: slice
    labels: np.ndarray
    sides: np.ndarray
    both: np.ndarray
    sizes: np.ndarray

    def labels_per_row(self) -> np.ndarray:
        """The number of labels of each row."""
        true, predicted = self.sizes >> kernel.SIZE_SHIFT, self.sizes & ((1 << kernel.SIZE_SHIFT) - 1)
        return np.asarray(true + predicted - self.both)


def match_sets(true: SetColumns, predicted: SetColumns) -> Iterator[MatchedSets]:
    """Rows with a bounded number of labels at a time, but at least one row. Each is valid until the next one."""
    n_rows, capacity, n_slots = true.starts.shape[0], LABELS_PER_CHUNK, 1
    both, sizes = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    row = 0
    labels, sides, slots = new_scratch(capacity, n_slots)
    while row < n_rows:
        stop, found = kernel.match_sets(*true, *predicted, row, slots, labels, sides, both, sizes)
        if stop == row:
            length = int(true.stops[row] - true.starts[row] + predicted.stops[row] - predicted.starts[row])
            labels, sides, slots = new_scratch(max(length, capacity), 1 << (2 * length).bit_length())
            continue
        slots[:] = 0
        yield MatchedSets(slice(row, stop), labels[:found], sides[:found], both[row:stop], sizes[row:stop])
        row = stop


def new_scratch(n_labels: int, n_slots: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Memory for labels and their sides, and empty slots of a hash table."""
    return np.empty(n_labels, np.int64), np.empty(n_labels, np.int64), np.zeros((n_slots, 2), np.int64)


class ClassTable(ContingencyState):
    """Rows and weights of each pair of a label and a predicted label, or of sets of labels.

    Attributes
    ----------
    form : str
        What a row has: CLASSES or SETS; empty until rows are there.
    """

    __slots__ = ("form",)

    def __init__(self) -> None:
        super().__init__(n_codes=1, n_tables=2)
        self.form = ""

    def column_codes(self) -> tuple[ColumnCodes, ...]:
        return (0, None if self.form == SETS else 0), (None, None)

    @property
    def cells(self) -> CellTable:
        """Of classes: the pairs of label and prediction. Of sets: the pairs of a label and the side it is on."""
        return self.tables[0]

    @property
    def sizes(self) -> CellTable:
        """Of sets: the pairs of the number of labels on both sides and the sizes of both sets, in one integer."""
        return self.tables[1]

    @property
    def n_rows(self) -> int:
        return self.sizes.n_rows if self.form == SETS else self.cells.n_rows

    def set_form(self, form: str) -> None:
        """Check that all rows have one form."""
        if self.form and form and self.form != form:
            raise ValueError(f"labels that are {FORMS[self.form]} cannot be combined with {FORMS[form]}")
        self.form = self.form or form
        self.cached = None

    def add(self, rows: ComparedLabels) -> None:
        """Count and weigh rows."""
        self.set_form(form_of(rows))
        if self.form == CLASSES:
            first, second = self.number_labels(rows)
            self.reserve_labels()
            self.cells.add(first, second, None, rows.weights)
            return
        columns = tuple(self.number_sets(rows))
        self.reserve_labels()
        for sets in match_sets(*columns):
            weights = None if rows.weights is None else rows.weights[sets.rows]
            label_weights = None if weights is None else np.repeat(weights, sets.labels_per_row())
            self.cells.add(sets.labels, sets.sides, None, label_weights)
            self.sizes.add(sets.both, sets.sizes, None, weights)

    def number_labels(self, rows: ComparedLabels) -> tuple[np.ndarray, np.ndarray]:
        """The classes of rows as the integers of this table."""
        (codes,) = self.codes
        codes.add_types(rows.first.type_name, rows.second.type_name)
        return codes.number(rows.first), codes.number(rows.second)

    def number_sets(self, rows: ComparedLabels) -> Iterator[SetColumns]:
        """The sets of rows as integers of this table, of both columns."""
        (codes,) = self.codes
        codes.add_types(rows.first.type_name, rows.second.type_name)
        for column in (rows.first, rows.second):
            if column.labels.texts is None:
                yield SetColumns(codes.number(column.labels), *map(np.ascontiguousarray, column.spans))
            else:
                labels, offsets = column.gather()
                yield SetColumns(codes.number(labels), offsets[:-1], offsets[1:])

    def merge(self, other: ClassTable) -> None:
        if other.form:
            self.set_form(other.form)
            super().merge(other)

    def arrays(self) -> tuple[np.ndarray, ...]:
        return *super().arrays(), np.frombuffer(self.form.encode(), np.uint8)

    def layout(self) -> tuple[tuple[Any, ...], ...]:
        return *super().layout(), (np.uint8, None)

    def read_cells(self, arrays: tuple[np.ndarray, ...]) -> list[Cells]:
        form = arrays[-1].tobytes().decode("utf-8", "replace")
        check_state(form in ("", *FORMS), "it has neither classes nor sets of labels")
        self.set_form(form)
        cells, sizes = super().read_cells(arrays)
        check_state(bool(form) or not cells.size, "it has labels of no form")
        check_state(form == SETS or not sizes.size, "it has sizes of sets without sets")
        if form == SETS:
            check_sets(cells, sizes)
        return [cells, sizes]

    def class_cells(self) -> ClassCells | SetCounts:
        """The cells with sorted labels, made once for all metrics."""
        if self.cached is None:
            self.cached = self.sort_labels()
        cells: ClassCells | SetCounts = self.cached
        return cells

    def sort_labels(self) -> ClassCells | SetCounts:
        (codes,) = self.codes
        is_set = self.form == SETS
        found = self.sum_labels(self.cells, *((1, select_sides) if is_set else (2, select_classes)))
        if self.cells.moved is not None:
            self.reserve_labels(counted_bytes(found))
        return SetCounts(codes, found, self.sizes) if is_set else ClassCells(codes, found, self.cells)


def check_sets(labels: Cells, sizes: Cells) -> None:
    """Check that the cells of a state are those of sets."""
    sides = (kernel.TRUE_ONLY, kernel.PREDICTED_ONLY, kernel.BOTH)
    check_state(np.isin(labels.second, sides).all(), "a label is on no side")
    true, predicted = sizes.second >> kernel.SIZE_SHIFT, sizes.second & ((1 << kernel.SIZE_SHIFT) - 1)
    in_range = (sizes.first >= 0) & (sizes.first <= true) & (sizes.first <= predicted)
    check_state(in_range.all(), "a set is smaller than what it has in common with another")
    for cell_sums, total in (
        (labels.counts[labels.second == kernel.BOTH], sizes.first),
        (labels.counts[labels.second != kernel.PREDICTED_ONLY], true),
        (labels.counts[labels.second != kernel.TRUE_ONLY], predicted),
    ):
        check_state(cell_sums.sum() == (total * sizes.counts).sum(), "its labels are not those of its sets")


class ClassTableCounts(ClassTables, ContingencyStatistic):
    """The rows and weights of each pair of a label and a predicted label, or of sets of labels."""

    __slots__ = ()

    def empty(self) -> ClassTable:
        return ClassTable()

    def confusion_matrix(self, state: ClassTable) -> tuple[tuple[Any, ...], tuple[tuple[float, ...], ...]] | None:
        """The classes and the counts of a table for reports; None if there are no rows or too many classes."""
        cells = state.class_cells()
        if not isinstance(cells, ClassCells) or not 0 < len(cells.classes) <= MAX_REPORTED_CLASSES:
            return None
        return tuple(cells.classes), tuple(map(tuple, cells.matrix().tolist()))

    def label_table(self, state: ClassTable) -> tuple[tuple[Any, ...], ...] | None:
        """The labels of sets, and their rows with the label on both sides, as a true and as a predicted label."""
        counts = state.class_cells()
        if not isinstance(counts, SetCounts) or not 0 < len(counts.classes) <= MAX_REPORTED_CLASSES:
            return None
        return tuple(counts.classes), *(tuple(counts.as_numbers(own).tolist()) for own in counts.margins[:3])

    def number_rows(self, state: ClassTable, counted: ComparedLabels) -> Any:
        """Rows as integers of a table, and the bits of their weights: int64[n, 2] or int64[n, 3].

        Rows of sets become several rows, one for each label and one for the sizes, with a column before the others
        that says which they are; and the numbers of their rows.
        """
        state.set_form(form_of(counted))
        if state.form == CLASSES:
            return stack_columns(state.number_labels(counted), counted.weights)
        blocks: list[np.ndarray] = []
        origins: list[np.ndarray] = []
        for sets in match_sets(*state.number_sets(counted)):
            rows = np.arange(sets.rows.start, sets.rows.stop)
            for is_label, of_rows, columns in (
                (1, np.repeat(rows, sets.labels_per_row()), (sets.labels, sets.sides)),
                (0, rows, (sets.both, sets.sizes)),
            ):
                weights = None if counted.weights is None else counted.weights[of_rows]
                blocks.append(stack_columns((np.full_like(of_rows, is_label), *columns), weights))
                origins.append(of_rows)
        return np.concatenate(blocks), np.concatenate(origins)

    def recode_rows(self, state: ClassTable, rows: np.ndarray, integers: tuple[np.ndarray | None, ...]) -> np.ndarray:
        if state.form != SETS:
            return super().recode_rows(state, rows, integers)
        recoded, is_label = rows.copy(), rows[:, 0] == 1
        recoded[is_label, 1:] = recode_columns(rows[is_label, 1:], (0, None), integers)
        return recoded

    def from_cells(self, state: ClassTable, rows: np.ndarray, counts: np.ndarray) -> ClassTable:
        """A table with the given rows of `number_rows` and counts."""
        table = ClassTable()
        table.codes, table.form = tuple(codes.copy_labels() for codes in state.codes), state.form
        if state.form != SETS:
            add_columns(table.cells, rows, counts)
            return table
        is_label = rows[:, 0] == 1
        add_columns(table.cells, rows[is_label, 1:], counts[is_label])
        add_columns(table.sizes, rows[~is_label, 1:], counts[~is_label])
        return table


def stack_columns(columns: tuple[np.ndarray, ...], weights: np.ndarray | None) -> np.ndarray:
    """Columns of integers side by side, and the bits of the weights."""
    return np.stack(columns if weights is None else (*columns, weights.view(np.int64)), axis=1)


def add_columns(table: CellTable, rows: np.ndarray, counts: np.ndarray) -> None:
    """Add pairs of integers, with the bits of their weights if there are any, each so many times."""
    first, second, *weights = (np.ascontiguousarray(column) for column in rows.T)
    table.add(first, second, np.ascontiguousarray(counts), weights[0].view(np.float64) if weights else None)
