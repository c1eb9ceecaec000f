"""Ratios of counts per label, and their averages: what precision, recall, F, specificity and Jaccard have in common.

A ratio is one correctly rounded division of counts (with weights: of exact sums, each rounded once). An average over
labels adds ratios in the labels' order, one over rows adds them without rounding error: no result depends on the order
of rows.
"""

from __future__ import annotations

import math
import warnings
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core import labels as targets
from fastmetrics._core.labels import MULTILABEL
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics._kernels import sums
from fastmetrics.metrics.classification.counts import ClassCounts, count_classes

AVERAGES = (None, "binary", "micro", "macro", "samples", "weighted")
FEW = 1 << 12  # so many floats are added faster by Python's own exact sum
NAMES_SHOWN = 5

__all__: list[str] = []


class Counts(NamedTuple):
    """True and false positives and negatives: numbers for one label or all together, else arrays over labels or rows.

    `names` are the labels or rows the arrays run over; `weights` those of rows; `support` the true rows of every label,
    where no average was asked for.
    """

    tp: Any
    fp: Any
    fn: Any
    tn: Any
    average: str | None
    names: np.ndarray | None = None
    weights: np.ndarray | None = None
    support: np.ndarray | None = None


class Ratio(NamedTuple):
    """A quotient of counts by its name, and what is missing where it is 0/0: rows of a label, or labels of a row."""

    name: str
    numerator: Any
    denominator: Any
    missing: str


def precision_of(counts: Counts) -> Ratio:
    return Ratio("precision", counts.tp, counts.tp + counts.fp, "predicted")


def recall_of(counts: Counts) -> Ratio:
    return Ratio("recall", counts.tp, counts.tp + counts.fn, "true")


def specificity_of(counts: Counts) -> Ratio:
    return Ratio("specificity", counts.tn, counts.tn + counts.fp, "negative")


def jaccard_of(counts: Counts) -> Ratio:
    return Ratio("jaccard", counts.tp, counts.tp + counts.fp + counts.fn, "true or predicted")


def jaccard_distance_of(counts: Counts) -> Ratio:
    return Ratio("jaccard distance", counts.fp + counts.fn, counts.tp + counts.fp + counts.fn, "true or predicted")


def fbeta_of(counts: Counts, beta: float) -> Ratio:
    """(1 + beta^2) tp / (beta^2 true + predicted): no rounding but the division's where beta^2 is exact."""
    if beta == 0:
        return precision_of(counts)
    square = beta * beta
    if square == math.inf:
        return recall_of(counts)
    numerator, denominator = (1 + square) * counts.tp, square * (counts.tp + counts.fn) + (counts.tp + counts.fp)
    return Ratio("f-score", numerator, denominator, "true or predicted")


def check_average(average: Any, allowed: tuple[str | None, ...] = AVERAGES) -> None:
    if average is not None and (not isinstance(average, str) or average not in allowed):
        raise inputs.OptionError(f"average must be one of {', '.join(map(repr, allowed))}; found {average!r}")


def check_zero_division(zero_division: Any, nan: bool = True) -> float:
    """What stands for 0/0."""
    if isinstance(zero_division, str):
        if zero_division == "warn":
            return 0.0
    elif isinstance(zero_division, Real) and (zero_division in (0, 1) or (nan and math.isnan(zero_division))):
        return float(zero_division)
    wanted = "'warn', 0, 1 or nan" if nan else "'warn', 0 or 1"
    raise inputs.OptionError(f"zero_division must be {wanted}; found {zero_division!r}")


def check_pos_label(pos_label: Any) -> None:
    if pos_label is not None and not isinstance(pos_label, (Real, str, np.bool_)):
        raise inputs.OptionError(f"pos_label must be a number, a text or None; found {pos_label!r}")


def check_beta(beta: Any) -> float:
    if isinstance(beta, Real) and float(beta) >= 0:
        return float(beta)
    raise inputs.OptionError(f"beta must be a number of at least 0; found {beta!r}")


def count(
    y_true: Any,
    y_pred: Any,
    labels: Any,
    pos_label: Any,
    average: str | None,
    sample_weight: Any,
    n_threads: int | None,
    stacklevel: int,
) -> Counts:
    """The counts an average is made of. `stacklevel` is that of a warning raised here."""
    if average == "binary":
        return count_positive(y_true, y_pred, labels, pos_label, sample_weight, n_threads)
    if average == "samples":
        counted = count_classes(y_true, y_pred, labels=labels, samplewise=True, n_threads=n_threads)
        weights = targets.as_label_weights(sample_weight, counted.rows)
        rows = None
        if weights is not None:
            # A row of weight zero is absent.
            rows = np.flatnonzero(weights)
            weights = weights[rows]
            counted = counted._replace(**{name: getattr(counted, name)[rows] for name in ("tp", "fp", "fn", "tn")})
    else:
        counted = count_classes(y_true, y_pred, labels=labels, sample_weight=sample_weight, n_threads=n_threads)
        weights, rows = None, counted.classes
    if pos_label is not None and pos_label != 1:
        warnings.warn(
            f"pos_label {pos_label!r} is not used: average is {average!r}, not 'binary'; labels=[pos_label] chooses "
            f"one label",
            UserWarning,
            stacklevel=stacklevel,
        )
    support = support_of(counted) if average is None else None
    counts = Counts(counted.tp, counted.fp, counted.fn, counted.tn, average, rows, weights, support)
    return together(counts) if average == "micro" else counts


