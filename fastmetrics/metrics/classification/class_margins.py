"""Rows of each class in y_true, in y_pred and in both: the statistic of balanced accuracy, MCC and Cohen's kappa."""

from __future__ import annotations

from collections.abc import Iterable
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import class_labels as targets
from fastmetrics._core.columns.class_labels import NAMES, Names
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.parallel import count_threads
from fastmetrics.metrics.classification import label_counts as counting
from fastmetrics.metrics.classification.confusion_matrix import check_label_columns


class ClassMargins(NamedTuple):
    """For each class, the rows with it in both columns, in the first and in the second; and the number of all rows.

    With sample weights, exact weights times 2**EXPONENT in place of rows.
    """

    both: list[int]
    true: list[int]
    pred: list[int]
    total: int


def count_small_margins(
    y_true: np.ndarray, y_pred: np.ndarray, *, n_threads: int | None = None, names: Names = NAMES
) -> ClassMargins | None:
    """count_class_margins for two short arrays with few labels. No error needs the `names`."""
    counts = counting.count_small_classes(y_true, y_pred, n_threads=n_threads)
    if counts is None:
        return None
    tp, fp, fn = counts[:3]
    return ClassMargins(tp.tolist(), (tp + fn).tolist(), (tp + fp).tolist(), counts.rows)


@small_inputs(count_small_margins)
def count_class_margins(
    y_true: Any, y_pred: Any, sample_weight: Any = None, n_threads: int | None = None, names: Names = NAMES
) -> ClassMargins:
    """Count or weigh the margins of two columns of labels."""
    if n_threads is not None:
        count_threads(n_threads)
    if sample_weight is None:
        cells = counting.count_plain_cells(y_true, y_pred, n_threads)
        if cells is not None:
            both, in_true, in_pred = counting.margins_of_cells(cells).tolist()
            return ClassMargins(both, in_true, in_pred, y_true.shape[0])
    true, pred = check_label_columns(y_true, y_pred, names)
    rows = true.shape[0]
    weights = targets.as_label_weights(sample_weight, rows)
    threads = counting.choose_thread_count(rows, n_threads)
    if weights is None:
        _, margins = counting.count_label_margins(true, pred, threads, names)
        both, in_true, in_pred = margins.tolist()
        return ClassMargins(both, in_true, in_pred, rows)
    classes, first, second = targets.match_columns(true, pred, threads, names)
    totals: tuple[list[int], list[int], list[int]] = ([], [], [])
    for states in counting.sum_class_weights(first, second, classes.shape[0], weights):
        for margin, state in zip(totals, states, strict=True):
            margin.extend(map(exact.to_integer, state))
    return ClassMargins(*totals, exact.integer_sum(weights))


def dot(first: Iterable[int], second: Iterable[int]) -> int:
    """The scalar product, in integers of any size."""
    total: int = sum(map(mul, first, second))
    return total
