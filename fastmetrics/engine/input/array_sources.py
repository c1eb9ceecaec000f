"""Sources of arrays: dicts of arrays, structured arrays, rows as dicts, and pandas data frames.

Only requested columns are converted to Arrow.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from fastmetrics._core import object_keys
from fastmetrics._core.columns.array_types import plain_values
from fastmetrics._core.columns.arrow_columns import wide_integers
from fastmetrics._core.columns.group_keys import has_objects
from fastmetrics._core.columns.validation import LISTED_COLUMNS, check_masked_items
from fastmetrics._core.optional_imports import library_of
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import BATCH_ROWS, Source, first_line


class ArraySource(Source):
    """A dict of arrays. Only requested columns are converted to Arrow: the others may hold anything."""

    label = "data"

    def __init__(self, arrays: Mapping[Any, Any]) -> None:
        if not arrays:
            raise ValueError("data is an empty dict: give one array per column")
        self._columns = list(arrays.values())
        self.column_names = list(map(str, arrays))
        lengths = {name: count_rows(name, values) for name, values in arrays.items()}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name}: {length}" for name, length in list(lengths.items())[:LISTED_COLUMNS])
            raise ValueError(f"data has columns of different lengths: {found}; give each the same number of rows")
        self.rows = next(iter(lengths.values()))

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        arrays = []
        for column in columns:
            values = self._values_of(self.column_names.index(column))
            arrays.append(arrow_column(column, values, column in self.uses.texts | self.uses.lists))
        yield from pa.table(arrays, names=columns).to_batches()

    def type_before_reading(self, column: str) -> pa.DataType | None:
        dtype = getattr(self._values_of(self.column_names.index(column)), "dtype", None)
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            return pa.from_numpy_dtype(dtype.newbyteorder("="))
        return None

    def _values_of(self, number: int) -> Any:
        return self._columns[number]


class StructuredSource(Source):
    """A NumPy array whose rows have named fields. A batch of a field is copied, never the whole field.

    Masked fields are nulls.
    """

    label = "the structured array"

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        if array.ndim != 1:
            raise ValueError(f"data is a structured array of shape {array.shape}; give one with one dimension")
        self._array = np.asarray(array)  # a view without the attributes of record arrays
        self._mask = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
        self.column_names = list(array.dtype.names or ())
        self.rows = array.shape[0]

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        for start in range(0, self._array.shape[0], BATCH_ROWS):
            rows = self._array[start : start + BATCH_ROWS]
            if self._mask is not None:
                rows = np.ma.MaskedArray(rows, self._mask[start : start + BATCH_ROWS])
            arrays = [arrow_column(name, rows[name], name in self.uses.texts | self.uses.lists) for name in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=columns)


class RowsSource(Source):
    """A list of dicts, one for each row. A row without a key has a null there."""

    label = "the list of rows"

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._data = rows
        self.column_names = list(dict.fromkeys(chain.from_iterable(rows)))
        self.rows = len(rows)

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        arrays = []
        for name in columns:
            values = [row.get(name) for row in self._data]
            arrays.append(arrow_column(name, values, name in self.uses.texts | self.uses.lists))
        yield from pa.table(arrays, names=columns).to_batches()


class PandasSource(ArraySource):
    """A pandas data frame, column by column: its own Arrow export would convert every column.

    Names that are no texts, such as the numbers of columns without a name, are their texts.
    """

    label = "the data frame"

    def __init__(self, frame: Any) -> None:
        if frame.columns.nlevels > 1:
            raise ValueError(
                "data: the data frame has column names of several levels; give each column one name: "
                "frame.columns = ['_'.join(map(str, own)) for own in frame.columns]"
            )
        self._frame = frame
        self.column_names = list(map(str, frame.columns))
        self.rows = len(frame)

    def _values_of(self, number: int) -> Any:
        return self._frame.iloc[:, number]


def count_rows(name: object, values: Any) -> int:
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise TypeError(f"data[{name!r}] must be a one-dimensional array or a list; got {type(values).__name__}")
    try:
        return len(values)
    except TypeError:  # NumPy's zero-dimensional arrays have __len__ but no length
        raise ValueError(f"data[{name!r}] is a single value; give an array with one value per row") from None


def arrow_column(name: str, values: Any, lists: bool = False) -> pa.Array | pa.ChunkedArray:
    """One column of a dict, without a copy if Arrow can wrap the buffer. With `lists`, values may be lists."""
    values = plain_values(values, f"data[{name!r}]")
    try:
        is_matrix = lists and getattr(values, "ndim", 1) == 2 and hasattr(values, "__array__")
        column = convert_matrix(name, np.asanyarray(values)) if is_matrix else convert_column(name, values)
    except UnicodeEncodeError as error:
        row, text = next((row, value) for row, value in enumerate(values) if has_surrogate(value))
        raise ValueError(f"data[{name!r}] has {text!r} at row {row}, which is not valid Unicode") from error
    except (pa.ArrowException, OverflowError) as error:
        if isinstance(values, list | tuple) or has_objects(values):
            check_masked_items(values, f"data[{name!r}]")
            if (exact := exact_column(values)) is not None:
                return exact
            check_kinds(name, values)
        raise ValueError(f"data[{name!r}] cannot be read as one column: {first_line(error)}") from error
    check_bytes(name, column, values)
    check_dates(name, column, values)
    if pa.types.is_nested(column.type) and (isinstance(values, list | tuple) or has_objects(values)):
        check_masked_items(values, f"data[{name!r}]")
    # Of a struct, a field may be read; a struct itself is refused where its values are read.
    if pa.types.is_nested(column.type) and not lists and not pa.types.is_struct(column.type):
        raise ValueError(f"data[{name!r}] holds {column.type}; it must be one-dimensional, with one value per row")
    return column


def has_surrogate(value: Any) -> bool:
    """Whether it is a text, or a list with a text, that UTF-8 cannot encode."""
    if isinstance(value, list | tuple):
        return any(map(has_surrogate, value))
    return isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value)


def convert_column(name: str, values: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if library_of(values) == "pandas":
        if object_keys.is_period_or_interval(values):
            codes, distinct = values.factorize()
            return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(list(map(str, distinct))))
        is_sparse = str(getattr(values, "dtype", "")).startswith("Sparse")
        return pa.array(values.sparse.to_dense() if is_sparse else values, from_pandas=True)
    if hasattr(values, "__arrow_c_stream__"):
        wide = wide_integers(values)
        return pa.chunked_array(values) if wide is None else wide
    if hasattr(values, "__arrow_c_array__"):
        return pa.array(values)
    if isinstance(values, list | tuple | range):
        try:
            return pa.array(values)
        except ValueError as error:
            if isinstance(error, pa.ArrowException):
                raise
            return pa.array(values, from_pandas=True)  # pandas' NaT beside dates is a null
    return convert_numpy(name, values if isinstance(values, np.ndarray) else np.asarray(values))


def exact_column(values: Any) -> pa.Array | None:
    """Objects for which Arrow finds no type: each as what it is. None if they are of several kinds.

    Numbers that no integers or floats hold exactly are decimals, or texts if they are too long.
    """
    present = [value is not None and value == value for value in values]
    objects = object_keys.objects_of([value for value, is_there in zip(values, present, strict=True) if is_there])
    if not objects.shape[0]:
        return None
    try:
        found = object_keys.plain_keys(objects, "")
    except TypeError:
        return None
    numbers = all(isinstance(value, object_keys.NUMBERS) for value in objects)
    if found.dtype == object and numbers and (decimals := decimals_of(iter(found), present)) is not None:
        return decimals
    keys = iter(found)
    return pa.array([next(keys) if is_there else None for is_there in present], pa.array(found[:1]).type)


def check_kinds(name: str, values: Any) -> None:
    """Raise ValueError for the first of some objects that is of another kind than the first one."""
    known: tuple[int, Any] | None = None
    for row, value in enumerate(values):
        if not isinstance(value, (*object_keys.NUMBERS, str, bytes, list, tuple, dict)):
            continue  # perhaps a missing value
        known = known or (row, value)
        if isinstance(value, object_keys.NUMBERS) != isinstance(known[1], object_keys.NUMBERS):
            raise ValueError(
                f"data[{name!r}] cannot be read as one column: it has {value!r} at row {row}, {type(value).__name__}, "
                f"and {known[1]!r} at row {known[0]}, {type(known[1]).__name__}; give one kind"
            )


def decimals_of(texts: Iterator[str], present: Sequence[bool]) -> pa.Array | None:
    """Texts of numbers as decimals of Arrow; None if they are too long for these."""
    from decimal import Decimal

    try:
        return pa.array([Decimal(next(texts)) if is_there else None for is_there in present])
    except pa.ArrowException:
        return None


def check_bytes(name: str, column: pa.Array | pa.ChunkedArray, values: Any) -> None:
    """Raise ValueError if texts stand beside bytes among Python's objects, of which Arrow makes bytes."""
    if not pa.types.is_binary(column.type) or isinstance(values, pa.Array | pa.ChunkedArray):
        return
    if not isinstance(values, list | tuple) and not has_objects(values):
        return
    for row, value in enumerate(values):
        if isinstance(value, str):
            what = f"has the text {value!r} at row {row}, and bytes in other rows"
            raise ValueError(f"data[{name!r}] {what}; give one kind")


