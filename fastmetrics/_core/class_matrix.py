"""The confusion matrix of a report, and what it says about each class."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class ClassRow(NamedTuple):
    """One class of a confusion matrix. A ratio without rows is NaN."""

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
        columns = list(zip(*self.counts, strict=True))
        rows = []
        for number, label in enumerate(self.classes):
            true, predicted = math.fsum(self.counts[number]), math.fsum(columns[number])
            right = self.counts[number][number]
            ratios = quotient(right, predicted), quotient(right, true), quotient(2 * right, true + predicted)
            rows.append(ClassRow(label, true, predicted, *ratios))
        return rows


def quotient(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else math.nan
