"""Unit buckets and their weights: Poisson(1), a function of the seed, the replicate and the key only."""

import math

import numpy as np
import pytest

from fastmetrics._core.resampling.additive_replicates import JackknifeUnits
from fastmetrics._core.resampling.resampling_units import (
    MAX_UNIT_BUCKETS,
    UNIT_BUCKET_BITS,
    UnitCounter,
    draw_weights,
    find_unit_buckets,
)
from fastmetrics._kernels.resampling import poisson_weights
from support.cases import each_case

MASK = (1 << 64) - 1


def mixed(word):
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def weight(key, seed, replicate):
    """The definition: half of word replicate // 2 of the key's sequence, mapped by the distribution function."""
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


def test_weights_equal_the_definition():
    unit_buckets = find_unit_buckets([np.array([0, 1, 5, MASK, 1 << 63], np.uint64)])
    for seed in (0, 7, MASK):
        drawn = draw_weights(unit_buckets, seed, 0, 41)
        wanted = [[weight(key, seed, replicate) for replicate in range(41)] for key in unit_buckets.keys.tolist()]
        assert drawn.tolist() == wanted


@each_case(("first", "stop"), [(0, 0), (0, 1), (1, 2), (1, 1000), (511, 1030), (6, 7), (0, 2050)])
def test_any_range_of_replicates_is_the_same(first, stop):
    unit_buckets = find_unit_buckets([keys(50)])
    expected = draw_weights(unit_buckets, 3, 0, 2100)[:, first:stop]
    assert np.array_equal(draw_weights(unit_buckets, 3, first, stop), expected)


def test_distribution():
    drawn = draw_weights(find_unit_buckets([keys(4000)]), 1, 0, 1000).astype(np.float64)
    n = drawn.size
    assert abs(drawn.mean() - 1) < 4 / math.sqrt(n)
    assert abs(drawn.var() - 1) < 4 * math.sqrt(3 / n)  # the fourth central moment of Poisson(1) is 4
    counts = np.bincount(drawn.ravel().astype(np.int64), minlength=13)
    for k in range(7):
        share = math.exp(-1) / math.factorial(k)
        assert abs(counts[k] - n * share) < 4.5 * math.sqrt(n * share)
    assert counts.shape[0] - 1 <= poisson_weights.MAX_WEIGHT == 12


def test_independence():
    unit_buckets = find_unit_buckets([keys(3000)])
    drawn = draw_weights(unit_buckets, 1, 0, 300).astype(np.float64) - 1
    other = draw_weights(unit_buckets, 2, 0, 300).astype(np.float64) - 1
    n = drawn.size
    for shifted in (drawn[:, 1:] * drawn[:, :-1], drawn[1:] * drawn[:-1], drawn * other, drawn[:, 2:] * drawn[:, :-2]):
        assert abs(shifted.mean()) < 4.5 / math.sqrt(n)
    assert np.abs(np.corrcoef(drawn.T[:64])[np.triu_indices(64, 1)]).max() < 5 / math.sqrt(3000)


def test_few_units_have_a_bucket_each():
    hashes = keys(MAX_UNIT_BUCKETS)
    unit_buckets = find_unit_buckets([hashes[:100], hashes, hashes[::-1][:7].copy()])
    assert (unit_buckets.bits, unit_buckets.n_units, unit_buckets.n_buckets) == (64, MAX_UNIT_BUCKETS, MAX_UNIT_BUCKETS)
    assert np.array_equal(unit_buckets.keys, hashes)
    assert np.array_equal(unit_buckets.bucket_of(hashes), np.arange(MAX_UNIT_BUCKETS))
    assert unit_buckets.bucket_of(hashes[:5] + np.uint64(1)).tolist() == [-1] * 5


def test_many_units_share_buckets():
    hashes = keys(MAX_UNIT_BUCKETS + 1)
    unit_buckets = find_unit_buckets([hashes])
    assert unit_buckets.bits == UNIT_BUCKET_BITS
    assert unit_buckets.n_units == pytest.approx(MAX_UNIT_BUCKETS + 1, rel=0.06)
    shift = np.uint64(64 - UNIT_BUCKET_BITS)
    prefixes = hashes >> shift
    assert np.array_equal(unit_buckets.keys >> shift, np.unique(prefixes))
    assert np.array_equal(unit_buckets.keys[unit_buckets.bucket_of(hashes)] >> shift, prefixes)


