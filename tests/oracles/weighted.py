"""Weighted pairs and weighted Kolmogorov-Smirnov differences of one range of scores, in fractions.

A range is two lists of (score, weight): one of negatives, one of positives.
"""

from collections.abc import Iterable
from fractions import Fraction

from oracles.curves import credit, roc_points
from oracles.sums import total

Rows = list[tuple[float, Fraction]]


def doubled_wins(negatives: Rows, positives: Rows) -> Fraction:
    """Twice the sum of w+ w- over all pairs won by the positive, plus the sum over all ties; over all pairs."""
    return total(
        2 * positive_weight * negative_weight * credit(positive_score, negative_score)
        for positive_score, positive_weight in positives
        for negative_score, negative_weight in negatives
    )


def weight_up_to(rows: Rows, score: float) -> Fraction:
    """The weight of rows with a score of at most `score`."""
    return total(weight for row_score, weight in rows if row_score <= score)


def extremes(
    negatives: Rows, positives: Rows, all_negative: Fraction, all_positive: Fraction
) -> tuple[Fraction, Fraction]:
    """The maximum and the minimum, including 0, of P(t) * all_negative - N(t) * all_positive over the scores t.

    P(t) and N(t) are the weights of the range's positives and negatives with a score of at most t.
    """
    differences = [Fraction(0)] + [
        weight_up_to(positives, score) * all_negative - weight_up_to(negatives, score) * all_positive
        for score, _ in negatives + positives
    ]
    return max(differences), min(differences)


def ks(labels: Iterable[int], scores: Iterable[float], weights: Iterable[float]) -> Fraction | None:
    """The largest |TPR - FPR| over all thresholds, as shares of weight. None if a class has no weight."""
    points = roc_points(list(labels), list(scores), list(weights))
    return None if points is None else max(abs(tpr - fpr) for fpr, tpr in points)
