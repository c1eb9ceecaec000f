"""Metrics of pairs of rows, and purity: equal to their definitions and to scikit-learn."""

import inspect
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.exact import divide_root
from fastmetrics.metrics.clustering.contingency import Contingency
from fastmetrics.metrics.clustering.fowlkes_mallows import fowlkes_mallows
from fastmetrics.metrics.clustering.pair_confusion_matrix import count_pairs, pair_confusion
from fastmetrics.metrics.clustering.pair_jaccard import pair_jaccard
from fastmetrics.metrics.clustering.purity import purity
from fastmetrics.metrics.clustering.rand_index import adjusted_rand, rand
from oracles.clustering import clustering_pairs as oracle
from support.cases import assert_raises, assert_undefined, each_case

SCORES = [
    "adjusted_rand_score", "fowlkes_mallows_score", "pair_confusion_matrix", "pair_jaccard_score", "purity_score",
    "rand_score",
]  # fmt: skip
SKLEARN = [name for name in SCORES if name not in ("pair_jaccard_score", "purity_score")]
LABEL = st.integers(0, 4)
COLUMNS = st.integers(0, 65).flatmap(
    lambda n: st.tuples(st.lists(LABEL, min_size=n, max_size=n), st.lists(LABEL, min_size=n, max_size=n))
)
EDGES = [([], []), ([1], [2]), ([1, 1], [1, 2]), (list(range(64)), [0] * 64), (list(range(65)), list(range(65)))]


def table_of(cells):
    """The Contingency of a matrix of counts, with its cells in reverse order."""
    rows, columns = np.nonzero(np.array(cells, dtype=object))
    rows, columns = rows[::-1].copy(), columns[::-1].copy()
    counts = [cells[row][column] for row, column in zip(rows, columns, strict=True)]
    sums = [sum(row) for row in cells], [sum(column) for column in zip(*cells, strict=True)]
    return Contingency(
        rows, columns, np.array(counts, np.int64), *(np.array(margin, np.int64) for margin in sums), sum(counts),
        np.arange(len(sums[0])), np.arange(len(sums[1])),
    )  # fmt: skip


@given(COLUMNS)
@example(EDGES[0])
@example(EDGES[1])
@example(EDGES[2])
@example(EDGES[3])
@example(EDGES[4])
def test_scores_equal_their_definitions(columns):
    true, pred = columns
    assert fm.pair_confusion_matrix(true, pred).tolist() == oracle.pair_confusion(true, pred)
    assert fm.rand_score(true, pred) == oracle.rand(true, pred)
    assert fm.adjusted_rand_score(true, pred) == oracle.adjusted_rand(true, pred)
    assert is_nearest_root(fm.fowlkes_mallows_score(true, pred), oracle.fowlkes_mallows_squared(true, pred))
    expected = oracle.pair_jaccard(true, pred)
    if expected is None:
        assert_undefined("no pair of rows is together", fm.pair_jaccard_score, true, pred)
    else:
        assert fm.pair_jaccard_score(true, pred) == expected
    if true:
        assert fm.purity_score(true, pred) == oracle.purity(true, pred)


def is_nearest_root(found, square):
    """Is `found` the float nearest to the root of a fraction? Compares with the midpoints to its neighbors."""
    low, high = (
        (Fraction(found) + Fraction(math.nextafter(found, to))) / 2 for to in (-math.inf, math.inf)
    )
    return (low < 0 or low**2 <= square) and square <= high**2


@given(st.integers(0, 2**200), st.integers(1, 2**200))
@example(1, 4)
@example(2**100, 1)
@example(2**53 + 1, 2**53)
@example((2**53 + 1) ** 2, 2**106)  # a tie, and values so close to it that 150 bits do not separate them
@example((2**53 + 1) ** 2 * 2**200 + 1, 2**306)
@example((2**53 + 3) ** 2 * 2**200 - 1, 2**306)
def test_roots_of_fractions_are_rounded_once(numerator, denominator):
    assert is_nearest_root(divide_root(numerator, denominator), Fraction(numerator, denominator))



@pytest.mark.parametrize("name", [*SKLEARN, "contingency_matrix"])
def test_signatures_are_those_of_scikit_learn_plus_n_threads(name):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    theirs = getattr(metrics.cluster, name, None) or getattr(metrics, name)
    *ours, threads = inspect.signature(getattr(fm, name)).parameters.values()
    assert [(our.name, our.kind, our.default) for our in ours] == [
        (their.name, their.kind, their.default) for their in inspect.signature(theirs).parameters.values()
    ]
    assert (threads.name, threads.kind, threads.default) == ("n_threads", threads.KEYWORD_ONLY, None)


def test_no_rows_and_one_row():
    for name, value in [("rand_score", 1.0), ("adjusted_rand_score", 1.0), ("fowlkes_mallows_score", 0.0)]:
        assert getattr(fm, name)([], []) == value
        assert getattr(fm, name)([3], ["a"]) == value
    assert fm.pair_confusion_matrix([], []).tolist() == [[0, 0], [0, 0]]
    assert fm.purity_score([3], ["a"]) == 1.0
    assert_undefined("there are no rows", fm.purity_score, [], [])


# ------------------------------------------------------------------------------------------------------- large counts

