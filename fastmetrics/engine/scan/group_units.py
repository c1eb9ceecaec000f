"""Resampling units of the rows of a part, and the unit of every group."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns.key_types import HEAD, TAIL
from fastmetrics._core.exchange.hash_exchange import HASH, UNIT, GroupKeys, HashExchange
from fastmetrics._core.resampling.equal_rows import number_equal_rows
from fastmetrics._core.resampling.resampling_units import UnitBuckets, UnitCounter
from fastmetrics._core.resampling.row_replicates import LOADED_BYTES, row_ranges
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.plan.column_names import ROW_UNITS, ColumnNames, describe_column, key_columns


def find_units(part: PartState, n_threads: int) -> tuple[UnitBuckets, UnitsOfGroups | None]:
    """The buckets of all units, and the unit of every group if units are larger than groups."""
    if part.counted_rows is not None:
        return part.counted_rows.unit_buckets(), None
    counter = UnitCounter()
    units_of = find_units_of_groups(part)
    if units_of is not None:
        counter.add(units_of.units)
        return counter.unit_buckets(), units_of
    if part.states_by_unit:  # they have seen the units of all rows
        for by_unit in part.states_by_unit:
            counter.merge(by_unit.units)
        return counter.unit_buckets(), None
    exchange = part.unit_exchange or part.group_exchange
    if exchange is None:
        return counter.unit_buckets(), None
    if part.names.unit == ROW_UNITS:
        number_equal_rows(exchange.store, n_threads)
    for columns in exchange.columns_of_log([HASH]):
        counter.add(columns[HASH])
    return counter.unit_buckets(), None


def find_units_of_groups(part: PartState) -> UnitsOfGroups | None:
    """The units of groups; None if groups are the units, or if no metric is computed inside groups."""
    exchange = part.group_exchange
    if exchange is None or UNIT not in exchange.store.types or not part.plan.without_plots().needs("hash"):
        return None
    return UnitsOfGroups(exchange, part.names)


class UnitsOfGroups:
    """The unit of every group, both by their hashes: 16 bytes of memory per group."""

    def __init__(self, exchange: HashExchange, names: ColumnNames) -> None:
        store = exchange.store
        pairs: dict[tuple[int, int], list[np.ndarray]] = {}
        for start, stop, blocks in row_ranges(store, LOADED_BYTES):
            loaded = store.load_partitions(exchange.names_of_log([HASH, UNIT]), start, stop, numbers=blocks)
            columns = exchange.rows_of_log(loaded.columns)
            pairs.setdefault((start, stop), []).append(find_distinct_pairs(columns[HASH], columns[UNIT]))
        distinct = [find_distinct_pairs(*np.concatenate(arrays, axis=1)) for arrays in pairs.values()]
        groups, units = np.concatenate(distinct, axis=1)
        order = np.argsort(groups, kind="stable")
        self.groups, self.units = groups[order], units[order]
        repeated = np.flatnonzero(self.groups[1:] == self.groups[:-1])
        if repeated.shape[0]:
            key = find_key(exchange, self.groups[repeated[0]])
            titles = " and ".join(describe_column("unit", name) for name in key_columns(names.unit))
            raise ValueError(
                f"group {key!r} has rows of several values of {titles}: every unit has to have whole groups"
            )

    def __call__(self, hashes: np.ndarray) -> np.ndarray:
        """The units of groups."""
        units: np.ndarray = self.units[np.searchsorted(self.groups, hashes)]
        return units


def find_distinct_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The distinct outputs of two columns, ordered by the first: uint64[2, n]."""
    order = np.lexsort((second, first))
    pairs = np.stack((first[order], second[order]))
    is_new = np.ones(pairs.shape[1], bool)
    is_new[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
    return np.ascontiguousarray(pairs[:, is_new])


def find_key(exchange: HashExchange, group_hash: np.uint64) -> Any:
    """The key of the group that has a hash."""
    store = exchange.store
    names = [HASH, *exchange.slots]
    for start, stop, blocks in row_ranges(store, LOADED_BYTES):
        columns = store.load_partitions(names, start, stop, numbers=blocks).columns
        hashes = columns[HASH]
        rows = np.flatnonzero(hashes == group_hash)
        if rows.shape[0]:
            heads, tails = (columns.get(name, hashes) for name in (HEAD, TAIL))
            return GroupKeys(hashes, heads, tails, exchange.key_dtype).at(int(rows[0]))
    raise KeyError(group_hash)
