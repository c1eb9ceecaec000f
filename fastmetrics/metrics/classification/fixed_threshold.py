"""Scores turned into predictions by a threshold: the metrics of labels for logs of scores.

A row is predicted positive when its score is at least the threshold; both are taken as the real numbers they are, a
float32 score as well. All metrics of one threshold share its four cells, so they cost one pass together. Every value is
one division of whole numbers (with weights: of exact sums), rounded once; where a root is taken, of that quotient.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.binary import NO_WEIGHT
from fastmetrics._core.exact import divide
from fastmetrics._core.registry import metric
from fastmetrics._core.rows import Rows
from fastmetrics._core.statistic import Statistic, Sums, Value
from fastmetrics._kernels import thresholds
from fastmetrics.metrics.classification.agreement import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    matthews_corrcoef,
)
from fastmetrics.metrics.classification.averages import f1_score, fbeta_score, precision_score, recall_score
from fastmetrics.metrics.classification.overlap import jaccard_score
from fastmetrics.metrics.classification.rates import geometric_mean_score, specificity_score

NO_POSITIVE = "there is no positive row"
NO_NEGATIVE = "there is no negative row"
NONE_PREDICTED_POSITIVE = "no row is predicted positive"
NONE_PREDICTED_NEGATIVE = "no row is predicted negative"
NEITHER = "there is no positive row and no row is predicted positive"
CONSTANT = "all rows are of one class and predicted to be of it"

__all__: list[str] = []


class ThresholdCounts(Statistic):
    """Rows by label and prediction, cell 2 * label + prediction; with weights also what they weigh."""

    __slots__ = ("threshold",)

    def __init__(self, threshold: float) -> None:
        self.threshold = float(threshold)

    def new(self) -> Sums:
        return Sums(5, 4)

    def update(self, state: Sums, rows: Rows) -> None:
        thresholds.count_cells(rows.labels, rows.scores, self.threshold, state.counts)
        if rows.weights is not None:
            state.counts[4] = 1
            thresholds.weigh_cells(rows.labels, rows.scores, rows.weights, self.threshold, state.exact)


class Cells(NamedTuple):
    """The four cells as whole numbers: rows, or weights times 2**EXPONENT."""

    tn: int
    fp: int
    fn: int
    tp: int

    def missing(self) -> str | None:
        """Which margin is empty, if one is."""
        if self.tp + self.fn == 0:
            return NO_POSITIVE
        if self.tn + self.fp == 0:
            return NO_NEGATIVE
        if self.tp + self.fp == 0:
            return NONE_PREDICTED_POSITIVE
        return NONE_PREDICTED_NEGATIVE if self.tn + self.fn == 0 else None


class Ratio(NamedTuple):
    """What a metric makes of the cells: a quotient, and why there is none when the denominator is zero."""

    numerator: int
    denominator: int
    reason: str | None = None
    root: bool = False  # the signed square root of the quotient


def check_number(value: Any, name: str) -> float:
    """A finite number, as a metric's parameter."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{name} must be a finite number; found {value!r}")
    return float(value)


def check_threshold(threshold: Any) -> None:
    check_number(threshold, "threshold")


def check_beta(beta: Any) -> None:
    if check_number(beta, "beta") < 0:
        raise ValueError(f"beta must not be negative; found {beta!r}")


def threshold_metric(
    name: str, function: Callable[..., Any], undefined: str, parameters: dict[str, Any] | None = None
) -> Callable[[Callable[..., Ratio]], Callable[..., Ratio]]:
    """Enter a function of the cells (and of the parameters named) as a metric with a threshold."""
    named = {} if parameters is None else parameters

    def enter(make: Callable[..., Ratio]) -> Callable[..., Ratio]:
        def finalise(arguments: dict[str, Any], state: Sums) -> Value:
            tn, fp, fn, tp = (state.count(cell) for cell in range(4))
            coverage = {"rows": tn + fp + fn + tp, "positives": fn + tp, "predicted_positives": fp + tp}
            cells = Cells(tn, fp, fn, tp)
            if state.count(4):
                cells = Cells(*(state.integer(cell) for cell in range(4)))
            return divide_cells(make(cells, **{key: arguments[key] for key in named}), cells, coverage)

        finalise.__doc__ = make.__doc__
        metric(
            name,
            exchange="none",
            statistics=lambda threshold, **_: (ThresholdCounts(threshold),),
            function=function,
            undefined=undefined,
            parameters=named | {"threshold": 0.5},
            checks={"threshold": check_threshold, "beta": check_beta},
            default=False,
        )(finalise)
        return make

    return enter


