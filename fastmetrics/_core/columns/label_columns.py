"""Columns of labels of any type: numbers, dates and floats as 64-bit integers, texts as spans of their bytes.

Two labels of a column are one label only if they are equal. The meaning of an integer depends on the column's type, so
integers of two columns, or of batches of different types, are never compared.

Labels of classes are numbers of any width, compared by value. Those that int64 does not hold are texts, the shortest
of their numbers; the codes from FIRST_TEXT on are those of texts, which no other integer has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core.columns import group_keys, validation
from fastmetrics._core.columns.arrow_columns import decimal_keys, is_binary, is_list, is_text
from fastmetrics._core.columns.text_columns import TextColumn, as_lists, spans_of
from fastmetrics._core.optional_imports import compute, pyarrow, types

TEXT, INTEGER, BOOLEAN = "text", "integer", "boolean"
NUMBER = "number"  # integers of any width, and decimals
NUMBER_OR_DATE = "number or date"  # labels of partitions that are no texts: never compared with another column
MIXED = "number or text"  # columns of text files, in which what writes a number is this number
NUMBERS = frozenset((INTEGER, BOOLEAN, NUMBER))
MAX_WHOLE = 2.0**63  # int64 holds whole floats below it
FIRST_TEXT, MAX_TEXTS = -(1 << 63), 1 << 40
INTEGER_TEXT = "^(0|-?[1-9][0-9]{0,18})$"  # of an integer that int64 may hold
NUMBER_TEXT = r"^-?[0-9]+(\.[0-9]+)?$"
DIGITS = 20  # of such an integer, and its neighbors
MIN_CODE, MAX_CODE = FIRST_TEXT + MAX_TEXTS, (1 << 63) - 1  # integers that stand for themselves
WANTED = "labels are integers, booleans, strings, dates or floats"


class LabelColumn:
    """The labels of rows: integers (`codes`), or texts, or indices (`codes`) into texts.

    Rows are selected with NumPy's indexing. `type_name` is the type of labels that are compared with those of another
    column: "text", "integer", "boolean", "number", "number or text", or an Arrow type. Of "number" and of "number or
    text", codes are integers that stand for themselves, or FIRST_TEXT plus an index into texts. Labels of partitions,
    which are compared with those of their own column alone, are of type "text" or "number or date".
    """

    __slots__ = ("codes", "texts", "type_name")

    def __init__(self, codes: np.ndarray | None, texts: TextColumn | None = None, type_name: str = "") -> None:
        self.codes = codes
        self.texts = texts
        self.type_name = type_name

    @property
    def rows(self) -> int:
        if self.codes is not None:
            return int(self.codes.shape[0])
        return 0 if self.texts is None else self.texts.rows

    def __getitem__(self, where: Any) -> LabelColumn:
        if self.codes is not None:
            return LabelColumn(self.codes[where], self.texts, self.type_name)
        return LabelColumn(None, None if self.texts is None else self.texts[where], self.type_name)


class LabelSets:
    """Sets of labels: row r has the labels starts[r]:stops[r] of a column. A label may stand there more than once.

    Rows are selected with NumPy's indexing; the labels stay where they are.
    """

    __slots__ = ("labels", "starts", "stops")

    def __init__(self, labels: LabelColumn, starts: np.ndarray, stops: np.ndarray) -> None:
        self.labels = labels
        self.starts = starts
        self.stops = stops

    @property
    def rows(self) -> int:
        return int(self.starts.shape[0])

    @property
    def type_name(self) -> str:
        return self.labels.type_name

    @property
    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the labels of each row begin and end."""
        return self.starts, self.stops

    def __getitem__(self, where: Any) -> LabelSets:
        return LabelSets(self.labels, self.starts[where], self.stops[where])

    def gather(self) -> tuple[LabelColumn, np.ndarray]:
        """The labels of all rows, one row after the other, and where each row begins; the last number is the end."""
        offsets = np.zeros(self.rows + 1, np.int64)
        np.cumsum(self.stops - self.starts, out=offsets[1:])
        if not offsets[-1]:
            return self.labels[:0], offsets
        if (self.starts[1:] == self.stops[:-1]).all():
            return self.labels[int(self.starts[0]) : int(self.stops[-1])], offsets
        where = np.repeat(self.starts - offsets[:-1], np.diff(offsets)) + np.arange(offsets[-1])
        return self.labels[where], offsets


