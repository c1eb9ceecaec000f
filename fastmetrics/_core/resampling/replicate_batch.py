"""Batches of replicates: REPLICATES_PER_BATCH replicates are computed together, in one pass over the rows.

These types are shared by the sweep over the rows (`range_replicates.py`), by the replicates that are computed one by
one (`serial_replicates.py`) and by the statistics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from fastmetrics._kernels.resampling import score_replicates

REPLICATES_PER_BATCH: int = score_replicates.REPLICATES_PER_BATCH
SMALL_ROWS = 1 << 32


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
