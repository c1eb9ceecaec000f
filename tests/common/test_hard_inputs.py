"""Difficult inputs for sorting, hashing and counting: clustered floats, extreme group sizes, colliding keys.

Expected values are exact: ranks and pairs are counted in NumPy integers, which are tested against the oracle.
"""

import functools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import fastmetrics as fm
from fastmetrics._kernels.exchange import hash_partition
from oracles.ranking import gauc
from support import strategies
from support.cases import each_case
from support.curve_cases import ordering_infinities

roc_auc_score = ordering_infinities(fm.roc_auc_score)

ROWS = 60_000


def doubled_wins(y_true, y_score, groups):
    """Per group: twice the pairs won plus the ties, positives, negatives. Exact integers by sorting."""
    score_rank = np.unique(y_score + 0.0, return_inverse=True)[1]  # -0.0 + 0.0 is 0.0
    names, group_code = np.unique(groups, return_inverse=True)
    cells, cell_of_row = np.unique(group_code * (score_rank.max() + 1) + score_rank, return_inverse=True)
    positives = np.bincount(cell_of_row, weights=y_true).astype(np.int64)
    negatives = np.bincount(cell_of_row).astype(np.int64) - positives
    group_of_cell = cells // (score_rank.max() + 1)
    starts = np.searchsorted(group_of_cell, np.arange(len(names)))
    below = np.cumsum(negatives) - negatives
    below -= below[starts][group_of_cell]
    wins = np.add.reduceat(positives * (2 * below + negatives), starts)
    return names, wins, np.add.reduceat(positives, starts), np.add.reduceat(negatives, starts)


def expected_table(y_true, y_score, groups):
    names, wins, positives, negatives = doubled_wins(y_true, y_score, groups)
    pairs = positives * negatives
    auc = [win / (2 * pair) if pair else float("nan") for win, pair in zip(wins.tolist(), pairs.tolist(), strict=True)]
    return names, np.array(auc), positives + negatives, positives


@given(strategies.grouped_scores())
def test_the_reference_is_the_oracle(case):
    y_true, y_score, groups = case
    names, auc, n, n_positives = expected_table(*case)
    rows = gauc.auc_by_group(y_true.tolist(), y_score.tolist(), groups.tolist())
    assert [(row.group, row.n, row.n_positives) for row in rows] == list(zip(names, n, n_positives, strict=True))
    np.testing.assert_array_equal(auc, [float("nan") if row.auc is None else float(row.auc) for row in rows])


def adjacent(start, count, dtype):
    """`count` floats in a row, beginning at start."""
    bits = np.array([start], dtype=dtype).view(f"int{np.dtype(dtype).itemsize * 8}")
    return (bits + np.arange(count)).astype(bits.dtype).view(dtype)


