"""Scores in a bounded number of bins: what an approximate state keeps of them, and certified bounds from it.

A bin is a prefix of the score's ordered bits, so bins are fine where scores are close together, whatever their scale.
Only bins that hold rows are kept. When there are more than the state may hold, the last bit of all prefixes is dropped.
How many bits remain is decided by the scores alone, not by the order in which they came or were merged.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from fastmetrics._core.by_score import ordered_keys

BIN_BYTES = 24  # a prefix and two counts
MOST_CELLS = 1 << 16  # of a table in which prefixes are counted
KEY_BITS = 64  # of an ordered score; float32 has the lower half of them


def first_of_each(ordered: np.ndarray) -> np.ndarray:
    """Where each value of an ordered array begins."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(ordered) else np.empty(0, np.int64)


class ScoreHistogram:
    """Rows by class in bins of neighbouring scores, in ascending order.

    Parameters
    ----------
    capacity : int
        The most bins that are kept.
    """

    __slots__ = ("capacity", "counts", "prefixes", "shift")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.shift = 0
        self.prefixes: np.ndarray = np.empty(0, np.uint64)
        self.counts: np.ndarray = np.empty((0, 2), np.int64)

    @property
    def is_exact(self) -> bool:
        """Is every bin a single score?"""
        return self.shift == 0

    def add(self, labels: np.ndarray, scores: np.ndarray) -> None:
        """Take in checked rows; all scores of a histogram have one type."""
        keys = ordered_keys(scores).astype(np.uint64, copy=False) >> np.uint64(self.shift)
        low = keys.min() if len(keys) else np.uint64(0)
        if len(keys) and int(keys.max() - low) < MOST_CELLS:
            # Once prefixes are short they stand close together, and are counted without sorting.
            cells = np.bincount(2 * (keys - low).astype(np.int64) + labels).astype(np.int64)
            table = np.append(cells, 0)[: len(cells) + len(cells) % 2].reshape(-1, 2)
            present = np.flatnonzero(table.any(axis=1))
            self.set_bins(
                np.concatenate((self.prefixes, low + present.astype(np.uint64))),
                np.concatenate((self.counts, table[present])),
            )
            return
        positive = labels.view(bool)
        prefixes, counts = [self.prefixes], [self.counts]
        for label, own in enumerate((keys[~positive], keys[positive])):
            own.sort()
            edges = first_of_each(own)
            own_counts = np.zeros((len(edges), 2), np.int64)
            own_counts[:, label] = np.diff(np.append(edges, len(own)))
            prefixes.append(own[edges])
            counts.append(own_counts)
        self.set_bins(np.concatenate(prefixes), np.concatenate(counts))

    def merge(self, other: ScoreHistogram) -> None:
        """Take in the rows of another histogram of the same capacity; the other stays as it is."""
        shift = max(self.shift, other.shift)
        prefixes = [own.prefixes >> np.uint64(shift - own.shift) for own in (self, other)]
        counts = np.concatenate((self.counts, other.counts))
        self.shift = shift
        self.set_bins(np.concatenate(prefixes), counts)

    def copy(self) -> ScoreHistogram:
        """Bins are never changed in place, so they are shared."""
        new = ScoreHistogram(self.capacity)
        new.shift, new.prefixes, new.counts = self.shift, self.prefixes, self.counts
        return new

    def set_bins(self, prefixes: np.ndarray, counts: np.ndarray) -> None:
        """Equal prefixes become one bin; bits are dropped until the bins fit."""
        order = np.argsort(prefixes, kind="stable")
        prefixes, counts = prefixes[order], counts[order]
        steps = prefixes[1:] ^ prefixes[:-1]  # zero where two prefixes are, or become, one

        def fits(bits: int) -> bool:
            return int(np.count_nonzero(steps >> np.uint64(bits))) < self.capacity

        dropped = bisect_left(range(KEY_BITS), True, key=fits)
        prefixes = prefixes >> np.uint64(dropped)
        self.shift += dropped
        edges = first_of_each(prefixes)
        self.prefixes = prefixes[edges] if len(prefixes) else prefixes
        self.counts = np.add.reduceat(counts, edges, axis=0) if len(prefixes) else counts

    def bins(self) -> list[tuple[int, int]]:
        """(negatives, positives) of every bin, in ascending order of score, as Python integers: products have room."""
        return [(negatives, positives) for negatives, positives in self.counts.tolist()]
