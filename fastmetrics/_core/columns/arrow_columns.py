"""Arrow columns of unusual types: in their plain form, as correctly rounded floats, and as keys.

Arrow's own cast of decimals to floats is off by one bit for one long decimal in five. Here it is exact: a quotient of
two exact floats for short decimals, and text for long ones, which Arrow reads with one rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.optional_imports import compute, import_extra, library_of, pyarrow, types

EXACT_INTEGER = 1 << 53
EXACT_POWER = 22  # 10**22 is the largest power of ten that a float64 holds
INTEGER_DIGITS = 18  # every integer of 18 digits is an int64
WIDE_DIGITS = 39  # of the greatest integer of 128 bits, which polars has and Arrow has not
LISTS = "list of "  # begins the names of types of lists, whatever their layout
HEX_PAIRS = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), np.uint16)


def type_name(arrow_type: Any) -> str:
    """The name of a type. A dictionary counts as the type of its values, an extension as what it stores."""
    arrow_type = plain_type(arrow_type)
    if is_list(arrow_type):
        return LISTS + type_name(arrow_type.value_type)
    return str(arrow_type.value_type if types.is_dictionary(arrow_type) else arrow_type)


def plain_type(data_type: Any) -> Any:
    """The type of a column in its plain form: see `plain_column`."""
    if is_flat(data_type):
        return data_type
    if isinstance(data_type, pyarrow.BaseExtensionType):
        return plain_type(data_type.storage_type)
    if types.is_run_end_encoded(data_type):
        return plain_type(data_type.value_type)
    if types.is_dictionary(data_type):
        values = plain_type(data_type.value_type)
        return values if types.is_dictionary(values) else pyarrow.dictionary(data_type.index_type, values)
    if types.is_struct(data_type):
        return pyarrow.struct([field.with_type(plain_type(field.type)) for field in data_type])
    if is_list(data_type) or types.is_list_view(data_type) or types.is_large_list_view(data_type):
        item = data_type.value_field.with_type(plain_type(data_type.value_type))
        if types.is_fixed_size_list(data_type):
            return pyarrow.list_(item, data_type.list_size)
        is_large = types.is_large_list(data_type) or types.is_large_list_view(data_type)
        return pyarrow.large_list(item) if is_large else pyarrow.list_(item)
    if types.is_string_view(data_type):
        return pyarrow.large_string()
    if types.is_decimal(data_type) and data_type.bit_width < 128:
        return pyarrow.decimal128(data_type.precision, data_type.scale)
    return pyarrow.large_binary() if types.is_binary_view(data_type) else data_type


def is_flat(data_type: Any) -> bool:
    """Is it a type that most columns have, which is plain?"""
    return bool(types.is_primitive(data_type) or types.is_string(data_type) or types.is_large_string(data_type))


def plain_column(column: Any) -> Any:
    """A pyarrow array in its plain form, which the rest of the library reads.

    Extension types are what they store, runs are rows, views have offsets, decimals have 128 bits or more; so are the
    items of lists, the fields of structs and the values of dictionaries.
    """
    wanted = plain_type(column.type)
    if wanted == column.type:
        return column
    if hasattr(column, "chunks"):
        return pyarrow.chunked_array([plain_column(chunk) for chunk in column.chunks], wanted)
    if isinstance(column.type, pyarrow.BaseExtensionType):
        return plain_column(column.storage)
    if types.is_run_end_encoded(column.type):
        return expand_runs(column)
    if types.is_dictionary(column.type):
        values = plain_column(column.dictionary)
        if types.is_dictionary(values.type):
            return values.take(column.indices)
        return pyarrow.DictionaryArray.from_arrays(column.indices, values)
    if types.is_struct(column.type):
        fields = [plain_column(column.field(number)) for number in range(column.type.num_fields)]
        return pyarrow.StructArray.from_arrays(fields, fields=list(wanted), mask=column.is_null())
    return plain_lists(column, wanted) if is_list(wanted) else column.cast(wanted)


def plain_batch(batch: Any) -> Any:
    """A pyarrow RecordBatch of plain columns."""
    if all(is_flat(column.type) or plain_type(column.type) == column.type for column in batch.columns):
        return batch
    return pyarrow.RecordBatch.from_arrays(list(map(plain_column, batch.columns)), names=batch.schema.names)


def expand_runs(column: Any) -> Any:
    """The rows of a run-end-encoded array; Arrow's own function does not take every type of values."""
    ends = np.asarray(column.run_ends)
    rows = np.arange(column.offset, column.offset + len(column))
    return plain_column(column.values).take(pyarrow.array(np.searchsorted(ends, rows, side="right")))


