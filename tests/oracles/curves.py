"""Scores against labels in global order: AUC, partial AUC, KS, by counting pairs and thresholds.

J. A. Hanley and B. J. McNeil (1982), The meaning and use of the area under a receiver operating characteristic (ROC)
curve, Radiology 143(1): AUC is the probability that a positive row outscores a negative one, ties counting one half.
"""

import itertools
from collections.abc import Sequence
from fractions import Fraction

from .sums import total

Number = int | float | Fraction
HALF = Fraction(1, 2)


def credit(positive_score: float, negative_score: float) -> Fraction:
    """What one (positive, negative) pair is worth: 1 won, 1/2 tied, 0 lost. 0.0 and -0.0 tie, as Python compares."""
    if positive_score > negative_score:
        return Fraction(1)
    return HALF if positive_score == negative_score else Fraction(0)


def split_weights(
    labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None
) -> tuple[list[tuple[float, Fraction]], list[tuple[float, Fraction]]]:
    """Positive and negative rows as (score, weight). A row of weight zero is absent."""
    weights = [1] * len(labels) if weights is None else weights
    positives: list[tuple[float, Fraction]] = []
    negatives: list[tuple[float, Fraction]] = []
    for label, score, weight in zip(labels, scores, weights, strict=True):
        if weight > 0:
            (positives if label == 1 else negatives).append((float(score), Fraction(weight)))
    return positives, negatives


def auc(labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None) -> Fraction | None:
    """Area under the ROC curve: every (positive, negative) pair is looked at. None where a class has no weight."""
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


def auc_by_ranks(labels: Sequence[int], scores: Sequence[float]) -> Fraction | None:
    """The same number in O(n log n) Python integers, for sizes where pairs are too many (Mann and Whitney 1947)."""
    groups: dict[float, list[int]] = {}
    for label, score in zip(labels, scores, strict=True):
        groups.setdefault(float(score), [0, 0])[0 if label == 1 else 1] += 1
    doubled_wins = negatives_below = 0
    for score in sorted(groups):
        positives, negatives = groups[score]
        doubled_wins += positives * (2 * negatives_below + negatives)
        negatives_below += negatives
    pairs = sum(1 for label in labels if label == 1) * negatives_below
    return Fraction(doubled_wins, 2 * pairs) if pairs else None


def roc_points(
    labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None
) -> list[tuple[Fraction, Fraction]] | None:
    """(FPR, TPR) at every distinct threshold, from (0, 0) to (1, 1). None where a class has no weight.

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
    """The mean precision at the scores of positives. None where there is no positive weight.

    M. Zhu (2004), Recall, precision and average precision, working paper, University of Waterloo: the sum of
    (R_t - R_{t-1}) P_t over descending thresholds, nothing interpolated.
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


def mean(
    values: Sequence[Fraction | None], undefined: Fraction | int | None, weights: Sequence[Number] | None = None
) -> Fraction | None:
    """The weighted mean of values, the undefined ones replaced; None if one that counts remains so.

    Without any weight 0, as scikit-learn says of labels that no row has.
    """
    weights = [1] * len(values) if weights is None else weights
    counted = [
        (undefined if value is None else value, Fraction(weight))
        for value, weight in zip(values, weights, strict=True)
        if weight
    ]
    if any(value is None for value, _ in counted):
        return None
    whole = total(weight for _, weight in counted)
    return total(value * weight for value, weight in counted) / whole if whole else Fraction(0)


def ks(labels: Sequence[int], scores: Sequence[float]) -> Fraction | None:
    """Two-sided Kolmogorov-Smirnov distance of the classes' scores: the largest |TPR - FPR| over all thresholds.

    N. V. Smirnov (1948), Table for estimating the goodness of fit of empirical distributions, Ann. Math. Stat. 19(2).
    """
    points = roc_points(labels, scores)
    return None if points is None else max(abs(tpr - fpr) for fpr, tpr in points)


def area_up_to(points: list[tuple[Fraction, Fraction]], max_fpr: Fraction) -> Fraction:
    """Trapezoid area below a ROC curve from FPR 0 to max_fpr, the last point interpolated linearly."""
    area = Fraction(0)
    for (left, low), (right, high) in itertools.pairwise(points):
        if left >= max_fpr:
            break
        if right > max_fpr:
            high = low + (high - low) * (max_fpr - left) / (right - left)
            right = max_fpr
        area += (right - left) * (low + high) / 2
    return area


def partial_auc(
    labels: Sequence[int], scores: Sequence[float], max_fpr: float, weights: Sequence[Number] | None = None
) -> Fraction | None:
    """Area up to max_fpr, standardised so that a random ranking has 1/2 and a perfect one 1.

    D. K. McClish (1989), Analyzing a portion of the ROC curve, Medical Decision Making 9(3), as scikit-learn's max_fpr.
    """
    points = roc_points(labels, scores, weights)
    if points is None:
        return None
    limit = Fraction(max_fpr)
    if limit == 1:
        return area_up_to(points, limit)
    random_area, perfect_area = limit * limit / 2, limit
    return HALF * (1 + (area_up_to(points, limit) - random_area) / (perfect_area - random_area))
