"""Columns of text as spans of UTF-8 in the buffers they came in: rows move, bytes stay where they are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._kernels import textrows

WANTED = "texts are needed"
MISSING = -1  # where a text begins that is not there
# What of a block fits the second-level cache, and what is made ready for a row where there are few.
BLOCK_ROWS = 256
BLOCK_POINTS = 1 << 16
BLOCK_TEXTS = 1 << 12
USUAL_POINTS = 1 << 10
USUAL_TEXTS = 4
ASCII = 128
SIGMA = ord("Σ")


class TextColumn:
    """The texts of rows: text i is data[starts[i]:stops[i]], of a missing one the start is negative.

    Row r has text r or, where rows have several, texts first[r]:last[r]. Rows are chosen as NumPy chooses them.
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
    """Rows decoded: the code points of all texts, where texts and segments begin, and the first row.

    Of a segment's texts the first is the hypothesis, the others are its references. Good until the next is asked for.
    """

    points: np.ndarray
    offsets: np.ndarray
    segments: np.ndarray
    first_row: int


class TextRows(NamedTuple):
    """A block of rows of text, checked: every row has a hypothesis and at least one reference."""

    references: TextColumn
    hypotheses: TextColumn
    first_row: int = 0
    name: str = "hypotheses"
    label_name: str = "references"
    # Where rows were left out or reordered: the place of each, counted from first_row.
    places: np.ndarray | None = None

    @property
    def rows(self) -> int:
        return self.hypotheses.rows

    def blocks(self, lowercase: bool = False) -> Iterator[SegmentBlock]:
        """All rows as blocks of segments, of a bounded size but where a single row is longer."""
        hypotheses, references = self.hypotheses, self.references
        points = np.empty(min(BLOCK_POINTS, USUAL_POINTS * self.rows), np.uint32)
        offsets = np.empty(min(BLOCK_TEXTS, USUAL_TEXTS * self.rows) + 1, np.int64)
        segments = np.empty(min(BLOCK_ROWS, self.rows) + 1, np.int64)
        found = np.empty(4, np.int64)
        row = 0
        while row < self.rows:
            stop = textrows.decode_rows(
                hypotheses.data, hypotheses.starts, hypotheses.stops, references.data, references.starts,
                references.stops, references.first, references.last, row, points, offsets, segments, found,
            )  # fmt: skip
            if found[textrows.BAD_TEXT] != textrows.NONE:
                self.raise_bad_text(stop, int(found[textrows.BAD_TEXT]))
            if stop == row:
                points = np.empty(max(points.shape[0], int(found[textrows.NEEDED_POINTS])), np.uint32)
                offsets = np.empty(max(offsets.shape[0], int(found[textrows.NEEDED_TEXTS]) + 1), np.int64)
                continue
            own = offsets[: int(found[textrows.N_TEXTS]) + 1]
            texts, own = lowered(points[: int(own[-1])], own) if lowercase else (points[: int(own[-1])], own)
            yield SegmentBlock(texts, own, segments[: stop - row + 1], row)
            row = stop

    def raise_bad_text(self, row: int, column: int) -> NoReturn:
        """The error for bytes that are no UTF-8, in the numbering of the whole column."""
        name = self.name if column == textrows.HYPOTHESIS else self.label_name
        raise ValueError(f"{name} has bytes at row {self.place(row)} that are not UTF-8")

    def place(self, row: int) -> int:
        """Where a row of this block stands in the whole column."""
        return self.first_row + (row if self.places is None else int(self.places[row]))


def lowered(points: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The code points and offsets of texts in lower case, as Python has it: letters may become two."""
    if not points.shape[0] or points.max() < ASCII:
        return np.where((points >= ord("A")) & (points <= ord("Z")), points + np.uint32(32), points), offsets
    joined = points.astype("<u4").tobytes().decode("utf-32-le")
    if not (points == SIGMA).any():
        # What a letter becomes depends on its neighbours for one letter alone, so texts need not be apart.
        whole = joined.lower()
        if len(whole) == len(joined):
            return np.frombuffer(whole.encode("utf-32-le"), "<u4").astype(np.uint32), offsets
    texts = [joined[start:stop].lower() for start, stop in pairwise(offsets.tolist())]
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=ends[1:])
    return np.frombuffer("".join(texts).encode("utf-32-le"), "<u4").astype(np.uint32), ends


def is_text(kind: Any) -> bool:
    """Is it an Arrow type of texts, one a row?"""
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_text_list(kind: Any) -> bool:
    """Is it an Arrow type of lists of texts?"""
    from pyarrow import types

    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(is_list and (is_text(kind.value_type) or types.is_null(kind.value_type)))


def as_texts(column: Any, name: str, lists: bool) -> TextColumn:
    """The texts of a pyarrow array without nulls; with `lists`, rows may have several."""
    if is_text(column.type):
        return TextColumn(*spans_of(column))
    if lists and is_text_list(column.type):
        column, first, last = as_lists(column)
        return TextColumn(*spans_of(column.values), first, last)
    wanted = "strings, or a list of strings a row" if lists else "strings"
    raise TypeError(f"{name} has Arrow type {column.type}: {WANTED}, as {wanted}")


def as_lists(column: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Lists of any kind as Arrow's own, and where the items of each row begin and end."""
    import pyarrow

    if pyarrow.types.is_fixed_size_list(column.type):
        column = column.cast(pyarrow.list_(column.type.value_type))
    offsets = np.asarray(column.offsets).astype(np.int64, copy=False)
    return column, offsets[:-1], offsets[1:]


def without_text(column: Any) -> np.ndarray | None:
    """Rows without a text: null, or a list of nothing but nulls. None if there are no such rows."""
    column, first, last = as_lists(column)
    present = np.zeros(len(column.values) + 1, np.int64)
    np.cumsum(np.asarray(column.values.is_valid()), out=present[1:])
    empty = present[last] == present[first]
    return empty if empty.any() else None


def spans_of(column: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bytes of a pyarrow array of texts (or of bytes), and where each text begins and ends in them."""
    import pyarrow

    types = pyarrow.types
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
        _, offsets, text = column.buffers()
        is_large = types.is_large_string(column.type) or types.is_large_binary(column.type)
        dtype = np.dtype(np.int64 if is_large else np.int32)
        ends = np.zeros(len(column) + 1, np.int64)
        if len(column):
            ends = np.frombuffer(offsets, dtype, len(column) + 1, column.offset * dtype.itemsize)
            ends = ends.astype(np.int64, copy=False)
        starts, stops = ends[:-1], ends[1:]
        data = np.frombuffer(text, np.uint8) if text is not None and text.size else np.zeros(0, np.uint8)
    if column.null_count:
        missing = np.asarray(column.is_null())
        starts, stops = np.where(missing, MISSING, starts), np.where(missing, MISSING, stops)
    return data, starts, stops
