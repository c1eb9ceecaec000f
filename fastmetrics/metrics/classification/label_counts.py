"""Two columns of labels, counted against each other: the confusion matrix, and tp, fp, fn and tn of each label.

Columns with few rows and labels take one kernel call. Longer columns are divided into chunks of rows. Each thread
counts its chunks in a table over the range of labels that it has read so far. Labels too far apart for such a table are
encoded first. Weighted counts are exact sums (`label_weights.py`), rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import categorical, validation
from fastmetrics._core.columns import class_labels as targets
from fastmetrics._core.columns.row_blocks import choose_thread_count
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import accumulate, for_each
from fastmetrics._kernels.classification import label_counts as kernel
from fastmetrics._kernels.classification import label_weights as weight_kernel
from fastmetrics.metrics.classification import label_weights
from fastmetrics.metrics.classification.label_weights import WeightSquare

CHUNK_ROWS = 1 << 18
LOOK_AHEAD = 16 * kernel.BLOCK_ROWS  # rows whose range is read when a label of a block does not fit the table
MAX_TABLE_BITS = 11  # a table of 2048 x 2048 labels
MAX_COPIED_BITS = 7  # larger tables have one copy
TABLE_COPIES = 4

Result = TypeVar("Result")
Cells = TypeVar("Cells", "ConfusionCounts", "WeighedCells")


class ClassCounts(NamedTuple):
    """Counts per label, or per row (samplewise): int64, or float64 with weights (exact sums, rounded once).

    `classes` are the counted labels, in order. `present` are the labels found in the data, sorted. `any_right` is true
    if any label, counted here or not, was predicted where it is true.
    """

    tp: np.ndarray
    fp: np.ndarray
    fn: np.ndarray
    tn: np.ndarray
    classes: np.ndarray
    present: np.ndarray
    kind: str
    rows: int
    any_right: bool


class ConfusionCounts(NamedTuple):
    """A confusion matrix and its classes: the rows with each pair of labels, or their weights; classes are sorted."""

    classes: np.ndarray
    counts: np.ndarray

    def move(self, classes: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> ConfusionCounts:
        """The cells among more classes: `rows` and `columns` are the new places of both columns' classes."""
        counts = np.zeros((classes.shape[0], classes.shape[0]), np.int64)
        counts[np.ix_(rows, columns)] = self.counts[: rows.shape[0], : columns.shape[0]]
        return ConfusionCounts(classes, counts)


