"""Filters of rows, as callers give them: a text in SQL, an expression of pyarrow or polars, or a mask of booleans."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from fastmetrics._core.columns.array_types import plain_values
from fastmetrics._core.columns.validation import as_array, is_array_like
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.plan.native_columns import are_equal, is_native

EXAMPLE = 'where="clicked = 1"'
WANTED = "where must be a condition in SQL, an expression of pyarrow or polars, or a mask, one boolean for each row"


class RowMask:
    """A caller's booleans, one for each row of a log, as they were when they were given. Nulls are false."""

    __slots__ = ("text", "values")

    def __init__(self, given: Any) -> None:
        self.values = read_booleans(given).copy()
        self.values.flags.writeable = False
        digest = hashlib.blake2b(self.values.tobytes(), digest_size=8).hexdigest()
        kept = np.count_nonzero(self.values)
        self.text = f"mask of {self.values.shape[0]:,} rows, {kept:,} true ({digest})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowMask) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"<{self.text}>"


class RowFilter(NamedTuple):
    """A filter by the name of its boolean column; `native` is the expression of another library or the mask."""

    name: str
    native: Any = None

    def __eq__(self, other: object) -> bool:
        """Do both keep the same rows? The text of a native expression may leave out what it compares with."""
        if not isinstance(other, RowFilter) or self.native is None or other.native is None:
            return tuple.__eq__(self, other) if isinstance(other, RowFilter) else NotImplemented
        return are_equal(self.native, other.native)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)


def read_filter(where: Any) -> RowFilter | None:
    """The caller's filter."""
    if where is None or isinstance(where, RowFilter):
        return where
    if isinstance(where, str):
        if not where.strip():
            raise ValueError(f"where is empty: write a condition, such as {EXAMPLE}")
        return RowFilter(where)
    if is_native(where):
        return RowFilter(str(where), where)
    mask = where if isinstance(where, RowMask) else RowMask(where)
    return RowFilter(mask.text, mask)


def read_booleans(given: Any) -> np.ndarray:
    """The values of a mask of NumPy, pandas, polars, Arrow, a tensor or a list."""
    if isinstance(given, (str, bytes, dict, set)) or not is_array_like(given):
        raise TypeError(f"{WANTED}; found {type(given).__name__}")
    values = plain_values(given, "where")
    if isinstance(values, (list, tuple)) or str(getattr(values, "dtype", "")) == "object":
        values = booleans_of_objects(values)
    elif isinstance(values, np.ma.MaskedArray):
        values = values.filled(False) if values.dtype == np.bool_ else values
    elif str(getattr(values, "type", getattr(values, "dtype", ""))).lower() in ("bool", "boolean"):
        fill = getattr(values, "fill_null", None) or getattr(values, "fillna", None)
        values = values if fill is None else fill(False)
    array = as_array(values, "where")
    if array.dtype != np.bool_ or array.ndim != 1:
        raise TypeError(f"{WANTED}; found {type(given).__name__} of {array.dtype} and shape {array.shape}")
    return array


def booleans_of_objects(values: Any) -> np.ndarray:
    """Python's booleans; None, NaN and pandas' NA are false."""
    for row, value in enumerate(values):
        is_missing = value is None or value is getattr(value, "_NA_SENTINEL", None) or type(value).__name__ == "NAType"
        if not isinstance(value, (bool, np.bool_)) and not is_missing and value == value:
            raise TypeError(f"{WANTED}; found {value!r} at row {row}")
    return np.fromiter((isinstance(value, (bool, np.bool_)) and bool(value) for value in values), np.bool_)


def join_filters(first: Any, second: Any) -> Any:
    """Both filters: that of a call and that of a task."""
    if first is None or second is None:
        return second if first is None else first
    if isinstance(first, str) and isinstance(second, str):
        return f"({first}) and ({second})"
    raise TypeError("where of a call and where of a task are joined if both are SQL; write one of them only")