def plain_lists(column: Any, wanted: Any) -> Any:
    """Lists of any layout with the items of a plain type."""
    if types.is_fixed_size_list(wanted):
        size = wanted.list_size
        items = plain_column(column.values.slice(column.offset * size, len(column) * size))
        return pyarrow.FixedSizeListArray.from_arrays(items, type=wanted, mask=column.is_null())
    lengths = np.asarray(compute.list_value_length(column).fill_null(0))
    is_large = types.is_large_list(wanted)
    offsets = np.zeros(len(column) + 1, np.int64 if is_large else np.int32)
    np.cumsum(lengths, out=offsets[1:])
    kind = pyarrow.LargeListArray if is_large else pyarrow.ListArray
    return kind.from_arrays(pyarrow.array(offsets), plain_column(column.flatten()), wanted, mask=column.is_null())


def numpy_values(array: Any) -> np.ndarray:
    """The values of a pyarrow array; numbers without a null as a view.

    Arrow's own conversion imports pandas, where it is installed: a quarter of a second.
    """
    if not array.null_count and (types.is_integer(array.type) or types.is_floating(array.type)):
        return np.from_dlpack(array)
    if not array.null_count and types.is_boolean(array.type):
        return np.from_dlpack(array.cast(pyarrow.uint8())).view(np.bool_)
    return np.asarray(array.to_numpy(zero_copy_only=False))


def arrow_values(values: np.ndarray) -> Any:
    """Numbers or booleans as a pyarrow array, numbers as a view. `pyarrow.array` imports pandas too."""
    if values.dtype == np.bool_:
        return arrow_values(values.view(np.uint8)).cast(pyarrow.bool_())
    buffers = [None, pyarrow.py_buffer(np.ascontiguousarray(values))]
    return pyarrow.Array.from_buffers(pyarrow.from_numpy_dtype(values.dtype), values.shape[0], buffers)


def read_arrow_table(data: Any, columns: Sequence[str] | None = None) -> Any:
    """A table as an object of pyarrow, of a dataset some columns; None for what is no table.

    It may be of any library, if it has the interface of Arrow.
    """
    if library_of(data) == "pyarrow":
        if hasattr(data, "read_all"):
            data = data.read_all()
        elif hasattr(data, "to_table"):
            names = [] if columns is None else [name for name in dict.fromkeys(columns) if name in data.schema.names]
            data = data.to_table() if columns is None else data.to_table(columns=names)
    elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        pa = import_extra("pyarrow", "reading tables")
        is_stream = hasattr(data, "__arrow_c_stream__")
        data = pa.RecordBatchReader.from_stream(data).read_all() if is_stream else pa.record_batch(data)
    return data if hasattr(data, "column") and hasattr(data, "schema") else None


def describe_no_table(data: Any) -> str:
    """The type of data that is no table, with what to do if it may become one."""
    return type(data).__name__ + ("; collect it first: data.collect()" if hasattr(data, "collect") else "")


def is_pandas_frame(data: Any) -> bool:
    return library_of(data) == "pandas" and type(data).__name__ == "DataFrame"


def is_list(kind: Any) -> bool:
    """Is it an Arrow type of lists?"""
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def entry_type(kind: Any) -> Any:
    """The type of the entries of lists; other types are their own."""
    return kind.value_type if is_list(kind) else kind


def widened_epsilon(type_names: Sequence[str]) -> float | None:
    """The machine epsilon of half floats, which are widened when they are read; None if a type is another one."""
    return float(np.finfo(np.float16).eps) if set(type_names) == {"halffloat"} else None


def is_text(data_type: Any) -> bool:
    """Is it a type of texts, however they are stored?"""
    kind = data_type.value_type if types.is_dictionary(data_type) else data_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_binary(data_type: Any) -> bool:
    """Is it a type of bytes, of any layout?"""
    return bool(
        types.is_binary(data_type)
        or types.is_large_binary(data_type)
        or types.is_fixed_size_binary(data_type)
        or types.is_binary_view(data_type)
    )