def divide_cells(ratio: Ratio, cells: Cells, coverage: dict[str, Any]) -> Value:
    """The quotient rounded once; NaN with its reason where there is none."""
    if ratio.denominator == 0:
        return Value(float("nan"), coverage, ratio.reason if any(cells) else NO_WEIGHT)
    if not ratio.root:
        return Value(divide(ratio.numerator, ratio.denominator), coverage)
    root = math.sqrt(divide(abs(ratio.numerator), ratio.denominator))
    return Value(-root if ratio.numerator < 0 else root, coverage)


@threshold_metric("accuracy", accuracy_score, "never")
def accuracy(cells: Cells) -> Ratio:
    """The share of rows whose prediction is right."""
    return Ratio(cells.tp + cells.tn, sum(cells))


@threshold_metric("precision", precision_score, "no row predicted positive")
def precision(cells: Cells) -> Ratio:
    """The share of positive rows among those predicted positive."""
    return Ratio(cells.tp, cells.tp + cells.fp, NONE_PREDICTED_POSITIVE)


@threshold_metric("recall", recall_score, "no positive row")
def recall(cells: Cells) -> Ratio:
    """The share of rows predicted positive among the positive ones."""
    return Ratio(cells.tp, cells.tp + cells.fn, NO_POSITIVE)


@threshold_metric("f1", f1_score, "neither a positive row nor one predicted positive")
def f1(cells: Cells) -> Ratio:
    """The harmonic mean of precision and recall."""
    return fbeta(cells, 1)


@threshold_metric("fbeta", fbeta_score, "neither a positive row nor one predicted positive", {"beta": 1.0})
def fbeta(cells: Cells, beta: float) -> Ratio:
    """The harmonic mean of precision and recall, in which recall weighs beta^2 times as much."""
    over, under = (part * part for part in beta.as_integer_ratio())
    gain = (over + under) * cells.tp
    denominator = gain + over * cells.fn + under * cells.fp
    if over == 0 and denominator == 0:
        # Beta 0 is precision: positive rows alone do not define it.
        return Ratio(0, 0, NONE_PREDICTED_POSITIVE)
    return Ratio(gain, denominator, NEITHER)


@threshold_metric("specificity", specificity_score, "no negative row")
def specificity(cells: Cells) -> Ratio:
    """The share of rows predicted negative among the negative ones."""
    return Ratio(cells.tn, cells.tn + cells.fp, NO_NEGATIVE)


@threshold_metric("gmean", geometric_mean_score, "one class only")
def gmean(cells: Cells) -> Ratio:
    """The geometric mean of recall and specificity."""
    return Ratio(cells.tp * cells.tn, (cells.tp + cells.fn) * (cells.tn + cells.fp), cells.missing(), root=True)


@threshold_metric("balanced_accuracy", balanced_accuracy_score, "one class only")
def balanced_accuracy(cells: Cells) -> Ratio:
    """The mean of recall and specificity."""
    positives, negatives = cells.tp + cells.fn, cells.tn + cells.fp
    return Ratio(cells.tp * negatives + cells.tn * positives, 2 * positives * negatives, cells.missing())


@threshold_metric("mcc", matthews_corrcoef, "one class only, in the labels or in the predictions")
def mcc(cells: Cells) -> Ratio:
    """Matthews correlation coefficient: Pearson's, between label and prediction."""
    tn, fp, fn, tp = cells
    covariance = tp * tn - fp * fn
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return Ratio(covariance * abs(covariance), margins, cells.missing(), root=True)


@threshold_metric("kappa", cohen_kappa_score, "one class only, the same in labels and predictions")
def kappa(cells: Cells) -> Ratio:
    """Cohen's kappa: agreement beyond what the margins alone would give."""
    tn, fp, fn, tp = cells
    return Ratio(2 * (tp * tn - fp * fn), (tp + fp) * (tn + fp) + (tp + fn) * (tn + fn), CONSTANT)


@threshold_metric("jaccard", jaccard_score, "neither a positive row nor one predicted positive")
def jaccard(cells: Cells) -> Ratio:
    """Rows positive and predicted so, among those that are one of the two."""
    return Ratio(cells.tp, cells.tp + cells.fp + cells.fn, NEITHER)
