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

from fastmetrics._core import exact
from fastmetrics._core.columns.label_codes import LabelCodes, check_state, translate_codes
from fastmetrics._core.columns.label_columns import LabelSets
from fastmetrics._core.columns.row_blocks import ColumnPair
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.memory_size import format_size
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.state import State
from fastmetrics._core.statistic import ClassTables, ColumnStatistic, Resamplable
from fastmetrics._core.tables.cell_table import Cells, CellTable
from fastmetrics._kernels.classification import label_sets as kernel
from fastmetrics.metrics.classification.class_cells import ClassCells, SetCounts

MAX_REPORTED_CLASSES = 256
LABELS_PER_CHUNK = 1 << 16  # of sets that are matched in one call: they stay in cache
CLASSES, SETS = "class", "set"
FORMS = {CLASSES: "one class in a row", SETS: "sets of labels (lists)"}


class LabeledRows:
    """The labels and the predicted labels of rows, with their weights. Rows are selected with NumPy's indexing.

    Columns are LabelColumn or LabelSets.
    """

    __slots__ = ("label", "prediction", "weights")

    def __init__(self, label: Any, prediction: Any, weights: np.ndarray | None) -> None:
        self.label = label
        self.prediction = prediction
        self.weights = weights

    def __getitem__(self, where: Any) -> LabeledRows:
        weights = None if self.weights is None else self.weights[where]
        return LabeledRows(self.label[where], self.prediction[where], weights)

    def form(self) -> str:
        """What a row has: CLASSES or SETS."""
        label, prediction = (SETS if isinstance(own, LabelSets) else CLASSES for own in (self.label, self.prediction))
        if label != prediction:
            raise ValueError(
                f"labels are {FORMS[label]}, and predictions are {FORMS[prediction]}: both columns have to be lists, "
                "or none"
            )
        return label


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


