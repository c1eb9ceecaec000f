"""How much richer in positives the rows with the greatest scores are than all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.ordered_rows import OrderedRows, order_rows
from fastmetrics._core.pairs import why_undefined
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import points


def lift_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, n_threads: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lift of the rows that score at least a threshold, and what share of all rows they are.

    lift(t) = [TP / (TP + FP)] / [P / (P + N)]: the share of positives among the rows chosen over that among all rows
    (Provost and Fawcett, Data Science for Business, 2013, chapter 8). Share times lift is the recall: the gains curve.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive.
    pos_label : int, float, bool or str, optional
        The label of the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    share : ndarray of shape (n_thresholds,)
        Of rows (of weight) that score at least the threshold; ascending, the last is 1.
    lift : ndarray of shape (n_thresholds,)
        At least 0; the last is 1. NaN with an UndefinedMetricWarning when there is no positive row.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, descending.

    Raises
    ------
    ValueError
        NaN scores, wrong labels, lengths that differ, no rows, bad weights; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> share, lift, thresholds = fm.lift_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> share.tolist(), [round(value, 4) for value in lift.tolist()]
    ([0.25, 0.5, 0.75, 1.0], [2.0, 1.0, 1.3333, 1.0])
    """
    return lift_of(order_rows(y_true, y_score, pos_label, sample_weight, n_threads))


def lift_of(rows: OrderedRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `lift_curve` returns."""
    totals = rows.totals()
    curve = rows.curve(points.COUNTS)
    chosen = curve.x + curve.y
    if totals.positives == 0:
        warn_undefined("lift_curve", why_undefined(totals.negatives, 0) or "", 4)
        return chosen / chosen[-1], np.full(len(chosen), np.nan), curve.thresholds
    return chosen / chosen[-1], (curve.y / chosen) / (curve.y[-1] / chosen[-1]), curve.thresholds
