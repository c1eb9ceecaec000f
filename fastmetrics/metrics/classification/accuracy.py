"""Accuracy and the zero-one loss: the share of rows whose prediction is correct, or wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import categorical, validation
from fastmetrics._core.columns import class_labels as targets
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS, choose_thread_count
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.classification import label_counts as kernel
from fastmetrics.metrics.classification import label_counts as counting
from fastmetrics.metrics.classification.label_weights import weigh_equal_rows

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import MatrixLike, NumericArrayLike

__all__ = ["accuracy_score", "zero_one_loss"]


@answers_unknown
def accuracy_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    normalize: bool = True,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The share of rows that are predicted correctly.

    accuracy = (1/W) sum_i w_i [y_true_i = y_pred_i]. For multilabel input (indicators) a row is correct if all its
    labels are: the subset accuracy.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes), or sparse matrix
        True labels: integers, bools, whole floats or strings. Multilabel input: a matrix of indicators, 0 and one other
        value, with a column per class.
    y_pred : array-like of shape (n,) or (n, n_classes), or sparse matrix
        Predicted labels, in the same form.
    normalize : bool
        True: the share of correct rows. False: their number, or their total weight.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, 1] if normalized.

    Raises
    ------
    ValueError
        Continuous targets, targets of two kinds, different lengths, no rows, or invalid weights.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.accuracy_score(["a", "b", "c", "a"], ["a", "c", "c", "a"])
    0.75
    >>> fm.accuracy_score([0, 1, 1], [0, 1, 0], normalize=False)
    2.0
    """
    validation.check_flag(normalize, "normalize")
    rows = count_matching_rows(y_true, y_pred, sample_weight, n_threads)
    return exact.divide(rows.matching, rows.total if normalize else rows.scale)


