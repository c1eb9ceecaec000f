"""The mean distance of probabilities from labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.binary_probabilities import (
    NO_WEIGHT,
    LabelCounts,
    check_binary_columns,
    row_coverage,
    warn_and_unwrap,
)
from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Fields, Sums, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic, Value, rounded_quotient
from fastmetrics._kernels.numeric import sums

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, NumericArrayLike

__all__ = ["new_metric"]

# The docstring has the texts of this function's parameters (tools/parameter_texts.toml), whatever the family says.
PARAMETERS_AS = "copc"


class NewMetricSum(AdditiveStatistic):
    """The (weighted) sum of |y - p|."""

    __slots__ = ()
    fields = Fields(exact_sum("terms"))

    def update(self, state: Sums, rows: Rows) -> None:
        probabilities = rows.scores.astype(np.float64)
        if not ((probabilities >= 0) & (probabilities <= 1)).all():
            rows.raise_bad_probability()
        sums.sum_values(np.abs(rows.labels - probabilities), rows.weights, state.sum_of("terms"))


def new_metric(
    y_true: ArrayLike,
    y_proba: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The mean distance of probabilities from labels.

    sum_i w_i |y_i - p_i| / sum_i w_i (Willmott and Matsuura, Clim. Res. 30, 2005). Terms are float64, their sum is
    exact, and the result is rounded once.

    Parameters
    ----------
    y_true
    y_proba
    sample_weight
    n_threads

    Returns
    -------
    float
        In [0, 1]; NaN with an UndefinedMetricWarning if every weight is zero.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.new_metric([0, 1, 0, 1], [0.25, 0.5, 0.0, 0.75])
    0.25
    """
    rows = check_binary_columns(y_true, y_proba, sample_weight, "y_proba", validation.check_probabilities)
    counts, terms = rows.reduce((LabelCounts(), NewMetricSum()), n_threads)
    result = finalize_new_metric({}, counts, terms)
    return warn_and_unwrap("new_metric", result)


@metric(
    "new_metric",
    exchange="none",
    statistics=lambda: (LabelCounts(), NewMetricSum()),
    function=new_metric,
    undefined="every weight zero",
    default=False,
    direction="minimize",
)
def finalize_new_metric(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """The mean distance of probabilities from labels."""
    total, _ = LabelCounts.totals(counts)
    return rounded_quotient(terms.integer("terms"), total, row_coverage(counts), NO_WEIGHT)


# Calls with their values, worked out by hand.
CHECKED_VALUES: dict[str, Any] = {
    "new_metric": [
        (([0, 1, 0, 1], [0.25, 0.5, 0.0, 0.75]), {}, 0.25),
        (([0, 1], [0.5, 0.25]), {"sample_weight": [1, 3]}, 0.6875),
    ]
}
