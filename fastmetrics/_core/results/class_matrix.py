"""The confusion matrix of a report, the counts of sets of labels, and what they say about each class."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple


class ClassRow(NamedTuple):
    """One class of a confusion matrix, or one label of sets. A ratio without rows is NaN."""

    label: Any
    rows: float
    predicted: float
    precision: float
    recall: float
    f1: float


class ClassMatrix(NamedTuple):
    """Rows, or their weights, by label and predicted label; `counts[i][j]` are those of class i predicted as class j.

    `label` and `prediction` are the columns. Classes are sorted.
    """

    label: str
    prediction: str
    classes: tuple[Any, ...]
    counts: tuple[tuple[float, ...], ...]

    def by_class(self) -> list[ClassRow]:
        """A row for each class."""
        right = [counts[number] for number, counts in enumerate(self.counts)]
        columns = zip(*self.counts, strict=True)
        return class_rows(self.classes, right, map(math.fsum, self.counts), map(math.fsum, columns))


class LabelTable(NamedTuple):
    """The rows, or their weights, of each label of sets of labels: `right` have it on both sides.

    `label` and `prediction` are the columns; `true` and `predicted` are the rows that have the label there. Labels are
    sorted.
    """

    label: str
    prediction: str
    labels: tuple[Any, ...]
    right: tuple[float, ...]
    true: tuple[float, ...]
    predicted: tuple[float, ...]

    def by_class(self) -> list[ClassRow]:
        """A row for each label."""
        return class_rows(self.labels, self.right, self.true, self.predicted)


def class_rows(
    classes: Iterable[Any], right: Iterable[float], true: Iterable[float], predicted: Iterable[float]
) -> list[ClassRow]:
    """A row for each class, from its rows that are right, true and predicted."""
    return [
        ClassRow(label, of_label, guessed, quotient(both, guessed), quotient(both, of_label),
                 quotient(2 * both, of_label + guessed))
        for label, both, of_label, guessed in zip(classes, right, true, predicted, strict=True)
    ]  # fmt: skip


def quotient(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else math.nan
