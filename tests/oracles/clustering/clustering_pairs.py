"""Metrics of two partitions in plain Python, from every pair of rows, as fractions.

W. Rand, "Objective criteria for the evaluation of clustering methods", 1971; L. Hubert, P. Arabie, "Comparing
partitions", 1985; E. Fowlkes, C. Mallows, "A method for comparing two hierarchical clusterings", 1983; A. Ben-Hur, A.
Elisseeff, I. Guyon, "A stability based method for discovering structure in clustered data", 2002; Y. Zhao, G. Karypis,
"Criterion functions for document clustering", 2001.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import comb
from typing import Any

Labels = Sequence[Any]
Table = list[list[int]]


def contingency(labels_true: Labels, labels_pred: Labels) -> Table:
    """The rows with each pair of labels; classes and clusters are sorted."""
    cells = Counter(zip(labels_true, labels_pred, strict=True))
    return [[cells[label, cluster] for cluster in sorted(set(labels_pred))] for label in sorted(set(labels_true))]


def pair_confusion(labels_true: Labels, labels_pred: Labels) -> Table:
    """The ordered pairs of rows, by whether they are together in the first and in the second partition."""
    pairs = Counter(
        (labels_true[i] == labels_true[j], labels_pred[i] == labels_pred[j])
        for i, j in permutations(range(len(labels_true)), 2)
    )
    return [[pairs[False, False], pairs[False, True]], [pairs[True, False], pairs[True, True]]]


def rand(labels_true: Labels, labels_pred: Labels) -> float:
    (neither, _), (_, both) = pair_confusion(labels_true, labels_pred)
    pairs = len(labels_true) * (len(labels_true) - 1)
    return float(Fraction(neither + both, pairs)) if pairs else 1.0


def adjusted_rand(labels_true: Labels, labels_pred: Labels) -> float:
    """Hubert and Arabie's equation 5, in unordered pairs: the index, its expectation and its maximum."""
    return adjusted_rand_of(contingency(labels_true, labels_pred))


def adjusted_rand_of(cells: Table) -> float:
    index = sum(comb(count, 2) for row in cells for count in row)
    classes = sum(comb(sum(row), 2) for row in cells)
    clusters = sum(comb(sum(column), 2) for column in zip(*cells, strict=True))
    if index == classes == clusters:
        return 1.0
    expected = Fraction(classes * clusters, comb(sum(map(sum, cells)), 2))
    return float((index - expected) / (Fraction(classes + clusters, 2) - expected))


def fowlkes_mallows_squared(labels_true, labels_pred):
    """The square as a fraction; 0 if no pair is together in both partitions."""
    (_, only_pred), (only_true, both) = pair_confusion(labels_true, labels_pred)
    return Fraction(both, both + only_true) * Fraction(both, both + only_pred) if both else Fraction(0)


def pair_jaccard(labels_true, labels_pred):
    """None if no pair is together in either partition."""
    (_, only_pred), (only_true, both) = pair_confusion(labels_true, labels_pred)
    either = both + only_true + only_pred
    return float(Fraction(both, either)) if either else None


def purity(labels_true: Labels, labels_pred: Labels) -> float:
    rows = list(zip(labels_true, labels_pred, strict=True))
    clusters = [Counter(label for label, other in rows if other == cluster) for cluster in set(labels_pred)]
    return float(Fraction(sum(max(classes.values()) for classes in clusters), len(labels_true)))


def jaccard_distance(first, second):
    """The Jaccard distance of two sets; two empty sets are equal."""
    return float(1 - Fraction(len(first & second), len(first | second))) if first | second else 0.0
