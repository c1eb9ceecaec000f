"""XAUC, the concordance of numeric targets: the oracle with ==, AUC, other definitions, every kind of columns."""

import math
from fractions import Fraction
from importlib import import_module

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.exchange.weighted_ranges import span_of
from fastmetrics._kernels.regression import concordance as kernel
from oracles import regression as oracle
from support import strategies
from support.cases import assert_undefined, each_case
from support.peers import peer

xauc_module = import_module(
    "fastmetrics.metrics.regression.xauc"
)  # the package's attribute of that name is the function

DTYPES = ["float64", "float32", "float16", "int8", "int64", "bool"]


@st.composite
def cases(draw, max_size=60):
    """(targets, scores): few values, or any; of any type."""
    rows = draw(st.integers(1, max_size))
    columns = []
    for _ in range(2):
        dtype = draw(st.sampled_from(["float64", "float32"]))
        value = st.one_of(st.integers(0, 4).map(float), strategies.any_score(dtype))
        pool = draw(st.lists(value, min_size=1, max_size=draw(st.sampled_from([1, 3, 60]))))
        columns.append(np.array(draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows)), dtype))
    return columns


def expected(y_true, y_score, weights=None):
    share = oracle.xauc(np.asarray(y_true).tolist(), np.asarray(y_score).tolist(), weights)
    return math.nan if share is None else float(share)


def xauc(*arguments, **options):
    """Undefined is NaN here."""
    try:
        return fm.xauc(*arguments, **options)
    except fm.UndefinedMetricWarning:
        return math.nan


def is_same(value, other):
    return value == other or (math.isnan(value) and math.isnan(other))


@given(cases())
def test_is_the_oracle(case):
    assert is_same(xauc(*case), expected(*case))


@given(cases(), st.data())
def test_with_weights_is_the_oracle(case, data):
    """Exactly: of whole numbers, of any fractions, and over many orders of magnitude."""
    weight = st.sampled_from([st.integers(0, 5).map(float), st.floats(0, 1), st.floats(1e-9, 1e9), st.just(2.0**-300)])
    weights = data.draw(st.lists(data.draw(weight), min_size=len(case[0]), max_size=len(case[0])))
    assert is_same(xauc(*case, sample_weight=weights), expected(*case, weights))


@given(cases(max_size=12), st.lists(st.floats(1e-300, 1e300), min_size=12, max_size=12))
def test_weights_that_span_everything(case, weights):
    """Weights that span more than 2**126 are rounded; the small ones then hardly change the result."""
    weights = weights[: len(case[0])]
    value, other = xauc(*case, sample_weight=weights), expected(*case, weights)
    spans_much = max(weights) / min(weights) > 2.0**70
    assert is_same(value, other) or (spans_much and (math.isnan(value) or 0 <= value <= 1))


@each_case("rows", [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 200, 257])
@each_case("levels", [2, 10, 10**6])
def test_any_number_of_rows(rows, levels):
    generator = np.random.default_rng(rows * levels)
    y_true, y_score = generator.integers(0, levels, (2, rows)).astype(np.float64)
    weights = generator.integers(1, 9, rows).astype(np.float64)
    assert is_same(xauc(y_true, y_score), expected(y_true, y_score))
    assert is_same(xauc(y_true, y_score, sample_weight=weights), expected(y_true, y_score, weights.tolist()))


def count_every_pair(y_true, y_score):
    """The share, by comparing every row with all others at once."""
    won = pairs = 0
    for y, s in zip(y_true, y_score, strict=True):
        lower = y_true < y
        pairs += int(np.count_nonzero(lower))
        won += 2 * int(np.count_nonzero(lower & (y_score < s))) + int(np.count_nonzero(lower & (y_score == s)))
    return float(Fraction(won, 2 * pairs))


COLUMN_KINDS = {
    "float64": lambda y, s: (y, s),
    "both of 32 bits": lambda y, s: (y.astype(np.float32), s.astype(np.float32)),
    "32 and 64 bits": lambda y, s: (y.astype(np.float32), s),
    "whole targets": lambda y, s: (np.floor(y), s),
    "two targets": lambda y, s: (np.floor(y / 40), s),
    "far from zero": lambda y, s: (1e12 + y, s),
    "a cluster and an outlier": lambda y, s: (np.where(y > 290, 1e300, 1 + y * 1e-14), s),
    "few scores": lambda y, s: (y, np.floor(s / 30)),
    "concordant": lambda y, s: (y, y),
    "discordant": lambda y, s: (y, -y),
}


