"""Rows and exact weights of pairs of integers: the cells of a confusion matrix. Only pairs that occur take memory."""

from __future__ import annotations

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.label_codes import check_state
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.classification import cell_numbers as kernel

SLOT_BYTES = 24
MIN_CELLS = 64


class Cells(NamedTuple):
    """Pairs of integers, their rows, and their exact weights if rows have weights."""

    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray
    states: np.ndarray | None

    @property
    def size(self) -> int:
        return int(self.first.shape[0])

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of a state: cells sorted by first and second integer, so that equal tables have equal arrays."""
        order = np.lexsort((self.second, self.first))
        states = exact.new_states(0) if self.states is None else self.states[order]
        return self.first[order], self.second[order], self.counts[order], states

    @classmethod
    def of_arrays(cls, first: np.ndarray, second: np.ndarray, counts: np.ndarray, states: np.ndarray) -> Cells:
        check_state(first.shape == second.shape == counts.shape, "its arrays of cells have different lengths")
        check_state(states.shape[0] in (0, first.shape[0]), "its weights are not those of its cells")
        return cls(first, second, counts, states if states.shape[0] else None)


class CellTable:
    """Rows and weights of each pair that occurs.

    Attributes
    ----------
    numbers : CellNumbers
        The number of each pair: a position in the next two.
    counts : ndarray
        The rows of each pair.
    states : ndarray or None
        The exact weight of each pair, if rows have weights.
    """

    __slots__ = ("counts", "numbers", "states")

    def __init__(self) -> None:
        self.numbers = kernel.CellNumbers()
        self.counts: np.ndarray = np.zeros(MIN_CELLS, np.int64)
        self.states: np.ndarray | None = None

    @property
    def size(self) -> int:
        """The number of pairs."""
        return int(self.numbers.size)

    @property
    def n_bytes(self) -> int:
        """The approximate size."""
        slots = 4 << max(5, self.numbers.size.bit_length())
        return slots * SLOT_BYTES + self.counts.nbytes + (0 if self.states is None else self.states.nbytes)

    def add(
        self, first: np.ndarray, second: np.ndarray, counts: np.ndarray | None, weights: np.ndarray | None
    ) -> np.ndarray:
        """Add pairs, each once or `counts` times, with the weights of one row each. Returns their numbers."""
        numbers = np.empty(first.shape[0], np.int64)
        self.numbers.number(first, second, numbers)
        self.grow(weights is not None)
        if counts is None:
            kernel.count_numbers(numbers, self.counts)
        else:
            np.add.at(self.counts, numbers, counts)
        if self.states is not None and weights is not None:
            kernel.weigh_numbers(numbers, weights, self.states, counts)
        return numbers

    def grow(self, is_weighted: bool) -> None:
        """Make room for the counts and the weights of all pairs."""
        cells = self.counts.shape[0]
        if self.numbers.size > cells:
            cells = max(2 * cells, self.numbers.size)
            self.counts = np.append(self.counts, np.zeros(cells - self.counts.shape[0], np.int64))
        if is_weighted and self.states is None:
            self.states = exact.new_states(cells)
        elif self.states is not None and self.states.shape[0] < cells:
            self.states = np.concatenate((self.states, exact.new_states(cells - self.states.shape[0])))

    def add_cells(self, cells: Cells) -> None:
        """Add the cells of another table."""
        numbers = self.add(cells.first, cells.second, cells.counts, None)
        if cells.states is None:
            return
        self.grow(True)
        if self.states is not None:
            merged = self.states[numbers]
            exact.merge_states(merged, cells.states)
            self.states[numbers] = merged

    def cells(self) -> Cells:
        """The pairs by number, with their rows and their weights."""
        first, second = self.numbers.pairs()
        n = first.shape[0]
        return Cells(first, second, self.counts[:n].copy(), None if self.states is None else self.states[:n].copy())

    def load_cells(self, cells: Cells) -> None:
        """Fill a new table with the cells of a state."""
        check_state((cells.counts > 0).all(), "a cell has no rows")
        self.add_cells(cells)
        check_state(self.size == cells.size, "a cell occurs twice")
