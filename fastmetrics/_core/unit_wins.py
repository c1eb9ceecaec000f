"""Which units (days, users) one model does better in than another, by a metric that is a sum over rows.

A unit's own value is what the metric's finaliser makes of the unit's state. Where every lot is a unit, that state is
what resampling weighs; so units are counted only while there are few enough of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from fastmetrics._core.blocks import BlockStore
from fastmetrics._core.group_wins import GOODNESS, Wins
from fastmetrics._core.lots import HASH_BITS, Lots
from fastmetrics._core.parallel import for_each
from fastmetrics._core.registry import Metric
from fastmetrics._core.replicates import LOADED_BYTES, RowPlan, row_names, runs_of_rows, sample_run, state_of
from fastmetrics._core.rows import Scratch
from fastmetrics._core.statistic import State
from fastmetrics._kernels import sums

Key = tuple[Metric, int, int | None]


class UnitSums:
    """The state of every unit, in the place of the replicates' states."""

    def __init__(self, statistic: Any) -> None:
        template = statistic.new()
        self.n_counts = int(template.counts.shape[0])
        self.width = self.n_counts + int(template.exact.size)
        self.rows: dict[int, np.ndarray] = {}

    def add(self, weights: Any, numbers: np.ndarray, values: np.ndarray) -> None:
        for number, own in zip(numbers.tolist(), values, strict=True):
            if number in self.rows:
                self.rows[number] += own
            else:
                self.rows[number] = own.copy()

    def state(self, number: int) -> State:
        state = state_of(self.rows[number], self.n_counts)
        for limbs in state.exact:
            sums.carry(limbs)
        return state
