"""Python's objects as keys: what each value is, whatever the other rows have.

Integers of any size, whole floats and whole decimals that are equal are one key, and so are decimals of one value: 1.50
is 1.5. Numbers that no type of NumPy holds exactly become texts, each the shortest decimal of its number.
"""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from decimal import Decimal

WANTED = "group keys must be integers, strings, booleans, dates, times, decimals, bytes or floats"
NUMBERS = (int, float, np.integer, np.floating, np.bool_)
EXACT_INTEGER = 1 << 53  # integers up to it are floats
FLOATS = (float, np.floating)
BOOLEANS = (bool, np.bool_)
DATE_UNITS = {datetime.date: "M8[D]", datetime.datetime: "M8[us]", datetime.timedelta: "m8[us]"}
NUMERAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?")
MOST_SHOWN = 4_000  # digits of an integer that Python makes of a text
MIDNIGHT = datetime.date.min


def has_integers_beside_floats(values: Any, array: np.ndarray) -> bool:
    """Whether NumPy made floats of a list that has integers, too: neighbors from 2**53 on would be one float."""
    return (
        array.dtype.kind == "f"
        and array.ndim == 1
        and isinstance(values, (list, tuple))
        and bool((np.abs(array) >= EXACT_INTEGER).any())
        and not all(issubclass(kind, FLOATS) for kind in set(map(type, values)))
    )


def is_period_or_interval(values: Any) -> bool:
    """Whether it is a column of pandas of periods or intervals, or a categorical of them, as pd.cut makes it."""
    dtype = getattr(values, "dtype", None)
    if type(dtype).__name__ == "CategoricalDtype":
        dtype = getattr(getattr(dtype, "categories", None), "dtype", None)
    return type(dtype).__name__ in ("PeriodDtype", "IntervalDtype")


def objects_of(values: Any) -> np.ndarray:
    """A list as an array of its objects, as they are."""
    return np.fromiter(values, object, len(values))


def plain_numbers(values: list[Any]) -> np.ndarray | None:
    """Integers, booleans and floats as an array of NumPy's type, or of objects if none holds them; None for others."""
    kinds = set(map(type, values))
    if not values or not all(issubclass(kind, NUMBERS) for kind in kinds) or any(value != value for value in values):
        return None
    found = numbers_of(values, kinds)
    return found if found.dtype != object else objects_of([plain_number(value) for value in values])


def plain_number(value: Any) -> Any:
    """A number as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def plain_keys(array: np.ndarray, name: str) -> np.ndarray:
    """An array of objects as an array of NumPy's type with the same keys, or as an array of texts."""
    values = array.tolist()
    kinds = set(map(type, values))
    if all(issubclass(kind, str) for kind in kinds):
        return array
    for row, value in enumerate(values):
        if value is None or value != value:
            raise ValueError(f"{name} has {value!r} at row {row}: {WANTED}, all of one kind")
    if all(issubclass(kind, NUMBERS) for kind in kinds):
        return numbers_of(values, kinds)
    from decimal import Decimal  # a slow import

    if all(issubclass(kind, (Decimal, int, np.integer)) for kind in kinds):
        return decimals_of(values)
    found = times_of(values, kinds)
    if found is None:
        found = texts_of_objects(values, kinds)
    if found is None:
        is_text = isinstance(values[0], str)
        row = next((row for row, value in enumerate(values) if isinstance(value, str) != is_text), 0)
        raise TypeError(f"{name} has {values[row]!r} at row {row}: {WANTED}, all of one kind")
    return found


def numbers_of(values: list[Any], kinds: set[type]) -> np.ndarray:
    """Integers, booleans and floats."""
    if all(issubclass(kind, BOOLEANS) for kind in kinds):
        return np.array(values, np.bool_)
    if not any(issubclass(kind, FLOATS) for kind in kinds):
        return integers_of(list(map(int, values)))
    floats = np.array(list(map(float_of, values)), np.float64)
    exact = [value if isinstance(value, FLOATS) else int(value) for value in values]
    if floats.tolist() == exact:
        return floats
    return objects_of([text_of_float(value) if isinstance(value, FLOATS) else str(value) for value in exact])


def float_of(value: Any) -> float:
    """The nearest float; infinity for integers that are too big, which equals none of them."""
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def text_of_float(value: Any) -> str:
    """The text of a float beside integers that no float holds: that of its integer, if it has no fraction."""
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)


def integers_of(values: list[int]) -> np.ndarray:
    """Integers as int64 or uint64; as texts if neither holds them all."""
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        if limits.min <= min(values) and max(values) <= limits.max:
            return np.array(values, dtype)
    return objects_of(list(map(str, values)))


def decimals_of(values: list[Any]) -> np.ndarray:
    """Decimals, and integers beside them."""
    from decimal import Decimal

    exact = [value if isinstance(value, Decimal) else Decimal(int(value)) for value in values]
    if all(value.is_finite() and value == value.to_integral_value() for value in exact):
        return integers_of(list(map(int, exact)))
    return objects_of([text_of_decimal(f"{value:f}") for value in exact])


def text_of_decimal(text: str) -> str:
    """The shortest text of a decimal that is written without an exponent."""
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if short == "-0" else short


def times_of(values: list[Any], kinds: set[type]) -> np.ndarray | None:
    """Dates, times and durations as NumPy's; times with a zone in UTC. None if the values are not all of one kind."""
    if all(hasattr(kind, "asm8") for kind in kinds):  # pandas' own, which have nanoseconds
        is_zoned = {getattr(value, "tzinfo", None) is not None for value in values}
        return np.array([value.asm8 for value in values]) if len(is_zoned) == 1 else None
    if kinds <= {np.datetime64} or kinds <= {np.timedelta64}:
        return np.array(values)
    if len(kinds) != 1:
        return None
    kind = next(iter(kinds))
    if kind is datetime.datetime:
        is_zoned = {value.tzinfo is not None for value in values}
        if is_zoned == {True}:
            values = [value.astimezone(datetime.UTC).replace(tzinfo=None) for value in values]
        if len(is_zoned) > 1:
            return None
    if kind is datetime.time and all(value.tzinfo is None for value in values):
        start = datetime.datetime.combine(MIDNIGHT, datetime.time())
        return np.array([datetime.datetime.combine(MIDNIGHT, value) - start for value in values], "m8[us]")
    return np.array(values, DATE_UNITS[kind]) if kind in DATE_UNITS else None


def texts_of_objects(values: list[Any], kinds: set[type]) -> np.ndarray | None:
    """Bytes and UUIDs as hexadecimal texts, pandas' periods and intervals as their texts; None for other objects."""
    if all(issubclass(kind, (bytes, bytearray)) for kind in kinds):
        return objects_of([value.hex() for value in values])
    if len(kinds) != 1:
        return None
    kind = next(iter(kinds))
    if (kind.__module__, kind.__name__) == ("uuid", "UUID"):
        return objects_of([value.hex for value in values])
    if kind.__module__.startswith("pandas") and kind.__name__ in ("Period", "Interval"):
        return objects_of(list(map(str, values)))
    return None


def value_of_numeral(text: str | None) -> int | Decimal | str | None:
    """The value that the text of a key stands for: an integer, a decimal, or the text."""
    found = None if text is None else NUMERAL.fullmatch(text)
    if text is None or found is None or len(text) > MOST_SHOWN:
        return text
    if not found[2]:
        return int(text)
    from decimal import Decimal  # a slow import

    return Decimal(text)
