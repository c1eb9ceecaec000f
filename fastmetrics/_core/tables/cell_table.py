"""Rows and exact weights of cells: pairs of integers, such as a label and a predicted label, that occur.

Cells are counted in a hash table that is fast while it fits the cache (`CellCounter`); beside it are the exact sums of
weights. Where both would take more than their part of the memory limit, the cells move to a table of keys (`KeyTable`),
which spills. Of the limbs of weights, cells and keys have only those in use: a few, if weights are about as large.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.key_columns import NumberKeys, TupleKeys
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.state import check_state
from fastmetrics._core.tables.key_entries import KeyCounts
from fastmetrics._core.tables.key_table import KeyTable
from fastmetrics._kernels.exchange.cell_counts import CellCounter, weigh_numbers

MIN_STATES = 64
COUNTER_DIVISOR = 8  # cells may take this part of a thread's share of the memory limit before they move
FEW_CELLS = 256  # are not moved
FEW_ROWS = 1 << 12  # are added at once in any case; of more rows, all cells may be new
MOST_BYTES = 1 << 26  # of new cells, with the default limit
PART_ROWS = 1 << 12  # of what is read at a time, unless there are fewer
NEW_CELL_BYTES = 128  # of a cell for which the counter grows, before half of it is used
NEW_STATE_BYTES = 2 * 8 * exact.SIZE
CELL = np.dtype([("first", np.int64), ("second", np.int64)])
LIMB_LIMIT = 1 << exact.LIMB_BITS
NO_LIMBS: np.ndarray = np.empty((0, 0), np.int64)


class Cells(NamedTuple):
    """Pairs of integers, the rows of each, and the exact weights if rows have weights.

    `limbs`, int64[n_limbs, n], are those limbs of the weights that are in use, from the limb `first_limb` on; the last
    one is for what sums of weights carry. None: rows have no weights.
    """

    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray
    limbs: np.ndarray | None = None
    first_limb: int = 0

    @property
    def size(self) -> int:
        return int(self.counts.shape[0])

    @property
    def amounts(self) -> np.ndarray:
        """int64[1 or n_limbs, n]: the rows of each cell, or the limbs of its weight."""
        return self.counts[None] if self.limbs is None else self.limbs

    def integers(self, amounts: np.ndarray, first_limb: int) -> list[int]:
        """Sums of amounts as integers: rows, or weights in units of the limb `first_limb`."""
        shift = exact.LIMB_BITS * (self.first_limb - first_limb)
        return amounts[0].tolist() if self.limbs is None else exact.join_limbs(amounts.T, shift)

    @property
    def limb_range(self) -> range:
        """The limbs that weights have here; none without weights."""
        return range(self.first_limb, self.first_limb + (0 if self.limbs is None else self.limbs.shape[0]))

    def take(self, where: Any) -> Cells:
        """Some of the cells, or all of them in another order."""
        limbs = None if self.limbs is None else self.limbs[:, where]
        return self._replace(first=self.first[where], second=self.second[where], counts=self.counts[where], limbs=limbs)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of a state: cells sorted by first and second integer, so that equal tables have equal arrays."""
        cells = self.take(np.lexsort((self.second, self.first)))
        limbs, first_limb = NO_LIMBS, 0
        if cells.limbs is not None:
            used = limbs_in_use(cells.limbs.T)
            limbs, first_limb = cells.limbs[used.start : used.stop], self.first_limb + used.start
        return cells.first, cells.second, cells.counts, limbs, np.array([first_limb])

    @classmethod
    def of_arrays(
        cls, first: np.ndarray, second: np.ndarray, counts: np.ndarray, limbs: np.ndarray, first_limb: np.ndarray
    ) -> Cells:
        """The cells of a state, which may come from an untrusted file."""
        check_state(first.shape == second.shape == counts.shape, "its arrays of cells have different lengths")
        check_state((counts > 0).all(), "a cell has no rows")
        is_next = (first[1:] > first[:-1]) | ((first[1:] == first[:-1]) & (second[1:] > second[:-1]))
        check_state(is_next.all(), "its cells are not sorted, or a cell occurs twice")
        if not limbs.shape[0]:
            return cls(first, second, counts)
        check_state(limbs.shape[1] == first.shape[0], "its weights are not those of its cells")
        is_sum = ((limbs >= 0) & (limbs < LIMB_LIMIT)).all()
        check_state(is_sum and 0 <= first_limb[0] <= exact.LIMBS - limbs.shape[0], "a weight is no sum of weights")
        return cls(first, second, counts, limbs, int(first_limb[0]))


