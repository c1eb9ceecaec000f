"""Precision, recall, F and similar ratios, from counts of single rows, as fractions; None if a ratio is 0/0.

A label is a value. For multilabel data a label is a column number, and a row is a list of 0 and 1.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple

from oracles.curves import Number
from oracles.probability import unit_weights
from oracles.sums import total

Maybe = Fraction | None


class BinaryCounts(NamedTuple):
    """Weights of the true negatives, false positives, false negatives and true positives of one label."""

    tn: Fraction
    fp: Fraction
    fn: Fraction
    tp: Fraction


def cells(has: Sequence[bool], predicted: Sequence[bool], weights: Sequence[Number] | None = None) -> BinaryCounts:
    found = [Fraction(0)] * 4
    for y, p, w in zip(has, predicted, unit_weights(weights, len(has)), strict=True):
        found[2 * bool(y) + bool(p)] += w
    return BinaryCounts(*found)


def cells_of_label(
    y_true: Sequence[Hashable], y_pred: Sequence[Hashable], label: Hashable, weights: Sequence[Number] | None = None
) -> BinaryCounts:
    return cells([y == label for y in y_true], [p == label for p in y_pred], weights)


def cells_of_row(y_true: Sequence[int], y_pred: Sequence[int], columns: Sequence[int]) -> BinaryCounts:
    """The labels of one row: G. Tsoumakas and I. Katakis (2007), Multi-label classification, section 2.4."""
    return cells([y_true[column] != 0 for column in columns], [y_pred[column] != 0 for column in columns])


def added(parts: Sequence[BinaryCounts]) -> BinaryCounts:
    return BinaryCounts(*(total(values) for values in zip(*parts, strict=True)))


def ratio(numerator: Fraction, denominator: Fraction) -> Maybe:
    return numerator / denominator if denominator else None


def accuracy(c: BinaryCounts) -> Maybe:
    return ratio(c.tp + c.tn, total(c))


def precision(c: BinaryCounts) -> Maybe:
    return ratio(c.tp, c.tp + c.fp)


def recall(c: BinaryCounts) -> Maybe:
    return ratio(c.tp, c.tp + c.fn)


def specificity(c: BinaryCounts) -> Maybe:
    return ratio(c.tn, c.tn + c.fp)


def jaccard(c: BinaryCounts) -> Maybe:
    return ratio(c.tp, c.tp + c.fp + c.fn)


def fbeta(c: BinaryCounts, beta: float) -> Maybe:
    """C. J. van Rijsbergen (1979), Information Retrieval, chapter 7: beta 0 is precision, infinity recall."""
    if beta == math.inf:
        return recall(c)
    square = Fraction(beta) ** 2
    return ratio((1 + square) * c.tp, (1 + square) * c.tp + square * c.fn + c.fp)


def balanced_accuracy(c: BinaryCounts) -> Maybe:
    tpr, tnr = recall(c), specificity(c)
    return None if tpr is None or tnr is None else (tpr + tnr) / 2


def gmean(c: BinaryCounts) -> float | None:
    """M. Kubat and S. Matwin (1997), ICML: the square root of TPR times TNR."""
    tpr, tnr = recall(c), specificity(c)
    return None if tpr is None or tnr is None else math.sqrt(tpr * tnr)


def mcc(c: BinaryCounts) -> float | None:
    """B. W. Matthews (1975), Biochim. Biophys. Acta 405."""
    covariance = c.tp * c.tn - c.fp * c.fn
    square = ratio(covariance**2, (c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn))
    return None if square is None else math.copysign(math.sqrt(square), covariance)


def kappa(c: BinaryCounts) -> Maybe:
    """J. Cohen (1960), Educ. Psychol. Meas. 20: (observed - expected) / (1 - expected)."""
    rows = total(c)
    if not rows:
        return None
    observed = (c.tp + c.tn) / rows
    expected = ((c.tp + c.fp) * (c.tp + c.fn) + (c.tn + c.fn) * (c.tn + c.fp)) / rows**2
    return ratio(observed - expected, 1 - expected)


def geometric_mean(values: Sequence[Fraction]) -> float:
    """The geometric mean of fractions in [0, 1], from the logarithms of their numerators and denominators."""
    if not all(values):
        return 0.0
    logs = [math.log(value.numerator) - math.log(value.denominator) for value in values]
    return math.exp(math.fsum(logs) / len(values))


def mean(values: Sequence[Maybe], weights: Sequence[Fraction] | None, zero_division: float) -> float:
    """The average of ratios after 0/0 is replaced. NaN is left out, and weights that are all zero are ignored."""
    filled = [Fraction(zero_division) if v is None and zero_division == zero_division else v for v in values]
    row_weights = [Fraction(1)] * len(filled) if weights is None else weights
    pairs = [(v, w) for v, w in zip(filled, row_weights, strict=True) if v is not None]
    if not pairs:
        return math.nan
    if not total(w for _, w in pairs):
        pairs = [(v, Fraction(1)) for v, _ in pairs]
    return float(total(v * w for v, w in pairs) / total(w for _, w in pairs))


def averaged(
    parts: Sequence[BinaryCounts], metric: Callable[[BinaryCounts], Maybe], average: str, zero_division: float = 0.0
) -> float:
    """An average over labels: the mean ("macro"), weighted by true rows ("weighted"), of summed cells ("micro")."""
    if average == "micro":
        return mean([metric(added(parts))], None, zero_division)
    weights = [c.tp + c.fn for c in parts] if average == "weighted" else None
    return mean([metric(c) for c in parts], weights, zero_division)


def f_of_means(parts: Sequence[BinaryCounts], beta: float, zero_division: float = 0.0) -> float:
    """Macro F as the F of macro precision and macro recall: M. Sokolova and G. Lapalme (2009), table 3."""
    p, r = (Fraction(averaged(parts, metric, "macro", zero_division)) for metric in (precision, recall))
    square = Fraction(beta) ** 2
    return float((1 + square) * p * r / (square * p + r)) if p + r else 0.0
