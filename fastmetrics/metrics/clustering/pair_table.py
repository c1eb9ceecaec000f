"""How often each pair of labels occurs in the rows so far: the state that all scores of two partitions are made of.

A table knows labels by their values, so tables of any parts merge: integers are themselves, texts are numbered by
their bytes. It has a cell for every pair that occurs, whatever the number of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.coding import code_numbers
from fastmetrics._core.label_columns import LabelColumn, LabelPairs
from fastmetrics._core.rows import ColumnPair
from fastmetrics._core.statistic import Statistic
from fastmetrics._core.texts import TextColumn
from fastmetrics._kernels.contingency import PairCounter
from fastmetrics._kernels.textnumbers import TextNumbers
from fastmetrics.metrics.clustering.contingency import Contingency

__all__: list[str] = []

SIDES = (0, 1)  # classes, clusters
SLOT_BYTES = 24
FEW_USED = 4  # a dictionary of more texts than so many for each row is not looked through
NO_TEXTS: np.ndarray = np.empty(0, np.uint8)
NO_OFFSETS: np.ndarray = np.empty(0, np.int64)


class PairTable:
    """Counts of pairs of labels. `texts` number the labels of each side, None where these are integers themselves."""

    __slots__ = ("counter", "found", "texts")

    def __init__(self) -> None:
        self.counter = PairCounter()
        self.texts: list[TextNumbers | None] = [None, None]
        self.found: Contingency | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_table, self.arrays()

    @property
    def n_bytes(self) -> int:
        """About what the table takes: at most half of its slots are in use, a power of two of them."""
        slots = 2 << max(5, (self.counter.size - 1).bit_length())
        return slots * SLOT_BYTES + sum(texts.n_bytes for texts in self.texts if texts is not None)

    @property
    def n_rows(self) -> int:
        return self.counter.total

    def add(self, pairs: LabelPairs) -> None:
        """Count rows."""
        first, second = (self.number_rows(side, column) for side, column in enumerate(pairs.columns))
        self.found = None
        self.counter.add(first, second, 0, pairs.rows)

    def number_rows(self, side: int, column: LabelColumn) -> np.ndarray:
        """The labels of rows as this table knows them."""
        codes, texts = column.codes, column.texts
        self.check_kind(side, texts is not None)
        if codes is None or texts is None:
            return np.ascontiguousarray(codes) if texts is None else self.number_texts(side, texts)
        if texts.rows > FEW_USED * codes.shape[0]:
            used, codes = np.unique(codes, return_inverse=True)
            return np.take(self.number_texts(side, texts[used]), codes)
        present = np.zeros(texts.rows, bool)
        present[codes] = True
        numbers = np.empty(texts.rows, np.int64)
        numbers[present] = self.number_texts(side, texts if present.all() else texts[present])
        return np.take(numbers, codes)

    def number_texts(self, side: int, texts: TextColumn) -> np.ndarray:
        """The numbers of texts; new ones are kept."""
        known = self.texts[side]
        if known is None:
            known = self.texts[side] = TextNumbers()
        numbers = np.empty(texts.rows, np.int64)
        starts, stops = np.ascontiguousarray(texts.starts), np.ascontiguousarray(texts.stops)
        known.number(texts.data, starts, stops, numbers)
        return numbers

    def check_kind(self, side: int, is_text: bool) -> None:
        """Labels of a side are all texts, or none is."""
        if self.counter.size and is_text == (self.texts[side] is None):
            raise ValueError("labels that are texts do not meet labels that are none")

    def merge(self, other: PairTable) -> None:
        """Count the rows of another table, which may be this one."""
        if not other.counter.size:
            return
        first, second, counts = other.counter.cells()
        first, second = (other.translated(side, codes, self) for side, codes in enumerate((first, second)))
        self.found = None
        self.counter.add_cells(first, second, counts)

    def translated(self, side: int, codes: np.ndarray, into: PairTable) -> np.ndarray:
        """The labels of this table as another one knows them."""
        texts = self.texts[side]
        into.check_kind(side, texts is not None)
        if texts is None:
            return codes
        data, offsets = texts.texts()
        return np.take(into.number_texts(side, TextColumn(data, offsets[:-1], offsets[1:])), codes)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The cells in the order of their labels and, for each side, its texts one behind the other and their offsets.

        Equal tables have equal arrays, whatever the order of their rows was.
        """
        first, second, counts = self.counter.cells()
        cells = [first, second]
        texts: list[np.ndarray] = []
        for side in SIDES:
            numbers = self.texts[side]
            if numbers is None:
                texts += [NO_TEXTS, NO_OFFSETS]
            else:
                cells[side], *own = sorted_texts(cells[side], *numbers.texts())
                texts += own
        order = np.lexsort((cells[1], cells[0]))
        return (cells[0][order], cells[1][order], counts[order], *texts)

    def layout(self) -> tuple[tuple[Any, ...], ...]:
        return (*((np.int64, None),) * 3, *((np.uint8, None), (np.int64, None)) * 2)

    def take_arrays(self, *arrays: np.ndarray) -> None:
        first, second, counts, *texts = arrays
        require(first.shape == second.shape == counts.shape, "its cells are not one for one")
        require((counts > 0).all(), "a cell has no rows")
        for side, codes in enumerate((first, second)):
            data, offsets = texts[2 * side : 2 * side + 2]
            n_texts = offsets.shape[0] - 1
            if n_texts < 0:
                require(not data.shape[0], "it has texts without bounds")
                continue
            in_order = (offsets[1:] >= offsets[:-1]).all() and offsets[0] == 0 and offsets[-1] == data.shape[0]
            require(in_order, "a text ends beyond its bytes")
            require(((codes >= 0) & (codes < n_texts)).all(), "a cell has no label")
            numbers = self.number_texts(side, TextColumn(data, offsets[:-1], offsets[1:]))
            require((numbers == np.arange(n_texts)).all(), "a label is there twice")
        self.counter.add_cells(first, second, counts)
        require(self.counter.size == first.shape[0], "a cell is there twice")

    def contingency(self) -> Contingency:
        """The table as scores look at it, made once for all of them. Labels are told by their number alone."""
        if self.found is None:
            first, second, counts = self.counter.cells()
            rows, classes, row_sums = margin(first, counts)
            columns, clusters, column_sums = margin(second, counts)
            total = self.counter.total
            self.found = Contingency(rows, columns, counts, row_sums, column_sums, total, classes, clusters)
        return self.found


