"""Max error: the largest absolute error. Weights of rows say only which rows are absent: those of weight zero."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Rows, map_blocks
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.kinds import NUMBERS
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Fields, Sums, maximum
from fastmetrics._core.statistic import AdditiveStatistic, Value
from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression.error_statistics import RowWeights
from fastmetrics.metrics.regression.median_absolute_error import absolute_errors
from fastmetrics.metrics.regression.numeric_targets import (
    NO_WEIGHT,
    check_single_output,
    raise_bad_values,
)

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike

__all__ = ["max_error"]


@small_inputs(errors.try_max_error)
def max_error(y_true: NumericArrayLike, y_pred: NumericArrayLike, *, n_threads: int | None = None) -> float:
    """The largest absolute error.

    max_i |y_i - p_i|.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets: finite numbers.
    y_pred : array-like of shape (n,)
        Predictions: finite numbers.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    ValueError
        NaN, infinity or null in any column, several outputs, lengths that differ, no rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.max_error([3, 2, 7, 1], [4, 2, 7, 1])
    1.0
    """
    targets = check_single_output(y_true, y_pred, None, n_threads, "max_error")
    of_block = partial(errors.max_error_of_rows, targets.y_true, targets.y_pred)
    block_maxima = map_blocks(targets.rows, of_block, targets.threads)
    if min(block_maxima) < 0:
        raise_bad_values(targets.y_true, targets.y_pred, errors.INEXACT | errors.NOT_FINITE)
        # The kernel cannot tell integers of exactly 2**53 from larger ones. Here no integer is larger.
        return float(absolute_errors(targets).max())
    return max(block_maxima)


class LargestError(AdditiveStatistic):
    """The largest absolute error of the rows whose weight is not zero."""

    __slots__ = ()
    fields = Fields(maximum("error"))

    def update(self, state: Sums, rows: Rows) -> None:
        if not np.isfinite(rows.scores).all():
            rows.raise_bad_score()
        labels, scores = rows.labels, rows.scores
        if rows.weights is not None:
            labels, scores = labels[rows.weights > 0], scores[rows.weights > 0]
        state.add_maximum("error", errors.max_error_of_rows(labels, scores, 0, labels.shape[0]))


@metric(
    "max_error",
    exchange="none",
    roles=NUMBERS,
    statistics=lambda: (RowWeights(), LargestError()),
    function=max_error,
    undefined="never",
    default=False,
    direction="minimize",
    scale="nonnegative",
    no_interval="the greatest error is that of one row: more rows would have greater ones",
)
def finalize_max_error(parameters: dict[str, Any], counts: Sums, largest: Sums) -> Value:
    """The largest absolute error."""
    coverage = {"rows": counts.count("rows")}
    if RowWeights.total(counts) == 0:
        return Value(float("nan"), coverage, NO_WEIGHT)
    return Value(largest.maximum("error"), coverage)
