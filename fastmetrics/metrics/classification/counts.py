"""Columns of labels counted against each other: the table of all pairs of labels, and what it says of each label.

Columns of few rows and labels take one kernel call. Longer ones are cut into units for threads, each with a table over
the range of labels it has met so far; labels too far apart for such a table are numbered first. Weighted counts are
exact sums, rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import coding, exact, inputs
from fastmetrics._core import labels as targets
from fastmetrics._core.coding import Coded
from fastmetrics._core.labels import MULTILABEL, NAMES, Names, Target
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import SERIAL_ROWS
from fastmetrics._kernels import counts as kernel
from fastmetrics._kernels import sums

__all__: list[str] = []

UNIT_ROWS = 1 << 18
LOOK_AHEAD = 16 * kernel.BLOCK_ROWS  # rows whose range is looked at when one in a block did not fit
MOST_BITS = 11  # a table of 2048 x 2048 labels
BITS_IN_COPIES = 7
COPIES = 4
LABELS_AT_ONCE = 1024

Four = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
States = tuple[np.ndarray, np.ndarray, np.ndarray]


class ClassCounts(NamedTuple):
    """Counts per label, or per row (samplewise): int64, or with weights float64, each sum exact and rounded once.

    `classes` are the labels counted, in order; `present` those found in the data, sorted. `any_right` tells whether any
    label was predicted where it is true, counted here or not.
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


class Cells(NamedTuple):
    """How many rows have each pair of labels, or what they weigh: a square, labels sorted."""

    classes: np.ndarray
    counts: np.ndarray


class WideRangeError(Exception):
    """Labels too far apart for a table over their range."""


def threads_for(rows: int, n_threads: int | None) -> int:
    """How many threads are worth their start."""
    threads = 1 if n_threads is None and rows < SERIAL_ROWS else count_threads(n_threads)
    return threads if rows >= SERIAL_ROWS else 1


