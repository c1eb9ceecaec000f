"""Ratios of counts per label and their averages: the common part of precision, recall, F, specificity and Jaccard.

A ratio is one correctly rounded division of counts (with weights, of exact sums that are rounded once). An average over
labels adds ratios in the order of the labels. An average over rows adds them without rounding error. So no result
depends on the order of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core import exact
from fastmetrics._core.columns import class_labels as targets
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.weights import scale_tiny_weights
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.option_numbers import real_value
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_user
from fastmetrics.metrics.classification.label_counts import ClassCounts, count_classes

AVERAGES = (None, "binary", "micro", "macro", "samples", "weighted")
# For `fastmetrics.testing`: averages over both labels, which one more row of either label changes, whatever was
# predicted for it.
CHECKED_AVERAGES: tuple[dict[str, Any], ...] = ({"average": "macro"}, {"average": "weighted", "zero_division": 1})
FSUM_SIZE = 1 << 12  # below this size math.fsum is faster than the superaccumulator
NAMES_SHOWN = 5


class RatioCounts(NamedTuple):
    """True and false positives and negatives: numbers for one label or for the sum of all, else arrays.

    The arrays run over the labels or the rows in `names`. `weights` are the weights of rows. `support` holds the true
    rows of every label if average is None.
    """

    tp: Any
    fp: Any
    fn: Any
    tn: Any
    average: str | None
    names: np.ndarray | None = None
    weights: np.ndarray | None = None
    support: np.ndarray | None = None


class CountRatio(NamedTuple):
    """A quotient of counts with its name. `missing` is the kind of row (or label of a row) that is absent at 0/0."""

    name: str
    numerator: Any
    denominator: Any
    missing: str


def precision_ratio(counts: RatioCounts) -> CountRatio:
    return CountRatio("precision", counts.tp, counts.tp + counts.fp, "predicted")


def recall_ratio(counts: RatioCounts) -> CountRatio:
    return CountRatio("recall", counts.tp, counts.tp + counts.fn, "true")


def specificity_ratio(counts: RatioCounts) -> CountRatio:
    return CountRatio("specificity", counts.tn, counts.tn + counts.fp, "negative")


def jaccard_ratio(counts: RatioCounts) -> CountRatio:
    return CountRatio("jaccard", counts.tp, counts.tp + counts.fp + counts.fn, "true or predicted")


def jaccard_distance_ratio(counts: RatioCounts) -> CountRatio:
    return CountRatio("jaccard distance", counts.fp + counts.fn, counts.tp + counts.fp + counts.fn, "true or predicted")


def fbeta_ratio(counts: RatioCounts, beta: float) -> CountRatio:
    """(1 + beta^2) tp / (beta^2 true + predicted). Only the division rounds if beta^2 is exact."""
    if beta == 0:
        return precision_ratio(counts)
    square = beta * beta
    if square == math.inf:
        return recall_ratio(counts)
    numerator, denominator = (1 + square) * counts.tp, square * (counts.tp + counts.fn) + (counts.tp + counts.fp)
    return CountRatio("f-score", numerator, denominator, "true or predicted")


def check_zero_division(zero_division: Any, nan: bool = True) -> float:
    """The value of 0/0."""
    if isinstance(zero_division, str):
        if zero_division == "warn":
            return 0.0
    elif isinstance(zero_division, Real) and (zero_division in (0, 1) or (nan and zero_division != zero_division)):
        return float(zero_division)
    allowed = "'warn', 0, 1 or nan" if nan else "'warn', 0 or 1"
    raise validation.OptionError(f"zero_division must be {allowed}; found {zero_division!r}")


def check_beta(beta: Any) -> float:
    number = real_value(beta)
    if number >= 0 and (number < math.inf or isinstance(beta, float | np.floating)):
        return number
    raise validation.OptionError(f"beta must be a number of at least 0; found {beta!r}")


def check_options(
    average: Any,
    pos_label: Any,
    zero_division: Any,
    *,
    allowed: tuple[str | None, ...] = AVERAGES,
    nan: bool = True,
) -> float:
    """Check the options and return the value of 0/0."""
    if average is not None and (not isinstance(average, str) or average not in allowed):
        raise validation.OptionError(f"average must be one of {', '.join(map(repr, allowed))}; found {average!r}")
    if pos_label is not None and not isinstance(pos_label, (Real, str, np.bool_)):
        raise validation.OptionError(f"pos_label must be a number, a string or None; found {pos_label!r}")
    return check_zero_division(zero_division, nan)


def average_ratio(
    make_ratio: Callable[[RatioCounts], CountRatio],
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any,
    pos_label: Any,
    average: str | None,
    sample_weight: Any,
    zero_division: Any,
    n_threads: int | None,
    nan: bool = True,
) -> float | NDArray[np.float64]:
    """The whole of a public function of one ratio: options checked, rows counted, ratios averaged."""
    zero = check_options(average, pos_label, zero_division, nan=nan)
    counts = count_for_average(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads)
    warn = isinstance(zero_division, str)
    mean: float | NDArray[np.float64] = average_ratios(divide_counts(make_ratio(counts), counts, zero, warn), counts)
    return mean


def count_for_average(
    y_true: Any,
    y_pred: Any,
    labels: Any,
    pos_label: Any,
    average: str | None,
    sample_weight: Any,
    n_threads: int | None,
) -> RatioCounts:
    """The counts from which an average is computed."""
    if average == "binary":
        return count_positive_label(y_true, y_pred, labels, pos_label, sample_weight, n_threads)
    if average == "samples":
        counted = count_classes(y_true, y_pred, labels=labels, samplewise=True, n_threads=n_threads)
        weights = targets.as_label_weights(sample_weight, counted.rows)
        names = None
        if weights is not None:
            # Rows of weight zero are left out.
            rows = names = np.flatnonzero(weights)
            weights = weights[rows]
            counted = counted._replace(**{name: getattr(counted, name)[rows] for name in ("tp", "fp", "fn", "tn")})
    else:
        counted = count_classes(y_true, y_pred, labels=labels, sample_weight=sample_weight, n_threads=n_threads)
        weights, names = None, counted.classes
    if pos_label is not None and pos_label != 1:
        warn_user(
            f"pos_label {pos_label!r} is ignored because average is {average!r}, not 'binary'; use labels=[pos_label] "
            f"for one label",
            UserWarning,
        )
    support = label_support(counted) if average is None else None
    counts = RatioCounts(counted.tp, counted.fp, counted.fn, counted.tn, average, names, weights, support)
    return micro_counts(counts) if average == "micro" else counts


def label_support(counts: ClassCounts) -> np.ndarray:
    """The true rows of every label. They are float64 if no row is correct, as in scikit-learn."""
    support: np.ndarray = counts.tp + counts.fn
    return support if counts.kind == targets.MULTILABEL or counts.any_right else support.astype(np.float64)


def count_positive_label(
    y_true: Any, y_pred: Any, labels: Any, pos_label: Any, sample_weight: Any, n_threads: int | None
) -> RatioCounts:
    """The counts of the positive label, for two classes."""
    if labels is not None:
        targets.as_target(labels, "labels")
    counted = count_classes(y_true, y_pred, sample_weight=sample_weight, n_threads=n_threads)
    if counted.kind != "binary":
        unusable = ("binary",) if counted.kind == targets.MULTILABEL else ("binary", "samples")
        choices = [name for name in AVERAGES if name not in unusable]
        raise ValueError(
            f"average='binary' needs two classes; found {counted.kind} targets. Use one of "
            f"{', '.join(map(repr, choices))}"
        )
    present = counted.present.tolist()
    if pos_label in present:
        position = present.index(pos_label)
        tp, fp, fn, tn = (counts[position].item() for counts in counted[:4])
        return RatioCounts(tp, fp, fn, tn, "binary")
    if len(present) > 1 or pos_label is None:
        raise validation.OptionError(f"pos_label must be one of the labels {present}; found {pos_label!r}")
    # All rows have the other label, in y_true and in y_pred.
    return RatioCounts(0, 0, 0, counted.tp[0].item(), "binary")


def micro_counts(counts: RatioCounts) -> RatioCounts:
    """The sums of the counts of all labels."""
    tp, fp, fn, tn = (exact_total(values) for values in counts[:4])
    return RatioCounts(tp, fp, fn, tn, "micro")


def exact_total(values: np.ndarray) -> Any:
    """The sum as a Python number: an integer, or a float that is rounded once."""
    if values.dtype.kind != "f":
        return int(values.sum())
    return math.fsum(values.tolist()) if values.shape[0] < FSUM_SIZE else exact.exact_sum(np.ascontiguousarray(values))


def divide_counts(ratio: CountRatio, counts: RatioCounts, zero: float, warn: bool) -> Any:
    """The quotients, with `zero` in place of 0/0; if `warn`, a warning for each 0/0. Numbers give a number."""
    numerator, denominator = ratio.numerator, ratio.denominator
    if not isinstance(denominator, np.ndarray):
        if denominator:
            return numerator / denominator
        if warn:
            warn_undefined_ratio(ratio, counts, None, zero)
        return zero
    undefined = denominator == 0
    if not undefined.any():
        return numerator / denominator
    result = numerator / np.where(undefined, 1, denominator)
    result[undefined] = zero
    if warn:
        warn_undefined_ratio(ratio, counts, undefined, zero)
    return result


def warn_undefined_ratio(ratio: CountRatio, counts: RatioCounts, undefined: np.ndarray | None, zero: float) -> None:
    """Warn that 0/0 was replaced by `zero`, with the names of the labels or rows."""
    of, kind = ("row", "label") if counts.average == "samples" else ("label", "row")
    where = ""
    if undefined is not None:
        positions = np.flatnonzero(undefined)
        names = positions[:NAMES_SHOWN] if counts.names is None else counts.names[positions[:NAMES_SHOWN]]
        more = ", ..." if positions.shape[0] > NAMES_SHOWN else ""
        where = f" for {of} {', '.join(map(str, names.tolist()))}{more}"
    warn_user(
        f"{ratio.name} is undefined{where}: no {ratio.missing} {kind}; set to {zero} (zero_division= changes this)",
        UndefinedMetricWarning,
    )


def average_ratios(values: Any, counts: RatioCounts) -> Any:
    """Average the ratios: a float, or an array if average is None. NaN is left out of averages."""
    if not isinstance(values, np.ndarray):
        return float(values)
    if counts.average is None:
        return values
    if counts.average == "samples":
        return mean_over_rows(values, counts.weights)
    return mean_over_labels(values, counts.tp + counts.fn if counts.average == "weighted" else None)


def mean_over_labels(values: np.ndarray, weights: np.ndarray | None) -> float:
    """The mean of the values that are not NaN; weights that are all zero are ignored.

    Labels are sorted, so plain sums in this order do not depend on the order of rows. NumPy adds them, which gives the
    same last bit as scikit-learn.
    """
    present = values == values
    n_present = int(np.count_nonzero(present))
    if n_present == 0:
        return math.nan
    if weights is not None:
        if n_present < values.shape[0]:
            values, weights = values[present], weights[present]
        weights = scale_tiny_weights(weights)
        total = float(weights.sum())
        if total:
            return float((values * weights).sum()) / total
    elif n_present < values.shape[0]:
        values = np.where(present, values, 0.0)
    return float(values.sum()) / n_present


def mean_over_rows(values: np.ndarray, weights: np.ndarray | None) -> float:
    """The mean of the values that are not NaN. Its sums are rounded once, because rows come in any order."""
    present = values == values
    if not present.all():
        values = values[present]
        weights = None if weights is None else weights[present]
    if values.shape[0] == 0:
        return math.nan
    if weights is None:
        return float(exact_total(values) / values.shape[0])
    return float(exact_total(values * weights) / exact_total(weights))


def integer_quotient(numerators: Iterable[float], denominators: Iterable[float]) -> tuple[int, int]:
    """A quotient of two products of floats as a quotient of integers, without overflow, underflow or rounding."""
    above, below = zip(*(number.as_integer_ratio() for number in numerators), strict=True)
    inverse_below, inverse_above = zip(*(number.as_integer_ratio() for number in denominators), strict=True)
    return multiply_all([*above, *inverse_above]), multiply_all([*below, *inverse_below])


def multiply_all(numbers: list[int]) -> int:
    """The product, computed pair by pair: multiplying one long integer by short ones would take quadratic time."""
    while len(numbers) > 1:
        if len(numbers) % 2:
            numbers.append(1)
        numbers = [first * second for first, second in zip(numbers[::2], numbers[1::2], strict=True)]
    return numbers[0]