AROUND_THE_LIMIT = [MAX_UNIT_BUCKETS + change for change in (-1, 0, 1)]


@each_case("n", [0, 1, 2, 1000, *AROUND_THE_LIMIT, 3 * MAX_UNIT_BUCKETS])
def test_counters_merge(n):
    hashes = keys(n, seed=n)
    if n:
        hashes[0] = 0
    whole = find_unit_buckets([hashes])
    parts = [UnitCounter() for _ in range(3)]
    for number, part in enumerate(parts):
        part.add(np.ascontiguousarray(hashes[number::3]))
        part.add(np.ascontiguousarray(hashes[: n // 2]))
    for part in parts[1:]:
        parts[0].merge(part)
    merged = parts[0].unit_buckets()
    assert np.array_equal(merged.keys, whole.keys)
    assert merged[1:3] == whole[1:3]


@each_case("n", [2**15, 300_000])
def test_many_units_are_counted_about(n):
    counter = UnitCounter()
    for part in np.array_split(keys(n), 9):
        counter.add(part)
        counter.add(part)
    assert counter.n_units == pytest.approx(n, rel=0.06)
    assert counter.n_units == find_unit_buckets([keys(n)[::-1].copy()]).n_units


def test_units_of_slices_are_counted_by_their_entries():
    hashes = keys(100_000)
    units = JackknifeUnits(find_unit_buckets([hashes]), 500)
    n_entries = units.n_entries(0)
    for n in (50, 1_000, 8_000):
        entries = units.entries_of(units.unit_buckets.bucket_of(np.random.default_rng(n).choice(hashes, n)), n_entries)
        assert units.count_units(np.unique(entries).shape[0], 0) == pytest.approx(n, rel=0.06)
    assert units.count_units(n_entries, 0) == units.unit_buckets.n_units
    assert units.count_units(12, None) == units.unit_buckets.n_units
    few = JackknifeUnits(find_unit_buckets([keys(200)]), 3)
    assert (few.count_units(200, 0), few.count_units(150, 0), few.count_units(150, None)) == (200, 150, 150)


def test_sums_of_weighted_values():
    unit_buckets = find_unit_buckets([keys(70)])
    values = np.random.default_rng(0).integers(-(2**50), 2**50, (70, 5))
    values[:, 2] = 0
    values[3] = [0, 1, 0, -1, 2**32]
    drawn = draw_weights(unit_buckets, 9, 0, 1500)
    wanted = drawn.astype(np.int64).T @ values
    sums = np.zeros((5, 1500), np.int64)
    poisson_weights.add_weighted_states(drawn, np.arange(70, dtype=np.int32), values, np.arange(5)[::-1].copy(), sums)
    assert np.array_equal(sums[::-1].T, wanted)


@each_case("n", [1, 256, 257, 600])
@each_case("replicates", [1, 7, 8, 9, 1030])
@each_case("n_columns", [1, 2, 3, 4, 7])
@each_case("greatest", [1, (1 << 36) - 1, 1 << 36, 1 << 44])
def test_weighted_states_of_any_shape_and_size(n, replicates, n_columns, greatest):
    random = np.random.default_rng(7)
    weights = random.integers(0, 13, (n + 3, replicates)).astype(np.uint8)
    buckets = random.permutation(n + 3)[:n].astype(np.int32)
    values = random.integers(-greatest, greatest + 1, (n, n_columns))
    values[-1, -1] = greatest
    columns = random.permutation(n_columns + 2)[:n_columns]
    out = random.integers(0, 100, (n_columns + 2, replicates))
    expected = out.copy()
    expected[columns] += values.T @ weights[buckets].astype(np.int64)  # below 2**57
    poisson_weights.add_weighted_states(weights, buckets, values, columns, out)
    assert (out == expected).all()
