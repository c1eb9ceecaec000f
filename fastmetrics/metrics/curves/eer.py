"""The equal error rate (EER): where the false acceptance rate equals the false rejection rate.

FAR is the false positive rate, FRR the false negative rate. A finite number of rows seldom has a threshold at which
both are equal. Most methods use the two points of the ROC curve around the crossing (`rate_crossing.py`); "convex_hull"
uses the corners of the hull (`ConcaveHull`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.exchange.runs import (
    ClassTotals,
    CurvePoint,
    Cut,
    Masses,
    RangePosition,
    Runs,
    rate_gap,
    upper_corners,
)
from fastmetrics._core.exchange.sorted_rows import OrderedRows, order_rows
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import metric
from fastmetrics._core.results.number_with_parts import NumberWithParts, maker
from fastmetrics._core.score_statistics.pair_counts import pair_coverage, undefined_reason
from fastmetrics._core.score_statistics.score_histogram import BoundedByOrder
from fastmetrics._core.statistic import Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.sweep import short_curves
from fastmetrics.metrics.curves.rate_crossing import (
    Crossing,
    NearestRates,
    RateCrossing,
    first_crossing,
)

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Label, NumericArrayLike
    from fastmetrics._core.types.options import EerMethod

__all__ = ["EqualErrorRate", "equal_error_rate"]

METHODS = ("interpolate", "mean", "max", "convex_hull")
SHORT_METHODS = {"interpolate": short_curves.INTERPOLATE, "mean": short_curves.MEAN, "max": short_curves.MAX}


class Corners(NamedTuple):
    """State of a range of scores: its totals, and the corners of its concave hull, counted from the top."""

    totals: ClassTotals
    corners: list[CurvePoint]


class ConcaveHull(BoundedByOrder):
    """The statistic of the equal error rate on the ROC curve's convex hull."""

    __slots__ = ()
    cut = Cut.POSITIVES
    needs_position = False

    def find(self, runs: Runs, position: RangePosition) -> Corners:
        return Corners(runs.totals, runs.upper_hull())

    def merge(self, higher: Corners, lower: Corners, totals: ClassTotals) -> Corners:
        end = higher.corners[-1]
        moved = [CurvePoint(end.fps + own.fps, end.tps + own.tps, own.score) for own in lower.corners[1:]]
        return Corners(higher.totals.plus(lower.totals), upper_corners([*higher.corners, *moved]))


class EqualErrorRate(NumberWithParts):
    """The rate at which false acceptance and false rejection are equal: a float, with its threshold.

    Attributes
    ----------
    threshold : float
        The threshold of this rate; a row is accepted if its score is at least that.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> rate = fm.equal_error_rate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> rate == 0.5, rate.threshold, rate
    (True, 0.4, EqualErrorRate(0.5, threshold=0.4))
    """

    __slots__ = ("threshold",)

    threshold: float


rate_at = maker(EqualErrorRate, "threshold")


def rate_between(before: CurvePoint, after: CurvePoint, totals: Masses, method: str) -> EqualErrorRate:
    """The equal error rate from the points around the crossing."""
    negatives, positives = totals
    gap_before, gap_after = -rate_gap(*before[:2], totals), rate_gap(*after[:2], totals)
    if method in ("mean", "max"):
        nearest = before if gap_before <= gap_after else after
        fpr, fnr = nearest.fps * positives, (positives - nearest.tps) * negatives
        product = negatives * positives
        value = divide(fpr + fnr, 2 * product) if method == "mean" else divide(max(fpr, fnr), product)
        return EqualErrorRate(value, as_threshold(nearest.score))
    whole = gap_before + gap_after
    value = divide(before.fps * gap_after + after.fps * gap_before, negatives * whole)
    return EqualErrorRate(value, threshold_between(before, after, divide(gap_before, whole)))


def threshold_between(before: CurvePoint, after: CurvePoint, share: float) -> float:
    """Interpolate between the scores of two points; if one is infinite, return the other."""
    high, low = as_threshold(before.score), as_threshold(after.score)
    if not math.isfinite(high):
        return low
    if share in (0.0, 1.0) or not math.isfinite(low):
        return low if share == 1.0 else high
    return min(high, max(low, high + share * (low - high)))


def as_threshold(score: float | None) -> float:
    return float("nan") if score is None else score


