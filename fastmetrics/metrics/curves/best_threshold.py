"""The threshold at which a metric of predictions is best."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.ordered_rows import OrderedRows, order_rows
from fastmetrics._core.pairs import why_undefined
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import points

CHOICES = ("f1", "fbeta", "accuracy", "balanced_accuracy", "youden", "gmean", "mcc", "jaccard")
NEARLY = 1e-14  # values that differ by less may be equal: each is a few operations
MOST_CANDIDATES = 1000


class BestThreshold(NamedTuple):
    """A threshold, and the value of the metric there: a row is predicted positive when its score is at least that."""

    threshold: float
    value: float


def best_threshold(
    y_true: Any,
    y_score: Any,
    *,
    metric: str = "f1",
    beta: float = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> BestThreshold:
    """The threshold at which a metric of predictions is greatest, over all distinct scores and infinity.

    With TP, FP, FN, TN at a threshold: F-beta = (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP) (van Rijsbergen,
    Information Retrieval, 1979), accuracy = (TP + TN) / n, balanced accuracy = (TPR + TNR) / 2, Youden's J = TPR - FPR
    (Cancer 3, 1950), G-mean = sqrt(TPR TNR), MCC (Matthews, 1975), Jaccard = TP / (TP + FP + FN).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive.
    metric : {"f1", "fbeta", "accuracy", "balanced_accuracy", "youden", "gmean", "mcc", "jaccard"}
        What is to be greatest.
    beta : float
        Positive: how much recall weighs against precision in "fbeta".
    pos_label : int, float, bool or str, optional
        The label of the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    BestThreshold
        `threshold`, the greatest one where several are as good (infinite: nothing is predicted positive), and `value`.
        Both NaN with an UndefinedMetricWarning when a class that the metric needs has no row.

    Raises
    ------
    ValueError
        NaN scores, wrong labels, lengths that differ, no rows, bad weights; the row is named. An unknown metric.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.best_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], metric="f1")
    BestThreshold(threshold=0.35, value=0.8)
    """
    return best_of(order_rows(y_true, y_score, pos_label, sample_weight, n_threads), metric, beta)


def best_of(rows: OrderedRows, metric: str, beta: float) -> BestThreshold:
    """What `best_threshold` returns."""
    inputs.check_option(metric, "metric", CHOICES)
    if isinstance(beta, (bool, str)) or not isinstance(beta, (int, float, np.number)) or not 0 < beta < np.inf:
        raise inputs.OptionError(f"beta must be a positive number; found {beta!r}")
    totals = rows.totals()
    reason = why_undefined(totals.negatives, totals.positives)
    if reason and (metric != "accuracy" or totals.negatives == totals.positives == 0):
        warn_undefined("best_threshold", reason, 4)
        return BestThreshold(float("nan"), float("nan"))
    curve = rows.curve(points.COUNTS)
    fps, tps = scaled(np.concatenate(([0.0], curve.x)), np.concatenate(([0.0], curve.y)))
    values = values_at(metric, fps, tps, float(beta))
    best = first_best(metric, fps, tps, float(beta), values)
    return BestThreshold(float(curve.thresholds[best - 1]) if best else float("inf"), float(values[best]))


def scaled(fps: np.ndarray, tps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights that are far from 1 times a power of two: no product of four overflows or vanishes. Counts stay."""
    total = fps[-1] + tps[-1]
    if 1.0 <= total <= 2.0**53:
        return fps, tps
    exponent = -int(np.frexp(total)[1])
    return np.ldexp(fps, exponent), np.ldexp(tps, exponent)


def values_at(metric: str, fps: np.ndarray, tps: np.ndarray, beta: float) -> np.ndarray:
    """The metric at every point.

    Counts and, up to 2**53, their products are exact: what is one quotient of those is rounded once, so that thresholds
    that are as good have the same value.
    """
    negatives, positives = fps[-1], tps[-1]
    product = negatives * positives
    values: np.ndarray
    if metric in ("f1", "fbeta"):
        square = 1.0 if metric == "f1" else beta * beta
        values = (1 + square) * tps / (square * positives + tps + fps)
    elif metric == "accuracy":
        values = (tps + (negatives - fps)) / (positives + negatives)
    elif metric == "balanced_accuracy":
        values = (tps * negatives + (negatives - fps) * positives) / (2 * product)
    elif metric == "youden":
        values = (tps * negatives - fps * positives) / product
    elif metric == "gmean":
        values = np.sqrt(tps * (negatives - fps) / product)
    elif metric == "jaccard":
        values = tps / (positives + fps)
    else:
        chosen = tps + fps
        others = (positives - tps) + (negatives - fps)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = (tps * negatives - fps * positives) / np.sqrt(chosen * others * product)
        values[~((chosen > 0) & (others > 0))] = 0.0
    return values


def first_best(metric: str, fps: np.ndarray, tps: np.ndarray, beta: float, values: np.ndarray) -> int:
    """The first point at which the metric is greatest: of those that floats hardly tell apart, by whole numbers."""
    greatest = values.max()
    candidates = np.flatnonzero(values >= greatest - NEARLY * abs(greatest))
    if not 1 < len(candidates) <= MOST_CANDIDATES:
        return int(np.argmax(values))
    sizes = Fraction(fps[-1]), Fraction(tps[-1])
    exact = [exact_at(metric, Fraction(fps[own]), Fraction(tps[own]), *sizes, Fraction(beta)) for own in candidates]
    return int(candidates[exact.index(max(exact))])


def exact_at(
    metric: str, fps: Fraction, tps: Fraction, negatives: Fraction, positives: Fraction, beta: Fraction
) -> Fraction:
    """What grows with the metric, and is rational."""
    lead = tps * negatives - fps * positives
    if metric in ("f1", "fbeta"):
        square = beta * beta if metric == "fbeta" else 1
        return (1 + square) * tps / (square * positives + tps + fps)
    if metric == "accuracy":
        return tps - fps
    if metric in ("balanced_accuracy", "youden"):
        return lead
    if metric == "gmean":
        return tps * (negatives - fps)
    if metric == "jaccard":
        return tps / (positives + fps)
    predicted = (tps + fps) * (positives + negatives - tps - fps)
    return lead * abs(lead) / predicted if predicted else Fraction(0)