@each_case("kind", COLUMN_KINDS)
@each_case("rows", [900, 5000])
def test_every_kind_of_columns(kind, rows, monkeypatch):
    """Also with runs that are so short that several threads merge them on several levels."""
    generator = np.random.default_rng(rows)
    y_true = generator.gamma(1.0, 40.0, rows)
    y_true, y_score = COLUMN_KINDS[kind](y_true, y_true * np.exp(generator.normal(0, 1, rows)))
    value = count_every_pair(y_true, y_score)
    assert fm.xauc(y_true, y_score) == value
    ones = np.ones(rows)
    assert fm.xauc(y_true, y_score, sample_weight=ones) == value
    monkeypatch.setattr(xauc_module, "SERIAL_ROWS", 10)
    for run_rows in (64, 100, 1024):
        monkeypatch.setattr(xauc_module, "RUN_ROWS", run_rows)
        for n_threads in (1, 2, 3):
            assert fm.xauc(y_true, y_score, n_threads=n_threads) == value
            assert fm.xauc(y_true, y_score, sample_weight=2.5 * ones, n_threads=n_threads) == value


@each_case("kind", COLUMN_KINDS)
def test_many_rows(kind):
    """More rows than a run, and ties of more rows than the kernel sorts; against the AUC of two targets."""
    generator = np.random.default_rng(3)
    rows = 150_000
    y_true = generator.gamma(1.0, 40.0, rows)
    y_true, y_score = COLUMN_KINDS[kind](y_true, y_true * np.exp(generator.normal(0, 1, rows)))
    values = {fm.xauc(y_true, y_score, n_threads=n_threads) for n_threads in (1, 2, None)}
    order = generator.permutation(rows)
    values.add(fm.xauc(y_true[order], y_score[order]))
    values.add(fm.xauc(y_true, y_score, sample_weight=np.full(rows, 0.5)))
    assert len(values) == 1
    label = y_true > np.median(y_true)
    if label.any():
        assert fm.xauc(label, y_score) == fm.roc_auc_score(label, y_score)
    if kind == "float64":
        # Without ties, tau and XAUC differ only in scale.
        tau = peer("scipy.stats").kendalltau(y_true, y_score).statistic
        assert math.isclose(values.pop(), (tau + 1) / 2, rel_tol=1e-9)


@given(strategies.labeled_scores())
def test_of_classes_it_is_auc(case):
    assert fm.xauc(*case) == fm.roc_auc_score(*case, allow_infinite=True)


@given(strategies.labeled_scores(), st.data())
def test_of_classes_with_weights_it_is_weighted_auc(case, data):
    weights = data.draw(strategies.integer_weights(len(case[0])))
    weights[:2] = 1.0
    assert fm.xauc(*case, sample_weight=weights) == fm.roc_auc_score(*case, sample_weight=weights, allow_infinite=True)


def test_by_hand():
    """Pairs (1, 2) and (1, 3) are concordant, (2, 3) is tied; two rows of target 1 are no pair."""
    assert fm.xauc([1, 1, 2, 3], [0.1, 0.3, 0.4, 0.4]) == 4.5 / 5
    assert fm.xauc([1, 2, 3], [3, 2, 1]) == 0.0
    assert fm.xauc([-math.inf, 0, math.inf], [1, 2, 3]) == 1.0
    assert fm.xauc([0.0, -0.0, 1.0], [5.0, 1.0, 3.0]) == 0.5
    assert fm.xauc([1.0, 2.0], [-0.0, 0.0]) == 0.5
    assert fm.xauc([5, 5, 7], [1, 2, 0], sample_weight=[1.0, 0.0, 3.0]) == 0.0


EQUAL = "all targets are equal"
UNDEFINED = [([2.0, 2.0, 2.0], None, EQUAL), ([2.0], None, EQUAL), ([1.0, 2.0, 2.0], [0.0, 1.0, 1.0], EQUAL),
             ([1.0, 2.0], [0.0, 0.0], "every weight is zero")]  # fmt: skip


