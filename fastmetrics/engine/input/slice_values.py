"""The values of the columns that divide rows into slices: a code for each, and their order in reports.

A null is a value as others: None. A NaN counts as a null.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import decimal_keys, numpy_values
from fastmetrics._core.columns.key_columns import Keys, NumberKeys
from fastmetrics._core.object_keys import value_of_numeral
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics.engine.input.row_hashes import hash_arrays, hash_values

# The values of a slice; outside a scan, behind the number of its grouping set.
SliceValues = tuple[Any, ...]


class CodedColumns:
    """Columns that are in the same grouping sets: every combination of values that has occurred has a code."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.codes: dict[SliceValues, int] = {}
        self.values: list[SliceValues] = []
        self.hashes: np.ndarray = np.empty(0, np.uint64)

    def hashes_of(self, codes: np.ndarray) -> np.ndarray:
        """A hash of the values of every row, which does not depend on when they first occurred."""
        known, n_values = self.hashes, len(self.values)
        if known.shape[0] < n_values:  # threads may do so at the same time
            self.hashes = known = np.append(known, hash_values(self.values[known.shape[0] : n_values]))
        found: np.ndarray = known[codes]
        return found

    def code(self, values: SliceValues) -> int:
        """The code of a combination of values; a new one is registered."""
        code = self.codes.get(values)
        if code is None:
            code = self.codes[values] = len(self.values)
            self.values.append(values)
        return code

    def number(self, combinations: list[SliceValues]) -> list[int]:
        """The codes of combinations of values; new ones are registered in their order."""
        known = [code for code in map(self.codes.get, combinations) if code is not None]
        return known if len(known) == len(combinations) else list(map(self.code, combinations))

    def truncate(self, n_values: int) -> None:
        """Forget all combinations but the first."""
        for values in self.values[n_values:]:
            del self.codes[values]
        del self.values[n_values:]
        self.hashes = self.hashes[:n_values]


def keys_with_slices(keys: Keys, codes: Sequence[np.ndarray], columns: Sequence[CodedColumns]) -> NumberKeys:
    """The keys of rows as units, which also tell the values of their slices apart."""
    of_values = [own.hashes_of(code) for own, code in zip(columns, codes, strict=True)]
    return NumberKeys(hash_arrays([keys.to_numpy(), *of_values], keys.rows))


def encode_column(column: Any, name: str, are_numerals: bool = False) -> tuple[np.ndarray, list[Any]]:
    """A column's values as codes, and the values that the codes stand for; of numerals the numbers.

    Of decimals, those without a fraction are integers, and others have no zeros at the end: equal ones are shown alike.
    """
    types = pyarrow.types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_nested(kind):
        raise TypeError(
            f"by column {name!r} has Arrow type {kind}: slices are made of numbers, strings, booleans or dates; name a "
            "column, or a field, that has such values"
        )
    if types.is_null(kind):
        return np.zeros(len(column), np.int32), [None]
    if types.is_float16(column.type):
        column = column.cast(pyarrow.float32())
    coded = column if types.is_dictionary(column.type) else column.dictionary_encode()
    if types.is_time64(kind) and kind.unit == "ns":
        coded = times_in_microseconds(coded, name)
    is_decimal = types.is_decimal(kind)
    values = (decimal_keys(coded.dictionary) if is_decimal else coded.dictionary).to_pylist()
    if are_numerals or is_decimal:
        values = [value_of_numeral(value) if isinstance(value, str) else value for value in values]
    if types.is_floating(kind):
        # -0.0 becomes 0.0: they are equal, but differ in print. NaN is no value.
        values = [None if value is None or value != value else value + 0.0 for value in values]
    indices = coded.indices
    if not indices.null_count:
        return numpy_values(indices), values
    codes = numpy_values(indices.cast(pyarrow.int64()).fill_null(len(values)))
    return codes, [*values, None]


def order_of_values(values: Iterable[Any]) -> tuple[tuple[bool, bool, Any], ...]:
    """The key by which slices are sorted: by their values, texts behind numbers, a null last."""
    return tuple((value is None, isinstance(value, str), 0 if value is None else value) for value in values)


def times_in_microseconds(coded: Any, name: str) -> Any:
    """Times of day as Python has them, without parts of a microsecond, which it would drop."""
    try:
        dictionary = coded.dictionary.cast(pyarrow.time64("us"))
    except pyarrow.ArrowInvalid:
        raise ValueError(
            f"by column {name!r} has Arrow type {coded.dictionary.type} and values with nanoseconds: cast it to "
            "time64[us], or to a string"
        ) from None
    return pyarrow.DictionaryArray.from_arrays(coded.indices, dictionary)


def format_slice(names: tuple[str, ...], values: SliceValues) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in zip(names, values, strict=True))
