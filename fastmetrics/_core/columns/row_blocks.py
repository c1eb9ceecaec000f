"""Rows on their way to a metric: in blocks that fit the cache, checked once, without copies where possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

from fastmetrics._core import inputs

BLOCK_ROWS = 1 << 17
SERIAL_ROWS = 1 << 16  # below this, one thread is faster than two


def block_bounds(rows: int) -> Iterator[tuple[int, int]]:
    """Start and stop of every block."""
    for start in range(0, rows, BLOCK_ROWS):
        yield start, min(rows, start + BLOCK_ROWS)


def addresses(arrays: list[np.ndarray]) -> np.ndarray:
    """Where the arrays' data are. The arrays must outlive the use."""
    return np.array([array.ctypes.data for array in arrays], np.uint64)


class Slab:
    """Memory for a column, handed out in pieces: large allocations get large pages, which saves most page faults."""

    def __init__(self, dtype: np.dtype, rows: int) -> None:
        self.memory: np.ndarray[tuple[int], Any] = np.empty(rows, dtype)
        self.used = 0

    def has(self, rows: int) -> bool:
        return self.used + rows <= self.memory.shape[0]

    def take(self, rows: int) -> np.ndarray:
        """The next piece; `has(rows)` must hold."""
        piece = self.memory[self.used : self.used + rows]
        self.used += rows
        return piece


class Scratch:
    """One thread's memory that is used again and again: pages that were touched once cost nothing the next time."""

    def __init__(self) -> None:
        self.memory: dict[str, np.ndarray] = {}

    def take(self, name: str, dtype: Any, length: int) -> np.ndarray:
        """An array of that name; what was in it before is lost."""
        n_bytes = length * np.dtype(dtype).itemsize
        memory = self.memory.get(name)
        if memory is None or memory.shape[0] < n_bytes:
            # A little more, so that slowly growing wishes do not each get memory of their own.
            memory = self.memory[name] = np.empty(n_bytes + n_bytes // 8 + 8, np.uint8)
        return memory[:n_bytes].view(dtype)


class Fresh(Scratch):
    """Memory that is used once: nothing is remembered."""

    def take(self, name: str, dtype: Any, length: int) -> np.ndarray:
        return np.empty(length, dtype)


class Rows(NamedTuple):
    """A block of rows, checked: scores are float32 or float64, weights float64 (none of them 0) or None.

    Labels are uint8, 0 and 1, where any metric of the plan needs two classes; metrics of numbers and of grades then see
    these. Where none does, labels are finite numbers, float32 or float64; where grades are wanted, float64. Scores may
    be infinite: a metric that needs finite ones says so, by `raise_bad_score`.
    """

    labels: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None
    first_row: int = 0
    name: str = "y_score"
    # Where rows were left out or reordered: the place of each, counted from first_row.
    places: np.ndarray | None = None
    # The machine epsilon of the type the scores came in, when they were widened since.
    eps: float | None = None
    label_name: str = "y_true"

    def raise_bad_probability(self) -> NoReturn:
        """The error for scores that are no probabilities, in the numbering of the whole column."""
        inputs.raise_bad_probability(self.scores, self.name, self.first_row, self.places)

    def raise_bad_score(self) -> NoReturn:
        """The error for scores that are not finite, in the numbering of the whole column."""
        inputs.raise_bad_number(self.scores, self.name, self.place)

    def place(self, row: int) -> int:
        """Where a row of this block stands in the whole column."""
        return self.first_row + (row if self.places is None else int(self.places[row]))


class RowColumn(Protocol):
    """A column of what is no number, texts say: rows are chosen as NumPy chooses them."""

    @property
    def rows(self) -> int: ...

    def __getitem__(self, where: Any) -> Any: ...


class ColumnPair(NamedTuple):
    """A block of rows, checked, of a label and a score column that are no numbers; what is named is as in Rows."""

    label: Any
    score: Any
    first_row: int = 0
    name: str = "y_score"
    label_name: str = "y_true"
    places: np.ndarray | None = None


class View(NamedTuple):
    """One score column seen against one label column, both by number."""

    label: int
    score: int


class Columns(NamedTuple):
    """A block of rows, checked, with all columns that play a part; `view` gives what a metric looks at.

    Labels, scores and weights are as in Rows; `slices` (uint16) tells the slice of every row. The exchanges keep
    blocks of classes (uint8) or of grades (float64): metrics of numbers have none.

    Where metrics take no numbers, there are `label_columns` and `score_columns` in the place of labels and scores.
    """

    labels: tuple[np.ndarray, ...]
    scores: tuple[np.ndarray, ...]
    weights: np.ndarray | None = None
    slices: np.ndarray | None = None
    first_row: int = 0
    names: tuple[str, ...] = ()
    places: np.ndarray | None = None
    eps: tuple[float | None, ...] = ()
    label_names: tuple[str, ...] = ()
    label_columns: tuple[RowColumn, ...] = ()
    score_columns: tuple[RowColumn, ...] = ()

    @property
    def rows(self) -> int:
        return self.score_columns[0].rows if self.score_columns else int(self.labels[0].shape[0])

    def view_pair(self, view: View) -> ColumnPair:
        """What a metric looks at that takes no numbers."""
        label, score = self.label_columns[view.label], self.score_columns[view.score]
        return ColumnPair(
            label, score, self.first_row, self.names[view.score], self.label_names[view.label], self.places
        )

    def view(self, view: View) -> Rows:
        name = self.names[view.score] if self.names else "y_score"
        eps = self.eps[view.score] if self.eps else None
        labels, scores = self.labels[view.label], self.scores[view.score]
        label_name = self.label_names[view.label] if self.label_names else "y_true"
        return Rows(labels, scores, self.weights, self.first_row, name, self.places, eps, label_name)

    def arrays(self) -> dict[str, np.ndarray]:
        """The columns by name, as blocks keep them."""
        named = {label_name(number): array for number, array in enumerate(self.labels)}
        named |= {score_name(number): array for number, array in enumerate(self.scores)}
        if self.weights is not None:
            named[WEIGHT] = self.weights
        if self.slices is not None:
            named[SLICE] = self.slices
        return named


LABEL = "label "
SCORE = "score "
WEIGHT = "weight"
SLICE = "slice"


def label_name(number: int) -> str:
    return f"{LABEL}{number}"


def score_name(number: int) -> str:
    return f"{SCORE}{number}"
