# Written by tools/generate.py from tests/oracles/curves/__init__.py.
"""Metrics of binary labels and scores by definition: AUC, AP, KS, EER, curves and best thresholds.

Every pair and every threshold is counted, in fractions.

J. A. Hanley and B. J. McNeil (1982), The meaning and use of the area under a receiver operating characteristic (ROC)
curve, Radiology 143(1): AUC is the probability that a positive row outscores a negative one, ties counting one half.
"""

from collections.abc import Sequence
from fractions import Fraction

from fastmetrics.selfcheck.definitions.sums import total

Number = int | float | Fraction
HALF = Fraction(1, 2)


def credit(positive_score: float, negative_score: float) -> Fraction:
    """The credit of a (positive, negative) pair: 1 if won, 1/2 if tied, 0 if lost. 0.0 and -0.0 tie, as in Python."""
    if positive_score > negative_score:
        return Fraction(1)
    return HALF if positive_score == negative_score else Fraction(0)


def split_weights(
    labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None
) -> tuple[list[tuple[float, Fraction]], list[tuple[float, Fraction]]]:
    """Positive and negative rows as (score, weight), without rows of weight zero."""
    weights = [1] * len(labels) if weights is None else weights
    positives: list[tuple[float, Fraction]] = []
    negatives: list[tuple[float, Fraction]] = []
    for label, score, weight in zip(labels, scores, weights, strict=True):
        if weight > 0:
            (positives if label == 1 else negatives).append((float(score), Fraction(weight)))
    return positives, negatives


def auc(labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None) -> Fraction | None:
    """Area under the ROC curve, over all (positive, negative) pairs. None if a class has no weight."""
    positives, negatives = split_weights(labels, scores, weights)
    won = Fraction(0)
    for positive_score, positive_weight in positives:
        for negative_score, negative_weight in negatives:
            won += positive_weight * negative_weight * credit(positive_score, negative_score)
    pairs = total(weight for _, weight in positives) * total(weight for _, weight in negatives)
    return won / pairs if pairs else None


def tie_groups(
    labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None
) -> list[tuple[Fraction, Fraction]]:
    """(positive weight, negative weight) of every distinct score, highest score first."""
    positives, negatives = split_weights(labels, scores, weights)
    groups: dict[float, list[Fraction]] = {}
    for index, rows in enumerate((positives, negatives)):
        for score, weight in rows:
            groups.setdefault(score, [Fraction(0), Fraction(0)])[index] += weight
    return [(groups[score][0], groups[score][1]) for score in sorted(groups, reverse=True)]


def roc_points(
    labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None
) -> list[tuple[Fraction, Fraction]] | None:
    """(FPR, TPR) at every distinct threshold, from (0, 0) to (1, 1). None if a class has no weight.

    T. Fawcett (2006), An introduction to ROC analysis, Pattern Recognition Letters 27(8), algorithm 1.
    """
    groups = tie_groups(labels, scores, weights)
    all_positive = total(positive for positive, _ in groups)
    all_negative = total(negative for _, negative in groups)
    if not all_positive or not all_negative:
        return None
    points = [(Fraction(0), Fraction(0))]
    true_positive = false_positive = Fraction(0)
    for positive, negative in groups:
        true_positive += positive
        false_positive += negative
        points.append((false_positive / all_negative, true_positive / all_positive))
    return points


def average_precision(
    labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None
) -> Fraction | None:
    """The mean precision at the scores of positives. None if there is no positive weight.

    M. Zhu (2004), Recall, precision and average precision, working paper, University of Waterloo: the sum of
    (R_t - R_{t-1}) P_t over descending thresholds, without interpolation.
    """
    groups = tie_groups(labels, scores, weights)
    all_positive = total(positive for positive, _ in groups)
    if not all_positive:
        return None
    area = chosen = true_positive = Fraction(0)
    for positive, negative in groups:
        true_positive += positive
        chosen += positive + negative
        area += positive / all_positive * (true_positive / chosen)
    return area


def ks(labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None) -> Fraction | None:
    """Two-sided Kolmogorov-Smirnov distance of the classes' scores: the largest |TPR - FPR| over all thresholds.

    N. V. Smirnov (1948), Table for estimating the goodness of fit of empirical distributions, Ann. Math. Stat. 19(2).
    """
    points = roc_points(labels, scores, weights)
    return None if points is None else max(abs(tpr - fpr) for fpr, tpr in points)
