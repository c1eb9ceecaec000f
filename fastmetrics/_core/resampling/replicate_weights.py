"""The weights of unit buckets in all replicates: drawn once and kept, or drawn at each use if they are too many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.resampling.resampling_units import CACHED_WEIGHT_BYTES, UnitBuckets, draw_weights


class ReplicateWeights:
    """The weights of all unit buckets in all replicates, drawn at the first use.

    If they are too many to keep, they are drawn at each use.
    """

    def __init__(self, unit_buckets: UnitBuckets, seed: int, replicates: int) -> None:
        self.unit_buckets = unit_buckets
        self.seed = seed
        self.replicates = replicates
        batch = max(1, min(replicates, CACHED_WEIGHT_BYTES // max(1, unit_buckets.n_buckets)))
        self.bounds = [*range(0, replicates, batch), replicates]
        self.drawing = Lock()
        self.kept: np.ndarray | None = None

    @property
    def cached(self) -> np.ndarray | None:
        """All weights; None if they are too many to keep."""
        if len(self.bounds) > 2:
            return None
        with self.drawing:
            if self.kept is None:
                self.kept = draw_weights(self.unit_buckets, self.seed, 0, self.replicates)
        return self.kept

    def of_buckets(self, where: slice) -> ReplicateWeights:
        """The weights of some unit buckets, which are numbered from 0."""
        own = self.unit_buckets._replace(keys=self.unit_buckets.keys[where])
        return ReplicateWeights(own, self.seed, self.replicates)

    def __reduce__(self) -> tuple[Any, ...]:
        """The weights are drawn again."""
        return type(self), (self.unit_buckets, self.seed, self.replicates)

    def by_replicate(self) -> Iterator[np.ndarray]:
        """The weights of all unit buckets, replicate by replicate."""
        cached = self.cached
        for first, stop in pairwise(self.bounds):
            table = draw_weights(self.unit_buckets, self.seed, first, stop) if cached is None else cached
            yield from (np.ascontiguousarray(table[:, number]) for number in range(stop - first))

    def batches(self, numbers: np.ndarray) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
        """The weights of some unit buckets, in batches of replicates.

        Yields the first replicate, the replicate to stop before, a table of weights, and for each of `numbers` the row
        of the table that has its weights.
        """
        cached = self.cached
        if cached is not None:
            yield 0, self.replicates, cached, numbers
            return
        used, rows = np.unique(numbers, return_inverse=True)
        used_buckets = self.unit_buckets._replace(keys=np.ascontiguousarray(self.unit_buckets.keys[used]))
        for first, stop in pairwise(self.bounds):
            yield first, stop, draw_weights(used_buckets, self.seed, first, stop), rows.astype(np.int32)
