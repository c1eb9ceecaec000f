"""AUUC, the area under the uplift curve: is the treatment given first to those whom it helps?

Rows are ranked by score. At the end of each distinct score, the uplift of the rows down to there is
(treated positives / treated - untreated positives / untreated) * rows, and 0 while one of both has no row. The area is
the mean of the uplift over all rows, divided by the number of rows.

Devriendt, F., Van Belle, J., Guns, T. and Verbeke, W. (2020). Learning to rank for uplift modeling. IEEE TKDE.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastmetrics.extend import (
    Binary,
    Columns,
    Real,
    ScoreRangeStatistic,
    Value,
    cumulative_sums,
    divide,
    exact_sum,
    metric,
)


class UpliftArea(NamedTuple):
    """The state of a range: its area as an exact integer, and its numbers of treated, untreated and all rows."""

    area: int
    masses: tuple[int, int, int]


def masses(columns: Columns) -> list[np.ndarray]:
    """Treated, treated positives, untreated, untreated positives, down to the end of each distinct score."""
    treated, positive = columns.treatment == 1, columns.label == 1
    parts = (treated, treated & positive, ~treated, ~treated & positive)
    return [cumulative_sums(columns, part) for part in parts]


class UpliftCurve(ScoreRangeStatistic):
    """The area under the uplift curve of a range of scores; the curve needs the counts above the range."""

    __slots__ = ()

    def summary(self, columns: Columns) -> np.ndarray:
        return np.array([sums[-1] for sums in masses(columns)], object)

    def state(self, columns: Columns, above: Any, total: Any) -> UpliftArea:
        before = (0, 0, 0, 0) if above is None else above.tolist()
        own = masses(columns)
        treated, treated_positives, untreated, untreated_positives = (
            (sums + first).tolist() for sums, first in zip(own, before, strict=True)
        )
        rows = np.diff(own[0] + own[2], prepend=0).tolist()  # of each distinct score
        unit = int(sum(total[::2]))
        terms = [
            divide(n, unit) * divide(t + u, unit) * (divide(tp, t) - divide(up, u)) if t and u else 0.0
            for n, t, tp, u, up in zip(rows, treated, treated_positives, untreated, untreated_positives, strict=True)
        ]
        return UpliftArea(exact_sum(terms), (int(own[0][-1]), int(own[2][-1]), sum(rows)))

    def merge(self, higher: UpliftArea, lower: UpliftArea) -> UpliftArea:
        both = tuple(one + other for one, other in zip(higher.masses, lower.masses, strict=True))
        return UpliftArea(higher.area + lower.area, (both[0], both[1], both[2]))

    def empty(self) -> UpliftArea:
        return UpliftArea(0, (0, 0, 0))


ONE = exact_sum([1.0])


@metric(
    "auuc",
    exchange="range",
    statistics=UpliftCurve(),
    roles={"label": Binary(), "score": Real(), "treatment": Binary()},
)
def auuc(parameters: dict[str, Any], state: UpliftArea) -> Value:
    """Area under the uplift curve: the mean over rows of the uplift down to the row, per row."""
    treated, untreated, _ = state.masses
    if not treated or not untreated:
        return Value(float("nan"), {}, "no treated row" if not treated else "every row is treated")
    return Value(divide(state.area, ONE), {})
