"""How much of the targets' spread predictions explain: R^2, explained variance, D^2 of the pinball loss.

The spread of targets is computed without cancellation: sums of y and of y^2 have no rounding error, so that
(W sum w y^2 - (sum w y)^2) is a whole number in some unit, and zero for constant targets only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Sums, Value
from fastmetrics._kernels import errors, moments
from fastmetrics.metrics.regression.errors import check_alpha
from fastmetrics.metrics.regression.order import quantile, weighted_quantile
from fastmetrics.metrics.regression.statistics import Moments, RowWeights
from fastmetrics.metrics.regression.targets import (
    BY_VARIANCE,
    NO_WEIGHT,
    RAW,
    TWO_ROWS,
    UNIFORM,
    Targets,
    as_targets,
    check_multioutput,
    share,
    shares_explained,
    undefined,
)

__all__ = ["d2_absolute_error_score", "d2_pinball_score", "explained_variance_score", "r2_score"]

UNIT = moments.BAND_SHIFT * (moments.BANDS // 2)  # sums of products are multiples of 2**-(EXPONENT + UNIT)


def banded_sum(states: np.ndarray) -> int:
    """A sum of products from the states of its bands, times 2**(EXPONENT + UNIT)."""
    return sum(
        exact.to_integer(state) << moments.BAND_SHIFT * band for band, state in enumerate(states) if state.any()
    )


def spread(weight: int, states: np.ndarray) -> int:
    """W sum w v^2 - (sum w v)^2, times 2**(2 (EXPONENT + UNIT)), from the two sums' bands."""
    total, squares = banded_sum(states[: moments.BANDS]), banded_sum(states[moments.BANDS :])
    return (weight * squares << UNIT) - total * total


def explained_pair(weight: int, states: np.ndarray, of_errors: bool) -> tuple[int | None, int]:
    """W^2 times the mean square (or variance) of errors, W^2 times the variance of targets: in one unit."""
    n = moments.BANDS
    targets = spread(weight, states[1 : 1 + 2 * n])
    own = states[1 + 2 * n :] if of_errors else states[:1]
    if not all(map(exact.is_finite, own)):
        return None, targets
    return (spread(weight, own) if of_errors else weight * exact.to_integer(states[0]) << 2 * UNIT), targets


def explained(targets: Targets, of_errors: bool, multioutput: Any, force_finite: bool, allowed: tuple[Any, ...]) -> Any:
    chosen = check_multioutput(multioutput, allowed, targets.n_outputs)

    def add(start: int, stop: int, states: np.ndarray) -> int:
        return moments.add_moments(targets.y_true, targets.y_pred, targets.weights, start, stop, of_errors, states)

    n_states = 1 + (4 if of_errors else 2) * moments.BANDS
    states, flags = targets.reduce(add, targets.n_outputs, n_states)
    if flags:
        targets.refuse(flags, errors.SQUARED)
        kept = targets.present()
        if kept is not targets:
            return explained(kept, of_errors, multioutput, force_finite, allowed)
    weight = targets.total_weight()
    pairs = [explained_pair(weight, own, of_errors) for own in states]
    return shares_explained(pairs, chosen, force_finite, targets.dtype)


def check_force_finite(force_finite: Any) -> None:
    if not isinstance(force_finite, (bool, np.bool_)):
        raise inputs.OptionError(f"force_finite must be True or False; found {force_finite!r}")


def r2_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
    n_threads: int | None = None,
) -> Any:
    """R^2, the coefficient of determination: how much better predictions are than the mean of the targets.

    R^2 = 1 - sum_i w_i (y_i - p_i)^2 / sum_i w_i (y_i - m)^2, m the weighted mean of the targets (Wright, J. Agric.
    Res. 20, 1921). The denominator has no rounding error, hence is zero for constant targets and for no others.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    multioutput : {"uniform_average", "raw_values", "variance_weighted"}, array-like of shape (n_outputs,) or None
        The mean over the outputs (also None), all of them, or their mean weighted by the targets' variances or by these
        weights.
    force_finite : bool
        For constant targets: 1 where predictions are perfect, else 0 (True); or NaN and -inf, what division gives.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or numpy.ndarray of shape (n_outputs,)
        At most 1; an array for "raw_values". NaN with an UndefinedMetricWarning where there are fewer than two rows.

    Raises
    ------
    ValueError
        NaN, infinity or null in any column, shapes that differ, no rows, only weights of zero, a wrong option.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.r2_score([1, 2, 3, 4], [1, 2, 3, 5])
    0.8
    """
    if sample_weight is None and multioutput is UNIFORM and force_finite is True and n_threads is None:
        score = moments.explained(y_true, y_pred, False)
        if score is not None:
            return score
    check_force_finite(force_finite)
    targets = as_targets(y_true, y_pred, sample_weight, n_threads)
    allowed = (RAW, UNIFORM, BY_VARIANCE, None)
    if targets.rows < 2:
        targets.error_states(errors.SQUARED)
        check_multioutput(multioutput, allowed, targets.n_outputs)
        return undefined("r2_score")
    return explained(targets, False, multioutput, bool(force_finite), allowed)


