"""The rows that metrics of probabilities of several classes share: how many there are, and what they weigh."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.statistic import Sums, SumStatistic
from fastmetrics._kernels.numeric import sums


class ClassRows(SumStatistic):
    """Rows, their probabilities (one for each class), and their weight if rows have weights."""

    sums_size = 3, 1
    weights_place = 2, 0

    def update(self, state: Sums, rows: Rows) -> None:
        state.counts[0] += rows.scores.shape[0]
        state.counts[1] += rows.scores.size
        self.weigh(state, rows.weights)

    def weigh(self, state: Sums, weights: np.ndarray | None) -> None:
        if weights is not None:
            state.counts[2] = 1
            sums.sum_values(weights, None, state.exact[0])

    @staticmethod
    def total(state: Sums) -> int:
        """The weight of all rows, times 2**EXPONENT. Without weights every row has weight 1."""
        return state.integer(0) if state.count(2) else state.count(0) << exact.EXPONENT

    @staticmethod
    def n_classes(state: Sums) -> int:
        """The number of classes; 0 without rows."""
        return state.count(1) // max(1, state.count(0))

    @staticmethod
    def coverage(state: Sums) -> dict[str, Any]:
        return {"rows": state.count(0), "classes": ClassRows.n_classes(state)}