@functools.cache
def score_patterns(dtype):
    generator = np.random.default_rng(5)
    information = np.finfo(dtype)
    uniform = generator.random(ROWS).astype(dtype)
    cluster = generator.permutation(adjacent(0.5, ROWS, dtype))
    with_outliers = cluster.copy()
    with_outliers[[0, ROWS // 2, -1]] = information.max, information.min, np.inf
    two_clusters = np.where(np.arange(ROWS) % 2 == 0, cluster, -cluster * dtype(1e30))
    exponents = generator.integers(information.minexp, information.maxexp, ROWS)
    cell_breaker = np.where(np.arange(ROWS) % 500 == 0, uniform * dtype(1e30), cluster)
    subnormal = generator.permutation(adjacent(0.0, ROWS, dtype)) * generator.choice([-1, 1], ROWS).astype(dtype)
    return {
        "adjacent floats": cluster,
        "adjacent floats with outliers": with_outliers,
        "two clusters far apart": two_clusters.astype(dtype),
        "all exponents": np.ldexp(dtype(1), exponents).astype(dtype),
        "all exponents, both signs": (np.ldexp(uniform, exponents) * generator.choice([-1, 1], ROWS)).astype(dtype),
        "clusters inside of cells": cell_breaker.astype(dtype),
        "subnormals": subnormal.astype(dtype),
        "all equal": np.full(ROWS, dtype(0.25)),
        "zeros of both signs": generator.choice(np.array([0.0, -0.0], dtype=dtype), ROWS),
        "infinities": generator.choice(np.array([np.inf, -np.inf, 0.0, information.max], dtype=dtype), ROWS),
        "two values": generator.choice(adjacent(1.0, 2, dtype), ROWS),
        "ascending": np.arange(ROWS).astype(dtype),
        "descending": np.arange(ROWS)[::-1].astype(dtype),
        "saw": (np.arange(ROWS) % 257).astype(dtype),
        "organ pipe": np.minimum(np.arange(ROWS), np.arange(ROWS)[::-1]).astype(dtype),
        "geometric ties": np.floor(np.log2(np.arange(ROWS) + 1)).astype(dtype),
        "radix digits": (generator.integers(0, 4, ROWS) * 65_536 + generator.integers(0, 4, ROWS)).astype(dtype),
        "almost sorted": np.sort(uniform) + dtype(0) * uniform,
    }


PATTERNS = list(score_patterns(np.float64))


@functools.cache
def label_patterns():
    one = np.zeros(ROWS, np.int8)
    one[ROWS // 3] = 1
    return {
        "rare": (np.random.default_rng(1).random(ROWS) < 0.01).astype(np.int8),
        "half": (np.random.default_rng(2).random(ROWS) < 0.5).astype(np.int8),
        "one positive": one,
        "one negative": (1 - one).astype(np.int8),
        "first half": (np.arange(ROWS) < ROWS // 2).astype(np.int8),
    }


@functools.cache
def group_patterns():
    generator = np.random.default_rng(3)
    rows = np.arange(ROWS)
    triangle = np.repeat(np.arange(400), np.arange(400))[:ROWS]
    edges = np.repeat(np.arange(240), np.resize([1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000], 240))
    return {
        "one group": np.zeros(ROWS, np.int64),
        "every row its own": generator.permutation(ROWS),
        "a large group and single rows": np.where(rows % 2 == 0, -1, rows),
        "saw of sizes": np.pad(triangle, (0, ROWS - len(triangle)), constant_values=401),
        "sizes around limits": generator.permutation(np.resize(edges, ROWS)),
        "pairs": rows // 2,
        "in turn": rows % 100,
    }


@each_case("dtype", [np.float32, np.float64])
@each_case("pattern", PATTERNS)
def test_auc_of_hard_scores(pattern, dtype):
    y_score = score_patterns(dtype)[pattern]
    groups = np.zeros(ROWS, np.int64)
    for name, y_true in label_patterns().items():
        _, (auc,), _, _ = expected_table(y_true, y_score, groups)
        for n_threads in (1, 3):
            assert roc_auc_score(y_true, y_score, n_threads=n_threads) == auc, (name, n_threads)
        assert fm.gauc_score(y_true, y_score, groups, weight="pairs") == auc, name
        assert roc_auc_score(y_true, y_score, sample_weight=np.full(ROWS, 3.0)) == auc, name


@each_case("dtype", [np.float32, np.float64])
@each_case("pattern", PATTERNS)
def test_groups_of_hard_scores(pattern, dtype):
    y_score = score_patterns(dtype)[pattern]
    labels = label_patterns()
    for name, groups in group_patterns().items():
        y_true = labels["rare" if name in ("one group", "in turn") else "half"]
        expected = expected_table(y_true, y_score, groups)
        table = fm.auc_by_group(y_true, y_score, groups, n_threads=2)
        for found, wanted in zip((table.group, table.auc, table.n, table.n_positives), expected, strict=True):
            np.testing.assert_array_equal(found, wanted, err_msg=name)


def test_two_hundred_thousand_groups_of_one_row():
    keys = np.random.default_rng(1).permutation(200_000)
    y_true = np.arange(200_000) % 2
    table = fm.auc_by_group(y_true, keys * 0.5, keys)
    np.testing.assert_array_equal(table.group, np.arange(200_000))
    assert np.isnan(table.auc).all()
    assert (table.n == 1).all()
    with pytest.warns(fm.UndefinedMetricWarning):
        assert np.isnan(fm.gauc_score(y_true, keys * 0.5, keys))
    assert fm.gauc_score(y_true, keys * 0.5, keys, single_class="half") == 0.5


@pytest.mark.parametrize("few", [1, 16, 17])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_group_of_more_than_a_million_rows(few, dtype):
    rows = (1 << 20) + 100
    generator = np.random.default_rng(few)
    y_score = np.round(generator.random(rows) * 1000).astype(dtype)
    y_true = np.zeros(rows, np.int8)
    y_true[generator.choice(rows, few, replace=False)] = 1
    for labels in (y_true, 1 - y_true):
        _, (auc,), _, _ = expected_table(labels, y_score, np.zeros(rows, np.int64))
        assert roc_auc_score(labels, y_score) == auc
        assert fm.gauc_score(labels, y_score, np.full(rows, -5)) == auc


KEY_PATTERNS = {
    "high bits only": lambda code: code.astype(np.uint64) << np.uint64(40),
    "low bits only": lambda code: code.astype(np.uint64),
    "both ends": lambda code: (code.astype(np.uint64) << np.uint64(47)) | code.astype(np.uint64),
    "beyond the signed range": lambda code: np.uint64(2**64 - 1) - code.astype(np.uint64),
    "around the sign": lambda code: np.uint64(2**63 - 5000) + code.astype(np.uint64),
    "multiples of a hash constant": lambda code: code.astype(np.uint64) * np.uint64(0xCFEE444D8B59A89B),
    "negative": lambda code: -code.astype(np.int64),
    "around the smallest": lambda code: np.iinfo(np.int64).min + code.astype(np.int64),
    "32 bits, negative": lambda code: (-code).astype(np.int32),
    "32 bits, smallest": lambda code: np.iinfo(np.int32).min + code.astype(np.int32),
}


@pytest.mark.parametrize("pattern", KEY_PATTERNS)
def test_keys_of_every_bit_pattern(pattern):
    log = strategies.click_log(ROWS, users=8000, seed=4)
    keys = KEY_PATTERNS[pattern](log["group"])
    expected = expected_table(log["label"], log["score"], keys)
    table = fm.auc_by_group(log["label"], log["score"], keys)
    assert table.group.dtype == keys.dtype
    for found, wanted in zip((table.group, table.auc, table.n, table.n_positives), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


class TestCollidingText:
    """Different strings whose 64-bit hashes are equal stay different users.

    The hash is public: the second word can cancel the difference of the first. The code follows make_text_slots of
    _kernels/hash_partition.pyx, and the test asks that kernel whether the strings do collide.
    """

    FACTOR = np.uint64(0xD6E8FEB86659FD93)
    INVERSE = np.uint64(0xCFEE444D8B59A89B)
    START = 0x9E3779B97F4A7C15
    LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8)

    @classmethod
    def step(cls, state, word):
        mixed = (state ^ word) * cls.FACTOR
        return mixed ^ (mixed >> np.uint64(32))

    @classmethod
    def start(cls, length):
        return np.full(1, length * cls.START % 2**64, np.uint64)

    @staticmethod
    def word(text):
        return np.frombuffer(text, np.uint64)

    @staticmethod
    def printable(words):
        letters = np.ascontiguousarray(words)[:, None].view(np.uint8)
        return np.flatnonzero(((letters >= 32) & (letters < 127)).all(axis=1))

    def letters(self, width, seed):
        """Many random words: their letters, and the words as integers, zero-padded."""
        letters = np.unique(np.random.default_rng(seed).choice(self.LETTERS, (20_000, width)), axis=0)
        words = np.zeros((len(letters), 8), np.uint8)
        words[:, :width] = letters
        return letters, words.view(np.uint64)[:, 0]

    def of_one_length(self, length, prefix=b""):
        """Pairs of printable strings of this length with one hash: one word differs, the next cancels it."""
        width = 4 if length <= 12 else 8
        letters, words = self.letters(width, length)
        if length <= 12:
            head = ((words << np.uint64(32)) | np.uint64(length)) * self.FACTOR
            states = head ^ (head >> np.uint64(32))
        else:
            states = self.start(length)
            for place in range(0, len(prefix), 8):
                states = self.step(states, self.word(prefix[place : place + 8]))
            states = self.step(states, words)
        second, rest = b"campaign", b"-" * (length - len(prefix) - width - 8)
        found = []
        for index in range(100):
            undo = states ^ states[index] ^ self.word(second)
            for match in self.printable(undo):
                if match != index:
                    left = prefix + letters[index].tobytes() + second + rest
                    found.append((left, prefix + letters[match].tobytes() + undo[match].tobytes() + rest))
        return found

    def of_two_lengths(self):
        """Strings of 16 bytes, and of 24 that begin with them, of one hash."""
        letters, words = self.letters(8, 1)
        second = b"campaign"
        short = self.step(self.step(self.start(16), words), self.word(second))
        long = self.step(self.step(self.start(24), words), self.word(second))
        third = long ^ ((short ^ (short >> np.uint64(32))) * self.INVERSE)
        return [
            (letters[index].tobytes() + second, letters[index].tobytes() + second + third[index].tobytes())
            for index in self.printable(third)
        ]

    @staticmethod
    def hashes(texts):
        data = np.frombuffer(b"".join(texts), np.uint8)
        offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
        heads, tails, hashes = (np.empty(len(texts), np.uint64) for _ in range(3))
        hash_partition.make_text_slots(data, offsets, heads, tails, hashes, np.zeros(1, np.int64))
        return hashes.tolist()

    @pytest.mark.parametrize(
        "kind", ["short", "two words", "and a byte more", "and ten bytes more", "a prefix in common", "a longer one"]
    )
    def test_colliding_strings_are_not_joined(self, kind):
        pairs = {
            "short": lambda: self.of_one_length(12),
            "two words": lambda: self.of_one_length(16),
            "and a byte more": lambda: self.of_one_length(17),
            "and ten bytes more": lambda: self.of_one_length(26),
            "a prefix in common": lambda: self.of_one_length(48, b"https://example.org/user"),
            "a longer one": self.of_two_lengths,
        }[kind]()[:300]
        assert len(pairs) > 1
        for left, right in pairs:
            first, second = self.hashes([left, right])
            assert (left != right, first) == (True, second)
        names = sorted({name.decode() for pair in pairs for name in pair})
        picks = np.tile(np.arange(len(names)), 9)
        log = strategies.click_log(len(picks), seed=1)
        expected = expected_table(log["label"], log["score"], picks)
        for container in (list, pa.array, lambda keys: pa.array(keys, pa.string_view()), np.array):
            keys = container([names[pick] for pick in picks])
            table = fm.auc_by_group(log["label"], log["score"], keys)
            assert list(table.group) == names
            np.testing.assert_array_equal(table.auc, expected[1])
            np.testing.assert_array_equal(table.n, expected[2])
