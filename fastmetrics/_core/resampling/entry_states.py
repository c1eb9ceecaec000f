"""The states of additive statistics of rows by entry of the table of units; rows come in the order of their blocks.

A table has the entries of all slices, so rows need not be put in order. It is for statistics that add rows to many
states in one call.
"""

from __future__ import annotations

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
from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.parallel import accumulate
from fastmetrics._core.resampling.additive_replicates import JackknifeStates, JackknifeUnits
from fastmetrics._core.resampling.row_replicates import RowReduction
from fastmetrics._core.resampling.unit_state_table import UnitStateTable
from fastmetrics._core.statistic import ByUnit

MAX_TABLE_BYTES = 1 << 27  # of all tables of a thread

Tables = dict[tuple[Any, int], UnitStateTable]


def fits_in_tables(store: BlockStore, reduction: RowReduction, units: JackknifeUnits) -> bool:
    """Do all statistics add rows to many states, and do their tables fit into memory?"""
    if not all(isinstance(own, ByUnit) for own in reduction.statistics):
        return False
    row_bytes = sum(8 * own.fields.n_counts + 16 * own.fields.n_sums for own in reduction.statistics)
    n_bytes = row_bytes * len(reduction.outputs) * n_states(reduction.n_slices, units)
    limit = None if store.budget is None else store.budget.explicit_limit
    return bool(n_bytes <= (MAX_TABLE_BYTES if limit is None else min(MAX_TABLE_BYTES, limit // 8)))


def n_states(n_slices: int, units: JackknifeUnits) -> int:
    return max(1, n_slices) * units.n_entries(0 if n_slices else None)


def add_entries(
    store: BlockStore, reduction: RowReduction, units: JackknifeUnits, n_threads: int
) -> dict[StateKey, JackknifeStates]:
    """The states of every entry: of all rows, or with `n_slices` of every slice."""
    n_slices, n = reduction.n_slices, n_states(reduction.n_slices, units)
    n_entries = n // max(1, n_slices)
    usual = [name for name in (HASH, WEIGHT, *([SLICE] if n_slices else [])) if name in store.types]
    if n_slices and SLICE not in usual:
        usual.append(SLICE)
    blocks = store.block_readers([*names_of(store.types, LABEL, SCORE, ROLE), *usual])

    def new_tables() -> Tables:
        numbers = range(len(reduction.outputs))
        return {(own, number): UnitStateTable(own, n) for own in reduction.statistics for number in numbers}

    def add(tables: Tables, number: int) -> None:
        columns = blocks[number].load()
        entries = units.entries_of(units.unit_buckets.bucket_of(columns[HASH]), n_entries)
        if n_slices:
            entries += columns[SLICE].astype(np.int64) * n_entries
        add_rows(tables, columns, reduction, entries.astype(np.int32))

    threads = accumulate(len(blocks), new_tables, add, n_threads)
    found: dict[StateKey, JackknifeStates] = {}
    for key in threads[0] if threads else ():
        for tables in threads:
            tables[key].sort_others()
        for number in range(max(1, n_slices)):
            table = UnitStateTable(key[0], n_entries)
            for tables in threads:
                table.add_part(tables[key], number * n_entries)
            states = found[*key, number if n_slices else None] = JackknifeStates(key[0], n_entries)
            states.add_entries(np.arange(n_entries), table)
    return found


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