class ClassTable(State):
    """Rows and weights of each pair of a label and a predicted label, or of sets of labels.

    Attributes
    ----------
    codes : LabelCodes
        What the integers of the cells mean.
    cells : CellTable
        Of classes: the pairs of label and prediction. Of sets: the pairs of a label and the side it is on.
    sizes : CellTable
        Of sets: the pairs of the number of labels on both sides and the sizes of both sets, in one integer.
    form : str
        What a row has: CLASSES or SETS; empty until rows are there.
    """

    __slots__ = ("budget", "cached", "cells", "codes", "form", "reserved", "sizes")

    def __init__(self) -> None:
        self.budget: MemoryBudget | None = None
        self.reserved = 0
        self.cached: ClassCells | SetCounts | None = None
        self.codes = LabelCodes()
        self.cells = CellTable()
        self.sizes = CellTable()
        self.form = ""

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_table, self.arrays()

    @property
    def n_bytes(self) -> int:
        """The approximate size."""
        return self.codes.n_bytes + self.cells.n_bytes + (self.sizes.n_bytes if self.form == SETS else 0)

    @property
    def n_rows(self) -> int:
        rows = self.sizes if self.form == SETS else self.cells
        total: int = rows.counts.sum().item()
        return total

    def limit_memory(self, budget: MemoryBudget | None) -> None:
        """Count the table against a budget."""
        self.budget = budget

    def reserve(self) -> None:
        """Count what the table has grown against the budget: it stays in memory."""
        grown = self.n_bytes - self.reserved
        if self.budget is None or grown <= 0:
            return
        if not self.budget.reserve_state(grown):
            raise ValueError(
                "the pairs of different labels and predictions take more than half of "
                f"memory_limit={format_size(self.budget.limit)}, which is all that they may take; allow more memory"
            )
        self.reserved += grown

    def close(self) -> None:
        """Free the memory of a table that was merged into another."""
        if self.budget is not None:
            self.budget.release_state(self.reserved)
        self.reserved = 0

    def set_form(self, form: str) -> None:
        """Check that all rows have one form."""
        if self.form and form and self.form != form:
            raise ValueError(f"labels that are {FORMS[self.form]} cannot be combined with {FORMS[form]}")
        self.form = self.form or form
        self.cached = None

    def add(self, rows: LabeledRows) -> None:
        """Count and weigh rows."""
        self.set_form(rows.form())
        if self.form == CLASSES:
            first, second = self.number_labels(rows)
            self.cells.add(first, second, None, rows.weights)
        else:
            for sets in match_sets(*self.number_sets(rows)):
                weights = None if rows.weights is None else rows.weights[sets.rows]
                label_weights = None if weights is None else np.repeat(weights, sets.labels_per_row())
                self.cells.add(sets.labels, sets.sides, None, label_weights)
                self.sizes.add(sets.both, sets.sizes, None, weights)
        self.reserve()

    def number_labels(self, rows: LabeledRows) -> tuple[np.ndarray, np.ndarray]:
        """The classes of rows as the integers of this table."""
        self.codes.add_types(rows.label.type_name, rows.prediction.type_name)
        return self.codes.number(rows.label), self.codes.number(rows.prediction)

    def number_sets(self, rows: LabeledRows) -> Iterator[SetColumns]:
        """The sets of rows as integers of this table, of both columns."""
        self.codes.add_types(rows.label.type_name, rows.prediction.type_name)
        for column in (rows.label, rows.prediction):
            if column.labels.texts is None:
                yield SetColumns(self.codes.number(column.labels), *map(np.ascontiguousarray, column.spans))
            else:
                labels, offsets = column.gather()
                yield SetColumns(self.codes.number(labels), offsets[:-1], offsets[1:])

    def merge(self, other: ClassTable) -> None:
        """Add the rows of another table, which may be this one."""
        if not other.form:
            return
        self.set_form(other.form)
        cells, sizes = other.cells.cells(), other.sizes.cells()
        self.cells.add_cells(self.recode(cells, self.codes.merge(other.codes)))
        self.sizes.add_cells(sizes)

    def recode(self, cells: Cells, codes: np.ndarray | None) -> Cells:
        """Cells whose i-th text became codes[i]. None: labels stay as they are."""
        if codes is None:
            return cells
        second = translate_codes(cells.second, codes) if self.form == CLASSES else cells.second
        return cells._replace(first=translate_codes(cells.first, codes), second=second)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Cells sorted by label and prediction, those of sizes, the texts of labels joined, their offsets, the types.

        Tables of the same rows have equal arrays, whatever the order of the rows.
        """
        positions, labels = self.codes.arrays()
        form = np.frombuffer(self.form.encode(), np.uint8)
        cells = self.recode(self.cells.cells(), positions)
        return *cells.arrays(), *self.sizes.cells().arrays(), *labels, form

    def layout(self) -> tuple[tuple[Any, ...], ...]:
        numbers, letters = (np.int64, None), (np.uint8, None)
        cells = numbers, numbers, numbers, (np.int64, None, exact.SIZE)
        return *cells, *cells, letters, numbers, letters, letters

    def load_arrays(self, *arrays: np.ndarray) -> None:
        cells, sizes = Cells.of_arrays(*arrays[:4]), Cells.of_arrays(*arrays[4:8])
        form = arrays[-1].tobytes().decode("utf-8", "replace")
        check_state(form in ("", *FORMS), "it has neither classes nor sets of labels")
        check_state(bool(form) or not cells.size, "it has labels of no form")
        check_state(form == SETS or not sizes.size, "it has sizes of sets without sets")
        self.set_form(form)
        n_texts = self.codes.load_arrays(*arrays[8:11])
        if n_texts is not None:
            for codes in (cells.first, cells.second) if form == CLASSES else (cells.first,):
                check_state(self.codes.is_known(codes, n_texts), "a cell has an unknown label")
        if form == SETS:
            check_sets(cells, sizes)
        self.cells.load_cells(cells)
        self.sizes.load_cells(sizes)

    def class_cells(self) -> ClassCells | SetCounts:
        """The cells with sorted labels, made once for all metrics."""
        if self.cached is None:
            self.cached = self.sort_labels()
        return self.cached

    def sort_labels(self) -> ClassCells | SetCounts:
        cells = self.cells.cells()
        labels = cells.first if self.form == SETS else np.concatenate((cells.first, cells.second))
        codes, positions = np.unique(labels, return_inverse=True)
        classes, ranks = self.codes.sort_labels(codes)
        positions = ranks[positions]
        if self.form == SETS:
            return SetCounts(classes, positions, cells, self.sizes.cells())
        n = cells.first.shape[0]
        return ClassCells(classes, positions[:n], positions[n:], cells)


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


def restore_table(*arrays: np.ndarray) -> ClassTable:
    """Unpickle a table."""
    table = ClassTable()
    table.load_arrays(*arrays)
    return table


class ClassTableCounts(ClassTables, Resamplable, ColumnStatistic):
    """The rows and weights of each pair of a label and a predicted label, or of sets of labels."""

    __slots__ = ()
    def empty(self) -> ClassTable:
        return ClassTable()

    def count_rows(self, rows: ColumnPair) -> LabeledRows:
        return LabeledRows(rows.label, rows.score, rows.weights)

    def add(self, state: ClassTable, counted: LabeledRows) -> None:
        state.add(counted)

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

    def number_rows(self, state: ClassTable, counted: LabeledRows) -> Any:
        """Rows as integers of a table, and the bits of their weights: int64[n, 2] or int64[n, 3].

        Rows of sets become several rows, one for each label and one for the sizes, with a column before the others
        that says which they are; and the numbers of their rows.
        """
        state.set_form(counted.form())
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

    def from_cells(self, state: ClassTable, rows: np.ndarray, counts: np.ndarray) -> ClassTable:
        """A table with the given rows of `number_rows` and counts."""
        table = ClassTable()
        table.codes, table.form = state.codes.copy_labels(), state.form
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


def add_columns(cells: CellTable, rows: np.ndarray, counts: np.ndarray) -> None:
    """Add pairs of integers, with the bits of their weights if there are any, each so many times."""
    first, second, *weights = (np.ascontiguousarray(column) for column in rows.T)
    cells.add(first, second, np.ascontiguousarray(counts), weights[0].view(np.float64) if weights else None)
