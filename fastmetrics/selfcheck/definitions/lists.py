"""Ranked lists: the grades of a list, best score first, without tied scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

Grades = Sequence[int]


def ordered(grades: Grades, scores: Sequence[float]) -> list[int]:
    return [grades[row] for row in sorted(range(len(grades)), key=lambda row: -scores[row])]


def mean(of_list: Callable[..., float | Fraction]) -> Callable[..., float | Fraction]:
    """A measure of one list, averaged over lists."""

    def of_lists(grades: Sequence[Grades], scores: Sequence[Sequence[float]], **options: int) -> float | Fraction:
        values = [of_list(ordered(*one), **options) for one in zip(grades, scores, strict=True)]
        if all(isinstance(value, Fraction) for value in values):
            return sum(values, Fraction(0)) / len(values)
        return math.fsum(values) / len(values)

    return of_lists


def dcg(grades: Grades, k: int) -> float:
    return math.fsum(grade / math.log2(place + 2) for place, grade in enumerate(grades[:k]))


def ndcg(grades: Grades, k: int) -> float:
    ideal = dcg(sorted(grades, reverse=True), k)
    return dcg(grades, k) / ideal if ideal else 0.0


def precision(grades: Grades, k: int) -> Fraction:
    return Fraction(sum(grade > 0 for grade in grades[:k]), k)


def recall(grades: Grades, k: int) -> Fraction:
    relevant = sum(grade > 0 for grade in grades)
    return Fraction(sum(grade > 0 for grade in grades[:k]), relevant) if relevant else Fraction(0)


def hit_rate(grades: Grades, k: int) -> Fraction:
    return Fraction(any(grades[:k]))


def reciprocal_rank(grades: Grades) -> Fraction:
    return next((Fraction(1, place) for place, grade in enumerate(grades, 1) if grade), Fraction(0))


def average_precision(grades: Grades) -> Fraction:
    hits = [place for place, grade in enumerate(grades, 1) if grade]
    total = sum((Fraction(number, place) for number, place in enumerate(hits, 1)), Fraction(0))
    return total / len(hits) if hits else Fraction(0)
