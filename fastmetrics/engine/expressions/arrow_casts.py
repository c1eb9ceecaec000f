"""Casts between types on Arrow arrays. A value that does not fit is an error with its row, or NULL of try_cast."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import numpy as np

from fastmetrics._core.optional_imports import compute as pc
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.expressions.parser import parse_time
from fastmetrics.engine.expressions.primitives import (
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    INSTANT,
    INT64_MAX,
    INT64_MIN,
    INTEGER,
    TEXT,
    TIMESTAMP,
    UNSIGNED,
    Primitive,
)
from fastmetrics.engine.expressions.row_errors import RowError, value_at

INTEGER_TEXT = r"\A[+-]?[0-9]+\z"
FLOAT_TEXT = r"\A[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\z"
DECIMAL_TEXT = r"\A[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)\z"
SAFE_DIGITS = 18  # every integer of so many characters fits
BOOLEANS = {"true": True, "false": False}


def cast(value: Primitive, found: Any) -> Any:
    """The values in the type of the primitive."""
    function = CASTS[value.arguments[0].kind, value.kind]
    return function(value, found)


def admit(value: Primitive, found: Any, fits: Any) -> Any:
    """The values that fit; others are NULL of try_cast, else the first is an error."""
    bad = pc.invert(fits).fill_null(False)
    if not pc.any(bad).as_py():
        return found
    if "safe" in value.options:
        return pc.if_else(bad, pa.scalar(None, found.type), found)
    row = int(np.flatnonzero(np.asarray(bad))[0])
    raise RowError(row, f"{value_at(found, row)!r}, which is no {describe(value)}")


def describe(value: Primitive) -> str:
    limits = limits_of(value)
    if value.kind == INTEGER and limits != (INT64_MIN, INT64_MAX):
        return f"integer from {limits[0]} to {limits[1]}"
    return {INTEGER: "64-bit integer", DOUBLE: "number"}.get(value.kind, str(value.type).removeprefix("a "))


def limits_of(value: Primitive) -> tuple[int, int]:
    numbers = [option for option in value.options if option != "safe"]
    return (numbers[0], numbers[1]) if numbers else (INT64_MIN, INT64_MAX)


def integer_to_integer(value: Primitive, found: Any) -> Any:
    low, high = limits_of(value)
    if found.type == pa.uint64():
        return admit(value, found, pc.less_equal(found, pa.scalar(high, pa.uint64()))).cast(pa.int64())
    if (low, high) == (INT64_MIN, INT64_MAX):
        return found
    return admit(value, found, pc.and_(pc.greater_equal(found, low), pc.less_equal(found, high)))


def double_to_integer(value: Primitive, found: Any) -> Any:
    """Without the fraction."""
    low, high = limits_of(value)
    whole = pc.trunc(found)
    fits = pc.and_(pc.greater_equal(whole, float(low)), pc.less(whole, float(high + 1)))
    admitted = admit(value, found, fits)
    return pc.trunc(admitted).cast(pa.int64(), safe=False)


def decimal_to_integer(value: Primitive, found: Any) -> Any:
    low, high = limits_of(value)
    whole = pc.round(found, 0, "towards_zero").cast(pa.decimal128(38, 0), safe=False)
    wide = pa.decimal128(38, 0)
    fits = pc.and_(
        pc.greater_equal(whole, pa.scalar(Decimal(low), wide)), pc.less_equal(whole, pa.scalar(Decimal(high), wide))
    )
    admitted = admit(value, found, fits)
    return pc.round(admitted, 0, "towards_zero").cast(pa.decimal128(38, 0), safe=False).cast(pa.int64())


def to_exact_decimal(value: Primitive, found: Any) -> Any:
    """A decimal of other digits, rounded half away from zero."""
    kind = value.type
    if pa.types.is_integer(found.type):
        found = found.cast(pa.decimal128(20, 0))
    # Rounding may need one more digit than the type has.
    wide = found.cast(pa.decimal256(found.type.precision + 1, found.type.scale))
    if found.type.scale > kind.scale:
        wide = pc.round(wide, kind.scale, "half_towards_infinity")
    if found.type.precision - found.type.scale >= kind.precision - kind.scale:
        limit = pa.scalar(Decimal(10) ** (kind.precision - kind.scale), pa.decimal256(39, 0))
        fits = pc.less(pc.abs(wide), limit)
        admit(value, found, fits)
        wide = pc.if_else(fits, wide, pa.scalar(None, wide.type))
    return wide.cast(pa.decimal128(kind.precision, kind.scale), safe=False)


def text_to_integer(value: Primitive, found: Any) -> Any:
    low, high = limits_of(value)
    fits = pc.match_substring_regex(found, INTEGER_TEXT)
    unsure = pc.and_(fits, pc.greater(pc.utf8_length(found), SAFE_DIGITS)).fill_null(False)
    if pc.any(unsure).as_py():
        inside = [INT64_MIN <= int(text) <= INT64_MAX for text in found.filter(unsure).to_pylist()]
        fits = pc.replace_with_mask(fits, unsure, pa.array(inside))
    admitted = admit(value, found, fits)
    numbers = pc.replace_substring_regex(admitted, r"\A\+", "").cast(pa.int64())
    if (low, high) == (INT64_MIN, INT64_MAX):
        return numbers
    return admit(value, numbers, pc.and_(pc.greater_equal(numbers, low), pc.less_equal(numbers, high)))


def text_to_double(value: Primitive, found: Any) -> Any:
    admitted = admit(value, found, pc.match_substring_regex(found, FLOAT_TEXT))
    return pc.replace_substring_regex(admitted, r"\A\+", "").cast(pa.float64())


def text_to_decimal(value: Primitive, found: Any) -> Any:
    import re

    kind = value.type
    pattern = re.compile(DECIMAL_TEXT.replace(r"\z", r"\Z"))

    def read(text: str) -> Decimal | None:
        if not pattern.match(text):
            return None
        with localcontext(prec=100_000):
            number = Decimal(text).quantize(Decimal(1).scaleb(-kind.scale), ROUND_HALF_UP)
        return number if abs(number) < Decimal(10) ** (kind.precision - kind.scale) else None

    return by_distinct_text(value, found, read, pa.decimal128(kind.precision, kind.scale))


def text_to_time(value: Primitive, found: Any) -> Any:
    words = {DATE: "date", TIMESTAMP: "timestamp", INSTANT: "timestamptz"}
    target = {DATE: pa.date32(), TIMESTAMP: pa.timestamp("us"), INSTANT: pa.timestamp("us", "UTC")}[value.kind]
    return by_distinct_text(value, found, lambda text: parse_time(text, words[value.kind]), target)


def by_distinct_text(value: Primitive, found: Any, read: Callable[[str], Any], target: Any) -> Any:
    """Texts read by a function, each different text once; None does not fit."""
    coded = found.dictionary_encode()
    numbers = pa.array([read(text) for text in coded.dictionary.to_pylist()], target)
    fits = pc.is_valid(numbers).take(coded.indices)
    admit(value, found, fits)
    return numbers.take(coded.indices)


def to_text(value: Primitive, found: Any) -> Any:
    return found.cast(pa.string())


def timestamp_to_instant(value: Primitive, found: Any) -> Any:
    """A time without a zone is in UTC."""
    if pa.types.is_date(found.type):
        found = found.cast(pa.timestamp("us"))
    return found.cast(pa.timestamp(found.type.unit, "UTC"))


def time_to_date(value: Primitive, found: Any) -> Any:
    """The day in UTC, or of a time without a zone."""
    return pc.floor_temporal(found, 1, "day").cast(pa.date32())


CASTS: dict[tuple[str, str], Callable[[Primitive, Any], Any]] = {
    (INTEGER, INTEGER): integer_to_integer, (UNSIGNED, INTEGER): integer_to_integer,
    (BOOLEAN, INTEGER): lambda value, found: found.cast(pa.int64()), (DOUBLE, INTEGER): double_to_integer,
    (DECIMAL, INTEGER): decimal_to_integer, (TEXT, INTEGER): text_to_integer,
    (INTEGER, DECIMAL): to_exact_decimal, (UNSIGNED, DECIMAL): to_exact_decimal, (DECIMAL, DECIMAL): to_exact_decimal,
    (TEXT, DECIMAL): text_to_decimal, (TEXT, DOUBLE): text_to_double,
    (TEXT, BOOLEAN): lambda value, found: by_distinct_text(value, found, BOOLEANS.get, pa.bool_()),
    (TEXT, DATE): text_to_time, (TEXT, TIMESTAMP): text_to_time, (TEXT, INSTANT): text_to_time,
    (INTEGER, BOOLEAN): lambda value, found: pc.not_equal(found, 0),
    (INTEGER, TEXT): to_text, (UNSIGNED, TEXT): to_text, (BOOLEAN, TEXT): to_text, (DATE, TEXT): to_text,
    (DATE, INSTANT): timestamp_to_instant, (TIMESTAMP, INSTANT): timestamp_to_instant,
    (INSTANT, TIMESTAMP): lambda value, found: found.cast(pa.timestamp(found.type.unit)),  # in UTC
    (TIMESTAMP, DATE): time_to_date, (INSTANT, DATE): time_to_date,
}  # fmt: skip
