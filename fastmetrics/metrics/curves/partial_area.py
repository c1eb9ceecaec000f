"""The area under a part of the ROC curve, from ranges of scores: the bits of `partial_auc_score` without its arrays.

The function adds up trapezoids between corners of the curve. A corner is a point whose tie has other counts than the
next tie, so a range of scores knows all of its corners but the last point: that depends on the first tie of the range
below. Trapezoids are rounded one by one, and their sum is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.exact import EXPONENT, divide, integer_sum
from fastmetrics._core.exchange.runs import NO_ROWS, ClassTotals, Cut, RangePosition, RangeStatistic, Runs
from fastmetrics._core.metric_spec import ScoreInfluence
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.option_numbers import number_value
from fastmetrics._core.score_statistics.pair_counts import pair_coverage, undefined_reason
from fastmetrics._core.statistic import Value

if TYPE_CHECKING:
    from fastmetrics._core.score_statistics.score_classes import ClassMasses

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


class PartialArea(RangeStatistic):
    """The area under the ROC curve up to a false positive rate."""

    __slots__ = ("max_fpr",)
    cut = Cut.SCORES

    def __init__(self, max_fpr: float) -> None:
        self.max_fpr = float(max_fpr)

    def empty(self) -> CurvePiece:
        return CurvePiece(NO_ROWS)

    def find(self, runs: Runs, position: RangePosition) -> CurvePiece:
        _, fps, tps = runs.points(position)
        is_first = sum(position.above.rows) == 0
        above = position.above.as_floats()
        x_steps, y_steps = np.diff(np.append(above[0], fps)), np.diff(np.append(above[1], tps))
        is_corner = (np.diff(x_steps) != 0) | (np.diff(y_steps) != 0)
        if is_first:
            is_corner[:1] = True
        kept = np.flatnonzero(is_corner)
        area, crossing = self.measure(fps[kept], tps[kept], position.totals)

        def pair(x: np.ndarray, y: np.ndarray, index: int) -> Point:
            return float(x[index]), float(y[index])

        ends = (pair(fps, tps, kept[0]), pair(fps, tps, kept[-1])) if kept.shape[0] else None
        return CurvePiece(
            runs.totals, ends, area, crossing, pair(x_steps, y_steps, 0), pair(x_steps, y_steps, -1),
            pair(fps, tps, -1), is_first and fps.shape[0] == 1,
        )  # fmt: skip

    def merge(self, higher: CurvePiece, lower: CurvePiece, totals: ClassTotals) -> CurvePiece:
        if higher.last is None or lower.last is None:
            return lower if higher.last is None else higher
        is_corner = higher.ends_at_corner or higher.last_step != lower.first_step
        corners = [*(higher.corners or ()), *([higher.last] if is_corner else []), *(lower.corners or ())]
        between = corners[1 if higher.corners else 0 : -1 if lower.corners else None]
        area, crossing = self.measure(*columns_of(between), totals)
        return CurvePiece(
            higher.totals.plus(lower.totals),
            (corners[0], corners[-1]) if corners else None,
            higher.area + area + lower.area,
            higher.crossing or crossing or lower.crossing,
            higher.first_step, lower.last_step, lower.last,
        )  # fmt: skip

    def measure(self, fps: np.ndarray, tps: np.ndarray, totals: ClassTotals) -> tuple[int, tuple[Point, Point] | None]:
        """The area below some corners, up to the last one not beyond max_fpr, and the corners around max_fpr."""
        if fps.shape[0] < 2 or not totals.negatives or not totals.positives:
            return 0, None
        fpr, tpr = rates(fps, tps, totals)
        n = int(np.searchsorted(fpr, self.max_fpr, "right"))  # corners that are not beyond
        areas = np.diff(fpr[:n]) * (tpr[1:n] + tpr[: max(0, n - 1)]) / 2
        if not 0 < n < fps.shape[0]:
            return integer_sum(areas), None
        before, after = zip(fps[n - 1 : n + 1].tolist(), tps[n - 1 : n + 1].tolist(), strict=True)
        return integer_sum(areas), (before, after)

    def area(self, piece: CurvePiece) -> float:
        """The area below the whole curve up to max_fpr, with linear interpolation there."""
        corners = [ORIGIN, *(piece.corners or ()), piece.last or ORIGIN]
        area = piece.area
        crossings = [piece.crossing]
        for ends in (corners[:2], corners[-2:]) if piece.corners else (corners,):
            own_area, crossing = self.measure(*columns_of(ends), piece.totals)
            area += own_area
            crossings.append(crossing)
        for crossing in filter(None, crossings):
            fpr, tpr = rates(*columns_of(crossing), piece.totals)
            tpr_at_end = height_at(self.max_fpr, fpr, tpr, 1)
            area += integer_sum(np.array([(self.max_fpr - fpr[0]) * (tpr_at_end + tpr[0]) / 2]))
        return divide(area, 1 << EXPONENT)


def columns_of(points: Sequence[Point]) -> tuple[np.ndarray, np.ndarray]:
    """False positives and true positives."""
    fps, tps = np.array(points, np.float64).reshape(-1, 2).T
    return fps, tps


def rates(fps: np.ndarray, tps: np.ndarray, totals: ClassTotals) -> tuple[np.ndarray, np.ndarray]:
    negatives, positives = totals.as_floats()
    return fps / negatives, tps / positives


def height_at(x: float, xs: np.ndarray, ys: np.ndarray, n: int) -> float:
    """The height at x of the line through ascending points, of which the first n >= 1 are not beyond x."""
    if n == xs.shape[0]:
        return float(ys[-1])
    (start, stop), (low, high) = xs[n - 1 : n + 1].tolist(), ys[n - 1 : n + 1].tolist()
    return float((high - low) / (stop - start) * (x - start) + low)


def standardized_area(area: float, max_fpr: float) -> float:
    """McClish's standardization of an area up to max_fpr."""
    least = max_fpr * max_fpr / 2
    return 0.5 * (1 + (area - least) / (max_fpr - least))


