"""Which groups one model does better in than another: their values under both, compared one by one.

The values are those that metrics by group are means of, from the same tables; of a group that has none (no pair of both
classes, say) nothing is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.by_group import GroupExchange
from fastmetrics._core.group_runs import GroupPlan, GroupStates, Key, reduce_groups
from fastmetrics._core.registry import Metric
from fastmetrics._core.rows import View
from fastmetrics._core.statistic import Statistic

# How good a value is, by what the best one is: of two values the better has the greater goodness.
GOODNESS: dict[str, Callable[[Any], Any]] = {
    "highest": lambda value: value,
    "lowest": lambda value: -value,
    "one": lambda value: -abs(value - 1),
    "zero": lambda value: -abs(value),
}
NEGLIGIBLE = 1e-12  # of the values of groups, in 0..1: what two sums in another order may differ by


class Wins:
    """Units that did better, worse, and the same under another model than under the baseline."""

    __slots__ = ("lost", "tied", "won")

    def __init__(self, won: int = 0, lost: int = 0, tied: int = 0) -> None:
        self.won = won
        self.lost = lost
        self.tied = tied

    def count(self, first: np.ndarray, second: np.ndarray, best: str, negligible: float = 0.0) -> None:
        """Compare the values of units under the baseline with those under the other; NaN under either is no unit."""
        goodness = GOODNESS[best]
        before, after = goodness(first), goodness(second)
        self.won += int(np.count_nonzero(after > before + negligible))
        self.lost += int(np.count_nonzero(after < before - negligible))
        self.tied += int(np.count_nonzero((after <= before + negligible) & (after >= before - negligible)))

    def merge(self, other: Wins) -> None:
        self.won += other.won
        self.lost += other.lost
        self.tied += other.tied


class GroupValues(Statistic):
    """Stands for a metric where its values of single groups are wanted, not their sum."""

    __slots__ = ("best", "statistic")

    def __init__(self, statistic: Any, best: str) -> None:
        self.statistic = statistic
        self.best = best

    @property
    def table(self) -> Any:
        return self.statistic.table

    def __getattr__(self, name: str) -> Any:
        # Tables ask statistics for what they have to measure.
        if name in GroupValues.__slots__:
            raise AttributeError(name)
        return getattr(self.statistic, name)


class PairedGroups(GroupStates):
    """Compares every table with that of the same groups under the baseline: the first view of the same label."""

    def __init__(self, statistics: Sequence[GroupValues], views: Sequence[View]) -> None:
        super().__init__(statistics)
        firsts: dict[int, int] = {}
        self.baseline = [firsts.setdefault(view.label, number) for number, view in enumerate(views)]
        # Values of the groups that came last, by label and slice: a table has those of all views in the same order.
        self.last: dict[tuple[int, int | None], list[np.ndarray]] = {}

    def update(self, view: int, slice_number: int | None, table: Any) -> None:
        values = [own.statistic.group_values(table) for own in self.statistics]
        first = self.baseline[view]
        if view == first:
            self.last[first, slice_number] = values
            return
        for own, before, after in zip(self.statistics, self.last[first, slice_number], values, strict=True):
            wins: Any = self.sums.setdefault((own, view, slice_number), Wins())  # type: ignore[arg-type]
            wins.count(before, after, own.best, NEGLIGIBLE)


def has_group_values(metric: Metric) -> bool:
    """Is the metric a mean of values that single groups have?"""
    statistics = metric.statistics()
    return metric.spec.exchange == "group" and len(statistics) == 1 and hasattr(statistics[0], "group_values")


def count_group_wins(
    exchange: GroupExchange, metrics: Sequence[Metric], views: Sequence[View], by_slice: bool, n_threads: int
) -> dict[Key, Wins]:
    """Groups won, lost and tied by (metric, view, slice), of every view but the first of its label."""
    named: dict[GroupValues, list[Metric]] = {}
    tables: dict[Any, dict[GroupValues, None]] = {}
    for metric in metrics:
        if has_group_values(metric) and metric.spec.best in GOODNESS:
            own = GroupValues(metric.statistics()[0], metric.spec.best)
            named.setdefault(own, []).append(metric)
            tables.setdefault(own.table, {})[own] = None
    found: dict[Key, Wins] = {}
    for statistics in tables.values():
        plan = GroupPlan(list(statistics), views, by_slice, lambda own: PairedGroups(own, views))
        wins: Any = reduce_groups(exchange, plan, n_threads)
        for (own, view, number), counted in wins.items():
            for metric in named[own]:
                found[metric, view, number] = counted
    return found
