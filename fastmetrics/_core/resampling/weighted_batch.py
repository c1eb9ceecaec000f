"""Batches of replicates of weighted rows.

Kernels sum for all replicates at once, if sums of all weights fit 128 bits: words of the kernel, in units of the scale,
as arrays (class, word, replicate) with low words first. Weights that lie further apart are read replicate by replicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from fastmetrics._core.exact import integer_sum, new_states, to_integer
from fastmetrics._core.exchange.range_exchange import scores_of_keys
from fastmetrics._core.exchange.runs import (
    ClassTotals,
    CurvePoint,
    Cut,
    Masses,
    RangePosition,
    Runs,
    signed_integer,
    to_words,
    weighted_precision,
)
from fastmetrics._core.exchange.weighted_ranges import MOST_LIMBS, WeightScale
from fastmetrics._core.exchange.weighted_sweep import WeightedRuns, in_units
from fastmetrics._core.parallel import computed_once
from fastmetrics._core.resampling.replicate_batch import (
    REPLICATES_PER_BATCH,
    DescendingRange,
    DescendingRows,
    ReplicateBatchWeights,
    ReplicatedRange,
    totals_of_counts,
)
from fastmetrics._kernels.resampling import weighted_replicates as kernels

MOST_UNCERTAIN = 256  # precisions that a kernel may leave to Python's integers at a time
LEAST_UNIT = -500  # all totals of weights that are multiples of 2**LEAST_UNIT are at least `exact.TINY_TOTAL`


def new_sums() -> np.ndarray:
    """Sums of the weights of each class in every replicate: low and high words."""
    return np.zeros((2, 2, REPLICATES_PER_BATCH), np.uint64)


class WeightedTotals:
    """The weights of rows in every replicate of a batch, added bucket by bucket."""

    def __init__(self, weights: ReplicateBatchWeights, scale: WeightScale) -> None:
        self.weights = weights
        self.scale = scale
        self.sums = new_sums()
        self.integers = [ClassTotals(0, 0)] * weights.n  # where weights lie too far apart

    def add(self, rows: DescendingRows) -> None:
        if self.scale.n_limbs <= MOST_LIMBS:
            kernels.add_rows(rows.codes, rows.row_weights, *self.scale, self.weights.table, self.sums)
            return
        is_positive = rows.is_positive
        for replicate, so_far in enumerate(self.integers):
            times = rows.times(self.weights.table[:, replicate])
            by_class = (np.repeat(rows.row_weights, times * of_class) for of_class in (~is_positive, is_positive))
            self.integers[replicate] = so_far.plus(ClassTotals(0, 0, *map(integer_sum, by_class)))

    def totals(self, rows: Iterable[ClassTotals]) -> list[ClassTotals]:
        """The totals of every replicate, which has these rows."""
        if self.scale.n_limbs > MOST_LIMBS:
            return [own.plus(weights) for own, weights in zip(rows, self.integers, strict=True)]
        shift = self.scale.shift
        words = self.sums.transpose(2, 0, 1).tolist()  # those of columns without a replicate are 0
        by_class = ([words_to_integer(own) << shift for own in of_replicate] for of_replicate in words)
        return [ClassTotals(*own.rows, *weights) for own, weights in zip(rows, by_class, strict=False)]


class WeightedRange(ReplicatedRange):
    """Rows with weights; `positions` are those of the range in every replicate."""

    def __init__(
        self,
        rows: DescendingRange,
        weights: ReplicateBatchWeights,
        scale: WeightScale,
        positions: Sequence[RangePosition],
    ) -> None:
        self.rows = rows
        self.weights = weights
        self.scale = scale
        self.positions = positions

    @computed_once
    def totals(self) -> list[ClassTotals]:
        sums = WeightedTotals(self.weights, self.scale)
        for own in self.rows.buckets:
            sums.add(own)
        return sums.totals(totals_of_counts(self.rows.counts, self.weights))

    def runs(self, replicate: int, position: RangePosition, cut: Cut) -> Runs:
        if self.scale.n_limbs <= MOST_LIMBS:
            return WeightedReplicateRuns(self, replicate, cut)
        column = self.weights.table[:, replicate]
        return WeightedRuns(self.scale, cut, partial(self.rows.repeat_weighted, column, self.scale))

    def to_sums(self, totals: Iterable[ClassTotals]) -> np.ndarray:
        """Weights of every replicate as words."""
        sums = new_sums()
        for replicate, own in enumerate(totals):
            sums[:, :, replicate] = to_words(*in_units(self.scale, *own[2:]))
        return sums

    @property
    def all_rows(self) -> np.ndarray:
        return self.to_sums(position.totals for position in self.positions)

    @property
    def above(self) -> np.ndarray:
        return self.to_sums(position.above for position in self.positions)

    @computed_once
    def extremes(self) -> list[tuple[int, int]]:
        """`Runs.extremes` of every replicate."""
        totals, state = self.all_rows, np.zeros((REPLICATES_PER_BATCH, kernels.EXTREME_STATE_WORDS), np.uint64)
        for own in self.rows.buckets:
            kernels.sweep_extremes(own.codes, own.row_weights, *self.scale, self.weights.table, totals, state)
        shift = 2 * self.scale.shift
        return [(signed_integer(own[4:8]) << shift, signed_integer(own[8:]) << shift) for own in state]

    @computed_once
    def crossings(self) -> list[list[int]]:
        """The weights of each class at the points before and after the crossing of the rates."""
        totals, above = self.all_rows, self.above
        state = np.zeros((REPLICATES_PER_BATCH, kernels.CROSSING_STATE_WORDS), np.uint64)
        for own in self.rows.buckets:
            kernels.sweep_crossing(own.codes, own.row_weights, *self.scale, self.weights.table, totals, above, state)
        shift = self.scale.shift
        return [[words_to_integer(own[word : word + 2]) << shift for word in (0, 2, 4, 6)] for own in state.tolist()]

    @computed_once
    def pairs(self) -> list[int]:
        """`Runs.pairs` of every replicate."""
        above, state = new_sums(), np.zeros((REPLICATES_PER_BATCH, kernels.PAIR_STATE_WORDS), np.uint64)
        for own in self.rows.buckets:
            kernels.sweep_pairs(own.codes, own.row_weights, *self.scale, self.weights.table, above, state)
        return [words_to_integer(own) << 2 * self.scale.shift for own in state.tolist()]

    @computed_once
    def precisions(self) -> list[int]:
        """`Runs.precisions` of every replicate."""
        above, sums = self.above, new_states(REPLICATES_PER_BATCH)
        rest = [0] * REPLICATES_PER_BATCH  # the terms that the kernel leaves to Python's integers
        terms = np.empty((REPLICATES_PER_BATCH, kernels.TERMS_PER_REPLICATE))
        uncertain = np.empty((MOST_UNCERTAIN, kernels.UNCERTAIN_SIZE), np.uint64)
        for own in self.rows.buckets:
            next_row = 0
            while next_row < own.codes.shape[0]:
                next_row, n = kernels.sweep_precisions(
                    own.codes, own.row_weights, next_row, *self.scale, self.weights.table, above, terms, sums,
                    uncertain,
                )  # fmt: skip
                for replicate, *words in uncertain[:n].tolist():
                    weights = (words_to_integer(words[word : word + 2]) << self.scale.shift for word in (0, 2, 4))
                    rest[replicate] += weighted_precision(*weights)
        return [to_integer(of_replicate) + more for of_replicate, more in zip(sums, rest, strict=True)]


class WeightedReplicateRuns(WeightedRuns):
    """The runs of one replicate of weighted rows. The points of the crossing have no scores."""

    def __init__(self, of_batch: WeightedRange, replicate: int, cut: Cut) -> None:
        column = of_batch.weights.table[:, replicate]
        super().__init__(of_batch.scale, cut, partial(of_batch.rows.repeat_weighted, column, of_batch.scale))
        self.of_batch = of_batch
        self.replicate = replicate

    @property
    def totals(self) -> ClassTotals:
        return self.of_batch.totals[self.replicate]

    def lowest_score(self) -> float:
        column = self.of_batch.weights.table[:, self.replicate]
        return float(scores_of_keys(self.of_batch.rows.lowest_key(column))[0])

    def extremes(self, totals: Masses) -> tuple[int, int]:
        if totals == self.of_batch.positions[self.replicate].totals[2:]:
            return self.of_batch.extremes[self.replicate]
        return super().extremes(totals)

    def crossing(self, position: RangePosition) -> tuple[CurvePoint, CurvePoint]:
        fps_before, tps_before, fps, tps = self.of_batch.crossings[self.replicate]
        return CurvePoint(fps_before, tps_before, None), CurvePoint(fps, tps, None)

    def precisions(self, position: RangePosition) -> int:
        if self.scale.unit < LEAST_UNIT:
            return super().precisions(position)
        return self.of_batch.precisions[self.replicate]

    def pairs(self) -> int:
        return self.of_batch.pairs[self.replicate]


def words_to_integer(words: Sequence[int]) -> int:
    """An integer of words of 64 bits, the lowest first."""
    return sum(word << 64 * place for place, word in enumerate(words))
