"""Names of Arrow types, and which types are stored alike: columns of such types may follow each other."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.optional_imports import pyarrow

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
STRINGS = ("large_string", "string_view")


def type_name(arrow_type: Any) -> str:
    """The name of a type. A dictionary counts as the type of its values."""
    return str(arrow_type.value_type if pyarrow.types.is_dictionary(arrow_type) else arrow_type)


def stored_type(name: str) -> str:
    """The type in which a state stores values of the named type: int64 of all integers that fit, string of all text."""
    if name in INTEGERS:
        return "int64"
    return "string" if name in STRINGS else name
