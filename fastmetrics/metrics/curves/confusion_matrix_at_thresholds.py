"""The four counts of a binary classifier at every threshold. `metric_at_thresholds.py` has any other metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.exchange.sorted_rows import order_rows
from fastmetrics._kernels.sweep import curve_points
from fastmetrics.metrics.curves.precision_recall_curve import cast_thresholds

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Label, NumericArrayLike, Thresholds

__all__ = ["confusion_matrix_at_thresholds"]


@answers_unknown
def confusion_matrix_at_thresholds(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: NumericArrayLike | None = None,
    allow_infinite: bool = False,
    n_threads: int | None = None,
) -> tuple[Floats, Floats, Floats, Floats, Thresholds]:
    """True negatives, false positives, false negatives and true positives at every threshold.

    A row is predicted positive if its score is at least t: FP(t) and TP(t) count the negative and the positive rows of
    these scores, TN(t) = N - FP(t) and FN(t) = P - TP(t) the others (T. Fawcett, An introduction to ROC analysis,
    Pattern Recognition Letters 27, 2006).

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
    allow_infinite : bool
        Order infinite scores: the greatest and the least, ties among themselves. By default they are an error, as in
        scikit-learn.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    tns, fps, fns, tps : ndarray of shape (n_thresholds,)
        Counts of rows, or sums of weights, as float64. Each sum is rounded once; TN and FN are differences of sums.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, descending, with the dtype of `y_score`.

    Raises
    ------
    ValueError
        NaN or infinite scores, labels that need `pos_label`, different lengths, no rows or invalid weights; the message
        names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> tns, fps, fns, tps, thresholds = fm.confusion_matrix_at_thresholds([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fps.tolist(), tps.tolist(), thresholds.tolist()
    ([0.0, 1.0, 1.0, 2.0], [1.0, 1.0, 2.0, 2.0], [0.8, 0.4, 0.35, 0.1])
    """
    y_score = validation.as_array(y_score, "y_score")
    rows = order_rows(y_true, y_score, pos_label, sample_weight, n_threads, allow_infinite=allow_infinite)
    thresholds, fps, tps = rows.curve(curve_points.COUNTS)
    return fps[-1] - fps, fps, tps[-1] - tps, tps, cast_thresholds(thresholds, y_score.dtype)
