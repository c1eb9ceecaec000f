"""Averages of a binary metric: over labels, over classes against the rest, or over pairs of classes.

Every binary problem gives exactly the number that the function returns for it alone. Contiguous columns of scores are
not copied. Other columns are copied a few at a time, so that the matrix is read only once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core.columns import categorical, class_labels, validation
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS
from fastmetrics._core.columns.weights import as_weights
from fastmetrics._core.exact import exact_sum
from fastmetrics._core.exchange.sorted_rows import as_column
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.statistic import Value
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_user
from fastmetrics._kernels.columns import column_checks

AVERAGES = ("macro", "micro", "weighted", "samples", None)
COLUMNS_PER_COPY = 8  # columns of a row-major matrix that are copied together: a cache line of float64
ROWS_PER_COPY = 4096
MIN_PARALLEL_ROWS = 1 << 20  # a larger problem gets all threads; smaller problems get one thread each


class BinaryMetric(NamedTuple):
    """A metric of binary labels: `solve(labels, scores, weights, n_threads)`; labels are uint8, 0 and 1.

    An undefined problem has the value `undefined`, and causes a warning of class `category`.
    """

    name: str
    solve: Callable[[np.ndarray, np.ndarray, np.ndarray | None, int | None], Value]
    undefined: float = math.nan
    category: type[Warning] = UndefinedMetricWarning


class AverageResult(NamedTuple):
    """A number or an array of numbers, and the warnings for the user."""

    value: float | NDArray[np.float64]
    warnings: list[str]

    def warn_and_unwrap(self, measure: BinaryMetric) -> float | NDArray[np.float64]:
        """Issue the warnings and return the value."""
        for message in self.warnings:
            warn_user(f"{measure.name} is undefined {message}", measure.category)
        return self.value


class EncodedTarget(NamedTuple):
    """The encoded `y_true`. `kind` is "binary", "multiclass" or "multilabel-indicator".

    `coded` has the sorted classes and their codes. For a multilabel target, `truth` (uint8) has one row per label.
    """

    kind: str
    coded: categorical.CategoricalColumn
    truth: np.ndarray

    @property
    def classes(self) -> np.ndarray:
        """The sorted classes; for a multilabel target, the column indices."""
        return self.coded.classes

    def indicators(self) -> np.ndarray:
        """A matrix of 0 and 1 with one row per label or class."""
        if self.kind == class_labels.MULTILABEL:
            return self.truth
        return np.asarray(self.coded.codes == np.arange(len(self.classes))[:, None]).view(np.uint8)

    def names(self) -> list[str]:
        """Names of the classes or columns, for messages."""
        noun = "column" if self.kind == class_labels.MULTILABEL else "class"
        return [f"{noun} {label!r}" for label in self.classes.tolist()]


NO_CODES: np.ndarray = np.empty(0, np.int64)
NO_TRUTH: np.ndarray = np.empty((0, 0), np.uint8)


def read_any_labels(y_true: Any) -> class_labels.Target:
    """Read labels of any kind; a matrix with one column becomes a column."""
    target = class_labels.read_labels(y_true, "y_true")
    return as_column(target) if isinstance(target, np.ndarray) else target


def read_target(target: class_labels.Target) -> EncodedTarget:
    """Check and encode labels of any kind."""
    if target.shape[0] == 0:
        raise ValueError(f"y_true is empty: {class_labels.NO_ROWS}")
    if isinstance(target, np.ndarray) and target.ndim == 2:
        truth = decode_indicator_matrix(target)
        columns = categorical.CategoricalColumn(NO_CODES, np.arange(target.shape[1]))
        return EncodedTarget(class_labels.MULTILABEL, columns, truth)
    shape = class_labels.target_layout(target, "y_true")
    if shape != class_labels.COLUMN:
        raise_unsupported_target(shape)
    coded = categorical.sort_classes(class_labels.encode_target(class_labels.as_kernel_column(target), "y_true"))
    return EncodedTarget(class_labels.column_kind(coded.classes), coded, NO_TRUTH)


def raise_unsupported_target(kind: str) -> NoReturn:
    raise ValueError(f"y_true must be labels; found {kind} targets, which are not supported here")


def decode_indicator_matrix(array: np.ndarray) -> np.ndarray:
    """A matrix of 0 and 1, or -1 and 1, as uint8 with one row per label."""
    if array.dtype.kind not in "biuf":
        raise_unsupported_target(class_labels.type_of_target(array, "y_true"))
    by_label = not array.flags.c_contiguous and array.T.flags.c_contiguous
    flat = validation.as_labels((array.T if by_label else np.ascontiguousarray(array)).reshape(-1))
    decoded = np.empty(flat.shape[0], np.uint8)
    seen = np.zeros(2, np.int64)
    column_checks.decode_labels(flat, 0, flat.shape[0], decoded, seen)

    def find(what: str) -> tuple[int, Any]:
        kind = class_labels.type_of_target(array, "y_true")
        if kind != class_labels.MULTILABEL:
            raise_unsupported_target(kind)
        position, value = validation.find_label(flat, what)
        return (position % array.shape[0] if by_label else position // array.shape[1]), value

    validation.check_label_kinds(int(seen[0]), find, "y_true")
    if by_label:
        return decoded.reshape(array.T.shape)
    return copy_transposed(decoded.reshape(array.shape))


def copy_transposed(matrix: np.ndarray) -> np.ndarray:
    """A contiguous copy of the transpose, made in blocks of rows that fit the cache."""
    out = np.empty(matrix.shape[::-1], matrix.dtype)
    for start in range(0, matrix.shape[0], ROWS_PER_COPY):
        out[:, start : start + ROWS_PER_COPY] = matrix[start : start + ROWS_PER_COPY].T
    return out


def as_score_matrix(values: Any, name: str = "y_score") -> np.ndarray:
    """One column of float32 or float64, or a matrix with contiguous rows or contiguous columns."""
    array = validation.as_array(values, name)
    if array.ndim == 2 and array.T.flags.c_contiguous:
        return validation.as_floats(array.T, name).T
    return validation.as_floats(array, name)


def check_no_nan(scores: np.ndarray) -> None:
    """Raise if scores have NaN. For problems whose rows are not rows of the matrix: they could not name the row."""
    bad = np.isnan(scores)
    if bad.any():
        row = validation.first_bad_row(bad.reshape(scores.shape[0], -1).any(axis=1))
        raise ValueError(f"y_score has NaN at row {row}")


def average_labels(
    measure: BinaryMetric,
    target: EncodedTarget,
    scores: np.ndarray,
    average: str | None,
    sample_weight: Any,
    n_threads: int | None,
) -> AverageResult:
    """The average over labels, or over classes against the rest; all values for `average=None`."""
    truth = target.indicators()
    n_labels, rows = truth.shape
    if scores.ndim != 2 or scores.shape[1] != n_labels:
        raise ValueError(f"y_score must have a column for each of {n_labels} labels; found shape {scores.shape}")
    validation.check_lengths(rows, scores.shape[0], "y_true", "y_score")
    weights = None if sample_weight is None else as_weights(sample_weight, rows)
    if average == "micro":
        return average_micro(measure, truth, scores, weights, n_threads)
    if average == "samples":
        return average_samples(measure, truth, scores, weights, n_threads)
    average_weights = count_support(truth, weights) if average == "weighted" else None
    if average_weights is not None and not any(average_weights):
        return AverageResult(0.0, [])
    values: list[Value] = []
    for first, columns in column_groups(scores):
        values += solve_each(measure, truth[first : first + len(columns)], columns, weights, n_threads)
    undefined = [
        f"for {name}: {value.reason}" for name, value in zip(target.names(), values, strict=True) if value.reason
    ]
    numbers = [measure.undefined if value.reason else value.value for value in values]
    return AverageResult(np.array(numbers) if average is None else weighted_mean(numbers, average_weights), undefined)


def average_micro(
    measure: BinaryMetric, truth: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, n_threads: int | None
) -> AverageResult:
    """One problem of all labels of all rows."""
    check_no_nan(scores)
    n_labels = truth.shape[0]
    if scores.T.flags.c_contiguous:
        labels, repeated = truth.reshape(-1), None if weights is None else np.tile(weights, n_labels)
    else:
        labels, repeated = copy_transposed(truth).reshape(-1), None if weights is None else np.repeat(weights, n_labels)
    value = measure.solve(labels, scores.reshape(-1, order="A"), repeated, n_threads)
    if value.reason:
        return AverageResult(measure.undefined, [f"for all labels together: {value.reason}"])
    return AverageResult(value.value, [])


def average_samples(
    measure: BinaryMetric, truth: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, n_threads: int | None
) -> AverageResult:
    """The mean over rows of one problem per row: its labels ranked by its scores."""
    check_no_nan(scores)
    truth_by_row, scores_by_row = copy_transposed(truth), np.ascontiguousarray(scores)
    values = solve_each(measure, truth_by_row, scores_by_row, None, n_threads)
    undefined = [f"for row {row}: {value.reason}" for row, value in enumerate(values) if value.reason]
    if len(undefined) > 1:
        undefined = [f"for {len(undefined)} rows, first {undefined[0]}"]
    numbers = [measure.undefined if value.reason else value.value for value in values]
    return AverageResult(weighted_mean(numbers, None if weights is None else weights.tolist()), undefined)


def solve_each(
    measure: BinaryMetric, truth: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, n_threads: int | None
) -> list[Value]:
    """One problem per row of `truth` and `scores`. Small problems run in parallel; a large one gets all threads."""
    n_problems, rows = scores.shape
    is_large = rows > MIN_PARALLEL_ROWS

    def solve(index: int) -> Value:
        return measure.solve(truth[index], scores[index], weights, n_threads if is_large else 1)

    in_parallel = not is_large and n_problems * rows > SERIAL_ROWS
    return for_each(n_problems, lambda: solve, count_threads(n_threads) if in_parallel else 1)


def column_groups(scores: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Groups of contiguous columns of a matrix, each with the index of its first column."""
    if scores.T.flags.c_contiguous:
        yield 0, scores.T
        return
    for first in range(0, scores.shape[1], COLUMNS_PER_COPY):
        yield first, copy_transposed(scores[:, first : first + COLUMNS_PER_COPY])


