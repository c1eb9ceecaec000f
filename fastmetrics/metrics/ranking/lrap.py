"""Label ranking in the engine: a set of labels and the scores of all labels in each row, both in columns of lists.

The value of a row is computed once, with the kernel of the functions. Sums over rows are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core.columns.label_columns import NUMBERS, LabelSets
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, NonNumericRows
from fastmetrics._core.columns.vector_columns import check_labels, format_labels, label_positions
from fastmetrics._core.kinds import LABEL_ROLE, SCORE_ROLE, LabelSet, Vector
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Fields, Sums, exact_sum
from fastmetrics._core.statistic import ColumnStatistic, Value, many_quotients, rounded_quotient
from fastmetrics._kernels.numeric import sums
from fastmetrics._kernels.ranking import label_ranking as kernel
from fastmetrics.metrics.ranking import label_ranking
from fastmetrics.metrics.ranking.label_ranking import NO_KEYS

ROLES = {LABEL_ROLE: LabelSet(), SCORE_ROLE: Vector(finite=False)}
NO_ROWS = "no rows"


class LabelRanking(ColumnStatistic):
    """The sum of a measure of each row, and that of the weights. `labels` are those of the scores, in their order."""

    __slots__ = ("labels", "measure")
    fields = Fields("rows", exact_sum("w value"), exact_sum("w"))

    def __init__(self, measure: int, labels: tuple[Any, ...] | None) -> None:
        self.measure = measure
        self.labels = labels

    def empty(self) -> Sums:
        return Sums(self.fields)

    def count_rows(self, rows: NonNumericRows) -> np.ndarray:
        """The value and the weight of each row, as bits: int64[n, 2]."""
        scores = rows.score.matrix
        positions = self.find_labels(rows, scores.shape[1])
        values = measure_rows(rows.label, positions, scores, self.measure)
        weights = np.ones(rows.label.rows) if rows.weights is None else rows.weights
        return np.stack((values.view(np.int64), weights.view(np.int64)), axis=1)

    def add(self, state: Sums, counted: np.ndarray) -> None:
        values, weights = (np.ascontiguousarray(column).view(np.float64) for column in counted.T)
        state.add_count("rows", values.shape[0])
        sums.sum_values(values, weights, state.sum_of("w value"))
        sums.sum_values(weights, None, state.sum_of("w"))

    def find_labels(self, rows: NonNumericRows, n_labels: int) -> np.ndarray:
        """The position of each label among the scores of a row."""
        sets: LabelSets = rows.label
        if self.labels is not None and len(self.labels) != n_labels:
            raise ValueError(
                f"{rows.name} has {n_labels} scores in a row, and labels={format_labels(self.labels)} are "
                f"{len(self.labels)}"
            )
        if self.labels is None and sets.type_name not in ("", *NUMBERS):
            raise ValueError(
                f"{rows.label_name} has labels of type {sets.type_name}: name them in the order of the scores, "
                "lrap(labels=[a, b, ...])"
            )
        positions = label_positions(sets.labels, self.labels, n_labels)
        bad = np.concatenate(([0], np.cumsum(positions < 0)))
        has_bad = bad[sets.stops] > bad[sets.starts]
        if has_bad.any():
            row = int(has_bad.argmax())
            number = rows.first_row + (row if rows.row_numbers is None else int(rows.row_numbers[row]))
            known = f"0 to {n_labels - 1}" if self.labels is None else format_labels(self.labels)
            raise ValueError(f"{rows.label_name} has a label without a score at row {number}: labels are {known}")
        return positions


def measure_rows(sets: LabelSets, positions: np.ndarray, scores: np.ndarray, measure: int) -> np.ndarray:
    """The measure of every row, a block of rows at a time: labels become a matrix of 0 and 1."""
    rows, n_labels = scores.shape
    values, problem = np.empty(rows), np.zeros(1, np.int64)
    keys = np.empty(3 * n_labels, np.uint64) if n_labels > kernel.MOST_COMPARED_LABELS else NO_KEYS
    size = max(1, BLOCK_ROWS // n_labels)
    for start in range(0, rows, size):
        stop = min(rows, start + size)
        lengths = sets.stops[start:stop] - sets.starts[start:stop]
        ends = np.cumsum(lengths)
        where = np.arange(lengths.sum()) + np.repeat(sets.starts[start:stop] - ends + lengths, lengths)
        block = np.zeros((stop - start, n_labels), np.uint8)
        block[np.repeat(np.arange(stop - start), lengths), positions[where]] = 1
        kernel.measure_rows(scores, block.reshape(-1), start, stop, measure, keys, values, problem)
    return values


def mean_value(parameters: dict[str, Any], state: Any) -> tuple[Any, Any]:
    """The weighted sum of the values, and of the weights, of a state or of many."""
    return state.number("w value"), state.number("w")


def register(
    name: str,
    summary: str,
    function: Callable[..., float],
    measure: int,
    direction: str,
    scale: str = "mean",
    **names: Any,
) -> None:
    """Register the mean of a measure over rows."""

    def finalize(options: dict[str, Any], state: Sums) -> Value:
        return rounded_quotient(*mean_value(options, state), {"rows": state.count("rows")}, NO_ROWS)

    finalize.__doc__ = summary
    metric(
        name,
        exchange="none",
        roles=ROLES,
        statistics=lambda labels: (LabelRanking(measure, labels),),
        function=function,
        undefined=NO_ROWS,
        parameters={"labels": None},
        checks={"labels": check_labels},
        default=False,
        direction=direction,
        scale=scale,
        many=many_quotients(mean_value),
        **names,
    )(finalize)


register(
    "lrap",
    "Label ranking average precision: the share of a row's labels among those that score at least as high, averaged.",
    label_ranking.label_ranking_average_precision_score,
    kernel.PRECISION,
    "maximize",
    aliases=("label_ranking_average_precision_score", "label_ranking_average_precision"),
    near_names={"lwlrap": "it averages over labels, and 'lrap' over rows: write 'lrap'"},
)
register(
    "ranking_loss",
    "The share of pairs of a row's label and another one that are in the wrong order, averaged over rows.",
    label_ranking.label_ranking_loss,
    kernel.LOSS,
    "minimize",
    aliases=("label_ranking_loss",),
)
register(
    "coverage_error",
    "How many labels, highest scores first, cover the labels of a row, averaged over rows.",
    label_ranking.coverage_error,
    kernel.COVERAGE,
    "minimize",
    scale="ratio",
)
