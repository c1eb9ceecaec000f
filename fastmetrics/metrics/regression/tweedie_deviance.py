"""Deviances of the Tweedie family: normal, Poisson, gamma and what lies between and beyond."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Sums, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import errors
from fastmetrics.metrics.regression.statistics import ErrorTerms, RowWeights, mean_term, terms_of
from fastmetrics.metrics.regression.targets import Targets, as_single, output_means, undefined

__all__ = ["d2_tweedie_score", "mean_gamma_deviance", "mean_poisson_deviance", "mean_tweedie_deviance"]

KINDS = {0.0: errors.SQUARED, 1.0: errors.POISSON, 2.0: errors.GAMMA}
TWEEDIE = errors.TWEEDIE


def check_power(power: Any) -> None:
    if not isinstance(power, Real) or math.isinf(power) or not (float(power) <= 0 or float(power) >= 1):
        raise inputs.OptionError(f"power must be a number of at most 0 or at least 1; found {power!r}")


def mean_of(targets: Targets, kind: int, power: float, judged: bool = False) -> float:
    (mean,) = output_means(targets.error_states(kind, power, judged), targets.total_weight())
    return mean


def mean_tweedie_deviance(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, power: float = 0, n_threads: int | None = None
) -> float:
    """The mean Tweedie deviance: the error that fits a variance proportional to a power of the mean.

    With power q, a row's deviance is (Jorgensen, J. R. Stat. Soc. B 49, 1987)

    - q = 0: (y - p)^2
    - q = 1: 2 (y log(y / p) - y + p), of Poisson
    - q = 2: 2 (log(p / y) + y / p - 1), of gamma
    - else: 2 (max(y, 0)^(2 - q) / ((1 - q) (2 - q)) - y p^(1 - q) / (1 - q) + p^(2 - q) / (2 - q))

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets: finite; at least 0 for a power in [1, 2), positive from 2 on.
    y_pred : array-like of shape (n,)
        Predictions: finite; positive but for a power of 0.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    power : float of at most 0, or at least 1
        0 is the squared error, 1 the Poisson, 2 the gamma, 3 the inverse Gaussian deviance.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0, up to the rounding of terms.

    Raises
    ------
    ValueError
        Numbers for which the deviance is not defined, NaN, infinity or null in any column, several outputs, lengths
        that differ, no rows, only weights of zero, a wrong power.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.mean_tweedie_deviance([2, 0, 1, 4], [0.5, 0.5, 2.0, 2.0], power=1), 6)
    1.426015
    """
    check_power(power)
    kind = KINDS.get(power, TWEEDIE)
    if sample_weight is None and n_threads is None:
        mean = errors.mean_error(y_true, y_pred, kind, power)
        if mean is not None:
            return mean
    return mean_of(as_single(y_true, y_pred, sample_weight, n_threads, "mean_tweedie_deviance"), kind, float(power))


def mean_poisson_deviance(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, n_threads: int | None = None
) -> float:
    """The mean Poisson deviance, the error of predicted counts.

    (1/W) sum_i 2 w_i (y_i log(y_i / p_i) - y_i + p_i), W the sum of the weights; 0 log 0 = 0 (McCullagh and Nelder,
    Generalized Linear Models, 1989).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets: finite, at least 0.
    y_pred : array-like of shape (n,)
        Predictions: finite, positive.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0, up to the rounding of terms.

    Raises
    ------
    ValueError
        Negative targets, predictions not above 0, NaN, infinity or null in any column, several outputs, lengths that
        differ, no rows, only weights of zero.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.mean_poisson_deviance([2, 0, 1, 4], [0.5, 0.5, 2.0, 2.0]), 6)
    1.426015
    """
    if sample_weight is None and n_threads is None:
        mean = errors.mean_error(y_true, y_pred, errors.POISSON, 1.0)
        if mean is not None:
            return mean
    targets = as_single(y_true, y_pred, sample_weight, n_threads, "mean_poisson_deviance")
    return mean_of(targets, errors.POISSON, 1.0)


def mean_gamma_deviance(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, n_threads: int | None = None
) -> float:
    """The mean gamma deviance, an error relative to the size of the target.

    (1/W) sum_i 2 w_i (log(p_i / y_i) + y_i / p_i - 1), W the sum of the weights (McCullagh and Nelder, Generalized
    Linear Models, 1989).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets: finite, positive.
    y_pred : array-like of shape (n,)
        Predictions: finite, positive.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0, up to the rounding of terms.

    Raises
    ------
    ValueError
        Targets or predictions not above 0, NaN, infinity or null in any column, several outputs, lengths that differ,
        no rows, only weights of zero.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.mean_gamma_deviance([2, 0.5, 1, 4], [0.5, 0.5, 2.0, 2.0]), 6)
    1.056853
    """
    if sample_weight is None and n_threads is None:
        mean = errors.mean_error(y_true, y_pred, errors.GAMMA, 2.0)
        if mean is not None:
            return mean
    targets = as_single(y_true, y_pred, sample_weight, n_threads, "mean_gamma_deviance")
    return mean_of(targets, errors.GAMMA, 2.0)


def d2_tweedie_score(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, power: float = 0, n_threads: int | None = None
) -> float:
    """The share of the Tweedie deviance that predictions explain: how much better they are than the targets' mean.

    D^2 = 1 - D(y, p) / D(y, m), D the mean deviance and m the weighted mean of the targets, rounded (Hastie, Tibshirani
    and Wainwright, Statistical Learning with Sparsity, 2015, eq. 3.11).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets: finite; at least 0 for a power in [1, 2), positive from 2 on.
    y_pred : array-like of shape (n,)
        Predictions: finite; positive but for a power of 0.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    power : float of at most 0, or at least 1
        0 is the squared error, 1 the Poisson, 2 the gamma, 3 the inverse Gaussian deviance.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At most 1. NaN with an UndefinedMetricWarning for fewer than two rows, and for constant targets.

    Raises
    ------
    ValueError
        Numbers for which the deviance is not defined, NaN, infinity or null in any column, several outputs, lengths
        that differ, no rows, only weights of zero, a wrong power.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.d2_tweedie_score([1, 2, 3, 4], [1, 2, 3, 5])
    0.8
    """
    check_power(power)
    kind = KINDS.get(power, TWEEDIE)
    if sample_weight is None and n_threads is None:
        score = errors.deviance_explained(y_true, y_pred, kind, power)
        if score is not None:
            return score
    targets = as_single(y_true, y_pred, sample_weight, n_threads, "d2_tweedie_score")
    if targets.rows < 2:
        targets.error_states(errors.SQUARED)
        return undefined("d2_tweedie_score")
    deviance = mean_of(targets, kind, float(power))
    zeros = np.broadcast_to(np.float64(0), targets.rows)
    mean = mean_of(targets._replace(y_true=zeros, y_pred=targets.y_true), errors.SIGNED, 0.0)
    constant = np.broadcast_to(np.float64(mean), targets.rows)
    whole = mean_of(targets._replace(y_pred=constant), kind, float(power), judged=True)
    if whole == 0 or whole != whole:
        return warn_undefined("d2_tweedie_score", "the mean of the targets has no deviance to compare with")
    return 1 - deviance / whole


@metric(
    "poisson_deviance", exchange="none", statistics=terms_of(errors.POISSON, 1.0), function=mean_poisson_deviance,
    undefined="never", target="real", default=False, best="lowest",
)  # fmt: skip
def finalise_poisson(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Mean Poisson deviance, for labels of at least 0 and positive predictions."""
    return mean_term(counts, terms)


@metric(
    "gamma_deviance", exchange="none", statistics=terms_of(errors.GAMMA, 2.0), function=mean_gamma_deviance,
    undefined="never", target="real", default=False, best="lowest",
)  # fmt: skip
def finalise_gamma(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Mean gamma deviance, for positive labels and predictions."""
    return mean_term(counts, terms)


@metric(
    "tweedie_deviance",
    exchange="none",
    statistics=lambda power: (RowWeights(), ErrorTerms(KINDS.get(power, TWEEDIE), float(power))),
    function=mean_tweedie_deviance,
    undefined="never",
    parameters={"power": 0},
    checks={"power": check_power},
    target="real",
    default=False,
    best="lowest",
)
def finalise_tweedie(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Mean Tweedie deviance of a power."""
    return mean_term(counts, terms)
