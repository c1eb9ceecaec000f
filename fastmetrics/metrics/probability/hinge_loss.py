"""The hinge loss: how far decision values are from being right with a margin of 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import class_labels, validation

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, NumericArrayLike

__all__ = ["hinge_loss"]


@answers_unknown
def hinge_loss(
    y_true: ArrayLike,
    pred_decision: NumericArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
) -> float:
    """The mean hinge loss of decision values, as of a support vector machine.

    (1/W) sum_i w_i max(0, 1 - m_i), with W the sum of the weights. Of two classes, the margin m_i is the decision value
    for the greater label, and minus the decision value for the other one. Of more classes, it is the decision value of
    the row's class minus the greatest of the others (K. Crammer, Y. Singer, On the algorithmic implementation of
    multiclass kernel-based vector machines, JMLR 2, 2001).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    pred_decision : array-like of shape (n,) or (n, n_classes)
        Finite decision values: a column for at most two classes, otherwise a column of the matrix for each class, in
        the order of the sorted labels.
    labels : array-like, optional
        The classes, if y_true does not have all of them.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    ValueError
        Decision values that are not finite or not of the shape above, labels that are not among `labels`, different
        lengths, no rows or invalid weights.

    Notes
    -----
    Margins are rounded, and their sum is exact: the result does not depend on the order of rows. If `y_true` has one
    class and `labels` is not given, the class counts as the lesser one of two.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.hinge_loss([-1, 1, 1, -1], [-8.5, 0.5, 1.5, -0.25])
    0.3125
    >>> fm.hinge_loss(["a", "b", "c"], [[2.0, 0.5, 0.0], [0.0, 1.5, 1.0], [0.0, 0.25, 0.0]])
    0.5833333333333334
    """
    codes, classes = class_labels.encode_labels(y_true, labels)
    decisions = read_decisions(pred_decision)
    validation.check_lengths(codes.shape[0], decisions.shape[0], "y_true", "pred_decision")
    weights = class_labels.as_label_weights(sample_weight, codes.shape[0])
    with np.errstate(over="ignore"):
        losses = np.maximum(1.0 - margins(codes, classes, decisions), 0.0)
    if weights is not None:  # the products below must neither overflow nor vanish
        weights = np.ldexp(weights, -np.frexp(weights.max())[1])
    total = codes.shape[0] << exact.EXPONENT if weights is None else exact.integer_sum(weights)
    state = exact.sum_state(losses, weights)
    return exact.divide(exact.to_integer(state), total) if exact.is_finite(state) else math.inf


def read_decisions(pred_decision: Any) -> np.ndarray:
    """Decision values as float64, with one or two dimensions."""
    decisions = validation.as_floats(pred_decision, "pred_decision").astype(np.float64, copy=False)
    if decisions.ndim not in (1, 2):
        raise ValueError(f"pred_decision must have one or two dimensions; found shape {decisions.shape}")
    if not np.isfinite(decisions).all():
        rows = decisions.reshape(decisions.shape[0], -1)
        worst = np.isfinite(rows).argmin(axis=1)
        validation.raise_bad_number(rows[np.arange(rows.shape[0]), worst], "pred_decision")
    return decisions


def margins(codes: np.ndarray, classes: np.ndarray, decisions: np.ndarray) -> np.ndarray:
    """How far each row is on the right side."""
    rows, n_classes = codes.shape[0], classes.shape[0]
    if n_classes <= 2:
        if decisions.size != rows:
            raise ValueError(f"pred_decision has shape {decisions.shape}: at most two classes need one column")
        return np.asarray(np.where(codes == 1, 1.0, -1.0) * decisions.ravel())
    if decisions.ndim == 1 or decisions.shape[1] != n_classes:
        raise ValueError(
            f"pred_decision has shape {decisions.shape}: {n_classes} classes need shape {(rows, n_classes)}; if y_true "
            f"lacks classes, pass all of them as labels"
        )
    of_row = np.arange(rows), codes
    others = decisions.copy()
    others[of_row] = -np.inf
    return np.asarray(decisions[of_row] - others.max(axis=1))
