"""Win counts: in how many groups or units a model is better than another.

By group: metrics by group are means of the metric's values of single groups, which come from the same tables. A group
without a value (for instance without a pair of both classes) is not counted.

By unit (days, users), for metrics that are sums over rows: the value of a unit is the metric's value for the state of
the unit alone. Resampling draws weights for the same states if every unit bucket is a unit. All rows of a unit are in
one partition, so units are completed partition by partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import LABEL, SCORE, SLICE, WEIGHT, Output, Scratch, names_of
from fastmetrics._core.columns.slice_sets import SliceSet
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.group_reduction import GroupReduction, reduce_groups
from fastmetrics._core.exchange.hash_exchange import HASH, HashExchange
from fastmetrics._core.group_accumulators import GroupAccumulators, StateKey
from fastmetrics._core.grouping import grouped
from fastmetrics._core.metric_spec import BinErrors
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.counted_row_replicates import CountedRows, add_counted_rows
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics._core.resampling.row_replicates import RowReduction, add_loaded_rows, max_loaded_bytes, row_ranges
from fastmetrics._core.resampling.unit_state_table import UnitStateTable
from fastmetrics._core.state import Sums
from fastmetrics._core.statistic import GroupedStatistic, PerGroup

WinKey = tuple[Metric, int, int | None]  # number of the output, slice (None: all rows)

# By direction: maps a value to a number that is greater for better values.
UTILITY: dict[str, Callable[[Any], Any]] = {
    "maximize": lambda value: value,
    "minimize": lambda value: -value,
    "closest_to_one": lambda value: -abs(value - 1),
    "closest_to_zero": lambda value: -abs(value),
}
# Values of groups lie in 0..1. Two sums in different order may differ by so much.
NEGLIGIBLE = 1e-12


@dataclass(slots=True)
class WinCounts:
    """The number of units in which a model is better than the baseline, worse, and equally good."""

    won: int = 0
    lost: int = 0
    tied: int = 0

    def count(self, first: np.ndarray, second: np.ndarray, direction: str, negligible: float = 0.0) -> None:
        """Compare the values of units under the baseline and under the model. A unit with a NaN is not counted."""
        utility = UTILITY[direction]
        before, after = utility(first), utility(second)
        self.won += int(np.count_nonzero(after > before + negligible))
        self.lost += int(np.count_nonzero(after < before - negligible))
        self.tied += int(np.count_nonzero((after <= before + negligible) & (after >= before - negligible)))

    def merge(self, other: WinCounts) -> None:
        self.won += other.won
        self.lost += other.lost
        self.tied += other.tied


class GroupValues(GroupedStatistic):
    """Takes the place of a statistic if the values of single groups are needed, not their sum."""

    __slots__ = ("direction", "statistic")

    def __init__(self, statistic: Any, direction: str) -> None:
        self.statistic = statistic
        self.direction = direction

    @property
    def table(self) -> Any:
        return self.statistic.table

    @property
    def needs_only_pairs(self) -> bool:
        """Groups of one class have no value then."""
        return bool(self.statistic.needs_only_pairs)

    @property
    def measured(self) -> GroupedStatistic:
        measured: GroupedStatistic = self.statistic
        return measured

    def update(self, state: Any, table: Any) -> None:
        raise TypeError(f"{self!r} has no state: `PairedGroupValues` reads its tables")


class PairedGroupValues(GroupAccumulators):
    """Compares every table with that of the same groups under the baseline: the first output of the same label."""

    def __init__(self, statistics: Sequence[GroupValues], outputs: Sequence[Output]) -> None:
        super().__init__(statistics)
        first_outputs: dict[int, int] = {}
        self.baseline_of = [first_outputs.setdefault(output.label, number) for number, output in enumerate(outputs)]
        # The baseline's values of the latest groups, by output and slice. All tables have one order of groups.
        self.baseline_values: dict[tuple[int, int | None], list[np.ndarray]] = {}

    def update(self, output: int, slice_number: int | None, table: Any) -> None:
        values = [own.statistic.group_values(table) for own in self.statistics]
        baseline = self.baseline_of[output]
        if output == baseline:
            self.baseline_values[baseline, slice_number] = values
            return
        for own, before, after in zip(
            self.statistics, self.baseline_values[baseline, slice_number], values, strict=True
        ):
            wins = self.states.setdefault((own, output, slice_number), WinCounts())
            wins.count(before, after, own.direction, NEGLIGIBLE)


def has_group_values(metric: Metric) -> bool:
    """Is the metric a mean of values of single groups?"""
    statistics = metric.mean_statistics()
    return metric.spec.exchange == "hash" and len(statistics) == 1 and isinstance(statistics[0], PerGroup)


def count_group_wins(
    exchange: HashExchange,
    metrics: Sequence[Metric],
    outputs: Sequence[Output],
    sets: Sequence[SliceSet],
    n_threads: int,
    key_texts: Any = None,
) -> dict[StateKey, WinCounts]:
    """Groups won, lost and tied by (metric, pair, slice), for every pair except the first one of its label."""
    states: dict[StateKey, Any] = {}
    for statistics in grouped((own.table, own) for own in group_values_of(metrics)).values():
        reduction = GroupReduction(statistics, outputs, sets, lambda own: PairedGroupValues(own, outputs), key_texts)
        states |= reduce_groups(exchange, reduction, n_threads)
    return wins_of_metrics(metrics, states)


def group_values_of(metrics: Sequence[Metric]) -> dict[GroupValues, list[Metric]]:
    """The statistics of which single groups have values that can be better, and the metrics of each."""
    found: dict[GroupValues, list[Metric]] = {}
    for metric in metrics:
        if has_group_values(metric) and metric.spec.direction in UTILITY:
            found.setdefault(GroupValues(metric.statistics()[0], metric.spec.direction), []).append(metric)
    return found


def wins_of_metrics(metrics: Sequence[Metric], states: Mapping[StateKey, Any]) -> dict[WinKey, WinCounts]:
    """The win counts among states of `PairedGroupValues`, by metric."""
    metrics_of = group_values_of(metrics)
    return {
        (metric, output, number): wins
        for (statistic, output, number), wins in states.items()
        for metric in metrics_of.get(statistic, ())
    }


# ------------------------------------------------------------------------------------------------------------ by unit


class UnitSums:
    """The state of every unit, for one statistic. It has the methods of AdditiveReplicates that adding rows needs."""

    def __init__(self, statistic: Any) -> None:
        template = statistic.empty()
        self.width = int(template.counts.size + template.exact.size)
        self.states: dict[int, Sums] = {}

    def merge(self, other: UnitSums) -> None:
        """Take in the states of other rows, perhaps of the same units."""
        for number, state in other.states.items():
            if number in self.states:
                self.states[number].merge(state)
            else:
                self.states[number] = state

    def add(self, weights: Any, numbers: np.ndarray, table: UnitStateTable) -> None:
        """Add the states of the units with these numbers, or of parts of them."""
        for index, number in enumerate(numbers.tolist()):
            state = table.state(index)
            if number in self.states:
                self.states[number].merge(state)
            else:
                self.states[number] = table.template.with_memory(state.counts.copy(), state.exact.copy())


class UnweightedUnits(NamedTuple):
    """The units, in place of ReplicateWeights: no weights are drawn."""

    unit_buckets: UnitBuckets


class UnitStates:
    """The states of the units of some partitions, by statistic, output and slice: they are `UnitAccumulators`."""

    def __init__(self, unit_buckets: UnitBuckets) -> None:
        self.weights = UnweightedUnits(unit_buckets)
        self.sums: dict[tuple[Any, int, int | None], UnitSums] = {}

    def name_units(self) -> None:
        """Let units have their hashes in place of the numbers of their buckets: they are the same on every machine."""
        keys = self.weights.unit_buckets.keys
        for own in self.sums.values():
            own.states = {int(keys[number]): state for number, state in own.states.items()}

    def sums_of(self, *key: Any) -> UnitSums:
        """The states of a statistic, an output and a slice; made at the first use."""
        if key not in self.sums:
            self.sums[key] = UnitSums(key[0])
        return self.sums[key]

    def values(self, metric: Metric, output: int, slice_number: int | None) -> np.ndarray:
        """The metric of every unit."""
        states = [self.sums[statistic, output, slice_number].states for statistic in metric.statistics()]
        values = [metric.finalize(*(of_units[unit] for of_units in states)).value for unit in states[0]]
        return np.array(values, np.float64)


def add_units(
    store: BlockStore,
    reduction: RowReduction,
    states: UnitStates,
    ranges: Iterable[tuple[int, int, range | None]] | None = None,
    scratch: Scratch | None = None,
) -> None:
    """Add the rows of a store, by default all of them, to the states of their units, if these have buckets."""
    names = [*names_of(store.types, LABEL, SCORE), *(name for name in (HASH, WEIGHT, SLICE) if name in store.types)]
    for start, stop, blocks in row_ranges(store, max_loaded_bytes(store)) if ranges is None else ranges:
        columns = store.load_partitions(names, start, stop, scratch, blocks).columns
        known = states.weights.unit_buckets.bucket_of(columns[HASH]) >= 0
        if not known.all():
            columns = {name: column[known] for name, column in columns.items()}
        add_loaded_rows(columns, reduction, states)


def add_counted_units(counted: CountedRows, metrics: Sequence[Metric], n_slices: int, states: UnitStates) -> None:
    """The same for columns that are not numeric, from the integers that were counted of each row."""
    needed = {statistic for metric in metrics for statistic in metric.statistics()}
    rows_of = {key: counted.rows_of(*key) for key in counted.blocks if key[0] in needed}
    for key, numbers, mask in counted.by_slice(states.weights.unit_buckets, n_slices):
        if key[:2] in rows_of:
            known = numbers >= 0
            rows = rows_of[key[:2]][mask][known]
            add_counted_rows(states.sums_of(*key), key[0], states.weights, numbers[known], rows)


def compare_units(
    states: UnitStates, metrics: Sequence[Metric], outputs: Sequence[Output]
) -> Iterator[tuple[WinKey, WinCounts]]:
    """Compare every model with the first one of its label, by the values of the units."""
    for slice_number in dict.fromkeys(slice_number for _, _, slice_number in states.sums):
        for metric in metrics:
            baselines: dict[int, np.ndarray] = {}
            for number, output in enumerate(outputs):
                values = states.values(metric, number, slice_number)
                if output.label not in baselines:
                    baselines[output.label] = values
                    continue
                wins = WinCounts()
                wins.count(baselines[output.label], values, metric.spec.direction)
                yield (metric, number, slice_number), wins


def has_unit_values(metric: Metric) -> bool:
    """Is the metric made of sums over rows, and is one value better than another?

    Tables of labels and bins are left out: the rows of one unit say nothing about a partition of all rows, and are few
    for a confusion matrix or for bins.
    """
    spec = metric.spec
    if isinstance(metric.influence, BinErrors):
        return False
    return spec.exchange == "none" and spec.direction in UTILITY and spec.target not in ("partition", "prediction")
