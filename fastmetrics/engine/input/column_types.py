"""Names of the types of columns, and which of them may be the same column of two batches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastmetrics._core.columns.arrow_columns import is_list, plain_type
from fastmetrics._core.columns.label_codes import common_type
from fastmetrics._core.columns.label_columns import MIXED, NUMBER, TEXT
from fastmetrics._core.optional_imports import pyarrow

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}  # by width
MAX_DIGITS = 38  # of a decimal128
UNITS = ("s", "ms", "us", "ns")
STRINGS = ("large_string", "string_view")
NO_TYPE = "null"  # of a column without a value
LISTS = "list of "  # begins the names of types of lists, whatever their layout
NO_ITEMS = f"{LISTS}null"  # the type if all lists are empty


def type_name(arrow_type: Any) -> str:
    """The name of a type. A dictionary counts as the type of its values, an extension as what it stores."""
    arrow_type = plain_type(arrow_type)
    if is_list(arrow_type):
        return LISTS + type_name(arrow_type.value_type)
    return str(arrow_type.value_type if pyarrow.types.is_dictionary(arrow_type) else arrow_type)


def stored_type(name: str) -> str:
    """The type in which a state stores values of the named type: int64 of all integers that fit, string of all text."""
    if name.startswith(LISTS):
        return LISTS + stored_type(name.removeprefix(LISTS))
    if name in INTEGERS:
        return "int64"
    return "string" if name in STRINGS else name


def wider_type(first: Any, second: Any) -> Any | None:
    """The type for integers and decimals, or for instants of several zones and units, exactly; None for others."""
    types = pyarrow.types
    if types.is_decimal(first) or types.is_decimal(second):
        parts = [digits_of(own) for own in (first, second)]
        if None in parts:
            return None
        scale = max(scale for _, scale in filter(None, parts))
        precision = max(whole for whole, _ in filter(None, parts)) + scale
        wide = pyarrow.decimal128 if precision <= MAX_DIGITS else pyarrow.decimal256
        return wide(precision, scale)
    if types.is_timestamp(first) and types.is_timestamp(second) and first.tz != second.tz and first.tz and second.tz:
        return pyarrow.timestamp(max(first.unit, second.unit, key=UNITS.index), "UTC")
    return None


def digits_of(data_type: Any) -> tuple[int, int] | None:
    """The digits before and behind the point of an integer or a decimal; None for other types."""
    if pyarrow.types.is_decimal(data_type):
        return data_type.precision - data_type.scale, data_type.scale
    if pyarrow.types.is_integer(data_type):
        return INTEGER_DIGITS[data_type.bit_width], 0
    return None


def types_fit(first: str, second: str) -> bool:
    """Do values of both types fit into one state?"""
    first, second = stored_type(first), stored_type(second)
    return first == second or (NO_ITEMS in (first, second) and first.startswith(LISTS) and second.startswith(LISTS))


def type_of_classes(name: str, are_numerals: bool = False) -> str:
    """What labels of classes of the named type are; numerals are texts of a text file that may write numbers."""
    if name.startswith(LISTS) and name != NO_ITEMS:
        return LISTS + type_of_classes(name.removeprefix(LISTS))
    if name in (*INTEGERS, "uint64", "bool", "halffloat", "float", "double") or name.startswith("decimal"):
        return NUMBER
    if stored_type(name) == "string":
        return MIXED if are_numerals else TEXT
    return name


def join_types(known: Sequence[str], found: Sequence[str], n_classes: int, n_slices: int) -> list[str | None]:
    """The types of columns together with those of further rows: None for each that does not fit.

    The first `n_classes` columns have labels of classes, which are compared by value, the last `n_slices` slices.
    """
    joined: list[str | None] = []
    for number, (first, second) in enumerate(zip(known, found, strict=True)):
        if number >= len(known) - n_slices and NO_TYPE in (first, second):
            # Nulls alone have a type that says nothing about other batches, and they are a slice.
            joined.append(second if first == NO_TYPE else first)
        elif types_fit(first, second):
            joined.append(first)
        else:
            joined.append(common_type(first, second) if number < n_classes else None)
    return joined


def convert_keys(batch: Any, types: Mapping[str, str]) -> Any:
    """The batch with integers and decimals in the named types of its columns, where these hold all values exactly."""
    for name, wanted in types.items():
        number = batch.schema.get_field_index(name)
        column = batch.column(number)
        if types_fit(wanted, type_name(column.type)) or digits_of(column.type) is None:
            continue
        converted = exact_cast(column, wanted)
        if converted is not None:
            batch = batch.set_column(number, name, converted)
    return batch


def exact_cast(column: Any, wanted: str) -> Any | None:
    """Integers or decimals as the named type; None if it is none of these, or does not hold all values."""
    decimal = re.fullmatch(r"decimal(\d+)\((\d+), (-?\d+)\)", wanted)
    if decimal is None and wanted not in (*INTEGERS, "uint64"):
        return None
    try:
        if decimal is None:
            return column.cast(wanted)
        target = getattr(pyarrow, f"decimal{decimal[1]}")(int(decimal[2]), int(decimal[3]))
        # Arrow's cast of integers asks for the digits of their type, whatever their values are.
        wide = wider_type(column.type, target)
        return column.cast(wide).cast(target)
    except pyarrow.ArrowException:
        return None
