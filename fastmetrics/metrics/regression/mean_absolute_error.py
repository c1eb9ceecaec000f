"""Mean absolute error."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression.mean_error import mean_error

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import Floats, NumericArrayLike
    from fastmetrics._core.types.options import MeanOutput, MultiOutput, RawOutput

__all__ = ["mean_absolute_error"]


@overload
def mean_absolute_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: RawOutput, n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def mean_absolute_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: MeanOutput | NumericArrayLike = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@mean_error("mae", "Mean absolute error.", errors.ABSOLUTE, aliases=("mean_absolute_error", "l1", "regression_l1"))
def mean_absolute_error(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    multioutput: MultiOutput | NumericArrayLike = "uniform_average",
    n_threads: int | None = None,
) -> float | Floats:
    """The mean of absolute errors.

    MAE = sum_i w_i |y_i - p_i| / sum_i w_i (Willmott and Matsuura, Clim. Res. 30, 2005).

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
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

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
    >>> fm.mean_absolute_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.5
    """