def decimals_to_floats(column: Any) -> np.ndarray:
    """The float64 that is nearest to each decimal of a pyarrow array without nulls."""
    if hasattr(column, "chunks"):
        return np.concatenate([np.empty(0), *map(decimals_to_floats, column.chunks)])
    if len(column) == 0:
        return np.empty(0)
    unscaled = small_integers(column)
    scale = column.type.scale
    if unscaled is None or abs(scale) > EXACT_POWER:
        return parse_decimals(column)
    integers, is_small = unscaled
    floats: np.ndarray = integers.astype(np.float64)
    # Both are exact, so the quotient, or the product, is rounded once.
    floats = floats / float(10**scale) if scale >= 0 else floats * float(10**-scale)
    if not is_small.all():
        floats[~is_small] = parse_decimals(column.filter(pyarrow.array(~is_small)))
    return floats


def small_integers(column: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """The integers of decimals before they are scaled, and which of them are exact as floats; None if unknown."""
    width = column.type.byte_width
    if width != 16:
        return None
    data = column.buffers()[1]
    start = column.offset * width
    words = np.frombuffer(data, "<i8", 2 * len(column), start)
    low, high = words[::2], words[1::2]
    return low, (high == low >> 63) & (low <= EXACT_INTEGER) & (low >= -EXACT_INTEGER)


def parse_decimals(column: Any) -> np.ndarray:
    return np.asarray(column.cast(pyarrow.string()).cast(pyarrow.float64()).to_numpy(zero_copy_only=False))


def decimal_keys(column: Any) -> Any:
    """Decimals as a column of keys: integers if they have no fraction and fit, otherwise the shortest texts."""
    if is_integer_decimal(column.type.precision, column.type.scale):
        return column.cast(pyarrow.int64())
    texts = column.cast(pyarrow.string())
    if column.type.scale == 0:
        return texts
    if hasattr(texts, "chunks"):
        return pyarrow.chunked_array([shorten_decimals(chunk) for chunk in texts.chunks], pyarrow.string())
    return shorten_decimals(texts)


def shorten_decimals(texts: Any) -> Any:
    """Arrow's texts of decimals of one scale as the shortest texts: equal decimals of two scales have one text."""
    from decimal import Decimal

    coded = texts.dictionary_encode()
    distinct = coded.dictionary
    is_scientific = compute.match_substring(distinct, "E")  # small decimals, and those of a negative scale
    if compute.any(is_scientific).as_py():
        plain = [f"{Decimal(text):f}" if "E" in text else text for text in distinct.to_pylist()]
        distinct = pyarrow.array(plain, pyarrow.string())
    shorter = compute.replace_substring_regex(distinct, r"(\.[0-9]*[1-9])0+$|\.0+$", r"\1")
    return shorter.take(coded.indices)


def is_integer_decimal(precision: int, scale: int) -> bool:
    return scale == 0 and precision <= INTEGER_DIGITS


def binary_keys(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Bytes as hexadecimal texts: the text of all rows, and the offsets of each."""
    column = column.cast(pyarrow.large_binary())
    if hasattr(column, "chunks"):
        column = column.combine_chunks()
    data, offsets = text_buffers(column)
    return HEX_PAIRS[data[offsets[0] : offsets[-1]]].view(np.uint8), 2 * (offsets - offsets[0])


def text_buffers(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """The bytes of a pyarrow array of texts or bytes, and where in them each row begins and the last one ends."""
    _, offsets, data = column.buffers()
    is_large = types.is_large_string(column.type) or types.is_large_binary(column.type)
    dtype = np.dtype(np.int64 if is_large else np.int32)
    content = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    if not len(column):
        return content, np.zeros(1, dtype)
    return content, np.frombuffer(offsets, dtype, len(column) + 1, column.offset * dtype.itemsize)


def is_wide_integer(data_type: Any) -> bool:
    """Is it the type of integers of 128 bits in polars?"""
    return str(data_type) in ("Int128", "UInt128")


def wide_integers(values: Any) -> Any | None:
    """A column of polars that has such a type, as a pyarrow array of decimals; None for any other data."""
    if library_of(values) != "polars" or not is_wide_integer(getattr(values, "dtype", "")):
        return None
    import polars

    return decimals_of_texts(values.cast(polars.String).to_arrow())


def decimals_of_texts(texts: Any) -> Any:
    """Integers as decimals, exactly, from their texts."""
    return texts.cast(pyarrow.string()).cast(pyarrow.decimal256(WIDE_DIGITS, 0))
