"""Mean squared error and its root.

All mean errors of this package work alike. The error of a row is computed in float64, whatever the input type. The sum
has no rounding error, and the mean is rounded once. A call on few rows of NumPy arrays is one call of a kernel
(`errors.try_mean_error`) with the same result bit for bit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core import exact
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression.error_statistics import mean_error_statistics, register_mean_error
from fastmetrics.metrics.regression.error_totals import ErrorTotals
from fastmetrics.metrics.regression.numeric_targets import check_targets
from fastmetrics.metrics.regression.output_averages import (
    RAW,
    UNIFORM,
    average_errors,
    average_outputs,
    check_multioutput,
)

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import Floats, NumericArrayLike
    from fastmetrics._core.types.options import MeanOutput, MultiOutput, RawOutput

__all__ = ["mean_squared_error", "root_mean_squared_error"]


def root_of_small_mean(y_true: np.ndarray, y_pred: np.ndarray, kind: int) -> float | None:
    """The root of the mean term of few rows; None if the general path is needed."""
    mean = errors.try_mean_error(y_true, y_pred, kind)
    return None if mean is None else math.sqrt(mean)


@overload
def mean_squared_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: RawOutput, n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def mean_squared_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: MeanOutput | NumericArrayLike = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@small_inputs(errors.try_mean_error, errors.SQUARED)
def mean_squared_error(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    multioutput: MultiOutput | NumericArrayLike = "uniform_average",
    n_threads: int | None = None,
) -> float | Floats:
    """The mean of squared errors.

    MSE = sum_i w_i (y_i - p_i)^2 / sum_i w_i (C. F. Gauss, Theoria combinationis observationum, 1823).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        Every output (column) has a value. "uniform_average": the mean of the values. "raw_values": an array of them.
        Weights: their mean with these weights.
    n_threads : int, optional
        Number of threads; by default the number of CPUs that the process may use. The result does not depend on it.

    Returns
    -------
    float or numpy.ndarray of shape (n_outputs,)
        At least 0; an array for "raw_values".

    Raises
    ------
    ValueError
        NaN, infinity or null in any column, shapes that differ, no rows, only weights of zero, a wrong option.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.mean_squared_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.375
    """
    return average_errors(check_targets(y_true, y_pred, sample_weight, n_threads), errors.SQUARED, 0.0, multioutput)


@overload
def root_mean_squared_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: RawOutput, n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def root_mean_squared_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: MeanOutput | NumericArrayLike = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@small_inputs(root_of_small_mean, errors.SQUARED)
def root_mean_squared_error(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    multioutput: MultiOutput | NumericArrayLike = "uniform_average",
    n_threads: int | None = None,
) -> float | Floats:
    """The square root of the mean squared error.

    RMSE = sqrt(sum_i w_i (y_i - p_i)^2 / sum_i w_i) for every output, then the mean over the outputs (Willmott,
    Bull. Am. Meteorol. Soc. 63, 1982).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        Every output (column) has a value. "uniform_average": the mean of the values. "raw_values": an array of them.
        Weights: their mean with these weights.
    n_threads : int, optional
        Number of threads; by default the number of CPUs that the process may use. The result does not depend on it.

    Returns
    -------
    float or numpy.ndarray of shape (n_outputs,)
        At least 0; an array for "raw_values".

    Raises
    ------
    ValueError
        NaN, infinity or null in any column, shapes that differ, no rows, only weights of zero, a wrong option.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.root_mean_squared_error([3, 5, 2, 7], [2, 6, 1, 8])
    1.0
    """
    return average_root_errors(y_true, y_pred, sample_weight, multioutput, n_threads, errors.SQUARED)


def average_root_errors(
    y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any, n_threads: int | None, kind: int
) -> float | NDArray[np.float64]:
    """Return the root of the mean error of every output, or a mean of these roots."""
    targets = check_targets(y_true, y_pred, sample_weight, n_threads)
    averaging = check_multioutput(multioutput, (RAW, UNIFORM), targets.n_outputs)
    if targets.n_outputs > 1:
        roots = np.sqrt(targets.double_double_totals(kind).means())
        uncertain = np.isnan(roots)
        if uncertain.any():
            roots[uncertain] = roots_of_totals(targets.outputs(uncertain, kind).error_totals(kind))
    else:
        roots = roots_of_totals(targets.error_totals(kind))
    return average_outputs(roots, averaging, targets.dtype)


def roots_of_totals(sums: ErrorTotals) -> np.ndarray:
    if sums.shift:  # the mean of the squares may be no double where its root is one
        return np.array([exact.divide_root(total, sums.weight) for total in sums.totals])
    roots: np.ndarray = np.sqrt(sums.means())
    return roots


register_mean_error(
    "mse",
    "Mean squared error.",
    mean_error_statistics(errors.SQUARED),
    mean_squared_error,
    of_squares=True,
    aliases=("mean_squared_error",),
)


register_mean_error(
    "rmse",
    "Root mean squared error.",
    mean_error_statistics(errors.SQUARED),
    root_mean_squared_error,
    math.sqrt,
    of_squares=True,
    aliases=("root_mean_squared_error",),
)
