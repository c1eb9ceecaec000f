"""Columns from folders such as ``day=2026-11-01``: their values, and the types of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from fastmetrics._core.calls.missing_files import printable
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.files.data_file import DataFile

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def hive_values_of(data_file: DataFile) -> dict[str, str | None]:
    """The values of the folders of a path; None is a null."""
    from urllib.parse import unquote

    pairs = (printable(folder).partition("=") for folder in data_file.parts[:-1] if "=" in folder)
    return {unquote(key): None if value == HIVE_NULL else unquote(value) for key, _, value in pairs}


def hive_types(files: Sequence[tuple[pa.Schema, dict[str, str | None]]]) -> dict[str, pa.DataType]:
    """int64 if every value of the key is an integer as Python writes it: 01 and 1 must stay different.

    Otherwise the type that a column of that name has in files, if it holds the values, or else string.
    """
    values: dict[str, set[str]] = {}
    for _, hive_values in files:
        for key, value in hive_values.items():
            values.setdefault(key, set()).update([] if value is None else [value])
    types = {}
    for key, texts in values.items():
        is_integer = bool(texts) and all(map(_is_int64, texts))
        in_files = {schema.field(key).type for schema, _ in files if schema.names.count(key) == 1}
        types[key] = pa.int64() if is_integer else _type_of_texts(texts, in_files)
    return types


def _type_of_texts(texts: set[str], types: set[pa.DataType]) -> pa.DataType:
    """The one type of columns, if it holds the values of texts; else string."""
    try:
        (found,) = types
        pa.array(list(texts), pa.string()).cast(found)
    except (ValueError, NotImplementedError):  # Arrow's own errors are such too
        return pa.string()
    return pa.string() if pa.types.is_dictionary(found) or pa.types.is_null(found) else found


def _is_int64(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and str(int(text)) == text and -(2**63) <= int(text) < 2**63


@lru_cache(maxsize=16)
def repeat_folder_value(value: str | None, data_type: pa.DataType, rows: int) -> pa.Array:
    """A column of the value of a folder, which most batches of a file share."""
    return pa.repeat(pa.scalar(value, pa.string()).cast(data_type), rows)
