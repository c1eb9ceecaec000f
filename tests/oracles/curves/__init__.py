"""Metrics of binary labels and scores by definition: AUC, AP, KS, EER, curves and best thresholds.

Every pair and every threshold is counted, in fractions.

J. A. Hanley and B. J. McNeil (1982), The meaning and use of the area under a receiver operating characteristic (ROC)
curve, Radiology 143(1): AUC is the probability that a positive row outscores a negative one, ties counting one half.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from oracles.sums import total

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


def auc_by_ranks(labels: Sequence[int], scores: Sequence[float]) -> Fraction | None:
    """AUC in O(n log n) Python integers, for inputs with too many pairs (Mann and Whitney 1947)."""
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


def mean(
    values: Sequence[Fraction | None], undefined: Fraction | int | None, weights: Sequence[Number] | None = None
) -> Fraction | None:
    """The weighted mean of values. `undefined` replaces undefined values; if it is None, so is the mean.

    Values of weight zero do not count. The mean is 0 if all weights are 0, as in scikit-learn if no row has a label.
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


def ks(labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None) -> Fraction | None:
    """Two-sided Kolmogorov-Smirnov distance of the classes' scores: the largest |TPR - FPR| over all thresholds.

    N. V. Smirnov (1948), Table for estimating the goodness of fit of empirical distributions, Ann. Math. Stat. 19(2).
    """
    points = roc_points(labels, scores, weights)
    return None if points is None else max(abs(tpr - fpr) for fpr, tpr in points)


def area_up_to(points: list[tuple[Fraction, Fraction]], max_fpr: Fraction) -> Fraction:
    """Trapezoidal area under a ROC curve from FPR 0 to max_fpr, with linear interpolation at max_fpr."""
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
    """Area up to max_fpr, standardized so that a random ranking has 1/2 and a perfect one 1.

    D. K. McClish (1989), Analyzing a portion of the ROC curve, Medical Decision Making 9(3); scikit-learn's max_fpr.
    """
    points = roc_points(labels, scores, weights)
    if points is None:
        return None
    limit = Fraction(max_fpr)
    if limit == 1:
        return area_up_to(points, limit)
    random_area, perfect_area = limit * limit / 2, limit
    return HALF * (1 + (area_up_to(points, limit) - random_area) / (perfect_area - random_area))


class Point(NamedTuple):
    """A threshold, with the weights of false and true positives that score at least the threshold."""

    threshold: float
    fps: Fraction
    tps: Fraction


def points(labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None) -> list[Point]:
    """A point for every distinct score, descending, after a first point with an infinite threshold."""
    positives, negatives = split_weights(labels, scores, weights)
    found = [Point(math.inf, Fraction(0), Fraction(0))]
    for threshold in sorted({score for score, _ in positives + negatives}, reverse=True):
        fps = total(weight for score, weight in negatives if score >= threshold)
        tps = total(weight for score, weight in positives if score >= threshold)
        found.append(Point(threshold, fps, tps))
    return found


def ratio(part: Fraction, whole: Fraction) -> Fraction | None:
    return part / whole if whole else None


def roc_curve(
    labels: Sequence[int],
    scores: Sequence[float],
    weights: Sequence[Number] | None = None,
    drop_intermediate: bool = True,
) -> list[tuple[Fraction | None, Fraction | None, float]]:
    """(FPR, TPR, threshold), as scikit-learn's roc_curve; a rate is None if its class has no weight.

    `drop_intermediate` drops points at which the curve continues with the same step: as many negatives and as many
    positives before the point as after it. The ends are kept.
    """
    start, *found = points(labels, scores, weights)
    last = found[-1]
    if drop_intermediate:
        steps = [
            (after.fps - before.fps, after.tps - before.tps) for before, after in itertools.pairwise([start, *found])
        ]
        found = [
            point
            for index, point in enumerate(found)
            if index in (0, len(found) - 1) or steps[index] != steps[index + 1]
        ]
    return [(ratio(point.fps, last.fps), ratio(point.tps, last.tps), point.threshold) for point in [start, *found]]


