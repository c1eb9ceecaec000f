"""The Hamming loss: the share of labels that are predicted wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import class_labels as targets
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._kernels.classification import label_counts as kernel
from fastmetrics.metrics.classification.accuracy import mark_differing_indicators, match_plain_arrays, match_targets

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import MatrixLike, NumericArrayLike

__all__ = ["hamming_loss"]


def small_hamming_loss(y_true: np.ndarray, y_pred: np.ndarray) -> float | None:
    rows, equal = y_true.size, kernel.count_equal(y_true, y_pred)
    return exact.divide(rows - equal, rows) if equal >= 0 else None


@small_inputs(small_hamming_loss, max_rows=SERIAL_ROWS - 1)
def hamming_loss(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The share of labels that are predicted wrongly.

    With one label per row, the share of wrong rows. For multilabel input (indicators) every label counts: (1 / (W k))
    sum_i w_i d_i, where d_i of the k indicators of row i differ. R. Hamming, "Error detecting and error correcting
    codes", 1950; G. Tsoumakas, I. Katakis, "Multi-label classification: an overview", 2007.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes), or sparse matrix
        True labels: integers, bools, whole floats or strings. Multilabel input: a matrix of indicators, 0 and one other
        value, with a column per class.
    y_pred : array-like of shape (n,) or (n, n_classes), or sparse matrix
        Predicted labels, in the same form.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        Continuous targets, targets of two kinds, different lengths, no rows, or invalid weights.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.hamming_loss([1, 2, 3, 4], [2, 2, 3, 4])
    0.25
    >>> fm.hamming_loss([[0, 1], [1, 1]], [[0, 0], [0, 0]])
    0.75
    """
    rows = match_plain_arrays(y_true, y_pred, sample_weight, n_threads)
    if rows is None:
        true, pred, shape = targets.check_pair(y_true, y_pred)
        if shape == targets.MULTILABEL:
            return indicator_loss(true, pred, sample_weight)
        rows = match_targets(true, pred, shape, sample_weight, n_threads)
    return exact.divide(rows.total - rows.matching, rows.total)


def indicator_loss(true: targets.Target, pred: targets.Target, sample_weight: Any) -> float:
    """The weighted share of indicators that differ."""
    weights = targets.as_label_weights(sample_weight, true.shape[0])
    differ = mark_differing_indicators(true, pred)
    rows, columns = differ.shape
    if weights is None:
        return exact.divide(int(np.count_nonzero(differ)), rows * columns)
    wrong = np.asarray(np.count_nonzero(differ, axis=1))
    loss = sum(n * exact.integer_sum(weights[wrong == n]) for n in np.unique(wrong).tolist())
    return np.float64(exact.divide(loss, columns * exact.integer_sum(weights)))
