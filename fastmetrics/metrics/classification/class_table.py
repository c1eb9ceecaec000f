"""The confusion matrix as a state of the engine: rows of each pair of a label and a predicted label, and their weights.

Labels are identified by value, so tables of any rows can be merged: integers are used directly, texts are encoded by
their bytes, with one code for both columns. Only pairs that occur take memory.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.key_types import dtype_of_arrow
from fastmetrics._core.columns.label_columns import BOOLEAN, INTEGER, LabelColumn
from fastmetrics._core.columns.row_blocks import ColumnPair
from fastmetrics._core.columns.text_columns import TextColumn
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.memory_size import format_size
from fastmetrics._core.statistic import Statistic
from fastmetrics._kernels.classification import cell_numbers as kernel
from fastmetrics._kernels.columns.text_codes import TextCodes
from fastmetrics.metrics.classification.confusion_matrix import ClassMargins

SLOT_BYTES = 24
MIN_CELLS = 64
MAX_REPORTED_CLASSES = 256
MAX_TEXTS_PER_ROW = 4  # a dictionary with more texts per row is not read as a whole
NUMBERS = {INTEGER, BOOLEAN}
NO_NUMBERS: np.ndarray = np.empty(0, np.int64)
NO_BYTES: np.ndarray = np.empty(0, np.uint8)


class Cells(NamedTuple):
    """Pairs of a label and a prediction, their rows, and their exact weights if rows have weights."""

    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray
    states: np.ndarray | None


class LabeledRows:
    """The labels and the predicted labels of rows, with their weights. Rows are selected with NumPy's indexing."""

    __slots__ = ("label", "prediction", "weights")

    def __init__(self, label: LabelColumn, prediction: LabelColumn, weights: np.ndarray | None) -> None:
        self.label = label
        self.prediction = prediction
        self.weights = weights

    def __getitem__(self, where: Any) -> LabeledRows:
        weights = None if self.weights is None else self.weights[where]
        return LabeledRows(self.label[where], self.prediction[where], weights)


