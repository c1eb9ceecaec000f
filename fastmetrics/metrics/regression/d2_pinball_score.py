"""D2 of the pinball loss and of the absolute error: 1 - loss / loss of a constant quantile of the targets."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core.calls.compiled_functions import computed_by
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.exact import quotients
from fastmetrics._core.kinds import NUMBERS
from fastmetrics._core.registry import metric
from fastmetrics._core.state import ManySums, Sums
from fastmetrics._core.statistic import Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression.error_statistics import CONSTANT_OF_ALL_ROWS, ComparedLosses
from fastmetrics.metrics.regression.error_totals import explained_fraction
from fastmetrics.metrics.regression.mean_pinball_loss import check_alpha, pinball_term
from fastmetrics.metrics.regression.numeric_targets import TWO_ROWS, check_targets, raise_bad_values
from fastmetrics.metrics.regression.output_averages import RAW, UNIFORM, average_outputs, check_multioutput
from fastmetrics.metrics.regression.quantiles import LabelQuantile, MiddleValues, quantiles

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import Floats, NumericArrayLike
    from fastmetrics._core.types.options import MeanOutput, MultiOutput, RawOutput

__all__ = ["d2_absolute_error_score", "d2_pinball_score"]

FEWER_ROWS = "fewer than two rows"


def small_d2_pinball(y_true: np.ndarray, y_pred: np.ndarray, *, alpha: float = 0.5) -> float | None:
    check_alpha(alpha)
    return errors.try_d2_pinball(y_true, y_pred, alpha)


def d2_of_pinball_losses(
    function: str,
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any,
    multioutput: Any,
    n_threads: int | None,
    alpha: float = 0.5,
) -> float | NDArray[np.float64]:
    """Return D2 of every output, or a mean of these, for the quantile `alpha`."""
    _, alpha = pinball_term(alpha)
    targets = check_targets(y_true, y_pred, sample_weight, n_threads)
    averaging = check_multioutput(multioutput, (RAW, UNIFORM), targets.n_outputs)
    raise_bad_values(targets.y_true, targets.y_pred, errors.NOT_FINITE | errors.INEXACT)
    if targets.rows < 2:
        return warn_undefined(function, TWO_ROWS)
    columns = targets.y_true.reshape(targets.rows, -1).T.astype(np.float64, order="C")
    constants = quantiles(columns, targets.weights, alpha, targets.threads)
    constant = targets._replace(y_pred=np.broadcast_to(constants, targets.y_true.shape))
    fractions = np.full(targets.n_outputs, np.nan)
    if targets.n_outputs > 1:
        of_constant = constant.double_double_totals(errors.PINBALL, alpha)
        fractions = targets.double_double_totals(errors.PINBALL, alpha).explained_fractions(of_constant)
    uncertain = np.isnan(fractions)
    if uncertain.any():
        losses, null_losses = (
            each.outputs(uncertain, errors.PINBALL).error_totals(errors.PINBALL, alpha) for each in (targets, constant)
        )
        fractions[uncertain] = losses.explained_fractions(null_losses)
    return average_outputs(fractions, averaging, targets.dtype)


@overload
def d2_pinball_score(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    alpha: float = ..., multioutput: RawOutput, n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def d2_pinball_score(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    alpha: float = ..., multioutput: MeanOutput | NumericArrayLike = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@small_inputs(small_d2_pinball)
@computed_by(partial(d2_of_pinball_losses, "d2_pinball_score"))
def d2_pinball_score(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    alpha: float = 0.5,
    multioutput: MultiOutput | NumericArrayLike = "uniform_average",
    n_threads: int | None = None,
) -> float | Floats:
    """The share of the pinball loss that the predictions explain, compared with a constant quantile.

    D^2 = 1 - sum_i w_i L(y_i, p_i) / sum_i w_i L(y_i, q), L the pinball loss and q the alpha-quantile of the targets,
    the mean of two neighbors if alpha falls between them (Koenker and Machado, J. Am. Stat. Assoc. 94, 1999). D^2 is 1
    if both sums are zero, and 0 if only the second is.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    alpha : float in [0, 1]
        The predicted quantile.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        Every output (column) has a value. "uniform_average": the mean of the values. "raw_values": an array of them.
        Weights: their mean with these weights.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or numpy.ndarray of shape (n_outputs,)
        At most 1; an array for "raw_values". NaN with an UndefinedMetricWarning if there are fewer than two rows.

    Raises
    ------
    ValueError
        NaN, infinity or null in any column, shapes that differ, no rows, only weights of zero, a wrong option.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.d2_pinball_score([1, 2, 3], [1, 3, 3])
    0.5
    """


@overload
def d2_absolute_error_score(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: RawOutput, n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def d2_absolute_error_score(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: MeanOutput | NumericArrayLike = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@small_inputs(errors.try_d2_pinball, 0.5)
@computed_by(partial(d2_of_pinball_losses, "d2_absolute_error_score"))
def d2_absolute_error_score(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    multioutput: MultiOutput | NumericArrayLike = "uniform_average",
    n_threads: int | None = None,
) -> float | Floats:
    """The share of the absolute error that the predictions explain, compared with the median of the targets.

    D^2 = 1 - sum_i w_i |y_i - p_i| / sum_i w_i |y_i - m|, m the median of the targets (Koenker and Machado, J. Am.
    Stat. Assoc. 94, 1999). It is 1 if both sums are zero, and 0 if only the second is.

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
        At most 1; an array for "raw_values". NaN with an UndefinedMetricWarning if there are fewer than two rows.

    Raises
    ------
    ValueError
        NaN, infinity or null in any column, shapes that differ, no rows, only weights of zero, a wrong option.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.d2_absolute_error_score([1, 2, 3, 6], [1, 2, 4, 5])
    0.6666666666666666
    """


class PinballLosses(ComparedLosses):
    """The pinball losses of the predictions, and of the quantile of the labels, which is found first."""

    __slots__ = ()

    def __init__(self, alpha: float) -> None:
        super().__init__(*pinball_term(alpha))

    @property
    def first(self) -> LabelQuantile:
        return LabelQuantile(self.parameter)

    def constant(self, total: MiddleValues) -> float:
        return total.quantile

    def weight(self, total: MiddleValues) -> int:
        return total.mass.size


def many_explained_losses(parameters: dict[str, Any], losses: ManySums) -> np.ndarray:
    """The values of many states: see `MetricSpec.many`."""
    lost, whole = losses.number("losses"), losses.number("losses of the constant")
    values = quotients(whole - lost, whole)
    values[losses.counts_of("rows") < 2] = np.nan
    return values


def finalize_losses(losses: Sums) -> Value:
    """D2 from the sums of both losses."""
    coverage = {"rows": losses.count("rows")}
    if losses.count("rows") < 2:
        return Value(float("nan"), coverage, TWO_ROWS)
    lost = losses.integer("losses") if losses.is_finite("losses") else None
    return Value(explained_fraction(lost, losses.integer("losses of the constant"), force_finite=True), coverage)


@metric(
    "d2_pinball",
    exchange="range",
    scale="explained",
    roles=NUMBERS,
    statistics=lambda alpha: (PinballLosses(alpha),),
    function=d2_pinball_score,
    undefined=FEWER_ROWS,
    parameters={"alpha": 0.5},
    checks={"alpha": check_alpha},
    default=False,
    variants=("d2_pinball(alpha=0.9)",),
    aliases=("d2_pinball_score",),
    many=many_explained_losses,
    influence=lambda **parameters: CONSTANT_OF_ALL_ROWS,
)
def finalize_d2_pinball(parameters: dict[str, Any], losses: Sums) -> Value:
    """The share of the pinball loss that predictions explain, compared with a constant quantile of the labels."""
    return finalize_losses(losses)


@metric(
    "d2_absolute_error",
    exchange="range",
    scale="explained",
    roles=NUMBERS,
    statistics=PinballLosses(0.5),
    function=d2_absolute_error_score,
    undefined=FEWER_ROWS,
    default=False,
    aliases=("d2_absolute_error_score",),
    many=many_explained_losses,
    influence=lambda **parameters: CONSTANT_OF_ALL_ROWS,
)
def finalize_d2_absolute_error(parameters: dict[str, Any], losses: Sums) -> Value:
    """The share of the absolute error that predictions explain, compared with the median of the labels."""
    return finalize_losses(losses)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"d2_pinball_score": ({"alpha": 0.25},)}
