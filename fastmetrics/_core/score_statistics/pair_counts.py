"""Pairs won: the score statistic of AUC, for all rows and for one large group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.slice_sets import SliceSet
from fastmetrics._core.exact import divide
from fastmetrics._core.exchange.range_exchange import ScoreBuckets
from fastmetrics._core.exchange.runs import (
    ClassTotals,
    RangePosition,
    Runs,
)
from fastmetrics._core.exchange.weighted_ranges import WeightedPairs, merge_pairs, weighted_auc
from fastmetrics._core.score_statistics.score_histogram import BoundedByOrder
from fastmetrics._core.score_statistics.slice_pairs import PairCounts, PairsWonBySlice
from fastmetrics._core.statistic import BySlices, CountsBuckets, Value
from fastmetrics._kernels.sweep import mann_whitney

if TYPE_CHECKING:
    from fastmetrics._core.score_statistics.score_classes import ClassMasses

NO_POSITIVE = "there is no positive row"
NO_NEGATIVE = "there is no negative row"
NO_WEIGHT = "every weight is zero"


class PairsWon(BoundedByOrder, BySlices, CountsBuckets):
    """Pairs won inside a range of scores. For pairs between two ranges, counts are multiplied."""

    __slots__ = ()
    needs_position = False

    def find(self, runs: Runs, position: RangePosition) -> PairCounts | WeightedPairs:
        wins = runs.pairs()
        totals = runs.totals
        weights = totals[2:]
        return WeightedPairs(totals.rows, weights, wins) if any(weights) else PairCounts(*totals.rows, wins)

    def merge(
        self, higher: PairCounts | WeightedPairs, lower: PairCounts | WeightedPairs, totals: ClassTotals
    ) -> PairCounts | WeightedPairs:
        if isinstance(higher, WeightedPairs) and isinstance(lower, WeightedPairs):
            return merge_pairs(higher, lower)
        if isinstance(higher, WeightedPairs) or isinstance(lower, WeightedPairs):
            raise TypeError("a range with weights cannot merge with a range without")
        wins = higher.wins + lower.wins + 2 * lower.negatives * higher.positives
        return PairCounts(higher.negatives + lower.negatives, higher.positives + lower.positives, wins)

    def by_slices(self, sets: Sequence[SliceSet]) -> PairsWonBySlice:
        """The pairs of all slices at once, without weights."""
        return PairsWonBySlice(sets)

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


def pair_coverage(negatives: int, positives: int) -> dict[str, Any]:
    return {"rows": negatives + positives, "positives": positives}


def undefined_reason(negatives: int, positives: int) -> str | None:
    """Why an AUC of so many rows is undefined; None if it is defined."""
    if positives == negatives == 0:
        return NO_WEIGHT
    if positives == 0:
        return NO_POSITIVE
    return NO_NEGATIVE if negatives == 0 else None


def finalize_pairs(state: PairCounts | WeightedPairs) -> Value:
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


def pair_influence(masses: ClassMasses) -> np.ndarray:
    """The share of rows of the other class that a row beats, ties half, less the area: placements (DeLong, 1988)."""
    negatives, positives = masses
    all_negatives, all_positives = negatives.sum(), positives.sum()
    beaten = masses.below(negatives) / all_negatives
    area = float((positives * beaten).sum() / all_positives)
    beats = 1 - masses.below(positives) / all_positives
    return np.stack((beats - area, beaten - area), axis=1)
