"""The ROC curve, the area below it, and the area up to a false positive rate."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.ordered_rows import OrderedRows, order_rows
from fastmetrics._core.pairs import PairCounts, PairsWon, finalise_pairs, why_undefined
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import metric
from fastmetrics._core.rows import SERIAL_ROWS
from fastmetrics._core.statistic import Value
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_undefined
from fastmetrics._core.weighted import WeightedPairs
from fastmetrics._kernels import columns, points, ranksum


def pairs_of_small(y_true: np.ndarray, y_score: np.ndarray) -> PairCounts:
    """The pair counts of two short columns: one kernel, for calls in loops."""
    rows = y_true.shape[0]
    labels = np.empty(rows, np.uint8)
    seen = np.zeros(2, np.int64)
    columns.decode_labels(y_true, 0, rows, labels, seen)
    if seen[0] > columns.SAW_ZERO + columns.SAW_ONE:
        inputs.check_seen_labels(int(seen[0]), lambda what: inputs.find_label(y_true, what), "y_true")
    positives, wins, has_nan = ranksum.count_pairs(labels, y_score, np.empty(ranksum.work_words(rows), np.uint64))
    if has_nan:
        inputs.raise_nan(y_score, "y_score")
    return PairCounts(rows - positives, positives, wins)


def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    sample_weight: Any = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Any = None,
    n_threads: int | None = None,
) -> float:
    """The probability that a positive row scores above a negative one, ties counting one half.

    AUC = (pairs won + pairs tied / 2) / (positives * negatives), over all pairs of a positive and a negative row. This
    is the area under the ROC curve and the Mann-Whitney U statistic divided by its maximum (Hanley and McNeil,
    Radiology 143, 1982). Counted in integers, so the result is the correctly rounded quotient for any order of the
    rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1 (bool, any integer or float type), or -1 and +1.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive; float32 and float64 are read as they are, integers and float16 widened.
        Infinities are ordered, -0.0 ties with 0.0, scores are equal only when they are exactly equal.
    average : {"macro", "micro", "weighted", "samples"} or None
        Without effect: labels are binary, as those of scikit-learn are when it ignores this argument.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a pair weighs the product of its rows' weights, a row of weight zero is
        absent. Sums and products of weights are exact, so the result is correctly rounded for any weights.
    max_fpr : float in (0, 1], optional
        Standardised partial AUC over false positive rates up to max_fpr (McClish, Medical Decision Making 9, 1989).
    multi_class : {"raise", "ovr", "ovo"}
        Without effect on binary labels, as in scikit-learn.
    labels : array-like, optional
        Without effect on binary labels, as in scikit-learn.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1]; NaN with an UndefinedMetricWarning when only one class is present.

    Raises
    ------
    ValueError
        NaN scores, labels outside the two pairs above, lengths that differ, no rows, bad weights; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> fm.roc_auc_score([0, 1, 1, 0, 0, 1, 1], [0.3, 0.5, 0.5, 0.5, 0.5, 0.7, 0.8]) == 10 / 12
    True
    """
    inputs.check_option(average, "average", ("macro", "micro", "weighted", "samples", None))
    inputs.check_option(multi_class, "multi_class", ("raise", "ovr", "ovo"))
    if max_fpr is not None:
        check_max_fpr(max_fpr)
    truth = inputs.as_labels(y_true)
    scores = inputs.as_scores(y_score)
    inputs.check_lengths(truth.shape[0], scores.shape[0], "y_true", "y_score")
    if n_threads is not None:
        count_threads(n_threads)
    if sample_weight is None and truth.shape[0] <= SERIAL_ROWS and (max_fpr is None or max_fpr == 1):
        state = pairs_of_small(truth, scores)
        if state.positives and state.negatives:
            return divide(state.wins, 2 * state.negatives * state.positives)
        return warn_undefined("roc_auc_score", why_undefined(state.negatives, state.positives) or "", 3)
    return area_of(OrderedRows(truth, scores, sample_weight, n_threads), max_fpr)


def area_of(rows: OrderedRows, max_fpr: float | None) -> float:
    """What `roc_auc_score` returns for binary labels."""
    if max_fpr is None or max_fpr == 1:
        (state,) = rows.sweep(PairsWon())
        result = finalise_pairs(state)
    else:
        result = partial_area(rows, float(max_fpr), True)
    return warn_undefined("roc_auc_score", result.reason, 4) if result.reason else result.value


def partial_area(rows: OrderedRows, max_fpr: float, standardize: bool) -> Value:
    """The area up to max_fpr, the curve interpolated linearly there; McClish's standardisation if wanted."""
    totals = rows.totals()
    reason = why_undefined(totals.negatives, totals.positives)
    if reason:
        return Value(float("nan"), {}, reason)
    fpr, tpr, _ = rates_of_rows(rows, True)
    stop = int(np.searchsorted(fpr, max_fpr, "right"))
    tpr_at_stop = np.interp(max_fpr, fpr[stop - 1 : stop + 1], tpr[stop - 1 : stop + 1])
    x = np.append(fpr[:stop], max_fpr)
    y = np.append(tpr[:stop], tpr_at_stop)
    area = math.fsum((np.diff(x) * (y[1:] + y[:-1]) / 2).tolist())
    if not standardize:
        return Value(area, {})
    least = max_fpr**2 / 2
    return Value(0.5 * (1 + (area - least) / (max_fpr - least)), {})


