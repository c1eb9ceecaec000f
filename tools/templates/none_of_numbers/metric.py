"""The mean Huber loss of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.kinds import NUMBERS
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Fields, Sums, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic, Value
from fastmetrics._kernels.numeric import sums
from fastmetrics.metrics.regression.error_statistics import RowWeights, reduce_targets
from fastmetrics.metrics.regression.mean_error import finalize_mean_error
from fastmetrics.metrics.regression.numeric_targets import check_single_output

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike

__all__ = ["new_metric"]

# The docstring has the texts of this function's parameters (tools/parameter_texts.toml), whatever the family says.
PARAMETERS_AS = "max_error"


class NewMetricSum(AdditiveStatistic):
    """The (weighted) sum of Huber's loss: e^2 / 2 for an error of at most 1, |e| - 1/2 for a larger one."""

    __slots__ = ()
    fields = Fields(exact_sum("terms"))

    def update(self, state: Sums, rows: Rows) -> None:
        if not np.isfinite(rows.scores).all():
            rows.raise_bad_score()
        error = np.abs(rows.labels.astype(np.float64) - rows.scores.astype(np.float64))
        small = np.minimum(error, 1.0)
        sums.sum_values(small * small / 2 + (error - small), rows.weights, state.sum_of("terms"))


def new_metric(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The mean Huber loss of errors.

    sum_i w_i h(y_i - p_i) / sum_i w_i, with h(e) = e^2 / 2 if |e| <= 1, else |e| - 1/2 (Huber, Ann. Math. Statist. 35,
    1964). Terms are float64, their sum is exact, and the result is rounded once.

    Parameters
    ----------
    y_true
    y_pred
    sample_weight
    n_threads

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    ValueError
        NaN, infinity or null in any column, several outputs, lengths that differ, no rows, only weights of zero.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.new_metric([3, 2, 7, 1], [4, 2, 4.5, 1])
    0.625
    """
    targets = check_single_output(y_true, y_pred, sample_weight, n_threads, "new_metric")
    counts, terms = reduce_targets(targets, (RowWeights(), NewMetricSum()))
    return finalize_new_metric({}, counts, terms).value


@metric(
    "new_metric",
    exchange="none",
    statistics=lambda: (RowWeights(), NewMetricSum()),
    function=new_metric,
    undefined="never",
    default=False,
    roles=NUMBERS,
    direction="minimize",
)
def finalize_new_metric(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """The mean Huber loss of errors."""
    return finalize_mean_error(counts, terms)


# Calls with their values, worked out by hand.
CHECKED_VALUES: dict[str, Any] = {
    "new_metric": [
        (([3, 2, 7, 1], [4, 2, 4.5, 1]), {}, 0.625),
        (([0, 0], [1, 3]), {"sample_weight": [3, 1]}, 1.0),
    ]
}
