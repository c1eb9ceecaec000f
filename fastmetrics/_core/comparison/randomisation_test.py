"""Fisher's randomisation test of paired differences: what the sum could have been, had every sign been a coin's.

Differences become whole numbers, multiples of one power of two, so sums are exact and their order does not matter. They
are sorted by magnitude, and signs belong to places in that order: the same differences give the same p, whatever their
order was.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels import signflips

ALTERNATIVES = ("two-sided", "greater", "less")
SUM_BITS = 61  # magnitudes of all values together stay below 2**SUM_BITS
# Numbers with so many bits at most are taken as they are: counts, halves, grades. Others, such as 0.1 or 1/3, were
# rounded before they came here, and sums that differ by less than that mean the same.
EXACT_BITS = 40
TIE_BITS = 46
CHUNK = 1 << 15  # replicates whose sums stay in the second-level cache
TILES_IN_UNIT = 16
MOST_HELD = 1 << 20  # sums of replicates, at a time


class Flips(NamedTuple):
    """A p-value, and what it rests on: of `total` assignments of signs, `n_extreme` were at least as extreme."""

    pvalue: float
    n_extreme: int
    total: int
    is_exact: bool


def flip_signs(
    differences: np.ndarray,
    *,
    replicates: int,
    seed: int,
    alternative: str = "two-sided",
    n_threads: int | None = None,
) -> Flips:
    """The p-value of the sum of float64 differences, finite, at least one.

    All 2**n assignments of signs are gone through where these are at most `replicates` (differences of zero have none),
    else so many are drawn, and the observed one counts as one more.
    """
    values, slack = as_integers(differences)
    observed = int(values.sum())
    n_threads = count_threads(n_threads)
    n = values.shape[0]
    is_exact = n < 62 and 1 << n <= replicates
    total = 1 << n if is_exact else replicates
    if not n or (alternative == "two-sided" and abs(observed) <= slack):
        count = total  # every sum is at least as far from zero
    else:
        # The magnitudes alone: swapped samples then have the same draws, and one-sided tests are each other's mirror.
        magnitudes = np.sort(np.abs(values))[::-1].copy()
        target = abs(observed) if alternative == "two-sided" else -observed if alternative == "less" else observed
        count = count_extreme(
            magnitudes, target - slack, alternative == "two-sided", None if is_exact else seed, total, n_threads
        )
    pvalue = count / total if is_exact else (count + 1) / (total + 1)
    return Flips(pvalue, count, total, is_exact)


def as_integers(differences: np.ndarray) -> tuple[np.ndarray, int]:
    """The differences that are not zero as multiples of one power of two, and up to where sums are the same.

    As they are where that takes few bits; else rounded to what fits, relative to the largest.
    """
    values = differences[differences != 0]
    if not values.shape[0]:
        return values.astype(np.int64), 0
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = whole & -whole  # its one bit, as a number: a power of two, exact as a double
    least = int((exponents + np.frexp(lowest.astype(np.float64))[1]).min()) - 54
    greatest = int(exponents.max())
    room = SUM_BITS - (values.shape[0] - 1).bit_length()
    if greatest - least <= min(room, EXACT_BITS):
        return scaled(values, -least).astype(np.int64), 0
    rounded = np.rint(scaled(values, room - greatest)).astype(np.int64)
    n = rounded.shape[0]
    return rounded, max(int(np.abs(rounded).sum()) >> TIE_BITS, n)


def scaled(values: np.ndarray, shift: int) -> np.ndarray:
    """values * 2**shift, in two steps where one would be beyond the exponents of doubles."""
    half = shift // 2
    out: np.ndarray = np.ldexp(np.ldexp(values, half), shift - half)
    return out


def count_extreme(
    magnitudes: np.ndarray, target: int, two_sided: bool, seed: int | None, total: int, n_threads: int
) -> int:
    """How many of the assignments of signs have a sum of at least `target`, on either side; seed None: all of them."""
    count = 0
    n_tiles = -(-magnitudes.shape[0] // signflips.TILE)
    for first in range(0, total, MOST_HELD):
        sums = np.zeros(min(total - first, MOST_HELD), np.int64)
        add_sums(magnitudes, seed, first, sums, n_tiles, n_threads)
        count += int(np.count_nonzero(sums >= target))
        if two_sided:
            count += int(np.count_nonzero(sums <= -target))
    return count


def add_sums(
    magnitudes: np.ndarray, seed: int | None, first: int, sums: np.ndarray, n_tiles: int, n_threads: int
) -> None:
    """Add to sums[i] the sum of replicate first + i. A unit is some tiles of some replicates."""
    units = [
        (tile, min(tile + TILES_IN_UNIT, n_tiles), start, min(start + CHUNK, sums.shape[0]))
        for start in range(0, sums.shape[0], CHUNK)
        for tile in range(0, n_tiles, TILES_IN_UNIT)
    ]
    lock = Lock()

    def make_worker() -> Any:
        tables = np.empty(signflips.TABLES, np.int64)
        own = np.empty(min(CHUNK, sums.shape[0]), np.int64)

        def work(unit: int) -> None:
            tile, stop_tile, start, stop = units[unit]
            part = own[: stop - start]
            part.fill(0)
            if seed is None:
                signflips.add_every(magnitudes, first + start, tables, part)
            else:
                signflips.add_flipped(magnitudes, seed, tile, stop_tile, first + start, tables, part)
            with lock:
                sums[start:stop] += part

        return work

    for_each(len(units), make_worker, n_threads)
