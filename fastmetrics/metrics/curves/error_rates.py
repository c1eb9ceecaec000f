"""False acceptance and false rejection over all thresholds, and the rate at which both are equal."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.by_score import scores_of_keys
from fastmetrics._core.exact import divide
from fastmetrics._core.histogram import ScoreHistogram
from fastmetrics._core.ordered_rows import OrderedRows, are_short, order_rows
from fastmetrics._core.pairs import pair_coverage, why_undefined
from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Statistic, Value
from fastmetrics._core.steps import ClassTotals, Place, Steps
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._core.weighted import WeightedRows
from fastmetrics._core.weighted_sweep import sweep_weighted
from fastmetrics._kernels import points, scorereplicates, shortcurves
from fastmetrics._kernels import steps as kernels

if TYPE_CHECKING:
    from fastmetrics._core.score_replicates import FallingRows, LaneTotals, LaneWeights

METHODS = ("interpolate", "mean", "max", "convex_hull")
SHORT = {"interpolate": shortcurves.INTERPOLATE, "mean": shortcurves.MEAN, "max": shortcurves.MAX}


class Point(NamedTuple):
    """A point of the ROC curve: false and true positives, as counts or weights, at a threshold (None: not known)."""

    fps: int
    tps: int
    threshold: float | None


class Sizes(NamedTuple):
    """All negatives and all positives, as counts or weights in one unit with those of points."""

    negatives: int
    positives: int

    def lead(self, point: Point) -> int:
        """(FPR - FNR) * negatives * positives: negative before the rates cross."""
        return point.fps * self.positives + (point.tps - self.positives) * self.negatives


class Crossing(NamedTuple):
    """Of a range of scores: rows of each class; the points before and after the crossing of the rates, if it is here.

    `last` is the least score of a range above the crossing, None where it has no rows. The point before the crossing
    may be the last of the range above: its threshold is then filled in when they merge.
    """

    rows: tuple[int, int]
    sizes: Sizes
    last: float | None
    before: Point | None = None
    after: Point | None = None


class RatesCross(Statistic):
    """The statistic of the equal error rate: the two points of the ROC curve around FPR = FNR."""

    __slots__ = ()
    needs_place = True
    needs_positives = False

    def empty(self) -> Crossing:
        return Crossing((0, 0), Sizes(0, 0), None)

    def of_steps(self, steps: Steps, place: Place) -> Crossing:
        own = steps.counts
        sizes = Sizes(place.totals.negatives, place.totals.positives)
        state = Crossing((own.negatives, own.positives), Sizes(own.negatives, own.positives), None)
        top = Point(place.above.negatives, place.above.positives, None)
        bottom = Point(top.fps + own.negatives, top.tps + own.positives, None)
        if sizes.lead(bottom) < 0:
            return state._replace(last=steps.score_of(steps.rows.lowest_key()))
        if sizes.lead(top) >= 0:
            return state
        return crossed(state, points_of_steps(steps, top, sizes), top, sizes)

    def of_weighted(self, rows: WeightedRows, place: Place) -> Crossing:
        sweep = sweep_weighted(rows)
        sums = sweep.cumulated()
        sizes = Sizes(place.totals.negative_weight, place.totals.positive_weight)
        top = Point(place.above.negative_weight, place.above.positive_weight, None)
        own = Sizes(sums[0][-1], sums[1][-1])
        scores = sweep.scores.tolist()
        state = Crossing((len(rows.negatives[0]), len(rows.positives[0])), own, scores[-1])
        bottom = Point(top.fps + own.negatives, top.tps + own.positives, None)
        if not sizes.lead(top) < 0 <= sizes.lead(bottom):
            return state
        found = (Point(top.fps + n, top.tps + p, score) for n, p, score in zip(*sums, scores, strict=True))
        return crossed(state, found, top, sizes)

    def of_weighted_tie(self, score: float, own: ClassTotals, place: Place) -> Crossing:
        sizes = Sizes(place.totals.negative_weight, place.totals.positive_weight)
        top = Point(place.above.negative_weight, place.above.positive_weight, None)
        own_sizes = Sizes(own.negative_weight, own.positive_weight)
        state = Crossing((own.negatives, own.positives), own_sizes, score)
        bottom = Point(top.fps + own.negative_weight, top.tps + own.positive_weight, score)
        if not sizes.lead(top) < 0 <= sizes.lead(bottom):
            return state
        return crossed(state, [bottom], top, sizes)

    def lanes(self, totals: LaneTotals) -> CrossingLanes | None:
        """A block of replicates, side by side; without weights. None: too many rows for that."""
        return CrossingLanes(totals.rows) if totals.are_short else None

    def bounds(self, histogram: ScoreHistogram) -> tuple[Crossing, Crossing]:
        """The crossings of the highest and of the lowest ROC curve that the bins allow; without thresholds."""
        curves = curves_of_bins(histogram)
        negatives, positives = curves[0][-1][:2]
        sizes = Sizes(negatives, positives)
        empty = Crossing((negatives, positives), sizes, None)
        if 0 in sizes:
            return empty, empty
        low, high = (crossed(empty, curve[1:], curve[0], sizes) for curve in curves)
        return low, high

    def merge(self, low: Crossing, high: Crossing, totals: ClassTotals) -> Crossing:
        found = low if low.after is not None else high
        before = found.before
        if found is low and before is not None and before.threshold is None and high.last is not None:
            before = before._replace(threshold=high.last)
        return Crossing(
            (low.rows[0] + high.rows[0], low.rows[1] + high.rows[1]),
            Sizes(low.sizes.negatives + high.sizes.negatives, low.sizes.positives + high.sizes.positives),
            high.last if low.last is None else low.last,
            before,
            found.after,
        )


class CrossingLanes:
    """The crossings of a block of replicates; thresholds are not looked for."""

    def __init__(self, totals: np.ndarray) -> None:
        self.totals = totals
        self.state = np.zeros((7, scorereplicates.ABREAST), np.int64)

    def walk(self, rows: FallingRows, weights: LaneWeights) -> None:
        scorereplicates.crossing_walk(rows.codes, weights.table, weights.most, self.totals, self.state)

    def tie(self, keys: np.ndarray, own: np.ndarray) -> None:
        scorereplicates.crossing_tie(own, self.totals, self.state)

    def states(self, n: int) -> list[Crossing]:
        found = []
        for (negatives, positives), (fps_before, tps_before, fps, tps, is_met) in zip(
            self.totals.T[:n].tolist(), self.state[2:].T[:n].tolist(), strict=True
        ):
            state = Crossing((negatives, positives), Sizes(negatives, positives), None)
            if is_met:
                top = None if fps_before or tps_before else np.inf
                state = state._replace(before=Point(fps_before, tps_before, top), after=Point(fps, tps, None))
            found.append(state)
        return found


def points_of_steps(steps: Steps, top: Point, sizes: Sizes) -> list[Point]:
    """All points of the stretch of a range in which the rates cross, from the point before that stretch on."""
    others, own = (0, 1) if steps.pivot else (1, 0)
    ends = np.empty((2, len(steps.own)), np.int64)
    ends[others] = np.cumsum(steps.gaps[:-1] + steps.ties) + top[others]
    ends[own] = np.cumsum(steps.own) + top[own]
    n_steps = len(steps.own)

    def end_of(step: int) -> Point:
        return Point(int(ends[0, step]), int(ends[1, step]), None)

    crossed = bisect_left(range(n_steps), True, key=lambda step: sizes.lead(end_of(step)) >= 0)
    scores = steps.scores()
    point = top if crossed == 0 else end_of(crossed - 1)._replace(threshold=float(scores[crossed - 1]))
    found = [point] if crossed else []
    # The other class alone moves until the step: its scores one by one.
    if steps.gaps[crossed]:
        high = int(steps.keys[crossed - 1]) if crossed else 2 ** (8 * steps.keys.dtype.itemsize)
        low = int(steps.keys[crossed]) if crossed < n_steps else -1
        keys, counts = np.unique(steps.rows.others_between(low, high), return_counts=True)
        between = steps._replace(keys=keys).scores()
        for score, count in zip(between[::-1].tolist(), counts[::-1].tolist(), strict=True):
            point = Point(
                point.fps + (count if others == 0 else 0), point.tps + (count if others == 1 else 0), float(score)
            )
            found.append(point)
    if crossed < n_steps:
        found.append(end_of(crossed)._replace(threshold=float(scores[crossed])))
    return found


class NearestRates(RatesCross):
    """The same, for what is taken at one of the points: which of them is nearest, bins of scores do not tell."""

    __slots__ = ()
    bounds = None  # type: ignore[assignment]


def crossed(state: Crossing, found: Iterable[Point], top: Point, sizes: Sizes) -> Crossing:
    """With the points around the crossing, among points in descending order of score and the one above them."""
    before = top if top.fps or top.tps else top._replace(threshold=np.inf)
    for point in found:
        if sizes.lead(point) >= 0:
            return state._replace(before=before, after=point)
        before = point
    raise ValueError("the rates do not cross in this range")


def curves_of_bins(histogram: ScoreHistogram) -> tuple[list[Point], list[Point]]:
    """The highest and the lowest ROC curve that bins allow: the positives of a bin first, or last."""
    best = worst = Point(0, 0, None)
    highest, lowest = [best], [worst]
    for negatives, positives in reversed(histogram.bins()):
        end = Point(best.fps + negatives, best.tps + positives, None)
        if not histogram.is_exact:
            highest.append(Point(best.fps, best.tps + positives, None))
            lowest.append(Point(worst.fps + negatives, worst.tps, None))
        highest.append(end)
        lowest.append(end)
        best = worst = end
    return highest, lowest


class Corners(NamedTuple):
    """Of a range of scores: rows of each class, and the corners of its concave hull, counted from its upper end."""

    rows: tuple[int, int]
    corners: list[Point]


class ConcaveHull(Statistic):
    """The statistic of the equal error rate on the ROC curve's convex hull."""

    __slots__ = ()
    needs_place = False
    needs_positives = True

    def empty(self) -> Corners:
        return Corners((0, 0), [Point(0, 0, None)])

    def of_steps(self, steps: Steps, place: Place) -> Corners:
        own = steps.counts
        n = steps.own.shape[0]
        places, x, y = np.empty((3, n + 2), np.int64)
        n_corners = kernels.steps_hull(steps.own, steps.ties, steps.gaps, n, places, x, y)
        places = places[:n_corners]
        inside = (places >= 0) & (places < n)
        scores = np.where(inside, scores_of_keys(steps.keys[places * inside]) if n else np.inf, np.inf)
        scores[places == n] = steps.score_of(steps.rows.lowest_key())  # the end of the range
        found = zip(x[:n_corners].tolist(), y[:n_corners].tolist(), scores.tolist(), strict=True)
        return Corners((own.negatives, own.positives), [Point(*corner) for corner in found])

    def of_weighted(self, rows: WeightedRows, place: Place) -> Corners:
        sweep = sweep_weighted(rows)
        found = [Point(*own) for own in zip(*sweep.cumulated(), sweep.scores.tolist(), strict=True)]
        return Corners((len(rows.negatives[0]), len(rows.positives[0])), hull_of([Point(0, 0, np.inf), *found]))

    def of_weighted_tie(self, score: float, own: ClassTotals, place: Place) -> Corners:
        end = Point(own.negative_weight, own.positive_weight, score)
        return Corners((own.negatives, own.positives), [Point(0, 0, np.inf), end])

    def bounds(self, histogram: ScoreHistogram) -> tuple[Corners, Corners]:
        """The hulls of the highest and of the lowest ROC curve that the bins allow."""
        low, high = (Corners(curve[-1][:2], hull_of(curve)) for curve in curves_of_bins(histogram))
        return low, high

    def merge(self, low: Corners, high: Corners, totals: ClassTotals) -> Corners:
        end = high.corners[-1]
        moved = [Point(end.fps + own.fps, end.tps + own.tps, own.threshold) for own in low.corners[1:]]
        rows = low.rows[0] + high.rows[0], low.rows[1] + high.rows[1]
        return Corners(rows, hull_of([*high.corners, *moved]))


