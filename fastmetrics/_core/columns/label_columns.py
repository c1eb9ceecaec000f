"""Columns of labels of any type: numbers, dates and floats as integers of 64 bits, texts as spans of their bytes.

Two labels of a column are one only if they are equal. What an integer means depends on the column's type, so those of
two columns, or of batches of different types, do not meet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core import inputs, keys
from fastmetrics._core.texts import TextColumn, spans_of

WANTED = "labels are integers, booleans, strings, dates or floats"


class LabelColumn:
    """The labels of rows: integers (codes), texts, or places (codes) among texts. Rows are chosen as NumPy chooses."""

    __slots__ = ("codes", "texts")

    def __init__(self, codes: np.ndarray | None, texts: TextColumn | None = None) -> None:
        self.codes = codes
        self.texts = texts

    @property
    def rows(self) -> int:
        if self.codes is not None:
            return int(self.codes.shape[0])
        return 0 if self.texts is None else self.texts.rows

    def __getitem__(self, where: Any) -> LabelColumn:
        if self.codes is not None:
            return LabelColumn(self.codes[where], self.texts)
        return LabelColumn(None, None if self.texts is None else self.texts[where])


class LabelPairs:
    """Two columns of labels of the same rows, chosen together."""

    __slots__ = ("columns",)

    def __init__(self, *columns: LabelColumn) -> None:
        self.columns = columns

    @property
    def rows(self) -> int:
        return self.columns[0].rows

    def __getitem__(self, where: Any) -> LabelPairs:
        return LabelPairs(*(column[where] for column in self.columns))


def as_label_column(column: Any, name: str, locate: Callable[[int], int]) -> LabelColumn:
    """The labels of a pyarrow array without nulls and NaN; `locate` tells the row of the log for errors."""
    import pyarrow

    types, kind = pyarrow.types, column.type
    if types.is_dictionary(kind):
        if not is_bytes(kind.value_type):
            return as_label_column(keys.decode_dictionary(column), name, locate)
        return LabelColumn(np.asarray(column.indices).astype(np.int64, copy=False), texts_of(column.dictionary))
    if is_bytes(kind) or types.is_decimal(kind):
        # A decimal's text is one for one value: all values of a column have as many decimals.
        return LabelColumn(None, texts_of(column.cast(pyarrow.string()) if types.is_decimal(kind) else column))
    if types.is_floating(kind):
        values = inputs.arrow_to_numpy(column, name)
        if not np.isfinite(values).all():
            inputs.raise_bad_number(values, name, locate)
        # One zero: -0.0 equals 0.0.
        return LabelColumn((values.astype(np.float64, copy=False) + 0.0).view(np.int64))
    if types.is_temporal(kind) and not types.is_interval(kind):
        column = column.view(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64())
    elif not (types.is_integer(kind) or types.is_boolean(kind)):
        raise TypeError(f"{name} has Arrow type {kind}: {WANTED}")
    values = inputs.arrow_to_numpy(column, name)
    return LabelColumn(values.view(np.int64) if values.dtype == np.uint64 else values.astype(np.int64, copy=False))


def is_bytes(kind: Any) -> bool:
    """Is it an Arrow type of texts, or of bytes?"""
    from pyarrow import types

    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    is_binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return bool(is_text or is_binary or types.is_fixed_size_binary(kind))


def texts_of(column: Any) -> TextColumn:
    """Texts, or bytes, as spans."""
    import pyarrow

    types, kind = pyarrow.types, column.type
    if types.is_fixed_size_binary(kind) or types.is_binary_view(kind):
        column = column.cast(pyarrow.large_binary())
    return TextColumn(*spans_of(column))
