"""Arrow columns of unusual types: in their plain form, as correctly rounded floats, and as keys.

Arrow's own cast of decimals to floats is off by one bit for one long decimal in five. Here it is exact: a quotient of
two exact floats for short decimals, and text for long ones, which Arrow reads with one rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.optional_imports import pyarrow, types

EXACT_INTEGER = 1 << 53
EXACT_POWER = 22  # 10**22 is the largest power of ten that a float64 holds
INTEGER_DIGITS = 18  # every integer of 18 digits is an int64
HEX_PAIRS = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), np.uint16)


def plain_type(data_type: Any) -> Any:
    """The type of a column in its plain form."""
    if isinstance(data_type, pyarrow.BaseExtensionType):
        return plain_type(data_type.storage_type)
    if is_run_end_encoded(data_type):
        return plain_type(data_type.value_type)
    return data_type


def plain_column(column: Any) -> Any:
    """A pyarrow array in its plain form: extension types as what they store, runs as rows."""
    if plain_type(column.type) == column.type:
        return column
    if hasattr(column, "chunks"):
        chunks = [plain_column(chunk) for chunk in column.chunks]
        return pyarrow.chunked_array(chunks, plain_type(column.type))
    if isinstance(column.type, pyarrow.BaseExtensionType):
        return plain_column(column.storage)
    from pyarrow import compute

    return plain_column(compute.run_end_decode(column))


def numpy_values(array: Any) -> np.ndarray:
    """The values of a pyarrow array; numbers without a null as a view.

    Arrow's own conversion imports pandas, where it is installed: a quarter of a second.
    """
    if not array.null_count and (types.is_integer(array.type) or types.is_floating(array.type)):
        return np.from_dlpack(array)
    return np.asarray(array.to_numpy(zero_copy_only=False))


def is_run_end_encoded(data_type: Any) -> bool:
    return bool(types.is_run_end_encoded(data_type))


def is_list(kind: Any) -> bool:
    """Is it an Arrow type of lists?"""
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def entry_type(kind: Any) -> Any:
    """The type of the entries of lists; other types are their own."""
    return kind.value_type if is_list(kind) else kind


def widened_epsilon(type_names: Sequence[str]) -> float | None:
    """The machine epsilon of half floats, which are widened when they are read; None if a type is another one."""
    return float(np.finfo(np.float16).eps) if set(type_names) == {"halffloat"} else None


def is_decimal(data_type: Any) -> bool:
    return bool(types.is_decimal(data_type))


def is_binary(data_type: Any) -> bool:
    """Is it a type of bytes, of any layout?"""
    is_view = getattr(types, "is_binary_view", None)  # pyarrow 16 has it
    return bool(
        types.is_binary(data_type)
        or types.is_large_binary(data_type)
        or types.is_fixed_size_binary(data_type)
        or (is_view is not None and is_view(data_type))
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
    data = column.buffers()[1]
    start = column.offset * width
    if width in (4, 8):
        integers = np.frombuffer(data, f"<i{width}", len(column), start).astype(np.int64)
        return integers, np.abs(integers) <= EXACT_INTEGER
    if width != 16:
        return None
    words = np.frombuffer(data, "<i8", 2 * len(column), start)
    low, high = words[::2], words[1::2]
    return low, (high == low >> 63) & (low <= EXACT_INTEGER) & (low >= -EXACT_INTEGER)


def parse_decimals(column: Any) -> np.ndarray:
    return np.asarray(column.cast(pyarrow.string()).cast(pyarrow.float64()).to_numpy(zero_copy_only=False))


def decimal_keys(column: Any) -> Any:
    """Decimals as a column of keys: integers if they have no fraction and fit, otherwise texts of one scale."""
    if is_integer_decimal(column.type.precision, column.type.scale):
        return column.cast(pyarrow.int64())
    return column.cast(pyarrow.string())


def is_integer_decimal(precision: int, scale: int) -> bool:
    return scale == 0 and precision <= INTEGER_DIGITS


def binary_keys(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Bytes as hexadecimal texts: the text of all rows, and the offsets of each."""
    column = column.cast(pyarrow.large_binary())
    if hasattr(column, "chunks"):
        column = column.combine_chunks()
    _, offset_buffer, data = column.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64, len(column) + 1, column.offset * 8)
    first, last = int(offsets[0]), int(offsets[-1])
    content = np.frombuffer(data, np.uint8)[first:last] if last > first else np.empty(0, np.uint8)
    return HEX_PAIRS[content].view(np.uint8), 2 * (offsets - first)
