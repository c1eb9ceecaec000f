"""Lots of units: what the weights of resampling are drawn for.

A unit (a user, a row) is told by the 64 bits of its key's hash. Up to MOST_LOTS different units, each is a lot; of
more, a lot is all units whose hashes have the same first bits. Which of the two is decided by how many different units
there are in all rows, so it depends neither on their order nor on who counted them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from fastmetrics._kernels import resample

LOT_BITS = 14
MOST_LOTS = 1 << LOT_BITS
HASH_BITS = 64
DRAWN_BYTES = 1 << 26  # of weights that are drawn once and kept


class Lots(NamedTuple):
    """Keys ascend: hashes of units (bits = 64), or the least hash that a lot may have (bits = 14).

    `n_units` is how many different units there are, MOST_LOTS + 1 where there are more than lots. `firsts` has the
    first key at or behind every prefix of 14 bits.
    """

    keys: np.ndarray
    bits: int
    n_units: int
    firsts: np.ndarray

    @property
    def n(self) -> int:
        return int(self.keys.shape[0])

    def numbers(self, hashes: np.ndarray) -> np.ndarray:
        """The number of every unit's lot, int32; -1 for units that are in none."""
        out = np.empty(hashes.shape[0], np.int32)
        resample.lot_numbers(self.keys, self.firsts, hashes, self.bits, out)
        return out


def lots_of(keys: np.ndarray, bits: int, n_units: int) -> Lots:
    prefixes = keys >> np.uint64(HASH_BITS - LOT_BITS)
    firsts = np.searchsorted(prefixes, np.arange(MOST_LOTS + 1, dtype=np.uint64)).astype(np.int32)
    return Lots(keys, bits, n_units, firsts)


class UnitCounter:
    """Counts different units, array by array; which they are is not noted any more once there are more than lots."""

    def __init__(self) -> None:
        self.prefixes = np.zeros(MOST_LOTS, np.uint8)
        self.table = np.zeros(4 * MOST_LOTS, np.uint64)
        self.found = np.zeros(2, np.int64)

    @property
    def n_units(self) -> int:
        """How many different units, MOST_LOTS + 1 where there are more than lots."""
        return int(self.found.sum())

    def hashes(self) -> np.ndarray:
        """The units' hashes, while they are known."""
        zero = np.zeros(int(self.found[1]), np.uint64)
        return np.concatenate((zero, np.sort(self.table[self.table != 0])))

    def add(self, hashes: np.ndarray) -> None:
        resample.note_units(hashes, self.prefixes, self.table, self.found, MOST_LOTS)

    def merge(self, other: UnitCounter) -> None:
        self.add(other.hashes())
        self.prefixes |= other.prefixes

    def lots(self) -> Lots:
        if self.n_units <= MOST_LOTS:
            return lots_of(self.hashes(), HASH_BITS, self.n_units)
        prefixes = np.flatnonzero(self.prefixes).astype(np.uint64)
        return lots_of(prefixes << np.uint64(HASH_BITS - LOT_BITS), LOT_BITS, self.n_units)


def make_lots(unit_hashes: Iterable[np.ndarray]) -> Lots:
    """The lots of the units whose hashes are in some arrays; a unit may be in any of them, as often as it likes."""
    counter = UnitCounter()
    for hashes in unit_hashes:
        counter.add(hashes)
    return counter.lots()


def draw(lots: Lots, seed: int, first: int, stop: int) -> np.ndarray:
    """The weights of all lots in the replicates first..stop: uint8[n, stop - first]."""
    out = np.empty((lots.n, stop - first), np.uint8)
    resample.poisson_weights(lots.keys, seed & ((1 << HASH_BITS) - 1), first, stop, out)
    return out
