"""Win counts by unit: in how many units (days, users) a model is better, for metrics that are sums over rows.

The value of a unit is the metric's value for the state of the unit alone. Resampling draws weights for the same states
if every unit bucket is a unit. All rows of a unit are in one partition, so units are completed partition by partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.columns.row_blocks import LABEL, SCORE, SLICE, WEIGHT, ScoreLabelPair, Scratch
from fastmetrics._core.comparison.group_win_counts import UTILITY, WinCounts
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.parallel import for_each
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.additive_replicates import (
    RowReduction,
    UnitStateTable,
    add_loaded_rows,
    add_unit_buckets,
    max_loaded_bytes,
    order_by_unit_bucket,
    row_ranges,
)
from fastmetrics._core.resampling.counted_row_replicates import CountedRows
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics._core.statistic import Sums

WinKey = tuple[Metric, int, int | None]  # number of the pair, slice (None: all rows)


class UnitSums:
    """The state of every unit, for one statistic. It has the methods of AdditiveReplicates that adding rows needs."""

    def __init__(self, statistic: Any) -> None:
        template = statistic.new()
        self.width = int(template.counts.size + template.exact.size)
        self.states: dict[int, Sums] = {}

    def add(self, weights: Any, numbers: np.ndarray, table: UnitStateTable) -> None:
        """Add the states of the units with these numbers, or of parts of them."""
        for index, number in enumerate(numbers.tolist()):
            if number in self.states:
                self.states[number].merge(table.state(index))
            else:
                state = self.states[number] = Sums(0, 0)
                state.counts, state.exact = table.counts[index].copy(), table.exact[index].copy()


class UnweightedUnits(NamedTuple):
    """The units, in place of ReplicateWeights: no weights are drawn."""

    unit_buckets: UnitBuckets


class UnitStates:
    """The states of the units of some partitions, by statistic, pair and slice.

    It takes the place of ReplicateAccumulators.
    """

    def __init__(self, unit_buckets: UnitBuckets) -> None:
        self.weights = UnweightedUnits(unit_buckets)
        self.sums: dict[tuple[Any, int, int | None], UnitSums] = {}

    def sums_of(self, *key: Any) -> UnitSums:
        """The states of a statistic, a pair and a slice; made at the first use."""
        if key not in self.sums:
            self.sums[key] = UnitSums(key[0])
        return self.sums[key]

    def values(self, metric: Metric, pair: int, slice_number: int | None) -> np.ndarray:
        """The metric of every unit."""
        states = [self.sums[statistic, pair, slice_number].states for statistic in metric.statistics()]
        values = [metric.finalise(*(of_units[unit] for of_units in states)).value for unit in states[0]]
        return np.array(values, np.float64)


def count_unit_wins(
    store: BlockStore, metrics: Sequence[Metric], reduction: RowReduction, unit_buckets: UnitBuckets, n_threads: int
) -> dict[WinKey, WinCounts]:
    """Units won, lost and tied by (metric, pair, slice), for every pair except the first one of its label.

    Every unit bucket must be one unit. The store has the hash of every row's unit.
    """
    names = [name for name in store.types if name in (HASH, WEIGHT, SLICE) or name.startswith((LABEL, SCORE))]
    # The parts of a large partition stay together: a unit must be complete before its values are compared.
    by_partition = groupby(row_ranges(store, max_loaded_bytes(store)), lambda bounds: bounds[:2])
    ranges = [list(parts) for _, parts in by_partition]
    counts_of_threads: list[dict[WinKey, WinCounts]] = []

    def make_worker() -> Callable[[int], None]:
        own: dict[WinKey, WinCounts] = {}
        counts_of_threads.append(own)
        scratch = Scratch()

        def work(number: int) -> None:
            states = UnitStates(unit_buckets)
            for start, stop, blocks in ranges[number]:
                loaded = store.load_partitions(names, start, stop, scratch, blocks)
                add_loaded_rows(loaded.columns, reduction, states)  # type: ignore[arg-type]
            for key, wins in compare_units(states, metrics, reduction.pairs):
                own.setdefault(key, WinCounts()).merge(wins)

        return work

    for_each(len(ranges), make_worker, n_threads)
    merged: dict[WinKey, WinCounts] = {}
    for own in counts_of_threads:
        for key, wins in own.items():
            merged.setdefault(key, WinCounts()).merge(wins)
    return merged


def count_wins_of_counted_rows(
    counted: CountedRows,
    metrics: Sequence[Metric],
    pairs: Sequence[ScoreLabelPair],
    n_slices: int,
    unit_buckets: UnitBuckets,
) -> dict[WinKey, WinCounts]:
    """The same for columns that are not numeric, from the integers that were counted of each row."""
    needed = {statistic for metric in metrics for statistic in metric.statistics()}
    states = UnitStates(unit_buckets)
    for (statistic, pair), blocks in counted.blocks.items():
        if statistic not in needed:
            continue
        hashes, slices, rows = (np.concatenate(columns) for columns in zip(*blocks, strict=True))
        numbers = unit_buckets.bucket_of(hashes)
        for slice_number in (None, *range(n_slices)):
            mask = slice(None) if slice_number is None else slices == slice_number
            order, units, starts = order_by_unit_bucket(numbers[mask])
            ordered = rows[mask][order]

            def segment(start: int, stop: int, ordered: np.ndarray = ordered) -> np.ndarray:
                return ordered[start:stop]

            sums: Any = states.sums_of(statistic, pair, slice_number)
            weights: Any = states.weights
            add_unit_buckets(sums, statistic, statistic.add, weights, units, starts, segment)
    return dict(compare_units(states, metrics, pairs))


def compare_units(
    states: UnitStates, metrics: Sequence[Metric], pairs: Sequence[ScoreLabelPair]
) -> Iterator[tuple[WinKey, WinCounts]]:
    """Compare every model with the first one of its label, by the values of the units."""
    slices = dict.fromkeys(slice_number for _, _, slice_number in states.sums)
    for slice_number in slices:
        for metric in metrics:
            baselines: dict[int, np.ndarray] = {}
            for number, pair in enumerate(pairs):
                values = states.values(metric, number, slice_number)
                if pair.label not in baselines:
                    baselines[pair.label] = values
                    continue
                wins = WinCounts()
                wins.count(baselines[pair.label], values, metric.spec.direction)
                yield (metric, number, slice_number), wins


def has_unit_values(metric: Metric) -> bool:
    """Is the metric made of sums over rows, and is one value better than another?

    A partition is left out: the rows of one unit say nothing about a partition of all rows.
    """
    spec = metric.spec
    return spec.exchange == "none" and spec.direction in UTILITY and spec.target != "partition"
