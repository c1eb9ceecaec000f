"""False acceptance and false rejection rates (FAR, FRR) at every threshold. `eer.py` finds where both are equal."""

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

__all__ = ["far_frr_curve"]


@answers_unknown
def far_frr_curve(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> tuple[Floats, Floats, Floats]:
    """False acceptance and false rejection rates at every threshold.

    FAR(t) = FP / (FP + TN) and FRR(t) = FN / (FN + TP). A row is accepted if its score is at least t (ISO/IEC 19795-1).
    Unlike `det_curve`, the result has all thresholds. At the first threshold no row is accepted.

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
    far, frr : ndarray of shape (n_thresholds,)
        FAR ascends from 0 to 1, FRR descends from 1 to 0. The rate of a class without rows is NaN, with an
        UndefinedMetricWarning.
    thresholds : ndarray of shape (n_thresholds,)
        Descending; the first is infinite.

    Raises
    ------
    ValueError
        NaN scores, invalid labels, different lengths, no rows or invalid weights; the message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> far, frr, thresholds = fm.far_frr_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> far.tolist(), frr.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [1.0, 0.5, 0.5, 0.0, 0.0])
    """
    return far_frr_curve_from_rows(order_rows(y_true, y_score, pos_label, sample_weight, n_threads))


def far_frr_curve_from_rows(rows: OrderedRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The result of `far_frr_curve`."""
    totals = rows.totals()
    reason = undefined_reason(totals.negatives, totals.positives)
    curve = rows.curve(curve_points.COUNTS)
    if reason:
        warn_undefined("far_frr_curve", reason)
    fps, tps = np.concatenate(([0.0], curve.x)), np.concatenate(([0.0], curve.y))
    # The rate of a class without rows is NaN.
    far, frr = fps / (fps[-1] or np.nan), (tps[-1] - tps) / (tps[-1] or np.nan)
    return far, frr, np.concatenate(([np.inf], curve.thresholds))
