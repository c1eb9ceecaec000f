"""Blocks of checked rows: they fit the cache, and arrays are not copied where that is possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NoReturn, Protocol, TypeVar

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import accumulate, count_threads, for_each
from fastmetrics._core.state import Sums
from fastmetrics._core.statistic import AdditiveStatistic
from fastmetrics._kernels.columns import column_checks

BLOCK_ROWS = 1 << 17
SERIAL_ROWS = 1 << 16  # below this, one thread is faster than two
LARGE_PAGE_BYTES = 1 << 21
SLAB_BYTES = 1 << 23  # of large pages that are taken at a time
ALIGNED_BYTES = 64  # arrays begin at multiples
Result = TypeVar("Result")


def choose_thread_count(rows: int, n_threads: int | None) -> int:
    """The number of threads; one for few rows, where starting threads costs more than it saves."""
    threads = 1 if n_threads is None and rows < SERIAL_ROWS else count_threads(n_threads)
    return threads if rows >= SERIAL_ROWS else 1


def block_bounds(rows: int) -> Iterator[tuple[int, int]]:
    """Start and stop of every block."""
    for start in range(0, rows, BLOCK_ROWS):
        yield start, min(rows, start + BLOCK_ROWS)


def map_blocks(rows: int, work: Callable[[int, int], Result], n_threads: int) -> list[Result]:
    """The results of work(start, stop) for every block, in threads unless there are few rows."""
    bounds = list(block_bounds(rows))
    return for_each(len(bounds), lambda: lambda block: work(*bounds[block]), n_threads if rows > SERIAL_ROWS else 1)


def addresses(arrays: list[np.ndarray]) -> np.ndarray:
    """The address of each array's data. The arrays are contiguous; the caller keeps them alive."""
    return column_checks.read_addresses(arrays)


