"""Ways to divide rows into slices: all rows, the slices that rows are stored with, or one of several grouping sets.

Groups of rows are divided too: those of all slices can be in one table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE
from fastmetrics._core.named_tuples import NamedTuple


class SliceSet(NamedTuple):
    """Slices of which every row is in one, numbered from 0.

    Attributes
    ----------
    n_slices : int
    names : tuple of str
        The stored columns (uint16) that the slice of a row is made of.
    number_rows : callable or None
        `number_rows(columns, out)` writes the slice of every row (uint16). None: the only column has it.
    numbers : sequence or None
        What the slices are called outside; None is all rows. By default their numbers.
    """

    n_slices: int
    names: tuple[str, ...] = (SLICE,)
    number_rows: Callable[[Sequence[np.ndarray], np.ndarray], None] | None = None
    numbers: Sequence[int | None] | None = None

    def number(self, columns: Mapping[str, np.ndarray], out: np.ndarray) -> np.ndarray:
        """The slice of every row; `out` is memory for it."""
        if self.number_rows is None:
            return columns[self.names[0]] if self.names else out
        self.number_rows([columns[name] for name in self.names], out)
        return out

    def outside(self, number: int) -> int | None:
        """What a slice is called outside."""
        return number if self.numbers is None else self.numbers[number]


class SlicedTable(NamedTuple):
    """The groups of all slices of a set in one table: each slice, and the range of its groups.

    `one_class`, int64[slices, 4], counts the groups of one class if they are not listed: those without positives, those
    without negatives, and the rows of both kinds.
    """

    table: Any
    own: SliceSet
    segments: Sequence[tuple[int, slice]]
    one_class: np.ndarray | None = None

    def of_slices(self) -> Iterator[tuple[int | None, Any]]:
        """What each slice is called outside, and its table."""
        for number, where in self.segments:
            table = self.table.segment(where)
            if self.one_class is not None:
                table = table._replace(one_class=self.one_class[number])
            yield self.own.outside(number), table


class SlicedTables(ABC):
    """Makers of tables that have the groups of all slices in one table. A table is valid until the next one."""

    @abstractmethod
    def whole_tables(self, start: int, stop: int) -> Iterator[tuple[int, Any]]:
        """(number of the output, groups) for the partitions start..stop."""

    @abstractmethod
    def sliced_tables(self, start: int, stop: int, own: SliceSet) -> Iterator[tuple[int, SlicedTable]]:
        """(number of the output, groups of all slices of a set) for the partitions start..stop."""


def no_columns(columns: Sequence[np.ndarray], out: np.ndarray) -> None:
    """The slice of rows that are not divided."""
    out[:] = 0


ALL_ROWS = SliceSet(1, (), no_columns, (None,))


def stored_slices(n_slices: int) -> tuple[SliceSet, ...]:
    """The slices that rows are stored with, if there are any."""
    return (SliceSet(n_slices),) if n_slices else ()


def column_names(sets: Sequence[SliceSet]) -> tuple[str, ...]:
    """The columns of all sets, each once."""
    return tuple(dict.fromkeys(name for own in sets for name in own.names))
