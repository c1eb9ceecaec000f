"""Accuracy and the zero-one loss: the share of rows whose prediction is correct, or wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.exact import divide
from fastmetrics.metrics.classification.matching_rows import count_matching_rows

__all__ = ["accuracy_score", "zero_one_loss"]


def accuracy_score(
    y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None, n_threads: int | None = None
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
        Number of threads; by default the number of CPUs that the process may use. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1] if normalised.

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
    return rows.share() if normalize else divide(rows.matching, rows.unit)


def zero_one_loss(
    y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None, n_threads: int | None = None
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
        Number of threads; by default the number of CPUs that the process may use. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1] if normalised.

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
        return divide(wrong, rows.total)
    loss = divide(wrong, rows.unit)
    return loss if sample_weight is None else np.float64(loss)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "accuracy_score": ({}, {"normalize": False}),
    "zero_one_loss": ({}, {"normalize": False}),
}
