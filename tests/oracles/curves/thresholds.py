"""Counts and metrics of a binary classifier at every threshold, by definition.

T. Fawcett (2006), An introduction to ROC analysis, Pattern Recognition Letters 27: a row is predicted positive if its
score is at least the threshold.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from oracles.curves import Number
from oracles.probability import unit_weights


def confusion_matrix_at_thresholds(
    labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None
) -> list[tuple[float, Fraction, Fraction, Fraction, Fraction]]:
    """(threshold, tn, fp, fn, tp), by descending threshold."""
    rows = [row for row in zip(labels, scores, unit_weights(weights, len(labels)), strict=True) if row[2] > 0]
    found = []
    for threshold in sorted({score for _, score, _ in rows}, reverse=True):
        counts = {(label, predicted): Fraction(0) for label in (False, True) for predicted in (False, True)}
        for label, score, weight in rows:
            counts[label == 1, score >= threshold] += weight
        found.append((threshold, *counts.values()))
    return found


def metric_at_thresholds(
    labels: Sequence[Any], scores: Sequence[float], metric: Callable[[list[Any], list[int]], Any]
) -> list[tuple[float, Any]]:
    """(threshold, value), by descending threshold."""
    thresholds = sorted(set(scores), reverse=True)
    return [(at, metric(list(labels), [int(score >= at) for score in scores])) for at in thresholds]
