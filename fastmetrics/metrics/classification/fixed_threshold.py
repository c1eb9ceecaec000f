"""Classification metrics for columns of scores: a threshold turns scores into predictions.

A row is predicted positive if its score is at least the threshold. Both are compared as real numbers, also for float32
scores. All metrics with the same threshold share its four cells and need one pass together. Every value is one division
of integers (with weights, of exact sums), rounded once. A square root is taken of that rounded quotient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.binary_probabilities import NO_WEIGHT
from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.exact import DoubleDoubles, divide, quotients
from fastmetrics._core.immutable import EMPTY
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Field, Fields, ManySums, Sums, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic, ByUnit, StatesOfUnits, Value
from fastmetrics._kernels.classification import fixed_threshold
from fastmetrics.metrics.classification.accuracy import accuracy_score
from fastmetrics.metrics.classification.balanced_accuracy import balanced_accuracy_score
from fastmetrics.metrics.classification.cohen_kappa import cohen_kappa_score
from fastmetrics.metrics.classification.geometric_mean import geometric_mean_score
from fastmetrics.metrics.classification.jaccard import jaccard_score
from fastmetrics.metrics.classification.matthews_corrcoef import matthews_corrcoef
from fastmetrics.metrics.classification.precision_recall_fscore import (
    f1_score,
    fbeta_score,
    precision_score,
    recall_score,
)
from fastmetrics.metrics.classification.specificity import specificity_score

NO_POSITIVE = "there is no positive row"
NO_NEGATIVE = "there is no negative row"
NONE_PREDICTED_POSITIVE = "no row is predicted positive"
CONSTANT = "all rows are of one class and predicted to be of it"
NEITHER = "there is no positive row and no row is predicted positive"


class ThresholdCounts(ByUnit, AdditiveStatistic):
    """Rows of each cell 2 * label + prediction; with weights also the exact weight of each cell."""

    __slots__ = ("threshold",)
    fields = Fields(Field("rows", length=4), "weighted", exact_sum("weight", 4))

    def __init__(self, threshold: float) -> None:
        self.threshold = float(threshold)

    def update(self, state: Sums, rows: Rows) -> None:
        fixed_threshold.count_cells(rows.labels, rows.scores, self.threshold, state.counts)
        if rows.weights is not None:
            state.set_flag("weighted")
            fixed_threshold.weigh_cells(rows.labels, rows.scores, rows.weights, self.threshold, state.exact)

    def class_rows(self, state: Sums) -> tuple[int, int]:
        """The rows that a state has counted, and the positive ones."""
        cells = state.counts_of("rows").tolist()
        return sum(cells), cells[2] + cells[3]

    def update_units(self, states: StatesOfUnits, rows: Rows, numbers: np.ndarray) -> None:
        cells = np.empty(rows.labels.shape[0], np.uint16)
        fixed_threshold.cells_of_rows(rows.labels, rows.scores, self.threshold, cells)
        states.count(numbers, cells)
        if rows.weights is not None:
            states.set_flag("weighted")
            states.add(rows.weights, numbers, "weight", cells)


class ThresholdCells(NamedTuple):
    """The four cells: rows, or weights times 2**EXPONENT, as integers; or the cells of many states."""

    tn: Any
    fp: Any
    fn: Any
    tp: Any

    @classmethod
    def of_many(cls, states: ManySums) -> ThresholdCells:
        name = "weight" if states.is_set("weighted") else "rows"
        return cls(*(states.number(name, cell) for cell in range(4)))

    def empty_margin(self) -> str | None:
        """The reason why a metric of all margins is undefined: the first empty margin; None if none is empty."""
        if self.tp + self.fn == 0:
            return NO_POSITIVE
        if self.tn + self.fp == 0:
            return NO_NEGATIVE
        if self.tp + self.fp == 0:
            return NONE_PREDICTED_POSITIVE
        return "no row is predicted negative" if self.tn + self.fn == 0 else None


class ThresholdRatio(NamedTuple):
    """A metric as a quotient of cells, with the reason why it is undefined if the denominator is 0."""

    numerator: Any
    denominator: Any
    reason: str | Callable[[ThresholdCells], str | None] | None = None
    root: bool = False  # the signed square root of the quotient


def check_number(value: Any, name: str) -> float:
    """Check that a parameter is a finite number."""
    return validation.check_number(value, name, "a finite number", math.isfinite)


def check_threshold(threshold: Any) -> None:
    check_number(threshold, "threshold")


def check_beta(beta: Any) -> None:
    if check_number(beta, "beta") < 0:
        raise ValueError(f"beta must not be negative; found {beta!r}")


def threshold_metric(
    name: str,
    function: Callable[..., Any],
    undefined: str,
    parameters: dict[str, Any] | None = None,
    variants: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    near_names: Mapping[str, str] = EMPTY,
    scale: str | Callable[..., str] = "share",
) -> Callable[[Callable[..., ThresholdRatio]], Callable[..., ThresholdRatio]]:
    """Register a function of the cells (and of `parameters`) as a metric with a threshold."""
    own_parameters = {} if parameters is None else parameters

    def register(compute_ratio: Callable[..., ThresholdRatio]) -> Callable[..., ThresholdRatio]:
        def own_options(arguments: dict[str, Any]) -> dict[str, Any]:
            return {name: arguments[name] for name in own_parameters}

        def finalize(arguments: dict[str, Any], state: Sums) -> Value:
            tn, fp, fn, tp = state.counts_of("rows").tolist()
            coverage = {"rows": tn + fp + fn + tp, "positives": fn + tp, "predicted_positives": fp + tp}
            cells = ThresholdCells(tn, fp, fn, tp)
            if state.count("weighted"):
                cells = ThresholdCells(*(state.integer("weight", cell) for cell in range(4)))
            return divide_ratio(compute_ratio(cells, **own_options(arguments)), cells, coverage)

        def many(arguments: dict[str, Any], states: ManySums) -> np.ndarray:
            return many_ratios(compute_ratio(ThresholdCells.of_many(states), **own_options(arguments)))

        finalize.__doc__ = compute_ratio.__doc__
        metric(
            name,
            exchange="none",
            statistics=lambda threshold, **_: (ThresholdCounts(threshold),),
            function=function,
            undefined=undefined,
            parameters=own_parameters | {"threshold": 0.5},
            checks={"threshold": check_threshold, "beta": check_beta},
            default=False,
            scale=scale,
            variants=variants,
            aliases=aliases,
            near_names=near_names,
            many=many,
        )(finalize)
        return compute_ratio

    return register


def divide_ratio(ratio: ThresholdRatio, cells: ThresholdCells, coverage: dict[str, Any]) -> Value:
    """The quotient rounded once; NaN with its reason if it is undefined."""
    if ratio.denominator == 0:
        reason = ratio.reason(cells) if callable(ratio.reason) else ratio.reason
        return Value(float("nan"), coverage, reason if any(cells) else NO_WEIGHT)
    if not ratio.root:
        return Value(divide(ratio.numerator, ratio.denominator), coverage)
    root = math.sqrt(divide(abs(ratio.numerator), ratio.denominator))
    return Value(-root if ratio.numerator < 0 else root, coverage)


def many_ratios(ratio: ThresholdRatio) -> np.ndarray:
    """The quotients of many states, each rounded once; NaN where that is not certain, or it is undefined."""
    if not ratio.root:
        return quotients(ratio.numerator, ratio.denominator)
    numerator: DoubleDoubles = ratio.numerator
    roots = np.sqrt(quotients(abs(numerator), ratio.denominator))
    values: np.ndarray = np.where(numerator.are_negative, -roots, roots)
    return values


@threshold_metric(
    "accuracy", accuracy_score, "never", aliases=("accuracy_score", "acc"),
    near_names=dict.fromkeys(("zero_one_loss", "error_rate"), "it is 1 - accuracy; write 'accuracy'"),
)  # fmt: skip
def accuracy(cells: ThresholdCells) -> ThresholdRatio:
    """The share of rows whose prediction is right."""
    return ThresholdRatio(cells.tp + cells.tn, sum(cells))


@threshold_metric(
    "precision", precision_score, "no row predicted positive",
    aliases=("precision_score", "prec", "ppv", "positive_predictive_value"),
)  # fmt: skip
def precision(cells: ThresholdCells) -> ThresholdRatio:
    """The share of positive rows among those predicted positive."""
    return ThresholdRatio(cells.tp, cells.tp + cells.fp, NONE_PREDICTED_POSITIVE)


@threshold_metric(
    "recall", recall_score, "no positive row",
    aliases=("recall_score", "sensitivity", "tpr", "true_positive_rate"),
    near_names=dict.fromkeys(("fnr", "false_negative_rate", "miss_rate"), "it is 1 - recall; write 'recall'"),
)  # fmt: skip
def recall(cells: ThresholdCells) -> ThresholdRatio:
    """The share of rows predicted positive among the positive ones."""
    return ThresholdRatio(cells.tp, cells.tp + cells.fn, NO_POSITIVE)


@threshold_metric(
    "f1", f1_score, "neither a positive row nor one predicted positive",
    aliases=("f1_score", "f1_measure", "f_measure", "f_meas", "dice", "dice_score"),
)
def f1(cells: ThresholdCells) -> ThresholdRatio:
    """The harmonic mean of precision and recall."""
    return fbeta(cells, 1)


@threshold_metric(
    "fbeta", fbeta_score, "neither a positive row nor one predicted positive", {"beta": 1.0},
    ("fbeta(beta=0.5, threshold=0.125)",), ("fbeta_score",),
    {f"f{beta}{end}": f"write fbeta(beta={beta})" for beta in ("2", "0.5") for end in ("", "_score")},
)  # fmt: skip
def fbeta(cells: ThresholdCells, beta: float) -> ThresholdRatio:
    """The harmonic mean of precision and recall, in which recall weighs beta^2 times as much."""
    # beta^2 = square_numerator / square_denominator
    square_numerator, square_denominator = (number * number for number in beta.as_integer_ratio())
    numerator = (square_numerator + square_denominator) * cells.tp
    denominator = numerator + square_numerator * cells.fn + square_denominator * cells.fp
    # With beta 0 the metric is precision, which is undefined without predicted positives.
    return ThresholdRatio(numerator, denominator, NEITHER if square_numerator else NONE_PREDICTED_POSITIVE)


@threshold_metric(
    "specificity", specificity_score, "no negative row",
    aliases=("specificity_score", "tnr", "true_negative_rate"),
    near_names=dict.fromkeys(("fpr", "false_positive_rate", "fall_out"), "it is 1 - specificity; write 'specificity'"),
)  # fmt: skip
def specificity(cells: ThresholdCells) -> ThresholdRatio:
    """The share of rows predicted negative among the negative ones."""
    return ThresholdRatio(cells.tn, cells.tn + cells.fp, NO_NEGATIVE)


@threshold_metric("gmean", geometric_mean_score, "one class only", aliases=("geometric_mean_score", "g_mean"))
def gmean(cells: ThresholdCells) -> ThresholdRatio:
    """The geometric mean of recall and specificity."""
    positives, negatives = cells.tp + cells.fn, cells.tn + cells.fp
    return ThresholdRatio(cells.tp * cells.tn, positives * negatives, ThresholdCells.empty_margin, root=True)


@threshold_metric(
    "balanced_accuracy", balanced_accuracy_score, "one class only", aliases=("balanced_accuracy_score",),
    scale=lambda adjusted=False, **_: "correlation" if adjusted else "share",
)  # fmt: skip
def balanced_accuracy(cells: ThresholdCells) -> ThresholdRatio:
    """The mean of recall and specificity."""
    positives, negatives = cells.tp + cells.fn, cells.tn + cells.fp
    numerator = cells.tp * negatives + cells.tn * positives
    return ThresholdRatio(numerator, 2 * positives * negatives, ThresholdCells.empty_margin)


@threshold_metric(
    "mcc", matthews_corrcoef, "one class only, in the labels or in the predictions",
    variants=("mcc(threshold=0.25)",),
    aliases=("matthews_corrcoef", "matthews_correlation", "matthews_correlation_coefficient"),
    scale="correlation",
)  # fmt: skip
def mcc(cells: ThresholdCells) -> ThresholdRatio:
    """Matthews correlation coefficient: Pearson's, between label and prediction."""
    tn, fp, fn, tp = cells
    covariance = tp * tn - fp * fn
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return ThresholdRatio(covariance * abs(covariance), margins, ThresholdCells.empty_margin, root=True)


@threshold_metric(
    "kappa", cohen_kappa_score, "one class only, the same in labels and predictions",
    aliases=("cohen_kappa_score", "cohen_kappa"), scale="correlation",
)  # fmt: skip
def kappa(cells: ThresholdCells) -> ThresholdRatio:
    """Cohen's kappa: agreement beyond what the margins alone would give."""
    tn, fp, fn, tp = cells
    return ThresholdRatio(2 * (tp * tn - fp * fn), (tp + fp) * (tn + fp) + (tp + fn) * (tn + fn), CONSTANT)


@threshold_metric(
    "jaccard", jaccard_score, "neither a positive row nor one predicted positive",
    aliases=("jaccard_score", "jaccard_index", "critical_success_index", "threat_score"),
)  # fmt: skip
def jaccard(cells: ThresholdCells) -> ThresholdRatio:
    """Rows positive and predicted so, among those that are one of the two."""
    return ThresholdRatio(cells.tp, cells.tp + cells.fp + cells.fn, NEITHER)
