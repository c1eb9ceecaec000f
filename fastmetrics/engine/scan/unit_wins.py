"""Units won and lost by models, of metrics of which the values of many units are found at once.

The rows of a unit are in one partition of a hash exchange. The units of some partitions at a time are numbered, and so
are their pairs of a slice and a unit; the states of all of them are made in one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import LABEL, ROLE, SCORE, SLICE, WEIGHT, names_of
from fastmetrics._core.comparison.win_counts import UTILITY, WinCounts, WinKey, compare_units
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.additive_replicates import JackknifeStates
from fastmetrics._core.resampling.entry_states import Tables, add_rows
from fastmetrics._core.resampling.resampling_units import HASH_BITS, UnitBuckets
from fastmetrics._core.resampling.row_replicates import RowReduction, max_loaded_bytes, row_ranges
from fastmetrics._core.resampling.unit_state_table import UnitStateTable
from fastmetrics._core.statistic import adds_by_unit
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_passes import iterate_passes
from fastmetrics.engine.plan.column_names import ROW_UNITS
from fastmetrics.engine.scan.intervals import finalize_metric, find_many_values
from fastmetrics.engine.scan.paired_models import (
    count_wins_of_groups,
    metrics_by_unit,
    states_by_unit,
    sums_of_rows,
)

RANGE_ROWS = 1 << 16  # of the units that are numbered at a time
Columns = dict[str, np.ndarray]


class NumberedUnits(NamedTuple):
    """The units of some partitions, and their pairs of a slice and a unit, which are numbered after the units.

    `slice_of` is the slice of every pair.
    """

    units: np.ndarray
    pairs: np.ndarray
    slice_of: np.ndarray

    @classmethod
    def of_rows(cls, hashes: np.ndarray, slices: np.ndarray | None) -> NumberedUnits:
        units, numbers = np.unique(hashes, return_inverse=True)
        if slices is None:
            return cls(units, np.empty(0, np.int64), np.empty(0, np.int64))
        pairs = np.unique(slices.astype(np.int64) * units.shape[0] + numbers)
        return cls(units, pairs, pairs // units.shape[0])

    @classmethod
    def of_parts(cls, parts: Iterable[Columns]) -> NumberedUnits:
        """Those of the rows of several parts: the distinct ones of each, together."""
        hashes: list[np.ndarray] = []
        slices: list[np.ndarray] = []
        for columns in parts:
            own = cls.of_rows(columns[HASH], columns.get(SLICE))
            is_sliced = SLICE in columns
            hashes.append(own.units[own.pairs % own.units.shape[0]] if is_sliced else own.units)
            slices.append(own.slice_of)
        return cls.of_rows(np.concatenate(hashes), np.concatenate(slices) if is_sliced else None)

    @property
    def n(self) -> int:
        return int(self.units.shape[0] + self.pairs.shape[0])

    def numbers(self, hashes: np.ndarray, slices: np.ndarray | None) -> Iterator[np.ndarray]:
        """The number of every row's unit, and of its pair if there are slices."""
        of_units = np.searchsorted(self.units, hashes)
        yield of_units.astype(np.int32)
        if slices is not None:
            places = np.searchsorted(self.pairs, slices.astype(np.int64) * self.units.shape[0] + of_units)
            yield (places + self.units.shape[0]).astype(np.int32)

    def of_slices(self, mask: np.ndarray, n_slices: int) -> np.ndarray:
        """How many units are in the mask: of all rows, and then of every slice."""
        of_units, of_pairs = mask[: self.units.shape[0]], mask[self.units.shape[0] :]
        by_slice = np.bincount(self.slice_of[of_pairs], minlength=n_slices)
        return np.concatenate(([np.count_nonzero(of_units)], by_slice))


def count_wins(
    part: PartState, unit_buckets: UnitBuckets, n_threads: int, of_groups: dict[WinKey, WinCounts] | None = None
) -> dict[WinKey, WinCounts]:
    """Win counts: of groups for metrics of groups, of units, or of a sample of many, for metrics that are sums.

    `of_groups` are those of groups, if they are known.
    """
    wins = count_wins_of_groups(part, n_threads) if of_groups is None else of_groups
    metrics = metrics_by_unit(part)
    is_stored = part.counted_rows is None and part.unit_exchange is not None
    together = [metric for metric in metrics if is_stored and adds_up_together(metric)]
    others = [metric for metric in metrics if metric not in together]
    for slice_pass in iterate_passes(part) if metrics else ():
        if together and part.unit_exchange is not None:
            store, sums = part.unit_exchange.store, sums_of_rows(part, together)
            # The number of equal rows before it changes the hash of a row, not its partition.
            stop = store.n_partitions if part.names.unit == ROW_UNITS else sampled_partitions(store, unit_buckets)
            found = count_unit_wins(store, together, sums, unit_buckets, stop, n_threads)
            wins |= slice_pass.rename(found)
        if others:
            found = dict(compare_units(states_by_unit(part, others, unit_buckets), others, part.outputs))
            wins |= slice_pass.rename(found)
    return wins


def adds_up_together(metric: Metric) -> bool:
    """Can the values of many units be found at once?"""
    return metric.has_many and all(map(adds_by_unit, metric.statistics()))


