"""Group keys of any container: numbers, text, and several columns together, compared exactly.

`as_keys` makes a key column (`key_columns.py`) of an array, an Arrow column, or a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fastmetrics._core import object_keys
from fastmetrics._core.columns import arrow_columns, validation
from fastmetrics._core.columns.key_columns import FixedWidthKeys, Keys, NumberKeys, TextKeys, tuple_of
from fastmetrics._core.columns.key_types import NUMBERS, NUMBERS_AND_FLOATS, TEXT, dtype_of_arrow
from fastmetrics._core.object_keys import WANTED
from fastmetrics._core.optional_imports import pyarrow, types

MOST_BYTES = (1 << 31) - 1  # of text in an Arrow array with 32-bit offsets
SEVERAL = "several columns are given as a DataFrame, an Arrow table or a dict of columns"


def as_keys(values: Any, name: str = "groups") -> Keys:
    """A key column of any container. A table or a dict of columns gives keys of several columns."""
    columns = columns_of(values)
    if columns is not None:
        return keys_of_columns(columns, name)
    if type(values) is not np.ndarray:
        if object_keys.is_period_or_interval(values):
            values = values.astype(str).to_numpy(object)
        arrow = as_arrow(values)
        if arrow is not None:
            return arrow_keys(arrow, name)
    if getattr(getattr(values, "dtype", None), "tz", None) is not None:
        values = np.asarray(values, "M8[ns]")  # pandas' times with a zone, as UTC
    array = validation.as_array(values, name)
    if array.ndim == 2:
        raise ValueError(f"{name} must have one dimension; found 2 (shape {array.shape}): {SEVERAL}")
    is_list = isinstance(values, (list, tuple))
    if object_keys.has_integers_beside_floats(values, array) or (array.dtype.kind in "US" and is_list):
        # NumPy's fixed-width text drops trailing zeros, and turns numbers among strings into strings.
        array = object_keys.objects_of(values)
    validation.check_column(array, name)
    if array.dtype.kind == "S":
        array = array.astype(object)
    dtype = TEXT
    if array.dtype.kind == "O":
        dtype = dtype_of_objects(array)
        array = object_keys.plain_keys(array, name)
    kind = array.dtype.kind
    if kind in "biufmM":
        return number_keys(array, name)
    if kind == "U":
        return FixedWidthKeys(validation.contiguous(array), name)
    if kind in "OT":
        return encode_objects(array, name, dtype)
    raise TypeError(f"{name} has dtype {array.dtype}: {WANTED}; convert it, for example with astype(str)")


def dtype_of_objects(array: np.ndarray) -> np.dtype:
    """The type of keys of Python's objects, if they become texts: that of numbers, or of texts."""
    if not array.shape[0] or isinstance(array[0], str):
        return TEXT
    kinds = set(map(type, array.tolist()))
    if all(issubclass(kind, object_keys.NUMBERS) for kind in kinds):
        return NUMBERS_AND_FLOATS
    is_decimal = any(kind.__module__ in ("decimal", "_decimal") for kind in kinds)
    return NUMBERS if is_decimal else TEXT


def columns_of(values: Any) -> list[tuple[Any, Any]] | None:
    """The names and columns of a table, of a dict, or of records; None for a single column."""
    if isinstance(values, np.ndarray):
        return None if values.dtype.names is None else [(name, values[name]) for name in values.dtype.names]
    if isinstance(values, Mapping):
        return list(values.items())
    if is_arrow_column(values):
        return None
    if hasattr(values, "iloc") and getattr(values, "ndim", 1) == 2:
        return [(label, values.iloc[:, number]) for number, label in enumerate(values.columns)]
    if hasattr(values, "get_columns"):
        return [(column.name, column) for column in values.get_columns()]
    if hasattr(values, "column_names") and hasattr(values, "itercolumns"):
        return list(zip(values.column_names, values.itercolumns(), strict=True))
    return None


def keys_of_columns(columns: Sequence[tuple[Any, Any]], name: str) -> Keys:
    """Keys of the columns of a table. An error names the column."""
    labels = [str(label) for label, _ in columns]
    if not labels:
        raise ValueError(f"{name} has no columns: at least one is needed")
    for number, label in enumerate(labels):
        if label in labels[:number]:
            raise ValueError(f"{name} has two columns {label!r}: name each column once")
    keys = []
    for label, (_, values) in zip(labels, columns, strict=True):
        title = f"{name} column {label!r}"
        if columns_of(values) is not None:
            raise TypeError(f"{title} is a table: {WANTED}")
        keys.append(as_keys(values, title))
        validation.check_lengths(keys[0].rows, keys[-1].rows, f"{name} column {labels[0]!r}", title)
    return tuple_of(labels, keys)


def number_keys(array: np.ndarray, name: str) -> NumberKeys:
    """Keys of a NumPy array of numbers, dates or times."""
    kind = array.dtype.kind
    if kind == "f":
        return float_keys(array, name)
    if kind in "biu":
        values = widen_integers(array)
        return NumberKeys(values, array.dtype if kind == "b" else values.dtype)
    array = validation.contiguous(array)
    missing = np.isnat(array)
    if missing.any():
        raise ValueError(f"{name} has NaT at row {int(missing.argmax())}")
    return NumberKeys(array.view(np.int64), array.dtype)