class LargePages:
    """Memory for arrays that are written from end to end, side by side in large pages; one object per thread.

    The system gives and clears 2 MB at the first touch, not 4 kB: NumPy asks for that from 4 MB on.
    """

    def __init__(self, slab_bytes: int = SLAB_BYTES) -> None:
        self.slab_bytes = max(LARGE_PAGE_BYTES, slab_bytes)
        self.left = np.empty(0, np.uint8)

    def array(self, dtype: Any, length: int) -> np.ndarray:
        """An array with arbitrary content."""
        n_bytes = length * np.dtype(dtype).itemsize
        if n_bytes > self.left.shape[0]:
            slab = np.empty(max(self.slab_bytes, n_bytes) + LARGE_PAGE_BYTES, np.uint8)
            first = -slab.__array_interface__["data"][0] % LARGE_PAGE_BYTES
            self.left = slab[first:]
        out: np.ndarray = self.left[:n_bytes].view(dtype)
        self.left = self.left[-(-n_bytes // ALIGNED_BYTES) * ALIGNED_BYTES :]
        return out


class Scratch:
    """Reusable memory of one thread. Pages that were touched once cost nothing the next time."""

    def __init__(self, pages: LargePages | None = None) -> None:
        self.memory: dict[str, np.ndarray] = {}
        self.pages = pages

    def array(self, name: str, dtype: Any, length: int) -> np.ndarray:
        """The array of this name, with arbitrary content. It shares memory with earlier arrays of the name."""
        n_bytes = length * np.dtype(dtype).itemsize
        memory = self.memory.get(name)
        if memory is None or memory.shape[0] < n_bytes:
            # An eighth more than needed, so that slowly growing requests do not reallocate each time.
            length = n_bytes + n_bytes // 8 + 8
            memory = np.empty(length, np.uint8) if self.pages is None else self.pages.array(np.uint8, length)
            self.memory[name] = memory
        return memory[:n_bytes].view(dtype)


class UnpooledScratch(Scratch):
    """New memory for every array; nothing is kept for the next request."""

    def array(self, name: str, dtype: Any, length: int) -> np.ndarray:
        return np.empty(length, dtype)


NO_COLUMNS: dict[str, np.ndarray] = {}
NO_VALUES: np.ndarray = np.empty(0)


class Rows(NamedTuple):
    """A block of checked rows of one label column and one score column.

    Scores are float32 or float64. Weights are float64 without zeros, or None. Labels are uint8, 0 and 1, if a metric of
    the plan needs two classes: metrics of numbers and of grades then read these. Otherwise labels are finite numbers,
    float32 or float64; grades are float64. Scores may be infinite: a metric that needs finite scores calls
    `raise_bad_score`.

    Attributes
    ----------
    first_row : int
        The row of the whole column at which the block begins.
    name, label_name : str
        Names of the score column and of the label column, for errors.
    row_numbers : ndarray or None
        If rows were left out or reordered: the number of each row, counted from `first_row`.
    eps : float or None
        The machine epsilon of the scores' original type, if they were widened.
    others : dict
        The columns of other roles. Metrics that read no labels or no scores find arrays without rows there.
    """

    labels: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None
    first_row: int = 0
    name: str = "y_score"
    row_numbers: np.ndarray | None = None
    eps: float | None = None
    label_name: str = "y_true"
    others: dict[str, np.ndarray] = NO_COLUMNS

    def raise_bad_probability(self) -> NoReturn:
        """Raise the error for scores that are not probabilities, with the row number of the whole column."""
        validation.raise_bad_probability(self.scores, self.name, self.first_row, self.row_numbers)

    def raise_bad_score(self) -> NoReturn:
        """Raise the error for scores that are not finite, with the row number of the whole column."""
        validation.raise_bad_number(self.scores, self.name, self.row_number)

    def row_number(self, row: int) -> int:
        """The number of a row of this block in the whole column."""
        return self.first_row + (row if self.row_numbers is None else int(self.row_numbers[row]))


class NonNumericColumn(Protocol):
    """A column of texts, labels or other values that are not numbers. Rows are selected with NumPy's indexing."""

    @property
    def rows(self) -> int: ...

    def __getitem__(self, where: Any) -> Any: ...


class NonNumericRows(NamedTuple):
    """A block of checked rows of a label column and a score column that are not numeric.

    The attributes are those of `Rows`.
    """

    label: Any
    score: Any
    first_row: int = 0
    name: str = "y_score"
    label_name: str = "y_true"
    row_numbers: np.ndarray | None = None
    weights: np.ndarray | None = None


class Output(NamedTuple):
    """A score column and the label column it is compared with, both as numbers."""

    label: int
    score: int


class RowBlock(NamedTuple):
    """A block of checked rows with all columns of a plan. `rows_of_output` selects the columns of one metric.

    A column of several numbers in a row is a matrix with a row for each row. Labels, scores and weights are as in
    `Rows`; `slice_codes` (uint16) has codes for the values of each column of slices. The exchanges store blocks whose
    labels are classes (uint8), numbers (float64) or numbers of classes (int64). `others` are the columns of other
    roles, by role.

    Metrics that are not numeric have `label_columns` and `score_columns` instead of labels and scores.
    """

    labels: tuple[np.ndarray, ...]
    scores: tuple[np.ndarray, ...]
    weights: np.ndarray | None = None
    first_row: int = 0
    names: tuple[str, ...] = ()
    row_numbers: np.ndarray | None = None
    eps: tuple[float | None, ...] = ()
    label_names: tuple[str, ...] = ()
    label_columns: tuple[NonNumericColumn, ...] = ()
    score_columns: tuple[NonNumericColumn, ...] = ()
    others: dict[str, np.ndarray] = NO_COLUMNS
    slice_codes: tuple[np.ndarray, ...] = ()

    @property
    def rows(self) -> int:
        if self.labels:
            return int(self.labels[0].shape[0])
        if self.score_columns:
            return self.score_columns[0].rows
        first = self.scores[0] if self.scores else next(iter(self.others.values()))
        return int(first.shape[0])

    def move(self, function: Callable[[Any], Any]) -> RowBlock:
        """The block with `function` applied to every column: it selects, reorders or copies rows.

        Names, `first_row` and `row_numbers` stay as they are.
        """
        return self._replace(
            labels=tuple(map(function, self.labels)),
            scores=tuple(map(function, self.scores)),
            weights=None if self.weights is None else function(self.weights),
            label_columns=tuple(map(function, self.label_columns)),
            score_columns=tuple(map(function, self.score_columns)),
            others={role: function(column) for role, column in self.others.items()},
            slice_codes=tuple(map(function, self.slice_codes)),
        )

    def non_numeric_rows(self, output: Output) -> NonNumericRows:
        """The two columns of an output that is not numeric."""
        label, score = self.label_columns[output.label], self.score_columns[output.score]
        return NonNumericRows(
            label, score, self.first_row, self.names[output.score], self.label_names[output.label], self.row_numbers,
            self.weights,
        )  # fmt: skip

    def rows_of_output(self, output: Output) -> Rows:
        """The labels and scores of an output, with the weights."""
        name = self.names[output.score] if self.names else "y_score"
        eps = self.eps[output.score] if self.eps else None
        labels = self.labels[output.label] if self.labels else NO_VALUES
        scores = self.scores[output.score] if self.scores else NO_VALUES
        label_name = self.label_names[output.label] if self.label_names else "y_true"
        return Rows(
            labels, scores, self.weights, self.first_row, name, self.row_numbers, eps, label_name, self.others
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """The columns by name, as blocks store them."""
        named: dict[str, np.ndarray] = {label_name(number): array for number, array in enumerate(self.labels)}
        for number, array in enumerate(self.scores):
            named |= stored_columns(score_name(number), array)
        for role, array in self.others.items():
            named |= stored_columns(role_name(role), array)
        if self.weights is not None:
            named[WEIGHT] = self.weights
        return named | slice_columns(self.slice_codes)


WEIGHT = "weight"
SLICE = "slice"
LABEL, SCORE, ROLE, SLICE_CODE = "label", "score", "role", "slice code"  # kinds of columns of which there are several


class ColumnKey(str):
    """The name of a stored column that knows which column it is.

    `kind` is one of the kinds above, `which` the number of the column or its role, and `entry` the place of the column
    in a matrix, which is stored column by column.
    """

    kind: str
    which: int | str
    entry: int | None

    def __new__(cls, kind: str, which: int | str, entry: int | None = None) -> ColumnKey:
        key = super().__new__(cls, f"{kind} {which}" if entry is None else f"{kind} {which}.{entry}")
        key.kind, key.which, key.entry = kind, which, entry
        return key

    def __reduce__(self) -> tuple[Any, ...]:
        return ColumnKey, (self.kind, self.which, self.entry)


@lru_cache
def label_name(number: int) -> ColumnKey:
    return ColumnKey(LABEL, number)


@lru_cache
def score_name(number: int) -> ColumnKey:
    return ColumnKey(SCORE, number)


@lru_cache
def slice_code_name(number: int) -> ColumnKey:
    """The name under which the codes of a column of slices are stored."""
    return ColumnKey(SLICE_CODE, number)


def slice_columns(codes: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """The columns of slices as blocks store them: the codes, and memory for the slice of every row in one set."""
    if not codes:
        return {}
    named: dict[str, np.ndarray] = {slice_code_name(number): column for number, column in enumerate(codes)}
    return named | {SLICE: np.zeros(codes[0].shape[0], np.uint16)}


@lru_cache
def role_name(role: str) -> ColumnKey:
    return ColumnKey(ROLE, role)


@lru_cache
def vector_name(name: ColumnKey, number: int) -> ColumnKey:
    """The name under which one of the columns of a matrix is stored."""
    return ColumnKey(name.kind, name.which, number)


def names_of(columns: Iterable[str], *kinds: str) -> list[ColumnKey]:
    """The names of these kinds among those of stored columns."""
    return [name for name in columns if isinstance(name, ColumnKey) and name.kind in kinds]


def stored_columns(name: ColumnKey, array: np.ndarray) -> dict[str, np.ndarray]:
    """A column as blocks store it: a matrix column by column."""
    if array.ndim == 1:
        return {name: array}
    return {vector_name(name, number): column for number, column in enumerate(np.ascontiguousarray(array.T))}


def vector_length(names: Iterable[str], name: ColumnKey) -> int:
    """The number of columns that a matrix has among stored columns."""
    return sum(own.which == name.which and own.entry is not None for own in names_of(names, name.kind))


def loaded_column(columns: dict[str, np.ndarray], name: ColumnKey) -> np.ndarray:
    """A column from stored columns; without rows if there is none of the name."""
    length = vector_length(columns, name)
    if length:
        return np.stack([columns[vector_name(name, number)] for number in range(length)], axis=1)
    return columns.get(name, NO_VALUES)


def other_columns(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The columns of other roles among stored columns, by role."""
    roles = dict.fromkeys(str(name.which) for name in names_of(columns, ROLE))
    return {role: loaded_column(columns, role_name(role)) for role in roles}


def map_reduce(
    statistics: Sequence[AdditiveStatistic],
    n_tasks: int,
    make_loader: Callable[[], Callable[[int], Iterable[Any]]],
    n_threads: int,
) -> list[Sums]:
    """The states of statistics over all blocks.

    `make_loader()` returns a function that yields the blocks of a task; a block is valid until the next one. Every
    thread has its own loader (with scratch memory) and its own states. The states are merged at the end.
    """

    def make_state() -> tuple[Callable[[int], Iterable[Any]], list[Sums]]:
        return make_loader(), [statistic.empty() for statistic in statistics]

    def update(own: tuple[Callable[[int], Iterable[Any]], list[Sums]], task: int) -> None:
        load, states = own
        for block in load(task):
            for statistic, state in zip(statistics, states, strict=True):
                statistic.update(state, block)

    (_, merged), *others = accumulate(n_tasks, make_state, update, n_threads)
    for _, states in others:
        for into, state in zip(merged, states, strict=True):
            into.merge(state)
    return merged
