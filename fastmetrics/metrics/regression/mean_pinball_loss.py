"""Pinball loss (quantile loss): the error of a predicted quantile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.option_numbers import real_value
from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression.mean_error import mean_error

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import Floats, NumericArrayLike
    from fastmetrics._core.types.options import MeanOutput, MultiOutput, RawOutput

__all__ = ["mean_pinball_loss"]


def check_alpha(alpha: Any) -> None:
    if not 0 <= real_value(alpha) <= 1:
        raise validation.OptionError(f"alpha must be a number in [0, 1]; found {alpha!r}")


def pinball_term(alpha: Any) -> tuple[int, float]:
    check_alpha(alpha)
    return errors.PINBALL, float(alpha)


def mean_small_pinball_loss(y_true: np.ndarray, y_pred: np.ndarray, *, alpha: float = 0.5) -> float | None:
    check_alpha(alpha)
    return errors.try_mean_error(y_true, y_pred, errors.PINBALL, alpha)


@overload
def mean_pinball_loss(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    alpha: float = ..., multioutput: RawOutput, n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def mean_pinball_loss(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    alpha: float = ..., multioutput: MeanOutput | NumericArrayLike = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@mean_error(
    "pinball",
    "Mean pinball loss of a predicted quantile.",
    term=pinball_term,
    small=mean_small_pinball_loss,
    parameters={"alpha": 0.5},
    checks={"alpha": check_alpha},
    default=False,
    variants=("pinball(alpha=0.9)",),
    aliases=("mean_pinball_loss", "pinball_loss", "quantile_loss"),
)
def mean_pinball_loss(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    alpha: float = 0.5,
    multioutput: MultiOutput | NumericArrayLike = "uniform_average",
    n_threads: int | None = None,
) -> float | Floats:
    """The mean pinball loss: the error that the alpha-quantile minimizes.

    The loss of a row is alpha (y - p) if y >= p, else (1 - alpha) (p - y) (Koenker and Bassett, Econometrica 46,
    1978). With alpha = 0.5 it is half the absolute error.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    alpha : float in [0, 1]
        The predicted quantile. It is also the cost of one unit if the prediction is too low.
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
    >>> fm.mean_pinball_loss([1.0, 2.0, 3.0], [0.0, 2.0, 3.0], alpha=0.75)
    0.25
    """


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"mean_pinball_loss": ({}, {"alpha": 0.1})}