def check_dates(name: str, column: pa.Array | pa.ChunkedArray, values: Any) -> None:
    """Raise ValueError if times stand beside dates among Python's objects, of which Arrow makes dates."""
    if not pa.types.is_date(column.type) or not (isinstance(values, list | tuple) or has_objects(values)):
        return
    for row, value in enumerate(values):
        if isinstance(value, datetime.datetime) and value == value:
            what = f"has the time {value} at row {row}, and dates in other rows"
            raise ValueError(f"data[{name!r}] {what}; give one kind")


def convert_matrix(name: str, matrix: np.ndarray[Any, Any]) -> pa.Array:
    """A matrix as lists: one for each row."""
    entries: Any = np.ascontiguousarray(matrix).reshape(-1)
    if isinstance(matrix, np.ma.MaskedArray):
        entries = np.ma.MaskedArray(entries, np.ma.getmaskarray(matrix).reshape(-1))
    entries = convert_numpy(name, entries)
    return pa.FixedSizeListArray.from_arrays(entries, matrix.shape[1])


def convert_numpy(name: str, array: np.ndarray[Any, Any]) -> pa.Array | pa.ChunkedArray:
    if array.dtype.names is not None and array.ndim == 1:
        fields = [convert_numpy(f"{name}.{field}", array[field]) for field in array.dtype.names]
        return pa.StructArray.from_arrays(fields, names=array.dtype.names)
    if array.ndim != 1:
        raise ValueError(f"data[{name!r}] must be one-dimensional; got shape {array.shape}")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind in "cgV":
        raise ValueError(f"data[{name!r}] has dtype {array.dtype}; give integers, floats, booleans or strings")
    if array.dtype.kind == "T":  # NumPy's StringDType, which not every pyarrow reads
        array = array.astype(object)
    if array.dtype.kind == "U" and has_inner_nul(array):  # Arrow would end the text there
        array = array.astype(object)
    # NaN marks a missing value in object arrays only; in a float array it stays NaN.
    return pa.array(array, from_pandas=array.dtype == object)


def has_inner_nul(array: np.ndarray[Any, Any]) -> bool:
    """Whether a fixed-width text has a NUL before its end."""
    if array.dtype.itemsize <= 4 or not array.shape[0]:
        return False
    codes = np.ascontiguousarray(array).view(np.uint32).reshape(array.shape[0], -1)
    return bool(((codes[:, :-1] == 0) & (codes[:, 1:] != 0)).any())
