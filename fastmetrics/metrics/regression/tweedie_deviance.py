"""Deviances of the Tweedie family (normal, Poisson, gamma and other powers) and their D2."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.exchange.row_ranges import RowRange
from fastmetrics._core.kinds import NUMBERS
from fastmetrics._core.option_numbers import real_value
from fastmetrics._core.registry import metric
from fastmetrics._core.state import ManySums, Sums
from fastmetrics._core.statistic import Positioned, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression.error_statistics import (
    CONSTANT_OF_ALL_ROWS,
    ComparedLosses,
    RowWeights,
    shift_tiny_weights,
)
from fastmetrics.metrics.regression.mean_error import mean_error
from fastmetrics.metrics.regression.numeric_targets import TWO_ROWS, NumericTargets, check_single_output
from fastmetrics.metrics.regression.output_averages import mean_per_output

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike

__all__ = ["d2_tweedie_score", "mean_gamma_deviance", "mean_poisson_deviance", "mean_tweedie_deviance"]

NO_DEVIANCE = "the mean of the targets has no deviance to compare with"
KINDS = {0.0: errors.SQUARED, 1.0: errors.POISSON, 2.0: errors.GAMMA}


def check_power(power: Any) -> None:
    number = real_value(power)
    if not (-math.inf < number <= 0 or 1 <= number < math.inf):
        raise validation.OptionError(f"power must be a number of at most 0 or at least 1; found {power!r}")


def deviance_term(power: Any) -> tuple[int, float]:
    check_power(power)
    return KINDS.get(power, errors.TWEEDIE), float(power)


def mean_small_deviance(y_true: np.ndarray, y_pred: np.ndarray, *, power: float = 0) -> float | None:
    check_power(power)
    return errors.try_mean_error(y_true, y_pred, KINDS.get(power, errors.TWEEDIE), power)


@mean_error(
    "tweedie_deviance",
    "Mean Tweedie deviance of a power.",
    term=deviance_term,
    small=mean_small_deviance,
    single_output=True,
    parameters={"power": 0},
    checks={"power": check_power},
    default=False,
    aliases=("mean_tweedie_deviance",),
)
def mean_tweedie_deviance(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    power: float = 0,
    n_threads: int | None = None,
) -> float:
    """The mean Tweedie deviance: the error for a variance proportional to a power of the mean.

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
        Predictions: finite; positive unless power is 0.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    power : float of at most 0, or at least 1
        0 is the squared error, 1 the Poisson, 2 the gamma, 3 the inverse Gaussian deviance.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

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


