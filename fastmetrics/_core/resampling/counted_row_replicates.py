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
    JackknifeUnits,
    SliceRange,
    add_units,
    new_states,
    order_by_unit_bucket,
)
from fastmetrics._core.resampling.cell_entries import CellEntries, count_equal, n_table_entries
from fastmetrics._core.resampling.equal_rows import EqualRows
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitBuckets, UnitCounter
from fastmetrics._core.resampling.table_replicates import CellsOfRows, TableReplicates
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
        if self.label_states:
            return replicates_of_tables(self, weights, n_slices, selected)
        rows_of = {key: self.rows_of(*key) for key in self.blocks}
        found: dict[StateKey, Any] = {}
        for key, numbers, mask in self.by_slice(weights.unit_buckets, n_slices, selected):
            found[key] = new_states(key[0], weights, None, key[2])
            add_counted_rows(found[key], key[0], weights, numbers, rows_of[key[:2]][mask])
        return found


def add_counted_rows(sums: Any, statistic: Any, weights: Any, numbers: np.ndarray, rows: np.ndarray) -> None:
    """Add rows to replicates, or to the states of units; `numbers` are the unit buckets of the rows."""
    order, unit_buckets, starts = order_by_unit_bucket(numbers)
    rows = rows[order]
    add_units(sums, statistic, weights, unit_buckets, starts, lambda start, stop: rows[start:stop])


def replicates_of_tables(
    counted: CountedRows, weights: ReplicateWeights | JackknifeUnits, n_slices: int, selected: SliceRange
) -> dict[StateKey, CellEntries | TableReplicates]:
    """The tables of counts of all replicates, or without each entry, of all rows and of every slice."""
    cells_of = {key: CellsOfRows.find(counted.rows_of(*key)) for key in counted.blocks}
    found: dict[StateKey, CellEntries | TableReplicates] = {}
    for key, buckets, mask in counted.by_slice(weights.unit_buckets, n_slices, selected):
        own, labels = cells_of[key[:2]], counted.label_states[key[:2]]
        numbers = own.numbers[mask]
        if isinstance(weights, JackknifeUnits):
            n = n_table_entries(weights.n_entries(key[2]), 0 if key[2] is None else weights.n_slices)
            found[key] = CellEntries.of_rows(key[0], labels, own.cells, numbers, weights.entries_of(buckets, n), n)
        else:
            found[key] = tables = TableReplicates(key[0], weights.replicates)
            of_buckets = count_equal(buckets, numbers, own.cells.shape[0])
            tables.add(weights, labels, of_buckets[:, 0], own.cells[of_buckets[:, 1]], of_buckets[:, 2])
    return found
