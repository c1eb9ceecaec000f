"""The area under a part of the ROC curve, from ranges of scores: the bits of `partial_auc_score` without its arrays.

The function adds up trapezoids between corners of the curve. A corner is a point whose tie has other counts than the
next tie, so a range of scores knows all of its corners but the last point: that depends on the first tie of the range
below. Trapezoids are rounded one by one, and their sum is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.exact import EXPONENT, divide, integer_sum
from fastmetrics._core.exchange.threshold_sweep import NO_ROWS, ClassTotals, RangePosition, ThresholdSweep
from fastmetrics._core.exchange.weighted_ranges import WeightedRows
from fastmetrics._core.exchange.weighted_sweep import points_of_range, totals_of
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.score_statistics.pair_counts import pair_coverage, undefined_reason
from fastmetrics._core.statistic import Statistic, Value

Point = tuple[float, float]  # false positives and true positives, as counts or weights
ORIGIN: Point = (0.0, 0.0)


class CurvePiece(NamedTuple):
    """State of a range of scores: a piece of the curve.

    `corners` are the first and the last of its known corners; the area between them is a multiple of 2**-EXPONENT.
    `crossing` are the corners on both sides of max_fpr. `first_step` leads from the point above the range to its first
    point, `last_step` to its last point. `ends_at_corner`: is the last point a corner, whatever follows?
    """

    totals: ClassTotals
    corners: tuple[Point, Point] | None = None
    area: int = 0
    crossing: tuple[Point, Point] | None = None
    first_step: Point = ORIGIN
    last_step: Point = ORIGIN
    last: Point | None = None
    ends_at_corner: bool = False


class PartialArea(Statistic):
    """The area under the ROC curve up to a false positive rate."""

    __slots__ = ("max_fpr",)
    needs_position = True
    pivots_on_positives = False
    bounds = None  # no approximate states

    def __init__(self, max_fpr: float) -> None:
        self.max_fpr = float(max_fpr)

    def empty(self) -> CurvePiece:
        return CurvePiece(NO_ROWS)

    def from_sweep(self, sweep: ThresholdSweep, position: RangePosition) -> CurvePiece:
        above = position.above
        negatives, positives = counts_by_score(sweep)
        fps, tps = above.negatives + np.cumsum(negatives), above.positives + np.cumsum(positives)
        return self.piece(sweep.class_totals, fps.astype(np.float64), tps.astype(np.float64), position)

    def from_weighted_rows(self, rows: WeightedRows, position: RangePosition) -> CurvePiece:
        _, fps, tps, *_ = points_of_range(rows, position)
        return self.piece(totals_of(rows), fps, tps, position)

    def from_weighted_tie(self, score: float, tied: ClassTotals, position: RangePosition) -> CurvePiece:
        fps, tps = position.above.plus(tied).as_floats()
        return self.piece(tied, np.array([fps]), np.array([tps]), position)

    def piece(self, own: ClassTotals, fps: np.ndarray, tps: np.ndarray, position: RangePosition) -> CurvePiece:
        """The piece of the curve with these points, in descending order of score."""
        is_first = position.above.negatives + position.above.positives == 0
        above = position.above.as_floats()
        x_steps, y_steps = np.diff(np.append(above[0], fps)), np.diff(np.append(above[1], tps))
        is_corner = (np.diff(x_steps) != 0) | (np.diff(y_steps) != 0)
        if is_first:
            is_corner[:1] = True
        kept = np.flatnonzero(is_corner)
        points = list(zip(fps.tolist(), tps.tolist(), strict=True))
        corners = [points[index] for index in kept.tolist()]
        steps = list(zip(x_steps.tolist(), y_steps.tolist(), strict=True))
        ends = (corners[0], corners[-1]) if corners else None
        area, crossing = self.measure(corners, position.totals)
        return CurvePiece(own, ends, area, crossing, steps[0], steps[-1], points[-1], is_first and len(points) == 1)

    def merge(self, low: CurvePiece, high: CurvePiece, totals: ClassTotals) -> CurvePiece:
        if high.last is None or low.last is None:
            return low if high.last is None else high
        is_corner = high.ends_at_corner or high.last_step != low.first_step
        corners = [*(high.corners or ()), *([high.last] if is_corner else []), *(low.corners or ())]
        between = corners[1 if high.corners else 0 : -1 if low.corners else None]
        area, crossing = self.measure(between, totals)
        return CurvePiece(
            low.totals.plus(high.totals),
            (corners[0], corners[-1]) if corners else None,
            low.area + area + high.area,
            high.crossing or crossing or low.crossing,
            high.first_step, low.last_step, low.last,
        )  # fmt: skip

    def measure(self, corners: list[Point], totals: ClassTotals) -> tuple[int, tuple[Point, Point] | None]:
        """The area below some corners, up to the last one not beyond max_fpr, and the corners around max_fpr."""
        if len(corners) < 2 or not totals.negatives or not totals.positives:
            return 0, None
        fpr, tpr = rates(corners, totals)
        areas = np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2
        n = int(np.searchsorted(fpr, self.max_fpr, "right"))  # corners that are not beyond
        crossing = (corners[n - 1], corners[n]) if 0 < n < len(corners) else None
        return integer_sum(areas[: max(0, n - 1)]), crossing

    def area(self, piece: CurvePiece) -> float:
        """The area below the whole curve up to max_fpr, with linear interpolation there."""
        corners = [ORIGIN, *(piece.corners or ()), piece.last or ORIGIN]
        area = piece.area
        crossings = [piece.crossing]
        for ends in (corners[:2], corners[-2:]) if piece.corners else (corners,):
            own_area, crossing = self.measure(ends, piece.totals)
            area += own_area
            crossings.append(crossing)
        for crossing in filter(None, crossings):
            fpr, tpr = rates(list(crossing), piece.totals)
            tpr_at_end = float(interpolate(np.array([self.max_fpr]), fpr, tpr)[0])
            area += integer_sum(np.array([(self.max_fpr - fpr[0]) * (tpr_at_end + tpr[0]) / 2]))
        return divide(area, 1 << EXPONENT)


def counts_by_score(sweep: ThresholdSweep) -> tuple[np.ndarray, np.ndarray]:
    """Rows of both classes at every distinct score, descending."""
    others = sweep.rows.other_keys_between(0, np.iinfo(sweep.keys.dtype).max)
    # By sorting: the table that NumPy 2.0 may use instead overflows at keys of 64 bits.
    keys, counts = np.unique(others[~np.isin(others, sweep.keys, kind="sort")], return_counts=True)
    order = np.argsort(np.concatenate((sweep.keys, keys)))[::-1]
    pivots = np.concatenate((sweep.pivot_counts, np.zeros_like(counts)))[order]
    tied_or_alone = np.concatenate((sweep.tied_counts, counts))[order]
    return (tied_or_alone, pivots) if sweep.pivot else (pivots, tied_or_alone)


def rates(points: list[Point], totals: ClassTotals) -> tuple[np.ndarray, np.ndarray]:
    fps, tps = np.array(points).T
    negatives, positives = totals.as_floats()
    return fps / negatives, tps / positives



def interpolate(x: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """The heights at x of the line through ascending points, level beyond its ends.

    `np.interp` may fuse the product and the sum, so its last bit depends on the processor that NumPy was built for.
    """
    last = np.clip(np.searchsorted(xs, x, "right"), 1, max(xs.shape[0] - 1, 1))
    first = last - 1
    last = np.minimum(last, xs.shape[0] - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = (ys[last] - ys[first]) / (xs[last] - xs[first])
        between = slopes * (x - xs[first]) + ys[first]
    return np.asarray(np.where(x >= xs[-1], ys[-1], np.where(x < xs[0], ys[0], between)))


def standardized_area(area: float, max_fpr: float) -> float:
    """McClish's standardisation of an area up to max_fpr."""
    least = max_fpr * max_fpr / 2
    return 0.5 * (1 + (area - least) / (max_fpr - least))


def check_max_fpr(max_fpr: Any) -> None:
    if isinstance(max_fpr, bool) or not isinstance(max_fpr, (int, float, np.number)) or not 0 < max_fpr <= 1:
        raise validation.OptionError(f"max_fpr must lie in (0, 1]; found {max_fpr!r}")


def finalise_partial_area(max_fpr: float, standardize: bool, piece: CurvePiece) -> Value:
    """The area of the whole curve up to max_fpr, as a value."""
    coverage = pair_coverage(piece.totals.negatives, piece.totals.positives)
    reason = undefined_reason(piece.totals.negatives, piece.totals.positives)
    if reason:
        return Value(float("nan"), coverage, reason)
    area = PartialArea(max_fpr).area(piece)
    return Value(standardized_area(area, float(max_fpr)) if standardize else area, coverage)
