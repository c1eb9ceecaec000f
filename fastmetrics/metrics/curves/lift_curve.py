"""The lift curve: the share of positives among the highest scores, relative to that among all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.exchange.sorted_rows import OrderedRows, order_rows
from fastmetrics._core.score_statistics.pair_counts import undefined_reason
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.sweep import curve_points

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Label, NumericArrayLike

__all__ = ["lift_curve"]


@answers_unknown
def lift_curve(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> tuple[Floats, Floats, Floats]:
    """The lift at every threshold, and the share of rows that score at least the threshold.

    lift(t) = [TP / (TP + FP)] / [P / (P + N)]: the share of positives among the rows that score at least t, divided by
    the share among all rows (Provost and Fawcett, Data Science for Business, 2013, chapter 8). The product of share and
    lift is the recall, which is the y axis of the gains curve.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. Infinities are ordered, -0.0 ties with 0.0, and scores tie only if they are exactly equal.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    share : ndarray of shape (n_thresholds,)
        The share of rows (of weight) that score at least the threshold. Ascending; the last is 1.
    lift : ndarray of shape (n_thresholds,)
        At least 0; the last is 1. NaN with an UndefinedMetricWarning if there is no positive row.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, descending.

    Raises
    ------
    ValueError
        NaN scores, invalid labels, different lengths, no rows or invalid weights; the message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> share, lift, thresholds = fm.lift_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> share.tolist(), [round(value, 4) for value in lift.tolist()]
    ([0.25, 0.5, 0.75, 1.0], [2.0, 1.0, 1.3333, 1.0])
    """
    return lift_curve_from_rows(order_rows(y_true, y_score, pos_label, sample_weight, n_threads))


def lift_curve_from_rows(rows: OrderedRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The result of `lift_curve`."""
    totals = rows.totals()
    curve = rows.curve(curve_points.COUNTS)
    selected = curve.x + curve.y
    if totals.positives == 0:
        warn_undefined("lift_curve", undefined_reason(totals.negatives, 0) or "")
        return selected / selected[-1], np.full(len(selected), np.nan), curve.thresholds
    return selected / selected[-1], (curve.y / selected) / (curve.y[-1] / selected[-1]), curve.thresholds
