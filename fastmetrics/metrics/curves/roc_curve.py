"""The ROC curve: true positive rate against false positive rate. `auc.py` has the area under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.exchange.sorted_rows import MOST_SHORT, OrderedRows, order_rows
from fastmetrics._core.parallel import for_each_part
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_user
from fastmetrics._kernels.sweep import curve_points, short_curves

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Label, NumericArrayLike

__all__ = ["roc_curve"]


def compute_roc_rates(rows: OrderedRows, drop_intermediate: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """FPR, TPR and thresholds; the first threshold is infinite. The rate of a class without rows is NaN."""
    thresholds, fpr, tpr = rows.curve(curve_points.CORNERS if drop_intermediate else curve_points.COUNTS, 1)
    fpr[0] = tpr[0] = 0.0
    thresholds[0] = np.inf
    for counts in (fpr, tpr):
        divide_by(counts, counts[-1] if counts[-1] > 0 else np.nan, rows.n_threads)
    return fpr, tpr, thresholds


def divide_by(counts: np.ndarray, total: float, n_threads: int | None) -> None:
    """Divide the counts in place, by all threads if there are many."""

    def divide(start: int, stop: int) -> None:
        np.divide(counts[start:stop], total, out=counts[start:stop])

    for_each_part(counts.shape[0], divide, n_threads)


def small_roc_curve(
    y_true: np.ndarray, y_score: np.ndarray, *, drop_intermediate: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    points = np.empty((3, y_true.size + 1))
    is_flag = type(drop_intermediate) is bool
    n = short_curves.roc_points(y_true, y_score, drop_intermediate, points) if is_flag else None
    if n is None:
        return None
    thresholds, fpr, tpr = points[:, :n]
    return fpr, tpr, thresholds


@small_inputs(small_roc_curve, max_rows=MOST_SHORT)
def roc_curve(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: NumericArrayLike | None = None,
    drop_intermediate: bool = True,
    allow_infinite: bool = False,
    n_threads: int | None = None,
) -> tuple[Floats, Floats, Floats]:
    """False and true positive rates at every threshold.

    FPR(t) = FP / (FP + TN) and TPR(t) = TP / (TP + FN). A row is predicted positive if its score is at least t
    (Fawcett, Pattern Recognition Letters 27, 2006). Counts are exact, and each rate is rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. -0.0 ties with 0.0, and scores tie only if they are exactly equal.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    drop_intermediate : bool
        Drop points at which the curve does not turn: the step to the point has as many negatives and as many positives
        as the step after it.
    allow_infinite : bool
        Order infinite scores: the greatest and the least, ties among themselves. By default they are an error, as in
        scikit-learn.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    fpr, tpr : ndarray of shape (n_thresholds,)
        Ascending from 0 to 1. The rate of a class without rows is NaN, with an UndefinedMetricWarning.
    thresholds : ndarray of shape (n_thresholds,)
        Descending. The first is infinite: no row is predicted positive.

    Raises
    ------
    ValueError
        NaN or infinite scores, labels that need `pos_label`, different lengths, no rows or invalid weights; the message
        names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fpr, tpr, thresholds = fm.roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    rows = order_rows(y_true, y_score, pos_label, sample_weight, n_threads, allow_infinite=allow_infinite)
    return roc_curve_from_rows(rows, drop_intermediate)


def roc_curve_from_rows(rows: OrderedRows, drop_intermediate: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The result of `roc_curve`."""
    validation.check_flag(drop_intermediate, "drop_intermediate")
    curve = compute_roc_rates(rows, drop_intermediate)
    for rates, name, rate in ((curve[0], "negative", "fpr"), (curve[1], "positive", "tpr")):
        if rates[-1] != rates[-1]:
            warn_user(f"there is no {name} row: {rate} is NaN", UndefinedMetricWarning)
    return curve


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"roc_curve": ({}, {"drop_intermediate": False})}
