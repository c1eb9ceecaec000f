"""Ways to divide rows into slices: all rows, the slices that rows are stored with, or one of several grouping sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
