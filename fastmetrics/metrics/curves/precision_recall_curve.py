"""The precision-recall curve. `average_precision.py` has the area under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.exchange.sorted_rows import MOST_SHORT, OrderedRows, order_rows
from fastmetrics._core.score_statistics.pair_counts import NO_POSITIVE
from fastmetrics._core.undefined import warn_user
from fastmetrics._kernels.sweep import curve_points, short_curves

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Label, NumericArrayLike, Thresholds

__all__ = ["precision_recall_curve"]


def small_precision_recall_curve(
    y_true: np.ndarray, y_score: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    points = np.empty((3, y_true.size + 1))
    start = short_curves.precision_recall_points(y_true, y_score, points)
    if start is None:
        return None
    thresholds, precision, recall = points[:, start:]
    return precision, recall, cast_thresholds(thresholds[:-1], y_score.dtype)


@small_inputs(small_precision_recall_curve, max_rows=MOST_SHORT)
def precision_recall_curve(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: NumericArrayLike | None = None,
    drop_intermediate: bool = False,
    allow_infinite: bool = False,
    n_threads: int | None = None,
) -> tuple[Floats, Floats, Thresholds]:
    """Precision and recall at every threshold.

    P(t) = TP / (TP + FP) and R(t) = TP / (TP + FN). A row is predicted positive if its score is at least t. Counts are
    exact, and each ratio is rounded once.

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
        Keep only the first and the last of neighboring points with the same recall.
    allow_infinite : bool
        Order infinite scores: the greatest and the least, ties among themselves. By default they are an error, as in
        scikit-learn.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    precision, recall : ndarray of shape (n_thresholds + 1,)
        Values at ascending thresholds; recall descends. The last values are 1 and 0 and have no threshold. Without a
        positive row, recall is 1, with a UserWarning.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, ascending, with the dtype of `y_score`.

    Raises
    ------
    ValueError
        NaN or infinite scores, labels that need `pos_label`, different lengths, no rows or invalid weights; the message
        names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> precision, recall, thresholds = fm.precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> recall.tolist(), thresholds.tolist()
    ([1.0, 1.0, 0.5, 0.5, 0.0], [0.1, 0.35, 0.4, 0.8])
    """
    validation.check_flag(drop_intermediate, "drop_intermediate")
    y_score = validation.as_array(y_score, "y_score")
    rows = order_rows(y_true, y_score, pos_label, sample_weight, n_threads, allow_infinite=allow_infinite)
    return precision_recall_curve_from_rows(rows, drop_intermediate, y_score.dtype)


def precision_recall_curve_from_rows(
    rows: OrderedRows, drop_intermediate: bool, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The result of `precision_recall_curve`; `dtype` is that of the scores."""
    has_positives = rows.class_rows()[1] > 0
    thresholds, precision, recall = rows.curve(curve_points.PRECISION_RECALL, 1)
    if not has_positives:
        warn_user(f"{NO_POSITIVE}: recall is 1 at every threshold", UserWarning)
        recall[:] = 1.0
    n = thresholds.shape[0] - 1
    if drop_intermediate and n > 2:
        moves = np.diff(recall[:n]) != 0 if has_positives else np.zeros(n - 1, bool)
        kept = np.concatenate(([True], moves[:-1] | moves[1:], [True, True]))
        thresholds, precision, recall = thresholds[kept], precision[kept], recall[kept]
    precision[-1], recall[-1] = 1.0, 0.0
    return precision, recall, cast_thresholds(thresholds[:-1], dtype)


def cast_thresholds(thresholds: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Thresholds in the dtype of the scores, in native byte order; float64 for scores that are Python objects."""
    return thresholds if dtype.char in "dO" else thresholds.astype(dtype.newbyteorder("="))


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"precision_recall_curve": ({}, {"drop_intermediate": True})}