class CellTable:
    """Rows and weights of each cell that occurs.

    Attributes
    ----------
    counter : CellCounter
        The rows and the number of each cell that has not moved.
    states : ndarray or None
        The exact weight of each of these cells, by their numbers; None without weights.
    moved : KeyTable or None
        The other cells: a count of rows, and one for each limb of `moved_limbs`.
    """

    __slots__ = ("budget", "counter", "moved", "moved_limbs", "reserved", "reserved_state", "states")

    def __init__(self) -> None:
        self.counter = CellCounter()
        self.states: np.ndarray | None = None
        self.moved: KeyTable | None = None
        self.moved_limbs = range(0)
        self.budget: MemoryBudget | None = None
        self.reserved = 0
        self.reserved_state = 0

    @property
    def n_rows(self) -> int:
        return self.counter.total

    @property
    def counter_bytes(self) -> int:
        """The memory of cells that have not moved."""
        return self.counter.n_bytes + (0 if self.states is None else self.states.nbytes)

    @property
    def n_bytes(self) -> int:
        """The approximate size of what is in memory."""
        return self.counter_bytes + (0 if self.moved is None else self.moved.n_bytes)

    # ---------------------------------------------------------------------------------------------- adding

    def add(
        self, first: np.ndarray, second: np.ndarray, counts: np.ndarray | None = None, weights: np.ndarray | None = None
    ) -> None:
        """Add rows, each once or `counts` times."""
        for rows in self.ranges_of_rows(first.shape[0], weights is not None):
            own = None if counts is None else counts[rows]
            if weights is None:
                self.counter.add(first[rows], second[rows], own, None)
            else:
                numbers = self.number_cells(first[rows], second[rows], own)
                weigh_numbers(numbers, weights[rows], self.grown_states(), own)
            self.reserve()

    def add_cells(self, cells: Cells) -> None:
        """Add the cells of another table."""
        for rows in self.ranges_of_rows(cells.size, cells.limbs is not None):
            own = cells.take(rows)
            if own.limbs is None:
                self.counter.add(own.first, own.second, own.counts, None)
            else:
                numbers, states = self.number_cells(own.first, own.second, own.counts), self.grown_states()
                sums, added = states[numbers], exact.new_states(own.size)
                added[:, own.first_limb : own.first_limb + own.limbs.shape[0]] = own.limbs.T
                exact.merge_states(sums, added)
                states[numbers] = sums
            self.reserve()

    def ranges_of_rows(self, rows: int, have_weights: bool) -> Iterator[slice]:
        """So many rows at a time that their cells do not take too much memory if all are new."""
        if rows <= FEW_ROWS:
            return iter((slice(0, rows),))
        most_bytes = MOST_BYTES
        if self.budget is not None and self.budget.explicit_limit is not None:
            most_bytes = min(most_bytes, self.budget.limit // (2 * COUNTER_DIVISOR * self.budget.n_threads))
        at_once = max(FEW_ROWS, most_bytes // (NEW_CELL_BYTES + (NEW_STATE_BYTES if have_weights else 0)))
        return (slice(start, start + at_once) for start in range(0, rows, at_once))

    def number_cells(self, first: np.ndarray, second: np.ndarray, counts: np.ndarray | None) -> np.ndarray:
        """Count rows; return the numbers of their cells."""
        numbers = np.empty(first.shape[0], np.int64)
        self.counter.add(first, second, counts, numbers)
        return numbers

    def grown_states(self) -> np.ndarray:
        """The sums of weights, with memory for all cells."""
        states = exact.new_states(MIN_STATES) if self.states is None else self.states
        missing = self.counter.size - states.shape[0]
        if missing > 0:
            states = np.concatenate((states, exact.new_states(max(states.shape[0], missing))))
        self.states = states
        return states

    # ---------------------------------------------------------------------------------------------- memory

    def limit_memory(self, budget: MemoryBudget | None) -> None:
        """Count the table against a budget; what does not fit is spilled."""
        self.budget = budget

    def reserve(self) -> None:
        """Count the table's memory against the budget; move the cells if they do not fit, unless they are few."""
        if self.budget is None:
            return
        grown = self.counter_bytes - self.reserved - self.reserved_state
        if grown <= 0:
            return
        may_stay = self.budget.has_space_for(COUNTER_DIVISOR * self.budget.n_threads * self.counter_bytes)
        if may_stay and self.budget.try_reserve(grown):
            self.reserved += grown
        elif self.counter.size > FEW_CELLS:
            self.move()
            self.release()
        else:
            self.budget.require_state(grown, "the pairs of labels")
            self.reserved_state += grown

    def release(self) -> None:
        """Give the reserved memory of the cells that moved back to the budget."""
        if self.budget is not None:
            self.budget.release(self.reserved)
            self.budget.release_state(self.reserved_state)
        self.reserved = self.reserved_state = 0

    def close(self) -> None:
        """Free the memory of a table that was merged into another."""
        if self.moved is not None:
            self.moved.close()
        self.release()

    def move(self) -> None:
        """Move the cells to the table of keys."""
        cells = self.cells_in_memory()
        if cells.size:
            self.counter.empty()
            self.states = None
            self.move_cells(cells)

    def move_cells(self, cells: Cells) -> None:
        """Add cells to the table of keys. One without counts for all limbs is replaced by one that has them."""
        known, limbs = self.moved, union_of(self.moved_limbs, cells.limb_range)
        if known is None or limbs != self.moved_limbs:
            wider = KeyTable(1 + len(limbs), self.budget)
            if known is not None:
                for part in read_parts(known, self.moved_limbs):
                    wider.add(*keys_of_cells(part, limbs))
                known.close()
            known = self.moved = wider
            self.moved_limbs = limbs
        known.add(*keys_of_cells(cells, limbs))

    # ---------------------------------------------------------------------------------------------- reading

    def cells_in_memory(self) -> Cells:
        """The cells that have not moved, by their numbers."""
        first, second, counts = self.counter.cells()
        if self.states is None:
            return Cells(first, second, counts)
        states = self.states[: counts.shape[0]]
        used = limbs_in_use(states)
        limbs = np.ascontiguousarray(states[:, used.start : min(used.stop + 1, exact.LIMBS)].T)
        return Cells(first, second, counts, limbs, used.start)

    def parts(self) -> Iterator[Cells]:
        """All cells, a part at a time; a cell is in one of them. All parts have the same limbs."""
        if self.moved is None:
            yield self.cells_in_memory()
            return
        self.move()
        yield from read_parts(self.moved, self.moved_limbs)

    def cells(self) -> Cells:
        """All cells."""
        return join_cells(list(self.parts()))


def join_cells(parts: list[Cells]) -> Cells:
    """Parts of one table as one."""
    if len(parts) == 1:
        return parts[0]
    first, second, counts = (np.concatenate(own) for own in zip(*(part[:3] for part in parts), strict=True))
    limbs = [part.limbs for part in parts if part.limbs is not None]
    return Cells(first, second, counts, np.concatenate(limbs, axis=1) if limbs else None, parts[0].first_limb)


def limbs_in_use(states: np.ndarray) -> range:
    """The range of the limbs that are not 0 in all states: at least one limb."""
    used = np.flatnonzero(states.any(axis=0)).tolist() or [0]
    return range(used[0], used[-1] + 1)


def union_of(first: range, second: range) -> range:
    """The range that has both ranges."""
    if not first or not second:
        return first or second
    return range(min(first.start, second.start), max(first.stop, second.stop))


def carry_limbs(limbs: np.ndarray) -> None:
    """Carry what limbs, int64[n_limbs, n], have above 32 bits to the next ones, but for the last."""
    for low, high in pairwise(limbs):
        high += low >> exact.LIMB_BITS
        low &= exact.LIMB_MASK


def keys_of_cells(cells: Cells, limbs: range) -> tuple[TupleKeys, np.ndarray]:
    """Cells as the keys and counts of a table with counts for some limbs."""
    counts = np.zeros((cells.size, 1 + len(limbs)), np.int64)
    counts[:, 0] = cells.counts
    if cells.limbs is not None:
        start = 1 + cells.first_limb - limbs.start
        counts[:, start : start + cells.limbs.shape[0]] = cells.limbs.T
    return TupleKeys([NumberKeys(cells.first), NumberKeys(cells.second)], CELL), counts


def large_parts(table: KeyTable) -> Iterator[KeyCounts]:
    """The parts of a table of keys that are numbers, some of which are small, joined to parts of some size."""
    entries: list[np.ndarray] = []
    rows = 0
    for part in table.parts():
        entries.append(part.entries)
        rows += part.rows
        if rows >= PART_ROWS:
            yield part._replace(entries=np.concatenate(entries))
            entries, rows = [], 0
    if entries:
        yield part._replace(entries=np.concatenate(entries))


def read_parts(table: KeyTable, limbs: range) -> Iterator[Cells]:
    """The way back, a part at a time."""
    for part in large_parts(table):
        cells, sums = part.keys(), np.ascontiguousarray(part.counts().T)
        carry_limbs(sums[1:])
        first, second = (np.ascontiguousarray(cells[name]) for name in CELL.names or ())
        yield Cells(first, second, sums[0], sums[1:] if limbs else None, limbs.start)
