"""Replicates of score statistics one by one: each from rows that are repeated as often as its weights say.

For statistics that cannot be walked side by side, and for rows that have weights of their own: of these a row is there
k times, so a replicate's state is exactly the weighted statistic's of the repeated rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastmetrics._core import weighted
from fastmetrics._core.steps import NOTHING, ClassTotals, Place, Steps, steps_of_tie
from fastmetrics._core.weighted import WeightedRows, WeightScale
from fastmetrics._kernels import scorereplicates, steps

if TYPE_CHECKING:
    from fastmetrics._core.score_replicates import FallingRows, LaneTotals, LaneWeights


class Repeated(NamedTuple):
    """The rows of one replicate's steps."""

    rows: FallingRows
    repeats: np.ndarray

    def keys(self) -> np.ndarray:
        found = self.rows.keys
        if found is None:
            raise ValueError("the keys of these rows were not kept")
        return ~found

    def others_between(self, low: int, high: int) -> np.ndarray:
        keys = self.keys()
        is_other = (self.rows.codes & scorereplicates.POSITIVE) == 0
        chosen = is_other & (keys > keys.dtype.type(max(low, 0))) if low >= 0 else is_other
        if high <= np.iinfo(keys.dtype).max:
            chosen = chosen & (keys < keys.dtype.type(high))
        return np.repeat(keys[chosen], self.repeats[chosen])

    def lowest_key(self) -> int:
        return int(self.keys()[np.flatnonzero(self.repeats)[-1]])


class OneByOne:
    """A block of replicates of one statistic, on their way down."""

    def __init__(self, statistic: Any, totals: LaneTotals, n: int, scale: WeightScale | None) -> None:
        self.statistic = statistic
        self.totals = totals
        self.n = n
        self.scale = scale
        self.found: list[Any] = [None] * n
        self.above = [NOTHING] * n
        self.all_weights = [NOTHING] * n  # where rows have weights: their totals, known after a survey
        self.tied = [NOTHING] * n

    @property
    def needs_survey(self) -> bool:
        return self.scale is not None and bool(self.statistic.needs_place)

    def place(self, lane: int) -> Place:
        if self.scale is not None:
            return Place(self.all_weights[lane], self.above[lane])
        negatives, positives = self.totals.rows[:, lane].tolist()
        return Place(ClassTotals(negatives, positives), self.above[lane])

    def take(self, lane: int, state: Any, own: ClassTotals) -> None:
        """The state of a range below all others so far."""
        known = self.found[lane]
        totals = self.place(lane).totals
        self.found[lane] = state if known is None else self.statistic.merge(state, known, totals)
        self.above[lane] = self.above[lane].plus(own)

    def walk(self, rows: FallingRows, weights: LaneWeights) -> None:
        for lane in range(self.n):
            if self.scale is None:
                self.walk_lane(lane, rows, weights)
                continue
            found = repeat_classes(rows, weights, lane, self.scale)
            if found is not None:
                own = weigh(found) if self.needs_survey else NOTHING
                self.take(lane, self.statistic.of_weighted(found, self.place(lane)), own)

    def walk_lane(self, lane: int, rows: FallingRows, weights: LaneWeights) -> None:
        """Without weights of rows."""
        keys = rows.keys
        if keys is None:
            raise ValueError("the keys of these rows were not kept")
        n = rows.codes.shape[0]
        if n * weights.most >= steps.MOST_ROWS:
            raise OverflowError(f"{n} rows have neighbouring scores: more than a range of a replicate can hold")
        own, ties, gaps = np.empty((3, n + 1), np.int64)
        counts = np.empty(2, np.int64)
        step_keys = np.empty(n, keys.dtype)
        n_steps = scorereplicates.lane_steps(
            rows.codes, keys, weights.table, lane, own, ties, gaps, step_keys, counts
        )
        here = ClassTotals(*counts.tolist())
        if here == NOTHING:
            return
        repeats = weights.table[rows.codes & scorereplicates.LOT_BITS, lane]
        made = Steps(
            1, step_keys[:n_steps], own[:n_steps], ties[:n_steps], gaps[: n_steps + 1], here, Repeated(rows, repeats)
        )
        self.take(lane, self.statistic.of_steps(made, self.place(lane)), here)

    def survey(self, falling: list[FallingRows], weights: LaneWeights) -> None:
        """Weights of all rows, before anything is walked."""
        if self.scale is None or not self.needs_survey:
            return
        for rows in falling:
            for lane in range(self.n):
                found = repeat_classes(rows, weights, lane, self.scale)
                if found is not None:
                    self.all_weights[lane] = self.all_weights[lane].plus(weigh(found))

    def tie(self, keys: np.ndarray, own: np.ndarray) -> None:
        """Rows without weights that all have one score: own[label, lane]."""
        for lane in range(self.n):
            here = ClassTotals(*own[:, lane].tolist())
            if here != NOTHING:
                self.take(lane, self.statistic.of_steps(steps_of_tie(keys, here), self.place(lane)), here)

    def add_tied(
        self, labels: np.ndarray, row_weights: np.ndarray, lots: np.ndarray, weights: LaneWeights, surveys: bool
    ) -> None:
        """Some rows with weights of a tie that is taken piece by piece."""
        into = self.all_weights if surveys else self.tied
        for lane in range(self.n):
            repeats = weights.table[lots, lane]
            labels_here, weights_here = np.repeat(labels, repeats), np.repeat(row_weights, repeats)
            classes = [weights_here[labels_here == label] for label in (0, 1)]
            own = ClassTotals(*map(len, classes), *map(weighted.sum_weights, classes))
            into[lane] = into[lane].plus(own)

    def end_tie(self, score: float) -> None:
        for lane, own in enumerate(self.tied):
            if own != NOTHING:
                self.take(lane, self.statistic.of_weighted_tie(score, own, self.place(lane)), own)
        self.tied = [NOTHING] * self.n

    def states(self, n: int) -> list[Any]:
        return [self.statistic.empty() if state is None else state for state in self.found[:n]]


def repeat_classes(rows: FallingRows, weights: LaneWeights, lane: int, scale: WeightScale) -> WeightedRows | None:
    """One replicate's rows of a bucket, those with weights; None where it has none."""
    classes = []
    for keys, lots, row_weights in rows.classes:
        repeats = weights.table[lots, lane]
        classes.append((np.repeat(keys, repeats), np.repeat(row_weights, repeats)))
    if not any(len(keys) for keys, _ in classes):
        return None
    return WeightedRows(classes[0], classes[1], scale)


def weigh(rows: WeightedRows) -> ClassTotals:
    own = [rows.negatives, rows.positives]
    return ClassTotals(*(len(keys) for keys, _ in own), *(weighted.sum_weights(weights) for _, weights in own))
