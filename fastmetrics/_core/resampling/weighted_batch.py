"""Batches of replicates of weighted rows, whose weights fit sums of 128 bits.

The statistics that sweep such a batch are subclasses of `WeightedReplicates`; they return one from their method
`weighted_replicates`. Other statistics, and weights that lie further apart, are computed replicate by replicate
(`replicate_batch.SerialReplicates`). Sums are words of the kernel, in units of the scale: arrays (class, word,
replicate), with low words first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from fastmetrics._core.exchange.weighted_ranges import WeightScale
from fastmetrics._core.resampling.replicate_batch import (
    REPLICATES_PER_BATCH,
    DescendingRows,
    ReplicateBatchTotals,
    ReplicateBatchWeights,
)
from fastmetrics._kernels.resampling import score_replicates
from fastmetrics._kernels.resampling import weighted_replicates as kernels


class WeightedReplicates(ABC):
    """The replicates of one statistic in a batch, swept together. It has the methods of `SerialReplicates`.

    Parameters
    ----------
    totals : ReplicateBatchTotals
        Rows of each class in every replicate.
    scale : WeightScale
        The scale of the rows' weights, which a sum of 128 bits can hold.
    """

    words = 0  # of the kernel's state of a replicate
    needs_weight_totals = False  # must the weights of all rows be known before the first sweep?

    def __init__(self, totals: ReplicateBatchTotals, scale: WeightScale) -> None:
        self.totals = totals
        self.scale = scale
        self.above, self.all_rows, self.tied = np.zeros((3, 2, 2, REPLICATES_PER_BATCH), np.uint64)
        self.state = np.zeros((REPLICATES_PER_BATCH, self.words), np.uint64)

    def add_rows(self, rows: DescendingRows, weights: ReplicateBatchWeights, sums: np.ndarray) -> None:
        kernels.add_rows(rows.codes, rows.row_weights, *self.scale, weights.table, sums)

    def add_weight_totals(self, buckets: list[DescendingRows], weights: ReplicateBatchWeights) -> None:
        """Add the weights of rows to the totals of every replicate, before the first sweep."""
        if self.needs_weight_totals:
            for rows in buckets:
                self.add_rows(rows, weights, self.all_rows)

    def add_tied_rows(
        self,
        labels: np.ndarray,
        row_weights: np.ndarray,
        unit_buckets: np.ndarray,
        weights: ReplicateBatchWeights,
        only_totals: bool,
    ) -> None:
        """Add some rows of a tie that is loaded block by block, or only their weights to the totals."""
        if only_totals and not self.needs_weight_totals:
            return
        codes = np.where(labels, unit_buckets | score_replicates.POSITIVE_FLAG, unit_buckets).astype(np.uint16)
        rows = DescendingRows(codes, row_weights=row_weights)
        self.add_rows(rows, weights, self.all_rows if only_totals else self.tied)

    def end_tie(self, score: float) -> None:
        """Make the state of the tie whose rows were added."""
        self.add_tie_of_sums()
        self.tied[:] = 0

    def states(self, n: int) -> list[Any]:
        """The states of the first n replicates."""
        rows = zip(*self.totals.rows[:, :n].tolist(), strict=True)
        return [self.state_of(replicate, counts) for replicate, counts in enumerate(rows)]

    def weights_of(self, sums: np.ndarray, replicate: int) -> tuple[int, int]:
        """The weights of the negatives and of the positives of a replicate, in the fixed unit."""
        negatives, positives = sums[:, :, replicate].tolist()
        return self.to_weight(negatives), self.to_weight(positives)

    def to_weight(self, words: list[int]) -> int:
        """A weight in the fixed unit."""
        return words_to_integer(words) << self.scale.shift

    @abstractmethod
    def sweep(self, rows: DescendingRows, weights: ReplicateBatchWeights) -> None:
        """Add the rows of a bucket, all below those added so far."""

    @abstractmethod
    def add_tie_of_sums(self) -> None:
        """Add a tie with the sums `tied`."""

    @abstractmethod
    def state_of(self, replicate: int, rows: tuple[int, int]) -> Any:
        """The state of a replicate that has so many negatives and positives."""


def words_to_integer(words: list[int]) -> int:
    """An integer of words of 64 bits, the lowest first."""
    return sum(word << 64 * place for place, word in enumerate(words))
