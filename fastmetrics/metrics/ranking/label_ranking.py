"""Multilabel ranking: average precision, ranking loss and coverage error of the labels of each row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.compiled_functions import computed_by
from fastmetrics._core.columns import class_labels, validation
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, SERIAL_ROWS
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.columns.weights import as_weights
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.columns import column_checks
from fastmetrics._kernels.ranking import label_ranking as kernel

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike, NumericMatrixLike

__all__ = ["coverage_error", "label_ranking_average_precision_score", "label_ranking_loss"]

ZERO_AND_ONE = column_checks.SAW_ZERO | column_checks.SAW_ONE
NO_KEYS: np.ndarray = np.empty(0, np.uint64)


FUNCTION_NAMES = {
    kernel.PRECISION: "label_ranking_average_precision_score",
    kernel.LOSS: "label_ranking_loss",
    kernel.COVERAGE: "coverage_error",
}


def mean_over_rows(
    measure: int, y_true: Any, y_score: Any, *, sample_weight: Any, allow_infinite: Any, n_threads: int | None
) -> float:
    """The mean over rows of a measure of one row. Checks the arguments."""
    if measure == kernel.COVERAGE and class_labels.is_sparse(y_true):
        raise validation.OptionError("y_true must be a dense array of labels here; found a sparse one")
    threads = count_threads(n_threads)
    one_label = measure == kernel.PRECISION
    truth = read_labels(y_true, one_label)
    scores = validation.as_floats(y_score, "y_score")
    if scores.ndim == 0:
        raise validation.InputError(
            f"y_score must be an array with a column for each label; found a single {scores.dtype}"
        )
    validation.check_flag(allow_infinite, "allow_infinite")
    rows = truth.shape[0]
    validation.check_lengths(rows, scores.shape[0], "y_true", "y_score")
    weights = None if sample_weight is None else as_row_weights(sample_weight, rows)
    truth = as_indicators(truth, one_label)
    if truth.shape != scores.shape:
        raise ValueError(f"y_true and y_score must have one shape; found {truth.shape} and {scores.shape}")
    values = measure_rows(truth, scores, measure, allow_infinite, threads)
    total = exact.integer_sum(values, weights)
    weight = rows << exact.EXPONENT if weights is None else exact.integer_sum(weights)
    if not weight:
        return warn_undefined(FUNCTION_NAMES[measure], "no row weighs anything")
    return exact.divide(total, weight)


@small_inputs(kernel.mean_of_short, kernel.PRECISION)
@computed_by(partial(mean_over_rows, kernel.PRECISION))
def label_ranking_average_precision_score(
    y_true: NumericMatrixLike,
    y_score: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    allow_infinite: bool = False,
    n_threads: int | None = None,
) -> float:
    """Label ranking average precision: averaged over the relevant labels of a row, then over rows.

    LRAP = 1/n sum_i 1/|Y_i| sum over l in Y_i of L_il / r_il, with r_il the number of labels that score at least as
    high as l, and L_il the number of relevant ones among them (Schapire and Singer, BoosTexter, Machine Learning 39,
    2000; Tsoumakas, Katakis and Vlahavas, Mining multi-label data, 2010). Ties count against the row: all labels of a
    tie have its worst rank.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n, n_labels)
        0 and 1; any value other than 0 is relevant.
    y_score : array-like of shape (n, n_labels)
        Scores, higher for labels that are more likely relevant.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
    allow_infinite : bool
        Order infinite scores: the greatest and the least, ties among themselves. By default they are an error, as in
        scikit-learn.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In (0, 1]. A row in which no label or every label is relevant counts as 1. NaN, with an UndefinedMetricWarning,
        if all weights are 0.

    Raises
    ------
    ValueError
        y_true is not a matrix of labels (one column of one or two values is read as sets of one label), shapes differ,
        a score is NaN, there are no rows, or a weight is negative or not finite.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.label_ranking_average_precision_score([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.41666666666666663
    """


@small_inputs(kernel.mean_of_short, kernel.LOSS)
@computed_by(partial(mean_over_rows, kernel.LOSS))
def label_ranking_loss(
    y_true: NumericMatrixLike,
    y_score: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    allow_infinite: bool = False,
    n_threads: int | None = None,
) -> float:
    """Label ranking loss: the share of pairs of a relevant and another label in the wrong order, averaged over rows.

    loss = 1/n sum_i |{(k, l) : s_ik <= s_il}| / (|Y_i| (n_labels - |Y_i|)), with k relevant and l not (Schapire and
    Singer, BoosTexter, Machine Learning 39, 2000; Tsoumakas, Katakis and Vlahavas, Mining multi-label data, 2010). A
    tie counts as wrong order.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n, n_labels)
        0 and 1; any value other than 0 is relevant.

        At least two labels.
    y_score : array-like of shape (n, n_labels)
        Scores, higher for labels that are more likely relevant.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
    allow_infinite : bool
        Order infinite scores: the greatest and the least, ties among themselves. By default they are an error, as in
        scikit-learn.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, 1]; 0 is best. A row in which no label or every label is relevant counts as 0. NaN, with an
        UndefinedMetricWarning, if all weights are 0.

    Raises
    ------
    ValueError
        y_true is not a matrix of labels, shapes differ, a score is NaN or infinite, there are no rows, or a weight is
        negative or not finite.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.label_ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.75
    """


@small_inputs(kernel.mean_of_short, kernel.COVERAGE)
@computed_by(partial(mean_over_rows, kernel.COVERAGE))
def coverage_error(
    y_true: NumericMatrixLike,
    y_score: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    allow_infinite: bool = False,
    n_threads: int | None = None,
) -> float:
    """Coverage error: how many labels, highest scores first, cover all relevant labels of a row.

    coverage = 1/n sum_i max over l in Y_i of r_il, with r_il the number of labels that score at least as high as l.
    This is one more than in Tsoumakas, Katakis and Vlahavas (Mining multi-label data, 2010), so that a row without a
    relevant label has 0. Ties count against the row.

    Parameters
    ----------
    y_true : array-like of shape (n, n_labels)
        0 and 1; any value other than 0 is relevant. At least two labels. Not sparse, as in scikit-learn.
    y_score : array-like of shape (n, n_labels)
        Scores, higher for labels that are more likely relevant.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
    allow_infinite : bool
        Order infinite scores: the greatest and the least, ties among themselves. By default they are an error, as in
        scikit-learn.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        From 0 to n_labels; the best value is the mean number of relevant labels. A row without a relevant label counts
        as 0. NaN, with an UndefinedMetricWarning, if all weights are 0.

    Raises
    ------
    ValueError
        y_true is not a matrix of labels, shapes differ, a score is NaN or infinite, there are no rows, or a weight is
        negative or not finite.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.coverage_error([[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]])
    1.5
    """


def as_row_weights(sample_weight: Any, rows: int) -> np.ndarray:
    if isinstance(sample_weight, (str, bytes)) or not validation.is_array_like(sample_weight):
        raise validation.OptionError(f"sample_weight must be an array of weights or None; found {sample_weight!r}")
    weights = validation.as_array(sample_weight, "sample_weight")
    if weights.ndim > 1:
        raise validation.InputError(
            f"sample_weight must have one dimension; found {weights.ndim} (shape {weights.shape})"
        )
    return as_weights(weights, rows)


def read_labels(y_true: Any, one_label: bool) -> np.ndarray:
    """The labels as a dense array of numbers of any type."""
    array = class_labels.as_target(y_true, "y_true", one_label)
    if array.dtype == object:
        array = validation.numbers_of_objects(array, "y_true")
    elif array.dtype.kind not in "biuf":
        validation.raise_bad_type(array, "y_true", "labels must be 0 and 1")
    if array.shape[0] == 0:
        raise ValueError(f"y_true is empty: {class_labels.NO_ROWS}")
    if class_labels.is_sparse(y_true) and array.shape[1] == 1 and not has_fractions(array):
        array = array != 0  # one label: any value but 0 is relevant, as in scikit-learn
    return array


def has_fractions(array: np.ndarray) -> bool:
    return class_labels.type_of_target(array, "y_true").startswith("continuous")


def as_indicators(array: np.ndarray, one_label: bool) -> np.ndarray:
    """The indicator matrix as the kernel reads it.

    A matrix of label types is used as it is; values other than 0 and 1 are found block by block. A matrix with one
    column is read as sets of one label if `one_label`, as scikit-learn does for label ranking average precision.
    """
    if array.ndim == 2 and array.shape[1] > 1 and array.dtype.char in validation.LABEL_TYPES | {"?"}:
        readable = validation.contiguous(array)
        return readable.view(np.uint8) if readable.dtype.char == "?" else readable
    return check_indicators(array, one_label)


def check_indicators(array: np.ndarray, one_label: bool = False) -> np.ndarray:
    """The indicator matrix of any other multilabel target. Raises for targets that are not multilabel."""
    kind = class_labels.type_of_target(array, "y_true")
    if kind != class_labels.MULTILABEL and not (one_label and kind == "binary" and array.ndim == 2):
        raise ValueError(
            f"y_true must have a column for each label, with 0 and 1; found {kind} targets of shape {array.shape}"
        )
    return class_labels.as_indicators(array)


def measure_rows(truth: np.ndarray, scores: np.ndarray, measure: int, allow_infinite: bool, threads: int) -> np.ndarray:
    """The measure of every row."""
    values, labels_seen = measure_blocks(truth, scores, measure, allow_infinite, threads)
    if labels_seen & ~ZERO_AND_ONE:
        values, _ = measure_blocks(check_indicators(truth), scores, measure, allow_infinite, threads)
    return values


def measure_blocks(
    truth: np.ndarray, scores: np.ndarray, measure: int, allow_infinite: bool, threads: int
) -> tuple[np.ndarray, int]:
    """The values of all rows, and which labels were seen. The values are invalid if a label is not 0 or 1."""
    rows, n_labels = scores.shape
    rows_per_block = max(1, BLOCK_ROWS // n_labels)
    n_blocks = -(-rows // rows_per_block)
    labels, values = truth.reshape(-1), np.empty(rows)
    seen, problems = np.zeros(n_blocks, np.int64), np.zeros(n_blocks, np.int64)

    def make_worker() -> Callable[[int], None]:
        block = np.empty(min(rows, rows_per_block) * n_labels, np.uint8)
        keys = np.empty(3 * n_labels, np.uint64) if n_labels > kernel.MOST_COMPARED_LABELS else NO_KEYS

        def work(chunk: int) -> None:
            start, stop = chunk * rows_per_block, min(rows, (chunk + 1) * rows_per_block)
            column_checks.decode_labels(labels, start * n_labels, stop * n_labels, block, seen[chunk : chunk + 1])
            problem = problems[chunk : chunk + 1]
            kernel.measure_rows(scores, block, start, stop, measure, keys, values, problem, allow_infinite)

        return work

    for_each(n_blocks, make_worker, threads if rows * n_labels > SERIAL_ROWS else 1)
    if problems.any():
        validation.check_infinities(scores, allow_infinite)
        raise ValueError(f"y_score has NaN at row {validation.first_bad_row(np.isnan(scores).any(axis=1))}")
    return values, int(np.bitwise_or.reduce(seen))
