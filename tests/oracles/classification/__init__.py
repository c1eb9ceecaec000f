"""Classification metrics from their definitions: counts of pairs of labels, and the metrics as exact fractions.

K. Pearson (1904), On the theory of contingency; R. W. Hamming (1950), Error detecting and error correcting codes;
J. Cohen (1960), A coefficient of agreement for nominal scales, and (1968), Weighted kappa; B. W. Matthews (1975) and
J. Gorodkin (2004), Comparing two K-category assignments by a K-category correlation coefficient; K. H. Brodersen et al.
(2010), The balanced accuracy and its posterior distribution.
"""

from collections.abc import Hashable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from oracles.curves import Number
from oracles.probability import unit_weights
from oracles.sums import total

Labels = Sequence[Hashable]
Sets = Sequence[Sequence[int]]


def classes_of(true: Sequence[Any], pred: Sequence[Any]) -> list[Any]:
    return sorted({*true, *pred})


def cells(true: Labels, pred: Labels, labels: Labels, weights: Sequence[Number] | None = None) -> list[list[Fraction]]:
    """cells[i][j]: the weight of the rows whose true label is labels[i] and whose predicted label is labels[j]."""
    rows = list(zip(true, pred, unit_weights(weights, len(true)), strict=True))
    return [[total(w for t, p, w in rows if (t, p) == (first, second)) for second in labels] for first in labels]


def counts_of(
    true: Labels, pred: Labels, label: Hashable, weights: Sequence[Number] | None = None
) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """tp, fp, fn, tn of one label against the rest."""
    rows = list(zip(true, pred, unit_weights(weights, len(true)), strict=True))
    return tuple(
        total(w for t, p, w in rows if (t == label, p == label) == outcome)
        for outcome in ((True, True), (False, True), (True, False), (False, False))
    )


def accuracy(true: Labels, pred: Labels, weights: Sequence[Number] | None = None) -> Fraction:
    weights = unit_weights(weights, len(true))
    return total(w for t, p, w in zip(true, pred, weights, strict=True) if t == p) / total(weights)


def hamming(true: Sets, pred: Sets, weights: Sequence[Number] | None = None) -> Fraction:
    """The weighted share of indicators that differ."""
    weights = unit_weights(weights, len(true))
    wrong = [sum(t != p for t, p in zip(one, other, strict=True)) for one, other in zip(true, pred, strict=True)]
    return total(w * n for w, n in zip(weights, wrong, strict=True)) / (total(weights) * len(true[0]))


def recalls(true: Labels, pred: Labels, weights: Sequence[Number] | None = None) -> list[Fraction]:
    """The recalls of the classes whose rows have a positive weight."""
    found = (counts_of(true, pred, label, weights) for label in classes_of(true, pred))
    return [tp / (tp + fn) for tp, _, fn, _ in found if tp + fn]


def matthews(true: Labels, pred: Labels, weights: Sequence[Number] | None = None) -> float:
    """The correlation of the indicators of all classes; 0 if one of the columns is constant."""
    classes = classes_of(true, pred)
    table = cells(true, pred, classes, weights)
    all_rows = sum(map(sum, table))
    in_true = [sum(row) for row in table]
    in_pred = [sum(column) for column in zip(*table, strict=True)]
    correct = sum(table[i][i] for i in range(len(classes)))
    covariance = correct * all_rows - sum(t * p for t, p in zip(in_true, in_pred, strict=True))
    square = (all_rows**2 - sum(t * t for t in in_true)) * (all_rows**2 - sum(p * p for p in in_pred))
    if not square:
        return 0.0
    with localcontext() as context:
        context.prec = 400
        numerator = Decimal(covariance.numerator) / Decimal(covariance.denominator)
        return float(numerator / (Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


def kappa(
    one: Labels,
    other: Labels,
    labels: Labels | None = None,
    power: int = 0,
    weights: Sequence[Number] | None = None,
) -> Fraction | None:
    """1 - observed / expected disagreement. A disagreement costs |i - j| ** power; with power 0 it costs 1."""
    table = cells(one, other, classes_of(one, other) if labels is None else labels, weights)
    k, all_rows = len(table), sum(map(sum, table))
    if not all_rows:
        return None
    first = [sum(row) for row in table]
    second = [sum(column) for column in zip(*table, strict=True)]
    cost = [[abs(i - j) ** power if i != j else 0 for j in range(k)] for i in range(k)]
    observed = sum(cost[i][j] * table[i][j] for i in range(k) for j in range(k))
    expected = sum(cost[i][j] * first[i] * second[j] for i in range(k) for j in range(k)) / all_rows
    return 1 - observed / expected if expected else None


def in_top(scores: Sequence[float], column: int, k: int) -> bool:
    """Is `column` among the k highest scores? Of equal scores the last column is first."""
    return column in sorted(range(len(scores)), key=lambda index: (scores[index], index), reverse=True)[:k]
