"""Mean errors: what stands above a function with `@mean_error` is all that one of them has of its own.

The decorator gives the function its body, its path for few rows, and the registered metric. The error of a row is
computed in float64, whatever the input type. The sum has no rounding error, and the mean is rounded once. A call on few
rows of NumPy arrays is one call of a kernel (`errors.try_mean_error`) with the same result bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.compiled_functions import Function, computed_by
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.kinds import NUMBERS
from fastmetrics._core.registry import metric
from fastmetrics._core.state import ManySums, Sums
from fastmetrics._core.statistic import Value
from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression.error_statistics import TOO_LARGE, TOO_SMALL, ErrorTerms, RowWeights
from fastmetrics.metrics.regression.numeric_targets import NO_WEIGHT, check_single_output, check_targets
from fastmetrics.metrics.regression.output_averages import UNIFORM, average_errors

# Sums of squares in states have one unit. Functions compute such sums again, a state cannot.
LEAST_MEAN = 2.0**-900  # of squares; below it terms have lost digits
Term = Callable[..., tuple[int, float]]  # from the options of a metric to a kind of error term and its parameter


def mean_error(
    name: str,
    summary: str,
    kind: int = 0,
    parameter: float = 0.0,
    *,
    term: Term | None = None,
    small: Callable[..., float | None] | None = None,
    root: bool = False,
    single_output: bool = False,
    **options: Any,
) -> Callable[[Function], Function]:
    """Return a decorator of a function without a body: it computes a mean error, which is registered as metric `name`.

    Parameters
    ----------
    name, summary : str
        Of the metric.
    kind, parameter : int, float
        The error term of a row, as the kernels name it.
    term : callable
        Instead of both: a function of the metric's own options, which it checks.
    small : callable
        With `term`: the kernel's call for few rows, as for `small_inputs`.
    root : bool
        The root of the mean.
    single_output : bool
        Is it defined for one column only?
    **options : object
        Further arguments of `register_mean_error`.
    """
    of_options = term or (lambda: (kind, parameter))

    def declare(declared: Function) -> Function:
        def compute(
            y_true: Any, y_pred: Any, *, sample_weight: Any, n_threads: Any, multioutput: Any = UNIFORM, **own: Any
        ) -> Any:
            own_kind, own_parameter = of_options(**own)
            if single_output:
                targets = check_single_output(y_true, y_pred, sample_weight, n_threads, declared.__name__)
            else:
                targets = check_targets(y_true, y_pred, sample_weight, n_threads)
            return average_errors(targets, own_kind, own_parameter, multioutput, root)

        if small is not None:
            guard = small_inputs(small)
        else:
            guard = small_inputs(root_of_small_mean if root else errors.try_mean_error, kind, parameter)
        function = guard(computed_by(compute)(declared))
        register_mean_error(name, summary, of_options, function, root, **options)
        return function

    return declare


def root_of_small_mean(y_true: np.ndarray, y_pred: np.ndarray, kind: int, parameter: float) -> float | None:
    """The root of the mean term of few rows; None if the general path is needed."""
    mean = errors.try_mean_error(y_true, y_pred, kind, parameter)
    return None if mean is None else math.sqrt(mean)


def register_mean_error(
    name: str,
    summary: str,
    term: Term,
    function: Callable[..., Any] | None,
    root: bool = False,
    of_squares: bool = False,
    **options: Any,
) -> None:
    """Register a mean error, or its root, as a metric. `options` are further arguments of `metric`."""

    def finalize(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
        return finalize_mean_error(counts, terms, root, of_squares)

    def many(parameters: dict[str, Any], counts: ManySums, terms: ManySums) -> np.ndarray:
        means = exact.quotients(terms.number("terms"), RowWeights.total(counts))
        if of_squares:
            means[(means < LEAST_MEAN) & (means > 0)] = np.nan
        return np.sqrt(means) if root else means

    finalize.__doc__ = summary
    options = {"direction": "minimize", "undefined": "never", "scale": "ratio"} | options
    register = metric(
        name, exchange="none", statistics=lambda **own: (RowWeights(), ErrorTerms(*term(**own))), function=function,
        roles=NUMBERS, many=many, **options,
    )  # fmt: skip
    register(finalize)


def finalize_mean_error(
    counts: Sums, terms: Sums, root: bool = False, of_squares: bool = False
) -> Value:
    """Return the (weighted) mean of the terms, rounded once, or the root of this mean."""
    coverage = {"rows": counts.count("rows")}
    total = RowWeights.total(counts)
    if total == 0:
        return Value(float("nan"), coverage, NO_WEIGHT)
    if not terms.is_finite("terms"):
        return Value(float("nan"), coverage, TOO_LARGE)
    mean = exact.divide(terms.integer("terms"), total)
    if of_squares and mean < LEAST_MEAN and terms.sum_of("terms").any():
        return Value(float("nan"), coverage, TOO_SMALL)
    return Value(math.sqrt(mean) if root else mean, coverage)
