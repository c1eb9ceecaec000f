"""Log loss and Brier score for probabilities of several classes: forms of the metrics of two classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns.binary_probabilities import NO_WEIGHT
from fastmetrics._core.columns.class_rows import ClassRows
from fastmetrics._core.columns.vector_columns import check_labels
from fastmetrics._core.exact import quotients
from fastmetrics._core.kinds import PROBABILITIES
from fastmetrics._core.registry import metric_form
from fastmetrics._core.state import ManySums, Sums
from fastmetrics._core.statistic import Value, many_quotients, rounded_quotient
from fastmetrics.metrics.probability import brier_score, log_loss  # noqa: F401 - they register the metrics
from fastmetrics.metrics.probability.probability_targets import ClassLogTerms, ClassSquaredErrors, check_eps

TWO_CLASSES = 2


def mean_of_class_terms(parameters: dict[str, Any], rows: Any, terms: Any) -> tuple[Any, Any]:
    """The sum of the terms and the weight of a state, or of many."""
    return terms.number("terms"), ClassRows.total(rows)


@metric_form(
    "logloss",
    roles=PROBABILITIES,
    statistics=lambda labels, eps: (ClassRows(), ClassLogTerms(eps)),
    undefined="never",
    parameters={"labels": None, "eps": "auto"},
    checks={"labels": check_labels, "eps": check_eps},
    default=True,
    many=many_quotients(mean_of_class_terms),
)
def finalize_log_loss(parameters: dict[str, Any], rows: Sums, terms: Sums) -> Value:
    """Log loss: the mean of -log of the probability given to each row's class."""
    coverage = ClassRows.coverage(rows) | {"rows_clipped": terms.count("clipped rows")}
    return rounded_quotient(*mean_of_class_terms(parameters, rows, terms), coverage, NO_WEIGHT)


def many_brier_scores(parameters: dict[str, Any], rows: ManySums, squares: ManySums) -> np.ndarray:
    """The values of many states: see `MetricSpec.many`."""
    scores = quotients(*mean_of_class_terms(parameters, rows, squares))
    half = parameters["scale_by_half"]
    if half == "auto":
        half = rows.counts_of("probabilities") <= TWO_CLASSES * rows.counts_of("rows")
    return scores / np.where(half, 2.0, 1.0)


@metric_form(
    "brier",
    roles=PROBABILITIES,
    statistics=lambda labels, scale_by_half: (ClassRows(), ClassSquaredErrors()),
    undefined="never",
    parameters={"labels": None, "scale_by_half": "auto"},
    checks={"labels": check_labels, "scale_by_half": ("auto", True, False)},
    variants=("brier(scale_by_half=True)",),
    default=True,
    many=many_brier_scores,
)
def finalize_brier(parameters: dict[str, Any], rows: Sums, squares: Sums) -> Value:
    """Brier score: the mean squared distance between the probabilities of all classes and the outcome."""
    half = parameters["scale_by_half"]
    half = ClassRows.n_classes(rows) <= TWO_CLASSES if half == "auto" else half
    total, weight = mean_of_class_terms(parameters, rows, squares)
    return rounded_quotient(total, 2 * weight if half else weight, ClassRows.coverage(rows), NO_WEIGHT)