def support_of(counts: ClassCounts) -> np.ndarray:
    """The true rows of every label. Where no row at all is predicted right they are float64, as in scikit-learn."""
    support: np.ndarray = counts.tp + counts.fn
    return support if counts.kind == MULTILABEL or counts.any_right else support.astype(np.float64)


def count_positive(
    y_true: Any, y_pred: Any, labels: Any, pos_label: Any, sample_weight: Any, n_threads: int | None
) -> Counts:
    """The counts of one label of two."""
    if labels is not None:
        targets.as_target(labels, "labels")
    counted = count_classes(y_true, y_pred, sample_weight=sample_weight, n_threads=n_threads)
    if counted.kind != "binary":
        choices = [each for each in AVERAGES if each != "binary" and (each != "samples" or counted.kind == MULTILABEL)]
        raise ValueError(
            f"average='binary' needs two classes; found {counted.kind} targets: choose one of "
            f"{', '.join(map(repr, choices))}"
        )
    present = counted.present.tolist()
    if pos_label in present:
        place = present.index(pos_label)
        tp, fp, fn, tn = (cells[place].item() for cells in counted[:4])
        return Counts(tp, fp, fn, tn, "binary")
    if len(present) > 1 or pos_label is None:
        raise inputs.OptionError(f"pos_label must be one of the labels {present}; found {pos_label!r}")
    # All rows have the other label, and are predicted to.
    return Counts(0, 0, 0, counted.tp[0].item(), "binary")


def together(counts: Counts) -> Counts:
    """The labels' counts added."""
    tp, fp, fn, tn = (add(cells) for cells in counts[:4])
    return Counts(tp, fp, fn, tn, "micro")


def add(values: np.ndarray) -> Any:
    """The sum as a Python number: of integers, or of floats rounded once."""
    if values.dtype.kind != "f":
        return int(values.sum())
    return math.fsum(values.tolist()) if values.shape[0] < FEW else exact.exact_sum(np.ascontiguousarray(values))


def divide(ratio: Ratio, counts: Counts, zero: float, warn: bool, stacklevel: int) -> Any:
    """The quotients, `zero` in place of 0/0; a warning where there was one, if `warn`. A number gives a number."""
    numerator, denominator = ratio.numerator, ratio.denominator
    if not isinstance(denominator, np.ndarray):
        if denominator:
            return numerator / denominator
        if warn:
            warn_ill_defined(ratio, counts, None, zero, stacklevel + 1)
        return zero
    undefined = denominator == 0
    if not undefined.any():
        return numerator / denominator
    result = numerator / np.where(undefined, 1, denominator)
    result[undefined] = zero
    if warn:
        warn_ill_defined(ratio, counts, undefined, zero, stacklevel + 1)
    return result


def warn_ill_defined(
    ratio: Ratio, counts: Counts, undefined: np.ndarray | None, zero: float, stacklevel: int
) -> None:
    """0/0 became `zero`: where, and why."""
    of, kind = ("row", "label") if counts.average == "samples" else ("label", "row")
    where = ""
    if undefined is not None:
        places = np.flatnonzero(undefined)
        shown = places[:NAMES_SHOWN] if counts.names is None else counts.names[places[:NAMES_SHOWN]]
        more = ", ..." if places.shape[0] > NAMES_SHOWN else ""
        where = f" for {of} {', '.join(map(str, shown.tolist()))}{more}"
    warnings.warn(
        f"{ratio.name} is undefined{where}: no {ratio.missing} {kind}; set to {zero}, zero_division says what else",
        UndefinedMetricWarning,
        stacklevel=stacklevel,
    )


def finish(values: Any, counts: Counts) -> Any:
    """Ratios as the average asks for: an array where it is None, else a float. NaN is left out of averages."""
    if not isinstance(values, np.ndarray):
        return float(values)
    if counts.average is None:
        return values
    if counts.average == "samples":
        return mean_over_rows(values, counts.weights)
    return mean_over_labels(values, counts.tp + counts.fn if counts.average == "weighted" else None)


def mean_over_labels(values: np.ndarray, weights: np.ndarray | None) -> float:
    """The mean of what is not NaN; weights that are all zero do not count.

    Labels have an order of their own, so plain sums in that order depend on no order of rows; they are NumPy's, so that
    the last bit is scikit-learn's.
    """
    present = values == values
    n_present = int(np.count_nonzero(present))
    if n_present == 0:
        return math.nan
    if weights is not None:
        if n_present < values.shape[0]:
            values, weights = values[present], weights[present]
        total = float(weights.sum())
        if total:
            return float((values * weights).sum()) / total
    elif n_present < values.shape[0]:
        values = np.where(present, values, 0.0)
    return float(values.sum()) / n_present


def mean_over_rows(values: np.ndarray, weights: np.ndarray | None) -> float:
    """The mean of what is not NaN, its sums rounded once: rows come in any order."""
    present = values == values
    if not present.all():
        values = values[present]
        weights = None if weights is None else weights[present]
    if values.shape[0] == 0:
        return math.nan
    if weights is None:
        return float(add(values) / values.shape[0])
    return add_products(values, weights) / float(add(weights))


def add_products(values: np.ndarray, weights: np.ndarray) -> float:
    """The sum of the rounded products, itself rounded once."""
    if values.shape[0] < FEW:
        return math.fsum((values * weights).tolist())
    state = exact.new_states()
    sums.sum_values(np.ascontiguousarray(values), weights, state)
    return exact.to_float(state)
