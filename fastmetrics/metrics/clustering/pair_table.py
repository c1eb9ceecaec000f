"""Counts of pairs of labels in the rows read so far: the engine's state for every metric of two partitions.

Tables identify labels by value, so tables of any rows can be merged: integers are used directly, texts are encoded by
their bytes. A table has one cell for every pair that occurs, whatever the number of rows.

Pairs are counted in a hash table that is fast while it fits the cache (`PairCounter`). Where it would take more than
its part of the memory limit, its cells move to a table of keys (`KeyTable`), which spills.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.columns.categorical import encode_numbers
from fastmetrics._core.columns.key_columns import NumberKeys, TupleKeys
from fastmetrics._core.columns.label_columns import LabelColumn, LabelPairs
from fastmetrics._core.columns.row_blocks import ColumnPair
from fastmetrics._core.columns.text_columns import TextColumn
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.memory_size import format_size
from fastmetrics._core.state import State
from fastmetrics._core.statistic import ColumnStatistic, Resamplable
from fastmetrics._core.tables.key_table import KeyTable
from fastmetrics._kernels.clustering.contingency_table import PairCounter
from fastmetrics._kernels.columns.text_codes import TextCodes
from fastmetrics.metrics.clustering.contingency import AnyContingency, Contingency, LargeContingency

SIDES = (0, 1)  # classes, clusters
SLOT_BYTES = 24
MAX_TEXTS_PER_ROW = 4  # a dictionary with more texts per row is not read as a whole
COUNTER_DIVISOR = 8  # a hash table may take this part of a thread's share of the memory limit
FEW_CELLS = 256  # are not moved
MAX_ROWS = (1 << 63) - 1
PAIR = np.dtype([("class", np.int64), ("cluster", np.int64)])
NO_TEXTS: np.ndarray = np.empty(0, np.uint8)
NO_OFFSETS: np.ndarray = np.empty(0, np.int64)


class PairTable(State):
    """Counts of pairs of labels. `texts` encodes the texts of each side; it is None for a side of integers."""

    __slots__ = ("budget", "cached_contingency", "cell_bytes", "counter", "label_bytes", "moved", "texts", "total")

    def __init__(self) -> None:
        self.counter = PairCounter()
        self.moved: KeyTable | None = None
        self.total = 0
        self.texts: list[TextCodes | None] = [None, None]
        self.cached_contingency: AnyContingency | None = None
        self.budget: MemoryBudget | None = None
        self.cell_bytes = 0  # reserved
        self.label_bytes = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_table, self.arrays()

    def limit_memory(self, budget: MemoryBudget | None) -> None:
        """Count the table against a budget; what does not fit is spilled."""
        self.budget = budget

    @property
    def n_bytes(self) -> int:
        """The approximate size of what is in memory."""
        return self.counter_bytes + self.text_bytes + (self.moved.n_bytes if self.moved is not None else 0)

    @property
    def counter_bytes(self) -> int:
        """The approximate size of the hash table: slots are a power of two, at most half of them in use."""
        return (2 << max(5, (self.counter.size - 1).bit_length())) * SLOT_BYTES

    @property
    def text_bytes(self) -> int:
        return sum(texts.n_bytes for texts in self.texts if texts is not None)

    @property
    def n_rows(self) -> int:
        return self.total

    def add(self, pairs: LabelPairs) -> None:
        """Count rows."""
        first, second = (self.number_rows(side, column) for side, column in enumerate(pairs.columns))
        self.cached_contingency = None
        self.counter.add(first, second, 0, pairs.rows)
        self.count_rows(pairs.rows)
        self.reserve()

    def add_cells(self, first: np.ndarray, second: np.ndarray, counts: np.ndarray) -> None:
        """Add the rows of cells; labels are the integers of this table."""
        self.cached_contingency = None
        before = self.counter.total
        self.counter.add_cells(np.ascontiguousarray(first), np.ascontiguousarray(second), np.ascontiguousarray(counts))
        self.count_rows(self.counter.total - before)
        self.reserve()

    def count_rows(self, rows: int) -> None:
        """Add to the number of rows, which the hash table checks for what it holds."""
        if self.total + rows > MAX_ROWS:
            raise OverflowError("more than 2**63 - 1 rows")
        self.total += rows

    def reserve(self) -> None:
        """Count the table's memory against the budget; move the cells if they do not fit."""
        if self.budget is None:
            return
        self.reserve_labels(self.text_bytes - self.label_bytes)
        n_bytes = self.counter_bytes
        grown = max(0, n_bytes - self.cell_bytes)
        allowed = self.budget.has_space_for(COUNTER_DIVISOR * self.budget.n_threads * n_bytes)
        if allowed and self.budget.try_reserve(grown):
            self.cell_bytes += grown
        elif self.counter.size > FEW_CELLS:
            self.move_cells()
            self.budget.release(self.cell_bytes)
            self.cell_bytes = 0

    def reserve_labels(self, n_bytes: int) -> None:
        """Reserve so much more memory for the different labels, which stay in memory."""
        if self.budget is None or n_bytes <= 0:
            return
        if not self.budget.reserve_state(n_bytes):
            raise ValueError(
                f"the different labels take more than half of memory_limit={format_size(self.budget.limit)}, which is "
                "all that they may take; allow more memory"
            )
        self.label_bytes += n_bytes

    def move_cells(self) -> None:
        """Move the cells of the hash table to the table of keys."""
        if self.moved is None:
            self.moved = KeyTable(1, self.budget)
        if self.counter.size:
            first, second, counts = self.counter.cells()
            self.counter = PairCounter()
            self.moved.add(TupleKeys([NumberKeys(first), NumberKeys(second)], PAIR), counts)

    def cell_parts(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(first, second, counts) of all cells, a part at a time; a cell is in one of them."""
        if self.moved is None:
            yield self.counter.cells()
            return
        self.move_cells()
        for part in self.moved.parts():
            pairs = part.keys()
            first, second = (np.ascontiguousarray(pairs[name]) for name in PAIR.names or ())
            yield first, second, np.ascontiguousarray(part.counts()[:, 0])

    def cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(first, second, counts) of all cells."""
        if self.moved is None:
            return self.counter.cells()
        first, second, counts = (np.concatenate(own) for own in zip(*self.cell_parts(), strict=True))
        return first, second, counts

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
        if self.total and is_text == (self.texts[side] is None):
            raise ValueError("labels that are texts cannot be combined with labels of another type")

    def merge(self, other: PairTable) -> None:
        """Add the counts of another table, which may be this one."""
        if not other.total:
            return
        for first, second, counts in other.cell_parts():
            own_first, own_second = (other.translate_codes(side, own, self) for side, own in enumerate((first, second)))
            self.add_cells(own_first, own_second, counts)

    def close(self) -> None:
        """Free the memory of a table that was merged into another."""
        if self.moved is not None:
            self.moved.close()
        if self.budget is not None:
            self.budget.release(self.cell_bytes)
            self.budget.release_state(self.label_bytes)
        self.cell_bytes = self.label_bytes = 0

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
        first, second, counts = self.cells()
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
        self.add_cells(first, second, counts)
        check_state(self.counter.size == first.shape[0], "a cell occurs twice")

    def contingency(self) -> AnyContingency:
        """The contingency table, made once for all metrics. Its labels are the integers of this table."""
        if self.cached_contingency is None:
            self.cached_contingency = self.large_contingency() if self.moved is not None else self.small_contingency()
        return self.cached_contingency

    def small_contingency(self) -> Contingency:
        """All cells in memory."""
        first, second, counts = self.counter.cells()
        rows, classes, row_sums = compute_margin(first, counts)
        columns, clusters, column_sums = compute_margin(second, counts)
        return Contingency(rows, columns, counts, row_sums, column_sums, self.total, classes, clusters)

    def large_contingency(self) -> LargeContingency:
        """The sizes of classes and clusters in memory; cells are read part by part."""
        sides, n_cells = [KeyTable(), KeyTable()], 0
        for *labels, counts in self.cell_parts():
            n_cells += counts.shape[0]
            before = sum(side.n_bytes for side in sides)
            for side, own in zip(sides, labels, strict=True):
                side.add(NumberKeys(own), counts)
            self.reserve_labels(sum(side.n_bytes for side in sides) - before)
        (classes, row_sums), (clusters, column_sums) = map(sorted_labels, sides)
        return LargeContingency(self.cell_parts, n_cells, row_sums, column_sums, self.total, classes, clusters)


def sorted_labels(table: KeyTable) -> tuple[np.ndarray, np.ndarray]:
    """The labels of a side, sorted, and the rows of each."""
    labels, sums = table.keys(), table.counts()[:, 0]
    order = np.argsort(labels)
    return labels[order], sums[order]


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


class LabelPairCounts(Resamplable, ColumnStatistic):
    """The counts of pairs of labels of two columns."""

    __slots__ = ()
    def empty(self) -> PairTable:
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
        table.add_cells(rows[:, 0], rows[:, 1], counts)
        return table