def precision_recall_curve(
    labels: Sequence[int],
    scores: Sequence[float],
    weights: Sequence[Number] | None = None,
    drop_intermediate: bool = False,
) -> list[tuple[Fraction, Fraction, float | None]]:
    """(precision, recall, threshold), ascending, as scikit-learn's; the last is (1, 0) and has no threshold.

    Without positives, recall is 1. `drop_intermediate` drops points with the same true positives as both neighbors.
    """
    _, *found = points(labels, scores, weights)
    whole = found[-1].tps
    if drop_intermediate:
        found = drop_middle_points(found)
    curve: list[tuple[Fraction, Fraction, float | None]] = [
        (point.tps / (point.tps + point.fps), point.tps / whole if whole else Fraction(1), point.threshold)
        for point in reversed(found)
    ]
    return [*curve, (Fraction(1), Fraction(0), None)]


def drop_middle_points(found: list[Point]) -> list[Point]:
    """Drop points with the same true positives as the point before and the point after."""
    return [
        point
        for index, point in enumerate(found)
        if index in (0, len(found) - 1) or not found[index - 1].tps == point.tps == found[index + 1].tps
    ]


def det_curve(
    labels: Sequence[int],
    scores: Sequence[float],
    weights: Sequence[Number] | None = None,
    drop_intermediate: bool = False,
) -> list[tuple[Fraction, Fraction, float]]:
    """(FPR, FNR, threshold), ascending in threshold, as scikit-learn's det_curve.

    A. Martin et al. (1997), The DET curve in assessment of detection task performance, Eurospeech: from the last
    threshold without false negatives to the first without false positives. That is infinite only if no score is one.
    """
    found = points(labels, scores, weights)
    if drop_intermediate:
        found = drop_middle_points(found)
    last = found[-1]
    lowest = max(index for index, point in enumerate(found) if point.fps == 0)
    highest = min(index for index, point in enumerate(found) if point.tps == last.tps)
    return [
        (point.fps / last.fps, 1 - point.tps / last.tps, point.threshold)
        for point in reversed(found[lowest : highest + 1])
    ]


def lift_curve(
    labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None
) -> list[tuple[Fraction, Fraction, float]]:
    """(share of rows, lift, threshold), descending.

    F. Provost and T. Fawcett (2013), Data science for business, chapter 8: the share of positives among the rows
    that score at least a threshold, divided by the share among all rows.
    """
    _, *found = points(labels, scores, weights)
    last = found[-1]
    rate = last.tps / (last.tps + last.fps)
    return [
        ((point.tps + point.fps) / (last.tps + last.fps), point.tps / (point.tps + point.fps) / rate, point.threshold)
        for point in found
    ]


class Rate(NamedTuple):
    """An error rate and its threshold: a score, infinity, or a Fraction between two scores."""

    value: Fraction
    threshold: Fraction | float


def equal_error_rate(
    labels: Sequence[int], scores: Sequence[float], method: str, weights: Sequence[Number] | None = None
) -> Rate | None:
    """The rate at which false acceptance equals false rejection; None if a class has no weight.

    "mean" and "max": the mean and maximum of FAR and FRR at the threshold where they differ least (the highest such
    threshold). "interpolate": on the straight line between the two points around the crossing. "convex_hull": the
    lowest rate on any straight line between two points of the curve, over all pairs of points (N. Brummer and E. de
    Villiers, 2011, The BOSARIS toolkit: the ROC convex hull).
    """
    found = points(labels, scores, weights)
    last = found[-1]
    if not last.fps or not last.tps:
        return None
    rates = [(point.fps / last.fps, 1 - point.tps / last.tps, point.threshold) for point in found]
    if method in ("mean", "max"):
        far, frr, threshold = min(rates, key=lambda point: (abs(point[0] - point[1]), -point[2]))
        return Rate((far + frr) / 2 if method == "mean" else max(far, frr), threshold)
    if method == "interpolate":
        pairs = [pair for pair in itertools.pairwise(rates) if pair[0][0] < pair[0][1] and pair[1][0] >= pair[1][1]]
    else:
        pairs = [(one, two) for one in rates for two in rates if one[0] < one[1] and two[0] >= two[1]]
    least = min(crossing(*pair)[0] for pair in pairs)
    # The longest of equal lines: points inside it are not corners of the hull.
    best = [pair for pair in pairs if crossing(*pair)[0] == least]
    before, after = max(best, key=lambda pair: pair[1][0] - pair[0][0] + pair[0][1] - pair[1][1])
    return Rate(least, threshold_between(before[2], after[2], crossing(before, after)[1]))


