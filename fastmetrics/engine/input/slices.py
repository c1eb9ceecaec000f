"""Slices of a log: every combination of values of the `by` columns gets a small number, as it is first met.

Numbers depend on the order in which rows come; nothing else does, for slices are known by their values wherever they
leave this module.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

MAX_SLICES = 10_000  # a state each, and at least one range of scores each
SMALL = 1 << 16  # combinations that a batch may have to be counted in a table

SliceValues = tuple[Any, ...]


class SliceNumbers:
    """The slices met so far. Batches may be numbered by several threads."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.numbers: dict[SliceValues, int] = {}
        self.lock = Lock()

    def __len__(self) -> int:
        return len(self.numbers)

    def values(self) -> list[SliceValues]:
        """The values of every slice, by number."""
        return list(self.numbers)

    def forget(self, known: int) -> None:
        """Slices numbered since there were `known` of them are as if never met."""
        for values in list(self.numbers)[known:]:
            del self.numbers[values]

    def number_of(self, slices: list[SliceValues]) -> np.ndarray:
        """The numbers here of slices known by their values; new ones are entered."""
        numbers = [self.numbers.setdefault(values, len(self.numbers)) for values in slices]
        if len(self.numbers) > MAX_SLICES:
            raise ValueError(f"by={list(self.names)!r} makes more than {MAX_SLICES:,} slices together")
        return np.array(numbers, np.uint16)

    def number(self, columns: list[Any], locate: Callable[[int], int]) -> np.ndarray:
        """The slice of every row (uint16); the columns are pyarrow arrays without nulls."""
        encoded = [encode(column, name) for column, name in zip(columns, self.names, strict=True)]
        combined = encoded[0][0].astype(np.int64)
        size = len(encoded[0][1])
        for codes, values in encoded[1:]:
            if size > SMALL:
                # Numbered anew: a dictionary may be far larger than what is used of it, and 64 bits are soon too few.
                present, combined = np.unique(combined, return_inverse=True)
                size = len(present)
            combined = combined * len(values) + codes
            size *= len(values)
        if size <= SMALL:
            rows = combined.shape[0]
            first_rows = np.full(size, -1)
            first_rows[combined[::-1]] = np.arange(rows - 1, -1, -1)
            present = np.flatnonzero(first_rows >= 0)
            table = np.zeros(size, np.uint16)
            table[present] = self.look_up(first_rows[present], encoded, locate)
            return table[combined]
        _, first_rows, local = np.unique(combined, return_index=True, return_inverse=True)
        return self.look_up(first_rows, encoded, locate)[local]

    def look_up(
        self, first_rows: np.ndarray, encoded: list[tuple[np.ndarray, list[Any]]], locate: Callable[[int], int]
    ) -> np.ndarray:
        """The numbers of combinations, known by the row that has each first; new ones are entered in that order."""
        order = np.argsort(first_rows)
        in_order = first_rows[order]
        columns = [[values[code] for code in codes[in_order].tolist()] for codes, values in encoded]
        combinations = list(zip(*columns, strict=True))
        with self.lock:
            numbers = [self.numbers.setdefault(values, len(self.numbers)) for values in combinations]
        # Another thread may have met one too many already: rows of the others are no fault of this batch.
        surplus = next((index for index, number in enumerate(numbers) if number >= MAX_SLICES), None)
        if surplus is not None:
            row = locate(int(in_order[surplus]))
            raise ValueError(
                f"by={list(self.names)!r} makes more than {MAX_SLICES:,} slices; the one at row {row} "
                f"({spell(self.names, combinations[surplus])}) is one too many. Slices are for a few values; values "
                "inside users or items are what group=... is for"
            )
        found = np.empty(len(numbers), np.uint16)
        found[order] = numbers
        return found


def encode(column: Any, name: str) -> tuple[np.ndarray, list[Any]]:
    """A column's values as codes, and what the codes mean."""
    import pyarrow

    types = pyarrow.types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_floating(kind) or types.is_nested(kind) or types.is_null(kind):
        raise TypeError(
            f"by column {name!r} has Arrow type {kind}: slices are made of integers, strings, booleans or dates; "
            "put numbers into bins first"
        )
    coded = column if types.is_dictionary(column.type) else column.dictionary_encode()
    return np.asarray(coded.indices), coded.dictionary.to_pylist()


def spell(names: tuple[str, ...], values: SliceValues) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in zip(names, values, strict=True))
