"""Slices of a log: every combination of values of the `by` columns gets a number when it first occurs.

The numbers depend on the order of rows. Results do not: outside a scan, slices are identified by their values. A null
is a value as others: None. A NaN counts as a null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import decimal_keys, numpy_values
from fastmetrics._core.object_keys import value_of_numeral
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._kernels.exchange import slice_rows
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.plan.slice_bins import SliceBins

MAX_SLICES = 10_000  # every slice has states of its own, and at least one range of scores
MAX_TABLE_SIZE = 1 << 16  # combinations up to which a batch is numbered with a table, without sorting
OF_GROUPS = "values inside users or items are what group=... is for"

SliceValues = tuple[Any, ...]


class SliceNumbers:
    """The slices that have occurred so far. Several threads may number batches."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.numbers: dict[SliceValues, int] = {}
        self.places: dict[str, dict[Any, int]] = {}
        self.numerals: frozenset[str] = frozenset()  # the columns in which texts write numbers
        self.lock = Lock()

    def __len__(self) -> int:
        return len(self.numbers)

    def values(self) -> list[SliceValues]:
        """The values of every slice, by number."""
        return list(self.numbers)

    def in_order(self) -> list[tuple[int | None, dict[str, Any]]]:
        """Number and values of all rows (None), then of every slice in the order of the values."""
        in_order = sorted(self.numbers, key=lambda values: self.order(self.names, values))
        named = [(self.numbers[values], dict(zip(self.names, values, strict=True))) for values in in_order]
        return [(None, {}), *named]

    def order_bins(self, bins: Sequence[SliceBins]) -> None:
        """Let slices of intervals be in the order of the intervals, not of their names."""
        self.places = {own.title: {label: place for place, label in enumerate(own.labels())} for own in bins}

    def order(self, names: tuple[str, ...], values: SliceValues) -> tuple[tuple[bool, bool, Any], ...]:
        """The key by which slices are sorted: by their values, a null last."""
        places = (self.places.get(name) for name in names)
        return order_of_values(
            tuple(
                value if of_name is None or value is None else of_name[value]
                for value, of_name in zip(values, places, strict=True)
            )
        )

    def mark(self) -> Any:
        """What `restore` needs to forget all slices that occur from now on."""
        return len(self.numbers)

    def restore(self, mark: Any) -> None:
        """Forget the slices that have occurred since `mark` was called."""
        self.truncate(mark)

    def truncate(self, n_slices: int) -> None:
        """Forget all slices but the first `n_slices`."""
        for values in list(self.numbers)[n_slices:]:
            del self.numbers[values]

    def number_slices(self, slices: list[SliceValues]) -> np.ndarray:
        """The numbers of slices given by their values. New slices are registered."""
        numbers = [self.numbers.setdefault(values, len(self.numbers)) for values in slices]
        if len(self.numbers) > MAX_SLICES:
            raise ValueError(f"by={list(self.names)!r} makes more than {MAX_SLICES:,} slices together")
        return np.array(numbers, np.uint16)

    def number_rows(self, columns: list[Any], locate: Callable[[int], int]) -> np.ndarray:
        """The slice of every row (uint16); the columns are pyarrow arrays."""
        encoded = [
            encode_column(column, name, name in self.numerals) for column, name in zip(columns, self.names, strict=True)
        ]
        combined = encoded[0][0].astype(np.int64)
        size = len(encoded[0][1])
        for codes, values in encoded[1:]:
            if size > MAX_TABLE_SIZE:
                # Renumbered: a dictionary may be far larger than the values in use, and 64 bits would soon overflow.
                present, combined = np.unique(combined, return_inverse=True)
                size = len(present)
            combined = combined * len(values) + codes
            size *= len(values)
        if size <= MAX_TABLE_SIZE:
            first_rows = np.empty(size, np.int64)
            slice_rows.find_first_rows(combined, first_rows)
            present = np.flatnonzero(first_rows >= 0)
            table = np.zeros(size, np.uint16)
            table[present] = self.register_combinations(first_rows[present], encoded, locate)
            return table.take(combined)
        _, first_rows, local = np.unique(combined, return_index=True, return_inverse=True)
        return self.register_combinations(first_rows, encoded, locate)[local]

    def register_combinations(
        self, first_rows: np.ndarray, encoded: list[tuple[np.ndarray, list[Any]]], locate: Callable[[int], int]
    ) -> np.ndarray:
        """The numbers of combinations, given by the first row of each. New ones are registered in the order of rows."""
        order = np.argsort(first_rows)
        in_order = first_rows[order]
        columns = [[values[code] for code in codes[in_order].tolist()] for codes, values in encoded]
        combinations = list(zip(*columns, strict=True))
        with self.lock:
            numbers = [self.numbers.setdefault(values, len(self.numbers)) for values in combinations]
        # Another thread may have registered one slice too many: only the slices of this batch are its fault.
        surplus = next((index for index, number in enumerate(numbers) if number >= MAX_SLICES), None)
        if surplus is not None:
            row = locate(int(in_order[surplus]))
            has_floats = any(isinstance(value, float) for value in combinations[surplus])
            advice = "put the numbers into bins first" if has_floats else OF_GROUPS
            raise ValueError(
                f"by={list(self.names)!r} makes more than {MAX_SLICES:,} slices; the one at row {row} "
                f"({format_slice(self.names, combinations[surplus])}) is one too many. Slices are for a few values; "
                f"{advice}"
            )
        by_combination = np.empty(len(numbers), np.uint16)
        by_combination[order] = numbers
        return by_combination


def find_numerals(source: Source, names: Iterable[str]) -> frozenset[str]:
    """Those columns that come from a source as texts of which some write numbers."""
    return frozenset(filter(source.reads_numerals, names))


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


def order_of_values(values: SliceValues) -> tuple[tuple[bool, bool, Any], ...]:
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