def check_max_fpr(max_fpr: Any) -> None:
    if isinstance(max_fpr, bool) or not isinstance(max_fpr, (int, float, np.number)) or not 0 < max_fpr <= 1:
        raise inputs.OptionError(f"max_fpr must lie in (0, 1]; found {max_fpr!r}")


def partial_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    max_fpr: float,
    standardize: bool = False,
    pos_label: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> float:
    """The area below the ROC curve up to a false positive rate.

    pAUC = integral of TPR over FPR from 0 to max_fpr, the curve interpolated linearly at max_fpr. Standardised, it is
    (1 + (pAUC - max_fpr^2 / 2) / (max_fpr - max_fpr^2 / 2)) / 2: one half for a random ranking, 1 for a perfect one
    (McClish, Medical Decision Making 9, 1989), which is what `roc_auc_score(max_fpr=...)` returns.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any two kinds with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive.
    max_fpr : float in (0, 1]
        Where the area ends.
    standardize : bool
        McClish's standardisation.
    pos_label : int, float, bool or str, optional
        The label of the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, max_fpr], or with `standardize` in [0, 1]; NaN with an UndefinedMetricWarning when only one class is
        present.

    Raises
    ------
    ValueError
        NaN scores, wrong labels, lengths that differ, no rows, bad weights; the row is named. A max_fpr outside (0, 1].

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.partial_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5)
    0.25
    """
    return partial_of(order_rows(y_true, y_score, pos_label, sample_weight, n_threads), max_fpr, standardize)


def partial_of(rows: OrderedRows, max_fpr: float, standardize: bool) -> float:
    """What `partial_auc_score` returns."""
    check_max_fpr(max_fpr)
    inputs.check_flag(standardize, "standardize")
    result = partial_area(rows, float(max_fpr), standardize)
    return warn_undefined("partial_auc_score", result.reason, 4) if result.reason else result.value


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
        Positive areas for positive `y`, whichever way `x` goes.

    Raises
    ------
    ValueError
        Fewer than two points, lengths that differ, NaN or infinite values, or `x` that goes both ways.

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
        explain_points(abscissae, ordinates)
    return area if direction >= 0 else -area


def as_points(values: Any, name: str) -> np.ndarray:
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 1 and values.flags.c_contiguous:
        return values
    array = inputs.as_floats(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.reshape(-1)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension; found {array.ndim} (shape {array.shape})")
    return array.astype(np.float64, copy=False)


def explain_points(x: np.ndarray, y: np.ndarray) -> None:
    """Say what is wrong with points: not finite, or x that turns."""
    for name, values in (("x", x), ("y", y)):
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise ValueError(f"{name} has {values[bad[0]]} at row {bad[0]}")
    steps = np.diff(x)
    first = int(np.flatnonzero(steps != 0)[0])
    turn = int(np.flatnonzero(steps * steps[first] < 0)[0]) + 1
    raise ValueError(f"x must go one way; found {x[turn - 1]} and then {x[turn]} at row {turn}")


@metric(
    "auc",
    exchange="score",
    statistics=lambda: (PairsWon(),),
    function=roc_auc_score,
    undefined="one class only",
)
def finalise_auc(parameters: dict[str, Any], state: PairCounts | WeightedPairs) -> Value:
    """Area under the ROC curve: the share of positive-negative pairs in the right order, ties one half."""
    return finalise_pairs(state)