def check_max_fpr(max_fpr: Any) -> None:
    if not 0 < number_value(max_fpr) <= 1:
        raise validation.OptionError(f"max_fpr must lie in (0, 1]; found {max_fpr!r}")


def finalize_partial_area(max_fpr: float, standardize: bool, piece: CurvePiece) -> Value:
    """The area of the whole curve up to max_fpr, as a value."""
    coverage = pair_coverage(piece.totals.negatives, piece.totals.positives)
    reason = undefined_reason(piece.totals.negatives, piece.totals.positives)
    if reason:
        return Value(float("nan"), coverage, reason)
    area = PartialArea(max_fpr).area(piece)
    return Value(standardized_area(area, float(max_fpr)) if standardize else area, coverage)


def partial_influence(max_fpr: float, factor: float, masses: ClassMasses) -> np.ndarray:
    """The influence of a row on the area up to a false positive rate, times `factor`.

    A positive adds the share of the negatives that it beats among those up to the rate; a negative among these adds the
    positives between it and the last of them, which it moves out.
    """
    negatives, positives = masses
    all_negatives, all_positives = negatives.sum(), positives.sum()
    false_rates = 1 - masses.below(negatives) / all_negatives  # ties half
    true_rates = 1 - masses.below(positives) / all_positives
    beaten = np.clip(max_fpr - false_rates, 0.0, None)
    counted = false_rates <= max_fpr
    last = float(true_rates[counted].max(initial=0.0))
    gained = np.where(counted, true_rates - last, 0.0)
    area, lost = (positives * beaten).sum() / all_positives, (negatives * gained).sum() / all_negatives
    return factor * np.stack((gained - lost, beaten - area), axis=1)


def influence_of_area(max_fpr: float, standardize: bool = True) -> ScoreInfluence:
    """The influence on the area, or on McClish's: the area's share between a random order's and the greatest."""
    rate = float(max_fpr)
    return ScoreInfluence(partial(partial_influence, rate, 0.5 / (rate - rate * rate / 2) if standardize else 1.0))
