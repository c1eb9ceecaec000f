"""The Gini coefficient of exposure: do a few items take most of the places in the top k lists?

Items are counted over the first k rows of every group, by descending score. The coefficient is 0 if all items that
occur are shown equally often, and close to 1 if one takes nearly all places.

Gini, C. (1912). Variabilita e mutabilita. Of recommendations: Castells, P., Hurley, N. and Vargas, S. (2015). Novelty
and diversity in recommender systems. Recommender Systems Handbook, Springer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics.extend import Columns, GroupKeyStatistic, Key, Real, Value, divide, metric


class TopItems(GroupKeyStatistic):
    """How often each item is among the first k of a group. Of equal scores, the smaller item key comes first."""

    __slots__ = ("k",)

    def __init__(self, k: int) -> None:
        self.k = k

    def entries(self, groups: Columns) -> tuple[np.ndarray, np.ndarray]:
        starts = groups.starts
        sizes = np.diff(np.append(starts, groups.rows))
        ranks = np.arange(groups.rows) - np.repeat(starts, sizes)
        shown = np.flatnonzero(ranks < self.k)
        return shown, groups.item[shown]


@metric(
    "exposure_gini",
    exchange="hash",
    statistics=lambda k: (TopItems(k),),
    roles={"score": Real(), "item": Key()},
    cutoff="required",
    direction="minimize",
)
def exposure_gini(parameters: dict[str, Any], table: Any) -> Value:
    """Gini coefficient of exposure at k: how unequally the places of the lists are divided between items."""
    values, items = (column.tolist() for column in table.count_values())
    n = sum(items)
    if not n:
        return Value(float("nan"), {"items": 0}, "no group")
    # The sum of (2 i - n - 1) x_i over ascending counts x_i; equal counts together.
    weighted, seen = 0, 0
    for value, number in zip(values, items, strict=True):
        weighted += value * number * (2 * seen + number - n)
        seen += number
    shown = sum(value * number for value, number in zip(values, items, strict=True))
    return Value(divide(weighted, n * shown), {"items": n, "places": shown})