def over_units(rows: int, n_threads: int, count: Callable[[int, int], None]) -> None:
    """count(start, stop) for units of rows, by threads; it writes to memory of its own."""
    if rows <= UNIT_ROWS:
        count(0, rows)
        return

    def make_worker() -> Callable[[int], None]:
        return lambda unit: count(unit * UNIT_ROWS, min(rows, (unit + 1) * UNIT_ROWS))

    for_each(-(-rows // UNIT_ROWS), make_worker, n_threads)


class RangeTable:
    """One thread's table over the range of labels met so far."""

    __slots__ = ("bits", "low", "table")

    def __init__(self) -> None:
        self.bits = -1
        self.low = 0
        self.table = np.zeros((1, 0), np.int64)

    def count(self, true: np.ndarray, pred: np.ndarray, start: int, stop: int) -> None:
        while start < stop:
            if self.bits >= 0:
                start = kernel.count_pairs(true, pred, start, stop, self.low, self.bits, self.table)
            if start < stop:
                span = kernel.label_range(true, pred, start, min(stop, start + LOOK_AHEAD))
                if span is None:
                    raise WideRangeError
                self.hold(*span, true.shape[0])

    def hold(self, low: int, high: int, rows: int) -> None:
        """Make the table hold labels from low to high too."""
        square, first, last = self.labels()
        if last >= first:
            low, high = min(low, first), max(high, last)
        bits = int(high - low).bit_length()
        if bits > MOST_BITS or 1 << 2 * bits > max(4096, 4 * rows):
            raise WideRangeError
        table = np.zeros((COPIES if bits <= BITS_IN_COPIES else 1, 1 << 2 * bits), np.int64)
        self.bits, self.low, self.table = bits, low, table
        self.add(square, first)

    def add(self, square: np.ndarray, first: int) -> None:
        """Add counts of labels from first on."""
        place, width = first - self.low, square.shape[0]
        self.table[0].reshape(1 << self.bits, -1)[place : place + width, place : place + width] += square

    def labels(self) -> tuple[np.ndarray, int, int]:
        """The counts from the least label to the greatest that was met, and those two; the first is greater if none."""
        if self.bits < 0:
            return np.zeros((0, 0), np.int64), 0, -1
        square = self.table.sum(axis=0).reshape(1 << self.bits, -1)
        places = np.flatnonzero(square.any(axis=0) | square.any(axis=1))
        if places.shape[0] == 0:
            return square[:0, :0], 0, -1
        first, last = int(places[0]), int(places[-1])
        return square[first : last + 1, first : last + 1], self.low + first, self.low + last


def binary_cells(true: np.ndarray, pred: np.ndarray, n_threads: int) -> Cells | None:
    """range_cells of integers of one width that are all 0 or 1: they are only added up."""
    rows = true.shape[0]
    if kernel.count_binary(true, pred, 0, min(rows, kernel.BLOCK_ROWS)) is None:
        return None
    found: list[tuple[int, int, int, int] | None] = []
    over_units(rows, n_threads, lambda start, stop: found.append(kernel.count_binary(true, pred, start, stop)))
    parts = [part for part in found if part is not None]
    if len(parts) < len(found):
        return None
    neither, second, first, both = map(sum, zip(*parts, strict=True))
    present = [label for label, occurs in enumerate((rows > both, rows > neither)) if occurs]
    own = (neither + second, first + both)
    dtype = true.dtype if all(own[label] for label in present) else np.result_type(true.dtype, pred.dtype)
    square = np.array([[neither, second], [first, both]])
    return Cells(np.array(present, dtype), square if len(present) == 2 else square[present][:, present])


def range_cells(true: np.ndarray, pred: np.ndarray, n_threads: int) -> Cells | None:
    """The cells of two columns of integers; None where labels are too far apart or no integers."""
    cells = binary_cells(true, pred, n_threads)
    if cells is not None:
        return cells
    rows = true.shape[0]
    tables: list[RangeTable] = []

    def make_worker() -> Callable[[int], None]:
        table = RangeTable()
        tables.append(table)
        return lambda unit: table.count(true, pred, unit * UNIT_ROWS, min(rows, (unit + 1) * UNIT_ROWS))

    try:
        for_each(-(-rows // UNIT_ROWS), make_worker, n_threads)
        whole, *others = tables
        for table in others:
            square, first, last = table.labels()
            if last >= first:
                whole.hold(first, last, rows)
                whole.add(square, first)
    except WideRangeError:
        return None
    square, first, _ = whole.labels()
    in_true, in_pred = np.asarray(square.any(axis=1)), np.asarray(square.any(axis=0))
    places = np.flatnonzero(in_true | in_pred)
    dtype = true.dtype if in_true[places].all() else np.result_type(true.dtype, pred.dtype)
    if places.shape[0] < square.shape[0]:
        square = square[np.ix_(places, places)]
    return Cells(np.array([first + place for place in places.tolist()], dtype), np.ascontiguousarray(square))


def direct_cells(true: Target, pred: Target, n_threads: int = 1) -> Cells | None:
    """The cells of two checked columns, if they are integers close together."""
    if targets.is_numbers(true) and targets.is_numbers(pred):
        return range_cells(true, pred, n_threads)
    return None


def count_cells(true: Target, pred: Target, n_threads: int = 1) -> Cells:
    """The cells of two checked columns."""
    cells = direct_cells(true, pred, n_threads)
    if cells is not None:
        return cells
    first, second = targets.code_columns(true, pred, n_threads)
    cells = coded_cells(first, second, n_threads)
    if cells is not None:
        return cells
    classes, places, other_places = coding.unite(first, second)
    counts = np.zeros((classes.shape[0], classes.shape[0]), np.int64)
    kernel.add_cells(coding.place_codes(first.codes, places), coding.place_codes(second.codes, other_places), counts)
    return Cells(classes, counts)


def coded_cells(first: Coded, second: Coded, n_threads: int) -> Cells | None:
    """The cells of two columns numbered each for itself; None where there are too many numbers.

    Rows are counted as they are numbered; only the table is brought into the order of the labels.
    """
    cells = range_cells(first.codes, second.codes, n_threads)
    if cells is None:
        return None
    classes, places, other_places = coding.unite(first, second)
    own = cells.classes[cells.classes < places.shape[0]]
    others = cells.classes[cells.classes < other_places.shape[0]]
    counts = np.zeros((classes.shape[0], classes.shape[0]), np.int64)
    counts[np.ix_(places[own], other_places[others])] = cells.counts[: own.shape[0], : others.shape[0]]
    return Cells(classes, counts)


def plain_cells(y_true: Any, y_pred: Any, n_threads: int | None) -> Cells | None:
    """The cells of two plain arrays of numbers that turn out to be labels close together; None for anything else."""
    if type(y_true) is not np.ndarray or type(y_pred) is not np.ndarray or y_true.ndim != 1 or y_pred.ndim != 1:
        return None
    if y_true.dtype.char not in coding.READABLE or y_pred.dtype.char not in coding.READABLE:
        return None
    if y_true.shape != y_pred.shape or y_true.shape[0] == 0:
        return None
    threads = threads_for(y_true.shape[0], n_threads)
    return range_cells(inputs.contiguous(y_true), inputs.contiguous(y_pred), threads)


def few_cells(y_true: Any, y_pred: Any) -> np.ndarray | None:
    """The counts of two plain arrays of few rows and labels, at once; None where they are anything else."""
    if type(y_true) is not np.ndarray or type(y_pred) is not np.ndarray:
        return None
    out = np.empty(kernel.FEW_LABELS**2, np.int64)
    n = kernel.small_matrix(y_true, y_pred, out)
    return out[: n * n].reshape(n, n).copy() if n > 0 else None


def count_classes(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    samplewise: bool = False,
    n_threads: int | None = None,
) -> ClassCounts:
    """Count every label against the rest: those found in the data, sorted, or `labels` in the order given."""
    if labels is None and sample_weight is None and not samplewise:
        counted = few_counts(y_true, y_pred)
        if counted is not None:
            if n_threads is not None:
                count_threads(n_threads)
            return counted
        cells = plain_cells(y_true, y_pred, n_threads)
        if cells is not None:
            rows = y_true.shape[0]
            kind = targets.column_kind(cells.classes)
            return choose(from_margins(margins_of(cells), rows), rows, None, cells.classes, kind, rows)
    true, pred, shape = targets.check_pair(y_true, y_pred)
    rows = true.shape[0]
    weights = targets.as_label_weights(sample_weight, rows)
    threads = threads_for(rows, n_threads)
    if shape == MULTILABEL:
        return count_sets(true, pred, labels, weights, samplewise, threads)
    if samplewise:
        raise ValueError("counts per row need a column per label: y_true and y_pred have one column")
    if weights is None:
        classes, margins = class_margins(true, pred, threads)
        counts = from_margins(margins, rows)
    else:
        classes, first, second = targets.match_columns(true, pred, threads)
        counts = weighted_counts(weigh_classes(first, second, classes.shape[0], weights), classes.shape[0], weights)
    total = rows if weights is None else exact.exact_sum(weights)
    return choose(counts, total, labels, classes, targets.column_kind(classes), rows)


def few_counts(y_true: Any, y_pred: Any) -> ClassCounts | None:
    """count_classes of two plain arrays of few rows and labels, at once; None where they are anything else."""
    if type(y_true) is not np.ndarray or type(y_pred) is not np.ndarray:
        return None
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


def class_margins(true: Target, pred: Target, n_threads: int, names: Names = NAMES) -> tuple[np.ndarray, np.ndarray]:
    """The labels of two checked columns, and how many rows have each in both columns, in the first, in the second."""
    cells = direct_cells(true, pred, n_threads)
    if cells is None:
        first, second = targets.code_columns(true, pred, n_threads, names)
        cells = coded_cells(first, second, n_threads)
        if cells is None:
            classes, places, other_places = coding.unite(first, second)
            codes = coding.place_codes(first.codes, places), coding.place_codes(second.codes, other_places)
            return classes, code_margins(*codes, classes.shape[0], n_threads)
    return cells.classes, margins_of(cells)


def margins_of(cells: Cells) -> np.ndarray:
    counts = cells.counts
    return np.array([counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)])


def code_margins(first: np.ndarray, second: np.ndarray, n_classes: int, n_threads: int) -> np.ndarray:
    """As class_margins, for columns of many numbers."""
    return add_up((3, n_classes), first.shape[0], n_threads, lambda *part: kernel.count_margins(first, second, *part))


def add_up(
    shape: tuple[int, ...], rows: int, n_threads: int, count: Callable[[int, int, np.ndarray], None]
) -> np.ndarray:
    """The sum of what count(start, stop, into) adds; every thread has an array of its own."""
    parts: list[np.ndarray] = []

    def make_worker() -> Callable[[int], None]:
        into = np.zeros(shape, np.int64)
        parts.append(into)
        return lambda unit: count(unit * UNIT_ROWS, min(rows, (unit + 1) * UNIT_ROWS), into)

    for_each(-(-rows // UNIT_ROWS), make_worker, n_threads)
    whole = parts[0]
    for part in parts[1:]:
        whole += part
    return whole


def from_margins(margins: np.ndarray, total: int) -> Four:
    """tp, fp, fn, tn of counts in both columns, in the first, in the second."""
    both, true, pred = margins
    return both, pred - both, true - both, total - true - pred + both


def each_of(counts: Four, change: Callable[[np.ndarray], np.ndarray]) -> Four:
    tp, fp, fn, tn = map(change, counts)
    return tp, fp, fn, tn


def choose(counts: Four, total: float, labels: Any, classes: np.ndarray, kind: str, rows: int) -> ClassCounts:
    """The counts of the labels wanted; one that is nowhere has true negatives alone."""
    any_right = bool(counts[0].any())
    if labels is None:
        return ClassCounts(*counts, classes, classes, kind, rows, any_right)
    wanted = as_wanted(labels)
    numbers = {label: number for number, label in enumerate(classes.tolist())}
    places = np.array([numbers.get(label, -1) for label in wanted.tolist()], np.int64)
    tp, fp, fn, tn = each_of(counts, lambda count: np.append(count, np.zeros(1, count.dtype))[places])
    tn[places < 0] = total
    return ClassCounts(tp, fp, fn, tn, wanted, classes, kind, rows, any_right)


def as_wanted(labels: Any) -> np.ndarray:
    wanted = targets.as_target(labels, "labels")
    if wanted.ndim != 1:
        raise inputs.InputError(f"labels must have one dimension; found {wanted.ndim} (shape {wanted.shape})")
    return wanted


def sum_of(weights: np.ndarray) -> int:
    """The exact sum times 2**EXPONENT."""
    state = exact.new_states()
    sums.sum_values(weights, None, state)
    return exact.to_integer(state)


def order_weights(codes: np.ndarray, n_cells: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights in the order of their rows' codes, and where each code begins."""
    starts = np.zeros(n_cells + 2, np.int64)
    ordered = np.empty(weights.shape[0])
    kernel.order_weights(codes, None, 0, weights, starts, ordered)
    return ordered, starts


def weigh_classes(first: np.ndarray, second: np.ndarray, n_classes: int, weights: np.ndarray) -> Iterator[States]:
    """Exact weights per number as superaccumulator states, some numbers at a time: in both columns, in each."""
    equal = first == second
    runs = [
        order_weights(first[equal], n_classes, weights[equal]),
        order_weights(first, n_classes, weights),
        order_weights(second, n_classes, weights),
    ]
    for start in range(0, n_classes, LABELS_AT_ONCE):
        n = min(LABELS_AT_ONCE, n_classes - start)
        states = exact.new_states(n), exact.new_states(n), exact.new_states(n)
        for (ordered, starts), into in zip(runs, states, strict=True):
            kernel.run_states(ordered, starts, start, into)
        yield states


def weighted_counts(chunks: Iterator[States], n_classes: int, weights: np.ndarray) -> Four:
    """tp, fp, fn, tn, each rounded once."""
    total = exact.new_states()
    sums.sum_values(weights, None, total)
    out = np.empty((4, n_classes))
    start = 0
    for both, true, pred in chunks:
        part = np.empty((4, both.shape[0]))
        kernel.round_counts(both, true, pred, total, part)
        out[:, start : start + both.shape[0]] = part
        start += both.shape[0]
    return out[0], out[1], out[2], out[3]


def weigh_cells(first: np.ndarray, second: np.ndarray, n_classes: int, weights: np.ndarray) -> np.ndarray:
    """The weight of every pair of numbers, exact and rounded once."""
    starts = np.zeros(n_classes * n_classes + 2, np.int64)
    ordered = np.empty(weights.shape[0])
    kernel.order_weights(first, second, n_classes, weights, starts, ordered)
    out = np.empty(n_classes * n_classes)
    kernel.sum_runs(ordered, starts, out)
    return out.reshape(n_classes, n_classes)


def count_sets(
    true: Target, pred: Target, labels: Any, weights: np.ndarray | None, samplewise: bool, n_threads: int
) -> ClassCounts:
    """The counts of indicators: per column, or per row."""
    columns = true.shape[1]
    present = np.arange(columns)
    wanted = present if labels is None else as_wanted(labels)
    first, second = (targets.indicators(targets.as_target(each, "labels")) for each in (true, pred))
    places = None if labels is None else as_columns(wanted, columns)
    rows = first.shape[0]
    if samplewise:
        if places is not None:
            first, second = np.ascontiguousarray(first[:, places]), np.ascontiguousarray(second[:, places])
        margins = np.empty((3, rows), np.int64)
        over_units(rows, n_threads, lambda start, stop: kernel.count_set_rows(first, second, start, stop, margins))
        counts = from_margins(margins, first.shape[1])
        if weights is not None:
            counts = each_of(counts, lambda count: weights * count)
        return ClassCounts(*counts, wanted, present, MULTILABEL, rows, bool(counts[0].any()))
    if weights is None:
        found = add_up((3, columns), rows, n_threads, lambda *part: kernel.count_sets(first, second, *part))
        counts = from_margins(found, rows)
    else:
        states = exact.new_states(columns), exact.new_states(columns), exact.new_states(columns)
        kernel.weigh_sets(first, second, weights, *states)
        counts = weighted_counts(iter([states]), columns, weights)
    any_right = bool(counts[0].any())
    if places is not None:
        counts = each_of(counts, lambda count: count[places])
    return ClassCounts(*counts, wanted, present, MULTILABEL, rows, any_right)


def as_columns(wanted: np.ndarray, columns: int) -> np.ndarray:
    """Labels wanted as numbers of columns."""
    if wanted.size == 0:
        return np.zeros(0, np.int64)
    if wanted.dtype.kind not in "biuf":
        raise ValueError(f"labels must be column numbers for multilabel targets; found {wanted[0]!r}")
    bad = (wanted < 0) | (wanted >= columns)
    if bad.any():
        raise ValueError(
            f"labels must be column numbers in [0, {columns}) for multilabel targets; found {wanted[bad][0]}"
        )
    return wanted.astype(np.int64)
