"""Pairs won: the score statistic of AUC, for all rows and for one large group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.slice_sets import SliceSet
from fastmetrics._core.exact import divide
from fastmetrics._core.exchange.range_exchange import ScoreBuckets
from fastmetrics._core.exchange.score_histogram import ScoreHistogram
from fastmetrics._core.exchange.threshold_sweep import ClassTotals, RangePosition, ThresholdSweep
from fastmetrics._core.exchange.weighted_ranges import (
    WeightedPairs,
    WeightedRows,
    WeightScale,
    merge_pairs,
    weighted_auc,
    weighted_pairs,
)
from fastmetrics._core.resampling.weighted_batch import WeightedReplicates, words_to_integer
from fastmetrics._core.score_statistics.slice_pairs import PairCounts, PairsWonBySlice
from fastmetrics._core.statistic import BySlices, Statistic, Value
from fastmetrics._kernels.resampling import score_replicates, weighted_replicates
from fastmetrics._kernels.sweep import mann_whitney
from fastmetrics._kernels.sweep import threshold_sweep as kernels

if TYPE_CHECKING:
    from fastmetrics._core.resampling.replicate_batch import DescendingRows, ReplicateBatchTotals, ReplicateBatchWeights

NO_POSITIVE = "there is no positive row"
NO_NEGATIVE = "there is no negative row"
NO_WEIGHT = "every weight is zero"


class PairsWon(BySlices, Statistic):
    """Pairs won inside a range of scores. For pairs between two ranges, counts are multiplied."""

    __slots__ = ()
    needs_position = False
    pivots_on_positives = False

    def empty(self) -> PairCounts:
        return PairCounts(0, 0, 0)

    def from_sweep(self, sweep: ThresholdSweep, position: RangePosition) -> PairCounts:
        totals = sweep.class_totals
        pairs = np.zeros(2, np.uint64)
        n = sweep.pivot_counts.shape[0]
        kernels.sweep_pairs(sweep.pivot_counts, sweep.tied_counts, sweep.between_counts, n, sweep.pivot, pairs)
        low, high = pairs.tolist()
        return PairCounts(totals.negatives, totals.positives, low + (high << 64))

    def from_weighted_rows(self, rows: WeightedRows, position: RangePosition) -> WeightedPairs:
        return weighted_pairs(rows)

    def from_weighted_tie(self, score: float, tied: ClassTotals, position: RangePosition) -> WeightedPairs:
        weights = tied.negative_weight, tied.positive_weight
        return WeightedPairs((tied.negatives, tied.positives), weights, weights[0] * weights[1])

    def merge(
        self, low: PairCounts | WeightedPairs, high: PairCounts | WeightedPairs, totals: ClassTotals
    ) -> PairCounts | WeightedPairs:
        if isinstance(low, WeightedPairs) and isinstance(high, WeightedPairs):
            return merge_pairs(low, high)
        if isinstance(low, WeightedPairs) or isinstance(high, WeightedPairs):
            raise TypeError("a range with weights cannot merge with a range without")
        wins = low.wins + high.wins + 2 * low.negatives * high.positives
        return PairCounts(low.negatives + high.negatives, low.positives + high.positives, wins)

    def bounds(self, histogram: ScoreHistogram) -> tuple[PairCounts, PairCounts]:
        """All pairs inside a bin lost, and all of them won. In a bin of a single score they are ties."""
        negatives = positives = wins = unknown = 0
        for bin_negatives, bin_positives in histogram.bins():
            wins += 2 * bin_positives * negatives
            unknown += bin_positives * bin_negatives
            negatives += bin_negatives
            positives += bin_positives
        if histogram.is_exact:
            return (PairCounts(negatives, positives, wins + unknown),) * 2
        return PairCounts(negatives, positives, wins), PairCounts(negatives, positives, wins + 2 * unknown)

    def by_slices(self, sets: Sequence[SliceSet]) -> PairsWonBySlice:
        """The pairs of all slices at once, without weights."""
        return PairsWonBySlice(sets)

    def replicate_batch(self, totals: ReplicateBatchTotals) -> PairReplicateBatch:
        """The replicates of a batch, without weights of rows."""
        return PairReplicateBatch()

    def weighted_replicates(self, totals: ReplicateBatchTotals, scale: WeightScale) -> WeightedPairReplicates:
        """The replicates of a batch of weighted rows."""
        return WeightedPairReplicates(totals, scale)

    def bucket_counter(self, buckets: ScoreBuckets) -> Callable[[int], PairCounts]:
        """A thread's function from a bucket to its pairs, without weights: faster than a sweep."""
        most_rare_rows = max(1, int(buckets.class_counts().min(axis=1).max()))
        counts = np.zeros((buckets.n_buckets, 2), np.int64)
        pairs = np.zeros((buckets.n_buckets, 2), np.uint64)
        key_type = buckets.key_type
        rare_keys = np.empty(most_rare_rows, key_type)
        scratch = np.empty(most_rare_rows, key_type)
        cells = np.empty(mann_whitney.MAX_TABLE_CELLS + 2, np.uint32)
        conflicts = np.empty(mann_whitney.MAX_CONFLICTS, key_type)

        def count(bucket: int) -> PairCounts:
            mann_whitney.count_bucket_pairs(
                buckets.addresses, buckets.offsets, bucket, bucket + 1, rare_keys, scratch, cells, conflicts, counts,
                pairs,
            )  # fmt: skip
            negatives, positives = counts[bucket].tolist()
            low, high = pairs[bucket].tolist()
            inside = low + (high << 64)
            if positives > negatives:
                # The kernel counts for the rarer class: these are the pairs that the negatives won.
                inside = 2 * positives * negatives - inside
            return PairCounts(negatives, positives, inside)

        return count


