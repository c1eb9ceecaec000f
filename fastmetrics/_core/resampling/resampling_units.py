"""Unit buckets: the weights of resampling are drawn for buckets of resampling units.

A resampling unit (a user, a row) is identified by the 64-bit hash of its key. With at most MAX_UNIT_BUCKETS different
units, each unit is a bucket. With more, a bucket has all units whose hashes begin with the same bits. The number of
different units in all rows decides between the two, so the buckets depend neither on the order of the rows nor on the
partitioning.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.resampling import poisson_weights

UNIT_BUCKET_BITS = 14
MAX_UNIT_BUCKETS = 1 << UNIT_BUCKET_BITS
HASH_BITS = 64
SAMPLED_UNITS, SAMPLED_SHARE = 1 << 13, 8  # at most, of more units than buckets
SAMPLED_HASHES = (1 << HASH_BITS) // SAMPLED_SHARE  # those below it may be in the sample
N_LEAST = 1 << 12
MOST_WAITING = 1 << 15
CACHED_WEIGHT_BYTES = 1 << 26  # at most so many weights are drawn once and kept


class UnitBuckets(NamedTuple):
    """The buckets of all units.

    Attributes
    ----------
    keys : ndarray of uint64
        Ascending. If every unit is a bucket (bits = 64): the hashes of the units. Otherwise (bits = 14): the least hash
        that a bucket may have.
    bits : int
        Leading bits of a hash that identify the bucket.
    n_units : int
        The number of different units; if there are more than buckets, an estimate by the least hashes.
    firsts : ndarray of int32
        For every prefix of 14 bits, the index of the first key that is not below it.
    """

    keys: np.ndarray
    bits: int
    n_units: int
    firsts: np.ndarray

    @property
    def n_buckets(self) -> int:
        return int(self.keys.shape[0])

    @property
    def sample_stop(self) -> int:
        """Units with lesser hashes are looked at one by one: all, or about SAMPLED_UNITS, and at most an eighth."""
        if self.bits == HASH_BITS:
            return 1 << HASH_BITS
        return min(SAMPLED_HASHES, (SAMPLED_UNITS << HASH_BITS) // self.n_units)

    def in_sample(self, hashes: np.ndarray) -> np.ndarray:
        """Which units are looked at one by one."""
        found: np.ndarray = hashes <= np.uint64(self.sample_stop - 1)
        return found

    def bucket_of(self, hashes: np.ndarray) -> np.ndarray:
        """The bucket of every unit, int32; -1 for units that are in none."""
        out = np.empty(hashes.shape[0], np.int32)
        poisson_weights.find_unit_buckets(self.keys, self.firsts, hashes, self.bits, out)
        return out


def unit_buckets_of(keys: np.ndarray, bits: int, n_units: int) -> UnitBuckets:
    """The buckets with these keys, with an index of the keys by prefix."""
    prefixes = keys >> np.uint64(HASH_BITS - UNIT_BUCKET_BITS)
    firsts = np.searchsorted(prefixes, np.arange(MAX_UNIT_BUCKETS + 1, dtype=np.uint64)).astype(np.int32)
    return UnitBuckets(keys, bits, n_units, firsts)


class LeastHashes:
    """The N_LEAST least hashes of units that were added, or all of them if they are fewer."""

    def __init__(self) -> None:
        self.found = np.empty(0, np.uint64)  # the least hashes, ascending, but for those that wait
        self.waiting: list[np.ndarray] = []

    def add(self, hashes: np.ndarray) -> None:
        if self.found.shape[0] == N_LEAST:
            hashes = hashes[hashes < self.found[-1]]
        self.waiting.append(hashes)
        if sum(own.shape[0] for own in self.waiting) > MOST_WAITING:
            self.sort_waiting()

    def sort_waiting(self) -> None:
        hashes = np.sort(np.concatenate((self.found, *self.waiting)))
        is_new = np.ones(hashes.shape[0], bool)  # faster than `np.unique`
        is_new[1:] = hashes[1:] != hashes[:-1]
        self.found = hashes[is_new][:N_LEAST]
        self.waiting = []

    @property
    def hashes(self) -> np.ndarray:
        """Ascending."""
        if self.waiting:
            self.sort_waiting()
        return self.found

    @property
    def limit(self) -> int:
        """All units whose hashes are not above it are known."""
        known = self.hashes
        return int(known[-1]) if known.shape[0] == N_LEAST else (1 << HASH_BITS) - 1


class UnitCounter:
    """Counts different units, array by array. It stores their hashes until there are more units than buckets.

    Beyond, their number n is estimated by the k least hashes, of which the greatest is about k / n of all 64 bits; the
    standard error is n / sqrt(k), 1.6 % (Z. Bar-Yossef et al., "Counting distinct elements in a data stream", 2002).
    """

    def __init__(self) -> None:
        self.least = LeastHashes()
        self.prefixes = np.zeros(MAX_UNIT_BUCKETS, np.uint8)
        self.table = np.zeros(4 * MAX_UNIT_BUCKETS, np.uint64)
        self.counts = np.zeros(2, np.int64)  # units in the table; 1 if the hash 0 occurred

    @property
    def n_units(self) -> int:
        """The number of different units; an estimate if there are more units than buckets."""
        n = int(self.counts.sum())
        if n <= MAX_UNIT_BUCKETS:
            return n
        greatest = int(self.least.hashes[-1])
        return max(n, ((N_LEAST - 1 << HASH_BITS) + greatest // 2) // greatest)

    def hashes(self) -> np.ndarray:
        """The hashes of the units, as long as they are stored."""
        zero = np.zeros(int(self.counts[1]), np.uint64)
        return np.concatenate((zero, np.sort(self.table[self.table != 0])))

    def add(self, hashes: np.ndarray) -> None:
        self.least.add(hashes)
        poisson_weights.record_units(hashes, self.prefixes, self.table, self.counts, MAX_UNIT_BUCKETS)

    def merge(self, other: UnitCounter) -> None:
        self.add(other.hashes())
        self.least.add(other.least.hashes)
        self.prefixes |= other.prefixes

    def unit_buckets(self) -> UnitBuckets:
        """The buckets of all units that were added."""
        if int(self.counts.sum()) <= MAX_UNIT_BUCKETS:
            return unit_buckets_of(self.hashes(), HASH_BITS, self.n_units)
        prefixes = np.flatnonzero(self.prefixes).astype(np.uint64)
        return unit_buckets_of(prefixes << np.uint64(HASH_BITS - UNIT_BUCKET_BITS), UNIT_BUCKET_BITS, self.n_units)


def find_unit_buckets(unit_hashes: Iterable[np.ndarray]) -> UnitBuckets:
    """The unit buckets of hashes in several arrays. A unit may occur in any of them, any number of times."""
    counter = UnitCounter()
    for hashes in unit_hashes:
        counter.add(hashes)
    return counter.unit_buckets()


def draw_weights(unit_buckets: UnitBuckets, seed: int, first: int, stop: int) -> np.ndarray:
    """The weights of all unit buckets in the replicates first to stop: uint8[n_buckets, stop - first]."""
    out = np.empty((unit_buckets.n_buckets, stop - first), np.uint8)
    poisson_weights.draw_poisson_weights(unit_buckets.keys, seed & ((1 << HASH_BITS) - 1), first, stop, out)
    return out