class WeighedCells(NamedTuple):
    """A confusion matrix of exact weights, and its classes, which are sorted."""

    classes: np.ndarray
    weights: WeightSquare

    def move(self, classes: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> WeighedCells:
        square = self.weights.select(np.arange(rows.shape[0]), np.arange(columns.shape[0]))
        return WeighedCells(classes, square.move(classes.shape[0], rows, columns))


Codes = tuple[np.ndarray, np.ndarray, np.ndarray]  # classes, and the codes of both columns


class LabelRangeError(Exception):
    """The labels are too far apart for a table over their range."""


def map_chunks(rows: int, n_threads: int, work: Callable[[int, int], Result]) -> list[Result]:
    """The results of work(start, stop) for chunks of rows, in threads. Calls must not write to the same memory."""
    if rows <= CHUNK_ROWS:
        return [work(0, rows)]
    bounds = chunk_bounds(rows)
    return for_each(len(bounds), lambda: lambda chunk: work(*bounds[chunk]), n_threads)


def chunk_bounds(rows: int) -> list[tuple[int, int]]:
    """Start and stop of every chunk of rows."""
    return [(start, min(rows, start + CHUNK_ROWS)) for start in range(0, rows, CHUNK_ROWS)]


class RangeTable:
    """One thread's table over the range of the labels counted so far."""

    __slots__ = ("bits", "low", "table")

    def __init__(self) -> None:
        self.bits = -1
        self.low = 0
        self.table = np.zeros((1, 0), np.int64)

    def count(self, true: np.ndarray, pred: np.ndarray, start: int, stop: int) -> None:
        while start < stop:
            if self.bits >= 0:
                start = kernel.count_cells(true, pred, start, stop, self.low, self.bits, self.table)
            if start < stop:
                span = kernel.label_range(true, pred, start, min(stop, start + LOOK_AHEAD))
                if span is None:
                    raise LabelRangeError
                self.extend_to(*span, true.shape[0])

    def extend_to(self, low: int, high: int, rows: int) -> None:
        """Extend the table to the labels from low to high."""
        square, first, last = self.used_square()
        if last >= first:
            low, high = min(low, first), max(high, last)
        bits = int(high - low).bit_length()
        if bits > MAX_TABLE_BITS or 1 << 2 * bits > max(4096, 4 * rows):
            raise LabelRangeError
        table = np.zeros((TABLE_COPIES if bits <= MAX_COPIED_BITS else 1, 1 << 2 * bits), np.int64)
        self.bits, self.low, self.table = bits, low, table
        self.add_square(square, first)

    def add_square(self, square: np.ndarray, first: int) -> None:
        """Add a square of counts whose first label is `first`."""
        start, width = first - self.low, square.shape[0]
        self.table[0].reshape(1 << self.bits, -1)[start : start + width, start : start + width] += square

    def used_square(self) -> tuple[np.ndarray, int, int]:
        """The counts from the least label that occurs to the greatest, and these labels (0 and -1 if none occurs)."""
        if self.bits < 0:
            return np.zeros((0, 0), np.int64), 0, -1
        table = self.table.sum(axis=0) if self.table.shape[0] > 1 else self.table[0]
        square = table.reshape(1 << self.bits, -1)
        occurring = np.flatnonzero(square.any(axis=0) | square.any(axis=1))
        if occurring.shape[0] == 0:
            return square[:0, :0], 0, -1
        first, last = int(occurring[0]), int(occurring[-1])
        return square[first : last + 1, first : last + 1], self.low + first, self.low + last


def count_binary_cells(true: np.ndarray, pred: np.ndarray, n_threads: int) -> ConfusionCounts | None:
    """count_range_cells for integers of one width that are all 0 or 1; None for others."""
    rows = true.shape[0]
    if kernel.count_binary(true, pred, 0, min(rows, kernel.BLOCK_ROWS)) is None:
        return None
    results = map_chunks(rows, n_threads, lambda start, stop: kernel.count_binary(true, pred, start, stop))
    chunk_counts = [counts for counts in results if counts is not None]
    if len(chunk_counts) < len(results):
        return None
    neither, second, first, both = map(sum, zip(*chunk_counts, strict=True))
    present = [label for label, occurs in enumerate((rows > both, rows > neither)) if occurs]
    in_true = (neither + second, first + both)
    dtype = true.dtype if all(in_true[label] for label in present) else np.result_type(true.dtype, pred.dtype)
    square = np.array([[neither, second], [first, both]])
    return ConfusionCounts(np.array(present, dtype), square if len(present) == 2 else square[present][:, present])


def count_range_cells(true: np.ndarray, pred: np.ndarray, n_threads: int) -> ConfusionCounts | None:
    """The cells of two columns of integers; None if labels are too far apart or not integers."""
    cells = count_binary_cells(true, pred, n_threads)
    if cells is not None:
        return cells
    rows = true.shape[0]
    bounds = chunk_bounds(rows)
    try:
        whole, *others = accumulate(
            len(bounds), RangeTable, lambda table, chunk: table.count(true, pred, *bounds[chunk]), n_threads
        )
        for table in others:
            square, first, last = table.used_square()
            if last >= first:
                whole.extend_to(first, last, rows)
                whole.add_square(square, first)
    except LabelRangeError:
        return None
    square, first, _ = whole.used_square()
    in_true, in_pred = np.asarray(square.any(axis=1)), np.asarray(square.any(axis=0))
    occurring = np.flatnonzero(in_true | in_pred)
    dtype = true.dtype if in_true[occurring].all() else np.result_type(true.dtype, pred.dtype)
    if occurring.shape[0] < square.shape[0]:
        square = square[np.ix_(occurring, occurring)]
    classes = np.array([first + offset for offset in occurring.tolist()], dtype)
    return ConfusionCounts(classes, np.ascontiguousarray(square))


def count_or_encode(
    true: targets.Target, pred: targets.Target, n_threads: int, names: targets.Names = targets.NAMES
) -> ConfusionCounts | Codes:
    """The cells of two checked columns. If there are too many codes: the labels, and the codes of each column."""
    return cells_or_codes(true, pred, lambda one, other: count_range_cells(one, other, n_threads), n_threads, names)


def weigh_or_encode(
    true: targets.Target,
    pred: targets.Target,
    weights: np.ndarray,
    n_threads: int,
    names: targets.Names = targets.NAMES,
) -> WeighedCells | Codes:
    """As count_or_encode, with the exact weights of the rows of each cell."""
    return cells_or_codes(
        true, pred, lambda one, other: weigh_range_cells(one, other, weights, n_threads), n_threads, names
    )


def cells_or_codes(
    true: targets.Target,
    pred: targets.Target,
    count: Callable[[np.ndarray, np.ndarray], Cells | None],
    n_threads: int,
    names: targets.Names,
) -> Cells | Codes:
    """The cells that `count` finds for two columns of integers. Other columns are encoded separately.

    Rows are counted by their codes. Only the table is brought into the order of the labels.
    """
    if targets.is_kernel_array(true) and targets.is_kernel_array(pred):
        cells = count(true, pred)
        if cells is not None:
            return cells
    first, second = targets.encode_columns(true, pred, n_threads, names)
    cells = count(first.codes, second.codes)
    if cells is None:
        return categorical.match_codes(first, second)
    return cells.move(*place_codes(first, second, cells.classes))


def place_codes(
    first: categorical.CategoricalColumn, second: categorical.CategoricalColumn, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sorted labels of two columns, and the places among them of the codes that each column has, which ascend."""
    classes, *places = categorical.unify_classes(first, second)
    own, others = (of_column[codes[codes < of_column.shape[0]]] for of_column in places)
    return classes, own, others


def weigh_range_cells(
    true: np.ndarray, pred: np.ndarray, weights: np.ndarray, n_threads: int
) -> WeighedCells | None:
    """The cells of two columns of integers; None if there are too many for a square of sums, or not integers."""
    counted = count_range_cells(true, pred, n_threads)
    if counted is None:
        return None
    low = int(counted.classes[0])
    offsets = np.array([int(label) - low for label in counted.classes.tolist()], np.int64)
    span = int(offsets[-1]) + 1
    if not label_weights.has_square(span, true.shape[0]):
        return None
    square = label_weights.weigh_square(true, pred, weights, low, span, n_threads)
    return WeighedCells(counted.classes, square if offsets.shape[0] == span else square.select(offsets, offsets))


def count_plain_cells(y_true: Any, y_pred: Any, n_threads: int | None) -> ConfusionCounts | None:
    """The cells of two unchecked NumPy arrays of labels close together; None for other input."""
    if type(y_true) is not np.ndarray or type(y_pred) is not np.ndarray or y_true.ndim != 1 or y_pred.ndim != 1:
        return None
    if y_true.dtype.char not in categorical.KERNEL_TYPES or y_pred.dtype.char not in categorical.KERNEL_TYPES:
        return None
    if y_true.shape != y_pred.shape or y_true.shape[0] == 0:
        return None
    threads = choose_thread_count(y_true.shape[0], n_threads)
    return count_range_cells(validation.contiguous(y_true), validation.contiguous(y_pred), threads)


def count_small_cells(y_true: np.ndarray, y_pred: np.ndarray) -> np.ndarray | None:
    """The confusion matrix of two short arrays with few labels, in one kernel call; None for other arrays."""
    out = np.empty(kernel.FEW_LABELS**2, np.int64)
    n = kernel.small_matrix(y_true, y_pred, out)
    return out[: n * n].reshape(n, n).copy() if n > 0 else None


def count_small_classes(y_true: np.ndarray, y_pred: np.ndarray) -> ClassCounts | None:
    """count_classes for two short arrays with few labels, in one kernel call; None for other arrays."""
    out = np.empty((5, kernel.FEW_LABELS), np.int64)
    n = kernel.small_counts(y_true, y_pred, out)
    if n <= 0:
        return None
    tp, fp, fn, tn, classes = out[:, :n]
    dtype = y_true.dtype
    if dtype is not y_pred.dtype and not (tp + fn).all():
        dtype = np.result_type(dtype, y_pred.dtype)
    if dtype.char != "l":
        classes = classes.astype(dtype)
    return ClassCounts(tp, fp, fn, tn, classes, classes, targets.column_kind(classes), y_true.shape[0], bool(tp.any()))


@small_inputs(count_small_classes)
def count_classes(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    samplewise: bool = False,
    n_threads: int | None = None,
) -> ClassCounts:
    """Count every label against the rest: the labels found in the data, sorted, or `labels` in their order."""
    if labels is None and sample_weight is None and not samplewise:
        cells = count_plain_cells(y_true, y_pred, n_threads)
        if cells is not None:
            rows = y_true.shape[0]
            kind = targets.column_kind(cells.classes)
            counts = counts_from_margins(margins_of_cells(cells), rows)
            return select_labels(counts, rows, None, cells.classes, kind, rows)
    true, pred, shape = targets.check_pair(y_true, y_pred)
    rows = true.shape[0]
    weights = targets.as_label_weights(sample_weight, rows)
    threads = choose_thread_count(rows, n_threads)
    if shape == targets.MULTILABEL:
        return count_indicators(true, pred, labels, weights, samplewise, threads)
    if samplewise:
        raise ValueError("counts per row need one column per label: y_true and y_pred have one column")
    if weights is None:
        classes, margins = count_label_margins(true, pred, threads)
        counts = counts_from_margins(margins, rows)
    else:
        classes, counts = weigh_classes(true, pred, weights, threads)
    total = rows if weights is None else exact.exact_sum(weights)
    return select_labels(counts, total, labels, classes, targets.column_kind(classes), rows)


def weigh_classes(
    true: targets.Target, pred: targets.Target, weights: np.ndarray, n_threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The labels of two checked columns, and the weighted tp, fp, fn, tn of each label, rounded once."""
    cells = weigh_or_encode(true, pred, weights, n_threads)
    if not isinstance(cells, WeighedCells):
        classes, first, second = cells
        states = label_weights.sum_class_weights(first, second, classes.shape[0], weights)
        return classes, label_weights.round_class_weights(states, weights)
    both, in_true, in_pred = cells.weights.margins()
    total = sum(in_true)
    counts = (
        (tp, second - tp, first - tp, total - first - second + tp)
        for tp, first, second in zip(both, in_true, in_pred, strict=True)
    )
    return cells.classes, np.array([label_weights.round_integers(own) for own in counts]).T.copy()


def count_label_margins(
    true: targets.Target, pred: targets.Target, n_threads: int, names: targets.Names = targets.NAMES
) -> tuple[np.ndarray, np.ndarray]:
    """The labels of two checked columns; and the rows with each label in both columns, the first and the second."""
    found = count_or_encode(true, pred, n_threads, names)
    if isinstance(found, ConfusionCounts):
        return found.classes, margins_of_cells(found)
    classes, first, second = found
    shape = 3, classes.shape[0]
    return classes, sum_over_chunks(
        shape, true.shape[0], n_threads, lambda *chunk: kernel.count_margins(first, second, *chunk)
    )


def margins_of_cells(cells: ConfusionCounts) -> np.ndarray:
    counts = cells.counts
    return np.array([counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)])


def sum_over_chunks(
    shape: tuple[int, ...], rows: int, n_threads: int, count: Callable[[int, int, np.ndarray], None]
) -> np.ndarray:
    """Call count(start, stop, into) for chunks of rows, in threads. Each thread has its own array; return their sum."""
    bounds = chunk_bounds(rows)
    sums_of_threads = accumulate(
        len(bounds), lambda: np.zeros(shape, np.int64), lambda into, chunk: count(*bounds[chunk], into), n_threads
    )
    return np.asarray(np.sum(sums_of_threads, axis=0))


def counts_from_margins(margins: np.ndarray, total: int) -> np.ndarray:
    """tp, fp, fn, tn from the counts in both columns, in the first and in the second."""
    both, true, pred = margins
    return np.array([both, pred - both, true - both, total - true - pred + both])


def positions_among(labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The position of each label among other labels; -1 if it is not one of them."""
    position_of = {label: position for position, label in enumerate(others.tolist())}
    return np.array([position_of.get(label, -1) for label in labels.tolist()], np.int64)


def make_class_counts(
    counts: np.ndarray, classes: np.ndarray, present: np.ndarray, kind: str, rows: int, any_right: bool
) -> ClassCounts:
    tp, fp, fn, tn = counts
    return ClassCounts(tp, fp, fn, tn, classes, present, kind, rows, any_right)


def select_labels(
    counts: np.ndarray, total: float, labels: Any, classes: np.ndarray, kind: str, rows: int
) -> ClassCounts:
    """The counts of the labels in `labels` (None: all). A label that does not occur has only true negatives."""
    any_right = bool(counts[0].any())
    if labels is None:
        return make_class_counts(counts, classes, classes, kind, rows, any_right)
    selected = as_label_array(labels)
    positions = positions_among(selected, classes)
    counts = np.append(counts, np.zeros((4, 1), counts.dtype), axis=1)[:, positions]
    counts[3, positions < 0] = total
    return make_class_counts(counts, selected, classes, kind, rows, any_right)


def as_label_array(labels: Any) -> np.ndarray:
    selected = targets.as_target(labels, "labels")
    validation.check_one_dimension(selected, "labels", validation.InputError)
    return selected


def count_indicators(
    true: targets.Target,
    pred: targets.Target,
    labels: Any,
    weights: np.ndarray | None,
    samplewise: bool,
    n_threads: int,
) -> ClassCounts:
    """Count indicators, per column or per row."""
    columns = true.shape[1]
    present = np.arange(columns)
    selected = present if labels is None else as_label_array(labels)
    first, second = (targets.as_indicators(targets.as_target(values, "labels")) for values in (true, pred))
    positions = None if labels is None else as_column_numbers(selected, columns)
    rows = first.shape[0]
    if samplewise:
        if positions is not None:
            first, second = np.ascontiguousarray(first[:, positions]), np.ascontiguousarray(second[:, positions])
        margins = np.empty((3, rows), np.int64)
        map_chunks(
            rows, n_threads, lambda start, stop: kernel.count_indicator_rows(first, second, start, stop, margins)
        )
        counts = counts_from_margins(margins, first.shape[1])
        if weights is not None:
            counts = weights * counts
        return make_class_counts(counts, selected, present, targets.MULTILABEL, rows, bool(counts[0].any()))
    if weights is None:
        margins = sum_over_chunks(
            (3, columns), rows, n_threads, lambda *chunk: kernel.count_indicators(first, second, *chunk)
        )
        counts = counts_from_margins(margins, rows)
    else:
        states = exact.new_states(columns), exact.new_states(columns), exact.new_states(columns)
        weight_kernel.weigh_indicators(first, second, weights, *states)
        counts = label_weights.round_class_weights([states], weights)
    any_right = bool(counts[0].any())
    if positions is not None:
        counts = counts[:, positions]
    return make_class_counts(counts, selected, present, targets.MULTILABEL, rows, any_right)


def as_column_numbers(selected: np.ndarray, columns: int) -> np.ndarray:
    """The selected labels as column numbers."""
    if selected.size == 0:
        return np.zeros(0, np.int64)
    if selected.dtype.kind not in "biuf":
        raise ValueError(f"labels must be column numbers for multilabel targets; found {selected[0]!r}")
    bad = (selected < 0) | (selected >= columns)
    if bad.any():
        raise ValueError(
            f"labels must be column numbers in [0, {columns}) for multilabel targets; found {selected[bad][0]}"
        )
    return selected.astype(np.int64)
