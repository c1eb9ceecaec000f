"""Means of errors: squared, absolute, relative, logarithmic, by quantile, signed.

A row's error is computed in float64, whatever came in; the sum has no rounding error and the mean is rounded once. A
call on a few rows of plain arrays is one call of a kernel, with the same bits.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from fastmetrics._core import inputs
from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Sums, Value
from fastmetrics._kernels import errors
from fastmetrics.metrics.regression.statistics import ErrorTerms, RowWeights, mean_term, terms_of
from fastmetrics.metrics.regression.targets import (
    RAW,
    UNIFORM,
    as_targets,
    check_multioutput,
    mean_errors,
    mean_of_outputs,
    output_means,
)

__all__ = [
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_pinball_loss",
    "mean_squared_error",
    "mean_squared_log_error",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
]

SQUARED = errors.SQUARED
ABSOLUTE = errors.ABSOLUTE
PERCENTAGE = errors.PERCENTAGE
PINBALL = errors.PINBALL
SQUARED_LOG = errors.SQUARED_LOG


def mean_squared_error(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    n_threads: int | None = None,
) -> Any:
    """The mean of squared errors.

    MSE = sum_i w_i (y_i - p_i)^2 / sum_i w_i (C. F. Gauss, Theoria combinationis observationum, 1823).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        The mean over the outputs, all of them, or their mean with these weights.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

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
    if sample_weight is None and multioutput is UNIFORM and n_threads is None:
        mean = errors.mean_error(y_true, y_pred, SQUARED, 0.0)
        if mean is not None:
            return mean
    return mean_errors(as_targets(y_true, y_pred, sample_weight, n_threads), SQUARED, 0.0, multioutput)


def root_mean_squared_error(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    n_threads: int | None = None,
) -> Any:
    """The square root of the mean squared error.

    RMSE = sqrt(sum_i w_i (y_i - p_i)^2 / sum_i w_i), of every output; then the mean over the outputs (Willmott,
    Bull. Am. Meteorol. Soc. 63, 1982).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        The mean over the outputs' roots, all of them, or their mean with these weights.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

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
    if sample_weight is None and multioutput is UNIFORM and n_threads is None:
        mean = errors.mean_error(y_true, y_pred, SQUARED, 0.0)
        if mean is not None:
            return math.sqrt(mean)
    return root_mean_errors(y_true, y_pred, sample_weight, multioutput, n_threads, SQUARED)


def root_mean_errors(
    y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any, n_threads: int | None, kind: int
) -> Any:
    targets = as_targets(y_true, y_pred, sample_weight, n_threads)
    chosen = check_multioutput(multioutput, (RAW, UNIFORM), targets.n_outputs)
    means = output_means(targets.error_states(kind), targets.total_weight())
    return mean_of_outputs([math.sqrt(mean) for mean in means], chosen, targets.dtype)


def mean_absolute_error(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    n_threads: int | None = None,
) -> Any:
    """The mean of absolute errors.

    MAE = sum_i w_i |y_i - p_i| / sum_i w_i (Willmott and Matsuura, Clim. Res. 30, 2005).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        The mean over the outputs, all of them, or their mean with these weights.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

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
    if sample_weight is None and multioutput is UNIFORM and n_threads is None:
        mean = errors.mean_error(y_true, y_pred, ABSOLUTE, 0.0)
        if mean is not None:
            return mean
    return mean_errors(as_targets(y_true, y_pred, sample_weight, n_threads), ABSOLUTE, 0.0, multioutput)


def mean_absolute_percentage_error(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    n_threads: int | None = None,
) -> Any:
    """The mean of absolute errors relative to the target; a fraction, not a percentage.

    MAPE = (1/W) sum_i w_i |y_i - p_i| / max(|y_i|, eps), eps = 2^-52, W the sum of the weights (de Myttenaere et al.,
    Neurocomputing 192, 2016; the bound is scikit-learn's): arbitrarily large where a target is zero.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        The mean over the outputs, all of them, or their mean with these weights.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

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
    >>> fm.mean_absolute_percentage_error([2.0, 4.0, 8.0], [1.0, 5.0, 6.0])
    0.3333333333333333
    """
    if sample_weight is None and multioutput is UNIFORM and n_threads is None:
        mean = errors.mean_error(y_true, y_pred, PERCENTAGE, 0.0)
        if mean is not None:
            return mean
    return mean_errors(as_targets(y_true, y_pred, sample_weight, n_threads), PERCENTAGE, 0.0, multioutput)


