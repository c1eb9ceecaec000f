"""The crossing of the error rates: the two points of the ROC curve around FPR = FNR, for the equal error rate."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fastmetrics._core.exchange.range_exchange import scores_of_keys
from fastmetrics._core.exchange.score_histogram import ScoreHistogram
from fastmetrics._core.exchange.threshold_sweep import ClassTotals, RangePosition, ThresholdSweep
from fastmetrics._core.exchange.weighted_ranges import WeightedRows, WeightScale
from fastmetrics._core.exchange.weighted_sweep import sweep_weighted, totals_of
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.weighted_batch import WeightedReplicates
from fastmetrics._core.statistic import Statistic
from fastmetrics._kernels.resampling import score_replicates, weighted_replicates

if TYPE_CHECKING:
    from fastmetrics._core.resampling.replicate_batch import DescendingRows, ReplicateBatchTotals, ReplicateBatchWeights


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

    __slots__ = ()
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

    def from_weighted_tie(self, score: float, tied: ClassTotals, position: RangePosition) -> Crossing:
        counts = tied.negatives, tied.positives
        return weighted_crossing(counts, [tied.negative_weight], [tied.positive_weight], [score], position)

    def replicate_batch(self, totals: ReplicateBatchTotals) -> CrossingReplicateBatch | None:
        """States of a batch of replicates of unweighted rows; None if there are too many rows."""
        return CrossingReplicateBatch(totals.rows) if totals.are_small else None

    def weighted_replicates(self, totals: ReplicateBatchTotals, scale: WeightScale) -> WeightedCrossings:
        """States of a batch of replicates of weighted rows."""
        return WeightedCrossings(totals, scale)

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


class WeightedCrossings(WeightedReplicates):
    """Crossings of a batch of replicates of weighted rows, without thresholds."""

    words = weighted_replicates.CROSSING_STATE_WORDS
    needs_weight_totals = True

    def sweep(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> None:
        weighted_replicates.sweep_crossing(
            rows.codes, rows.row_weights, *self.scale, weights.table, self.all_rows, self.above, self.state
        )

    def add_tie_of_sums(self) -> None:
        weighted_replicates.add_tied_crossing(self.tied, self.all_rows, self.above, self.state)

    def state_of(self, replicate: int, rows: tuple[int, int]) -> Crossing:
        state = Crossing(rows, ClassSizes(*self.weights_of(self.all_rows, replicate)), None)
        *words, is_met = self.state[replicate].tolist()
        if not is_met:
            return state
        fps_before, tps_before, fps, tps = (self.to_weight(words[start : start + 2]) for start in (0, 2, 4, 6))
        top = None if fps_before or tps_before else np.inf
        return state._replace(before=RocPoint(fps_before, tps_before, top), after=RocPoint(fps, tps, None))


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

    __slots__ = ()
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
