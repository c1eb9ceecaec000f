"""Names of the types of columns, and which of them may be the same column of two batches."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import EXACT_INTEGER, LISTS, is_list, is_text, type_name
from fastmetrics._core.columns.key_types import dtype_of_arrow
from fastmetrics._core.columns.label_codes import common_type
from fastmetrics._core.columns.label_columns import MIXED, NUMBER, TEXT
from fastmetrics._core.optional_imports import pyarrow

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}  # by width
MAX_DIGITS = 38  # of a decimal128
UNITS = ("s", "ms", "us", "ns")
STRINGS = ("large_string", "string_view")
NO_TYPE = "null"  # of a column without a value
NO_ITEMS = f"{LISTS}null"  # the type if all lists are empty


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


def number_type(name: str) -> str:
    """The type in which a state stores numbers of the named type: double of all but float and halffloat."""
    if name.startswith(LISTS):
        return LISTS + number_type(name.removeprefix(LISTS))
    return "double" if name in (*INTEGERS, "uint64", "bool") or name.startswith("decimal") else name


def types_fit(first: str, second: str, numbers: bool = False) -> bool:
    """Do values of both types fit into one state? `numbers` are only read as numbers."""
    if first == second:
        return True
    stored = number_type if numbers else stored_type
    first, second = stored(first), stored(second)
    return first == second or (NO_ITEMS in (first, second) and first.startswith(LISTS) and second.startswith(LISTS))


def type_of_classes(name: str, are_numerals: bool = False) -> str:
    """What labels of classes of the named type are; numerals are texts of a text file that may write numbers."""
    if name.startswith(LISTS) and name != NO_ITEMS:
        return LISTS + type_of_classes(name.removeprefix(LISTS))
    if is_exact_number(name) or name in ("bool", "halffloat", "float", "double"):
        return NUMBER
    if stored_type(name) == "string":
        return MIXED if are_numerals else TEXT
    return name


def type_of_slices(name: str, are_numerals: bool = False) -> str:
    """What values of slices of the named type are; numerals are texts of a text file that may write numbers."""
    return MIXED if are_numerals and stored_type(name) == "string" else name


def types_of_columns(
    schema: Any, names: Sequence[str], n_classes: int, n_slices: int, numerals: Collection[str]
) -> list[str]:
    """The types of columns of a batch for `join_types`; the texts of `numerals` may write numbers."""
    types = [type_name(schema.field(name).type) for name in names]
    first_slice = len(names) - n_slices
    for number, name in enumerate(names):
        if number < n_classes:
            types[number] = type_of_classes(types[number], name in numerals)
        elif number >= first_slice:
            types[number] = type_of_slices(types[number], name in numerals)
    return types


def join_types(
    known: Sequence[str], found: Sequence[str], n_numbers: int, n_classes: int, n_slices: int
) -> list[str | None]:
    """The types of columns together with those of further rows: None for each that does not fit.

    The first `n_numbers` columns are only read as numbers. The first `n_classes` columns have labels of classes and the
    last `n_slices` slices, which are compared by value; those between are scores, labels of other metrics, and keys.
    """
    joined: list[str | None] = []
    for number, (first, second) in enumerate(zip(known, found, strict=True)):
        if types_fit(first, second, number < n_numbers):
            joined.append(second if first == NO_ITEMS else first)
        elif number < n_classes:
            joined.append(common_type(first, second))
        elif number >= len(known) - n_slices:
            joined.append(join_slice_types(first, second))
        else:
            joined.append(first if are_same_keys(first, second) else None)
    return joined


def join_slice_types(first: str, second: str) -> str | None:
    """The type of values of slices of two types; None if they are not compared.

    Nulls alone have a type that says nothing about other rows, and they are a slice.
    """
    if NO_TYPE in (first, second):
        return second if first == NO_TYPE else first
    forms = {NUMBER if is_exact_number(name) else stored_type(name) for name in (first, second)}
    if forms == {NUMBER}:
        return NUMBER
    return MIXED if MIXED in forms and forms <= {MIXED, NUMBER, "string"} else None


def is_exact_number(name: str) -> bool:
    """Is it the type of integers or decimals?"""
    return name in (*INTEGERS, "uint64", NUMBER) or name.startswith("decimal")


def are_same_keys(first: str, second: str) -> bool:
    """Are equal integers or decimals of both types stored as the same keys?"""
    if not is_exact_number(first) or not is_exact_number(second):
        return False
    return dtype_of_arrow(first, "") == dtype_of_arrow(second, "")


def shared_type(first: Any, second: Any) -> Any | None:
    """A type for the values of both, or None. The conversion itself is checked value by value."""
    if (wider := wider_type(first, second)) is not None:
        return wider
    for one, two in ((first, second), (storage_free_type(first), storage_free_type(second))):
        try:
            fields = [pyarrow.schema([("column", one)]), pyarrow.schema([("column", two)])]
            return pyarrow.unify_schemas(fields, promote_options="permissive").field(0).type
        except pyarrow.ArrowException:
            continue
    return None


def type_of_booleans(first: Any, second: Any) -> Any | None:
    """The type of numbers beside which booleans are 0 and 1, if only one of both types is of booleans; else None."""
    types = pyarrow.types
    numbers = [own for own in (first, second) if types.is_integer(own) or types.is_floating(own)]
    return numbers[0] if len(numbers) == 1 and any(map(types.is_boolean, (first, second))) else None


def storage_free_type(data_type: Any) -> Any:
    """One type for strings however Arrow stores them: as a dictionary, as views or with offsets."""
    if pyarrow.types.is_dictionary(data_type):
        return storage_free_type(data_type.value_type)
    return pyarrow.large_string() if pyarrow.types.is_string_view(data_type) else data_type


def type_named(name: str) -> Any | None:
    """The type of a name that `type_name` gave; None of texts, bytes and lists."""
    if decimal := re.fullmatch(r"decimal(\d+)\((\d+), (-?\d+)\)", name):
        return getattr(pyarrow, f"decimal{decimal[1]}")(int(decimal[2]), int(decimal[3]))
    if zoned := re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", name):
        return pyarrow.timestamp(zoned[1], zoned[2])
    is_known = name in (*INTEGERS, "uint64", "halffloat", "float", "double") or name.startswith(("date", "timestamp"))
    return pyarrow.type_for_alias(name) if is_known else None


def convert_batch(
    batch: Any, types: Mapping[str, str], numbers: Collection[str], slices: Mapping[str, bool], first_row: int,
    earlier: str,
) -> Any:
    """The batch with columns in the named types, where these hold all values; raise TypeError where they do not.

    `numbers` are the columns that are only read as numbers, `slices` those that are only slices, and whether their
    texts may write numbers: their values need not be of one type. `earlier` says where columns have the types.
    """
    for name, wanted in types.items():
        number = batch.schema.get_field_index(name)
        column = batch.column(number)
        found = type_name(column.type)
        if types_fit(wanted, found, name in numbers) or pyarrow.types.is_null(column.type):
            continue
        target = type_named(wanted)
        if target is None or are_same_keys(wanted, found) or (
            name in slices and join_slice_types(wanted, type_of_slices(found, slices[name])) is not None
        ):
            continue
        converted = convert_exactly(column, target)
        if converted is None:
            raise TypeError(
                f"column {name!r} has Arrow type {found}, but {wanted} {earlier}, which does not hold "
                f"{describe_misfit(column, target, first_row)}; cast it to one type"
            )
        batch = batch.set_column(number, name, converted)
    return batch


def convert_exactly(column: Any, wanted: Any) -> Any | None:
    """A column in another type; None if that does not hold one of its values, or is a type of other values."""
    found, types = column.type, pyarrow.types
    if found == wanted:
        return column
    if not is_same_kind(found, wanted):
        return None
    try:
        if is_list(found):
            converted = column.cast(wanted)
            same = not types.is_floating(found.value_type) or holds_floats(column.flatten(), converted.flatten())
            return converted if same else None
        if types.is_dictionary(found) and not is_text(found):
            return convert_exactly(column.dictionary_decode(), wanted)
        if types.is_dictionary(wanted) and not is_text(wanted):
            values = convert_exactly(column, wanted.value_type)
            return None if values is None else values.dictionary_encode().cast(wanted)
        if types.is_decimal(wanted):
            # Arrow's cast of integers asks for the digits of their type, whatever their values are.
            return column.cast(wider_type(found, wanted)).cast(wanted)
        converted = column.cast(wanted)
    except pyarrow.ArrowException:
        return None
    return converted if not types.is_floating(found) or holds_floats(column, converted) else None


def holds_floats(column: Any, converted: Any) -> bool:
    """Are floats the same in another type of numbers? Integers hold none from 2**53 on, which may be rounded ids."""
    values = np.asarray(column.drop_null()).astype(np.float64)
    others = np.asarray(converted.drop_null())
    if pyarrow.types.is_integer(converted.type):
        return bool((np.abs(values) < EXACT_INTEGER).all())
    return bool(np.array_equal(values, others.astype(np.float64), equal_nan=True))


def is_same_kind(found: Any, wanted: Any) -> bool:
    """May values of one type be values of the other?"""
    types = pyarrow.types
    if types.is_null(found) or (is_text(found) and is_text(wanted)):
        return True
    if is_list(found) and is_list(wanted):
        items = found.value_type, wanted.value_type
        return items[0] == items[1] or is_same_kind(*items)
    if types.is_dictionary(found) or types.is_dictionary(wanted):
        plain = [own.value_type if types.is_dictionary(own) else own for own in (found, wanted)]
        return not (is_text(plain[0]) or is_text(plain[1])) and (plain[0] == plain[1] or is_same_kind(*plain))
    if types.is_decimal(wanted) or types.is_decimal(found):
        return all(types.is_decimal(own) or types.is_integer(own) for own in (found, wanted))
    if types.is_timestamp(found) and types.is_timestamp(wanted):
        return (found.tz is None) == (wanted.tz is None)
    if types.is_date(found) and types.is_date(wanted):
        return True
    return all(types.is_integer(own) or types.is_floating(own) for own in (found, wanted))


def describe_misfit(column: Any, wanted: Any, first_row: int) -> str:
    """The first value of a column that another type does not hold, and its row."""
    fitting, longer = 0, len(column)  # so many first values fit, and so many do not
    while longer - fitting > 1:
        middle = (fitting + longer) // 2
        if convert_exactly(column.slice(0, middle), wanted) is None:
            longer = middle
        else:
            fitting = middle
    value = column[fitting].as_py()
    return f"{repr(value) if isinstance(value, (str, bytes)) else value} at row {first_row + fitting}"
