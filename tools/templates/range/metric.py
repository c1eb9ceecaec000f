"""The greatest balanced accuracy that a threshold on the score can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.binary_probabilities import warn_and_unwrap
from fastmetrics._core.exact import divide
from fastmetrics._core.exchange.runs import ClassTotals, RangePosition, RangeState, RangeStatistic, Runs
from fastmetrics._core.exchange.sorted_rows import OrderedRows
from fastmetrics._core.registry import metric
from fastmetrics._core.score_statistics.pair_counts import pair_coverage, undefined_reason
from fastmetrics._core.statistic import Value

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, NumericArrayLike

__all__ = ["new_metric"]

# The docstring has the texts of this function's parameters (tools/parameter_texts.toml), whatever the family says.
PARAMETERS_AS = "gauc_score"


class NewMetricRuns(RangeStatistic):
    """The greatest TP * N - FP * P over all thresholds, for P positives and N negatives; 0 if all rows are rejected."""

    __slots__ = ()

    def find(self, runs: Runs, position: RangePosition) -> RangeState:
        greatest, _ = runs.extremes(position.totals.masses)
        return RangeState(runs.totals, greatest)

    def merge(self, higher: RangeState, lower: RangeState, totals: ClassTotals) -> RangeState:
        above = higher.totals.masses[1] * totals.masses[0] - higher.totals.masses[0] * totals.masses[1]
        return RangeState(higher.totals.plus(lower.totals), max(higher.found, above + lower.found))


def new_metric(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The greatest balanced accuracy that a threshold on the score can have.

    max over thresholds t of (TPR(t) + 1 - FPR(t)) / 2, where a row is accepted if its score is at least t; all rows may
    be rejected (Youden, Cancer 3, 1950). Rates are compared as integers, and the result is rounded once.

    Parameters
    ----------
    y_true
    y_score
    sample_weight
    n_threads

    Returns
    -------
    float
        In [0.5, 1]; NaN with an UndefinedMetricWarning if only one class is present.

    Raises
    ------
    ValueError
        NaN scores, invalid labels, different lengths, no rows or invalid weights; the message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.new_metric([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    rows = OrderedRows(validation.as_labels(y_true), validation.as_scores(y_score), sample_weight, n_threads)
    (state,) = rows.sweep(NewMetricRuns())
    result = finalize_new_metric({}, state)
    return warn_and_unwrap("new_metric", result)


@metric(
    "new_metric",
    exchange="range",
    statistics=lambda: (NewMetricRuns(),),
    function=new_metric,
    undefined="one class only",
    default=False,
)
def finalize_new_metric(parameters: dict[str, Any], state: RangeState) -> Value:
    """The greatest balanced accuracy that a threshold on the score can have."""
    coverage, reason = pair_coverage(*state.totals.rows), undefined_reason(*state.totals.rows)
    if reason:
        return Value(float("nan"), coverage, reason)
    negatives, positives = state.totals.masses
    return Value(divide(negatives * positives + state.found, 2 * negatives * positives), coverage)


# Calls with their values, worked out by hand.
CHECKED_VALUES: dict[str, Any] = {
    "new_metric": [
        (([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), {}, 0.75),
        (([0, 1, 0, 1], [1, 2, 3, 3]), {"sample_weight": [3, 1, 1, 1]}, 0.875),
    ]
}
