"""Log loss and Brier score for probabilities of several classes: forms of the metrics of two classes."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.columns.binary_probabilities import NO_WEIGHT
from fastmetrics._core.columns.class_rows import ClassRows
from fastmetrics._core.columns.vector_columns import check_labels
from fastmetrics._core.kinds import PROBABILITIES
from fastmetrics._core.registry import metric_form
from fastmetrics._core.state import Sums
from fastmetrics._core.statistic import Value, rounded_quotient
from fastmetrics.metrics.probability import brier_score, log_loss  # noqa: F401 - they register the metrics
from fastmetrics.metrics.probability.probability_targets import ClassLogTerms, ClassSquaredErrors, check_eps

TWO_CLASSES = 2


@metric_form(
    "logloss",
    roles=PROBABILITIES,
    statistics=lambda labels, eps: (ClassRows(), ClassLogTerms(eps)),
    undefined="never",
    parameters={"labels": None, "eps": "auto"},
    checks={"labels": check_labels, "eps": check_eps},
    default=True,
)
def finalise_log_loss(parameters: dict[str, Any], rows: Sums, terms: Sums) -> Value:
    """Log loss: the mean of -log of the probability given to each row's class."""
    coverage = ClassRows.coverage(rows) | {"rows_clipped": terms.count("clipped rows")}
    return rounded_quotient(terms.integer("terms"), ClassRows.total(rows), coverage, NO_WEIGHT)


@metric_form(
    "brier",
    roles=PROBABILITIES,
    statistics=lambda labels, scale_by_half: (ClassRows(), ClassSquaredErrors()),
    undefined="never",
    parameters={"labels": None, "scale_by_half": "auto"},
    checks={"labels": check_labels, "scale_by_half": ("auto", True, False)},
    variants=("brier(scale_by_half=True)",),
    default=True,
)
def finalise_brier(parameters: dict[str, Any], rows: Sums, squares: Sums) -> Value:
    """Brier score: the mean squared distance between the probabilities of all classes and the outcome."""
    half = parameters["scale_by_half"]
    half = ClassRows.n_classes(rows) <= TWO_CLASSES if half == "auto" else half
    total = ClassRows.total(rows)
    return rounded_quotient(squares.integer("terms"), 2 * total if half else total, ClassRows.coverage(rows), NO_WEIGHT)
