"""The Kolmogorov-Smirnov distance between the scores of positives and those of negatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastmetrics._core import weighted
from fastmetrics._core.exact import divide
from fastmetrics._core.histogram import ScoreHistogram
from fastmetrics._core.ordered_rows import OrderedRows, are_short, order_rows
from fastmetrics._core.pairs import pair_coverage, why_undefined
from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Statistic, Value
from fastmetrics._core.steps import ClassTotals, Place, Steps
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._core.weighted import WeightedExtremes, WeightedRows
from fastmetrics._kernels import scorereplicates, shortcurves
from fastmetrics._kernels import steps as kernels

if TYPE_CHECKING:
    from fastmetrics._core.score_replicates import FallingRows, LaneTotals, LaneWeights


class Distances(NamedTuple):
    """Rows of each class in a range of scores, and the extremes of a difference D from the range's upper end down.

    D = (positives so far) * all negatives - (negatives so far) * all positives, over the ends of ties, and 0.
    """

    negatives: int
    positives: int
    greatest: int
    least: int


class Extremes(Statistic):
    """The statistic of KS: the greatest and least of TPR * P * N - FPR * P * N over all thresholds, and P and N."""

    __slots__ = ()
    needs_place = True
    needs_positives = False

    def empty(self) -> Distances:
        return Distances(0, 0, 0, 0)

    def of_steps(self, steps: Steps, place: Place) -> Distances:
        own, totals = steps.counts, place.totals
        extremes = np.zeros(4, np.int64)
        kernels.steps_extremes(
            steps.own, steps.ties, steps.gaps, steps.own.shape[0], steps.pivot, totals.negatives, totals.positives,
            extremes,
        )  # fmt: skip
        high, low, least_high, least_low = extremes.tolist()
        return Distances(own.negatives, own.positives, (high << 31) + low, (least_high << 31) + least_low)

    def of_weighted(self, rows: WeightedRows, place: Place) -> WeightedExtremes:
        totals = place.totals.negative_weight, place.totals.positive_weight
        return weighted.extremes_weighted(*rows.negatives, *rows.positives, rows.scale, *totals)

    def of_weighted_tie(self, score: float, own: ClassTotals, place: Place) -> WeightedExtremes:
        weights = own.negative_weight, own.positive_weight
        step = weights[1] * place.totals.negative_weight - weights[0] * place.totals.positive_weight
        return WeightedExtremes((own.negatives, own.positives), weights, max(0, step), min(0, step))

    def merge(
        self, low: Distances | WeightedExtremes, high: Distances | WeightedExtremes, totals: ClassTotals
    ) -> Distances | WeightedExtremes:
        if isinstance(low, WeightedExtremes) and isinstance(high, WeightedExtremes):
            return weighted.merge_extremes(low, high, totals.negative_weight, totals.positive_weight)
        if isinstance(low, WeightedExtremes) or isinstance(high, WeightedExtremes):
            raise TypeError("ranges with weights and without do not merge")
        before = high.positives * totals.negatives - high.negatives * totals.positives
        return Distances(
            low.negatives + high.negatives,
            low.positives + high.positives,
            max(high.greatest, before + low.greatest),
            min(high.least, before + low.least),
        )

    def lanes(self, totals: LaneTotals) -> ExtremeLanes | None:
        """A block of replicates, side by side; without weights. None: too many rows for that."""
        return ExtremeLanes(totals.rows) if totals.are_short else None

    def bounds(self, histogram: ScoreHistogram) -> tuple[Distances, Distances]:
        """The extremes at the edges of bins, and those that some order inside the bins would give."""
        bins = histogram.bins()
        all_negatives = sum(own[0] for own in bins)
        all_positives = sum(own[1] for own in bins)
        difference = greatest = least = most = fewest = 0
        for negatives, positives in bins:
            most = max(most, difference + positives * all_negatives)
            fewest = min(fewest, difference - negatives * all_positives)
            difference += positives * all_negatives - negatives * all_positives
            greatest, least = max(greatest, difference), min(least, difference)
        low = Distances(all_negatives, all_positives, greatest, least)
        if histogram.is_exact:
            return low, low
        return low, Distances(all_negatives, all_positives, max(most, greatest), min(fewest, least))


class ExtremeLanes:
    """Extremes of a block of replicates."""

    def __init__(self, totals: np.ndarray) -> None:
        self.totals = totals
        self.state = np.zeros((3, scorereplicates.ABREAST), np.int64)

    def walk(self, rows: FallingRows, weights: LaneWeights) -> None:
        scorereplicates.extremes_walk(
            rows.codes, rows.segments, rows.segments.shape[0], weights.table, weights.most, self.totals, self.state
        )

    def tie(self, keys: np.ndarray, own: np.ndarray) -> None:
        scorereplicates.extremes_tie(own, self.totals, self.state)

    def states(self, n: int) -> list[Distances]:
        found = *self.totals[:, :n].tolist(), *self.state[1:, :n].tolist()
        return [Distances(*own) for own in zip(*found, strict=True)]


def ks_statistic(
    y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: Any = None, n_threads: int | None = None
) -> float:
    """The greatest distance between the score distributions of positives and negatives (Kolmogorov-Smirnov).

    KS = max over thresholds t of |TPR(t) - FPR(t)|, both as shares of rows with a score of at least t (Smirnov, 1939;
    two-sided). Compared in integers, rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_score : array-like of shape (n,)
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent. Weighted shares are exact too.
    pos_label : int, float, bool or str, optional
        The label of the positive class; needed where labels are not 0 and 1, or -1 and +1.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1]; NaN with an UndefinedMetricWarning when only one class is present.

    Raises
    ------
    ValueError
        NaN scores, labels outside the two pairs above, lengths that differ, no rows, bad weights; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.ks_statistic([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """
    if are_short(y_true, y_score, sample_weight, pos_label, n_threads):
        value = shortcurves.distance(y_true, y_score)
        if value is not None:
            return value
    return distance_of(order_rows(y_true, y_score, pos_label, sample_weight, n_threads))


def distance_of(rows: OrderedRows) -> float:
    """What `ks_statistic` returns."""
    (state,) = rows.sweep(Extremes())
    result = finalise_extremes({}, state)
    return warn_undefined("ks_statistic", result.reason, 4) if result.reason else result.value


@metric(
    "ks",
    exchange="score",
    statistics=lambda: (Extremes(),),
    function=ks_statistic,
    undefined="one class only",
)
def finalise_extremes(parameters: dict[str, Any], state: Any) -> Value:
    """Kolmogorov-Smirnov: the greatest distance between the score distributions of positives and negatives."""
    is_weighted = isinstance(state, WeightedExtremes)
    negatives, positives = state.rows if is_weighted else state[:2]
    reason = why_undefined(negatives, positives)
    if reason:
        return Value(float("nan"), pair_coverage(negatives, positives), reason)
    if is_weighted:
        value = weighted.greatest_distance(state)
    else:
        value = divide(max(state.greatest, -state.least), negatives * positives)
    return Value(value, pair_coverage(negatives, positives))
