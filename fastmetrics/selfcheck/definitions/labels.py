"""True and predicted labels: classes, and partitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Labels = Sequence[int]


def accuracy(true: Labels, predicted: Labels) -> Fraction:
    return Fraction(sum(one == other for one, other in zip(true, predicted, strict=True)), len(true))


def _cells(true: Labels, predicted: Labels) -> tuple[int, int, int, int]:
    """True and false positives, false and true negatives."""
    cells = Counter(zip(true, predicted, strict=True))
    return cells[1, 1], cells[0, 1], cells[1, 0], cells[0, 0]


def precision(true: Labels, predicted: Labels) -> Fraction | None:
    hits, false_alarms, _, _ = _cells(true, predicted)
    return Fraction(hits, hits + false_alarms) if hits + false_alarms else None


def recall(true: Labels, predicted: Labels) -> Fraction | None:
    hits, _, misses, _ = _cells(true, predicted)
    return Fraction(hits, hits + misses) if hits + misses else None


def f1(true: Labels, predicted: Labels) -> Fraction | None:
    hits, false_alarms, misses, _ = _cells(true, predicted)
    total = 2 * hits + false_alarms + misses
    return Fraction(2 * hits, total) if total else None


def matthews(true: Labels, predicted: Labels) -> float | None:
    hits, false_alarms, misses, rest = _cells(true, predicted)
    product = (hits + false_alarms) * (hits + misses) * (rest + false_alarms) * (rest + misses)
    return (hits * rest - false_alarms * misses) / math.sqrt(product) if product else None


def cohen_kappa(true: Labels, predicted: Labels) -> Fraction | None:
    rows = len(true)
    one, other = Counter(true), Counter(predicted)
    by_chance = sum(Fraction(one[label] * other[label], rows * rows) for label in one)
    return (accuracy(true, predicted) - by_chance) / (1 - by_chance) if by_chance != 1 else None


def _pairs(classes: Labels, clusters: Labels) -> tuple[int, int, int, int]:
    """Pairs of rows that are together in both, in the classes, in the clusters, and all."""
    both = together = clustered = total = 0
    for one, other in combinations(range(len(classes)), 2):
        same, near = classes[one] == classes[other], clusters[one] == clusters[other]
        both += same and near
        together += same
        clustered += near
        total += 1
    return both, together, clustered, total


def rand(classes: Labels, clusters: Labels) -> Fraction:
    both, together, clustered, total = _pairs(classes, clusters)
    return Fraction(total - together - clustered + 2 * both, total)


def adjusted_rand(classes: Labels, clusters: Labels) -> Fraction:
    both, together, clustered, total = _pairs(classes, clusters)
    expected = Fraction(together * clustered, total)
    greatest = Fraction(together + clustered, 2)
    return (both - expected) / (greatest - expected) if greatest != expected else Fraction(1)


def purity(classes: Labels, clusters: Labels) -> Fraction:
    found = sum(
        max(Counter(own for own, number in zip(classes, clusters, strict=True) if number == cluster).values())
        for cluster in set(clusters)
    )
    return Fraction(found, len(classes))


def mutual_info(classes: Labels, clusters: Labels) -> float:
    rows, one, other = len(classes), Counter(classes), Counter(clusters)
    cells = Counter(zip(classes, clusters, strict=True))
    return math.fsum(
        number / rows * math.log(number * rows / (one[first] * other[second]))
        for (first, second), number in cells.items()
    )
