"""The options of formats, as users type them: which format has which option, and what their values mean."""

from __future__ import annotations

import codecs
import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.files.text_blocks import Quoting
from fastmetrics.engine.input.files.text_streams import UTF8

CSV_OPTIONS = (
    "delimiter", "quote", "escape", "header", "null_values", "column_types", "decimal_point", "encoding",
)  # fmt: skip
OPTIONS_OF_FORMATS = {
    "csv": CSV_OPTIONS, "tsv": CSV_OPTIONS, "jsonl": ("column_types", "encoding"), "parquet": (), "orc": (),
    "arrow": (),
}  # fmt: skip
OTHER_NAMES = {"json": "jsonl", "ndjson": "jsonl", "feather": "arrow", "ipc": "arrow", "tab": "tsv"}
TYPE_NAMES = {
    "date": "date32", "timestamp": "timestamp[us]", "text": "string", "integer": "int64", "int": "int64",
    "bigint": "int64", "real": "float", "boolean": "bool",
}  # fmt: skip
DECIMAL = re.compile(r"decimal(?:128|256)?\((\d+),(-?\d+)\)")


class TextOptions(NamedTuple):
    """The options of CSV, TSV and JSON lines.

    Attributes
    ----------
    quoting : Quoting
    header : bool or tuple of str
        False: columns are f0, f1 and so on. A tuple: their names.
    null_values : tuple of str or None
        The texts that mean null. None: those that Arrow knows, in columns that are no texts.
    column_types : dict
        Name -> Arrow type.
    decimal_point : str
    encoding : str
        As Python names it.
    is_delimiter_given : bool
    """

    quoting: Quoting = Quoting()
    header: bool | tuple[str, ...] = True
    null_values: tuple[str, ...] | None = None
    column_types: Mapping[str, Any] = {}
    decimal_point: str = "."
    encoding: str = UTF8
    is_delimiter_given: bool = False


def read_format_name(name: str) -> str:
    """The format that a user named."""
    found = OTHER_NAMES.get(str(name).lower(), str(name).lower())
    if found not in OPTIONS_OF_FORMATS:
        raise ValueError(f"format must be one of {', '.join(OPTIONS_OF_FORMATS)}; found {name!r}")
    return found


def read_format_options(format_name: str, options: Mapping[str, Any] | None) -> TextOptions:
    """Check the options of a format."""
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"format_options must be a dict; found {type(options).__name__}")
    given = dict(options or {})
    known = OPTIONS_OF_FORMATS[format_name]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(str(name), CSV_OPTIONS, n=1)
            has = f"its options are {', '.join(known)}" if known else "it has none"
            tail = f"did you mean {near[0]!r}? I{has[1:]}" if near and near[0] in known else has
            raise ValueError(f"format_options: {format_name} has no option {name!r}; {tail}")
    if not known:
        return TextOptions()
    quoting = Quoting()
    if format_name in ("csv", "tsv"):
        quoting = Quoting(
            read_character("delimiter", given.get("delimiter", "\t" if format_name == "tsv" else ",")) or b",",
            read_character("quote", given.get("quote", '"'), optional=True),
            read_character("escape", given.get("escape"), optional=True),
            is_given=given.get("quote") is not None,
        )
        used = [character for character in quoting[:3] if character is not None]
        if len(set(used)) < len(used):
            raise ValueError("format_options: delimiter, quote and escape must be different characters")
    return TextOptions(
        quoting,
        read_header(given.get("header", True)),
        read_null_values(given.get("null_values")),
        read_column_types(given.get("column_types")),
        (read_character("decimal_point", given.get("decimal_point", ".")) or b".").decode(),
        read_encoding(given.get("encoding", UTF8)),
        "delimiter" in given,
    )


def read_encoding(value: Any) -> str:
    """The name of an encoding of text, as Python has it; one of UTF-8 for all of its names."""
    try:
        found = codecs.lookup(value)
        if not isinstance("".encode(value), bytes):
            raise LookupError
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            f"format_options: encoding must be a name such as utf-8, utf-16, latin-1 or cp1252; found {value!r}"
        ) from None
    return UTF8 if found.name in (UTF8, "utf-8-sig") else found.name


def read_character(name: str, value: Any, optional: bool = False) -> bytes | None:
    if optional and (value is None or value is False or value == ""):
        return None
    if not isinstance(value, str) or len(value) != 1 or not value.isascii() or value in "\r\n":
        none = ", or None" if optional else ""
        raise ValueError(f"format_options: {name} must be one ASCII character{none}; found {value!r}")
    return value.encode()


def read_header(value: Any) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if isinstance(value, Sequence) and not isinstance(value, str) and value and all(isinstance(v, str) for v in value):
        return tuple(value)
    raise ValueError(f"format_options: header must be True, False or a list of column names; found {value!r}")


def read_null_values(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"format_options: null_values must be a list of texts; found {value!r}")
    return tuple(words)


def read_column_types(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"format_options: column_types must be a dict, column -> type; found {value!r}")
    return {str(column): read_type(str(column), found) for column, found in value.items()}


def read_type(column: str, value: Any) -> Any:
    """An Arrow type, or the type of a name such as "string", "int64", "float32", "date" or "decimal(10,2)"."""
    if isinstance(value, pa.DataType):
        return value
    text = re.sub(r"\s", "", str(value).lower())
    if found := DECIMAL.fullmatch(text):
        try:
            return pa.decimal128(int(found[1]), int(found[2]))
        except ValueError:
            return pa.decimal256(int(found[1]), int(found[2]))
    try:
        return pa.type_for_alias(TYPE_NAMES.get(text, text))
    except ValueError:
        raise ValueError(
            f"format_options: column_types has {value!r} for column {column!r}; types are string, int64, float32, "
            "double, bool, date, timestamp, decimal(10,2) and the other names of Arrow"
        ) from None
