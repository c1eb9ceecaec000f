"""Rows whose true and predicted labels are equal, counted or weighted: the statistic of accuracy and Hamming loss."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeGuard

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import class_labels as targets
from fastmetrics._core.columns.categorical import CategoricalColumn
from fastmetrics._core.columns.class_labels import MULTILABEL, Target
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.parallel import count_threads
from fastmetrics._kernels.classification import label_counts as kernel
from fastmetrics.metrics.classification import label_counts as counting


class MatchingRows(NamedTuple):
    """Rows with equal labels, and all rows: integers, which are counts or exact weights times `unit`."""

    matching: int
    total: int
    unit: int = 1

    def share(self) -> float:
        return divide(self.matching, self.total)


def match_small_arrays(y_true: np.ndarray, y_pred: np.ndarray, *, n_threads: int | None = None) -> MatchingRows | None:
    """Two short arrays of numbers in one kernel call; None for other arrays. `n_threads` is checked, not used."""
    if n_threads is not None:
        count_threads(n_threads)
    equal = kernel.count_equal(y_true, y_pred)
    return MatchingRows(equal, y_true.shape[0]) if equal >= 0 else None


@small_inputs(match_small_arrays, max_rows=SERIAL_ROWS - 1)
def count_matching_rows(
    y_true: Any, y_pred: Any, sample_weight: Any = None, n_threads: int | None = None
) -> MatchingRows:
    """Count or weigh the rows with equal labels."""
    if n_threads is not None:
        count_threads(n_threads)
    rows = None if sample_weight is not None else match_plain_arrays(y_true, y_pred, n_threads)
    if rows is None:
        true, pred, shape = targets.check_pair(y_true, y_pred)
        rows = match_targets(true, pred, shape, sample_weight, n_threads)
    return rows


def match_plain_arrays(y_true: Any, y_pred: Any, n_threads: int | None) -> MatchingRows | None:
    """Count in NumPy arrays of numbers before they are checked; None if they do not hold labels."""
    if type(y_true) is not np.ndarray or type(y_pred) is not np.ndarray or kernel.count_equal(y_true, y_pred, 0, 1) < 0:
        return None
    rows = y_true.shape[0]
    counts: list[int] = []
    threads = counting.choose_thread_count(rows, n_threads)
    counting.for_each_unit(rows, threads, lambda *unit: counts.append(kernel.count_equal(y_true, y_pred, *unit)))
    return MatchingRows(sum(counts), rows) if min(counts) >= 0 else None


def match_targets(true: Target, pred: Target, shape: str, sample_weight: Any, n_threads: int | None) -> MatchingRows:
    """Count or weigh the equal rows of two checked targets."""
    rows = true.shape[0]
    weights = targets.as_label_weights(sample_weight, rows)
    threads = counting.choose_thread_count(rows, n_threads)
    if shape == MULTILABEL:
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


def mark_differing_indicators(true: Target, pred: Target) -> np.ndarray:
    """A C-contiguous uint8 matrix: 1 where two indicators have different values.

    Values are compared, not only whether they are set: as in scikit-learn, 1 and 2 differ.
    """
    differ = np.asarray(targets.as_target(true, "y_true") != targets.as_target(pred, "y_pred"))
    return np.ascontiguousarray(differ).view(np.uint8)


def count_equal_rows(true: Target, pred: Target, n_threads: int) -> int:
    """Count the equal rows of two checked columns."""
    rows = true.shape[0]
    counts: list[int] = []
    if targets.is_kernel_array(true) and targets.is_kernel_array(pred):
        first, second = true, pred
        counting.for_each_unit(
            rows, n_threads, lambda start, stop: counts.append(kernel.count_equal(first, second, start, stop))
        )
        if min(counts) >= 0:
            return sum(counts)
    elif is_fixed_width_text(true) and is_fixed_width_text(pred):
        width = max(true.dtype.itemsize, pred.dtype.itemsize, 4)
        first, second = (
            np.ascontiguousarray(column, f"U{width // 4}").view(np.uint8).reshape(rows, width)
            for column in (true, pred)
        )
        counting.for_each_unit(
            rows, n_threads, lambda start, stop: counts.append(kernel.count_equal_rows(first, second, start, stop))
        )
        return sum(counts)
    return int(np.count_nonzero(mark_equal_rows(true, pred, n_threads)))


def mark_equal_rows(true: Target, pred: Target, n_threads: int) -> np.ndarray:
    """A boolean array: which rows of two checked columns are equal."""
    if targets.is_kernel_array(true) and targets.is_kernel_array(pred):
        same = np.empty(true.shape[0], np.uint8)
        if kernel.mark_equal(true, pred, same):
            return same.view(np.bool_)
    _, first, second = targets.match_columns(true, pred, n_threads)
    return np.asarray(first == second)


def is_fixed_width_text(target: Target) -> TypeGuard[np.ndarray]:
    return not isinstance(target, CategoricalColumn) and target.dtype.kind == "U"