def explained_variance_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
    n_threads: int | None = None,
) -> Any:
    """The share of the targets' variance that predictions explain, up to a constant error.

    1 - Var(y - p) / Var(y), variances weighted by w (Kelleher, Mac Namee and D'Arcy, Fundamentals of Machine Learning,
    2015). Errors y - p are rounded to float64; neither variance has any other rounding error.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    multioutput : {"uniform_average", "raw_values", "variance_weighted"} or array-like of shape (n_outputs,)
        The mean over the outputs, all of them, or their mean weighted by the targets' variances or by these weights.
    force_finite : bool
        For constant targets: 1 where errors are constant too, else 0 (True); or NaN and -inf, what division gives.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or numpy.ndarray of shape (n_outputs,)
        At most 1; an array for "raw_values".

    Raises
    ------
    ValueError
        NaN, infinity or null in any column, shapes that differ, no rows, only weights of zero, a wrong option.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.explained_variance_score([1, 2, 3, 4], [2, 3, 4, 5])
    1.0
    """
    if sample_weight is None and multioutput is UNIFORM and force_finite is True and n_threads is None:
        score = moments.explained(y_true, y_pred, True)
        if score is not None:
            return score
    check_force_finite(force_finite)
    targets = as_targets(y_true, y_pred, sample_weight, n_threads)
    return explained(targets, True, multioutput, bool(force_finite), (RAW, UNIFORM, BY_VARIANCE))


def d2_pinball_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    alpha: float = 0.5,
    multioutput: Any = "uniform_average",
    n_threads: int | None = None,
) -> Any:
    """The share of the pinball loss that predictions explain: how much better they are than a constant quantile.

    D^2 = 1 - sum_i w_i L(y_i, p_i) / sum_i w_i L(y_i, q), L the pinball loss and q the alpha-quantile of the targets,
    the mean of two neighbours where alpha falls between them (Koenker and Machado, J. Am. Stat. Assoc. 94, 1999). 1
    where both sums are zero, 0 where the second is.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    alpha : float in [0, 1]
        The quantile that is predicted.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        The mean over the outputs, all of them, or their mean with these weights.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or numpy.ndarray of shape (n_outputs,)
        At most 1; an array for "raw_values". NaN with an UndefinedMetricWarning where there are fewer than two rows.

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
    check_alpha(alpha)
    if sample_weight is None and multioutput is UNIFORM and n_threads is None:
        score = errors.pinball_explained(y_true, y_pred, alpha)
        if score is not None:
            return score
    targets = as_targets(y_true, y_pred, sample_weight, n_threads)
    return pinball_explained(targets, float(alpha), multioutput, "d2_pinball_score")


def d2_absolute_error_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    n_threads: int | None = None,
) -> Any:
    """The share of the absolute error that predictions explain: how much better they are than the targets' median.

    D^2 = 1 - sum_i w_i |y_i - p_i| / sum_i w_i |y_i - m|, m the median of the targets (Koenker and Machado, J. Am.
    Stat. Assoc. 94, 1999). 1 where both sums are zero, 0 where the second is.

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
        At most 1; an array for "raw_values". NaN with an UndefinedMetricWarning where there are fewer than two rows.

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
    if sample_weight is None and multioutput is UNIFORM and n_threads is None:
        score = errors.pinball_explained(y_true, y_pred, 0.5)
        if score is not None:
            return score
    targets = as_targets(y_true, y_pred, sample_weight, n_threads)
    return pinball_explained(targets, 0.5, multioutput, "d2_absolute_error_score")


def pinball_explained(targets: Targets, alpha: float, multioutput: Any, function: str) -> Any:
    chosen = check_multioutput(multioutput, (RAW, UNIFORM), targets.n_outputs)
    losses = targets.error_states(errors.PINBALL, alpha)
    if targets.rows < 2:
        return undefined(function, 5)
    quantiles = []
    for output in range(targets.n_outputs):
        column = targets.y_true if targets.y_true.ndim == 1 else targets.y_true[:, output]
        if targets.weights is None:
            quantiles.append(quantile(column.astype(np.float64), alpha))
        else:
            quantiles.append(weighted_quantile(column.astype(np.float64), targets.weights, alpha))
    row = np.array(quantiles) if targets.y_true.ndim == 2 else quantiles[0]
    constant = targets._replace(y_pred=np.broadcast_to(row, targets.y_true.shape))
    pairs = [
        (exact.to_integer(own) if exact.is_finite(own) else None, exact.to_integer(best))
        for own, best in zip(losses, constant.error_states(errors.PINBALL, alpha), strict=True)
    ]
    return shares_explained(pairs, chosen, True, targets.dtype)


@metric(
    "r2",
    exchange="none",
    statistics=lambda: (RowWeights(), Moments()),
    function=r2_score,
    undefined="fewer than two rows",
    target="real",
)
def finalise_r2(parameters: dict[str, Any], counts: Sums, moments: Sums) -> Value:
    """R^2: the share of the labels' variance that predictions explain."""
    coverage = {"rows": counts.count(0)}
    if counts.count(0) < 2:
        return Value(float("nan"), coverage, TWO_ROWS)
    weight = RowWeights.total(counts)
    if weight == 0:
        return Value(float("nan"), coverage, NO_WEIGHT)
    return Value(share(*explained_pair(weight, moments.exact, False), force_finite=True), coverage)
