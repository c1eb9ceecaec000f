"""The type of a group key, as a NumPy dtype, and the way back from stored keys to values.

A number is an integer, a boolean, a float, a date or a time; object is text; a structured dtype is a key of several
columns. Every number is stored as 64 bits: its integer, or the bits of a float64.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import is_integer_decimal
from fastmetrics._core.object_keys import WANTED, value_of_numeral
from fastmetrics._kernels.exchange import hash_partition, tuple_keys

HEAD, TAIL = "head", "tail"  # columns that keys have beside their hashes, see hash_partition.pyx and tuple_keys.pyx
TEXT = np.dtype(object)
# Numbers that no other type holds: texts, equal to TEXT, of which each is the shortest of its number. They are shown as
# integers, and numbers with a fraction as decimals, or as the floats that they were.
NUMBERS = np.dtype(object, metadata={"fractions": "decimals"})
NUMBERS_AND_FLOATS = np.dtype(object, metadata={"fractions": "floats"})
TEXT_TYPES = ("string", "large_string", "string_view")
PLAIN_TYPES: dict[str, Any] = {
    "bool": np.bool_, "uint64": np.uint64,
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"), np.int64),
    "null": np.int64,  # a column of nulls has no keys
    "halffloat": np.float16, "float": np.float32, "double": np.float64,
    "date32[day]": "M8[D]", "date64[ms]": "M8[ms]",
}  # fmt: skip
# These are compiled at their first use. Keys of bytes are hexadecimal texts.
BINARY_TYPE = r"(large_)?binary|binary_view|fixed_size_binary\[\d+\]"
DECIMAL_TYPE = r"decimal\d*\((\d+), (-?\d+)\)"
TIME_TYPE = r"(timestamp|time32|time64|duration)\[(s|ms|us|ns)\b.*\]"


def slots_of(dtype: np.dtype) -> tuple[str, ...]:
    """The columns that keys of a type have beside their hashes: none (a number), HEAD (two numbers), HEAD and TAIL."""
    parts = parts_of(dtype)
    if TEXT in parts or len(parts) > 2:
        return (HEAD, TAIL)
    return (HEAD,) if len(parts) == 2 else ()


def parts_of(dtype: np.dtype) -> list[np.dtype]:
    """The types of a key's columns."""
    return [dtype] if dtype.names is None else [dtype[name] for name in dtype.names]


def dtype_of_columns(names: Sequence[str], dtypes: Sequence[np.dtype]) -> np.dtype:
    """The type of keys of these columns; one column is no tuple."""
    return dtypes[0] if len(dtypes) == 1 else np.dtype(list(zip(names, dtypes, strict=True)))


def dtype_of_arrow(type_name: str, title: str) -> np.dtype:
    """The type of keys of an Arrow type, given by its name; integers of all widths are int64 or uint64."""
    if type_name in PLAIN_TYPES:
        plain: np.dtype = np.dtype(PLAIN_TYPES[type_name])
        return plain
    if type_name in TEXT_TYPES or re.fullmatch(BINARY_TYPE, type_name):
        return TEXT
    if decimal := re.fullmatch(DECIMAL_TYPE, type_name):
        return np.dtype(np.int64) if is_integer_decimal(int(decimal[1]), int(decimal[2])) else NUMBERS
    if time := re.fullmatch(TIME_TYPE, type_name):
        return np.dtype(f"{'M8' if time[1] == 'timestamp' else 'm8'}[{time[2]}]")
    advice = "cast it to one of them, for example column.cast('string')"
    if "<" in type_name or type_name.startswith("list of "):
        advice = "name columns, or fields, that have such values"
    raise TypeError(f"{title} has Arrow type {type_name}: {WANTED}; {advice}")


def decode_keys(dtype: np.dtype, hashes: np.ndarray, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """The values of stored keys. Text is read from where it is stored."""
    if TAIL not in slots_of(dtype):
        return decode_numbers(dtype, hashes, heads)
    return decode_texts(dtype, hash_partition.read_text_slots(heads, tails))


def decode_texts(dtype: np.dtype, encoded: list[bytes]) -> np.ndarray:
    """The values of keys that are stored as bytes. Raises ValueError for bytes that no key of the type has."""
    if dtype == TEXT:
        return values_of_texts(encoded, dtype)
    parts = parts_of(dtype)
    kinds = np.array([kind_of(part) for part in parts], np.uint8)
    numbers = np.empty((len(parts), len(encoded)), np.uint64)
    texts = iter(tuple_keys.decode_tuples(encoded, kinds, numbers))
    out = np.empty(len(encoded), dtype)
    for name, part, own_numbers in zip(dtype.names or (), parts, numbers, strict=True):
        out[name] = values_of_texts(next(texts), part) if part == TEXT else numbers_of(own_numbers, part)
    return out


def decode_numbers(dtype: np.dtype, hashes: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """The values of keys of one number or two."""
    numbers = numbers_of_slots(hashes, None if dtype.names is None else heads)
    if dtype.names is None:
        return numbers_of(numbers[0], dtype)
    out = np.empty(hashes.shape[0], dtype)
    for name, own_numbers in zip(dtype.names, numbers, strict=True):
        out[name] = numbers_of(own_numbers, dtype[name])
    return out


def numbers_of_slots(hashes: np.ndarray, heads: np.ndarray | None) -> list[np.ndarray]:
    """The 64 bits of the number of each of a key's columns; a head is the second number, if there is one."""
    numbers = np.empty(hashes.shape[0], np.uint64)
    hash_partition.unhash_keys(hashes, numbers)
    if heads is None:
        return [numbers]
    hash_partition.unhash_keys(numbers ^ heads, numbers)
    return [numbers, np.ascontiguousarray(heads)]


def kind_of(dtype: np.dtype) -> int:
    """How a column of stored values is read by encode_tuples and decode_tuples."""
    if dtype == TEXT:
        return tuple_keys.TEXT64
    return tuple_keys.UINT64 if dtype.kind == "u" else tuple_keys.INT64


def numbers_of(bits: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The values of numbers from their 64 bits."""
    if dtype.kind == "f":
        return bits.view(np.float64).astype(dtype)
    if dtype.kind in "mM":
        return bits.view(np.int64).view(dtype)
    return (bits if dtype.kind == "u" else bits.view(np.int64)).astype(dtype)


def values_of_texts(encoded: list[bytes], dtype: np.dtype) -> np.ndarray:
    """UTF-8 as an array of Python's strings, or of the numbers that these write."""
    out = np.empty(len(encoded), object)
    texts = [text.decode() for text in encoded]
    fractions = None if dtype.metadata is None else dtype.metadata["fractions"]
    if fractions == "decimals":
        out[:] = list(map(value_of_numeral, texts))
    elif fractions == "floats":
        out[:] = [float(text) if type(value_of_numeral(text)) is not int else int(text) for text in texts]
    else:
        out[:] = texts
    return out


def plain_value(value: Any) -> Any:
    """An element of decoded keys as plain Python, as error messages show it. Dates and times are texts."""
    if isinstance(value, np.void):
        return tuple(plain_value(value[name]) for name in value.dtype.names or ())
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value
