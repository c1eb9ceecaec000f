"""The equal error rate (EER): where the false acceptance rate equals the false rejection rate.

FAR is the false positive rate, FRR the false negative rate. A finite number of rows seldom has a threshold at which
both are equal. Most methods use the two points of the ROC curve around the crossing (`RateCrossing`); "convex_hull"
uses the corners of the hull (`ConcaveHull`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.exchange.range_exchange import scores_of_keys
from fastmetrics._core.exchange.score_histogram import ScoreHistogram
from fastmetrics._core.exchange.sorted_rows import OrderedRows, order_rows
from fastmetrics._core.exchange.threshold_sweep import ClassTotals, RangePosition, ThresholdSweep
from fastmetrics._core.exchange.weighted_ranges import WeightedRows
from fastmetrics._core.exchange.weighted_sweep import sweep_weighted, totals_of
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import metric
from fastmetrics._core.score_statistics.pair_counts import pair_coverage, undefined_reason
from fastmetrics._core.statistic import Statistic, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.resampling import score_replicates
from fastmetrics._kernels.sweep import short_curves
from fastmetrics._kernels.sweep import threshold_sweep as kernels

if TYPE_CHECKING:
    from fastmetrics._core.resampling.replicate_batch import DescendingRows, ReplicateBatchTotals, ReplicateBatchWeights
    from fastmetrics._core.types.arrays import ArrayLike, Label, NumericArrayLike
    from fastmetrics._core.types.options import EerMethod

__all__ = ["EqualErrorRate", "equal_error_rate"]

METHODS = ("interpolate", "mean", "max", "convex_hull")
SHORT_METHODS = {"interpolate": short_curves.INTERPOLATE, "mean": short_curves.MEAN, "max": short_curves.MAX}


class RocPoint(NamedTuple):
    """A point of the ROC curve: false and true positives, as counts or weights, and the threshold (None if unknown)."""

    fps: int
    tps: int
    threshold: float | None


class ClassSizes(NamedTuple):
    """All negatives and all positives, as counts or weights, in the unit of the points."""

    negatives: int
    positives: int

    def rate_gap(self, point: RocPoint) -> int:
        """(FPR - FNR) * negatives * positives: negative before the rates cross."""
        return point.fps * self.positives + (point.tps - self.positives) * self.negatives


class Crossing(NamedTuple):
    """State of a range of scores: rows of each class, and the points before and after the crossing if it is in here.

    `last` is the lowest score of a range above the crossing, None if the range has no rows. The point before the
    crossing may be the last point of the next higher range. Its threshold is then set when the two ranges merge.
    """

    rows: tuple[int, int]
    sizes: ClassSizes
    last: float | None
    before: RocPoint | None = None
    after: RocPoint | None = None


class RateCrossing(Statistic):
    """The statistic of the equal error rate: the two points of the ROC curve around FPR = FNR."""

    needs_position = True
    pivots_on_positives = False

    def empty(self) -> Crossing:
        return Crossing((0, 0), ClassSizes(0, 0), None)

    def from_sweep(self, sweep: ThresholdSweep, position: RangePosition) -> Crossing:
        counts = sweep.class_totals
        sizes = ClassSizes(position.totals.negatives, position.totals.positives)
        state = Crossing((counts.negatives, counts.positives), ClassSizes(counts.negatives, counts.positives), None)
        top = RocPoint(position.above.negatives, position.above.positives, None)
        bottom = RocPoint(top.fps + counts.negatives, top.tps + counts.positives, None)
        if sizes.rate_gap(bottom) < 0:
            return state._replace(last=sweep.score_of(sweep.rows.lowest_key()))
        if sizes.rate_gap(top) >= 0:
            return state
        return find_crossing(state, crossing_points(sweep, top, sizes), top, sizes)

    def from_weighted_rows(self, rows: WeightedRows, position: RangePosition) -> Crossing:
        own = totals_of(rows)
        last = scores_of_keys(rows.keys.min(keepdims=True)).item()
        sums = [own.negative_weight], [own.positive_weight]
        state = weighted_crossing(own[:2], *sums, [last], position)
        if state.after is None:  # the rates cross in another range
            return state
        sweep = sweep_weighted(rows)
        return weighted_crossing(own[:2], *sweep.cumulative(), sweep.scores.tolist(), position)

    def from_weighted_totals(self, own: ClassTotals, position: RangePosition) -> Crossing | None:
        """The state of a range whose totals are known, without thresholds; None if the rates cross in it."""
        sizes = ClassSizes(position.totals.negative_weight, position.totals.positive_weight)
        top = RocPoint(position.above.negative_weight, position.above.positive_weight, None)
        bottom = RocPoint(top.fps + own.negative_weight, top.tps + own.positive_weight, None)
        if sizes.rate_gap(top) < 0 <= sizes.rate_gap(bottom):
            return None
        return Crossing(own[:2], ClassSizes(own.negative_weight, own.positive_weight), None)

    def from_weighted_tie(self, score: float, tied: ClassTotals, position: RangePosition) -> Crossing:
        counts = tied.negatives, tied.positives
        return weighted_crossing(counts, [tied.negative_weight], [tied.positive_weight], [score], position)

    def replicate_batch(self, totals: ReplicateBatchTotals) -> CrossingReplicateBatch | None:
        """States of a batch of replicates of unweighted rows; None if there are too many rows."""
        return CrossingReplicateBatch(totals.rows) if totals.are_small else None

    def bounds(self, histogram: ScoreHistogram) -> tuple[Crossing, Crossing]:
        """The crossings of the highest and the lowest ROC curve that the bins allow, without thresholds."""
        curves = bounding_curves(histogram)
        negatives, positives = curves[0][-1][:2]
        sizes = ClassSizes(negatives, positives)
        empty = Crossing((negatives, positives), sizes, None)
        if 0 in sizes:
            return empty, empty
        low, high = (find_crossing(empty, curve[1:], curve[0], sizes) for curve in curves)
        return low, high

    def merge(self, low: Crossing, high: Crossing, totals: ClassTotals) -> Crossing:
        crossing = low if low.after is not None else high
        before = crossing.before
        if crossing is low and before is not None and before.threshold is None and high.last is not None:
            before = before._replace(threshold=high.last)
        return Crossing(
            (low.rows[0] + high.rows[0], low.rows[1] + high.rows[1]),
            ClassSizes(low.sizes.negatives + high.sizes.negatives, low.sizes.positives + high.sizes.positives),
            high.last if low.last is None else low.last,
            before,
            crossing.after,
        )


class CrossingReplicateBatch:
    """Crossings of a batch of replicates, without thresholds."""

    def __init__(self, totals: np.ndarray) -> None:
        self.totals = totals
        self.state = np.zeros((7, score_replicates.REPLICATES_PER_BATCH), np.int64)

    def sweep(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> None:
        score_replicates.sweep_crossing(rows.codes, weights.table, weights.max_weight, self.totals, self.state)

    def add_tie(self, keys: np.ndarray, tied_counts: np.ndarray) -> None:
        score_replicates.add_tied_crossing(tied_counts, self.totals, self.state)

    def states(self, n: int) -> list[Crossing]:
        states = []
        for (negatives, positives), (fps_before, tps_before, fps, tps, is_met) in zip(
            self.totals.T[:n].tolist(), self.state[2:].T[:n].tolist(), strict=True
        ):
            state = Crossing((negatives, positives), ClassSizes(negatives, positives), None)
            if is_met:
                top = None if fps_before or tps_before else np.inf
                state = state._replace(before=RocPoint(fps_before, tps_before, top), after=RocPoint(fps, tps, None))
            states.append(state)
        return states


def crossing_points(sweep: ThresholdSweep, top: RocPoint, sizes: ClassSizes) -> list[RocPoint]:
    """The points around the sweep point at which the rates cross, starting with the point before."""
    other_class, pivot_class = (0, 1) if sweep.pivot else (1, 0)
    ends = np.empty((2, len(sweep.pivot_counts)), np.int64)
    ends[other_class] = np.cumsum(sweep.between_counts[:-1] + sweep.tied_counts) + top[other_class]
    ends[pivot_class] = np.cumsum(sweep.pivot_counts) + top[pivot_class]
    n_points = len(sweep.pivot_counts)

    def point_at(index: int) -> RocPoint:
        return RocPoint(int(ends[0, index]), int(ends[1, index]), None)

    crossed = bisect_left(range(n_points), True, key=lambda index: sizes.rate_gap(point_at(index)) >= 0)
    scores = sweep.scores()
    point = top if crossed == 0 else point_at(crossed - 1)._replace(threshold=float(scores[crossed - 1]))
    points = [point] if crossed else []
    # Up to this sweep point only the other class has rows: add its scores one by one.
    if sweep.between_counts[crossed]:
        high = int(sweep.keys[crossed - 1]) if crossed else 2 ** (8 * sweep.keys.dtype.itemsize)
        low = int(sweep.keys[crossed]) if crossed < n_points else -1
        keys, counts = np.unique(sweep.rows.other_keys_between(low, high), return_counts=True)
        between = sweep._replace(keys=keys).scores()
        for score, count in zip(between[::-1].tolist(), counts[::-1].tolist(), strict=True):
            point = RocPoint(
                point.fps + (count if other_class == 0 else 0),
                point.tps + (count if other_class == 1 else 0),
                float(score),
            )
            points.append(point)
    if crossed < n_points:
        points.append(point_at(crossed)._replace(threshold=float(scores[crossed])))
    return points


class NearestRates(RateCrossing):
    """The crossing for the methods "mean" and "max". Bins of scores give no bounds for the nearest point."""

    bounds = None  # type: ignore[assignment]


def weighted_crossing(
    rows: tuple[int, int], fps: Sequence[int], tps: Sequence[int], scores: list[float], position: RangePosition
) -> Crossing:
    """The state of weighted rows, from the weights of each class at or above each of the descending scores."""
    sizes = ClassSizes(position.totals.negative_weight, position.totals.positive_weight)
    top = RocPoint(position.above.negative_weight, position.above.positive_weight, None)
    state = Crossing(rows, ClassSizes(fps[-1], tps[-1]), scores[-1])
    bottom = RocPoint(top.fps + fps[-1], top.tps + tps[-1], scores[-1])
    if not sizes.rate_gap(top) < 0 <= sizes.rate_gap(bottom):
        return state

    def point_at(index: int) -> RocPoint:
        return RocPoint(top.fps + fps[index], top.tps + tps[index], scores[index])

    # The gap never falls from a score to the next lower one.
    crossed = bisect_left(range(len(scores)), True, key=lambda index: sizes.rate_gap(point_at(index)) >= 0)
    return find_crossing(state, [point_at(crossed)], point_at(crossed - 1) if crossed else top, sizes)


def find_crossing(state: Crossing, points: Iterable[RocPoint], top: RocPoint, sizes: ClassSizes) -> Crossing:
    """The state with the points around the crossing. `points` descend by score; `top` is the point above them."""
    before = top if top.fps or top.tps else top._replace(threshold=np.inf)
    for point in points:
        if sizes.rate_gap(point) >= 0:
            return state._replace(before=before, after=point)
        before = point
    raise ValueError("the rates do not cross in this range")


def bounding_curves(histogram: ScoreHistogram) -> tuple[list[RocPoint], list[RocPoint]]:
    """The highest and the lowest ROC curve that the bins allow: the positives of a bin come first, or last."""
    best = worst = RocPoint(0, 0, None)
    highest, lowest = [best], [worst]
    for negatives, positives in reversed(histogram.bins()):
        end = RocPoint(best.fps + negatives, best.tps + positives, None)
        if not histogram.is_exact:
            highest.append(RocPoint(best.fps, best.tps + positives, None))
            lowest.append(RocPoint(worst.fps + negatives, worst.tps, None))
        highest.append(end)
        lowest.append(end)
        best = worst = end
    return highest, lowest


class Corners(NamedTuple):
    """State of a range of scores: rows of each class, and the corners of its concave hull, counted from the top."""

    rows: tuple[int, int]
    corners: list[RocPoint]


class ConcaveHull(Statistic):
    """The statistic of the equal error rate on the ROC curve's convex hull."""

    needs_position = False
    pivots_on_positives = True

    def empty(self) -> Corners:
        return Corners((0, 0), [RocPoint(0, 0, None)])

    def from_sweep(self, sweep: ThresholdSweep, position: RangePosition) -> Corners:
        counts = sweep.class_totals
        n = sweep.pivot_counts.shape[0]
        indices, x, y = np.empty((3, n + 2), np.int64)
        n_corners = kernels.sweep_convex_hull(
            sweep.pivot_counts, sweep.tied_counts, sweep.between_counts, n, indices, x, y
        )
        indices = indices[:n_corners]
        inside = (indices >= 0) & (indices < n)
        scores = np.where(inside, scores_of_keys(sweep.keys[indices * inside]) if n else np.inf, np.inf)
        scores[indices == n] = sweep.score_of(sweep.rows.lowest_key())  # the end of the range
        corners = zip(x[:n_corners].tolist(), y[:n_corners].tolist(), scores.tolist(), strict=True)
        return Corners((counts.negatives, counts.positives), [RocPoint(*corner) for corner in corners])

    def from_weighted_rows(self, rows: WeightedRows, position: RangePosition) -> Corners:
        sweep = sweep_weighted(rows)
        points = [RocPoint(*sizes_here) for sizes_here in zip(*sweep.cumulative(), sweep.scores.tolist(), strict=True)]
        return Corners(rows.counts, concave_hull_points([RocPoint(0, 0, np.inf), *points]))

    def from_weighted_tie(self, score: float, tied: ClassTotals, position: RangePosition) -> Corners:
        end = RocPoint(tied.negative_weight, tied.positive_weight, score)
        return Corners((tied.negatives, tied.positives), [RocPoint(0, 0, np.inf), end])

    def bounds(self, histogram: ScoreHistogram) -> tuple[Corners, Corners]:
        """The hulls of the highest and the lowest ROC curve that the bins allow."""
        low, high = (Corners(curve[-1][:2], concave_hull_points(curve)) for curve in bounding_curves(histogram))
        return low, high

    def merge(self, low: Corners, high: Corners, totals: ClassTotals) -> Corners:
        end = high.corners[-1]
        moved = [RocPoint(end.fps + corner.fps, end.tps + corner.tps, corner.threshold) for corner in low.corners[1:]]
        rows = low.rows[0] + high.rows[0], low.rows[1] + high.rows[1]
        return Corners(rows, concave_hull_points([*high.corners, *moved]))