COUNT = st.one_of(st.integers(0, 3), st.integers(0, 2**62), st.sampled_from([2**31, 2**32 - 1, 2**32, 2**62]))
TABLES = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(
        st.lists(COUNT, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)


def has_valid_margins(cells):
    """Has every class and cluster rows, and at most 2**63 - 1 of them? Their sum may be larger."""
    sums = [sum(row) for row in cells] + [sum(column) for column in zip(*cells, strict=True)]
    return all(0 < size < 2**63 for size in sums)


@given(TABLES.filter(has_valid_margins))
@example([[2**62, 0], [0, 2**62]])
@example([[2**62, 0, 0], [0, 2**62, 1], [0, 1, 2**62]])
@example([[3 * 10**9]])
@example([[10**9, 5 * 10**8], [5 * 10**8, 10**9]])
@example([[2**32 - 1]])
@example([[2**32 - 2, 1]])
def test_totals_far_beyond_64_bits(cells):
    table = table_of(cells)
    n = table.total
    both = sum(count * count for row in cells for count in row)
    classes = sum(sum(row) ** 2 for row in cells)
    clusters = sum(sum(column) ** 2 for column in zip(*cells, strict=True))
    found = count_pairs(table)
    assert found == (n * n - classes - clusters + both, clusters - both, classes - both, both - n)
    matrix = pair_confusion(table)
    assert matrix.ravel().tolist() == list(found)
    assert matrix.dtype == (np.int64 if max(found) < 2**63 else object)
    agreement = Fraction(found.neither + found.both, n * (n - 1)) if n > 1 else 1
    assert rand(table) == float(agreement)
    assert adjusted_rand(table) == oracle.adjusted_rand_of(cells)
    assert -0.5 <= adjusted_rand(table) <= 1
    square = Fraction((both - n) ** 2, max(1, (classes - n) * (clusters - n)))
    assert is_nearest_root(fowlkes_mallows(table), square)
    together = classes + clusters - both - n
    assert not together or pair_jaccard(table) == float(Fraction(both - n, together))
    assert purity(table) == float(Fraction(sum(max(column) for column in zip(*cells, strict=True)), n))


def test_scikit_learn_overflows_and_we_do_not(monkeypatch):
    """For four billion rows n^2 exceeds 2**63, so scikit-learn's int64 count of pairs is negative."""
    supervised = pytest.importorskip("sklearn.metrics.cluster._supervised", reason="scikit-learn is not installed")
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
    cells = [[15 * 10**8, 5 * 10**8], [5 * 10**8, 15 * 10**8]]

    class Rows:
        shape = (4 * 10**9,)

    monkeypatch.setattr(supervised, "check_clusterings", lambda *labels: (Rows, Rows))
    monkeypatch.setattr(supervised, "contingency_matrix", lambda *labels, **options: sparse.csr_matrix(cells))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        theirs = supervised.pair_confusion_matrix.__wrapped__([0], [0])
    assert sum(pair_confusion(table_of(cells)).ravel().tolist()) == 4 * 10**9 * (4 * 10**9 - 1)
    assert theirs.sum() < 0
    assert adjusted_rand(table_of(cells)) == pytest.approx(0.25)


def test_scikit_learn_rounds_three_times():
    """scikit-learn rounds numerator and denominator to floats before the division, so the last bit may differ."""
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    worst = 0
    for seed in range(20):
        true, pred = np.random.default_rng(seed).integers(0, 7, (2, 3000))
        expected = oracle.adjusted_rand_of(fm.contingency_matrix(true, pred).tolist())
        assert fm.adjusted_rand_score(true, pred) == expected
        worst = max(worst, abs(metrics.adjusted_rand_score(true, pred) - expected))
    assert worst < 1e-12


# ------------------------------------------------------------------------------------------------------ order, threads


@each_case("n_labels", [3, 5000])
@pytest.mark.parametrize("name", SCORES)
def test_results_do_not_depend_on_order_threads_or_names(name, n_labels):
    generator = np.random.default_rng(5)
    true, pred = generator.integers(0, n_labels, (2, 300_000))
    score = getattr(fm, name)
    expected = score(true, pred, n_threads=1)
    order = generator.permutation(true.shape[0])
    for found in (
        score(true, pred, n_threads=3),
        score(true[order], pred[order]),
        score(generator.permutation(n_labels)[true], pred - 10**6, n_threads=2),
        score(true.astype(np.float32), pred.astype("U4")),
    ):
        assert np.array_equal(found, expected)


@each_case("n_threads", [0, -2, 1.5, "2", True])
@pytest.mark.parametrize("name", [*SCORES, "contingency_matrix"])
def test_n_threads_must_be_a_positive_integer(name, n_threads):
    assert_raises(ValueError, "n_threads", getattr(fm, name), [0, 1], [0, 1], n_threads=n_threads)


def test_table_of_cells_equals_the_table_of_rows():
    true, pred = [0, 0, 1, 1, 2], [1, 1, 1, 0, 0]
    cells = [[0, 2], [1, 1], [1, 0]]
    assert fm.contingency_matrix(true, pred).tolist() == cells
    assert adjusted_rand(table_of(cells)) == fm.adjusted_rand_score(true, pred)
