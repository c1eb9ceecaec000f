"""Counts of pairs of labels in the rows read so far: the engine's state for every metric of two partitions.

Tables identify labels by value, so tables of any rows can be merged: integers are used directly, texts are encoded by
their bytes. A table has one cell for every pair that occurs, whatever the number of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns.categorical import encode_numbers
from fastmetrics._core.columns.label_columns import LabelColumn, LabelPairs
from fastmetrics._core.columns.row_blocks import ColumnPair
from fastmetrics._core.columns.text_columns import TextColumn
from fastmetrics._core.statistic import Statistic
from fastmetrics._kernels.clustering.contingency_table import PairCounter
from fastmetrics._kernels.columns.text_codes import TextCodes
from fastmetrics.metrics.clustering.contingency import Contingency

SIDES = (0, 1)  # classes, clusters
SLOT_BYTES = 24
MAX_TEXTS_PER_ROW = 4  # a dictionary with more texts per row is not read as a whole
NO_TEXTS: np.ndarray = np.empty(0, np.uint8)
NO_OFFSETS: np.ndarray = np.empty(0, np.int64)


class PairTable:
    """Counts of pairs of labels. `texts` encodes the texts of each side; it is None for a side of integers."""

    __slots__ = ("cached_contingency", "counter", "texts")

    def __init__(self) -> None:
        self.counter = PairCounter()
        self.texts: list[TextCodes | None] = [None, None]
        self.cached_contingency: Contingency | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_table, self.arrays()

    @property
    def n_bytes(self) -> int:
        """The approximate size: slots are a power of two, at most half of them in use."""
        slots = 2 << max(5, (self.counter.size - 1).bit_length())
        return slots * SLOT_BYTES + sum(texts.n_bytes for texts in self.texts if texts is not None)

    @property
    def n_rows(self) -> int:
        return self.counter.total

    def add(self, pairs: LabelPairs) -> None:
        """Count rows."""
        first, second = (self.number_rows(side, column) for side, column in enumerate(pairs.columns))
        self.cached_contingency = None
        self.counter.add(first, second, 0, pairs.rows)

    def number_rows(self, side: int, column: LabelColumn) -> np.ndarray:
        """The labels of rows as the integers of this table."""
        codes, texts = column.codes, column.texts
        self.check_kind(side, texts is not None)
        if codes is None or texts is None:
            return np.ascontiguousarray(codes) if texts is None else self.number_texts(side, texts)
        if texts.rows > MAX_TEXTS_PER_ROW * codes.shape[0]:
            used, codes = np.unique(codes, return_inverse=True)
            return np.take(self.number_texts(side, texts[used]), codes)
        present = np.zeros(texts.rows, bool)
        present[codes] = True
        numbers = np.empty(texts.rows, np.int64)
        numbers[present] = self.number_texts(side, texts if present.all() else texts[present])
        return np.take(numbers, codes)

    def number_texts(self, side: int, texts: TextColumn) -> np.ndarray:
        """The integers of texts. New texts get the next integers."""
        text_codes = self.texts[side]
        if text_codes is None:
            text_codes = self.texts[side] = TextCodes()
        numbers = np.empty(texts.rows, np.int64)
        starts, stops = np.ascontiguousarray(texts.starts), np.ascontiguousarray(texts.stops)
        text_codes.encode(texts.data, starts, stops, numbers)
        return numbers

    def check_kind(self, side: int, is_text: bool) -> None:
        """Check that the labels of a side are all texts or all integers."""
        if self.counter.size and is_text == (self.texts[side] is None):
            raise ValueError("labels that are texts cannot be combined with labels of another type")

    def merge(self, other: PairTable) -> None:
        """Add the counts of another table, which may be this one."""
        if not other.counter.size:
            return
        first, second, counts = other.counter.cells()
        first, second = (other.translate_codes(side, codes, self) for side, codes in enumerate((first, second)))
        self.cached_contingency = None
        self.counter.add_cells(first, second, counts)

    def translate_codes(self, side: int, codes: np.ndarray, into: PairTable) -> np.ndarray:
        """Codes of this table as the integers of another table."""
        texts = self.texts[side]
        into.check_kind(side, texts is not None)
        if texts is None:
            return codes
        data, offsets = texts.texts()
        return np.take(into.number_texts(side, TextColumn(data, offsets[:-1], offsets[1:])), codes)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The cells sorted by label and, for each side, its joined texts and their offsets.

        Tables of the same rows have equal arrays, whatever the order of the rows.
        """
        first, second, counts = self.counter.cells()
        cells = [first, second]
        texts: list[np.ndarray] = []
        for side in SIDES:
            numbers = self.texts[side]
            if numbers is None:
                texts += [NO_TEXTS, NO_OFFSETS]
            else:
                cells[side], *sorted_arrays = sorted_texts(cells[side], *numbers.texts())
                texts += sorted_arrays
        order = np.lexsort((cells[1], cells[0]))
        return (cells[0][order], cells[1][order], counts[order], *texts)

    def layout(self) -> tuple[tuple[Any, ...], ...]:
        return (*((np.int64, None),) * 3, *((np.uint8, None), (np.int64, None)) * 2)

    def load_arrays(self, *arrays: np.ndarray) -> None:
        first, second, counts, *texts = arrays
        check_state(first.shape == second.shape == counts.shape, "its arrays of cells have different lengths")
        check_state((counts > 0).all(), "a cell has no rows")
        for side, codes in enumerate((first, second)):
            data, offsets = texts[2 * side : 2 * side + 2]
            n_texts = offsets.shape[0] - 1
            if n_texts < 0:
                check_state(not data.shape[0], "it has texts without offsets")
                continue
            in_order = (offsets[1:] >= offsets[:-1]).all() and offsets[0] == 0 and offsets[-1] == data.shape[0]
            check_state(in_order, "the offsets of texts do not match their bytes")
            check_state(((codes >= 0) & (codes < n_texts)).all(), "a cell has an unknown label")
            numbers = self.number_texts(side, TextColumn(data, offsets[:-1], offsets[1:]))
            check_state((numbers == np.arange(n_texts)).all(), "a label occurs twice")
        self.counter.add_cells(first, second, counts)
        check_state(self.counter.size == first.shape[0], "a cell occurs twice")

    def contingency(self) -> Contingency:
        """The contingency table, made once for all metrics. Its labels are the integers of this table."""
        if self.cached_contingency is None:
            first, second, counts = self.counter.cells()
            rows, classes, row_sums = compute_margin(first, counts)
            columns, clusters, column_sums = compute_margin(second, counts)
            total = self.counter.total
            self.cached_contingency = Contingency(
                rows, columns, counts, row_sums, column_sums, total, classes, clusters
            )
        return self.cached_contingency


