"""The threshold that maximizes a metric of predictions, such as F1 or MCC."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.exchange.runs import ClassTotals, Cut, RangePosition, RangeStatistic, Runs
from fastmetrics._core.exchange.sorted_rows import OrderedRows, order_rows
from fastmetrics._core.metric_spec import ScoreInfluence
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import metric as register_metric
from fastmetrics._core.results.number_with_parts import NumberWithParts
from fastmetrics._core.score_statistics.pair_counts import pair_coverage, undefined_reason
from fastmetrics._core.statistic import Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.sweep import curve_points

if TYPE_CHECKING:
    from fastmetrics._core.score_statistics.score_classes import ClassMasses
    from fastmetrics._core.types.arrays import ArrayLike, Label, NumericArrayLike
    from fastmetrics._core.types.options import ThresholdMetric

__all__ = ["BestThreshold", "best_threshold"]

METRICS = ("f1", "fbeta", "accuracy", "balanced_accuracy", "youden", "gmean", "mcc", "jaccard")
RELATIVE_TOLERANCE = 1e-14  # values closer than this may be equal: each has a few rounding errors
MAX_EXACT_CANDIDATES = 1000


class BestThreshold(NumberWithParts):
    """The greatest value of a metric of predictions: a float, with its threshold.

    Attributes
    ----------
    threshold : float
        The threshold of this value. A row is predicted positive if its score is at least that.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> best = fm.best_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], metric="f1")
    >>> best == 0.8, best.threshold
    (True, 0.35)
    """

    __slots__ = ("threshold",)

    threshold: float


@answers_unknown
def best_threshold(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    metric: ThresholdMetric = "f1",
    beta: float = 1.0,
    pos_label: Label | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> BestThreshold:
    """The threshold that maximizes a metric of predictions, among all distinct scores and infinity.

    With TP, FP, FN, TN at a threshold: F-beta = (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP) (van Rijsbergen,
    Information Retrieval, 1979), accuracy = (TP + TN) / n, balanced accuracy = (TPR + TNR) / 2, Youden's J = TPR - FPR
    (Cancer 3, 1950), G-mean = sqrt(TPR TNR), MCC (Matthews, 1975), Jaccard = TP / (TP + FP + FN).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. Infinities are ordered, -0.0 ties with 0.0, and scores tie only if they are exactly equal.
    metric : {"f1", "fbeta", "accuracy", "balanced_accuracy", "youden", "gmean", "mcc", "jaccard"}
        The metric to maximize.
    beta : float
        The weight of recall relative to precision in "fbeta"; positive.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    BestThreshold
        The greatest value of the metric, a float with the attribute `threshold`. If several thresholds are equally
        good, the greatest is returned. An infinite threshold predicts no row positive. Both are NaN with an
        UndefinedMetricWarning if a class that the metric needs has no row.

    Raises
    ------
    ValueError
        NaN scores, invalid labels, different lengths, no rows or invalid weights; the message names the row.
        An unknown metric.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.best_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], metric="f1")
    BestThreshold(0.8, threshold=0.35)
    """
    return best_threshold_from_rows(order_rows(y_true, y_score, pos_label, sample_weight, n_threads), metric, beta)


def best_threshold_from_rows(rows: OrderedRows, metric: str, beta: float) -> BestThreshold:
    """The result of `best_threshold`."""
    validation.check_option(metric, "metric", METRICS)
    check_beta(beta)
    statistic = BestPoint(metric, beta)
    if rows.is_small and rows.weights is None and not reason_without_threshold(metric, rows.totals()):
        # Of few rows, a curve takes less time than runs.
        thresholds, fps, tps = rows.curve(curve_points.COUNTS, n_more=1)
        thresholds[0], fps[0], tps[0] = NO_ROW_CHOSEN
        best, value = statistic.choose(fps, tps, rows.totals())
        return BestThreshold(value, float(thresholds[best]))
    (state,) = rows.sweep(statistic)
    result = finalize_best_threshold({"metric": metric, "beta": beta}, state)
    if result.reason:
        warn_undefined("best_threshold", result.reason)
        return BestThreshold(float("nan"), float("nan"))
    return BestThreshold(result.value, result.coverage["threshold"])


def check_beta(beta: Any) -> None:
    validation.check_number(beta, "beta", "a positive number", lambda beta: 0 < beta < np.inf)


def reason_without_threshold(metric: str, totals: ClassTotals) -> str | None:
    """Why no threshold has a value: all metrics but accuracy need rows of both classes."""
    reason = undefined_reason(totals.negatives, totals.positives)
    return None if metric == "accuracy" and totals.negatives + totals.positives else reason


def scale_weights(fps: np.ndarray, tps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Multiply weights far from 1 by a power of two, so that no product of four overflows or underflows."""
    total = fps[-1] + tps[-1]
    if 1.0 <= total <= 2.0**53:
        return fps, tps
    exponent = -int(np.frexp(total)[1])
    return np.ldexp(fps, exponent), np.ldexp(tps, exponent)


