"""A metric of two classes, asked of more: of labels of sets, of every class against the rest, of pairs of classes.

Every problem is the exact binary one, to the bit what the function returns for it alone. Columns of scores are read
where they are if they are contiguous; else a few at a time are copied together, so that a matrix is read once.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core import coding, inputs, labels
from fastmetrics._core.coding import Coded
from fastmetrics._core.exact import exact_sum
from fastmetrics._core.ordered_rows import as_column
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import SERIAL_ROWS
from fastmetrics._core.statistic import Value
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics._kernels import columns

AVERAGES = ("macro", "micro", "weighted", "samples", None)
TOGETHER = 8  # columns of a matrix by rows that are copied in one go: a cache line of float64
COPIED_ROWS = 4096
ALONE_ROWS = 1 << 20  # of a problem from which it gets all threads; before, every thread has a problem of its own


class Measure(NamedTuple):
    """A metric of binary labels: `solve(labels, scores, weights, n_threads)`, labels being uint8 0 and 1.

    A problem that is undefined counts as `undefined`, and the user is warned with `category`.
    """

    name: str
    solve: Callable[[np.ndarray, np.ndarray, np.ndarray | None, int | None], Value]
    undefined: float = math.nan
    category: type[Warning] = UndefinedMetricWarning


class Averaged(NamedTuple):
    """A number or an array of them, and what the user is to be warned of."""

    value: Any
    warnings: list[str]

    def tell(self, measure: Measure) -> Any:
        """The value, after the warnings; called by the function that the user called."""
        for message in self.warnings:
            warnings.warn(f"{measure.name} is undefined {message}", measure.category, stacklevel=3)
        return self.value


class Target(NamedTuple):
    """What `y_true` is: "binary", "multiclass" or "multilabel-indicator".

    Of a column `coded` numbers the sorted classes. Of sets of labels `truth`, uint8, has a row for every label.
    """

    kind: str
    coded: Coded
    truth: np.ndarray

    @property
    def classes(self) -> np.ndarray:
        """The sorted classes, or the numbers of the columns."""
        return self.coded.classes

    def sets(self) -> np.ndarray:
        """`truth`; of classes, each row has the one."""
        if self.kind == labels.MULTILABEL:
            return self.truth
        found: np.ndarray = np.equal(self.coded.codes, np.arange(len(self.classes))[:, None])
        return found.view(np.uint8)

    def names(self) -> list[str]:
        """Of labels, for messages."""
        what = "column" if self.kind == labels.MULTILABEL else "class"
        return [f"{what} {label!r}" for label in self.classes.tolist()]


NO_CODES: np.ndarray = np.empty(0, np.int64)
NO_TRUTH: np.ndarray = np.empty((0, 0), np.uint8)


def open_labels(y_true: Any) -> labels.Target:
    """Labels of any kind; a matrix with one column is a column."""
    target = labels.open_target(y_true, "y_true")
    return as_column(target) if isinstance(target, np.ndarray) else target


def read_target(target: labels.Target) -> Target:
    """Labels of any kind, checked and numbered."""
    if target.shape[0] == 0:
        raise ValueError(f"y_true is empty: {labels.NO_ROWS}")
    if isinstance(target, np.ndarray) and target.ndim == 2:
        truth = decode_sets(target)
        return Target(labels.MULTILABEL, Coded(NO_CODES, np.arange(target.shape[1])), truth)
    shape = labels.shape_of_target(target, "y_true")
    if shape != labels.COLUMN:
        refuse_kind(shape)
    coded = coding.in_order(labels.code_target(labels.as_codable(target), "y_true"))
    return Target(labels.column_kind(coded.classes), coded, NO_TRUTH)


def refuse_kind(kind: str) -> NoReturn:
    raise ValueError(f"y_true must be labels; found {kind} targets, which are not supported here")


def decode_sets(array: np.ndarray) -> np.ndarray:
    """A matrix of labels, 0 and 1 or -1 and 1, as uint8: a row for every label."""
    if array.dtype.kind not in "biuf":
        refuse_kind(labels.kind_of_target(array, "y_true"))
    by_label = not array.flags.c_contiguous and array.T.flags.c_contiguous
    flat = inputs.as_labels((array.T if by_label else np.ascontiguousarray(array)).reshape(-1))
    decoded = np.empty(flat.shape[0], np.uint8)
    seen = np.zeros(2, np.int64)
    columns.decode_labels(flat, 0, flat.shape[0], decoded, seen)

    def find(what: str) -> tuple[int, Any]:
        kind = labels.kind_of_target(array, "y_true")
        if kind != labels.MULTILABEL:
            refuse_kind(kind)
        place, value = inputs.find_label(flat, what)
        return (place % array.shape[0] if by_label else place // array.shape[1]), value

    inputs.check_seen_labels(int(seen[0]), find, "y_true")
    if by_label:
        return decoded.reshape(array.T.shape)
    return transposed(decoded.reshape(array.shape))


def transposed(matrix: np.ndarray) -> np.ndarray:
    """A contiguous copy of the transpose, made by blocks of rows that stay in cache."""
    out = np.empty(matrix.shape[::-1], matrix.dtype)
    for start in range(0, matrix.shape[0], COPIED_ROWS):
        out[:, start : start + COPIED_ROWS] = matrix[start : start + COPIED_ROWS].T
    return out


def as_score_matrix(values: Any, name: str = "y_score") -> np.ndarray:
    """One column of float32 or float64, or a matrix whose rows or whose columns are contiguous."""
    array = inputs.as_array(values, name)
    if array.ndim == 2 and array.T.flags.c_contiguous:
        return inputs.as_floats(array.T, name).T
    return inputs.as_floats(array, name)


def check_no_nan(scores: np.ndarray) -> None:
    """Every problem looks for NaN itself; this is for problems whose rows are not those of the matrix."""
    bad = np.isnan(scores)
    if bad.any():
        row = int(np.flatnonzero(bad.reshape(scores.shape[0], -1).any(axis=1))[0])
        raise ValueError(f"y_score has NaN at row {row}")


def average_sets(
    measure: Measure,
    target: Target,
    scores: np.ndarray,
    average: str | None,
    sample_weight: Any,
    n_threads: int | None,
) -> Averaged:
    """The average over labels or classes, each against the rest; or all values, without one."""
    truth = target.sets()
    n_labels, rows = truth.shape
    inputs.check_lengths(rows, scores.shape[0], "y_true", "y_score")
    if scores.ndim != 2 or scores.shape[1] != n_labels:
        raise ValueError(f"y_score must have a column for each of {n_labels} labels; found shape {scores.shape}")
    weights = None if sample_weight is None else inputs.as_weights(sample_weight, rows)
    if average == "micro":
        return solve_together(measure, truth, scores, weights, n_threads)
    if average == "samples":
        return solve_rows(measure, truth, scores, weights, n_threads)
    average_weights = support(truth, weights) if average == "weighted" else None
    if average_weights is not None and not any(average_weights):
        return Averaged(0.0, [])
    values: list[Value] = []
    for first, some in column_groups(scores):
        values += solve_each(measure, truth[first : first + len(some)], some, weights, n_threads)
    undefined = [f"for {name}: {own.reason}" for name, own in zip(target.names(), values, strict=True) if own.reason]
    found = [measure.undefined if own.reason else own.value for own in values]
    return Averaged(np.array(found) if average is None else mean_of(found, average_weights), undefined)


def solve_together(
    measure: Measure, truth: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, n_threads: int | None
) -> Averaged:
    """Every label of every row as a row of one problem."""
    check_no_nan(scores)
    n_labels = truth.shape[0]
    if scores.T.flags.c_contiguous:
        every, repeated = truth.reshape(-1), None if weights is None else np.tile(weights, n_labels)
    else:
        every, repeated = transposed(truth).reshape(-1), None if weights is None else np.repeat(weights, n_labels)
    value = measure.solve(every, scores.reshape(-1, order="A"), repeated, n_threads)
    if value.reason:
        return Averaged(measure.undefined, [f"for all labels together: {value.reason}"])
    return Averaged(value.value, [])


def solve_rows(
    measure: Measure, truth: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, n_threads: int | None
) -> Averaged:
    """Every row as a problem of its own: its labels against each other."""
    check_no_nan(scores)
    sets, own = transposed(truth), np.ascontiguousarray(scores)
    values = solve_each(measure, sets, own, None, n_threads)
    undefined = [f"for row {row}: {value.reason}" for row, value in enumerate(values) if value.reason]
    if len(undefined) > 1:
        undefined = [f"for {len(undefined)} rows, first {undefined[0]}"]
    found = [measure.undefined if value.reason else value.value for value in values]
    return Averaged(mean_of(found, None if weights is None else weights.tolist()), undefined)


def solve_each(
    measure: Measure, truth: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, n_threads: int | None
) -> list[Value]:
    """A problem for every row of both: short ones side by side, long ones in turn, each with all threads."""
    n_problems, rows = scores.shape
    values: list[Any] = [None] * n_problems
    alone = rows > ALONE_ROWS

    def solve(unit: int) -> None:
        values[unit] = measure.solve(truth[unit], scores[unit], weights, n_threads if alone else 1)

    side_by_side = not alone and n_problems * rows > SERIAL_ROWS
    for_each(n_problems, lambda: solve, count_threads(n_threads) if side_by_side else 1)
    return values


def column_groups(scores: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The columns of a matrix, each contiguous: some at a time, with the number of the first."""
    if scores.T.flags.c_contiguous:
        yield 0, scores.T
        return
    for first in range(0, scores.shape[1], TOGETHER):
        yield first, transposed(scores[:, first : first + TOGETHER])


