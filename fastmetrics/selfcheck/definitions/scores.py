"""Labels 0 and 1 with scores or probabilities."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

Labels = Sequence[int]
Numbers = Sequence[float]


def roc_auc(labels: Labels, scores: Numbers) -> Fraction | None:
    """Pairs of a positive and a negative row that are in order; a tie is half a pair."""
    won = pairs = Fraction(0)
    for label, score in zip(labels, scores, strict=True):
        for other_label, other in zip(labels, scores, strict=True):
            if label == 1 and other_label == 0:
                pairs += 1
                won += 1 if score > other else Fraction(1, 2) if score == other else 0
    return won / pairs if pairs else None


def average_precision(labels: Labels, scores: Numbers) -> Fraction | None:
    """The precision at each threshold, times the gain in recall there."""
    positives = sum(labels)
    if not positives:
        return None
    total, found = Fraction(0), 0
    for threshold in sorted(set(scores), reverse=True):
        taken = [label for label, score in zip(labels, scores, strict=True) if score >= threshold]
        total += Fraction(sum(taken) - found, positives) * Fraction(sum(taken), len(taken))
        found = sum(taken)
    return total


def ks_statistic(labels: Labels, scores: Numbers) -> Fraction | None:
    """The greatest distance of the two classes' shares of rows up to a score."""
    positives = sum(labels)
    negatives = len(labels) - positives
    if not positives or not negatives:
        return None
    gaps = []
    for threshold in set(scores):
        below = [label for label, score in zip(labels, scores, strict=True) if score <= threshold]
        gaps.append(abs(Fraction(sum(below), positives) - Fraction(len(below) - sum(below), negatives)))
    return max(gaps)


def gauc(labels: Labels, scores: Numbers, groups: Sequence[int]) -> Fraction | None:
    """AUC within each group that has both classes, weighted by its rows."""
    by_group: dict[int, list[int]] = defaultdict(list)
    for row, group in enumerate(groups):
        by_group[group].append(row)
    total, weight = Fraction(0), 0
    for rows in by_group.values():
        area = roc_auc([labels[row] for row in rows], [scores[row] for row in rows])
        if area is not None:
            total += len(rows) * area
            weight += len(rows)
    return total / weight if weight else None


def log_loss(labels: Labels, probabilities: Numbers) -> float:
    terms = [-math.log(p if label else 1 - p) for label, p in zip(labels, probabilities, strict=True)]
    return math.fsum(terms) / len(terms)


def brier_score(labels: Labels, probabilities: Numbers) -> Fraction:
    return sum((Fraction(p) - label) ** 2 for label, p in zip(labels, probabilities, strict=True)) / Fraction(
        len(labels)
    )


def normalized_entropy(labels: Labels, probabilities: Numbers) -> float | None:
    """Log loss divided by that of the base rate."""
    loss, rate = log_loss(labels, probabilities), sum(labels) / len(labels)
    if rate in (0, 1):
        return None
    return loss / -(rate * math.log(rate) + (1 - rate) * math.log(1 - rate))


def copc(labels: Labels, probabilities: Numbers) -> Fraction | None:
    """Clicks over predicted clicks."""
    predicted = sum(map(Fraction, probabilities))
    return sum(labels) / predicted if predicted else None
