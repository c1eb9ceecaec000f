"""Columns of text as spans of UTF-8 in their original buffers: rows are reordered without moving bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core.columns.arrow_columns import is_list, is_text, text_buffers
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow, types
from fastmetrics._kernels.text.tokens import arrow_text_rows

WANTED = "texts are needed"
MISSING = -1  # the start of a missing text
# A block fits the second-level cache. For few rows, memory for usual rows is allocated.
BLOCK_ROWS = 256
BLOCK_POINTS = 1 << 16
BLOCK_TEXTS = 1 << 12
USUAL_POINTS = 1 << 10
USUAL_TEXTS = 4
ASCII = 128
SIGMA = ord("Σ")


class TextColumn:
    """The texts of rows. Text i is data[starts[i]:stops[i]]; the start of a missing text is negative.

    Row r has text r or, if rows have several texts, the texts first[r]:last[r]. Rows are selected with NumPy's
    indexing.
    """

    __slots__ = ("data", "first", "last", "starts", "stops")

    def __init__(
        self,
        data: np.ndarray,
        starts: np.ndarray,
        stops: np.ndarray,
        first: np.ndarray | None = None,
        last: np.ndarray | None = None,
    ) -> None:
        self.data = data
        self.starts = starts
        self.stops = stops
        self.first = first
        self.last = last

    @property
    def rows(self) -> int:
        return int((self.starts if self.first is None else self.first).shape[0])

    def __getitem__(self, where: Any) -> TextColumn:
        if self.first is None or self.last is None:
            return TextColumn(self.data, self.starts[where], self.stops[where])
        return TextColumn(self.data, self.starts, self.stops, self.first[where], self.last[where])


class SegmentBlock(NamedTuple):
    """Decoded rows: the code points of all texts, the starts of texts and of segments, and the first row.

    The first text of a segment is the hypothesis, the others are its references. A block is valid until the next one.
    """

    points: np.ndarray
    offsets: np.ndarray
    segments: np.ndarray
    first_row: int


class TextRows(NamedTuple):
    """A block of checked rows of text. Every row has a hypothesis and at least one reference.

    If rows were left out or reordered, `row_numbers` has the number of each row, counted from `first_row`.
    """

    references: TextColumn
    hypotheses: TextColumn
    first_row: int = 0
    name: str = "hypotheses"
    label_name: str = "references"
    row_numbers: np.ndarray | None = None

    @property
    def rows(self) -> int:
        return self.hypotheses.rows

    def blocks(self, lowercase: bool = False) -> Iterator[SegmentBlock]:
        """All rows as blocks of segments. The size of a block is bounded, unless a single row is larger."""
        hypotheses, references = self.hypotheses, self.references
        points = np.empty(min(BLOCK_POINTS, USUAL_POINTS * self.rows), np.uint32)
        offsets = np.empty(min(BLOCK_TEXTS, USUAL_TEXTS * self.rows) + 1, np.int64)
        segments = np.empty(min(BLOCK_ROWS, self.rows) + 1, np.int64)
        counts = np.empty(4, np.int64)
        one, others = (arrow_text_rows.TextSpans(own.data, own.starts, own.stops) for own in (hypotheses, references))
        row = 0
        while row < self.rows:
            stop = arrow_text_rows.decode_rows(
                one, others, references.first, references.last, row, points, offsets, segments, counts
            )
            if counts[arrow_text_rows.BAD_TEXT] != arrow_text_rows.NONE:
                self.raise_bad_text(stop, int(counts[arrow_text_rows.BAD_TEXT]))
            if stop == row:
                points = np.empty(max(points.shape[0], int(counts[arrow_text_rows.NEEDED_POINTS])), np.uint32)
                offsets = np.empty(max(offsets.shape[0], int(counts[arrow_text_rows.NEEDED_TEXTS]) + 1), np.int64)
                continue
            own = offsets[: int(counts[arrow_text_rows.N_TEXTS]) + 1]
            texts, own = lower_texts(points[: int(own[-1])], own) if lowercase else (points[: int(own[-1])], own)
            yield SegmentBlock(texts, own, segments[: stop - row + 1], row)
            row = stop

    def raise_bad_text(self, row: int, column: int) -> NoReturn:
        """Raise the error for bytes that are not UTF-8, with the row number of the whole column."""
        name = self.name if column == arrow_text_rows.HYPOTHESIS else self.label_name
        raise ValueError(f"{name} has bytes at row {self.row_number(row)} that are not UTF-8")

    def row_number(self, row: int) -> int:
        """The number of a row of this block in the whole column."""
        return self.first_row + (row if self.row_numbers is None else int(self.row_numbers[row]))


def lower_texts(points: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The code points and offsets of texts in lower case, as Python's str.lower: a letter may become two."""
    if not points.shape[0] or points.max() < ASCII:
        return np.where((points >= ord("A")) & (points <= ord("Z")), points + np.uint32(32), points), offsets
    joined = points.astype("<u4").tobytes().decode("utf-32-le")
    if not (points == SIGMA).any():
        # Only the capital sigma depends on its neighbors, so all texts can be converted together.
        whole = joined.lower()
        if len(whole) == len(joined):
            return np.frombuffer(whole.encode("utf-32-le"), "<u4").astype(np.uint32), offsets
    texts = [joined[start:stop].lower() for start, stop in pairwise(offsets.tolist())]
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=ends[1:])
    return np.frombuffer("".join(texts).encode("utf-32-le"), "<u4").astype(np.uint32), ends


