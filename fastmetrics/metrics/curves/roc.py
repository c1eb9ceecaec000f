"""The ROC curve, and the area below a curve given by its points."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.ordered_rows import OrderedRows, are_short, order_rows
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics._kernels import points, shortcurves


def rates_of_rows(rows: OrderedRows, drop_intermediate: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """FPR, TPR and thresholds, the first of which is infinite; NaN rates of a class without rows."""
    curve = rows.curve(points.CORNERS if drop_intermediate else points.COUNTS)
    n = curve.x.shape[0] + 1
    fpr, tpr, thresholds = np.empty(n), np.empty(n), np.empty(n)
    fpr[0] = tpr[0] = 0.0
    thresholds[0] = np.inf
    thresholds[1:] = curve.thresholds
    for rates, counts in ((fpr, curve.x), (tpr, curve.y)):
        if counts[-1] > 0:
            np.divide(counts, counts[-1], out=rates[1:])
        else:
            rates[:] = np.nan
    return fpr, tpr, thresholds


def roc_curve(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    drop_intermediate: bool = True,
    n_threads: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """False and true positive rates at every threshold.

    FPR(t) = FP / (FP + TN) and TPR(t) = TP / (TP + FN), a row being predicted positive when its score is at least t
    (Fawcett, Pattern Recognition Letters 27, 2006). Counts are exact, each rate is rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive; float32 and float64 are read as they are, integers and float16 widened.
        Scores are equal only when they are exactly equal.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all others are negative.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    drop_intermediate : bool
        Leave out points at which the curve does not turn: those reached by a step of as many negatives and as many
        positives as the step after it.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    fpr, tpr : ndarray of shape (n_thresholds,)
        Ascending, from 0 to 1; NaN with an UndefinedMetricWarning where there is no negative or no positive row.
    thresholds : ndarray of shape (n_thresholds,)
        Descending; the first is infinite: nothing is predicted positive.

    Raises
    ------
    ValueError
        NaN scores, labels that need `pos_label`, lengths that differ, no rows, bad weights; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fpr, tpr, thresholds = fm.roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    if are_short(y_true, y_score, pos_label, sample_weight, n_threads) and type(drop_intermediate) is bool:
        room = np.empty((3, y_score.size + 1))
        n = shortcurves.roc(y_true, y_score, drop_intermediate, room)
        if n is not None:
            thresholds, fpr, tpr = room[:, :n]
            return fpr, tpr, thresholds
    return curve_of(order_rows(y_true, y_score, pos_label, sample_weight, n_threads), drop_intermediate)


def curve_of(rows: OrderedRows, drop_intermediate: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `roc_curve` returns."""
    inputs.check_flag(drop_intermediate, "drop_intermediate")
    curve = rates_of_rows(rows, drop_intermediate)
    for rates, what in ((curve[0], "negative"), (curve[1], "positive")):
        if rates[-1] != rates[-1]:
            rate = "fpr" if what == "negative" else "tpr"
            warnings.warn(f"there is no {what} row: {rate} is NaN", UndefinedMetricWarning, stacklevel=3)
    return curve


def auc(x: Any, y: Any) -> float:
    """The area below a curve given by its points, by the trapezoidal rule.

    area = sum_i (x_{i+1} - x_i) (y_i + y_{i+1}) / 2. For the area below a ROC curve `roc_auc_score` is exact; for
    precision and recall `average_precision_score` does not interpolate, as this would.

    Parameters
    ----------
    x : array-like of shape (n,)
        Abscissae, ascending or descending.
    y : array-like of shape (n,)
        Ordinates.

    Returns
    -------
    float
        Positive areas for positive `y`, whichever way `x` goes; NaN where a point is, as of the curve of one class.

    Raises
    ------
    ValueError
        Fewer than two points, lengths that differ, or `x` that goes both ways.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.auc([0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
    0.75
    """
    abscissae = as_points(x, "x")
    ordinates = as_points(y, "y")
    inputs.check_lengths(abscissae.shape[0], ordinates.shape[0], "x", "y")
    if abscissae.shape[0] < 2:
        raise ValueError(f"x must have at least 2 points; found {abscissae.shape[0]}")
    area, direction, problem = points.trapezoids(abscissae, ordinates)
    if problem:
        refuse_turns(abscissae)
    return area if direction >= 0 else -area


def as_points(values: Any, name: str) -> np.ndarray:
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 1 and values.flags.c_contiguous:
        return values
    array = inputs.as_floats(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.reshape(-1)
    if array.ndim != 1:
        kind = ValueError if array.ndim else inputs.InputError
        raise kind(f"{name} must have one dimension; found {array.ndim} (shape {array.shape})")
    return array.astype(np.float64, copy=False)


def refuse_turns(x: np.ndarray) -> None:
    """The error for x that goes both ways; NaN goes neither way. What is not finite is left to the sum."""
    with np.errstate(invalid="ignore"):
        steps = np.diff(x)
    down = steps < 0
    if down.any() and not (steps <= 0).all():
        turn = int(np.flatnonzero(~(steps <= 0))[0] if down[0] else np.flatnonzero(down)[0]) + 1
        raise ValueError(f"x must go one way; found {x[turn - 1]} and then {x[turn]} at row {turn}")
