"""Rows, positives and exact sums of probabilities by bin, shared by the calibration metrics and the plot.

Calibration metrics are ratios of counts and of exact sums, over rows or over bins of rows. Each ratio is rounded once.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.binary_probabilities import (
    BinaryColumns,
    kernel_sampling_rate,
)
from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.exact import DoubleDoubles
from fastmetrics._core.state import Field, Fields, ManySums, Sums, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic, ByUnit, StatesOfUnits
from fastmetrics._kernels.probability import losses

MAX_BINS = 10_000  # the exact sums of a bin take 1.7 kB
MAX_ROWS_PER_RUN = 1 << 32  # rows of one bin in losses.run_means


@cache
def bin_fields(n_bins: int, *others: str | Field) -> Fields:
    """Of every bin its rows and the positive ones, and exact sums."""
    sums = (exact_sum(name, n_bins) for name in ("w p", "w", "w y"))
    return Fields(Field("classes", length=2 * n_bins), "weighted", *others, *sums)


class ProbabilityBins(AdditiveStatistic):
    """Rows, positives and the sum of p of every bin; with weights the sums of w p, w and w y.

    If `edges` is None, the bin is floor(p * n_bins). Otherwise it is the first bin whose upper edge is not below p,
    with edges of equal width ("equal") or the given inner edges.
    """

    __slots__ = ("edges", "n_bins", "sampling_rate")

    def __init__(self, n_bins: int, sampling_rate: float | None = None, edges: Any = None) -> None:
        self.n_bins = n_bins
        self.sampling_rate = sampling_rate
        self.edges = edges

    @property
    def fields(self) -> Fields:
        return bin_fields(self.n_bins)

    def update(self, state: Sums, rows: Rows) -> None:
        if self.add_rows(state, rows):
            rows.raise_bad_probability()

    def add_rows(self, state: Sums, rows: Rows) -> bool:
        """Add rows to their bins, up to the first bad probability. Return whether there is one."""
        problem = np.zeros(1, np.int64)
        rule, edges = self.rule()
        probabilities, weights, positives = map(state.sums_of, ("w p", "w", "w y"))
        losses.calibration_terms(
            rows.labels, rows.scores, rows.weights, kernel_sampling_rate(self.sampling_rate), rule, edges,
            state.counts_of("classes").reshape(self.n_bins, 2), probabilities, weights, positives, problem,
        )  # fmt: skip
        if rows.weights is not None:
            state.set_flag("weighted")
        return bool(problem[0])

    def rule(self) -> tuple[int, np.ndarray | None]:
        """How the kernels find bins, and the inner edges that they need."""
        if self.edges is None:
            return losses.FLOOR, None
        return (losses.EQUAL, None) if isinstance(self.edges, str) else (losses.GIVEN, self.edges)

    def bin_sums(self, state: Sums) -> list[tuple[int, int, int]]:
        """Return (weight, weight of positives, sum of w p) of every bin, times 2**EXPONENT."""
        n = self.n_bins
        if state.count("weighted"):
            return [(state.integer("w", i), state.integer("w y", i), state.integer("w p", i)) for i in range(n)]
        counts = state.counts_of("classes").reshape(n, 2).tolist()
        unit = exact.EXPONENT
        return [(rows << unit, positive << unit, state.integer("w p", i)) for i, (rows, positive) in enumerate(counts)]

    def sums_of_many(self, states: ManySums) -> tuple[list[DoubleDoubles], ...]:
        """The weight, the sum of w p and the weight of positives of every bin, of many states."""
        bins = range(self.n_bins)
        predicted = [states.number("w p", i) for i in bins]
        if states.is_set("weighted"):
            return [states.number("w", i) for i in bins], predicted, [states.number("w y", i) for i in bins]
        rows, positives = ([states.number("classes", 2 * i + k) for i in bins] for k in range(2))
        return rows, predicted, positives


class CalibrationBins(ByUnit, ProbabilityBins):
    """Bins that are also added to the states of many units at once."""

    __slots__ = ()

    def update_units(self, states: StatesOfUnits, rows: Rows, numbers: np.ndarray) -> None:
        n = rows.scores.shape[0]
        probabilities, bins = np.empty(n), np.empty(n, np.uint16)
        rate = kernel_sampling_rate(self.sampling_rate)
        if not losses.write_bins(rows.scores, rate, *self.rule(), self.n_bins, probabilities, bins):
            rows.raise_bad_probability()
        positives = np.flatnonzero(rows.labels)
        of_positives, their_bins = numbers[positives], bins[positives]
        states.count(numbers, 2 * bins)
        states.count(of_positives, 2 * their_bins + np.uint16(1))
        if rows.weights is not None:
            states.set_flag("weighted")
            probabilities *= rows.weights
            states.add(rows.weights, numbers, "w", bins)
            states.add(rows.weights[positives], of_positives, "w y", their_bins)
        states.add(probabilities, numbers, "w p", bins)


def correct_rows(rows: BinaryColumns, sampling_rate: float | None) -> BinaryColumns:
    """Return columns with probabilities corrected for the sampling rate; unchanged without a rate."""
    rate = kernel_sampling_rate(sampling_rate)
    if not rate:
        return rows
    scores = np.empty(rows.scores.shape[0], np.float64)
    if not losses.correct_probabilities(rows.scores, rate, scores):
        validation.raise_bad_probability(rows.scores, rows.name)
    return rows._replace(scores=scores)