class ComparedLabels:
    """Two columns of labels of the same rows, LabelColumn or LabelSets, and the weights of the rows.

    Rows are selected with NumPy's indexing, in both columns together.
    """

    __slots__ = ("first", "second", "weights")

    def __init__(self, first: Any, second: Any, weights: np.ndarray | None = None) -> None:
        self.first = first
        self.second = second
        self.weights = weights

    def __getitem__(self, where: Any) -> ComparedLabels:
        return ComparedLabels(
            self.first[where], self.second[where], None if self.weights is None else self.weights[where]
        )


def as_label_column(column: Any, name: str, locate: Callable[[int], int]) -> LabelColumn:
    """The labels of a pyarrow array without nulls and NaN. `locate` maps a row to the row number for errors."""
    kind = column.type
    if types.is_dictionary(kind):
        if not is_bytes(kind.value_type):
            return as_label_column(group_keys.decode_dictionary(column), name, locate)
        return LabelColumn(
            np.asarray(column.indices).astype(np.int64, copy=False), text_column_of(column.dictionary), TEXT
        )
    if is_bytes(kind) or types.is_decimal(kind):
        # Equal decimals have equal texts: all values of a column have the same number of decimals.
        return LabelColumn(
            None, text_column_of(column.cast(pyarrow.string()) if types.is_decimal(kind) else column), TEXT
        )
    if types.is_floating(kind):
        values = validation.arrow_to_numpy(column, name)
        if not np.isfinite(values).all():
            validation.raise_bad_number(values, name, locate)
        # -0.0 becomes 0.0: they are equal labels.
        return LabelColumn((values.astype(np.float64, copy=False) + 0.0).view(np.int64), None, NUMBER_OR_DATE)
    if types.is_temporal(kind) and not types.is_interval(kind):
        column = column.view(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64())
    elif not (types.is_integer(kind) or types.is_boolean(kind)):
        raise TypeError(f"{name} has Arrow type {kind}: {WANTED}")
    values = validation.arrow_to_numpy(column, name)
    codes = values.view(np.int64) if values.dtype == np.uint64 else values.astype(np.int64, copy=False)
    return LabelColumn(codes, None, NUMBER_OR_DATE)


def as_class_labels(
    column: Any, name: str, locate: Callable[[int], int], is_mixed: bool = False
) -> LabelColumn | LabelSets:
    """Labels that are compared with those of another column: a class in each row, or from lists a set of labels."""
    if is_list(column.type):
        return as_label_sets(column, name, locate)
    return as_classes(column, name, locate, is_mixed)


def as_label_sets(column: Any, name: str, locate: Callable[[int], int]) -> LabelSets:
    """The sets of labels of a pyarrow array of lists, without missing labels."""
    column, starts, stops = as_lists(column)
    first, last = (int(starts[0]), int(stops[-1])) if len(column) else (0, 0)
    labels = column.values.slice(first, last - first)
    if first:
        starts, stops = starts - first, stops - first
    if types.is_null(labels.type):
        return LabelSets(LabelColumn(np.empty(0, np.int64)), starts, stops)

    def locate_label(number: int) -> int:
        return locate(int(np.searchsorted(stops, number, side="right")))

    return LabelSets(as_classes(labels, name, locate_label), starts, stops)