class ClassTable:
    """Rows and weights of each pair of a label and a predicted label.

    Attributes
    ----------
    numbers : CellNumbers
        The number of each pair that occurs: a position in the next two.
    counts : ndarray
        The rows of each pair.
    states : ndarray or None
        The exact weight of each pair, if rows have weights.
    texts : TextCodes or None
        The codes of labels that are texts.
    types : list of str
        The type of labels and that of predicted labels; empty until rows are there.
    """

    __slots__ = ("budget", "cached", "counts", "numbers", "reserved", "states", "texts", "types")

    def __init__(self) -> None:
        self.budget: MemoryBudget | None = None
        self.reserved = 0
        self.cached: ClassCells | None = None
        self.numbers = kernel.CellNumbers()
        self.counts: np.ndarray = np.zeros(MIN_CELLS, np.int64)
        self.states: np.ndarray | None = None
        self.texts: TextCodes | None = None
        self.types = ["", ""]

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_table, self.arrays()

    @property
    def n_bytes(self) -> int:
        """The approximate size."""
        slots = 4 << max(5, self.numbers.size.bit_length())
        states = 0 if self.states is None else self.states.nbytes
        return slots * SLOT_BYTES + self.counts.nbytes + states + (0 if self.texts is None else self.texts.n_bytes)

    @property
    def n_rows(self) -> int:
        total: int = self.counts.sum().item()
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

    def add(self, rows: LabeledRows) -> None:
        """Count and weigh rows."""
        first, second = self.number_labels(rows)
        self.add_cells(first, second, None, rows.weights)
        self.reserve()

    def number_labels(self, rows: LabeledRows) -> tuple[np.ndarray, np.ndarray]:
        """The labels of rows as the integers of this table."""
        self.add_types(rows.label.type_name, rows.prediction.type_name)
        return self.number_column(rows.label), self.number_column(rows.prediction)

    def number_column(self, column: LabelColumn) -> np.ndarray:
        codes, texts = column.codes, column.texts
        if texts is None:
            return np.ascontiguousarray(codes)
        if codes is None:
            return self.number_texts(texts)
        if texts.rows > MAX_TEXTS_PER_ROW * codes.shape[0]:
            used, codes = np.unique(codes, return_inverse=True)
            return np.take(self.number_texts(texts[used]), codes)
        present = np.zeros(texts.rows, bool)
        present[codes] = True
        numbers = np.empty(texts.rows, np.int64)
        numbers[present] = self.number_texts(texts if present.all() else texts[present])
        return np.take(numbers, codes)

    def number_texts(self, texts: TextColumn) -> np.ndarray:
        """The integers of texts. New texts get the next integers."""
        if self.texts is None:
            self.texts = TextCodes()
        numbers = np.empty(texts.rows, np.int64)
        self.texts.encode(texts.data, np.ascontiguousarray(texts.starts), np.ascontiguousarray(texts.stops), numbers)
        return numbers

    def add_types(self, *types: str) -> None:
        """Check that labels are of one type. Integers and booleans are."""
        self.cached = None
        for side, found in enumerate(types):
            known = self.types[side] or found
            if known != found and not {known, found} <= NUMBERS:
                raise ValueError(f"labels of type {known} cannot be combined with labels of type {found}")
            self.types[side] = known if known == found else INTEGER
        label, prediction = self.types
        if label != prediction and not {label, prediction} <= NUMBERS:
            raise ValueError(
                f"labels are of type {label}, and predictions of type {prediction}: both have to be of one type; "
                "cast one of the columns"
            )

    def add_cells(
        self, first: np.ndarray, second: np.ndarray, counts: np.ndarray | None, weights: np.ndarray | None
    ) -> np.ndarray:
        """Add pairs, each once or `counts` times, with the weights of one row each. Returns their numbers."""
        numbers = np.empty(first.shape[0], np.int64)
        self.cached = None
        self.numbers.number(first, second, numbers)
        self.grow(weights is not None)
        if counts is None:
            kernel.count_numbers(numbers, self.counts)
        else:
            np.add.at(self.counts, numbers, counts)
        if self.states is not None and weights is not None:
            kernel.weigh_numbers(numbers, weights, self.states, counts)
        return numbers

    def grow(self, is_weighted: bool) -> None:
        """Make room for the counts and the weights of all pairs."""
        cells = self.counts.shape[0]
        if self.numbers.size > cells:
            cells = max(2 * cells, self.numbers.size)
            self.counts = np.append(self.counts, np.zeros(cells - self.counts.shape[0], np.int64))
        if is_weighted and self.states is None:
            self.states = exact.new_states(cells)
        elif self.states is not None and self.states.shape[0] < cells:
            self.states = np.concatenate((self.states, exact.new_states(cells - self.states.shape[0])))

    def merge(self, other: ClassTable) -> None:
        """Add the rows of another table, which may be this one."""
        cells = other.cells()
        if not cells.counts.shape[0]:
            return
        self.cached = None
        self.add_types(*other.types)
        first, second = cells.first, cells.second
        if other.texts is not None:
            data, offsets = other.texts.texts()
            translated = self.number_texts(TextColumn(data, offsets[:-1], offsets[1:]))
            first, second = np.take(translated, first), np.take(translated, second)
        numbers = self.add_cells(first, second, cells.counts, None)
        if cells.states is not None:
            self.add_states(numbers, cells.states)

    def add_states(self, numbers: np.ndarray, states: np.ndarray) -> None:
        """Add exact weights to pairs, each of which occurs once."""
        self.grow(True)
        if self.states is not None:
            merged = self.states[numbers]
            exact.merge_states(merged, states)
            self.states[numbers] = merged

    def cells(self) -> Cells:
        """The pairs by number, with their rows and their weights."""
        first, second = self.numbers.pairs()
        n = first.shape[0]
        return Cells(first, second, self.counts[:n].copy(), None if self.states is None else self.states[:n].copy())

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The cells sorted by label and prediction, the texts of labels joined, their offsets, and the types.

        Tables of the same rows have equal arrays, whatever the order of the rows.
        """
        cells = self.cells()
        data, offsets = NO_BYTES, NO_NUMBERS
        first, second = cells.first, cells.second
        if self.texts is not None:
            texts = self.class_texts()
            by_text = sorted(range(len(texts)), key=texts.__getitem__)
            positions = np.empty(len(texts), np.int64)
            positions[by_text] = np.arange(len(texts))
            first, second = positions[first], positions[second]
            offsets = np.cumsum([0, *(len(texts[number]) for number in by_text)], dtype=np.int64)
            data = np.frombuffer(b"".join(texts[number] for number in by_text), np.uint8)
        order = np.lexsort((second, first))
        states = exact.new_states(0) if cells.states is None else cells.states[order]
        types = np.frombuffer("\n".join(self.types).encode(), np.uint8)
        return first[order], second[order], cells.counts[order], states, data, offsets, types

    def layout(self) -> tuple[tuple[Any, ...], ...]:
        numbers = (np.int64, None)
        return numbers, numbers, numbers, (np.int64, None, exact.SIZE), (np.uint8, None), numbers, (np.uint8, None)

    def load_arrays(self, *arrays: np.ndarray) -> None:
        first, second, counts, states, data, offsets, types = arrays
        check_state(first.shape == second.shape == counts.shape, "its arrays of cells have different lengths")
        check_state(states.shape[0] in (0, first.shape[0]), "its weights are not those of its cells")
        check_state((counts > 0).all(), "a cell has no rows")
        words = types.tobytes().decode("utf-8", "replace").split("\n")
        check_state(len(words) == len(self.types), "its labels have no types")
        self.add_types(*words)
        n_texts = offsets.shape[0] - 1
        if n_texts >= 0:
            in_order = (offsets[1:] >= offsets[:-1]).all() and offsets[0] == 0 and offsets[-1] == data.shape[0]
            check_state(in_order, "the offsets of texts do not match their bytes")
            for codes in (first, second):
                check_state(((codes >= 0) & (codes < n_texts)).all(), "a cell has an unknown label")
            numbers = self.number_texts(TextColumn(data, offsets[:-1], offsets[1:]))
            check_state((numbers == np.arange(n_texts)).all(), "a label occurs twice")
        self.add_cells(first, second, counts, None)
        check_state(self.numbers.size == first.shape[0], "a cell occurs twice")
        if states.shape[0]:
            self.add_states(np.arange(states.shape[0]), states)

    def class_texts(self) -> list[bytes]:
        """The texts of labels, by their codes."""
        data, offsets = (NO_BYTES, np.zeros(1, np.int64)) if self.texts is None else self.texts.texts()
        joined, ends = data.tobytes(), offsets.tolist()
        return [joined[start:stop] for start, stop in pairwise(ends)]

    def class_cells(self) -> ClassCells:
        """The cells with sorted classes, made once for all metrics."""
        if self.cached is None:
            self.cached = self.sort_classes()
        return self.cached

    def sort_classes(self) -> ClassCells:
        cells = self.cells()
        codes, positions = np.unique(np.concatenate((cells.first, cells.second)), return_inverse=True)
        if self.texts is not None:
            texts = self.class_texts()
            texts_of_codes = [texts[code] for code in codes.tolist()]
            order = sorted(range(len(texts_of_codes)), key=texts_of_codes.__getitem__)
            ranks = np.empty(len(order), np.int64)
            ranks[order] = np.arange(len(order))
            positions = ranks[positions]
            classes: list[Any] = [texts_of_codes[number].decode("utf-8", "surrogateescape") for number in order]
        else:
            classes = decode_classes(codes, self.types)
        n = cells.first.shape[0]
        return ClassCells(classes, positions[:n], positions[n:], cells.counts, cells.states)


class ClassCells:
    """The cells of a confusion matrix, not the empty ones.

    Attributes
    ----------
    classes : list
        All labels, sorted.
    true, predicted : ndarray
        Of each cell, the positions of its label and of its predicted label among the classes.
    counts : ndarray
        The rows of each cell.
    states : ndarray or None
        The exact weight of each cell, if rows have weights.
    """

    __slots__ = ("classes", "counts", "margins", "predicted", "states", "true")

    def __init__(
        self, classes: list[Any], true: np.ndarray, predicted: np.ndarray, counts: np.ndarray, states: np.ndarray | None
    ) -> None:
        self.classes = classes
        self.true = true
        self.predicted = predicted
        self.counts = counts
        self.states = states
        right = true == predicted
        none = slice(None)
        self.margins = ClassMargins(
            self.sum_by(true[right], right), self.sum_by(true, none), self.sum_by(predicted, none), 0
        )
        self.margins = self.margins._replace(total=sum(self.margins.true))

    @property
    def unit(self) -> int:
        """What one row counts in integers of the margins: 1, or the unit of exact weights."""
        return 1 if self.states is None else 1 << exact.EXPONENT

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    def sum_by(self, positions: np.ndarray, cells: Any, size: int | None = None) -> list[int]:
        """The rows, or the exact weights, of selected cells, by their positions among `size` (default: the classes)."""
        size = len(self.classes) if size is None else size
        if self.states is None:
            sums = np.zeros(size, np.int64)
            np.add.at(sums, positions, self.counts[cells])
            return [int(value) for value in sums]
        states = exact.new_states(size)
        np.add.at(states, positions, self.states[cells])
        exact.merge_states(states, exact.new_states(size))  # sums of limbs are normalised
        return [exact.to_integer(state) for state in states]

    def as_numbers(self, integers: list[int]) -> np.ndarray:
        """Integers of the margins as rows (int64) or as weights (float64, each rounded once)."""
        if self.states is None:
            return np.array(integers, np.int64)
        return np.array([exact.divide(value, self.unit) for value in integers], np.float64)

    def matrix(self) -> np.ndarray:
        """The confusion matrix, with a row and a column for every class."""
        n = len(self.classes)
        matrix = np.zeros((n, n), np.int64 if self.states is None else np.float64)
        n_cells = self.counts.shape[0]
        matrix[self.true, self.predicted] = self.as_numbers(self.sum_by(np.arange(n_cells), slice(None), n_cells))
        return matrix


def decode_classes(codes: np.ndarray, types: list[str]) -> list[Any]:
    """Classes that are no texts, as Python values."""
    if set(types) == {BOOLEAN}:
        return [bool(code) for code in codes.tolist()]
    if set(types) <= NUMBERS or not codes.shape[0]:
        return [int(code) for code in codes.tolist()]
    return list(codes.view(dtype_of_arrow(types[0], "the label")).astype(object))


def restore_table(*arrays: np.ndarray) -> ClassTable:
    """Unpickle a table."""
    table = ClassTable()
    table.load_arrays(*arrays)
    return table


def check_state(is_valid: Any, message: str) -> None:
    if not is_valid:
        raise ValueError(message)


class ClassTableCounts(Statistic):
    """The rows and weights of each pair of a label and a predicted label."""

    def new(self) -> ClassTable:
        return ClassTable()

    def count_rows(self, rows: ColumnPair) -> LabeledRows:
        return LabeledRows(rows.label, rows.score, rows.weights)

    def add(self, state: ClassTable, counted: LabeledRows) -> None:
        state.add(counted)

    def confusion_matrix(self, state: ClassTable) -> tuple[tuple[Any, ...], tuple[tuple[float, ...], ...]] | None:
        """The classes and the counts of a table for reports; None if there are no rows or too many classes."""
        cells = state.class_cells()
        if not 0 < len(cells.classes) <= MAX_REPORTED_CLASSES:
            return None
        return tuple(cells.classes), tuple(map(tuple, cells.matrix().tolist()))

    def number_rows(self, state: ClassTable, counted: LabeledRows) -> np.ndarray:
        """The labels of rows as the integers of a table, and the bits of their weights: int64[n, 2] or int64[n, 3]."""
        columns = list(state.number_labels(counted))
        if counted.weights is not None:
            columns.append(counted.weights.view(np.int64))
        return np.stack(columns, axis=1)

    def from_cells(self, state: ClassTable, rows: np.ndarray, counts: np.ndarray) -> ClassTable:
        """A table with the given rows of `number_rows` and counts."""
        table = ClassTable()
        table.texts, table.types = state.texts, state.types
        first, second, *weights = (np.ascontiguousarray(column) for column in rows.T)
        table.add_cells(first, second, counts, weights[0].view(np.float64) if weights else None)
        return table