@each_case(("y_true", "weights", "reason"), UNDEFINED)
def test_undefined(y_true, weights, reason):
    assert_undefined(f"xauc is undefined: {reason}", fm.xauc, y_true, np.arange(len(y_true)), sample_weight=weights)


@each_case("dtype", DTYPES)
def test_types(dtype):
    y_true, y_score = [1, 0, 1, 3, 2, 1], [1, 0, 0, 1, 1, 3]
    columns = np.array(y_true).astype(dtype), np.array(y_score).astype(dtype)
    assert fm.xauc(*columns) == expected(*(column.astype(float) for column in columns))


def test_counts_beyond_a_word():
    """Weights near 2**126: squares of their sums have nearly six words."""
    generator = np.random.default_rng(1)
    y_true, y_score = generator.integers(0, 5, (2, 100)).astype(float)
    weights = generator.random(100) * 2.0 ** generator.integers(0, 70, 100)
    weights[:50] = 2.0**120 * (1 - 2.0**-53)
    assert fm.xauc(y_true, y_score, sample_weight=weights) == expected(y_true, y_score, weights.tolist())


def test_words_of_weights():
    def integer_weights(weights):
        return xauc_module.integer_weights(weights, span_of(weights))

    whole = integer_weights(np.array([1.0, 2.0**-60, 3.0, 2.0**40]))
    assert whole.shape == (4, 2)
    assert [int(low) + (int(high) << 64) for low, high in whole] == [2**60, 1, 3 * 2**60, 2**100]
    assert integer_weights(np.array([0.5, 0.75])).tolist() == [[2], [3]]
    assert integer_weights(np.array([1.0, 3 * 2.0**63])).tolist() == [[1, 0], [2**63, 1]]
    assert xauc_module.sum_integer_weights(whole) == sum(int(low) + (int(high) << 64) for low, high in whole)


def to_words(numbers):
    return np.array([[number % 2**64, number >> 64] for number in numbers], np.uint64)


EDGES = st.sampled_from([1, 2**64 - 1, 2**64, 2**126 - 1, 2**126 - 2**64, 2**63, (2**62 - 1) << 64])


@given(st.lists(st.tuples(st.integers(0, 5), st.one_of(EDGES, st.integers(1, 2**126 - 1))), min_size=1, max_size=40))
def test_discordant_pairs_of_any_words(rows):
    keys, weights = (list(column) for column in zip(*rows, strict=True))
    words, count = to_words(weights), np.zeros(kernel.COUNT_WORDS, np.uint64)
    column = np.array(keys, np.uint64)
    kernel.count_discordant(column, words, 0, len(rows), np.empty_like(column), np.empty_like(words), count)
    pairs = [(i, j) for j in range(len(rows)) for i in range(j) if keys[i] > keys[j]]
    assert xauc_module.words_to_integer(count) == sum(weights[i] * weights[j] for i, j in pairs)
    assert column.tolist() == sorted(keys)
    assert sorted(words.tolist()) == sorted(to_words(weights).tolist())


def test_a_borrow_across_a_word():
    """The first weight is subtracted from the sum. The borrow passes a word that is equal in both."""
    weights = [2**63 + (7 << 64), 2**63, *[(2**62 - 2**10) << 64] * 4, 4095 << 64, 3]
    keys = np.array([0, 5, 5, 5, 5, 5, 5, 1], np.uint64)
    words, count = to_words(weights), np.zeros(kernel.COUNT_WORDS, np.uint64)
    kernel.merge_discordant(keys, words, 0, 7, 8, np.empty_like(keys), np.empty_like(words), count)
    assert xauc_module.words_to_integer(count) == 3 * sum(weights[1:7])


@given(st.lists(st.integers(0, 2**126 - 1), min_size=1, max_size=20))
def test_squares_of_sums(numbers):
    words = to_words(numbers)
    count = np.zeros(kernel.COUNT_WORDS, np.uint64)
    kernel.add_tie_squares(np.zeros(len(numbers), np.uint64), None, words, count)
    assert xauc_module.words_to_integer(count) == sum(numbers) ** 2
    kernel.add_tie_squares(np.arange(len(numbers), dtype=np.uint64), None, words, count)
    assert xauc_module.words_to_integer(count) == sum(numbers) ** 2 + sum(number**2 for number in numbers)