def compute_margin(labels: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For the labels of cells: their codes, the distinct labels, and the rows of each label."""
    if not labels.shape[0]:
        return labels, labels, labels
    codes, distinct = encode_numbers(labels)
    sums = np.zeros(distinct.shape[0], np.int64)
    np.add.at(sums, codes, counts)
    return codes.astype(np.int64, copy=False), distinct, sums


def restore_table(*arrays: np.ndarray) -> PairTable:
    """Unpickle a table."""
    table = PairTable()
    table.load_arrays(*arrays)
    return table


def sorted_texts(
    codes: np.ndarray, data: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The codes after the used texts are sorted by their bytes; and these texts, joined, with their offsets."""
    used, codes = np.unique(codes, return_inverse=True)
    joined = data.tobytes()
    texts = [joined[start:stop] for start, stop in zip(offsets[used].tolist(), offsets[used + 1].tolist(), strict=True)]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    positions = np.empty(len(texts), np.int64)
    positions[order] = np.arange(len(texts))
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.array([len(texts[number]) for number in order], np.int64), out=ends[1:])
    return positions[codes], np.frombuffer(b"".join(texts[number] for number in order), np.uint8), ends


def check_state(is_valid: Any, message: str) -> None:
    if not is_valid:
        raise ValueError(message)


class LabelPairCounts(Statistic):
    """The counts of pairs of labels of two columns."""

    def new(self) -> PairTable:
        return PairTable()

    def count_rows(self, rows: ColumnPair) -> LabelPairs:
        return LabelPairs(rows.label, rows.score)

    def add(self, state: PairTable, counted: LabelPairs) -> None:
        state.add(counted)

    def number_rows(self, state: PairTable, counted: LabelPairs) -> np.ndarray:
        """The labels of rows as the integers of a table: int64[n, 2]."""
        return np.stack([state.number_rows(side, column) for side, column in enumerate(counted.columns)], axis=1)

    def from_cells(self, state: PairTable, rows: np.ndarray, counts: np.ndarray) -> PairTable:
        """A table with the given pairs (as integers of `state`) and counts."""
        table = PairTable()
        table.texts = state.texts
        table.counter.add_cells(np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1]), counts)
        return table
