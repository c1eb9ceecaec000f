"""Pairs won in global order: the score statistic of AUC, for all rows and for one giant group alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastmetrics._core import weighted
from fastmetrics._core.by_score import ScoreBuckets
from fastmetrics._core.histogram import ScoreHistogram
from fastmetrics._core.score_runs import ClassTotals
from fastmetrics._core.statistic import Statistic
from fastmetrics._core.weighted import WeightedPairs, WeightScale
from fastmetrics._kernels import ranksum


class PairCounts(NamedTuple):
    """Rows of each class, and twice the pairs (positive, negative) the positive won, ties counting once."""

    negatives: int
    positives: int
    wins: int


class PairsWon(Statistic):
    """Pairs inside a range of scores; between ranges, whole numbers are multiplied."""

    __slots__ = ()
    needs_totals = False

    def empty(self) -> PairCounts:
        return PairCounts(0, 0, 0)

    def tie(self, own: ClassTotals, totals: ClassTotals, has_weights: bool) -> PairCounts | WeightedPairs:
        if has_weights:
            weights = own.negative_weight, own.positive_weight
            return WeightedPairs((own.negatives, own.positives), weights, weights[0] * weights[1])
        return PairCounts(own.negatives, own.positives, own.negatives * own.positives)

    def merge(
        self, low: PairCounts | WeightedPairs, high: PairCounts | WeightedPairs, totals: ClassTotals
    ) -> PairCounts | WeightedPairs:
        if isinstance(low, WeightedPairs) and isinstance(high, WeightedPairs):
            return weighted.merge(low, high)
        if isinstance(low, WeightedPairs) or isinstance(high, WeightedPairs):
            raise TypeError("ranges with weights and without do not merge")
        wins = low.wins + high.wins + 2 * low.negatives * high.positives
        return PairCounts(low.negatives + high.negatives, low.positives + high.positives, wins)

    def of_weighted(self, positive: np.ndarray, keys: np.ndarray, weights: np.ndarray) -> WeightedPairs:
        """The state of all rows at once, with weights; for what fits in cache."""
        scale = weighted.scale_of(weighted.span_of(weights))
        return weighted.count_weighted(keys[~positive], weights[~positive], keys[positive], weights[positive], scale)

    def bounds(self, histogram: ScoreHistogram) -> tuple[PairCounts, PairCounts]:
        """All pairs inside a bin lost, and all won; in a bin of one score they are ties."""
        negatives = positives = wins = unknown = 0
        for own_negatives, own_positives in histogram.bins():
            wins += 2 * own_positives * negatives
            unknown += own_positives * own_negatives
            negatives += own_negatives
            positives += own_positives
        if histogram.is_exact:
            return (PairCounts(negatives, positives, wins + unknown),) * 2
        return PairCounts(negatives, positives, wins), PairCounts(negatives, positives, wins + 2 * unknown)

    def counter(
        self, buckets: ScoreBuckets, totals: Callable[[int], ClassTotals], scale: WeightScale | None
    ) -> Callable[[int], PairCounts | WeightedPairs]:
        if scale is not None and buckets.weights is not None:
            return weighted_counter(buckets, buckets.weights, scale)
        largest_few = max(1, int(buckets.class_counts().min(axis=1).max()))
        counts = np.zeros((buckets.n_buckets, 2), np.int64)
        pairs = np.zeros((buckets.n_buckets, 2), np.uint64)
        key_type = buckets.key_type
        kernel = ranksum.bucket_pairs_u64 if buckets.double_scores else ranksum.bucket_pairs_u32
        few = np.empty(largest_few, key_type)
        scratch = np.empty(largest_few, key_type)
        cells = np.empty(ranksum.MOST_CELLS + 2, np.uint32)
        conflicts = np.empty(ranksum.MOST_CONFLICTS, key_type)

        def count(bucket: int) -> PairCounts:
            kernel(
                buckets.addresses, buckets.offsets, bucket, bucket + 1, few, scratch, cells, conflicts, counts, pairs
            )
            negatives, positives = counts[bucket].tolist()
            low, high = pairs[bucket].tolist()
            inside = low + (high << 64)
            if positives > negatives:
                # The kernel looked from the rarer class: these are the pairs the negatives won.
                inside = 2 * positives * negatives - inside
            return PairCounts(negatives, positives, inside)

        return count


def weighted_counter(
    buckets: ScoreBuckets, weights: list[np.ndarray], scale: WeightScale
) -> Callable[[int], WeightedPairs]:
    def count(bucket: int) -> WeightedPairs:
        negatives = buckets.of_class(buckets.keys, bucket, 0), buckets.of_class(weights, bucket, 0)
        positives = buckets.of_class(buckets.keys, bucket, 1), buckets.of_class(weights, bucket, 1)
        return weighted.count_weighted(*negatives, *positives, scale)

    return count
