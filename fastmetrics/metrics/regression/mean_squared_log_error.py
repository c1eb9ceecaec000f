"""Mean squared logarithmic error and its root."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression.mean_error import mean_error

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import Floats, NumericArrayLike
    from fastmetrics._core.types.options import MeanOutput, MultiOutput, RawOutput

__all__ = ["mean_squared_log_error", "root_mean_squared_log_error"]


@overload
def mean_squared_log_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: RawOutput, n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def mean_squared_log_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: MeanOutput | NumericArrayLike = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@mean_error(
    "msle",
    "Mean squared logarithmic error, for labels and predictions above -1.",
    errors.SQUARED_LOG,
    of_squares=True,
    default=False,
    aliases=("mean_squared_log_error", "mean_squared_logarithmic_error"),
)
def mean_squared_log_error(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    multioutput: MultiOutput | NumericArrayLike = "uniform_average",
    n_threads: int | None = None,
) -> float | Floats:
    """The mean of squared differences of logarithms: an error relative to the size of the target.

    MSLE = sum_i w_i (log(1 + y_i) - log(1 + p_i))^2 / sum_i w_i, natural logarithm (scikit-learn's definition).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers above -1.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers above -1.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        Every output (column) has a value. "uniform_average": the mean of the values. "raw_values": an array of them.
        Weights: their mean with these weights.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or numpy.ndarray of shape (n_outputs,)
        At least 0; an array for "raw_values".

    Raises
    ------
    ValueError
        Numbers of -1 or below, NaN, infinity or null in any column, shapes that differ, no rows, only weights of zero,
        a wrong option.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.mean_squared_log_error([3, 5, 2.5, 7], [2.5, 5, 4, 8]), 6)
    0.03973
    """


@overload
def root_mean_squared_log_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: RawOutput, n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def root_mean_squared_log_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: MeanOutput | NumericArrayLike = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@mean_error(
    "rmsle",
    "Root mean squared logarithmic error, for labels and predictions above -1.",
    errors.SQUARED_LOG,
    root=True,
    of_squares=True,
    default=False,
    aliases=("root_mean_squared_log_error",),
)
def root_mean_squared_log_error(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    multioutput: MultiOutput | NumericArrayLike = "uniform_average",
    n_threads: int | None = None,
) -> float | Floats:
    """The square root of the mean squared difference of logarithms.

    RMSLE = sqrt(sum_i w_i (log(1 + y_i) - log(1 + p_i))^2 / sum_i w_i) for every output, then the mean over the
    outputs.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers above -1.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers above -1.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        Every output (column) has a value. "uniform_average": the mean of the values. "raw_values": an array of them.
        Weights: their mean with these weights.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or numpy.ndarray of shape (n_outputs,)
        At least 0; an array for "raw_values".

    Raises
    ------
    ValueError
        Numbers of -1 or below, NaN, infinity or null in any column, shapes that differ, no rows, only weights of zero,
        a wrong option.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.root_mean_squared_log_error([3, 5, 2.5, 7], [2.5, 5, 4, 8]), 6)
    0.199324
    """
