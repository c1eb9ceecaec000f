"""Median absolute error, also with weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from fastmetrics._core.columns.row_blocks import map_blocks
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.kinds import NUMBERS
from fastmetrics._core.parallel import for_each
from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Value
from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression.numeric_targets import NO_WEIGHT, NumericTargets, check_targets, raise_bad_values
from fastmetrics.metrics.regression.output_averages import RAW, UNIFORM, average_outputs, check_multioutput
from fastmetrics.metrics.regression.quantiles import ErrorQuantile, MiddleValues, quantiles

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import Floats, NumericArrayLike
    from fastmetrics._core.types.options import MeanOutput, MultiOutput, RawOutput

__all__ = ["median_absolute_error"]

OUTPUT_VALUES = 1 << 17  # errors of several outputs that are kept at once
LINE_OUTPUTS = 8  # outputs of a row that a cache line has


@overload
def median_absolute_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, multioutput: RawOutput,
    sample_weight: NumericArrayLike | None = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def median_absolute_error(
    y_true: NumericArrayLike, y_pred: NumericArrayLike, *, multioutput: MeanOutput | NumericArrayLike = ...,
    sample_weight: NumericArrayLike | None = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@small_inputs(errors.try_median_error)
def median_absolute_error(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    *,
    multioutput: MultiOutput | NumericArrayLike = "uniform_average",
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """The median of absolute errors: at least half of the errors are not above it.

    median(|y_1 - p_1|, ..., |y_n - p_n|), the mean of the two middle errors if n is even. With weights, the first
    error at which half of the weight is reached. If it is reached exactly, the mean of that error and the next
    (Hyndman and Fan, Am. Stat. 50, 1996, definition 2).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        Every output (column) has a value. "uniform_average": the mean of the values. "raw_values": an array of them.
        Weights: their mean with these weights.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.

        They are added exactly. Half is reached if the sum is half to within an ulp of the largest weight.
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
    >>> fm.median_absolute_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight, n_threads)
    averaging = check_multioutput(multioutput, (RAW, UNIFORM), targets.n_outputs)
    return average_outputs(median_errors(targets), averaging, targets.difference_dtype)


def median_errors(targets: NumericTargets) -> np.ndarray:
    """The median of |y - p| of every output. Bad values raise."""
    if targets.n_outputs <= LINE_OUTPUTS or targets.rows * targets.n_outputs < OUTPUT_VALUES:
        return quantiles(absolute_errors(targets), targets.weights, 0.5, targets.threads)
    # A few outputs at a time: their errors stay in cache, and their memory is used again.
    step = max(LINE_OUTPUTS, OUTPUT_VALUES // targets.rows)
    parts = [slice(start, start + step) for start in range(0, targets.n_outputs, step)]

    def make_worker() -> Callable[[int], np.ndarray]:
        scratch = np.empty((step, targets.rows))

        def find(number: int) -> np.ndarray:
            own = targets._replace(
                y_true=targets.y_true[:, parts[number]], y_pred=targets.y_pred[:, parts[number]], threads=1
            )
            errors_of_outputs = absolute_errors(own, scratch[: own.n_outputs])
            return quantiles(errors_of_outputs, targets.weights, 0.5, 1)

        return find

    try:
        return np.concatenate(for_each(len(parts), make_worker, targets.threads))
    except ValueError:
        raise_bad_values(targets.y_true, targets.y_pred, errors.INEXACT | errors.NOT_FINITE)
        raise


def absolute_errors(targets: NumericTargets, out: np.ndarray | None = None) -> np.ndarray:
    """Return |y - p| of every output and row. Bad values raise."""
    if out is None:
        out = np.empty((targets.n_outputs, targets.rows))

    def write(start: int, stop: int) -> int:
        return errors.write_absolute_errors(targets.y_true, targets.y_pred, start, stop, out)

    flags = map_blocks(targets.rows, write, targets.threads)
    if any(flags):
        raise_bad_values(targets.y_true, targets.y_pred, max(flags) | errors.INEXACT | errors.NOT_FINITE)
    return out


@metric(
    "median_ae",
    exchange="range",
    roles=NUMBERS,
    statistics=lambda: (ErrorQuantile(0.5),),
    function=median_absolute_error,
    undefined="never",
    default=False,
    direction="minimize",
    scale="ratio",
    aliases=("median_absolute_error",),
    influence=lambda **parameters: "a median moves by steps",
)
def finalize_median_absolute_error(parameters: dict[str, Any], middle: MiddleValues) -> Value:
    """The median of the absolute errors."""
    coverage = {"rows": middle.mass.rows}
    if not middle.mass.rows:
        return Value(float("nan"), coverage, NO_WEIGHT)
    return Value(middle.quantile, coverage)