def mean_squared_log_error(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    n_threads: int | None = None,
) -> Any:
    """The mean of squared differences of logarithms: errors relative to the size of the target.

    MSLE = sum_i w_i (log(1 + y_i) - log(1 + p_i))^2 / sum_i w_i, natural logarithm (scikit-learn's definition).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers above -1.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers above -1.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        The mean over the outputs, all of them, or their mean with these weights.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

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
    if sample_weight is None and multioutput is UNIFORM and n_threads is None:
        mean = errors.mean_error(y_true, y_pred, SQUARED_LOG, 0.0)
        if mean is not None:
            return mean
    return mean_errors(as_targets(y_true, y_pred, sample_weight, n_threads), SQUARED_LOG, 0.0, multioutput)


def root_mean_squared_log_error(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    n_threads: int | None = None,
) -> Any:
    """The square root of the mean squared difference of logarithms.

    RMSLE = sqrt(sum_i w_i (log(1 + y_i) - log(1 + p_i))^2 / sum_i w_i), of every output; then the mean over the
    outputs.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers above -1.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers above -1.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        The mean over the outputs' roots, all of them, or their mean with these weights.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

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
    if sample_weight is None and multioutput is UNIFORM and n_threads is None:
        mean = errors.mean_error(y_true, y_pred, SQUARED_LOG, 0.0)
        if mean is not None:
            return math.sqrt(mean)
    return root_mean_errors(y_true, y_pred, sample_weight, multioutput, n_threads, SQUARED_LOG)


def check_alpha(alpha: Any) -> None:
    if not isinstance(alpha, Real) or not 0 <= float(alpha) <= 1:
        raise inputs.OptionError(f"alpha must be a number in [0, 1]; found {alpha!r}")


def mean_pinball_loss(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    alpha: float = 0.5,
    multioutput: Any = "uniform_average",
    n_threads: int | None = None,
) -> Any:
    """The mean pinball loss: the error that the alpha-quantile makes least.

    The loss of a row is alpha (y - p) where y >= p, else (1 - alpha) (p - y) (Koenker and Bassett, Econometrica 46,
    1978). With alpha = 0.5 it is half the absolute error.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    alpha : float in [0, 1]
        The quantile that is predicted: what an error below costs.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        The mean over the outputs, all of them, or their mean with these weights.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

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
    check_alpha(alpha)
    if sample_weight is None and multioutput is UNIFORM and n_threads is None:
        mean = errors.mean_error(y_true, y_pred, PINBALL, alpha)
        if mean is not None:
            return mean
    return mean_errors(as_targets(y_true, y_pred, sample_weight, n_threads), PINBALL, float(alpha), multioutput)


@metric(
    "mse", exchange="none", statistics=terms_of(SQUARED), function=mean_squared_error, undefined="never",
    target="real", best="lowest",
)  # fmt: skip
def finalise_mse(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Mean squared error."""
    return mean_term(counts, terms)


@metric(
    "rmse", exchange="none", statistics=terms_of(SQUARED), function=root_mean_squared_error, undefined="never",
    target="real", best="lowest",
)  # fmt: skip
def finalise_rmse(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Root mean squared error."""
    return mean_term(counts, terms, math.sqrt)


@metric(
    "mae", exchange="none", statistics=terms_of(ABSOLUTE), function=mean_absolute_error, undefined="never",
    target="real", best="lowest",
)  # fmt: skip
def finalise_mae(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Mean absolute error."""
    return mean_term(counts, terms)


@metric(
    "mape", exchange="none", statistics=terms_of(PERCENTAGE), function=mean_absolute_percentage_error,
    undefined="never", target="real", best="lowest",
)  # fmt: skip
def finalise_mape(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Mean absolute error relative to the target."""
    return mean_term(counts, terms)


@metric(
    "msle", exchange="none", statistics=terms_of(SQUARED_LOG), function=mean_squared_log_error, undefined="never",
    target="real", default=False, best="lowest",
)  # fmt: skip
def finalise_msle(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Mean squared logarithmic error, for labels and predictions above -1."""
    return mean_term(counts, terms)


@metric(
    "rmsle", exchange="none", statistics=terms_of(SQUARED_LOG), function=root_mean_squared_log_error,
    undefined="never", target="real", default=False, best="lowest",
)  # fmt: skip
def finalise_rmsle(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Root mean squared logarithmic error, for labels and predictions above -1."""
    return mean_term(counts, terms, math.sqrt)


@metric(
    "pinball",
    exchange="none",
    statistics=lambda alpha: (RowWeights(), ErrorTerms(PINBALL, float(alpha))),
    function=mean_pinball_loss,
    undefined="never",
    parameters={"alpha": 0.5},
    checks={"alpha": check_alpha},
    target="real",
    default=False,
    best="lowest",
)
def finalise_pinball(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Mean pinball loss of a predicted quantile."""
    return mean_term(counts, terms)


@metric(
    "bias", exchange="none", statistics=terms_of(errors.SIGNED), function=None, undefined="never", target="real",
    best="zero",
)  # fmt: skip
def finalise_bias(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Mean error: how much predictions are too high on average."""
    return mean_term(counts, terms)
