"""Values of several outputs: all of them, or their mean, which is rounded once (multioutput=)."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics.metrics.regression.error_totals import ErrorTotals, explained_fraction
from fastmetrics.metrics.regression.numeric_targets import NumericTargets

UNIFORM = "uniform_average"
RAW = "raw_values"
BY_VARIANCE = "variance_weighted"


def check_multioutput(multioutput: Any, allowed: tuple[Any, ...], n_outputs: int) -> Any:
    """Return how outputs become one number: an allowed word, or a list of weights of the outputs."""
    if multioutput is None or isinstance(multioutput, (str, bytes)) or not validation.is_array_like(multioutput):
        if multioutput not in allowed:
            words = ", ".join(map(repr, allowed))
            raise validation.OptionError(
                f"multioutput must be one of {words}, or an array of weights of the outputs; found {multioutput!r}"
            )
        return multioutput
    weights = validation.as_floats(multioutput, "multioutput")
    if n_outputs == 1:
        raise ValueError("multioutput is an array of weights, but there is only one output")
    if weights.shape != (n_outputs,):
        raise ValueError(
            f"multioutput must have a weight for each of the {n_outputs} outputs; found {weights.tolist()!r}"
        )
    if not np.isfinite(weights).all():
        validation.raise_bad_number(weights, "multioutput")
    if not weights.sum():
        raise ZeroDivisionError("the weights of the outputs, multioutput, sum to zero")
    return weights.tolist()


def average_outputs(values: np.ndarray, multioutput: Any, dtype: np.dtype) -> float | NDArray[np.float64]:
    """Return all values of the outputs, their mean, or their weighted mean. A finite mean is rounded once."""
    if isinstance(multioutput, str) and multioutput == RAW:
        with np.errstate(over="ignore"):  # values outside the range of a narrow type become infinite
            return values.astype(dtype)
    weights = multioutput if isinstance(multioutput, list) else None
    if len(values) == 1 and weights is None:
        return float(values[0])
    if not np.isfinite(values).all():
        with np.errstate(invalid="ignore"):  # infinity times a weight of zero is NaN
            return float(np.average(values, weights=weights))
    if weights is None:
        return exact.divide(exact.integer_sum(values), len(values) << exact.EXPONENT)
    return weighted_mean([Fraction(value) for value in values.tolist()], weights)


def weighted_mean(values: list[Fraction], weights: list[float]) -> float:
    """Return the weighted mean, rounded once. The weights must not sum to zero."""
    shares = [Fraction(weight) for weight in weights]
    total = sum(map(operator.mul, values, shares), Fraction(0)) / sum(shares)
    return exact.divide(total.numerator, total.denominator)


def mean_per_output(states: np.ndarray, total: int) -> list[float]:
    """Divide the sum of every output by the weight of the rows; each mean is rounded once."""
    return [
        exact.divide(exact.to_integer(state), total) if exact.is_finite(state) else exact.to_float(state)
        for state in states
    ]


def average_errors(
    targets: NumericTargets, kind: int, parameter: float, multioutput: Any, root: bool = False
) -> float | NDArray[np.float64]:
    """Return the mean error of the outputs, or with `root` that of their roots. It is rounded once, at the end."""
    averaging = check_multioutput(multioutput, (RAW, UNIFORM), targets.n_outputs)
    if averaging == RAW or root:
        return average_outputs(mean_errors(targets, kind, parameter, root), averaging, targets.dtype)
    if averaging == UNIFORM and targets.n_outputs > 1:
        mean = targets.double_double_totals(kind, parameter).mean_of_outputs()
        if mean == mean:
            return mean
    totals = targets.error_totals(kind, parameter)
    if averaging == UNIFORM:
        return totals.mean_of_outputs()
    return weighted_mean([Fraction(total, totals.weight) for total in totals.totals], averaging)


def mean_errors(targets: NumericTargets, kind: int, parameter: float, root: bool) -> np.ndarray:
    """Return the mean error of every output, rounded once, or its root."""
    of_totals = ErrorTotals.roots if root else ErrorTotals.means
    if targets.n_outputs == 1:
        return of_totals(targets.error_totals(kind, parameter))
    means = targets.double_double_totals(kind, parameter).means()
    if root:
        np.sqrt(means, out=means)
    uncertain = np.isnan(means)
    if uncertain.any():
        means[uncertain] = of_totals(targets.outputs(uncertain, kind).error_totals(kind, parameter))
    return means


def average_explained(
    pairs: list[tuple[int | None, int]], multioutput: Any, force_finite: bool, dtype: np.dtype
) -> float | NDArray[np.float64]:
    """Return 1 - numerator / denominator of every output, or a mean of these.

    All denominators have one unit; a numerator of None is infinite. If the denominator is zero, the result is 1 if the
    numerator is zero too, else 0; without force_finite it is NaN or -inf.
    """
    scores = [explained_fraction(numerator, denominator, force_finite) for numerator, denominator in pairs]
    if multioutput == BY_VARIANCE:
        all_denominators = sum(denominator for _, denominator in pairs)
        if all_denominators == 0:
            multioutput = UNIFORM
        elif np.isfinite(scores).all():
            explained = [whole - lost for lost, whole in pairs if whole and lost is not None]
            return exact.divide(sum(explained), all_denominators)
        else:
            multioutput = [exact.divide(denominator, all_denominators) for _, denominator in pairs]
    return average_outputs(np.array(scores), UNIFORM if multioutput is None else multioutput, dtype)