RatePoint = tuple[Fraction, Fraction, float]


def crossing(before: RatePoint, after: RatePoint) -> tuple[Fraction, Fraction]:
    """The rate at which the line between two points meets FAR = FRR, and the share of the line before it."""
    gap_before, gap_after = before[0] - before[1], after[0] - after[1]
    share = -gap_before / (gap_after - gap_before)
    return before[0] + share * (after[0] - before[0]), share


def threshold_between(high: float, low: float, share: Fraction) -> Fraction | float:
    """Interpolate between two thresholds; if one is infinite, return the other. A curve starts at infinity."""
    if math.isinf(high):
        return low
    if math.isinf(low):
        return low if share == 1 else high
    return Fraction(high) + share * (Fraction(low) - Fraction(high))


def true_rates(point: Point, last: Point) -> tuple[Fraction, Fraction]:
    """True positive and true negative rate."""
    return point.tps / last.tps, 1 - point.fps / last.fps


def fbeta(point: Point, last: Point, beta: Number = 1) -> Fraction:
    """C. J. van Rijsbergen (1979), Information Retrieval."""
    square = Fraction(beta) ** 2
    false_negatives = last.tps - point.tps
    return (1 + square) * point.tps / ((1 + square) * point.tps + square * false_negatives + point.fps)


def squared_mcc(point: Point, last: Point) -> Fraction:
    """The square of Matthews' correlation coefficient, with its sign; 0 if only one label is predicted.

    B. W. Matthews (1975), Comparison of the predicted and observed secondary structure of T4 phage lysozyme.
    """
    tp, fp, fn, tn = point.tps, point.fps, last.tps - point.tps, last.fps - point.fps
    predicted = (tp + fp) * (fn + tn)
    if not predicted:
        return Fraction(0)
    covariance = tp * tn - fp * fn
    return covariance * abs(covariance) / (predicted * last.tps * last.fps)


# For each metric: a rational number to maximize, and the function that makes the metric from it.
METRICS: dict[str, tuple[Callable[..., Fraction], Callable[[Fraction], float]]] = {
    "f1": (fbeta, float),
    "fbeta": (fbeta, float),
    "accuracy": (lambda point, last: (point.tps + last.fps - point.fps) / (last.tps + last.fps), float),
    "balanced_accuracy": (lambda point, last: sum(true_rates(point, last)) / 2, float),
    "youden": (lambda point, last: sum(true_rates(point, last)) - 1, float),
    "gmean": (lambda point, last: math.prod(true_rates(point, last)), math.sqrt),
    "mcc": (squared_mcc, lambda square: math.copysign(math.sqrt(abs(square)), square)),
    "jaccard": (lambda point, last: point.tps / (last.tps + point.fps), float),
}


def best_threshold(
    labels: Sequence[int],
    scores: Sequence[float],
    metric: str,
    weights: Sequence[Number] | None = None,
    beta: Number | None = None,
) -> tuple[float, float]:
    """The greatest threshold that maximizes a metric, among all scores and infinity, and the value there."""
    found = points(labels, scores, weights)
    measure, report = METRICS[metric]
    options = {} if beta is None else {"beta": beta}
    values = [measure(point, found[-1], **options) for point in found]
    best = values.index(max(values))
    return found[best].threshold, report(values[best])