def float_keys(array: np.ndarray, name: str) -> NumberKeys:
    """Keys of floats: equal floats are equal keys, also -0.0 and 0.0, which have different bits."""
    if array.dtype.itemsize > 8:
        raise TypeError(f"{name} has dtype {array.dtype}: {WANTED}; convert it with astype(float)")
    missing = np.isnan(array)
    if missing.any():
        raise ValueError(f"{name} has NaN at row {int(missing.argmax())}: a missing key is in no group")
    bits = (array.astype(np.float64) + 0.0).view(np.int64)
    return NumberKeys(bits, array.dtype.newbyteorder("="))


def widen_integers(array: np.ndarray) -> np.ndarray:
    """Integers of a type that kernels read."""
    if array.dtype.kind == "b" or array.dtype.itemsize < 4 or (array.dtype.kind == "u" and array.dtype.itemsize == 4):
        array = array.astype(np.int64)
    return validation.contiguous(array)


def encode_objects(array: np.ndarray, name: str, dtype: np.dtype = TEXT) -> TextKeys:
    """Python strings (object or StringDType arrays) to UTF-8."""
    texts = []
    for row, value in enumerate(array.tolist()):
        if not isinstance(value, str):
            is_missing = value is None or value != value
            raise (ValueError if is_missing else TypeError)(
                f"{name} has {value!r} at row {row}: {WANTED}, all of one kind"
            )
        try:
            texts.append(value.encode())
        except UnicodeEncodeError:
            raise ValueError(f"{name} has {value!r} at row {row}, which is not valid Unicode text") from None
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    return TextKeys(np.frombuffer(b"".join(texts), np.uint8), offsets, dtype)


def as_arrow(values: Any) -> Any:
    """Arrow data (of pyarrow, polars, or pandas with Arrow columns) as a pyarrow array; None for other values."""
    if is_arrow_column(values):
        return values
    if type(values).__module__.partition(".")[0] == "pyarrow":
        return None
    if (wide := arrow_columns.wide_integers(values)) is not None:
        return wide
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        try:
            import pyarrow
        except ImportError:
            return None
        try:
            found = pyarrow.array(values) if hasattr(values, "__arrow_c_array__") else pyarrow.chunked_array(values)
        except (pyarrow.ArrowException, OverflowError):
            # For instance mixed objects, or integers beyond 64 bits: a check row by row can name the row.
            return None
        except OSError:  # polars before 1.33 says another type of categorical columns than it hands out
            found = values.to_arrow()
        # Arrow makes bytes of texts that stand beside bytes in a column of objects.
        return None if has_objects(values) and pyarrow.types.is_binary(found.type) else found
    return None


def is_arrow_column(values: Any) -> bool:
    """Is it an Array or a ChunkedArray of pyarrow?"""
    return type(values).__module__.startswith("pyarrow.") and hasattr(values, "null_count")


def has_objects(values: Any) -> bool:
    """Whether it is an array, or a column of pandas, of Python's objects."""
    return str(getattr(values, "dtype", "")) == "object"


def arrow_keys(values: Any, name: str) -> Keys:
    """Keys of a pyarrow Array or ChunkedArray. Buffers are not copied if their layout allows it."""
    if len(values) == 0:
        raise ValueError(f"{name} is empty: at least one row is needed")
    values = arrow_columns.plain_column(values)
    kind = values.type
    if types.is_struct(kind):
        names = [kind.field(number).name for number in range(kind.num_fields)]
        return keys_of_columns(list(zip(names, values.flatten(), strict=True)), name)
    if values.null_count:
        row = int(np.flatnonzero(np.asarray(values.is_null()))[0])
        raise ValueError(f"{name} has a null at row {row}")
    if types.is_dictionary(kind):
        return arrow_keys(decode_dictionary(values), name)
    dtype = dtype_of_arrow(str(kind), name)
    if arrow_columns.is_binary(kind):
        return TextKeys(*arrow_columns.binary_keys(values))
    if types.is_decimal(kind):
        keys = arrow_keys(arrow_columns.decimal_keys(values), name)
        return TextKeys(keys.data, keys.offsets, NUMBERS) if isinstance(keys, TextKeys) else keys
    if types.is_temporal(kind):
        stored = values.cast(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64())
        return NumberKeys(widen_integers(validation.arrow_to_numpy(stored, name)), dtype)
    if dtype != TEXT:
        return number_keys(validation.arrow_to_numpy(values, name), name)
    chunked = hasattr(values, "chunks") and values.num_chunks != 1
    if types.is_string_view(kind) or (types.is_string(kind) and chunked and values.nbytes > MOST_BYTES):
        # 32-bit offsets would be too small for all chunks together.
        values = values.cast(pyarrow.large_string())
    if hasattr(values, "chunks"):
        values = values.combine_chunks()
        if hasattr(values, "chunks"):
            values = values.chunk(0)
    return TextKeys(*arrow_columns.text_buffers(values))


def decode_dictionary(values: Any) -> Any:
    """A dictionary-encoded column as plain values. Every chunk may have its own dictionary."""
    def decode(chunk: Any) -> Any:
        dictionary = chunk.dictionary
        if types.is_string_view(dictionary.type):
            dictionary = dictionary.cast(pyarrow.large_string())
        return dictionary.take(chunk.indices)

    if not hasattr(values, "chunks"):
        return decode(values)
    chunks = [decode(chunk) for chunk in values.chunks]
    return pyarrow.chunked_array(chunks, chunks[0].type)
