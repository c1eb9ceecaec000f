"""The states of additive statistics of rows by entry of the table of units, of all slices in one reading.

It is for statistics that add rows to many states in one call: rows need not be put in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import (
    LABEL,
    NO_COLUMNS,
    ROLE,
    SCORE,
    SLICE,
    WEIGHT,
    Rows,
    label_name,
    loaded_column,
    names_of,
    other_columns,
    score_name,
)
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.resampling.additive_replicates import JackknifeStates, JackknifeUnits
from fastmetrics._core.resampling.row_replicates import Pieces, RowReduction, for_each_range, place_in_slices
from fastmetrics._core.resampling.unit_state_table import UnitStateTable

MAX_STATE_BYTES = 1 << 29  # of the states of all entries
NONZERO_INTEGERS = 10  # at least about so many integers of a state are not zero

Tables = dict[tuple[Any, int], UnitStateTable]


def most_entries(statistics: Sequence[Any], n_outputs: int, budget: MemoryBudget | None) -> int:
    """Of how many entries the states of some statistics fit into memory."""
    limit = None if budget is None else budget.explicit_limit
    n_bytes = MAX_STATE_BYTES if limit is None else min(MAX_STATE_BYTES, limit // 8)
    return n_bytes // (8 * n_outputs * max(1, sum(map(nonzero_integers, statistics))))


def nonzero_integers(statistic: Any) -> int:
    """About how many integers of a state are not zero."""
    fields = statistic.fields
    return int(max(NONZERO_INTEGERS, fields.n_counts + 2 * fields.n_sums))


class EntriesOfRows:
    """The states of every entry, by statistic and output: of all rows, or of every slice of a range."""

    def __init__(self, reduction: RowReduction, units: JackknifeUnits) -> None:
        self.reduction = reduction
        self.units = units
        self.n_entries = units.n_entries(0 if reduction.n_slices else None)
        self.first_slice = reduction.slices.start
        self.n_slices = min(reduction.slices.stop, reduction.n_slices) - self.first_slice  # 0: all rows
        self.states = {
            (statistic, number): JackknifeStates(statistic, self.n_entries, max(1, self.n_slices))
            for statistic in reduction.statistics
            for number in range(len(reduction.outputs))
        }

    def add(self, pieces: Pieces, buckets: Sequence[np.ndarray]) -> None:
        """Add the rows of a range of hashes, whose entries are few: tables of them are small."""
        first, n = self.units.range_of(buckets, self.n_entries)
        tables = {key: UnitStateTable(key[0], max(1, self.n_slices) * n) for key in self.states}
        for own, of_rows in zip(pieces, buckets, strict=True):
            numbers = self.units.entries_of(of_rows, self.n_entries) - np.int32(first)
            if self.n_slices:
                slices = own[SLICE]
                if self.n_slices < self.reduction.n_slices:
                    kept = np.flatnonzero(
                        (slices >= self.first_slice) & (slices < self.first_slice + self.n_slices)
                    )
                    own, numbers = {name: column[kept] for name, column in own.items()}, numbers[kept]
                    slices = own[SLICE] - np.uint16(self.first_slice)
                numbers = place_in_slices(numbers, slices, n)
            add_rows(tables, own, self.reduction, numbers)
        for key, table in tables.items():
            self.states[key].add_range(first, table)


def add_entries(
    store: BlockStore, reductions: Sequence[RowReduction], units: JackknifeUnits, n_threads: int
) -> list[dict[tuple[Any, int], JackknifeStates]]:
    """The states of every entry for each of several reductions, by statistic and output, from one reading of the rows.

    Rows are read by ranges of hashes. All entries of a range are in one small table.
    """
    usual = [HASH, *(name for name in (WEIGHT,) if name in store.types)]
    usual += [SLICE] if any(own.n_slices for own in reductions) else []
    names = [*names_of(store.types, LABEL, SCORE, ROLE), *usual]
    entries = [EntriesOfRows(own, units) for own in reductions]

    def add(pieces: Pieces) -> None:
        buckets = [units.unit_buckets.bucket_of(own[HASH]) for own in pieces]
        for own in entries:
            own.add(pieces, buckets)

    for_each_range(store, names, add, n_threads)
    return [own.states for own in entries]


def add_rows(tables: Tables, columns: dict[str, np.ndarray], reduction: RowReduction, entries: np.ndarray) -> None:
    """Add the rows of a block to the entries of every output."""
    others = other_columns(columns)
    for number, output in enumerate(reduction.outputs):
        rows = Rows(
            loaded_column(columns, label_name(output.label)),
            loaded_column(columns, score_name(output.score)),
            columns.get(WEIGHT),
            eps=reduction.eps[output.score] if reduction.eps else None,
            others=others or NO_COLUMNS,
        )
        for statistic in reduction.statistics:
            statistic.update_units(tables[statistic, number], rows, entries)
