"""The detection error tradeoff (DET) curve: false negative rate against false positive rate.

The points and thresholds are those of scikit-learn's `det_curve`. `far_frr_curve` gives the rates at every threshold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.exchange.sorted_rows import MOST_SHORT, OrderedRows, order_rows
from fastmetrics._core.score_statistics.pair_counts import undefined_reason
from fastmetrics._kernels.sweep import curve_points, short_curves

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Label, NumericArrayLike

__all__ = ["det_curve"]


def small_det_curve(y_true: np.ndarray, y_score: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    points = np.empty((3, y_true.size + 1))
    found = short_curves.det_points(y_true, y_score, points)
    if found is None:
        return None
    thresholds, fpr, fnr = points[:, found[0] : found[1]]
    return fpr, fnr, thresholds


@small_inputs(small_det_curve, max_rows=MOST_SHORT)
def det_curve(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    pos_label: Label | None = None,
    sample_weight: NumericArrayLike | None = None,
    drop_intermediate: bool = False,
    *,
    allow_infinite: bool = False,
    n_threads: int | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Detection error tradeoff: false positive and false negative rates at the thresholds where both change.

    FPR(t) = FP / (FP + TN) and FNR(t) = FN / (FN + TP). A row is predicted positive if its score is at least t (Martin
    et al., The DET curve in assessment of detection task performance, Eurospeech 1997).

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
        Keep only the first and the last of neighboring points with the same false negative rate.
    allow_infinite : bool
        Order infinite scores: the greatest and the least, ties among themselves. By default they are an error, as in
        scikit-learn.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    fpr, fnr : ndarray of shape (n_thresholds,)
        FPR descends and FNR ascends. The first point is the highest threshold without false negatives, the last is the
        lowest threshold without false positives.
    thresholds : ndarray of shape (n_thresholds,)
        Ascending; the last may be infinite.

    Raises
    ------
    ValueError
        One class only, NaN or infinite scores, invalid labels, different lengths, no rows or invalid weights; the
        message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fpr, fnr, thresholds = fm.det_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr.tolist(), fnr.tolist(), thresholds.tolist()
    ([0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.35, 0.4, 0.8])
    """
    rows = order_rows(y_true, y_score, pos_label, sample_weight, n_threads, allow_infinite=allow_infinite)
    return det_curve_from_rows(rows, drop_intermediate)


def det_curve_from_rows(rows: OrderedRows, drop_intermediate: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The result of `det_curve`."""
    validation.check_flag(drop_intermediate, "drop_intermediate")
    reason = undefined_reason(*rows.class_rows())
    if reason:
        raise ValueError(f"y_true has one class only ({reason}): a detection error tradeoff needs both")
    thresholds, fpr, fnr = rows.curve(curve_points.ERROR_RATES, 1)
    n_without = int(np.searchsorted(fpr[-2::-1], 0.0, "right"))  # thresholds without false positives
    if drop_intermediate or n_without == 0:
        fpr[-1], fnr[-1], thresholds[-1] = 0.0, 1.0, np.inf
        n_without += 1
    else:
        fpr, fnr, thresholds = fpr[:-1], fnr[:-1], thresholds[:-1]
    if drop_intermediate:
        moves = np.diff(fnr) != 0 if rows.has_positive is None else rows.has_positive
        kept = np.concatenate(([True], moves[:-1] | moves[1:], [True]))
        fpr, fnr, thresholds = fpr[kept], fnr[kept], thresholds[kept]
        n_without = int(np.searchsorted(fpr[::-1], 0.0, "right"))
    # From the last point without false negatives to the first without false positives.
    within = slice(int(np.searchsorted(fnr, 0.0, "right")) - 1, len(fpr) - n_without + 1)
    return fpr[within], fnr[within], thresholds[within]


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"det_curve": ({}, {"drop_intermediate": True})}