class PairReplicateBatch:
    """Pairs won in a batch of replicates: a negative row loses to the positives above it."""

    def __init__(self) -> None:
        self.state = np.zeros((4, score_replicates.REPLICATES_PER_BATCH), np.int64)

    def sweep(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> None:
        score_replicates.sweep_pairs(rows.codes, rows.segments, weights.table, weights.max_weight, self.state)

    def add_tie(self, keys: np.ndarray, tied_counts: np.ndarray) -> None:
        score_replicates.add_tied_pairs(tied_counts, self.state)

    def states(self, n: int) -> list[PairCounts]:
        negatives, positives = self.state[:2, :n].tolist()
        low, high = self.state.view(np.uint64)[2:, :n].tolist()
        wins = (one + (other << 64) for one, other in zip(low, high, strict=True))
        return [PairCounts(*counts) for counts in zip(negatives, positives, wins, strict=True)]


class WeightedPairReplicates(WeightedReplicates):
    """Pairs won in a batch of replicates of weighted rows."""

    words = weighted_replicates.PAIR_STATE_WORDS

    def sweep(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> None:
        weighted_replicates.sweep_pairs(
            rows.codes, rows.row_weights, *self.scale, weights.table, self.above, self.state
        )

    def add_tie_of_sums(self) -> None:
        weighted_replicates.add_tied_pairs(self.tied, self.above, self.state)

    def state_of(self, replicate: int, rows: tuple[int, int]) -> WeightedPairs:
        wins = words_to_integer(self.state[replicate].tolist()) << 2 * self.scale.shift
        return WeightedPairs(rows, self.weights_of(self.above, replicate), wins)


def pair_coverage(negatives: int, positives: int) -> dict[str, Any]:
    return {"rows": negatives + positives, "positives": positives}


def undefined_reason(negatives: int, positives: int) -> str | None:
    """Why an AUC of so many rows is undefined; None if it is defined."""
    if positives == negatives == 0:
        return NO_WEIGHT
    if positives == 0:
        return NO_POSITIVE
    return NO_NEGATIVE if negatives == 0 else None


def finalise_pairs(state: PairCounts | WeightedPairs) -> Value:
    """The AUC: pairs won divided by all pairs."""
    if isinstance(state, WeightedPairs):
        negatives, positives = state.rows
    else:
        negatives, positives = state.negatives, state.positives
    reason = undefined_reason(negatives, positives)
    if reason:
        return Value(float("nan"), pair_coverage(negatives, positives), reason)
    if isinstance(state, WeightedPairs):
        value = weighted_auc(state)
    else:
        value = divide(state.wins, 2 * negatives * positives)
    return Value(value, pair_coverage(negatives, positives))