def metric_values(metric: str, fps: np.ndarray, tps: np.ndarray, beta: float) -> np.ndarray:
    """The metric at every point.

    Counts, and products of counts up to 2**53, are exact. A single quotient of them is rounded once, so equally good
    thresholds have the same value.
    """
    negatives, positives = fps[-1], tps[-1]
    product = negatives * positives
    values: np.ndarray
    if metric in ("f1", "fbeta"):
        square = beta * beta
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
        predicted_positive = tps + fps
        predicted_negative = (positives - tps) + (negatives - fps)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = (tps * negatives - fps * positives) / np.sqrt(predicted_positive * predicted_negative * product)
        values[~((predicted_positive > 0) & (predicted_negative > 0))] = 0.0
    return values


def index_of_maximum(metric: str, fps: np.ndarray, tps: np.ndarray, beta: float, values: np.ndarray) -> int:
    """The first point at which the metric is greatest. Values within rounding error are compared exactly."""
    greatest = values.max()
    candidates = np.flatnonzero(values >= greatest - RELATIVE_TOLERANCE * abs(greatest))
    if not 1 < len(candidates) <= MAX_EXACT_CANDIDATES:
        return int(np.argmax(values))
    sizes = Fraction(fps[-1]), Fraction(tps[-1])
    exact = [exact_rank_value(metric, Fraction(fps[i]), Fraction(tps[i]), *sizes, Fraction(beta)) for i in candidates]
    return int(candidates[exact.index(max(exact))])


def exact_rank_value(
    metric: str, fps: Fraction, tps: Fraction, negatives: Fraction, positives: Fraction, beta: Fraction
) -> Fraction:
    """A rational number that increases with the metric."""
    covariance = tps * negatives - fps * positives
    if metric in ("f1", "fbeta"):
        square = beta * beta
        return (1 + square) * tps / (square * positives + tps + fps)
    if metric == "accuracy":
        return tps - fps
    if metric in ("balanced_accuracy", "youden"):
        return covariance
    if metric == "gmean":
        return tps * (negatives - fps)
    if metric == "jaccard":
        return tps / (positives + fps)
    predicted = (tps + fps) * (positives + negatives - tps - fps)
    return covariance * abs(covariance) / predicted if predicted else Fraction(0)


class ThresholdPoint(NamedTuple):
    """A threshold, and the rows (or weights) of both classes that score at least that."""

    threshold: float
    fps: float
    tps: float


NO_ROW_CHOSEN = ThresholdPoint(float("inf"), 0.0, 0.0)


class BestPointState(NamedTuple):
    """State of a range of scores: its rows, and the best threshold in it; None if it has no positive row."""

    totals: ClassTotals
    best: ThresholdPoint | None


class BestPoint(RangeStatistic):
    """The best threshold of a range. Only scores of positives are thresholds: below them every metric is less."""

    __slots__ = ("beta", "metric")
    cut = Cut.POSITIVES

    def __init__(self, metric: str, beta: float) -> None:
        self.metric = metric
        self.beta = float(beta) if metric == "fbeta" else 1.0

    def find(self, runs: Runs, position: RangePosition) -> BestPointState:
        return self.state(runs.totals, *runs.points(position), position.totals)

    def merge(self, higher: BestPointState, lower: BestPointState, totals: ClassTotals) -> BestPointState:
        points = [state.best for state in (higher, lower) if state.best is not None]
        return self.state(higher.totals.plus(lower.totals), *columns_of(points), totals)

    def state(self, own: ClassTotals, thresholds: Any, fps: Any, tps: Any, totals: ClassTotals) -> BestPointState:
        """The state of a range, from points with descending thresholds."""
        if not len(thresholds) or reason_without_threshold(self.metric, totals):
            return BestPointState(own, None)
        best, _ = self.choose(fps, tps, totals)
        return BestPointState(own, ThresholdPoint(float(thresholds[best]), float(fps[best]), float(tps[best])))

    def choose(self, fps: Any, tps: Any, totals: ClassTotals) -> tuple[int, float]:
        """The first of the best points, and the metric there."""
        all_fps, all_tps = totals.as_floats()
        scaled = scale_weights(np.concatenate((fps, [all_fps])), np.concatenate((tps, [all_tps])))
        values = metric_values(self.metric, *scaled, self.beta)
        values[-1] = -np.inf  # the last point has only the totals
        best = index_of_maximum(self.metric, *scaled, self.beta, values)
        return best, float(values[best])


def columns_of(points: list[ThresholdPoint]) -> tuple[list[float], list[float], list[float]]:
    """Thresholds, false positives and true positives."""
    return [own.threshold for own in points], [own.fps for own in points], [own.tps for own in points]