@answers_unknown
def zero_one_loss(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    normalize: bool = True,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The share of rows that are predicted wrongly.

    1 - accuracy: (1/W) sum_i w_i [y_true_i != y_pred_i]. For multilabel input (indicators) a row is wrong if any of its
    labels is.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes), or sparse matrix
        True labels: integers, bools, whole floats or strings. Multilabel input: a matrix of indicators, 0 and one other
        value, with a column per class.
    y_pred : array-like of shape (n,) or (n, n_classes), or sparse matrix
        Predicted labels, in the same form.
    normalize : bool
        True: the share of wrong rows. False: their number, or their total weight.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, 1] if normalized.

    Raises
    ------
    ValueError
        Continuous targets, targets of two kinds, different lengths, no rows, or invalid weights.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.zero_one_loss([1, 2, 3, 4], [2, 2, 3, 4])
    0.25
    >>> fm.zero_one_loss([1, 2, 3, 4], [2, 2, 3, 4], normalize=False)
    1.0
    """
    validation.check_flag(normalize, "normalize")
    rows = count_matching_rows(y_true, y_pred, sample_weight, n_threads)
    wrong = rows.total - rows.matching
    if normalize:
        return exact.divide(wrong, rows.total)
    loss = exact.divide(wrong, rows.scale)
    return loss if sample_weight is None else np.float64(loss)


class MatchingRows(NamedTuple):
    """Rows with equal labels, and all rows: integers, which are counts or exact weights times `scale`."""

    matching: int
    total: int
    scale: int = 1


def match_small_arrays(y_true: np.ndarray, y_pred: np.ndarray) -> MatchingRows | None:
    """Two short arrays of numbers in one kernel call; None for other arrays."""
    equal = kernel.count_equal(y_true, y_pred)
    return MatchingRows(equal, y_true.shape[0]) if equal >= 0 else None


@small_inputs(match_small_arrays, max_rows=SERIAL_ROWS - 1)
def count_matching_rows(
    y_true: Any, y_pred: Any, sample_weight: Any = None, n_threads: int | None = None
) -> MatchingRows:
    """Count or weigh the rows with equal labels."""
    rows = match_plain_arrays(y_true, y_pred, sample_weight, n_threads)
    if rows is None:
        true, pred, shape = targets.check_pair(y_true, y_pred)
        rows = match_targets(true, pred, shape, sample_weight, n_threads)
    return rows


def match_plain_arrays(y_true: Any, y_pred: Any, sample_weight: Any, n_threads: int | None) -> MatchingRows | None:
    """Count or weigh in NumPy arrays of numbers before they are checked; None if they do not hold labels."""
    if type(y_true) is not np.ndarray or type(y_pred) is not np.ndarray or kernel.count_equal(y_true, y_pred, 0, 1) < 0:
        return None
    rows = y_true.shape[0]
    threads = choose_thread_count(rows, n_threads)
    if sample_weight is not None:
        return weigh_columns(y_true, y_pred, sample_weight, threads)
    counts = counting.map_chunks(rows, threads, lambda *chunk: kernel.count_equal(y_true, y_pred, *chunk))
    return MatchingRows(sum(counts), rows) if min(counts) >= 0 else None


def weigh_columns(true: np.ndarray, pred: np.ndarray, sample_weight: Any, n_threads: int) -> MatchingRows | None:
    """Weigh two columns of equal length that kernels can read; None if they or the weights are not valid."""
    if type(sample_weight) is not np.ndarray or sample_weight.shape != true.shape:
        return None
    weights = targets.as_label_weights(sample_weight, true.shape[0])
    matching = None if weights is None else weigh_equal_rows(true, pred, weights, n_threads)
    if weights is None or matching is None:
        return None
    return MatchingRows(matching, exact.integer_sum(weights), 1 << exact.EXPONENT)


def match_targets(
    true: targets.Target, pred: targets.Target, shape: str, sample_weight: Any, n_threads: int | None
) -> MatchingRows:
    """Count or weigh the equal rows of two checked targets."""
    rows = true.shape[0]
    weights = targets.as_label_weights(sample_weight, rows)
    threads = choose_thread_count(rows, n_threads)
    if shape == targets.MULTILABEL:
        differ = mark_differing_indicators(true, pred)
        same = np.empty(rows, np.uint8)
        kernel.mark_equal_rows(differ, np.zeros_like(differ), same)
        same = same.view(np.bool_)
    elif weights is None:
        return MatchingRows(count_equal_rows(true, pred, threads), rows)
    else:
        same = mark_equal_rows(true, pred, threads)
    if weights is None:
        return MatchingRows(int(np.count_nonzero(same)), rows)
    return MatchingRows(exact.integer_sum(weights[same]), exact.integer_sum(weights), 1 << exact.EXPONENT)


def mark_differing_indicators(true: targets.Target, pred: targets.Target) -> np.ndarray:
    """A C-contiguous uint8 matrix: 1 where two indicators have different values.

    Values are compared, not only whether they are set: as in scikit-learn, 1 and 2 differ.
    """
    differ = np.asarray(targets.as_target(true, "y_true") != targets.as_target(pred, "y_pred"))
    return np.ascontiguousarray(differ).view(np.uint8)


def count_equal_rows(true: targets.Target, pred: targets.Target, n_threads: int) -> int:
    """Count the equal rows of two checked columns."""
    rows = true.shape[0]
    if targets.is_kernel_array(true) and targets.is_kernel_array(pred):
        counts = counting.map_chunks(rows, n_threads, lambda *chunk: kernel.count_equal(true, pred, *chunk))
        if min(counts) >= 0:
            return sum(counts)
    elif is_fixed_width_text(true) and is_fixed_width_text(pred):
        width = max(true.dtype.itemsize, pred.dtype.itemsize, 4)
        first, second = (
            np.ascontiguousarray(column, f"U{width // 4}").view(np.uint8).reshape(rows, width)
            for column in (true, pred)
        )
        return sum(counting.map_chunks(rows, n_threads, lambda *chunk: kernel.count_equal_rows(first, second, *chunk)))
    return int(np.count_nonzero(mark_equal_rows(true, pred, n_threads)))


def mark_equal_rows(true: targets.Target, pred: targets.Target, n_threads: int) -> np.ndarray:
    """A boolean array: which rows of two checked columns are equal."""
    if targets.is_kernel_array(true) and targets.is_kernel_array(pred):
        same = np.empty(true.shape[0], np.uint8)
        if kernel.mark_equal(true, pred, same):
            return same.view(np.bool_)
    _, first, second = targets.match_columns(true, pred, n_threads)
    return np.asarray(first == second)


def is_fixed_width_text(target: targets.Target) -> TypeGuard[np.ndarray]:
    return not isinstance(target, categorical.CategoricalColumn) and target.dtype.kind == "U"


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "accuracy_score": ({}, {"normalize": False}),
    "zero_one_loss": ({}, {"normalize": False}),
}
