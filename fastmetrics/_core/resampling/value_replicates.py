"""Replicates of the values of groups: every value is kept with its unit, and repeated replicate by replicate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.exchange.group_values import UnitValues, ValuesByGroup, WeightedValues
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.group_stat import WeightedSample


class ValueReplicates:
    """The values of groups in all replicates: a group's value occurs as often as the weight of its unit says."""

    def __init__(self, statistic: ValuesByGroup, replicates: int, budget: MemoryBudget | None = None) -> None:
        self.statistic = statistic
        self.replicates = replicates
        self.weights: Any = None
        self.values = UnitValues()
        self.values.limit_memory(budget)

    def add(self, weights: Any, unit_buckets: np.ndarray, table: Any) -> None:
        """Add the values of groups, whose unit buckets are given."""
        self.weights = weights
        values, value_weights, used = self.statistic.used_values(table)
        self.values.add(values, value_weights, unit_buckets[used])

    def merge(self, other: ValueReplicates) -> None:
        self.weights = self.weights or other.weights
        self.values.merge(other.values)

    def states(self) -> Iterator[WeightedSample]:
        """The values of every replicate."""
        if self.weights is None:
            return iter([WeightedValues()] * self.replicates)
        return self.values.replicates(self.weights.by_replicate())