def hull_of(curve: Sequence[Point]) -> list[Point]:
    """The corners of the least concave curve above a curve."""
    hull: list[Point] = []
    for point in curve:
        while len(hull) > 1 and is_below(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def is_below(left: Point, middle: Point, right: Point) -> bool:
    """Is the middle on or below the line between its neighbours?"""
    rise, run = right.tps - left.tps, right.fps - left.fps
    return (middle.fps - left.fps) * rise >= (middle.tps - left.tps) * run


class EqualErrorRate(NamedTuple):
    """The rate at which false acceptance and false rejection are equal, and the threshold at which they are."""

    value: float
    threshold: float


def rate_between(before: Point, after: Point, sizes: Sizes, method: str) -> EqualErrorRate:
    """The equal error rate from the points around the crossing."""
    lead_before, lead_after = -sizes.lead(before), sizes.lead(after)
    if method in ("mean", "max"):
        nearest = before if lead_before <= lead_after else after
        fpr = nearest.fps * sizes.positives
        fnr = (sizes.positives - nearest.tps) * sizes.negatives
        product = sizes.negatives * sizes.positives
        value = divide(fpr + fnr, 2 * product) if method == "mean" else divide(max(fpr, fnr), product)
        return EqualErrorRate(value, as_threshold(nearest.threshold))
    whole = lead_before + lead_after
    value = divide(before.fps * lead_after + after.fps * lead_before, sizes.negatives * whole)
    return EqualErrorRate(value, threshold_between(before, after, divide(lead_before, whole)))


def threshold_between(before: Point, after: Point, share: float) -> float:
    """Between the thresholds of two points as far as the rates are; where one is infinite, the other."""
    high, low = as_threshold(before.threshold), as_threshold(after.threshold)
    if not np.isfinite(high):
        return low
    if share in (0.0, 1.0) or not np.isfinite(low):
        return low if share == 1.0 else high
    return min(high, max(low, high + share * (low - high)))


def as_threshold(threshold: float | None) -> float:
    return float("nan") if threshold is None else threshold


def equal_rate(state: Crossing | Corners, method: str) -> tuple[EqualErrorRate, str | None]:
    """The rate, or why there is none."""
    reason = why_undefined(*state.rows)
    if reason:
        return EqualErrorRate(float("nan"), float("nan")), reason
    if isinstance(state, Corners):
        sizes = Sizes(*state.corners[-1][:2])
        before, after = next(pair for pair in pairwise(state.corners) if sizes.lead(pair[1]) >= 0)
        return rate_between(before, after, sizes, "interpolate"), None
    if state.before is None or state.after is None:
        raise ValueError("the rates of all rows do not cross")
    return rate_between(state.before, state.after, state.sizes, method), None


def statistic_of(method: str) -> RatesCross | ConcaveHull:
    if method == "convex_hull":
        return ConcaveHull()
    return RatesCross() if method == "interpolate" else NearestRates()


def equal_error_rate(
    y_true: Any,
    y_score: Any,
    *,
    method: str = "interpolate",
    pos_label: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> EqualErrorRate:
    """The error rate at the threshold where false acceptance and false rejection are equal.

    EER = FAR = FRR, with FAR(t) = FP / (FP + TN) and FRR(t) = FN / (FN + TP) of the rows accepted at a score of at
    least t. A finite number of rows seldom has a threshold at which both are equal; `method` says what is taken then.
    Counts are exact, the rate is rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive.
    method : {"interpolate", "mean", "max", "convex_hull"}
        "interpolate": where the ROC curve, its points joined by straight lines, meets FAR = FRR. "mean" and "max": of
        FAR and FRR at the threshold where they differ least (the higher one, if two are as good). "convex_hull": where
        the ROC curve's convex hull meets FAR = FRR (Brummer and de Villiers, BOSARIS toolkit, 2011).
    pos_label : int, float, bool or str, optional
        The label of the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    EqualErrorRate
        `value`, in [0, 1], and `threshold`: that of the point taken, or between the two points that were joined, as far
        as the rate is. Both NaN with an UndefinedMetricWarning when only one class is present.

    Raises
    ------
    ValueError
        NaN scores, wrong labels, lengths that differ, no rows, bad weights; the row is named. An unknown method.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> eer = fm.equal_error_rate([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.3])
    >>> eer.value == 1 / 3, round(eer.threshold, 3)
    (True, 0.733)
    >>> round(fm.equal_error_rate([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.3], method="mean").value, 4)
    0.4167
    """
    if are_short(y_true, y_score, pos_label, sample_weight, n_threads) and type(method) is str and method in SHORT:
        found = shortcurves.equal_error(y_true, y_score, SHORT[method])
        if found is not None:
            return EqualErrorRate(*found)
    return equal_rate_of(order_rows(y_true, y_score, pos_label, sample_weight, n_threads), method)


def equal_rate_of(rows: OrderedRows, method: str) -> EqualErrorRate:
    """What `equal_error_rate` returns."""
    inputs.check_option(method, "method", METHODS)
    (state,) = rows.sweep(statistic_of(method))
    rate, reason = equal_rate(state, method)
    if reason:
        warn_undefined("equal_error_rate", reason, 4)
    return rate


def far_frr_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, n_threads: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """False acceptance and false rejection rates at every threshold.

    FAR(t) = FP / (FP + TN) and FRR(t) = FN / (FN + TP), a row being accepted when its score is at least t (ISO/IEC
    19795-1). Unlike `det_curve` it has all thresholds, and begins with the one at which nothing is accepted.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive.
    pos_label : int, float, bool or str, optional
        The label of the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    far, frr : ndarray of shape (n_thresholds,)
        FAR ascending from 0 to 1, FRR descending from 1 to 0; NaN with an UndefinedMetricWarning for the rate of a
        class without rows.
    thresholds : ndarray of shape (n_thresholds,)
        Descending; the first is infinite.

    Raises
    ------
    ValueError
        NaN scores, wrong labels, lengths that differ, no rows, bad weights; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> far, frr, thresholds = fm.far_frr_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> far.tolist(), frr.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [1.0, 0.5, 0.5, 0.0, 0.0])
    """
    return rates_of(order_rows(y_true, y_score, pos_label, sample_weight, n_threads))


def rates_of(rows: OrderedRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `far_frr_curve` returns."""
    totals = rows.totals()
    reason = why_undefined(totals.negatives, totals.positives)
    curve = rows.curve(points.COUNTS)
    n = curve.x.shape[0] + 1
    far, frr, thresholds = np.zeros(n), np.ones(n), np.full(n, np.inf)
    thresholds[1:] = curve.thresholds
    if reason:
        warn_undefined("far_frr_curve", reason, 4)
    all_negatives, all_positives = curve.x[-1], curve.y[-1]
    far[1:] = curve.x / all_negatives if all_negatives else np.nan
    frr[1:] = (all_positives - curve.y) / all_positives if all_positives else np.nan
    far[:1] = 0.0 if all_negatives else np.nan
    frr[:1] = 1.0 if all_positives else np.nan
    return far, frr, thresholds


def det_curve(
    y_true: Any,
    y_score: Any,
    pos_label: Any = None,
    sample_weight: Any = None,
    drop_intermediate: bool = False,
    *,
    n_threads: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Detection error tradeoff: false positive and false negative rates where both are between none and all.

    FPR(t) = FP / (FP + TN) and FNR(t) = FN / (FN + TP), a row being predicted positive when its score is at least t
    (Martin et al., The DET curve in assessment of detection task performance, Eurospeech 1997).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all others are negative.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    drop_intermediate : bool
        Of neighbouring points with the same false negative rate, keep the first and the last.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    fpr, fnr : ndarray of shape (n_thresholds,)
        FPR descending, FNR ascending: from the first threshold without false negatives to the last without false
        positives.
    thresholds : ndarray of shape (n_thresholds,)
        Ascending; the last may be infinite.

    Raises
    ------
    ValueError
        One class only, NaN scores, wrong labels, lengths that differ, no rows, bad weights; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fpr, fnr, thresholds = fm.det_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr.tolist(), fnr.tolist(), thresholds.tolist()
    ([0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.35, 0.4, 0.8])
    """
    if are_short(y_true, y_score, pos_label, sample_weight, n_threads) and drop_intermediate is False:
        room = np.empty((3, y_score.size + 1))
        found = shortcurves.tradeoff(y_true, y_score, room)
        if found is not None:
            thresholds, fpr, fnr = room[:, found[0] : found[1]]
            return fpr, fnr, thresholds
    return tradeoff_of(order_rows(y_true, y_score, pos_label, sample_weight, n_threads), drop_intermediate)


def tradeoff_of(rows: OrderedRows, drop_intermediate: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `det_curve` returns."""
    inputs.check_flag(drop_intermediate, "drop_intermediate")
    totals = rows.totals()
    reason = why_undefined(totals.negatives, totals.positives)
    if reason:
        raise ValueError(f"y_true has one class only ({reason}): a detection error tradeoff needs both")
    thresholds, fpr, fnr = rows.curve(points.ERROR_RATES)
    n_without = int(np.searchsorted(fpr[::-1], 0.0, "right"))  # thresholds without false positives
    if drop_intermediate or n_without == 0:
        fpr, fnr, thresholds = np.append(fpr, 0.0), np.append(fnr, 1.0), np.append(thresholds, np.inf)
        n_without += 1
    if drop_intermediate:
        moves = np.diff(fnr) != 0 if rows.gains is None else rows.gains[::-1]
        kept = np.concatenate(([True], moves[:-1] | moves[1:], [True]))
        fpr, fnr, thresholds = fpr[kept], fnr[kept], thresholds[kept]
        n_without = int(np.searchsorted(fpr[::-1], 0.0, "right"))
    # From the last point without false negatives to the first without false positives.
    within = slice(int(np.searchsorted(fnr, 0.0, "right")) - 1, len(fpr) - n_without + 1)
    return fpr[within], fnr[within], thresholds[within]


@metric(
    "eer",
    exchange="score",
    statistics=lambda method: (statistic_of(method),),
    function=equal_error_rate,
    undefined="one class only",
    parameters={"method": "interpolate"},
    checks={"method": METHODS},
    default=False,
    best="lowest",
)
def finalise_equal_error(parameters: dict[str, Any], state: Crossing | Corners) -> Value:
    """Equal error rate: false acceptance at the threshold where it equals false rejection."""
    rate, reason = equal_rate(state, parameters["method"])
    coverage = pair_coverage(*state.rows)
    if reason is None and rate.threshold == rate.threshold:
        coverage["threshold"] = rate.threshold
    return Value(rate.value, coverage, reason)
