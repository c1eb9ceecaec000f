"""The crossing of the error rates: the two points of the ROC curve around FPR = FNR, for the equal error rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from fastmetrics._core.exchange.runs import (
    ClassTotals,
    CurvePoint,
    Cut,
    Masses,
    RangePosition,
    RangeStatistic,
    Runs,
    rate_gap,
)
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.score_statistics.score_histogram import BoundedByOrder


class Crossing(NamedTuple):
    """State of a range of scores: its totals, and the points before and after the crossing if it is in here.

    `last` is the lowest score of a range above the crossing, None if the range has no rows. The point before the
    crossing may be the last point of the next higher range. Its score is then set when the two ranges merge.
    """

    totals: ClassTotals
    last: float | None = None
    before: CurvePoint | None = None
    after: CurvePoint | None = None


class NearestRates(RangeStatistic):
    """The statistic of the equal error rate: the two points of the ROC curve around FPR = FNR."""

    __slots__ = ()
    cut = Cut.SCORES

    def find(self, runs: Runs, position: RangePosition) -> Crossing:
        own, totals = runs.totals, position.totals.masses
        fps, tps = position.above.masses
        if rate_gap(fps + own.masses[0], tps + own.masses[1], totals) < 0:
            return Crossing(own, runs.lowest_score())
        if rate_gap(fps, tps, totals) >= 0:
            return Crossing(own)
        before, after = runs.crossing(position)
        return Crossing(own, None, before if before.fps or before.tps else before._replace(score=math.inf), after)

    def merge(self, higher: Crossing, lower: Crossing, totals: ClassTotals) -> Crossing:
        crossing = lower if lower.after is not None else higher
        before = crossing.before
        if crossing is lower and before is not None and before.score is None and higher.last is not None:
            before = before._replace(score=higher.last)
        last = higher.last if lower.last is None else lower.last
        return Crossing(higher.totals.plus(lower.totals), last, before, crossing.after)


class RateCrossing(NearestRates, BoundedByOrder):
    """The crossing for the method "interpolate". For the nearest point, bins of scores give no bounds."""

    __slots__ = ()


def first_crossing(curve: Sequence[CurvePoint], totals: Masses) -> tuple[CurvePoint, CurvePoint]:
    """The points before and after the crossing of the rates of a whole curve."""
    return next(pair for pair in pairwise(curve) if rate_gap(*pair[1][:2], totals) >= 0)
