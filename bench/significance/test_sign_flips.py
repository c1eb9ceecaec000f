"""The sign-flip test compared with NumPy (random signs in chunks, times the differences) and with SciPy."""

from functools import partial

import numpy as np
import pytest

import fastmetrics as fm
from bench.timing import format_count

REPLICATES = 10_000
USERS_OF_ROWS = 100  # 10M rows of the other benches are 100k users
CHUNK = 64  # replicates whose signs are in memory at once
THEIR_REPLICATES = 1_000  # a tenth of the work; their time is multiplied by ten


@pytest.fixture(scope="module")
def differences(rows):
    return np.random.default_rng(8).normal(0.004, 1.0, max(1000, rows // USERS_OF_ROWS))


def with_numpy(differences, replicates):
    """The p-value of so many replicates. Signs are unpacked bits; the sums are a matrix product in float64."""
    generator = np.random.default_rng(0)
    n = len(differences)
    observed = abs(differences.sum())
    above = 0
    for first in range(0, replicates, CHUNK):
        size = (min(CHUNK, replicates - first), (n + 7) // 8)
        kept = np.unpackbits(generator.integers(0, 256, size, dtype=np.uint8), axis=1)[:, :n]
        sums = 2.0 * (kept.astype(np.float64) @ differences) - differences.sum()
        above += int(np.count_nonzero(np.abs(sums) >= observed))
    return (above + 1) / (replicates + 1)


def check(pvalue, expected):
    """The random signs differ, so the p-values are two estimates of one proportion."""
    error = np.sqrt(expected * (1 - expected) * (1 / REPLICATES + 1 / THEIR_REPLICATES))
    assert abs(pvalue - expected) < 5 * error


@pytest.mark.parametrize("n_threads", [None, 1])
def test_beside_numpy(timing, differences, n_threads):
    ours = partial(fm.sign_flip_test, differences, replicates=REPLICATES, n_threads=n_threads)
    theirs = partial(with_numpy, differences, THEIR_REPLICATES)
    check(ours().pvalue, theirs())
    threads = "" if n_threads is None else ", one thread of ours"
    timing.compare(
        f"`sign_flip_test`, {format_count(REPLICATES)} replicates of {format_count(len(differences))} users{threads}",
        ours, "NumPy", theirs, within=None, scale=REPLICATES / THEIR_REPLICATES,
        note="NumPy makes a tenth of the replicates",
    )  # fmt: skip


def test_beside_scipy(timing):
    """All 2**13 sign patterns of 13 differences."""
    stats = pytest.importorskip("scipy.stats")
    differences = np.random.default_rng(8).normal(0.3, 1.0, 13)

    def theirs():
        return stats.permutation_test(
            (differences,), np.mean, permutation_type="samples", n_resamples=REPLICATES, vectorized=True
        ).pvalue

    def ours():
        return fm.sign_flip_test(differences).pvalue

    timing.compare("`sign_flip_test`, 13 pairs, all assignments", ours, "scipy", theirs, within=0)
