# Written by tools/generate.py from tests/oracles/averages.py.
"""Precision, recall, F and similar ratios, from counts of single rows, as fractions; None if a ratio is 0/0.

A label is a value. For multilabel data a label is a column number, and a row is a list of 0 and 1.
"""

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple

from fastmetrics.selfcheck.definitions.curves import Number
from fastmetrics.selfcheck.definitions.probability import unit_weights

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


def ratio(numerator: Fraction, denominator: Fraction) -> Maybe:
    return numerator / denominator if denominator else None


def precision(c: BinaryCounts) -> Maybe:
    return ratio(c.tp, c.tp + c.fp)


def recall(c: BinaryCounts) -> Maybe:
    return ratio(c.tp, c.tp + c.fn)


def fbeta(c: BinaryCounts, beta: float) -> Maybe:
    """C. J. van Rijsbergen (1979), Information Retrieval, chapter 7: beta 0 is precision, infinity recall."""
    if beta == math.inf:
        return recall(c)
    square = Fraction(beta) ** 2
    return ratio((1 + square) * c.tp, (1 + square) * c.tp + square * c.fn + c.fp)


def mcc(c: BinaryCounts) -> float | None:
    """B. W. Matthews (1975), Biochim. Biophys. Acta 405."""
    covariance = c.tp * c.tn - c.fp * c.fn
    square = ratio(covariance**2, (c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn))
    return None if square is None else math.copysign(math.sqrt(square), covariance)
