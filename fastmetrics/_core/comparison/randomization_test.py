"""Fisher's randomization test of paired differences: the distribution of the sum if every sign were random.

Differences become integers, multiples of one power of two. So sums are exact, and their order does not matter. The
magnitudes are sorted, and the signs are assigned in that order: the same differences give the same p-value, whatever
their order.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels.significance import sign_flips

ALTERNATIVES = ("two-sided", "greater", "less")
SUM_BITS = 61  # magnitudes of all values together stay below 2**SUM_BITS
# Numbers with at most so many bits are exact: counts, halves, grades. Others, such as 0.1 or 1/3, were rounded before,
# and sums that differ by less than that rounding are equal.
EXACT_BITS = 40
TIE_BITS = 46
CHUNK = 1 << 15  # replicates whose sums stay in the second-level cache
TILES_PER_TASK = 16
MAX_SUMS = 1 << 20  # sums of replicates in memory at a time


class RandomizationTestResult(NamedTuple):
    """A p-value and its counts: of `total` assignments of signs, `n_extreme` were at least as extreme as the observed.

    `is_exact`: all assignments were computed.
    """

    pvalue: float
    n_extreme: int
    total: int
    is_exact: bool


def randomization_test(
    differences: np.ndarray,
    *,
    replicates: int,
    seed: int,
    alternative: str = "two-sided",
    n_threads: int | None = None,
) -> RandomizationTestResult:
    """Test the sum of float64 differences, which are finite and at least one.

    If the 2**n assignments of signs are at most `replicates`, all of them are computed; a difference of zero has no
    sign. Otherwise `replicates` assignments are drawn, and the observed one counts as one more.
    """
    values, slack = as_integers(differences)
    observed = int(values.sum())
    n_threads = count_threads(n_threads)
    n = values.shape[0]
    is_exact = n < 62 and 1 << n <= replicates
    total = 1 << n if is_exact else replicates
    if not n or (alternative == "two-sided" and abs(observed) <= slack):
        count = total  # every sum is at least as extreme
    else:
        # Only magnitudes are used: so swapped samples have the same draws, and the one-sided tests mirror each other.
        magnitudes = np.sort(np.abs(values))[::-1].copy()
        target = abs(observed) if alternative == "two-sided" else -observed if alternative == "less" else observed
        count = count_extreme(
            magnitudes, target - slack, alternative == "two-sided", None if is_exact else seed, total, n_threads
        )
    pvalue = count / total if is_exact else (count + 1) / (total + 1)
    return RandomizationTestResult(pvalue, count, total, is_exact)


def as_integers(differences: np.ndarray) -> tuple[np.ndarray, int]:
    """The differences that are not zero, as multiples of one power of two, and the tolerance on sums.

    They are exact if few bits are enough. Otherwise they are rounded to the available bits, relative to the largest.
    """
    values = differences[differences != 0]
    if not values.shape[0]:
        return values.astype(np.int64), 0
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = whole & -whole  # the lowest bit set: a power of two, exact as a double
    least = int((exponents + np.frexp(lowest.astype(np.float64))[1]).min()) - 54
    greatest = int(exponents.max())
    available_bits = SUM_BITS - (values.shape[0] - 1).bit_length()
    if greatest - least <= min(available_bits, EXACT_BITS):
        return scaled(values, -least).astype(np.int64), 0
    rounded = np.rint(scaled(values, available_bits - greatest)).astype(np.int64)
    n = rounded.shape[0]
    return rounded, max(int(np.abs(rounded).sum()) >> TIE_BITS, n)


def scaled(values: np.ndarray, shift: int) -> np.ndarray:
    """values * 2**shift, in two steps, because one step may exceed the exponents of doubles."""
    half = shift // 2
    return np.asarray(np.ldexp(np.ldexp(values, half), shift - half))


def count_extreme(
    magnitudes: np.ndarray, target: int, two_sided: bool, seed: int | None, total: int, n_threads: int
) -> int:
    """The number of assignments of signs whose sum is at least `target`, on one side or both. Seed None: of all."""
    count = 0
    n_tiles = -(-magnitudes.shape[0] // sign_flips.TILE_SIZE)
    for first in range(0, total, MAX_SUMS):
        sums = np.zeros(min(total - first, MAX_SUMS), np.int64)
        add_sums(magnitudes, seed, first, sums, n_tiles, n_threads)
        count += int(np.count_nonzero(sums >= target))
        if two_sided:
            count += int(np.count_nonzero(sums <= -target))
    return count


def add_sums(
    magnitudes: np.ndarray, seed: int | None, first: int, sums: np.ndarray, n_tiles: int, n_threads: int
) -> None:
    """Add to sums[i] the sum of replicate first + i. A task is some tiles of some replicates."""
    tasks = [
        (tile, min(tile + TILES_PER_TASK, n_tiles), start, min(start + CHUNK, sums.shape[0]))
        for start in range(0, sums.shape[0], CHUNK)
        for tile in range(0, n_tiles, TILES_PER_TASK)
    ]
    lock = Lock()

    def make_worker() -> Any:
        tables = np.empty(sign_flips.TABLE_SIZE, np.int64)
        memory = np.empty(min(CHUNK, sums.shape[0]), np.int64)

        def work(task: int) -> None:
            tile, stop_tile, start, stop = tasks[task]
            chunk = memory[: stop - start]
            chunk.fill(0)
            if seed is None:
                sign_flips.add_all_sign_flips(magnitudes, first + start, tables, chunk)
            else:
                sign_flips.add_sign_flips(magnitudes, seed, tile, stop_tile, first + start, tables, chunk)
            with lock:
                sums[start:stop] += chunk

        return work

    for_each(len(tasks), make_worker, n_threads)