@mean_error(
    "poisson_deviance",
    "Mean Poisson deviance, for labels of at least 0 and positive predictions.",
    errors.POISSON,
    1.0,
    single_output=True,
    default=False,
    aliases=("mean_poisson_deviance",),
)
def mean_poisson_deviance(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
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
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

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


@mean_error(
    "gamma_deviance",
    "Mean gamma deviance, for positive labels and predictions.",
    errors.GAMMA,
    2.0,
    single_output=True,
    default=False,
    aliases=("mean_gamma_deviance",),
)
def mean_gamma_deviance(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
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
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

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


def small_d2_tweedie(y_true: np.ndarray, y_pred: np.ndarray, *, power: float = 0) -> float | None:
    return errors.try_d2_tweedie(y_true, y_pred, *deviance_term(power))


@small_inputs(small_d2_tweedie)
def d2_tweedie_score(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    power: float = 0,
    n_threads: int | None = None,
) -> float:
    """The share of the Tweedie deviance that the predictions explain, compared with the mean of the targets.

    D^2 = 1 - D(y, p) / D(y, m), D the mean deviance and m the weighted mean of the targets, rounded (Hastie, Tibshirani
    and Wainwright, Statistical Learning with Sparsity, 2015, eq. 3.11).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets: finite; at least 0 for a power in [1, 2), positive from 2 on.
    y_pred : array-like of shape (n,)
        Predictions: finite; positive unless power is 0.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    power : float of at most 0, or at least 1
        0 is the squared error, 1 the Poisson, 2 the gamma, 3 the inverse Gaussian deviance.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At most 1. NaN with an UndefinedMetricWarning if there are fewer than two rows or the targets are constant.

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
    kind, parameter = deviance_term(power)
    targets = check_single_output(y_true, y_pred, sample_weight, n_threads, "d2_tweedie_score")
    if targets.rows < 2:
        targets.error_states(errors.SQUARED)
        return warn_undefined("d2_tweedie_score", TWO_ROWS)
    targets = targets.with_float_labels()
    weight = targets.total_weight()
    deviances = targets.error_totals(kind, parameter, weight)
    mean = mean_target(targets, weight)
    constant = targets._replace(y_pred=np.broadcast_to(np.float64(mean), targets.rows))
    null_states = constant.error_states(kind, parameter, already_checked=True)
    if mean <= 0 and power != 0 and not exact.is_finite(null_states[0]):
        return warn_undefined("d2_tweedie_score", NO_DEVIANCE)
    null_deviances = constant.totals_of_states(null_states, kind, parameter, weight)
    if null_deviances.totals == [0]:
        return warn_undefined("d2_tweedie_score", NO_DEVIANCE)
    return 1 - deviances.ratio(null_deviances)


def mean_target(targets: NumericTargets, weight: int) -> float:
    """The weighted mean of the targets, rounded once."""
    labels = targets.y_true
    signed = targets._replace(y_true=np.broadcast_to(np.float64(0), targets.rows), y_pred=labels)
    if labels.dtype.char in "fd" and labels.flags.c_contiguous:
        states = exact.sum_state(labels, targets.weights)[None]
        if exact.is_finite(states[0]):
            return float(signed.totals_of_states(states, errors.SIGNED, 0.0, weight).means()[0])
    return float(signed.error_totals(errors.SIGNED, 0.0, weight).means()[0])


class Deviances(Positioned, ComparedLosses):
    """The deviances of the predictions, and of the mean of the labels."""

    __slots__ = ()

    def total_of_range(self, rows: RowRange) -> np.ndarray:
        """The weight of the labels, and their sum times 2**TINY_TOTAL_SHIFT."""
        n = rows.labels.shape[0]
        state = exact.new_states(1)
        zeros = np.broadcast_to(np.float64(0), n)
        weight, weights = n << exact.EXPONENT, rows.weights
        if weights is not None:
            weight = exact.integer_sum(weights)
            weights = shift_tiny_weights(weights, weight)
        errors.add_error_terms(zeros, rows.labels, weights, errors.SIGNED, 0.0, 0, n, state)
        shift = exact.TINY_TOTAL_SHIFT - exact.tiny_total_shift(weight)
        return np.array([weight, exact.to_integer(state[0]) << shift], object)

    def constant(self, total: np.ndarray) -> float:
        weight, labels = total
        return exact.divide(labels, weight << exact.TINY_TOTAL_SHIFT)

    def weight(self, total: np.ndarray) -> int:
        return int(total[0])


def many_explained_deviances(parameters: dict[str, Any], deviances: ManySums) -> np.ndarray:
    """The values of many states: see `MetricSpec.many`."""
    total = RowWeights.total(deviances)
    whole = exact.quotients(deviances.number("losses of the constant"), total)
    whole[(deviances.counts_of("rows") < 2) | (whole == 0)] = np.nan
    values: np.ndarray = 1 - exact.quotients(deviances.number("losses"), total) / whole
    return values


@metric(
    "d2_tweedie",
    exchange="range",
    scale="explained",
    roles=NUMBERS,
    statistics=lambda power: (Deviances(*deviance_term(power)),),
    function=d2_tweedie_score,
    undefined="fewer than two rows, or constant labels",
    parameters={"power": 0},
    checks={"power": check_power},
    default=False,
    variants=("d2_tweedie(power=1)", "d2_tweedie(power=2)", "d2_tweedie(power=1.5)"),
    aliases=("d2_tweedie_score",),
    many=many_explained_deviances,
    influence=lambda **parameters: CONSTANT_OF_ALL_ROWS,
)
def finalize_d2_tweedie(parameters: dict[str, Any], deviances: Sums) -> Value:
    """The share of the Tweedie deviance that predictions explain, compared with the mean of the labels."""
    coverage = {"rows": deviances.count("rows")}
    if deviances.count("rows") < 2:
        return Value(float("nan"), coverage, TWO_ROWS)
    total = RowWeights.total(deviances)
    states = np.stack([deviances.sum_of("losses"), deviances.sum_of("losses of the constant")])
    lost, whole = mean_per_output(states, total << exact.tiny_total_shift(total))
    if whole == 0 or whole != whole:
        return Value(float("nan"), coverage, NO_DEVIANCE)
    return Value(1 - lost / whole, coverage)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "mean_tweedie_deviance": tuple({"power": power} for power in (-1, 0, 1.5, 3)),
    "d2_tweedie_score": tuple({"power": power} for power in (0, 1, 2)),
}
