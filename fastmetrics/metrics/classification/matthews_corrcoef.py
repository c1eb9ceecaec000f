"""Matthews correlation coefficient (MCC), for two classes and for more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.exact import divide
from fastmetrics._core.undefined import warn_user
from fastmetrics.metrics.classification.confusion_matrix import SINGLE_LABEL, ClassMargins, count_class_margins, dot

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import MatrixLike, NumericArrayLike

__all__ = ["matthews_corrcoef"]

ROOT_BITS = 128


@answers_unknown
def matthews_corrcoef(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """Matthews correlation coefficient: 1 if all rows are correct, 0 at the chance level, negative below it.

    With c correct rows of s, and class k in t_k rows of y_true and in p_k rows of y_pred, (c s - sum_k t_k p_k) /
    sqrt((s^2 - sum_k p_k^2) (s^2 - sum_k t_k^2)); B. Matthews, "Comparison of the predicted and observed secondary
    structure of T4 phage lysozyme", 1975; for several classes J. Gorodkin, "Comparing two K-category assignments by a
    K-category correlation coefficient", 2004. Computed in integers of any size and rounded at the end.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers, bools, whole floats or strings.
    y_pred : array-like of shape (n,)
        Predicted labels.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [-1, 1]; 0 if either column has one class only.

    Raises
    ------
    ValueError
        Continuous or multilabel targets, targets of two kinds, different lengths, no rows, or invalid weights.

    Warns
    -----
    UserWarning
        Only one class occurs.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.matthews_corrcoef([1, 1, 1, -1], [1, -1, 1, 1]), 6)
    -0.333333
    """
    margins = count_class_margins(y_true, y_pred, sample_weight, n_threads)
    if len(margins.both) == 1:
        warn_user(SINGLE_LABEL, UserWarning)
    return correlation_of(margins)


def correlation_of(margins: ClassMargins) -> float:
    """The correlation; 0 if either column has one class only."""
    both, true, pred, total = margins
    covariance = sum(both) * total - dot(true, pred)
    of_pred = total * total - dot(pred, pred)
    of_true = total * total - dot(true, true)
    return divide_by_root(covariance, of_pred * of_true)


def divide_by_root(numerator: int, square: int) -> float:
    """numerator / sqrt(square); 0 if the square is 0."""
    if square == 0:
        return 0.0
    # The integer root has so many bits that dropping the rest does not change the double.
    shift = max(0, ROOT_BITS - square.bit_length()) // 2 + 1
    return divide(numerator << shift, math.isqrt(square << 2 * shift))