def is_text_list(kind: Any) -> bool:
    """Is it an Arrow type of lists of texts?"""
    return is_list(kind) and (is_text(kind.value_type) or bool(types.is_null(kind.value_type)))


def as_texts(column: Any, name: str, lists: bool) -> TextColumn:
    """The texts of a pyarrow array without nulls. With `lists`, rows may have several texts."""
    if is_text(column.type):
        return TextColumn(*spans_of(column))
    if lists and is_text_list(column.type):
        column, first, last = as_lists(column)
        return TextColumn(*spans_of(column.values), first, last)
    wanted = "strings, or lists of strings" if lists else "strings"
    raise TypeError(f"{name} has Arrow type {column.type}: {WANTED}, as {wanted}")


def as_lists(column: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """A list column with Arrow's variable-length layout, and where the items of each row begin and end."""
    if types.is_fixed_size_list(column.type):
        column = column.cast(pyarrow.list_(column.type.value_type))
    offsets = np.asarray(column.offsets).astype(np.int64, copy=False)
    return column, offsets[:-1], offsets[1:]


def rows_without_text(column: Any) -> np.ndarray | None:
    """A mask of rows of lists without a text: null, or a list of nulls only. None if there are no such rows."""
    if not is_text_list(column.type):
        return None
    column, first, last = as_lists(column)
    present = np.zeros(len(column.values) + 1, np.int64)
    np.cumsum(np.asarray(column.values.is_valid()), out=present[1:])
    empty = present[last] == present[first]
    return empty if empty.any() else None


def spans_of(column: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bytes of a pyarrow array of texts or bytes, and where each text begins and ends."""
    if types.is_null(column.type):
        column = column.cast(pyarrow.string())
    if types.is_dictionary(column.type):
        data, starts, stops = spans_of(column.dictionary)
        if not len(column.dictionary):
            return data, np.full(len(column), MISSING), np.full(len(column), MISSING)
        numbers = np.asarray(column.indices.fill_null(0))
        starts, stops = starts[numbers], stops[numbers]
    else:
        if types.is_string_view(column.type):
            column = column.cast(pyarrow.large_string())
        data, offsets = text_buffers(column)
        offsets = offsets.astype(np.int64, copy=False)
        starts, stops = offsets[:-1], offsets[1:]
    if column.null_count:
        missing = np.asarray(column.is_null())
        starts, stops = np.where(missing, MISSING, starts), np.where(missing, MISSING, stops)
    return data, starts, stops
