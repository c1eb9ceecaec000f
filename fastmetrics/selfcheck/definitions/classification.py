# Written by tools/generate.py from tests/oracles/classification/__init__.py.
"""Classification metrics from their definitions: counts of pairs of labels, and the metrics as exact fractions.

K. Pearson (1904), On the theory of contingency; R. W. Hamming (1950), Error detecting and error correcting codes;
J. Cohen (1960), A coefficient of agreement for nominal scales, and (1968), Weighted kappa; B. W. Matthews (1975) and
J. Gorodkin (2004), Comparing two K-category assignments by a K-category correlation coefficient; K. H. Brodersen et al.
(2010), The balanced accuracy and its posterior distribution.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

from fastmetrics.selfcheck.definitions.curves import Number
from fastmetrics.selfcheck.definitions.probability import unit_weights
from fastmetrics.selfcheck.definitions.sums import total

Labels = Sequence[Hashable]


def classes_of(true: Sequence[Any], pred: Sequence[Any]) -> list[Any]:
    return sorted({*true, *pred})


def cells(true: Labels, pred: Labels, labels: Labels, weights: Sequence[Number] | None = None) -> list[list[Fraction]]:
    """cells[i][j]: the weight of the rows whose true label is labels[i] and whose predicted label is labels[j]."""
    rows = list(zip(true, pred, unit_weights(weights, len(true)), strict=True))
    return [[total(w for t, p, w in rows if (t, p) == (first, second)) for second in labels] for first in labels]


def accuracy(true: Labels, pred: Labels, weights: Sequence[Number] | None = None) -> Fraction:
    weights = unit_weights(weights, len(true))
    return total(w for t, p, w in zip(true, pred, weights, strict=True) if t == p) / total(weights)


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