def concave_hull_points(curve: Sequence[RocPoint]) -> list[RocPoint]:
    """The corners of the least concave curve above a curve."""
    hull: list[RocPoint] = []
    for point in curve:
        while len(hull) > 1 and is_below(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def is_below(left: RocPoint, middle: RocPoint, right: RocPoint) -> bool:
    """Return whether the middle point is on or below the line between its neighbours."""
    rise, run = right.tps - left.tps, right.fps - left.fps
    return (middle.fps - left.fps) * rise >= (middle.tps - left.tps) * run


class EqualErrorRate(NamedTuple):
    """The rate at which false acceptance and false rejection are equal, and its threshold.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.equal_error_rate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    EqualErrorRate(value=0.5, threshold=0.4)
    """

    value: float
    threshold: float


def rate_between(before: RocPoint, after: RocPoint, sizes: ClassSizes, method: str) -> EqualErrorRate:
    """The equal error rate from the points around the crossing."""
    gap_before, gap_after = -sizes.rate_gap(before), sizes.rate_gap(after)
    if method in ("mean", "max"):
        nearest = before if gap_before <= gap_after else after
        fpr = nearest.fps * sizes.positives
        fnr = (sizes.positives - nearest.tps) * sizes.negatives
        product = sizes.negatives * sizes.positives
        value = divide(fpr + fnr, 2 * product) if method == "mean" else divide(max(fpr, fnr), product)
        return EqualErrorRate(value, as_threshold(nearest.threshold))
    whole = gap_before + gap_after
    value = divide(before.fps * gap_after + after.fps * gap_before, sizes.negatives * whole)
    return EqualErrorRate(value, threshold_between(before, after, divide(gap_before, whole)))


def threshold_between(before: RocPoint, after: RocPoint, share: float) -> float:
    """Interpolate between the thresholds of two points; if one is infinite, return the other."""
    high, low = as_threshold(before.threshold), as_threshold(after.threshold)
    if not np.isfinite(high):
        return low
    if share in (0.0, 1.0) or not np.isfinite(low):
        return low if share == 1.0 else high
    return min(high, max(low, high + share * (low - high)))


def as_threshold(threshold: float | None) -> float:
    return float("nan") if threshold is None else threshold


def compute_equal_error_rate(state: Crossing | Corners, method: str) -> tuple[EqualErrorRate, str | None]:
    """The equal error rate, and the reason if it is undefined."""
    reason = undefined_reason(*state.rows)
    if reason:
        return EqualErrorRate(float("nan"), float("nan")), reason
    if isinstance(state, Corners):
        sizes = ClassSizes(*state.corners[-1][:2])
        before, after = next(pair for pair in pairwise(state.corners) if sizes.rate_gap(pair[1]) >= 0)
        return rate_between(before, after, sizes, "interpolate"), None
    if state.before is None or state.after is None:
        raise ValueError("the rates of all rows do not cross")
    return rate_between(state.before, state.after, state.sizes, method), None


def choose_statistic(method: str) -> RateCrossing | ConcaveHull:
    if method == "convex_hull":
        return ConcaveHull()
    return RateCrossing() if method == "interpolate" else NearestRates()


def small_equal_error_rate(
    y_true: np.ndarray, y_score: np.ndarray, *, method: str = "interpolate"
) -> EqualErrorRate | None:
    if type(method) is not str or method not in SHORT_METHODS:
        return None
    found = short_curves.equal_error_rate(y_true, y_score, SHORT_METHODS[method])
    return None if found is None else EqualErrorRate(*found)


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
        Number of threads; by default the number of CPUs that the process may use. The result does not depend on it.

    Returns
    -------
    EqualErrorRate
        `value`, in [0, 1], and `threshold`. The threshold is that of the chosen point, or is interpolated between two
        points like the rate. Both are NaN with an UndefinedMetricWarning if only one class is present.

    Raises
    ------
    ValueError
        NaN scores, invalid labels, different lengths, no rows or invalid weights; the message names the row.
        An unknown method.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> eer = fm.equal_error_rate([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.3])
    >>> eer.value == 1 / 3, round(eer.threshold, 3)
    (True, 0.733)
    >>> round(fm.equal_error_rate([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.3], method="mean").value, 4)
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
    variants=("eer(method=mean)", "eer(method=max)", "eer(method=convex_hull)"),
    aliases=("equal_error_rate",),
)
def finalise_equal_error(parameters: dict[str, Any], state: Crossing | Corners) -> Value:
    """Equal error rate: false acceptance at the threshold where it equals false rejection."""
    rate, reason = compute_equal_error_rate(state, parameters["method"])
    coverage = pair_coverage(*state.rows)
    if reason is None and rate.threshold == rate.threshold:
        coverage["threshold"] = rate.threshold
    return Value(rate.value, coverage, reason)
