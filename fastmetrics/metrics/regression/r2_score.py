"""R^2 and explained variance: the share of the variance of the targets that the predictions explain.

The variance of the targets is computed without cancellation. Sums of y and of y^2 have no rounding error, so
W sum w y^2 - (sum w y)^2 is an integer in a known unit. It is zero only for constant targets.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.kinds import NUMBERS
from fastmetrics._core.registry import metric
from fastmetrics._core.state import ManySums, Sums
from fastmetrics._core.statistic import Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.numeric.sums import merge_double_doubles
from fastmetrics._kernels.regression import errors, moments
from fastmetrics.metrics.regression.error_statistics import (
    TOO_LARGE,
    TOO_SMALL,
    CenteredMoments,
    Moments,
    RowWeights,
)
from fastmetrics.metrics.regression.error_totals import explained_fraction
from fastmetrics.metrics.regression.numeric_targets import (
    NO_WEIGHT,
    TWO_ROWS,
    NumericTargets,
    SumsOfBlocks,
    check_targets,
)
from fastmetrics.metrics.regression.output_averages import (
    BY_VARIANCE,
    RAW,
    UNIFORM,
    average_explained,
    average_outputs,
    check_multioutput,
)

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import Floats, NumericArrayLike
    from fastmetrics._core.types.options import MeanOrWeightedOutput, RawOutput, VarianceOutput

__all__ = ["explained_variance_score", "r2_score"]

MOMENT_TOTALS = SumsOfBlocks(
    lambda outputs: np.zeros((outputs, moments.MOMENTS, 2)),
    lambda totals, other: merge_double_doubles(totals.reshape(-1, 2), other.reshape(-1, 2)),
)

LEAST_EXPONENT = 900  # of a variance of targets, 2**-900, whose squared errors have all their digits
LEAST_VARIANCE = math.ldexp(1.0, 1 - LEAST_EXPONENT)
UNIT = moments.BAND_SHIFT * (moments.BANDS // 2)  # sums of products are multiples of 2**-(EXPONENT + UNIT)


def banded_sum(states: np.ndarray) -> int:
    """Return a sum of products, times 2**(EXPONENT + UNIT), from the states of its bands."""
    return sum(exact.to_integer(state) << moments.BAND_SHIFT * band for band, state in enumerate(states) if state.any())


def scaled_variance(weight: int, states: np.ndarray) -> int:
    """Return W^2 Var(v) = W sum w v^2 - (sum w v)^2, times 2**(2 (EXPONENT + UNIT)), from the bands of both sums."""
    total, squares = banded_sum(states[: moments.BANDS]), banded_sum(states[moments.BANDS :])
    return (weight * squares << UNIT) - total * total


def error_and_target_variance(weight: int, states: np.ndarray, center_errors: bool) -> tuple[int | None, int]:
    """Return W^2 times the mean square (or the variance) of the errors, and W^2 times the variance of the targets."""
    n = moments.BANDS
    of_targets = scaled_variance(weight, states[1 : 1 + 2 * n])
    error_states = states[1 + 2 * n :] if center_errors else states[:1]
    if not all(map(exact.is_finite, error_states)):
        return None, of_targets
    if center_errors:
        return scaled_variance(weight, error_states), of_targets
    return weight * exact.to_integer(states[0]) << 2 * UNIT, of_targets


def many_explained_fractions(counts: ManySums, states: ManySums, center_errors: bool) -> np.ndarray:
    """The values of many states: see `MetricSpec.many`. NaN where a sum has other bands than the middle one."""
    n, weight = moments.BANDS, RowWeights.total(counts)
    sums = [states.number("moments", index) for index in range(1 + (4 if center_errors else 2) * n)]
    middles = [1 + n // 2 + band * n for band in range(len(sums) // n)]
    totals, squares = ([sums[index] for index in own] for own in (middles[::2], middles[1::2]))
    variances = [weight * square - total * total for total, square in zip(totals, squares, strict=True)]
    whole, lost = variances if center_errors else (*variances, weight * sums[0])
    values = exact.quotients(whole - lost, whole)
    values[whole.high < np.square(weight.high) * LEAST_VARIANCE] = np.nan
    for index in {*range(1, len(sums))}.difference(middles):
        values[~sums[index].are_zero] = np.nan
    return values


def many_r2_scores(parameters: dict[str, Any], counts: ManySums, states: ManySums) -> np.ndarray:
    return many_explained_fractions(counts, states, center_errors=False)


def many_explained_variances(parameters: dict[str, Any], counts: ManySums, states: ManySums) -> np.ndarray:
    return many_explained_fractions(counts, states, center_errors=True)


def explained_variance(
    targets: NumericTargets, center_errors: bool, multioutput: Any, force_finite: bool, allowed: tuple[Any, ...]
) -> float | NDArray[np.float64]:
    """Return explained variance (with center_errors) or R^2 of every output, or a mean of these."""
    averaging = check_multioutput(multioutput, allowed, targets.n_outputs)
    if averaging != BY_VARIANCE:
        scores = certain_scores(targets, center_errors)
        if scores is not None:
            return average_outputs(scores, UNIFORM if averaging is None else averaging, targets.dtype)

    def add(y: np.ndarray, p: np.ndarray, w: np.ndarray | None, start: int, stop: int, states: np.ndarray) -> int:
        return moments.add_moments(y, p, w, start, stop, center_errors, states)

    n_states = 1 + (4 if center_errors else 2) * moments.BANDS
    states, flags = targets.reduce(add, targets.n_outputs, n_states)
    if flags:
        targets.raise_for_flags(flags, errors.SQUARED)
        weighted = targets.drop_zero_weights()
        if weighted is not targets:
            return explained_variance(weighted, center_errors, multioutput, force_finite, allowed)
    weight = targets.total_weight()
    variances = [error_and_target_variance(weight, output_states, center_errors) for output_states in states]
    if not center_errors:
        squares = targets.totals_of_states(np.ascontiguousarray(states[:, 0]), errors.SQUARED, 0.0)
        if squares.shift:
            totals = zip(squares.totals, variances, strict=True)
            variances = [(weight * total << 2 * UNIT, variance << squares.shift) for total, (_, variance) in totals]
    return average_explained(variances, averaging, force_finite, targets.dtype)


def certain_scores(targets: NumericTargets, center_errors: bool) -> np.ndarray | None:
    """The score of every output; None if a value is bad, or a score needs exact sums to be rounded right."""

    def add(y: np.ndarray, p: np.ndarray, w: np.ndarray | None, start: int, stop: int, totals: np.ndarray) -> int:
        return moments.sum_moments(y, p, w, start, stop, center_errors, totals)

    totals, flags = targets.reduce(add, targets.n_outputs, sums_of_blocks=MOMENT_TOTALS)
    if flags:
        return None
    high, low, _ = exact.double_double(targets.total_weight())
    scores = np.empty(targets.n_outputs)
    moments.explained_fractions(totals, high, low, targets.rows, center_errors, scores)
    return None if np.isnan(scores).any() else scores


@overload
def r2_score(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: RawOutput, force_finite: bool = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def r2_score(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: MeanOrWeightedOutput | NumericArrayLike | None = ..., force_finite: bool = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@small_inputs(moments.try_explained_variance, False)
def r2_score(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    multioutput: VarianceOutput | NumericArrayLike | None = "uniform_average",
    force_finite: bool = True,
    n_threads: int | None = None,
) -> float | Floats:
    """R^2, the coefficient of determination: the share of the targets' variance that the predictions explain.

    R^2 = 1 - sum_i w_i (y_i - p_i)^2 / sum_i w_i (y_i - m)^2, m the weighted mean of the targets (Wright, J. Agric.
    Res. 20, 1921). The denominator has no rounding error, so it is zero only for constant targets.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    multioutput : {"uniform_average", "raw_values", "variance_weighted"}, array-like of shape (n_outputs,) or None
        The mean over the outputs (also None), all of them, or their mean weighted by the targets' variances or by these
        weights.
    force_finite : bool
        For constant targets: if True, 1 for perfect predictions, else 0. If False, NaN and -inf, as division gives.
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
    >>> fm.r2_score([1, 2, 3, 4], [1, 2, 3, 5])
    0.8
    """
    validation.check_flag(force_finite, "force_finite")
    targets = check_targets(y_true, y_pred, sample_weight, n_threads)
    allowed = (RAW, UNIFORM, BY_VARIANCE, None)
    if targets.rows < 2:
        targets.error_states(errors.SQUARED)
        check_multioutput(multioutput, allowed, targets.n_outputs)
        return warn_undefined("r2_score", TWO_ROWS)
    return explained_variance(targets, False, multioutput, bool(force_finite), allowed)


@overload
def explained_variance_score(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: RawOutput, force_finite: bool = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def explained_variance_score(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, sample_weight: NumericArrayLike | None = ...,
    multioutput: MeanOrWeightedOutput | NumericArrayLike = ..., force_finite: bool = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@small_inputs(moments.try_explained_variance, True)
def explained_variance_score(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    multioutput: VarianceOutput | NumericArrayLike = "uniform_average",
    force_finite: bool = True,
    n_threads: int | None = None,
) -> float | Floats:
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
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    multioutput : {"uniform_average", "raw_values", "variance_weighted"} or array-like of shape (n_outputs,)
        The mean over the outputs, all of them, or their mean weighted by the targets' variances or by these weights.
    force_finite : bool
        For constant targets: if True, 1 for constant errors, else 0. If False, NaN and -inf, as division gives.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

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
    validation.check_flag(force_finite, "force_finite")
    targets = check_targets(y_true, y_pred, sample_weight, n_threads)
    return explained_variance(targets, True, multioutput, bool(force_finite), (RAW, UNIFORM, BY_VARIANCE))


@metric(
    "r2",
    exchange="none",
    scale="explained",
    statistics=lambda: (RowWeights(), Moments()),
    function=r2_score,
    undefined="fewer than two rows",
    roles=NUMBERS,
    aliases=("r2_score", "r_squared", "coefficient_of_determination"),
    many=many_r2_scores,
)
def finalize_r2(parameters: dict[str, Any], counts: Sums, moments: Sums) -> Value:
    """R^2: the share of the labels' variance that predictions explain."""
    coverage = {"rows": counts.count("rows")}
    if counts.count("rows") < 2:
        return Value(float("nan"), coverage, TWO_ROWS)
    weight = RowWeights.total(counts)
    if weight == 0:
        return Value(float("nan"), coverage, NO_WEIGHT)
    lost, whole = error_and_target_variance(weight, moments.exact, False)
    if lost is None:
        return Value(float("nan"), coverage, TOO_LARGE)
    if 0 < whole < weight * weight << (2 * UNIT - LEAST_EXPONENT):
        return Value(float("nan"), coverage, TOO_SMALL)
    return Value(explained_fraction(lost, whole, force_finite=True), coverage)


@metric(
    "explained_variance",
    exchange="none",
    scale="explained",
    roles=NUMBERS,
    statistics=lambda: (RowWeights(), CenteredMoments()),
    function=explained_variance_score,
    undefined="never",
    default=False,
    aliases=("explained_variance_score",),
    many=many_explained_variances,
)
def finalize_explained_variance(parameters: dict[str, Any], counts: Sums, moments: Sums) -> Value:
    """Explained variance: the share of the labels' variance that predictions explain, up to a constant error."""
    coverage = {"rows": counts.count("rows")}
    weight = RowWeights.total(counts)
    if weight == 0:
        return Value(float("nan"), coverage, NO_WEIGHT)
    lost, whole = error_and_target_variance(weight, moments.exact, True)
    return Value(explained_fraction(lost, whole, force_finite=True), coverage)
