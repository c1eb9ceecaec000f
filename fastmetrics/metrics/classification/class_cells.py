"""What metrics read of a table of classes or of sets of labels: sorted labels, margins, and the rows of each cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.tables.cell_table import Cells
from fastmetrics._kernels.classification import label_sets as kernel
from fastmetrics.metrics.classification.confusion_matrix import ClassMargins

SIZE_MASK = (1 << kernel.SIZE_SHIFT) - 1


def sum_cells(cells: Cells, positions: np.ndarray, where: Any, size: int) -> list[int]:
    """The rows, or the exact weights, of selected cells, by their positions among `size`."""
    if cells.states is None:
        sums = np.zeros(size, np.int64)
        np.add.at(sums, positions, cells.counts[where])
        return [int(value) for value in sums]
    states = exact.new_states(size)
    np.add.at(states, positions, cells.states[where])
    exact.merge_states(states, exact.new_states(size))  # sums of limbs are normalised
    return [exact.to_integer(state) for state in states]


class CountedLabels:
    """The counts of each label, of classes or of sets.

    Attributes
    ----------
    classes : list
        All labels, sorted.
    cells : Cells
        Rows and weights of the pairs of the table.
    margins : ClassMargins
        Of each label: rows that have it on both sides, as a true and as a predicted label; and all rows.
    """

    __slots__ = ("cells", "classes", "margins")
    holds_sets = False
    margins: ClassMargins

    def __init__(self, classes: list[Any], cells: Cells) -> None:
        self.classes = classes
        self.cells = cells

    @property
    def is_weighted(self) -> bool:
        return self.cells.states is not None

    @property
    def scale(self) -> int:
        """What one row counts in integers of the margins: 1, or the scale of exact weights."""
        return 1 << exact.EXPONENT if self.is_weighted else 1

    @property
    def rows(self) -> int:
        return int(self.cells.counts.sum())

    def as_numbers(self, integers: list[int]) -> np.ndarray:
        """Integers of the margins as rows (int64) or as weights (float64, each rounded once)."""
        if not self.is_weighted:
            return np.array(integers, np.int64)
        return np.array([exact.divide(value, self.scale) for value in integers], np.float64)


class ClassCells(CountedLabels):
    """The cells of a confusion matrix, not the empty ones.

    Attributes
    ----------
    true, predicted : ndarray
        Of each cell, the positions of its label and of its predicted label among the classes.
    """

    __slots__ = ("predicted", "true")

    def __init__(self, classes: list[Any], true: np.ndarray, predicted: np.ndarray, cells: Cells) -> None:
        super().__init__(classes, cells)
        self.true = true
        self.predicted = predicted
        right = true == predicted
        none = slice(None)
        self.margins = ClassMargins(
            self.sum_by(true[right], right), self.sum_by(true, none), self.sum_by(predicted, none), 0
        )
        self.margins = self.margins._replace(total=sum(self.margins.true))

    def sum_by(self, positions: np.ndarray, where: Any, size: int | None = None) -> list[int]:
        """The rows, or the exact weights, of selected cells, by their positions among `size` (default: the classes)."""
        return sum_cells(self.cells, positions, where, len(self.classes) if size is None else size)

    def matrix(self) -> np.ndarray:
        """The confusion matrix, with a row and a column for every class."""
        n = len(self.classes)
        matrix = np.zeros((n, n), np.float64 if self.is_weighted else np.int64)
        n_cells = self.true.shape[0]
        matrix[self.true, self.predicted] = self.as_numbers(self.sum_by(np.arange(n_cells), slice(None), n_cells))
        return matrix


class SetCounts(CountedLabels):
    """The counts of sets of labels.

    Attributes
    ----------
    cells : Cells
        Rows of sets by their sizes: `both`, `true` and `predicted` are those of each cell.
    both, true, predicted : ndarray
        The labels on both sides, in the true set and in the predicted set.
    amounts : list of int
        The rows of each cell, or their exact weights.
    """

    __slots__ = ("amounts", "both", "predicted", "true")
    holds_sets = True

    def __init__(self, classes: list[Any], positions: np.ndarray, labels: Cells, sizes: Cells) -> None:
        super().__init__(classes, sizes)
        self.both = sizes.first
        self.true, self.predicted = sizes.second >> kernel.SIZE_SHIFT, sizes.second & SIZE_MASK
        n_cells = sizes.first.shape[0]
        self.amounts = sum_cells(sizes, np.arange(n_cells), slice(None), n_cells)

        def sum_side(*other: int) -> list[int]:
            where = ~np.isin(labels.second, other)
            return sum_cells(labels, positions[where], where, len(classes))

        both = sum_side(kernel.TRUE_ONLY, kernel.PREDICTED_ONLY)
        self.margins = ClassMargins(
            both, sum_side(kernel.PREDICTED_ONLY), sum_side(kernel.TRUE_ONLY), sum(self.amounts)
        )

    def sum_where(self, where: np.ndarray) -> int:
        """The rows, or the exact weights, of selected cells."""
        return sum(self.amounts[cell] for cell in np.flatnonzero(where).tolist())
