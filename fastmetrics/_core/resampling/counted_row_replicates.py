"""Replicates of statistics whose columns are not numeric: texts and partitions.

The exchanges do not store such rows. Instead the integers that a statistic counted of each row stay in memory, with the
hash of the row's unit, until all units are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.additive_replicates import (
    ALL_SLICES,
    AdditiveReplicates,
    JackknifeUnits,
    SliceRange,
    add_units,
    new_states,
    order_by_unit_bucket,
)
from fastmetrics._core.resampling.cell_entries import CellEntries, CellsOfRows, n_table_entries
from fastmetrics._core.resampling.equal_rows import EqualRows
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitBuckets, UnitCounter
from fastmetrics._core.statistic import ColumnStatistic, Resamplable

NO_SLICES: np.ndarray = np.empty(0, np.uint16)


class CountedBlock(NamedTuple):
    """A block of rows: the hashes of their units, their slices, and integers, int64[n, m].

    Slices have a column for every grouping set, with the numbers of that set; they are empty without slices.
    """

    hashes: np.ndarray
    slices: np.ndarray
    rows: np.ndarray

    @property
    def n_bytes(self) -> int:
        return int(self.hashes.nbytes + self.slices.nbytes + self.rows.nbytes)


class CountedRows:
    """The counted rows of all blocks, by statistic and output. Several threads may add blocks."""

    def __init__(self) -> None:
        self.blocks: dict[tuple[Any, int], list[CountedBlock]] = {}
        self.label_states: dict[tuple[Any, int], Any] = {}  # for statistics that number the labels
        # The slice of every row in the pass that is computed, of its slices in all sets.
        self.number_rows: Callable[[np.ndarray], np.ndarray] | None = None
        self.lock = Lock()
        self.equal_rows = EqualRows()

    def number_equal_rows(self, hashes: np.ndarray) -> None:
        """Give equal rows different hashes, in place, before their counts are added."""
        self.equal_rows.number(hashes)

    def add(
        self, statistic: ColumnStatistic, output: int, counted: Any, units: np.ndarray, slices: np.ndarray | None
    ) -> int:
        """Store the counts of a statistic for a block; return the number of bytes that they take."""
        key = statistic, output
        with self.lock:
            if isinstance(statistic, Resamplable):
                if key not in self.label_states:
                    self.label_states[key] = statistic.empty()
                rows = statistic.number_rows(self.label_states[key], counted)
            else:
                rows = counted
            origins: Any = slice(None)
            if isinstance(rows, tuple):
                rows, origins = rows
            block = CountedBlock(units[origins].copy(), NO_SLICES if slices is None else slices[origins].copy(), rows)
            self.blocks.setdefault(key, []).append(block)
        return block.n_bytes

    def unit_buckets(self) -> UnitBuckets:
        """The buckets of all units. Every statistic and output has all rows, so the first one is enough."""
        counter = UnitCounter()
        for block in next(iter(self.blocks.values()), []):
            counter.add(block.hashes)
        return counter.unit_buckets()

    def by_slice(
        self, unit_buckets: UnitBuckets, n_slices: int, selected: SliceRange = ALL_SLICES
    ) -> Iterator[tuple[StateKey, np.ndarray, Any]]:
        """The unit buckets of each statistic and output, of all rows and of every slice, and which rows these are."""
        for (statistic, output), blocks in self.blocks.items():
            hashes, slices = (np.concatenate(columns) for columns in zip(*(block[:2] for block in blocks), strict=True))
            numbers = unit_buckets.bucket_of(hashes)
            if self.number_rows is not None and n_slices:
                slices = self.number_rows(slices)
            for slice_number in filter(selected.has, (None, *range(n_slices))):
                mask = slice(None) if slice_number is None else slices == slice_number
                yield (statistic, output, slice_number), numbers[mask], mask

    def rows_of(self, statistic: ColumnStatistic, output: int) -> np.ndarray:
        """The counted rows of all blocks."""
        return np.concatenate([block.rows for block in self.blocks[statistic, output]])

    def replicates(
        self, weights: ReplicateWeights | JackknifeUnits, n_slices: int, selected: SliceRange = ALL_SLICES
    ) -> dict[StateKey, Any]:
        """The replicates of all statistics, of all rows and of every slice."""
        if isinstance(weights, JackknifeUnits) and self.label_states:
            return entries_of_tables(self, weights, n_slices, selected)
        rows_of = {key: self.rows_of(*key) for key in self.blocks}
        return {
            key: replicates_of_rows(key, self.label_states.get(key[:2]), weights, numbers, rows_of[key[:2]][mask])
            for key, numbers, mask in self.by_slice(weights.unit_buckets, n_slices, selected)
        }


def replicates_of_rows(
    key: StateKey, label_state: Any, weights: Any, numbers: np.ndarray, rows: np.ndarray
) -> AdditiveReplicates | CellReplicates:
    """The replicates of some rows; `numbers` are their unit buckets."""
    statistic, _, slice_number = key
    if label_state is not None:
        return CellReplicates(statistic, label_state, weights, numbers, rows)
    replicates: AdditiveReplicates = new_states(statistic, weights, None, slice_number)
    add_counted_rows(replicates, statistic, weights, numbers, rows)
    return replicates


def add_counted_rows(sums: Any, statistic: Any, weights: Any, numbers: np.ndarray, rows: np.ndarray) -> None:
    """Add rows to replicates, or to the states of units; `numbers` are the unit buckets of the rows."""
    order, unit_buckets, starts = order_by_unit_bucket(numbers)
    rows = rows[order]
    add_units(sums, statistic, weights, unit_buckets, starts, lambda start, stop: rows[start:stop])


def entries_of_tables(
    counted: CountedRows, units: JackknifeUnits, n_slices: int, selected: SliceRange
) -> dict[StateKey, CellEntries]:
    """The tables of counts without each entry, of all rows and of every slice."""
    cells_of = {key: CellsOfRows.find(counted.rows_of(*key)) for key in counted.blocks}
    found: dict[StateKey, CellEntries] = {}
    for key, buckets, mask in counted.by_slice(units.unit_buckets, n_slices, selected):
        own, slice_number, label_state = cells_of[key[:2]], key[2], counted.label_states[key[:2]]
        n = n_table_entries(units.n_entries(slice_number), 0 if slice_number is None else units.n_slices)
        numbers, entries = own.numbers[mask], units.entries_of(buckets, n)
        found[key] = CellEntries.of_rows(key[0], label_state, own.cells, numbers, entries, n)
    return found


class CellReplicates:
    """The replicates of a contingency table: the count of every cell in every unit bucket."""

    def __init__(
        self, statistic: Any, label_state: Any, weights: ReplicateWeights, numbers: np.ndarray, rows: np.ndarray
    ) -> None:
        self.statistic = statistic
        self.label_state = label_state
        self.weights = weights
        order = np.lexsort((numbers, *rows.T[::-1]))
        rows, numbers = rows[order], numbers[order]
        begins_cell = np.ones(rows.shape[0], bool)
        begins_cell[1:] = (rows[1:] != rows[:-1]).any(axis=1)
        begins_entry = begins_cell.copy()
        begins_entry[1:] |= numbers[1:] != numbers[:-1]
        entries = np.flatnonzero(begins_entry)
        self.cells = rows[begins_cell]
        self.unit_buckets = numbers[entries]
        self.counts = np.diff(np.append(entries, rows.shape[0]))
        self.starts = np.flatnonzero(begins_cell[entries])

    def states(self) -> Iterator[Any]:
        """The state of every replicate."""
        for first, stop, table, rows in self.weights.batches(self.unit_buckets):
            for replicate in range(stop - first):
                weighted = table[:, replicate][rows] * self.counts
                counts = np.add.reduceat(weighted, self.starts) if weighted.shape[0] else weighted
                present = counts > 0
                yield self.statistic.from_cells(self.label_state, self.cells[present], counts[present])