def margin(labels: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The numbers of the labels of cells, the labels, and the rows of each."""
    if not labels.shape[0]:
        return labels, labels, labels
    codes, found = code_numbers(labels)
    sums = np.zeros(found.shape[0], np.int64)
    np.add.at(sums, codes, counts)
    return codes.astype(np.int64, copy=False), found, sums


def restore_table(*arrays: np.ndarray) -> PairTable:
    """How a table is unpickled."""
    table = PairTable()
    table.take_arrays(*arrays)
    return table


def sorted_texts(
    codes: np.ndarray, data: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The texts that codes mean in the order of their bytes, without the others; and the codes of that order."""
    used, codes = np.unique(codes, return_inverse=True)
    joined = data.tobytes()
    texts = [joined[start:stop] for start, stop in zip(offsets[used].tolist(), offsets[used + 1].tolist(), strict=True)]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    places = np.empty(len(texts), np.int64)
    places[order] = np.arange(len(texts))
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.array([len(texts[place]) for place in order], np.int64), out=ends[1:])
    return places[codes], np.frombuffer(b"".join(texts[place] for place in order), np.uint8), ends


def require(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(what)


class PairCounts(Statistic):
    """The pairs of labels of two columns, counted."""

    __slots__ = ()

    def new(self) -> PairTable:
        return PairTable()

    def count_rows(self, rows: ColumnPair) -> LabelPairs:
        return LabelPairs(rows.label, rows.score)

    def add(self, state: PairTable, counted: LabelPairs) -> None:
        state.add(counted)

    def number_rows(self, state: PairTable, counted: LabelPairs) -> np.ndarray:
        """The labels of rows as a table knows them: int64[n, 2]."""
        return np.stack([state.number_rows(side, column) for side, column in enumerate(counted.columns)], axis=1)

    def of_cells(self, state: PairTable, rows: np.ndarray, counts: np.ndarray) -> PairTable:
        """A table of pairs as another one knows them, each so many times."""
        table = PairTable()
        table.texts = state.texts
        table.counter.add_cells(np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1]), counts)
        return table
