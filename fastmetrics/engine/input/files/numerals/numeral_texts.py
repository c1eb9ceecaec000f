"""Keys in text files: a text that writes a number is that number, whatever stands in other rows.

Keys are compared as texts. Numbers that equal each other have one text, that of the shortest decimal: 007 is 7, 1.50 is
1.5, 2e5 is 200000. A number whose decimal would be too long, such as 7e400, is the text that it is written as.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Context
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import text_buffers
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.object_keys import NUMERAL
from fastmetrics._core.optional_imports import compute
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics._kernels.formats.numerals import mark_long_numerals

MOST_DIGITS = 76  # of a decimal that an exponent makes, as in Arrow's widest decimals
MOST_FLOAT_DIGITS = 17  # that a float is written with
MOST_DECIMAL_DIGITS = 38  # of the decimals of expressions
EXPONENT_DIGITS = 9
EXACT = Context(prec=10**6, Emin=-(10**12), Emax=10**12)


class TextKeyColumns(NamedTuple):
    """Columns of keys in a text file.

    Attributes
    ----------
    numerals : frozenset of str
        Those that are read as texts, in which numbers have their one text.
    numbers : frozenset of str
        Those of them that begin with numbers: the words that mean null among numbers do so here.
    integers : frozenset of str
        Those that are read as integers. If another value comes, MixedKeysError is raised.
    values : frozenset of str
        No keys: the columns where numbers are needed.
    """

    numerals: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    integers: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()


def as_texts(schema: Any, columns: frozenset[str]) -> Any:
    """The schema with texts in some columns."""
    return pa.schema([field.with_type(pa.string()) if field.name in columns else field for field in schema])


def shorten_columns(table: Any, columns: frozenset[str], decimal_point: str = ".") -> Any:
    """The table with numbers as their one text in some columns of strings."""
    for number, name in enumerate(table.schema.names):
        if name in columns:
            chunks = [shorten_numerals(chunk, decimal_point) for chunk in table.column(number).chunks]
            table = table.set_column(number, table.field(number), pa.chunked_array(chunks, pa.string()))
    return table


def shorten_numerals(texts: Any, decimal_point: str = ".") -> Any:
    """A pyarrow array of strings in which each number has its one text."""
    marks = np.empty(len(texts), np.uint8)
    if not len(texts):
        return texts
    if not mark_long_numerals(*text_buffers(texts), ord(decimal_point), marks):
        return texts
    mask = pa.array(marks.astype(bool))
    coded = texts.filter(mask).dictionary_encode()
    shorter = pa.array([shortest(text, decimal_point) for text in coded.dictionary.to_pylist()], pa.string())
    return compute.replace_with_mask(texts, mask, shorter.take(coded.indices))


def nulls_among_numbers(table: Any, columns: frozenset[str], words: Sequence[str]) -> Any:
    """The table with nulls for the words, in some columns of strings."""
    for number, name in enumerate(table.schema.names):
        if name in columns:
            column = table.column(number)
            marks = compute.is_in(column, value_set=pa.array(words, pa.string()))
            if compute.any(marks).as_py():
                column = compute.if_else(marks, pa.scalar(None, pa.string()), column)
                table = table.set_column(number, table.field(number), column)
    return table


def shortest(text: str | None, decimal_point: str) -> str | None:
    """The text of a number without exponent and needless zeros; the text itself where that would be too long."""
    if text is None:
        return None
    _, mark, exponent = text.lower().partition("e")
    if mark and len(exponent.strip(" \t+-").lstrip("0")) > EXPONENT_DIGITS:
        # Beyond what a Decimal holds. Zero is zero with any exponent.
        return text if text.lower().partition("e")[0].strip(" \t+-0" + decimal_point) else "0"
    number = EXACT.create_decimal(text.strip().replace(decimal_point, "."))
    if not number:
        return "0"
    first_place, last_place = number.adjusted(), number.adjusted() + 1 - len(number.as_tuple().digits)
    if ("e" in text or "E" in text) and (first_place >= MOST_DIGITS or last_place < -MOST_DIGITS):
        return text
    plain = format(number, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def has_long_numbers(texts: Any) -> bool:
    """Is there a number, given by its one text, that a float does not hold: 7e400, a long integer, one of 18 digits?"""
    is_long = compute.greater_equal(compute.utf8_length(texts), MOST_FLOAT_DIGITS - 1)
    for text in texts.filter(compute.or_(is_long, compute.match_substring(texts, "e"))).unique().to_pylist():
        found = NUMERAL.fullmatch(text)
        if found is None:
            return True
        digits = text.strip("-0.").replace(".", "")
        if len(digits) > MOST_FLOAT_DIGITS or (not found[2] and int(float(text)) != int(text)):
            return True
    return False


def decimal_type_of(columns: Iterable[Any]) -> Any:
    """The type of decimals that holds all of some numbers, given by their texts; that of texts if there is none."""
    n_whole = n_fraction = 0
    for texts in columns:
        if not compute.all(compute.match_substring_regex(texts, f"^{NUMERAL.pattern}$"), min_count=0).as_py():
            return pa.string()
        digits = compute.utf8_length(compute.utf8_ltrim(texts, "-"))
        points = compute.find_substring(compute.utf8_ltrim(texts, "-"), ".")
        whole = compute.if_else(compute.less(points, 0), digits, points)
        n_whole = max(n_whole, compute.max(whole).as_py() or 0)
        n_fraction = max(n_fraction, (compute.max(compute.subtract(digits, whole)).as_py() or 0) - 1)
    is_decimal = n_whole + n_fraction <= MOST_DECIMAL_DIGITS
    return pa.decimal128(max(1, n_whole + n_fraction), n_fraction) if is_decimal else pa.string()
