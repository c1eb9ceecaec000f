"""The Kolmogorov-Smirnov statistic: the greatest distance between the score distributions of both classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.binary_probabilities import warn_and_unwrap
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.exchange.runs import ClassTotals, RangePosition, RangeState, RangeStatistic, Runs
from fastmetrics._core.exchange.sorted_rows import OrderedRows, order_rows
from fastmetrics._core.metric_spec import ScoreInfluence
from fastmetrics._core.registry import metric
from fastmetrics._core.score_statistics.pair_counts import pair_coverage, undefined_reason
from fastmetrics._core.score_statistics.score_histogram import ScoreHistogram
from fastmetrics._core.statistic import Bounded, Value
from fastmetrics._kernels.sweep import short_curves

if TYPE_CHECKING:
    from fastmetrics._core.score_statistics.score_classes import ClassMasses
    from fastmetrics._core.types.arrays import ArrayLike, Label, NumericArrayLike

__all__ = ["ks_statistic"]


class Extremes(RangeStatistic, Bounded):
    """The extremes of D = (TPR - FPR) * P * N over all thresholds, for P positives and N negatives in all.

    D is 0 above a range: what lies above it is added when ranges merge.
    """

    __slots__ = ()

    def find(self, runs: Runs, position: RangePosition) -> RangeState:
        return RangeState(runs.totals, runs.extremes(position.totals.masses))

    def merge(self, higher: RangeState, lower: RangeState, totals: ClassTotals) -> RangeState:
        above = higher.totals.masses[1] * totals.masses[0] - higher.totals.masses[0] * totals.masses[1]
        (greatest, least), (greatest_below, least_below) = higher.found, lower.found
        extremes = max(greatest, above + greatest_below), min(least, above + least_below)
        return RangeState(higher.totals.plus(lower.totals), extremes)

    def bounds(self, histogram: ScoreHistogram) -> tuple[RangeState, RangeState]:
        """The extremes at the edges of bins, and those of both orders of the classes in every bin."""
        edges, *orders = (self.find(histogram.runs(first), histogram.position) for first in (None, 0, 1))
        greatest, least = zip(*(own.found for own in orders), strict=True)
        return edges, edges._replace(found=(max(greatest), min(least)))


@small_inputs(short_curves.ks_distance)
def ks_statistic(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    pos_label: Label | None = None,
    n_threads: int | None = None,
) -> float:
    """The greatest distance between the score distributions of positives and negatives (Kolmogorov-Smirnov).

    KS = max over thresholds t of |TPR(t) - FPR(t)|, the shares of positives and of negatives with a score of at least t
    (Smirnov, 1939; two-sided). Differences are compared as integers, and the result is rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. Infinities are ordered, -0.0 ties with 0.0, and scores tie only if they are exactly equal.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.

        Weighted shares are exact too.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, 1]; NaN with an UndefinedMetricWarning if only one class is present.

    Raises
    ------
    ValueError
        NaN scores, invalid labels, different lengths, no rows or invalid weights; the message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.ks_statistic([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """
    return ks_from_rows(order_rows(y_true, y_score, pos_label, sample_weight, n_threads))


def ks_from_rows(rows: OrderedRows) -> float:
    """The result of `ks_statistic`."""
    (state,) = rows.sweep(Extremes())
    result = finalize_extremes({}, state)
    return warn_and_unwrap("ks_statistic", result)


def influence_of_rows() -> ScoreInfluence:
    from fastmetrics._core.inference.greatest_distance import crossed_distance, distance_interval  # for intervals alone

    return ScoreInfluence(distance_influence, crossed_distance, distance_interval)


def distance_influence(masses: ClassMasses) -> np.ndarray:
    """The influence of a row on the distance at the threshold where it is greatest."""
    false_rates, true_rates = (masses.from_above(own) / own.sum() for own in masses)
    distances = true_rates - false_rates
    threshold = int(np.abs(distances).argmax())
    sign = 1.0 if distances[threshold] >= 0 else -1.0
    above = (np.arange(masses.negatives.shape[0]) >= threshold).astype(np.float64)
    return sign * np.stack((false_rates[threshold] - above, above - true_rates[threshold]), axis=1)


@metric(
    "ks",
    exchange="range",
    scale="share",
    statistics=lambda: (Extremes(),),
    influence=influence_of_rows,
    function=ks_statistic,
    undefined="one class only",
    aliases=("ks_statistic", "kolmogorov_smirnov"),
)
def finalize_extremes(parameters: dict[str, Any], state: RangeState) -> Value:
    """Kolmogorov-Smirnov: the greatest distance between the score distributions of positives and negatives."""
    coverage, reason = pair_coverage(*state.totals.rows), undefined_reason(*state.totals.rows)
    if reason:
        return Value(float("nan"), coverage, reason)
    (greatest, least), (negatives, positives) = state.found, state.totals.masses
    return Value(divide(max(greatest, -least), negatives * positives), coverage)