def influence_of_rows(metric: str, beta: float) -> ScoreInfluence:
    """What rows add to the value at the best threshold: to first order, a small move of that changes nothing."""
    from fastmetrics._core.inference import greatest_distance  # for intervals alone

    intervals = {
        "youden": greatest_distance.distance_interval,
        "balanced_accuracy": greatest_distance.balanced_accuracy_interval,
    }
    own, interval = BestPoint(metric, beta), intervals.get(metric, greatest_distance.best_value_interval)
    return ScoreInfluence(partial(threshold_influence, own), partial(crossed_value, own), interval)


def points_of(negatives: np.ndarray, positives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """False and true positives at every threshold, no row first, from masses by ascending scores."""
    fps, tps = (np.concatenate(([0.0], np.cumsum(own[::-1]))) for own in (negatives, positives))
    return scale_weights(fps, tps)


def crossed_value(best: BestPoint, first: np.ndarray, second: np.ndarray) -> float:
    """The mean value of each half of the units at the other half's best threshold; NaN if a half lacks a class."""
    halves = [points_of(*np.asarray(half, np.float64)) for half in (first, second)]
    if not all(own[-1] > 0 for half in halves for own in half):
        return math.nan
    one, other = (metric_values(best.metric, *half, best.beta) for half in halves)
    return float(other[int(one.argmax())] + one[int(other.argmax())]) / 2


def threshold_influence(best: BestPoint, masses: ClassMasses) -> np.ndarray:
    """The influence of a row on the value at the threshold where it is greatest."""
    fps, tps = points_of(masses.negatives, masses.positives)
    values = metric_values(best.metric, fps, tps, best.beta)
    place = int(values.argmax())
    negatives, positives = float(fps[-1]), float(tps[-1])
    of_fp, of_tp, of_negative, of_positive = derivatives(
        best, float(fps[place]), float(tps[place]), negatives, positives, float(values[place])
    )
    n_classes = masses.negatives.shape[0]
    above = (np.arange(n_classes) >= n_classes - place).astype(np.float64)
    return np.stack((negatives * (of_fp * above + of_negative), positives * (of_tp * above + of_positive)), axis=1)


def derivatives(
    best: BestPoint, fp: float, tp: float, negatives: float, positives: float, value: float
) -> tuple[float, float, float, float]:
    """The derivatives of a metric by false positives, true positives, negatives and positives."""
    metric, total = best.metric, negatives + positives
    if metric in ("f1", "fbeta"):
        square = best.beta * best.beta
        whole = square * positives + tp + fp
        return -value / whole, (1 + square - value) / whole, 0.0, -square * value / whole
    if metric == "jaccard":
        whole = positives + fp
        return -value / whole, 1 / whole, 0.0, -value / whole
    if metric == "accuracy":
        return -1 / total, 1 / total, (1 - value) / total, -value / total
    if metric == "gmean":
        right = negatives - fp
        half = value / 2
        if not half:  # no threshold has a row of each class on its side
            return 0.0, 0.0, 0.0, 0.0
        return -half / right, half / tp, half / right - half / negatives, -half / positives
    if metric in ("balanced_accuracy", "youden"):
        scale = 2.0 if metric == "balanced_accuracy" else 1.0
        of_fp, of_tp = -1 / (scale * negatives), 1 / (scale * positives)
        return of_fp, of_tp, -of_fp * fp / negatives, -of_tp * tp / positives
    chosen = tp + fp
    left = total - chosen
    if not (chosen and left):
        return 0.0, 0.0, 0.0, 0.0
    root = math.sqrt(chosen * left * negatives * positives)
    moved, half = value / 2 * (1 / chosen - 1 / left), value / 2
    return (
        -positives / root - moved,
        negatives / root - moved,
        tp / root - half * (1 / left + 1 / negatives),
        -fp / root - half * (1 / left + 1 / positives),
    )


@register_metric(
    "best_threshold",
    exchange="range",
    scale="share",
    statistics=lambda metric, beta: (BestPoint(metric, beta),),
    function=best_threshold,
    undefined="one class only, but for metric=accuracy",
    parameters={"metric": "f1", "beta": 1.0},
    checks={"metric": METRICS, "beta": check_beta},
    default=False,
    variants=("best_threshold(metric=mcc)", "best_threshold(metric=youden)", "best_threshold(metric=fbeta, beta=2)"),
    influence=influence_of_rows,
)
def finalize_best_threshold(parameters: dict[str, Any], state: BestPointState) -> Value:
    """The greatest value of a metric of predictions at any threshold; the coverage has the threshold."""
    coverage = pair_coverage(state.totals.negatives, state.totals.positives)
    reason = reason_without_threshold(parameters["metric"], state.totals)
    if reason:
        return Value(float("nan"), coverage, reason)
    points = [NO_ROW_CHOSEN] + ([] if state.best is None else [state.best])
    thresholds, fps, tps = columns_of(points)
    best, value = BestPoint(parameters["metric"], parameters["beta"]).choose(fps, tps, state.totals)
    return Value(value, coverage | {"threshold": thresholds[best]})


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"best_threshold": tuple({"metric": name} for name in ("f1", "mcc", "youden"))}