def sampled_partitions(store: BlockStore, units: UnitBuckets) -> int:
    """How many of the first partitions have units of the sample: a partition has hashes that follow each other."""
    return -(-units.sample_stop * store.n_partitions >> HASH_BITS)


def count_unit_wins(
    store: BlockStore,
    metrics: Sequence[Metric],
    reduction: RowReduction,
    unit_buckets: UnitBuckets,
    n_partitions: int,
    n_threads: int,
) -> dict[WinKey, WinCounts]:
    """Units won, lost and tied by (metric, pair, slice), for every pair but the first of its label.

    The store has the hash of every row's unit; the first `n_partitions` have all units of the sample.
    """
    n_slices = reduction.n_slices
    keys = [HASH, SLICE] if n_slices else [HASH]
    weights = [WEIGHT] if WEIGHT in store.types else []
    columns = [*names_of(store.types, LABEL, SCORE, ROLE), *weights, *keys]
    max_bytes = min(max_loaded_bytes(store), RANGE_ROWS * store.row_bytes)
    some = (bounds for bounds in row_ranges(store, max_bytes) if bounds[0] < n_partitions)
    by_partition = groupby(some, lambda bounds: bounds[:2])
    ranges = [list(parts) for _, parts in by_partition]  # the parts of a large partition stay together
    baselines: dict[int, int] = {}
    pairs = [
        (baseline, number)
        for number, output in enumerate(reduction.outputs)
        if (baseline := baselines.setdefault(output.label, number)) != number
    ]

    def count(number: int) -> dict[tuple[Metric, int], list[np.ndarray]]:
        parts: Iterator[Columns] | list[Columns] = load_parts(store, columns, ranges[number], unit_buckets)
        if len(ranges[number]) == 1:
            parts = list(parts)
            units = NumberedUnits.of_rows(parts[0][HASH], parts[0].get(SLICE))
        else:
            units = NumberedUnits.of_parts(load_parts(store, keys, ranges[number], unit_buckets))
        states = states_of_units(parts, units, reduction)
        return {
            (metric, other): [
                units.of_slices(mask, n_slices) for mask in compare_values(metric, states, baseline, other)
            ]
            for metric in metrics
            for baseline, other in pairs
        }

    wins: dict[tuple[Metric, int], list[np.ndarray]] = {}
    for found in for_each(len(ranges), lambda: count, n_threads):
        for key, counts in found.items():
            wins[key] = counts if key not in wins else [a + b for a, b in zip(wins[key], counts, strict=True)]
    return {
        (metric, output, number): WinCounts(*(int(own[place]) for own in counts))
        for (metric, output), counts in wins.items()
        for place, number in enumerate((None, *range(n_slices)))
    }


def load_parts(
    store: BlockStore, names: Sequence[str], parts: Sequence[tuple[int, int, range | None]], units: UnitBuckets
) -> Iterator[Columns]:
    """The rows of units of the sample."""
    for start, stop, blocks in parts:
        columns = store.load_partitions(list(names), start, stop, numbers=blocks).columns
        sampled = units.in_sample(columns[HASH])
        yield columns if sampled.all() else {name: column[sampled] for name, column in columns.items()}


def states_of_units(
    parts: Iterable[Columns], units: NumberedUnits, reduction: RowReduction
) -> dict[tuple[Any, int], JackknifeStates]:
    """The states of every unit and pair, by statistic and output."""
    outputs = range(len(reduction.outputs))
    tables: Tables = {(own, number): UnitStateTable(own, units.n) for own in reduction.statistics for number in outputs}
    for columns in parts:
        hashes, slices = columns.pop(HASH), columns.pop(SLICE, None)
        for numbers in units.numbers(hashes, slices):
            add_rows(tables, columns, reduction, numbers)
    states = {}
    for key, table in tables.items():
        own = JackknifeStates(key[0], units.n)
        own.add_entries(np.arange(units.n), table)
        states[key] = own.of_entries()
    return states


def compare_values(
    metric: Metric, states: Mapping[tuple[Any, int], JackknifeStates], baseline: int, other: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which units are won, lost and tied; those without a value under either model are none of them."""
    utility = UTILITY[metric.spec.direction]
    before, after = ([states[own, number] for own in metric.statistics()] for number in (baseline, other))
    found, found_after = (find_many_values(metric, own) for own in (before, after))
    if found is None or found_after is None:
        raise ValueError(f"metric {metric!r} finds one value at a time")
    (first, asked), (second, asked_after) = found, found_after
    ask_for_missing(metric, before, first, asked)
    ask_for_missing(metric, after, second, asked_after & ~np.isnan(first))
    first, second = utility(first), utility(second)
    return second > first, second < first, second == first


def ask_for_missing(metric: Metric, states: Sequence[JackknifeStates], values: np.ndarray, missing: np.ndarray) -> None:
    """Ask the finalizer for values that are not found together."""
    places = np.flatnonzero(missing)
    if places.shape[0]:
        of_missing = [own.of_some(places).of_entries() for own in states]
        values[places] = finalize_metric(metric, of_missing, places.shape[0])
