"""Win counts by group: in how many groups a model is better than another, by the metric's values of single groups.

Metrics by group are means of these values, which come from the same tables. A group without a value (for instance
without a pair of both classes) is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import ScoreLabelPair
from fastmetrics._core.exchange.group_reduction import GroupAccumulators, GroupReduction, StateKey, reduce_groups
from fastmetrics._core.exchange.hash_exchange import HashExchange
from fastmetrics._core.registry import Metric
from fastmetrics._core.statistic import Statistic

# By direction: maps a value to a number that is greater for better values.
UTILITY: dict[str, Callable[[Any], Any]] = {
    "maximize": lambda value: value,
    "minimize": lambda value: -value,
    "closest_to_one": lambda value: -abs(value - 1),
    "closest_to_zero": lambda value: -abs(value),
}
# Values of groups lie in 0..1. Two sums in different order may differ by so much.
NEGLIGIBLE = 1e-12


class WinCounts:
    """The number of units in which a model is better than the baseline, worse, and equally good."""

    __slots__ = ("lost", "tied", "won")

    def __init__(self, won: int = 0, lost: int = 0, tied: int = 0) -> None:
        self.won = won
        self.lost = lost
        self.tied = tied

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


class GroupValues(Statistic):
    """Takes the place of a statistic if the values of single groups are needed, not their sum."""

    __slots__ = ("direction", "statistic")

    def __init__(self, statistic: Any, direction: str) -> None:
        self.statistic = statistic
        self.direction = direction

    @property
    def table(self) -> Any:
        return self.statistic.table

    def __getattr__(self, name: str) -> Any:
        # Tables read the measures to compute from attributes of the statistic.
        if name in GroupValues.__slots__:
            raise AttributeError(name)
        return getattr(self.statistic, name)


class PairedGroupValues(GroupAccumulators):
    """Compares every table with that of the same groups under the baseline: the first pair of the same label."""

    def __init__(self, statistics: Sequence[GroupValues], pairs: Sequence[ScoreLabelPair]) -> None:
        super().__init__(statistics)
        first_pairs: dict[int, int] = {}
        self.baseline_of = [first_pairs.setdefault(pair.label, number) for number, pair in enumerate(pairs)]
        # The baseline's values of the latest groups, by pair and slice. Tables of all pairs have the same group order.
        self.baseline_values: dict[tuple[int, int | None], list[np.ndarray]] = {}

    def update(self, pair: int, slice_number: int | None, table: Any) -> None:
        values = [own.statistic.group_values(table) for own in self.statistics]
        baseline = self.baseline_of[pair]
        if pair == baseline:
            self.baseline_values[baseline, slice_number] = values
            return
        for own, before, after in zip(
            self.statistics, self.baseline_values[baseline, slice_number], values, strict=True
        ):
            wins = self.states.setdefault((own, pair, slice_number), WinCounts())
            wins.count(before, after, own.direction, NEGLIGIBLE)


def has_group_values(metric: Metric) -> bool:
    """Is the metric a mean of values of single groups?"""
    statistics = metric.statistics()
    return metric.spec.exchange == "hash" and len(statistics) == 1 and hasattr(statistics[0], "group_values")


def count_group_wins(
    exchange: HashExchange,
    metrics: Sequence[Metric],
    pairs: Sequence[ScoreLabelPair],
    by_slice: bool,
    n_threads: int,
) -> dict[StateKey, WinCounts]:
    """Groups won, lost and tied by (metric, pair, slice), for every pair except the first one of its label."""
    metrics_of: dict[GroupValues, list[Metric]] = {}
    by_table: dict[Any, dict[GroupValues, None]] = {}
    for metric in metrics:
        if has_group_values(metric) and metric.spec.direction in UTILITY:
            statistic = GroupValues(metric.statistics()[0], metric.spec.direction)
            metrics_of.setdefault(statistic, []).append(metric)
            by_table.setdefault(statistic.table, {})[statistic] = None
    win_counts: dict[StateKey, WinCounts] = {}
    for statistics in by_table.values():
        reduction = GroupReduction(list(statistics), pairs, by_slice, lambda own: PairedGroupValues(own, pairs))
        states: Any = reduce_groups(exchange, reduction, n_threads)
        for (statistic, pair, slice_number), wins in states.items():
            for metric in metrics_of[statistic]:
                win_counts[metric, pair, slice_number] = wins
    return win_counts
