"""Errors by their order: the median, the greatest; and quantiles of weighted values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core.parallel import for_each
from fastmetrics._core.rows import SERIAL_ROWS, block_bounds
from fastmetrics._kernels import errors
from fastmetrics.metrics.regression.targets import (
    RAW,
    UNIFORM,
    Targets,
    as_single,
    as_targets,
    check_multioutput,
    mean_of_outputs,
    refuse_values,
)

__all__ = ["max_error", "median_absolute_error"]

EPSILON = 2.0**-52


def median_absolute_error(
    y_true: Any,
    y_pred: Any,
    *,
    multioutput: Any = "uniform_average",
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """The median of absolute errors: what half of the rows stay below.

    median(|y_1 - p_1|, ..., |y_n - p_n|), the mean of the two in the middle where n is even. With weights, the first
    error at which half of the weight is reached; where it is reached exactly, the mean of that error and the next
    (Hyndman and Fan, Am. Stat. 50, 1996, definition 2).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_outputs)
        Targets: finite numbers.
    y_pred : array-like of shape (n,) or (n, n_outputs)
        Predictions: finite numbers.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        The mean over the outputs' medians, all of them, or their mean with these weights.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent. They are added up in ascending order of
        (error, weight) in float64, and half is reached where the sum is half to within an ulp of the greatest weight.
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
    >>> fm.median_absolute_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.5
    """
    if sample_weight is None and multioutput is UNIFORM and n_threads is None:
        middle = errors.middle_error(y_true, y_pred)
        if middle is not None:
            return middle
    targets = as_targets(y_true, y_pred, sample_weight, n_threads)
    chosen = check_multioutput(multioutput, (RAW, UNIFORM), targets.n_outputs)
    medians = []
    for output in range(targets.n_outputs):
        sizes = absolute_errors(targets, output)
        if targets.weights is None:
            medians.append(quantile(sizes, 0.5))
        else:
            medians.append(weighted_quantile(sizes, targets.weights, 0.5))
    return mean_of_outputs(medians, chosen, targets.own_dtype)


def absolute_errors(targets: Targets, output: int) -> np.ndarray:
    """|y - p| of every row; bad values are refused."""
    out = np.empty(targets.rows)
    bounds = list(block_bounds(targets.rows))
    flags = [0] * len(bounds)

    def make_worker() -> Callable[[int], None]:
        def work(unit: int) -> None:
            flags[unit] = errors.write_errors(targets.y_true, targets.y_pred, output, *bounds[unit], out)

        return work

    for_each(len(bounds), make_worker, targets.threads if targets.rows > SERIAL_ROWS else 1)
    if any(flags):
        refuse_values(targets.y_true, targets.y_pred, max(flags) | errors.INEXACT | errors.NOT_FINITE)
    return out


def quantile(values: np.ndarray, share: float) -> float:
    """The first value that a share of all does not exceed; at that share exactly, the mean of it and the next.

    The values are used up.
    """
    n = values.shape[0]
    # As many steps as scikit-learn takes: the share goes through per cent.
    wanted = share * 100 / 100 * n
    rank = min(max(math.ceil(wanted), 1), n) - 1
    between = rank + 1 - wanted <= EPSILON and wanted > 0
    next_rank = min(rank + 1, n - 1) if between else rank
    values.partition((rank, next_rank))
    return middle(float(values[rank]), float(values[next_rank]))


def middle(low: float, high: float) -> float:
    return low if low == high else (low + high) / 2


def weighted_quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """The same with weights, not all of them zero.

    Sums of weights round; rows are in an order that they alone decide. Weights are brought to the scale of 1 first, so
    that a power of two in all of them changes nothing.
    """
    present = weights > 0
    if not present.all():
        values, weights = values[present], weights[present]
    weights = np.ldexp(weights, -math.frexp(float(weights.max()))[1])
    order = np.lexsort((weights, values))
    reached = np.cumsum(weights[order])
    wanted = share * 100 / 100 * float(reached[-1])
    if wanted == 0:
        return float(values[order[0]])
    rank = min(int(np.searchsorted(reached, wanted)), len(order) - 1)
    low = float(values[order[rank]])
    if float(reached[rank]) - wanted > EPSILON:
        return low
    return middle(low, float(values[order[min(rank + 1, len(order) - 1)]]))


def max_error(y_true: Any, y_pred: Any, *, n_threads: int | None = None) -> float:
    """The greatest absolute error.

    max_i |y_i - p_i|.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets: finite numbers.
    y_pred : array-like of shape (n,)
        Predictions: finite numbers.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    ValueError
        NaN, infinity or null in any column, several outputs, lengths that differ, no rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.max_error([3, 2, 7, 1], [4, 2, 7, 1])
    1.0
    """
    if n_threads is None:
        greatest = errors.greatest_of_few(y_true, y_pred)
        if greatest is not None:
            return greatest
    targets = as_single(y_true, y_pred, None, n_threads, "max_error")
    bounds = list(block_bounds(targets.rows))
    found = [0.0] * len(bounds)

    def make_worker() -> Callable[[int], None]:
        def work(unit: int) -> None:
            found[unit] = errors.greatest_error(targets.y_true, targets.y_pred, *bounds[unit])

        return work

    for_each(len(bounds), make_worker, targets.threads if targets.rows > SERIAL_ROWS else 1)
    if min(found) < 0:
        refuse_values(targets.y_true, targets.y_pred, errors.INEXACT | errors.NOT_FINITE)
        # Integers of 2**53, which a kernel cannot tell from those beyond, but these are none.
        return float(max(absolute_errors(targets, 0)))
    return max(found)
