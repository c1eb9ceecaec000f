"""What metrics read of a table of classes or of sets of labels: sorted labels, margins, and the rows of each cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.label_codes import LabelCodes
from fastmetrics._core.tables.cell_table import Cells, CellTable
from fastmetrics._core.tables.contingency_state import ALL, LabelSums, add_amounts
from fastmetrics._kernels.classification import label_sets as kernel
from fastmetrics.metrics.classification.confusion_matrix import ClassMargins

SIZE_MASK = (1 << kernel.SIZE_SHIFT) - 1
MOST_FIRST_LIMB = exact.EXPONENT // exact.LIMB_BITS  # that of weights which are whole numbers
SMALL_INTEGER, INTEGER_BYTES, POINTER_BYTES = 256, 36, 8  # in a list of Python; small integers are shared


def counted_bytes(found: LabelSums) -> int:
    """What labels and their margins take, as arrays and as lists of Python."""
    n_labels = found.labels.shape[0]
    n_large = n_labels + int(np.count_nonzero((found.sums > SMALL_INTEGER).any(axis=1)))
    n_bytes: int = found.labels.nbytes + POINTER_BYTES * (1 + found.sums.shape[0]) * n_labels + INTEGER_BYTES * n_large
    return n_bytes


def select_classes(cells: Cells, true: np.ndarray, predicted: np.ndarray) -> Iterable[tuple[np.ndarray, Any]]:
    """The cells of each margin, of pairs of a label and a predicted label."""
    right = true == predicted
    return (true[right], right), (true, ALL), (predicted, ALL)


def select_sides(cells: Cells, labels: np.ndarray) -> Iterable[tuple[np.ndarray, Any]]:
    """The cells of each margin, of pairs of a label and the side it is on."""
    sides = cells.second
    selected = sides == kernel.BOTH, sides != kernel.PREDICTED_ONLY, sides != kernel.TRUE_ONLY
    return ((labels[where], where) for where in selected)


class CountedLabels:
    """The counts of each label, of classes or of sets.

    Attributes
    ----------
    classes : list
        All labels, sorted.
    rows : int
        The number of all rows.
    margins : ClassMargins
        Of each label: rows that have it on both sides, as a true and as a predicted label; and all rows. With weights,
        exact weights in the unit of the limb `first_limb`.
    """

    __slots__ = ("classes", "first_limb", "found", "margins", "ranks", "rows")
    holds_sets = False
    margins: ClassMargins

    def __init__(self, codes: LabelCodes, found: LabelSums, rows: int, first_limb: int) -> None:
        self.found = found._replace(sums=found.sums[:, :, :0])
        self.rows = rows
        self.first_limb = min(first_limb, MOST_FIRST_LIMB)
        self.classes, self.ranks = codes.sort_labels(found.labels)
        ordered = np.empty_like(found.sums)
        ordered[:, :, self.ranks] = found.sums
        both, true, predicted = (found.cells.integers(own, self.first_limb) for own in ordered)
        self.margins = ClassMargins(both, true, predicted, sum(true))

    @property
    def is_weighted(self) -> bool:
        return self.found.cells.limbs is not None

    @property
    def scale(self) -> int:
        """What one row, or a weight of 1, counts in integers of the margins."""
        return 1 << (exact.EXPONENT - exact.LIMB_BITS * self.first_limb) if self.is_weighted else 1

    def as_numbers(self, integers: list[int]) -> np.ndarray:
        """Integers of the margins as rows (int64) or as weights (float64, each rounded once)."""
        if not self.is_weighted:
            return np.array(integers, np.int64)
        scale = self.scale
        return np.array([exact.divide(value, scale) for value in integers], np.float64)


class ClassCells(CountedLabels):
    """The counts of classes, and the cells of their confusion matrix, which are read from the table."""

    __slots__ = ("table",)

    def __init__(self, codes: LabelCodes, found: LabelSums, table: CellTable) -> None:
        super().__init__(codes, found, table.n_rows, found.cells.first_limb)
        self.table = table

    def parts(self) -> Iterator[tuple[Cells, np.ndarray, np.ndarray]]:
        """Cells that are not empty, and the positions of their labels and predicted labels among the classes."""
        for cells in self.table.parts():
            columns = cells.first, cells.second
            true, predicted = (self.ranks[np.searchsorted(self.found.labels, own)] for own in columns)
            yield cells, true, predicted

    def by_distance(self) -> list[int]:
        """The rows, or the exact weights, of the cells whose positions are so far apart."""
        sums = np.zeros((self.found.sums.shape[1], len(self.classes)), np.int64)
        for cells, true, predicted in self.parts():
            add_amounts(sums, np.abs(true - predicted), cells.amounts)
        return self.found.cells.integers(sums, self.first_limb)

    def matrix(self) -> np.ndarray:
        """The confusion matrix, with a row and a column for every class."""
        n = len(self.classes)
        matrix = np.zeros((n, n), np.float64 if self.is_weighted else np.int64)
        for cells, true, predicted in self.parts():
            matrix[true, predicted] = self.as_numbers(cells.integers(cells.amounts, self.first_limb))
        return matrix


class SetCounts(CountedLabels):
    """The counts of sets of labels.

    Attributes
    ----------
    both, true, predicted : ndarray
        Of each sizes of sets that occur: the labels on both sides, in the true set and in the predicted set.
    amounts : list of int
        The rows with these sizes, or their exact weights.
    """

    __slots__ = ("amounts", "both", "predicted", "true")
    holds_sets = True

    def __init__(self, codes: LabelCodes, found: LabelSums, sizes: CellTable) -> None:
        cells = sizes.cells()
        super().__init__(codes, found, sizes.n_rows, min(found.cells.first_limb, cells.first_limb))
        self.both = cells.first
        self.true, self.predicted = cells.second >> kernel.SIZE_SHIFT, cells.second & SIZE_MASK
        self.amounts = cells.integers(cells.amounts, self.first_limb)
        self.margins = self.margins._replace(total=sum(self.amounts))

    def sum_where(self, where: np.ndarray) -> int:
        """The rows, or the exact weights, of selected sizes."""
        return sum(self.amounts[cell] for cell in np.flatnonzero(where).tolist())