def support(truth: np.ndarray, weights: np.ndarray | None) -> list[float]:
    """How many rows have each label, or what they weigh."""
    if weights is None:
        return [float(np.count_nonzero(own)) for own in truth]
    return [exact_sum(weights[own.view(bool)]) for own in truth]


def mean_of(values: list[float], weights: Sequence[float] | None) -> float:
    """The mean; what has no weight does not count, not even where it is NaN."""
    if weights is None:
        return math.fsum(values) / len(values)
    scale = -math.frexp(max(weights))[1]  # weights may be as great as numbers are
    shares = [math.ldexp(weight, scale) for weight in weights]
    total = math.fsum(shares)
    if total == 0:
        return math.nan
    return math.fsum(value * share for value, share in zip(values, shares, strict=True) if share) / total


def average_pairs(
    measure: Measure, codes: np.ndarray, scores: np.ndarray, average: str | None, n_threads: int | None
) -> Averaged:
    """The average over pairs of the classes that have rows, in either direction (Hand and Till, 2001).

    Of classes a and b: the mean of the metric of a against b by the scores of a, and of b against a by those of b.
    """
    rows_of = np.bincount(codes, minlength=scores.shape[1])
    ends = np.cumsum(rows_of).tolist()
    present = np.flatnonzero(rows_of).tolist()
    if len(present) < 2:
        return Averaged(np.float64(math.nan), ["between classes: there is one only"])
    places = [slice(end - n, end) for end, n in zip(ends, rows_of.tolist(), strict=True)]
    order = np.argsort(codes, kind="stable")
    against: dict[tuple[int, int], float] = {}
    for first, some in column_groups(scores):
        for own in present:
            if first <= own < first + len(some):
                column = some[own - first][order]
                others = [other for other in present if other != own]
                pairs = [(column[places[own]], column[places[other]]) for other in others]
                for other, value in zip(others, solve_pairs(measure, pairs, n_threads), strict=True):
                    against[own, other] = value
    chosen = [(one, two) for one in present for two in present if one < two]
    values = [(against[one, two] + against[two, one]) / 2 for one, two in chosen]
    weights = [float(rows_of[one] + rows_of[two]) for one, two in chosen] if average == "weighted" else None
    return Averaged(np.float64(mean_of(values, weights)), [])


def solve_pairs(measure: Measure, pairs: list[tuple[np.ndarray, np.ndarray]], n_threads: int | None) -> list[float]:
    """The scores of positives and of negatives of every problem, both with rows."""
    found = [0.0] * len(pairs)
    rows = [len(positives) + len(negatives) for positives, negatives in pairs]
    alone = max(rows) > ALONE_ROWS

    def solve(unit: int) -> None:
        truth = np.zeros(rows[unit], np.uint8)
        truth[: len(pairs[unit][0])] = 1
        found[unit] = measure.solve(truth, np.concatenate(pairs[unit]), None, n_threads if alone else 1).value

    for_each(len(pairs), lambda: solve, count_threads(n_threads) if not alone and sum(rows) > SERIAL_ROWS else 1)
    return found
