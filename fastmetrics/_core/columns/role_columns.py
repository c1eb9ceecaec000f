"""Columns of every kind, from pyarrow arrays without nulls and NaN to what statistics read.

Numeric kinds become arrays that exchanges move: float64, uint8 for two classes, int64 for keys and numbers of classes;
vectors become matrices. The others become objects whose rows are selected with NumPy's indexing; the modules of texts,
labels and vectors are imported by the first column of such a kind.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.arrow_columns import is_list
from fastmetrics._core.kinds import Binary, Category, ClassLabel, ClassNumber, Key, Kind, LabelSet, Real, Text, Vector
from fastmetrics._kernels.columns import column_checks

FLOAT_MAX = sys.float_info.max

# From a row of the column to the row of the log, for messages.
Locate = Callable[[int], int]


def read_column(kind: Kind, column: Any, name: str, locate: Locate, is_mixed: bool = False) -> Any:
    """The values of a column that is not numeric, or that is read with one.

    With `is_mixed`, texts may write numbers, as in text files.
    """
    if isinstance(kind, Vector):
        from fastmetrics._core.columns.vector_columns import MatrixColumn, read_matrix

        return MatrixColumn(read_matrix(kind, [column], [name], name, locate))
    if isinstance(kind, Text):
        from fastmetrics._core.columns.text_columns import as_texts

        return as_texts(column, name, lists=kind.lists)
    from fastmetrics._core.columns import label_columns

    if isinstance(kind, LabelSet) and not is_list(column.type):
        raise TypeError(f"{name} has Arrow type {column.type}: lists of labels are needed")
    if isinstance(kind, ClassLabel):
        return label_columns.as_class_labels(column, name, locate, is_mixed)
    if isinstance(kind, Category):
        return label_columns.as_label_column(column, name, locate)
    raise TypeError(f"{kind!r} is numeric")


def find_empty_values(kind: Kind, column: Any) -> np.ndarray | None:
    """Rows that are not null but hold nothing, or lists with missing values, as a mask; None if there are none."""
    if kind.takes_lists:
        from fastmetrics._core.columns.vector_columns import rows_with_missing_entries

        return rows_with_missing_entries(column)
    if isinstance(kind, Text) and kind.lists:
        from fastmetrics._core.columns.text_columns import rows_without_text

        return rows_without_text(column)
    return None


def stored_dtype(kind: Kind) -> np.dtype:
    """The type in which exchanges and states store the values of a numeric kind."""
    if isinstance(kind, Binary):
        return np.dtype(np.uint8)
    return np.dtype(np.int64 if isinstance(kind, (Key, ClassNumber)) else np.float64)


def read_numbers(kind: Kind, column: Any, name: str, locate: Locate) -> np.ndarray:
    """The values of a kind of numbers, in the type in which exchanges store them."""
    if isinstance(kind, Vector):
        from fastmetrics._core.columns.vector_columns import read_matrix

        return read_matrix(kind, [column], [name], name, locate).astype(np.float64, copy=False)
    numbers = validation.as_floats(column, name, locate)
    check_range(kind, numbers, name, locate)
    return numbers.astype(np.float64, copy=False)


def read_classes(
    column: Any, name: str, locate: Locate, why_shared: str | None = None
) -> tuple[np.ndarray, int, int | None]:
    """Two classes as uint8, the SAW_ bits of the values that occur, and the first row of the log with -1.

    `why_shared` says why -1 is refused, where metrics of numbers read the classes too.
    """
    array = validation.as_labels(column, name, locate)
    out = np.empty(array.shape[0], np.uint8)
    seen = np.zeros(2, np.int64)
    column_checks.decode_labels(array, 0, array.shape[0], out, seen)

    def find(what: str) -> tuple[int, Any]:
        row, value = validation.find_label(array, what)
        return locate(row), value

    kinds = int(seen[0])
    if why_shared is not None and kinds & ~(column_checks.SAW_ZERO | column_checks.SAW_ONE):
        row, value = find("neither 0 nor 1")
        raise validation.LabelError(f"{name} has {value} at row {row}: labels must be 0 and 1 where {why_shared}")
    validation.check_label_kinds(kinds, find, name)
    return out, kinds, find("minus one")[0] if kinds & column_checks.SAW_MINUS_ONE else None


def is_allowed(kind: Kind, values: np.ndarray) -> bool:
    """Does the kind allow all values? They are in the type in which they are stored, and may be NaN."""
    if not values.shape[0] or isinstance(kind, Key):
        return True
    if isinstance(kind, Binary):
        return bool(values.max() <= 1)
    if not isinstance(kind, Real):
        return False
    low, high = (-FLOAT_MAX, FLOAT_MAX) if kind.finite else (-math.inf, math.inf)
    least = kind.low if kind.allows_low else math.nextafter(kind.low, math.inf)
    return not column_checks.any_outside(values.ravel(), max(low, least), min(high, kind.high))


def check_range(kind: Kind, numbers: np.ndarray, name: str, locate: Locate) -> None:
    """Raise ValueError for the first number that the kind does not allow."""
    if not isinstance(kind, Real) or is_allowed(kind, numbers):
        return
    bad = numbers < kind.low if kind.allows_low else numbers <= kind.low
    bad |= numbers > kind.high
    if kind.finite:
        bad |= ~np.isfinite(numbers)
    row = validation.first_bad_row(bad)
    raise ValueError(f"{name} has {numbers[row]} at row {locate(row)}: {kind.wanted}")