def count_support(truth: np.ndarray, weights: np.ndarray | None) -> list[float]:
    """The number of rows with each label, or their weight."""
    if weights is None:
        return [float(np.count_nonzero(has_label)) for has_label in truth]
    return [exact_sum(weights[has_label.view(bool)]) for has_label in truth]


def weighted_mean(values: list[float], weights: Sequence[float] | None) -> float:
    """The weighted mean. A value of weight zero is ignored, even if it is NaN."""
    if weights is None:
        return math.fsum(values) / len(values)
    scale = -math.frexp(max(weights))[1]  # scaled by a power of two: weights may be near the largest float
    shares = [math.ldexp(weight, scale) for weight in weights]
    total = math.fsum(shares)
    if total == 0:
        return math.nan
    return math.fsum(value * share for value, share in zip(values, shares, strict=True) if share) / total


def average_class_pairs(
    measure: BinaryMetric, codes: np.ndarray, scores: np.ndarray, average: str | None, n_threads: int | None
) -> AverageResult:
    """The average over pairs of classes that have rows, in both directions (Hand and Till, 2001).

    The value of classes a and b is the mean of two metrics: a against b by the scores of a, and b against a by the
    scores of b.
    """
    class_rows = np.bincount(codes, minlength=scores.shape[1])
    ends = np.cumsum(class_rows).tolist()
    present = np.flatnonzero(class_rows).tolist()
    if len(present) < 2:
        return AverageResult(np.float64(math.nan), ["between classes: there is one only"])
    slices = [slice(end - n, end) for end, n in zip(ends, class_rows.tolist(), strict=True)]
    order = np.argsort(codes, kind="stable")
    against: dict[tuple[int, int], float] = {}
    for first, columns in column_groups(scores):
        for positive in present:
            if first <= positive < first + len(columns):
                column = columns[positive - first][order]
                negatives = [code for code in present if code != positive]
                pairs = [(column[slices[positive]], column[slices[negative]]) for negative in negatives]
                for negative, value in zip(negatives, solve_pairs(measure, pairs, n_threads), strict=True):
                    against[positive, negative] = value
    class_pairs = [(a, b) for a in present for b in present if a < b]
    values = [(against[a, b] + against[b, a]) / 2 for a, b in class_pairs]
    weights = [float(class_rows[a] + class_rows[b]) for a, b in class_pairs] if average == "weighted" else None
    return AverageResult(np.float64(weighted_mean(values, weights)), [])


def solve_pairs(
    measure: BinaryMetric, pairs: list[tuple[np.ndarray, np.ndarray]], n_threads: int | None
) -> list[float]:
    """The value of every problem, given by the scores of its positives and of its negatives. Neither is empty."""
    rows = [len(positives) + len(negatives) for positives, negatives in pairs]
    is_large = max(rows) > MIN_PARALLEL_ROWS

    def solve(index: int) -> float:
        truth = np.zeros(rows[index], np.uint8)
        truth[: len(pairs[index][0])] = 1
        return measure.solve(truth, np.concatenate(pairs[index]), None, n_threads if is_large else 1).value

    in_parallel = not is_large and sum(rows) > SERIAL_ROWS
    return for_each(len(pairs), lambda: solve, count_threads(n_threads) if in_parallel else 1)
