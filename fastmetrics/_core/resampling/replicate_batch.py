"""Batches of replicates: REPLICATES_PER_BATCH replicates are computed together, in one pass over the rows.

These types are shared by the sweep over the rows (`range_replicates.py`) and by the statistics. `SerialReplicates` are
computed one by one, from rows repeated as often as the replicate's weights. They are for statistics without a
`replicate_batch`, for replicates that are too large for it, and for rows that have weights of their own. A row that
gets weight k in a replicate occurs k times there. The repeated rows go to the same methods of the statistic as the rows
of a log. So the state of a replicate is exactly that of the repeated rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from fastmetrics._core.exact import EXPONENT, integer_sum
from fastmetrics._core.exchange.sorted_rows import sweep_of_sorted
from fastmetrics._core.exchange.threshold_sweep import NO_ROWS, ClassTotals, RangePosition, sweep_of_tie
from fastmetrics._core.exchange.weighted_ranges import WeightScale, rows_of_classes
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.resampling import poisson_weights, score_replicates

REPLICATES_PER_BATCH: int = score_replicates.REPLICATES_PER_BATCH
SMALL_ROWS = 1 << 32
ROWS_PER_STEP = 1 << 12  # of weighted rows whose digits are added before they become Python integers
MANTISSA_BITS = 53
LIMB_BITS = 32
LIMB_MASK = (1 << LIMB_BITS) - 1
LOWEST_SHIFT = 64  # makes the exponents of all mantissas positive


class ReplicateBatchWeights(NamedTuple):
    """The weights of a batch: one row per unit bucket, one column per replicate.

    `n` is the number of replicates; columns beyond it are 0. `max_weight` is at least 1.
    """

    table: np.ndarray
    max_weight: int
    n: int


class ReplicateBatchTotals:
    """Rows of each class in every replicate of a batch, computed at the first use.

    `count()` returns the rows of each class in every unit bucket.
    """

    def __init__(self, count: Callable[[], np.ndarray], weights: ReplicateBatchWeights) -> None:
        self.count = count
        self.weights = weights
        self.totals: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray:
        """int64[2, REPLICATES_PER_BATCH]: negatives, positives."""
        if self.totals is None:
            self.totals = np.zeros((2, REPLICATES_PER_BATCH), np.int64)
            score_replicates.replicate_totals(self.weights.table, self.count(), self.totals)
        return self.totals

    @property
    def are_small(self) -> bool:
        """Has every replicate fewer than 2**32 rows? Then a product of two counts has at most 62 bits."""
        return int(self.rows.sum(0).max()) < SMALL_ROWS


class DescendingRows(NamedTuple):
    """The rows of a bucket in descending order of score (replicate_batch.h).

    `classes` is for `SerialReplicates`: unit buckets, ascending keys and, if rows have weights, weights of the
    negatives and of the positives. With weights the other fields are empty.
    """

    codes: np.ndarray
    segments: np.ndarray
    classes: tuple[tuple[np.ndarray, ...], ...] = ()


class ReplicateBatch(Protocol):
    """The replicates of one statistic in a batch. They get all rows in descending order of score."""

    def sweep(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> None:
        """Add the rows of a bucket, all below those added so far."""
        ...

    def add_tie(self, keys: np.ndarray, tied_counts: np.ndarray) -> None:
        """Add rows that all have one score: tied_counts[label, replicate]."""
        ...

    def states(self, n: int) -> list[Any]:
        """The states of the first n replicates."""
        ...


class SerialReplicates:
    """The replicates of one statistic in a batch, each computed by itself. It has the methods of ReplicateBatch.

    Parameters
    ----------
    statistic : ScoreStatistic
        The statistic.
    totals : ReplicateBatchTotals
        Rows of each class in every replicate.
    n : int
        The number of replicates.
    scale : WeightScale or None
        The scale of the rows' weights; None for rows without weights.
    """

    def __init__(self, statistic: Any, totals: ReplicateBatchTotals, n: int, scale: WeightScale | None) -> None:
        self.statistic = statistic
        self.totals = totals
        self.n = n
        self.scale = scale
        self.state_of_replicate: list[Any] = [None] * n
        self.above = [NO_ROWS] * n
        self.total_weights = [NO_ROWS] * n  # with weights of rows: filled by add_weight_totals
        self.tied = [NO_ROWS] * n

    @property
    def needs_weight_totals(self) -> bool:
        """Must the weights of all rows be known before the first sweep?"""
        return self.scale is not None and bool(self.statistic.needs_position)

    def position(self, replicate: int) -> RangePosition:
        """The position of the next rows of a replicate."""
        if self.scale is not None:
            return RangePosition(self.total_weights[replicate], self.above[replicate])
        negatives, positives = self.totals.rows[:, replicate].tolist()
        return RangePosition(ClassTotals(negatives, positives), self.above[replicate])

    def add_state(self, replicate: int, state: Any, totals: ClassTotals) -> None:
        """Merge the state of a range that lies below all others so far."""
        high = self.state_of_replicate[replicate]
        if high is not None:
            state = self.statistic.merge(state, high, self.position(replicate).totals)
        self.state_of_replicate[replicate] = state
        self.above[replicate] = self.above[replicate].plus(totals)

    def count(self, classes: list[tuple[np.ndarray, ...]]) -> ClassTotals:
        """The totals of repeated rows; the weights only if they are needed."""
        weights = (integer_sum(of_class[1]) for of_class in classes) if self.needs_weight_totals else ()
        return ClassTotals(*(len(of_class[0]) for of_class in classes), *weights)

    def sweep(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> None:
        if hasattr(self.statistic, "from_weighted_totals") and self.needs_weight_totals:
            replicates = self.sweep_totals(rows, weights)
        else:
            replicates = list(range(self.n))
        for replicate in replicates:
            classes = repeat_classes(rows, weights, replicate)
            totals = self.count(classes)
            if totals.negatives == totals.positives == 0:
                continue
            position = self.position(replicate)
            if self.scale is None:
                keys = np.concatenate([of_class[0] for of_class in classes])
                state = self.statistic.from_sweep(sweep_of_sorted(keys, totals, self.statistic), position)
            else:
                negatives, positives = ((of_class[0], of_class[1]) for of_class in classes)
                state = self.statistic.from_weighted_rows(rows_of_classes(negatives, positives, self.scale), position)
            self.add_state(replicate, state, totals)

    def sweep_totals(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> list[int]:
        """Add a bucket of weighted rows to the replicates that need only its totals; return the other replicates."""
        others = []
        for replicate, totals in enumerate(weighted_totals(rows, weights)[: self.n]):
            if totals.negatives == totals.positives == 0:
                continue
            state = self.statistic.from_weighted_totals(totals, self.position(replicate))
            if state is None:
                others.append(replicate)
            else:
                self.add_state(replicate, state, totals)
        return others

    def add_weight_totals(self, buckets: list[DescendingRows], weights: ReplicateBatchWeights) -> None:
        """Add the weights of rows to the totals of every replicate, before the first sweep."""
        if not self.needs_weight_totals:
            return
        for rows in buckets:
            totals = weighted_totals(rows, weights)[: self.n]
            self.total_weights = [sums.plus(more) for sums, more in zip(self.total_weights, totals, strict=True)]

    def add_tie(self, keys: np.ndarray, tied_counts: np.ndarray) -> None:
        """Add rows without weights that all have one score: tied_counts[label, replicate]."""
        for replicate in range(self.n):
            tied = ClassTotals(*tied_counts[:, replicate].tolist())
            if tied != NO_ROWS:
                state = self.statistic.from_sweep(sweep_of_tie(keys, tied), self.position(replicate))
                self.add_state(replicate, state, tied)

    def add_tied_rows(
        self,
        labels: np.ndarray,
        row_weights: np.ndarray,
        unit_buckets: np.ndarray,
        weights: ReplicateBatchWeights,
        only_totals: bool,
    ) -> None:
        """Add some weighted rows of a tie that is loaded block by block, or only their weights to the totals."""
        sums = self.total_weights if only_totals else self.tied
        for replicate in range(self.n):
            repeats = weights.table[unit_buckets, replicate]
            repeated_labels, repeated_weights = np.repeat(labels, repeats), np.repeat(row_weights, repeats)
            classes = [repeated_weights[repeated_labels == label] for label in (0, 1)]
            totals = ClassTotals(*map(len, classes), *map(integer_sum, classes))
            sums[replicate] = sums[replicate].plus(totals)

    def end_tie(self, score: float) -> None:
        """Make the state of the tie whose rows were added."""
        for replicate, tied in enumerate(self.tied):
            if tied != NO_ROWS:
                state = self.statistic.from_weighted_tie(score, tied, self.position(replicate))
                self.add_state(replicate, state, tied)
        self.tied = [NO_ROWS] * self.n

    def states(self, n: int) -> list[Any]:
        return [self.statistic.empty() if state is None else state for state in self.state_of_replicate[:n]]


def weighted_totals(rows: DescendingRows, weights: ReplicateBatchWeights) -> list[ClassTotals]:
    """The rows and the weights of each class that every replicate of a batch has in a bucket, in one pass."""
    sums = [weighted_sums(of_class[0], of_class[-1], weights) for of_class in rows.classes]
    (negatives, negative_weights), (positives, positive_weights) = sums
    return [
        ClassTotals(*totals)
        for totals in zip(negatives, positives, negative_weights, positive_weights, strict=True)
    ]


def weighted_sums(
    unit_buckets: np.ndarray, row_weights: np.ndarray, weights: ReplicateBatchWeights
) -> tuple[list[int], list[int]]:
    """The rows of every replicate of a batch, and the sums of their weights times 2**EXPONENT."""
    counts, totals = [0] * REPLICATES_PER_BATCH, [0] * REPLICATES_PER_BATCH
    for start in range(0, row_weights.shape[0], ROWS_PER_STEP):
        own_buckets = unit_buckets[start : start + ROWS_PER_STEP].astype(np.int32)
        values, exponents = split_weights(row_weights[start : start + ROWS_PER_STEP])
        sums = np.zeros((values.shape[1], REPLICATES_PER_BATCH), np.int64)
        columns = np.arange(values.shape[1])
        poisson_weights.add_weighted_states(weights.table, own_buckets, values, columns, sums)
        counts = [count + more for count, more in zip(counts, sums[0].tolist(), strict=True)]
        for exponent, limbs in zip(exponents, sums[1:].tolist(), strict=True):
            totals = [total + (limb << exponent) for total, limb in zip(totals, limbs, strict=True)]
    # Exponents count from the least bit of a mantissa, 53 bits below the least number.
    return counts, [total >> LOWEST_SHIFT for total in totals]


def split_weights(row_weights: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Rows of int64: 1, then the digits of the row's weight in base 2**32 at the exponents that are returned.

    The sum of digit * 2**exponent is the weight times 2**(EXPONENT + LOWEST_SHIFT). Digits are below 2**33.
    """
    fractions, powers = np.frexp(row_weights)
    mantissas = np.ldexp(fractions, MANTISSA_BITS).astype(np.int64)
    shifts = powers + (EXPONENT + LOWEST_SHIFT - MANTISSA_BITS)
    places, bits = shifts // LIMB_BITS, shifts % LIMB_BITS
    first = int(places.min())
    low = (mantissas & LIMB_MASK) << bits
    high = (mantissas >> LIMB_BITS) << bits
    values = np.zeros((row_weights.shape[0], int(places.max()) - first + 4), np.int64)
    values[:, 0] = 1
    rows = np.arange(row_weights.shape[0])
    values[rows, places - first + 1] = low & LIMB_MASK
    values[rows, places - first + 2] = (low >> LIMB_BITS) + (high & LIMB_MASK)
    values[rows, places - first + 3] = high >> LIMB_BITS
    return values, [LIMB_BITS * (first + number) for number in range(values.shape[1] - 1)]


def repeat_classes(
    rows: DescendingRows, weights: ReplicateBatchWeights, replicate: int
) -> list[tuple[np.ndarray, ...]]:
    """The rows of each class that one replicate has in a bucket: ascending keys and, if rows have weights, weights."""
    classes = []
    for unit_buckets, *columns in rows.classes:
        repeats = weights.table[unit_buckets, replicate]
        classes.append(tuple(np.repeat(column, repeats) for column in columns))
    return classes
