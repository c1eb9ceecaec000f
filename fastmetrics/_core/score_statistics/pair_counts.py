"""Pairs won in global order: the score statistic of AUC, for all rows and for one giant group alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastmetrics._core import weighted
from fastmetrics._core.by_score import ScoreBuckets
from fastmetrics._core.exact import divide
from fastmetrics._core.histogram import ScoreHistogram
from fastmetrics._core.statistic import Statistic, Value
from fastmetrics._core.steps import ClassTotals, Place, Steps
from fastmetrics._core.weighted import WeightedPairs, WeightedRows
from fastmetrics._kernels import ranksum, scorereplicates
from fastmetrics._kernels import steps as kernels

if TYPE_CHECKING:
    from fastmetrics._core.score_replicates import FallingRows, LaneTotals, LaneWeights

NO_POSITIVE = "there is no positive row"
NO_NEGATIVE = "there is no negative row"
NO_WEIGHT = "every weight is zero"


class PairCounts(NamedTuple):
    """Rows of each class, and twice the pairs (positive, negative) the positive won, ties counting once."""

    negatives: int
    positives: int
    wins: int


class PairsWon(Statistic):
    """Pairs inside a range of scores; between ranges, whole numbers are multiplied."""

    __slots__ = ()
    needs_place = False
    needs_positives = False

    def empty(self) -> PairCounts:
        return PairCounts(0, 0, 0)

    def of_steps(self, steps: Steps, place: Place) -> PairCounts:
        own = steps.counts
        pairs = np.zeros(2, np.uint64)
        kernels.steps_pairs(steps.own, steps.ties, steps.gaps, steps.own.shape[0], steps.pivot, pairs)
        low, high = pairs.tolist()
        return PairCounts(own.negatives, own.positives, low + (high << 64))

    def of_weighted(self, rows: WeightedRows, place: Place) -> WeightedPairs:
        return weighted.count_weighted(*rows.negatives, *rows.positives, rows.scale)

    def of_weighted_tie(self, score: float, own: ClassTotals, place: Place) -> WeightedPairs:
        weights = own.negative_weight, own.positive_weight
        return WeightedPairs((own.negatives, own.positives), weights, weights[0] * weights[1])

    def merge(
        self, low: PairCounts | WeightedPairs, high: PairCounts | WeightedPairs, totals: ClassTotals
    ) -> PairCounts | WeightedPairs:
        if isinstance(low, WeightedPairs) and isinstance(high, WeightedPairs):
            return weighted.merge(low, high)
        if isinstance(low, WeightedPairs) or isinstance(high, WeightedPairs):
            raise TypeError("ranges with weights and without do not merge")
        wins = low.wins + high.wins + 2 * low.negatives * high.positives
        return PairCounts(low.negatives + high.negatives, low.positives + high.positives, wins)

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

    def lanes(self, totals: LaneTotals) -> PairLanes:
        """A block of replicates, side by side; without weights."""
        return PairLanes()

    def counter(self, buckets: ScoreBuckets) -> Callable[[int], PairCounts]:
        """One thread's way from a bucket to its pairs, where they alone are wanted; without weights."""
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


class PairLanes:
    """Pairs won of a block of replicates: every negative has lost to the positives above it."""

    def __init__(self) -> None:
        self.state = np.zeros((4, scorereplicates.ABREAST), np.int64)

    def walk(self, rows: FallingRows, weights: LaneWeights) -> None:
        scorereplicates.pairs_walk(
            rows.codes, rows.segments, rows.segments.shape[0], weights.table, weights.most, self.state
        )

    def tie(self, keys: np.ndarray, own: np.ndarray) -> None:
        scorereplicates.pairs_tie(own, self.state)

    def states(self, n: int) -> list[PairCounts]:
        negatives, positives = self.state[:2, :n].tolist()
        low, high = self.state.view(np.uint64)[2:, :n].tolist()
        wins = (one + (other << 64) for one, other in zip(low, high, strict=True))
        return [PairCounts(*own) for own in zip(negatives, positives, wins, strict=True)]


def pair_coverage(negatives: int, positives: int) -> dict[str, Any]:
    return {"rows": negatives + positives, "positives": positives}


def why_undefined(negatives: int, positives: int) -> str | None:
    if positives == negatives == 0:
        return NO_WEIGHT
    if positives == 0:
        return NO_POSITIVE
    return NO_NEGATIVE if negatives == 0 else None


def finalise_pairs(state: PairCounts | WeightedPairs) -> Value:
    """Won pairs over all pairs."""
    if isinstance(state, WeightedPairs):
        negatives, positives = state.rows
    else:
        negatives, positives = state.negatives, state.positives
    reason = why_undefined(negatives, positives)
    if reason:
        return Value(float("nan"), pair_coverage(negatives, positives), reason)
    if isinstance(state, WeightedPairs):
        value = weighted.pair_share(state)
    else:
        value = divide(state.wins, 2 * negatives * positives)
    return Value(value, pair_coverage(negatives, positives))
