"""Lots and their weights: Poisson(1), a function of seed, replicate and key alone."""

import math

import numpy as np
import pytest

from fastmetrics._core.lots import LOT_BITS, MOST_LOTS, UnitCounter, draw, make_lots
from fastmetrics._kernels import resample

MASK = (1 << 64) - 1


def mixed(word):
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def weight(key, seed, replicate):
    """The definition: word replicate // 2 of the key's sequence, one half of it, against the distribution function."""
    start = mixed((mixed(key ^ 0x9FB21C651E98DF25) + mixed((seed + 0x9E3779B97F4A7C15) & MASK)) & MASK)
    word = mixed((start + (replicate // 2 + 1) * 0x9E3779B97F4A7C15) & MASK)
    number = word >> 32 if replicate % 2 else word & 0xFFFFFFFF
    at_most, k = 0.0, 0
    while True:
        at_most += math.exp(-1) / math.factorial(k)
        threshold = round(2**32 * at_most)
        if number < threshold or threshold >= 2**32:
            return k
        k += 1


def keys(n, seed=0):
    return np.sort(np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64))


def test_weights_are_the_definition():
    lots = make_lots([np.array([0, 1, 5, MASK, 1 << 63], np.uint64)])
    for seed in (0, 7, MASK):
        drawn = draw(lots, seed, 0, 41)
        wanted = [[weight(key, seed, replicate) for replicate in range(41)] for key in lots.keys.tolist()]
        assert drawn.tolist() == wanted


@pytest.mark.parametrize(("first", "stop"), [(0, 0), (0, 1), (1, 2), (1, 1000), (511, 1030), (6, 7), (0, 2050)])
def test_any_piece_is_the_same(first, stop):
    lots = make_lots([keys(50)])
    assert np.array_equal(draw(lots, 3, first, stop), draw(lots, 3, 0, 2100)[:, first:stop])


def test_distribution():
    drawn = draw(make_lots([keys(4000)]), 1, 0, 1000).astype(np.float64)
    n = drawn.size
    assert abs(drawn.mean() - 1) < 4 / math.sqrt(n)
    assert abs(drawn.var() - 1) < 4 * math.sqrt(3 / n)  # the fourth central moment of Poisson(1) is 4
    counts = np.bincount(drawn.ravel().astype(np.int64), minlength=13)
    for k in range(7):
        share = math.exp(-1) / math.factorial(k)
        assert abs(counts[k] - n * share) < 4.5 * math.sqrt(n * share)
    assert counts.shape[0] - 1 <= resample.GREATEST_WEIGHT == 12


def test_independence():
    lots = make_lots([keys(3000)])
    drawn = draw(lots, 1, 0, 300).astype(np.float64) - 1
    other = draw(lots, 2, 0, 300).astype(np.float64) - 1
    n = drawn.size
    for shifted in (drawn[:, 1:] * drawn[:, :-1], drawn[1:] * drawn[:-1], drawn * other, drawn[:, 2:] * drawn[:, :-2]):
        assert abs(shifted.mean()) < 4.5 / math.sqrt(n)
    between = np.corrcoef(drawn.T[:64])
    assert np.abs(between[np.triu_indices(64, 1)]).max() < 5 / math.sqrt(3000)


def test_units_are_lots_while_they_are_few():
    hashes = keys(MOST_LOTS)
    lots = make_lots([hashes[:100], hashes, hashes[::-1][:7].copy()])
    assert (lots.bits, lots.n_units, lots.n) == (64, MOST_LOTS, MOST_LOTS)
    assert np.array_equal(lots.keys, hashes)
    assert np.array_equal(lots.numbers(hashes), np.arange(MOST_LOTS))
    assert lots.numbers(hashes[:5] + np.uint64(1)).tolist() == [-1] * 5


def test_more_units_share_lots():
    hashes = keys(MOST_LOTS + 1)
    lots = make_lots([hashes])
    assert (lots.bits, lots.n_units) == (LOT_BITS, MOST_LOTS + 1)
    prefixes = hashes >> np.uint64(64 - LOT_BITS)
    assert np.array_equal(lots.keys >> np.uint64(64 - LOT_BITS), np.unique(prefixes))
    assert np.array_equal(lots.keys[lots.numbers(hashes)] >> np.uint64(64 - LOT_BITS), prefixes)


@pytest.mark.parametrize("n", [0, 1, 2, 1000, MOST_LOTS - 1, MOST_LOTS, MOST_LOTS + 1, 3 * MOST_LOTS])
def test_counters_merge(n):
    hashes = keys(n, seed=n)
    if n:
        hashes[0] = 0
    whole = make_lots([hashes])
    parts = [UnitCounter() for _ in range(3)]
    for number, part in enumerate(parts):
        part.add(np.ascontiguousarray(hashes[number::3]))
        part.add(np.ascontiguousarray(hashes[: n // 2]))
    for part in parts[1:]:
        parts[0].merge(part)
    merged = parts[0].lots()
    assert np.array_equal(merged.keys, whole.keys)
    assert merged[1:3] == whole[1:3]


def test_sums_of_weighted_values():
    lots = make_lots([keys(70)])
    values = np.random.default_rng(0).integers(-(2**50), 2**50, (70, 5))
    values[:, 2] = 0
    values[3] = [0, 1, 0, -1, 2**32]
    drawn = draw(lots, 9, 0, 1500)
    wanted = drawn.astype(np.int64).T @ values
    out = np.zeros((1500, 5), np.int64)
    resample.weigh(lots.keys, 9, 0, 1500, values, out)
    assert np.array_equal(out, wanted)
    sums = np.zeros((5, 1500), np.int64)
    resample.add_weighted(drawn, np.arange(70, dtype=np.int32), values, np.arange(5)[::-1].copy(), sums)
    assert np.array_equal(sums[::-1].T, wanted)