def as_classes(column: Any, name: str, locate: Callable[[int], int], is_mixed: bool = False) -> LabelColumn:
    """A class in each row. Floats are whole numbers. With `is_mixed`, texts of a text file may write numbers."""
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_dictionary(column.type) and (types.is_decimal(kind) or types.is_uint64(kind)):
        return as_classes(group_keys.decode_dictionary(column), name, locate)
    if types.is_decimal(kind):
        keys = decimal_keys(column)
        return as_classes(keys, name, locate) if types.is_integer(keys.type) else number_labels(keys, NUMBER)
    if is_mixed and types.is_string(kind):
        check_fractions(column, name, locate)
        return number_labels(column, MIXED)
    labels = as_label_column(column, name, locate)
    if types.is_floating(kind) and labels.codes is not None:
        return whole_labels(labels.codes.view(np.float64), name, locate)
    if types.is_uint64(kind) and labels.codes is not None and (labels.codes < 0).any():
        return number_labels(column.cast(pyarrow.string()), NUMBER)
    if types.is_integer(kind) or types.is_boolean(kind):
        labels.type_name = BOOLEAN if types.is_boolean(kind) else INTEGER
    elif is_text(kind):
        labels.type_name = TEXT
    else:
        labels.type_name = str(kind)
    return labels


def whole_labels(values: np.ndarray, name: str, locate: Callable[[int], int]) -> LabelColumn:
    """Floats that are whole numbers as labels."""
    bad = values != np.floor(values)
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"{name} has {values[row]} at row {locate(row)}: labels of classes have no fractions")
    if (np.abs(values) >= MAX_WHOLE).any():
        distinct, indices = np.unique(values, return_inverse=True)
        texts = pyarrow.array([str(int(value)) for value in distinct.tolist()])
        return number_labels(texts.take(pyarrow.array(indices)), NUMBER)
    return LabelColumn(values.astype(np.int64), None, INTEGER)


def check_fractions(column: Any, name: str, locate: Callable[[int], int]) -> None:
    """Raise ValueError for a column of a text file in which all texts write numbers, and some have a fraction."""
    distinct = column.unique()
    fractions = compute.match_substring_regex(distinct, NUMBER_TEXT.replace("?$", "$"))
    if compute.any(fractions).as_py() and compute.all(compute.match_substring_regex(distinct, NUMBER_TEXT)).as_py():
        bad = compute.is_in(column, value_set=distinct.filter(fractions))
        row = int(np.asarray(bad).argmax())
        raise ValueError(f"{name} has {column[row].as_py()} at row {locate(row)}: labels of classes have no fractions")


def number_labels(column: Any, type_name: str) -> LabelColumn:
    """Texts in which each number has one text: those of integers that int64 holds become these."""
    coded = column if types.is_dictionary(column.type) else column.dictionary_encode()
    texts = coded.dictionary.cast(pyarrow.string())
    codes = integers_of_texts(texts)
    return LabelColumn(codes.take(np.asarray(coded.indices)), text_column_of(texts), type_name)


def integers_of_texts(texts: Any) -> np.ndarray:
    """The integers that texts write, if int64 holds them; FIRST_TEXT plus the row of each other text."""
    codes = FIRST_TEXT + np.arange(len(texts))
    rows = np.flatnonzero(np.asarray(compute.match_substring_regex(texts, INTEGER_TEXT)))
    if rows.shape[0]:
        decimals = texts.take(pyarrow.array(rows)).cast(pyarrow.decimal128(DIGITS, 0))
        low, high = (pyarrow.scalar(limit).cast(pyarrow.decimal128(DIGITS, 0)) for limit in (MIN_CODE, MAX_CODE))
        held = compute.and_(compute.greater_equal(decimals, low), compute.less_equal(decimals, high))
        codes[rows[np.asarray(held)]] = np.asarray(decimals.filter(held).cast(pyarrow.int64()))
    return codes


def is_bytes(kind: Any) -> bool:
    """Is it an Arrow type of texts or of bytes?"""
    return is_text(kind) or is_binary(kind)


def text_column_of(column: Any) -> TextColumn:
    """A pyarrow array of texts or bytes as spans."""
    kind = column.type
    if types.is_fixed_size_binary(kind) or types.is_binary_view(kind):
        column = column.cast(pyarrow.large_binary())
    return TextColumn(*spans_of(column))
