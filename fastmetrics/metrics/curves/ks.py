"""The Kolmogorov-Smirnov statistic: the greatest distance between the score distributions of both classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.exchange.score_histogram import ScoreHistogram
from fastmetrics._core.exchange.sorted_rows import OrderedRows, order_rows
from fastmetrics._core.exchange.threshold_sweep import ClassTotals, RangePosition, ThresholdSweep
from fastmetrics._core.exchange.weighted_ranges import (
    WeightedExtremes,
    WeightedRows,
    WeightScale,
    merge_extremes,
    weighted_extremes,
    weighted_ks,
)
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import metric
from fastmetrics._core.resampling.weighted_batch import WeightedReplicates, words_to_integer
from fastmetrics._core.score_statistics.pair_counts import pair_coverage, undefined_reason
from fastmetrics._core.statistic import Statistic, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.resampling import score_replicates, weighted_replicates
from fastmetrics._kernels.sweep import short_curves
from fastmetrics._kernels.sweep import threshold_sweep as kernels

if TYPE_CHECKING:
    from fastmetrics._core.resampling.replicate_batch import DescendingRows, ReplicateBatchTotals, ReplicateBatchWeights
    from fastmetrics._core.types.arrays import ArrayLike, Label, NumericArrayLike

__all__ = ["ks_statistic"]


class KsState(NamedTuple):
    """State of a range of scores: rows of each class, and the extremes of a difference D.

    D = (positives so far) * all negatives - (negatives so far) * all positives, counted from the highest score of the
    range down. It is 0 before the first row, and is evaluated after each distinct score.
    """

    negatives: int
    positives: int
    greatest: int
    least: int


class Extremes(Statistic):
    """The statistic of KS: the extremes of (TPR - FPR) * P * N over all thresholds, and the rows P and N."""

    __slots__ = ()
    needs_position = True
    pivots_on_positives = False

    def empty(self) -> KsState:
        return KsState(0, 0, 0, 0)

    def from_sweep(self, sweep: ThresholdSweep, position: RangePosition) -> KsState:
        counts, totals = sweep.class_totals, position.totals
        extremes = np.zeros(4, np.int64)
        kernels.sweep_extremes(
            sweep.pivot_counts, sweep.tied_counts, sweep.between_counts, sweep.pivot_counts.shape[0], sweep.pivot,
            totals.negatives, totals.positives, extremes,
        )  # fmt: skip
        high, low, least_high, least_low = extremes.tolist()
        return KsState(counts.negatives, counts.positives, (high << 31) + low, (least_high << 31) + least_low)

    def from_weighted_rows(self, rows: WeightedRows, position: RangePosition) -> WeightedExtremes:
        totals = position.totals.negative_weight, position.totals.positive_weight
        return weighted_extremes(rows, *totals)

    def from_weighted_tie(self, score: float, tied: ClassTotals, position: RangePosition) -> WeightedExtremes:
        weights = tied.negative_weight, tied.positive_weight
        difference = weights[1] * position.totals.negative_weight - weights[0] * position.totals.positive_weight
        return WeightedExtremes((tied.negatives, tied.positives), weights, max(0, difference), min(0, difference))

    def merge(
        self, low: KsState | WeightedExtremes, high: KsState | WeightedExtremes, totals: ClassTotals
    ) -> KsState | WeightedExtremes:
        if isinstance(low, WeightedExtremes) and isinstance(high, WeightedExtremes):
            return merge_extremes(low, high, totals.negative_weight, totals.positive_weight)
        if isinstance(low, WeightedExtremes) or isinstance(high, WeightedExtremes):
            raise TypeError("ranges with weights do not merge with ranges without weights")
        before = high.positives * totals.negatives - high.negatives * totals.positives
        return KsState(
            low.negatives + high.negatives,
            low.positives + high.positives,
            max(high.greatest, before + low.greatest),
            min(high.least, before + low.least),
        )

    def replicate_batch(self, totals: ReplicateBatchTotals) -> ExtremesReplicateBatch | None:
        """States of a batch of replicates of unweighted rows; None if there are too many rows."""
        return ExtremesReplicateBatch(totals.rows) if totals.are_small else None

    def weighted_replicates(self, totals: ReplicateBatchTotals, scale: WeightScale) -> WeightedExtremesReplicates:
        """States of a batch of replicates of weighted rows."""
        return WeightedExtremesReplicates(totals, scale)

    def bounds(self, histogram: ScoreHistogram) -> tuple[KsState, KsState]:
        """Lower and upper bounds: the extremes at the edges of bins, and those of the best order inside the bins."""
        bins = histogram.bins()
        all_negatives = sum(negatives for negatives, _ in bins)
        all_positives = sum(positives for _, positives in bins)
        difference = greatest = least = most = fewest = 0
        for negatives, positives in bins:
            most = max(most, difference + positives * all_negatives)
            fewest = min(fewest, difference - negatives * all_positives)
            difference += positives * all_negatives - negatives * all_positives
            greatest, least = max(greatest, difference), min(least, difference)
        low = KsState(all_negatives, all_positives, greatest, least)
        if histogram.is_exact:
            return low, low
        return low, KsState(all_negatives, all_positives, max(most, greatest), min(fewest, least))


class ExtremesReplicateBatch:
    """Extremes of a batch of replicates."""

    def __init__(self, totals: np.ndarray) -> None:
        self.totals = totals
        self.state = np.zeros((3, score_replicates.REPLICATES_PER_BATCH), np.int64)

    def sweep(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> None:
        score_replicates.sweep_extremes(
            rows.codes, rows.segments, weights.table, weights.max_weight, self.totals, self.state
        )

    def add_tie(self, keys: np.ndarray, tied_counts: np.ndarray) -> None:
        score_replicates.add_tied_extremes(tied_counts, self.totals, self.state)

    def states(self, n: int) -> list[KsState]:
        columns = *self.totals[:, :n].tolist(), *self.state[1:, :n].tolist()
        return [KsState(*state) for state in zip(*columns, strict=True)]


class WeightedExtremesReplicates(WeightedReplicates):
    """Extremes of a batch of replicates of weighted rows."""

    words = weighted_replicates.EXTREME_STATE_WORDS
    needs_weight_totals = True

    def sweep(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> None:
        weighted_replicates.sweep_extremes(
            rows.codes, rows.row_weights, *self.scale, weights.table, self.all_rows, self.above, self.state
        )

    def add_tie_of_sums(self) -> None:
        weighted_replicates.add_tied_extremes(self.tied, self.all_rows, self.above, self.state)

    def state_of(self, replicate: int, rows: tuple[int, int]) -> WeightedExtremes:
        words = self.state[replicate].tolist()
        # From the greatest score down: what is above a threshold is below it in ascending order.
        greatest, least = (words_to_integer(half) << 2 * self.scale.shift for half in (words[4:], words[:4]))
        return WeightedExtremes(rows, self.weights_of(self.all_rows, replicate), greatest, -least)


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
        Number of threads; by default the number of CPUs that the process may use. The result does not depend on it.

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
    result = finalise_extremes({}, state)
    return warn_undefined("ks_statistic", result.reason) if result.reason else result.value


@metric(
    "ks",
    exchange="range",
    statistics=lambda: (Extremes(),),
    function=ks_statistic,
    undefined="one class only",
    aliases=("ks_statistic", "kolmogorov_smirnov"),
)
def finalise_extremes(parameters: dict[str, Any], state: Any) -> Value:
    """Kolmogorov-Smirnov: the greatest distance between the score distributions of positives and negatives."""
    is_weighted = isinstance(state, WeightedExtremes)
    negatives, positives = state.rows if is_weighted else state[:2]
    reason = undefined_reason(negatives, positives)
    if reason:
        return Value(float("nan"), pair_coverage(negatives, positives), reason)
    if is_weighted:
        value = weighted_ks(state)
    else:
        value = divide(max(state.greatest, -state.least), negatives * positives)
    return Value(value, pair_coverage(negatives, positives))