def compute_equal_error_rate(state: Crossing | Corners, method: str) -> tuple[EqualErrorRate, str | None]:
    """The equal error rate, and the reason if it is undefined."""
    reason, totals = undefined_reason(*state.totals.rows), state.totals.masses
    if reason:
        return EqualErrorRate(float("nan"), float("nan")), reason
    if isinstance(state, Corners):
        return rate_between(*first_crossing(state.corners, totals), totals, "interpolate"), None
    if state.before is None or state.after is None:
        raise ValueError("the rates of all rows do not cross")
    return rate_between(state.before, state.after, totals, method), None


def choose_statistic(method: str) -> NearestRates | ConcaveHull:
    if method == "convex_hull":
        return ConcaveHull()
    return RateCrossing() if method == "interpolate" else NearestRates()


def small_equal_error_rate(
    y_true: np.ndarray, y_score: np.ndarray, *, method: str = "interpolate"
) -> EqualErrorRate | None:
    if type(method) is not str or method not in SHORT_METHODS:
        return None
    found = short_curves.equal_error_rate(y_true, y_score, SHORT_METHODS[method])
    return None if found is None else rate_at(*found)


@small_inputs(small_equal_error_rate)
def equal_error_rate(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    method: EerMethod = "interpolate",
    pos_label: Label | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> EqualErrorRate:
    """The error rate at the threshold where false acceptance and false rejection are equal.

    EER = FAR = FRR, with FAR(t) = FP / (FP + TN) and FRR(t) = FN / (FN + TP). A row is accepted if its score is at
    least t. A finite number of rows seldom has a threshold at which both are equal; `method` decides what is returned
    then. Counts are exact, and the rate is rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. Infinities are ordered, -0.0 ties with 0.0, and scores tie only if they are exactly equal.
    method : {"interpolate", "mean", "max", "convex_hull"}
        "interpolate": the rate at which the ROC curve, with straight lines between its points, meets FAR = FRR. "mean"
        and "max": the mean or maximum of FAR and FRR at the threshold where they differ least (the highest such
        threshold). "convex_hull": the rate at which the convex hull of the ROC curve meets FAR = FRR (Brummer and de
        Villiers, BOSARIS toolkit, 2011).
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
    EqualErrorRate
        The rate, a float in [0, 1] with the attribute `threshold`: that of the chosen point, or interpolated between
        two points like the rate. Both are NaN with an UndefinedMetricWarning if only one class is present.

    Raises
    ------
    ValueError
        NaN scores, invalid labels, different lengths, no rows or invalid weights; the message names the row.
        An unknown method.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> eer = fm.equal_error_rate([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.3])
    >>> eer == 1 / 3, round(eer.threshold, 3)
    (True, 0.733)
    >>> round(fm.equal_error_rate([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.3], method="mean"), 4)
    0.4167
    """
    return equal_error_rate_from_rows(order_rows(y_true, y_score, pos_label, sample_weight, n_threads), method)


def equal_error_rate_from_rows(rows: OrderedRows, method: str) -> EqualErrorRate:
    """The result of `equal_error_rate`."""
    validation.check_option(method, "method", METHODS)
    (state,) = rows.sweep(choose_statistic(method))
    rate, reason = compute_equal_error_rate(state, method)
    if reason:
        warn_undefined("equal_error_rate", reason)
    return rate


@metric(
    "eer",
    exchange="range",
    statistics=lambda method: (choose_statistic(method),),
    function=equal_error_rate,
    undefined="one class only",
    parameters={"method": "interpolate"},
    checks={"method": METHODS},
    default=False,
    direction="minimize",
    scale="share",
    variants=("eer(method=mean)", "eer(method=max)", "eer(method=convex_hull)"),
    aliases=("equal_error_rate",),
    option_aliases={"binary_eer": "method=mean"},  # torchmetrics'
    influence=lambda **parameters: "it is where the steps of two rates cross",
)
def finalize_equal_error(parameters: dict[str, Any], state: Crossing | Corners) -> Value:
    """Equal error rate: false acceptance at the threshold where it equals false rejection."""
    rate, reason = compute_equal_error_rate(state, parameters["method"])
    coverage = pair_coverage(*state.totals.rows)
    if reason is None and rate.threshold == rate.threshold:
        coverage["threshold"] = rate.threshold
    return Value(float(rate), coverage, reason)
