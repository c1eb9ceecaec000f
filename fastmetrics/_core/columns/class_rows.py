"""The rows that metrics of probabilities of several classes share: how many there are, and what they weigh."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.state import Fields, ManySums, Sums, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic
from fastmetrics._kernels.numeric import sums


class ClassRows(AdditiveStatistic):
    """Rows, their probabilities (one for each class), and their weight if rows have weights."""

    __slots__ = ()
    fields = Fields("rows", "probabilities", "weighted", exact_sum("weight"))
    sums_weights = True

    def update(self, state: Sums, rows: Rows) -> None:
        state.add_count("rows", rows.scores.shape[0])
        state.add_count("probabilities", rows.scores.size)
        self.weigh(state, rows.weights)

    def weigh(self, state: Sums, weights: np.ndarray | None) -> None:
        if weights is not None:
            state.set_flag("weighted")
            sums.sum_values(weights, None, state.sum_of("weight"))

    @staticmethod
    def total(state: Sums | ManySums) -> Any:
        """The weight of all rows, as `number` gives it. Without weights every row has weight 1."""
        return state.number("weight" if state.is_set("weighted") else "rows")

    @staticmethod
    def n_classes(state: Sums) -> int:
        """The number of classes; 0 without rows."""
        return state.count("probabilities") // max(1, state.count("rows"))

    @staticmethod
    def coverage(state: Sums) -> dict[str, Any]:
        return {"rows": state.count("rows"), "classes": ClassRows.n_classes(state)}
