"""Scores over pairs of rows, purity, and the Jaccard distance: against their definitions, scikit-learn and SciPy."""

import inspect
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.exact import divide_root
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics.metrics.clustering import pairs
from fastmetrics.metrics.clustering.contingency import Contingency
from fastmetrics.metrics.clustering.purity import purity
from tests.oracles import clustering_pairs as oracle

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


def quiet(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return function(*args, **options)


def table_of(cells):
    """A table made by hand: of rows of counts, its cells in an order of their own."""
    rows, columns = np.nonzero(np.array(cells, dtype=object))
    rows, columns = rows[::-1].copy(), columns[::-1].copy()
    counts = [cells[row][column] for row, column in zip(rows, columns, strict=True)]
    sums = [sum(row) for row in cells], [sum(column) for column in zip(*cells, strict=True)]
    return Contingency(
        rows, columns, np.array(counts, np.int64), *(np.array(each, np.int64) for each in sums), sum(counts),
        np.arange(len(sums[0])), np.arange(len(sums[1])),
    )  # fmt: skip


@given(COLUMNS)
@example(EDGES[0])
@example(EDGES[1])
@example(EDGES[2])
@example(EDGES[3])
@example(EDGES[4])
def test_scores_are_their_definitions(columns):
    true, pred = columns
    assert fm.pair_confusion_matrix(true, pred).tolist() == oracle.pair_confusion(true, pred)
    assert fm.rand_score(true, pred) == oracle.rand(true, pred)
    assert fm.adjusted_rand_score(true, pred) == oracle.adjusted_rand(true, pred)
    assert nearest_root(fm.fowlkes_mallows_score(true, pred), oracle.fowlkes_mallows_squared(true, pred))
    wanted = oracle.pair_jaccard(true, pred)
    if wanted is None:
        with pytest.warns(UndefinedMetricWarning, match="no pair of rows is together"):
            assert math.isnan(fm.pair_jaccard_score(true, pred))
    else:
        assert fm.pair_jaccard_score(true, pred) == wanted
    if true:
        assert fm.purity_score(true, pred) == oracle.purity(true, pred)


def nearest_root(found, square):
    """Is `found` the float nearest to the root of a fraction? Its neighbours' midpoints say so."""
    low, high = (
        (Fraction(found) + Fraction(math.nextafter(found, to))) / 2 for to in (-math.inf, math.inf)
    )
    return (low < 0 or low**2 <= square) and square <= high**2


@given(st.integers(0, 2**200), st.integers(1, 2**200))
@example(1, 4)
@example(2**100, 1)
@example(2**53 + 1, 2**53)
@example((2**53 + 1) ** 2, 2**106)  # a tie, and what lies beside it by less than 150 bits see
@example((2**53 + 1) ** 2 * 2**200 + 1, 2**306)
@example((2**53 + 3) ** 2 * 2**200 - 1, 2**306)
def test_roots_of_fractions_are_rounded_once(numerator, denominator):
    assert nearest_root(divide_root(numerator, denominator), Fraction(numerator, denominator))


@settings(max_examples=30)
@given(COLUMNS)
@example(EDGES[0])
@example(EDGES[1])
@example(EDGES[4])
def test_scores_are_scikit_learns(columns):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    for name in SKLEARN:
        theirs = getattr(metrics.cluster, name, None) or getattr(metrics, name)
        found, wanted = getattr(fm, name)(*columns), theirs(*columns)
        if name == "pair_confusion_matrix":
            assert found.dtype == wanted.dtype
            assert (found == wanted).all()
        else:
            assert type(found) is type(wanted) is float
            assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", [*SKLEARN, "contingency_matrix"])
def test_signatures_are_scikit_learns_and_threads(name):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    theirs = getattr(metrics.cluster, name, None) or getattr(metrics, name)
    *ours, threads = inspect.signature(getattr(fm, name)).parameters.values()
    wanted = inspect.signature(theirs).parameters.values()
    assert [(one.name, one.kind, one.default) for one in ours] == [(one.name, one.kind, one.default) for one in wanted]
    assert (threads.name, threads.kind, threads.default) == ("n_threads", threads.KEYWORD_ONLY, None)


def test_no_rows_and_one_row():
    for name, value in [("rand_score", 1.0), ("adjusted_rand_score", 1.0), ("fowlkes_mallows_score", 0.0)]:
        assert getattr(fm, name)([], []) == value
        assert getattr(fm, name)([3], ["a"]) == value
    assert fm.pair_confusion_matrix([], []).tolist() == [[0, 0], [0, 0]]
    assert fm.purity_score([3], ["a"]) == 1.0
    with pytest.warns(UndefinedMetricWarning, match="there are no rows"):
        assert math.isnan(fm.purity_score([], []))


# ------------------------------------------------------------------------------------------------------- large counts

COUNT = st.one_of(st.integers(0, 3), st.integers(0, 2**62), st.sampled_from([2**31, 2**32 - 1, 2**32, 2**62]))
TABLES = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(
        st.lists(COUNT, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)


def fits(cells):
    """Every class and cluster has rows, and no more than int64 holds; their sum may."""
    sums = [sum(row) for row in cells] + [sum(column) for column in zip(*cells, strict=True)]
    return all(0 < each < 2**63 for each in sums)


@given(TABLES.filter(fits))
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
    found = pairs.count_pairs(table)
    assert found == (n * n - classes - clusters + both, clusters - both, classes - both, both - n)
    matrix = pairs.pair_confusion(table)
    assert matrix.ravel().tolist() == list(found)
    assert matrix.dtype == (np.int64 if max(found) < 2**63 else object)
    agreeing = Fraction(found.neither + found.both, n * (n - 1)) if n > 1 else 1
    assert pairs.rand(table) == float(agreeing)
    assert pairs.adjusted_rand(table) == oracle.adjusted_rand_of(cells)
    assert -0.5 <= pairs.adjusted_rand(table) <= 1
    square = Fraction((both - n) ** 2, max(1, (classes - n) * (clusters - n)))
    assert nearest_root(pairs.fowlkes_mallows(table), square)
    together = classes + clusters - both - n
    assert not together or pairs.pair_jaccard(table) == float(Fraction(both - n, together))
    assert purity(table) == float(Fraction(sum(max(column) for column in zip(*cells, strict=True)), n))


def test_scikit_learn_overflows_where_we_do_not(monkeypatch):
    """Four billion rows in two equal halves: n^2 passes 2**63, which int64 answers with a negative count of pairs."""
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
    ours = pairs.pair_confusion(table_of(cells))
    assert sum(ours.ravel().tolist()) == 4 * 10**9 * (4 * 10**9 - 1)
    assert theirs.sum() < 0
    assert pairs.adjusted_rand(table_of(cells)) == pytest.approx(0.25)


def test_scikit_learns_division_is_rounded_three_times():
    """Its numerator and denominator become floats before they are divided: the last bit is lost."""
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    worst = 0
    for seed in range(20):
        true, pred = np.random.default_rng(seed).integers(0, 7, (2, 3000))
        wanted = oracle.adjusted_rand_of(fm.contingency_matrix(true, pred).tolist())
        assert fm.adjusted_rand_score(true, pred) == wanted
        worst = max(worst, abs(metrics.adjusted_rand_score(true, pred) - wanted))
    assert worst < 1e-12


# ------------------------------------------------------------------------------------------------------ order, threads


@pytest.mark.parametrize("n_labels", [3, 5000])
@pytest.mark.parametrize("name", SCORES)
def test_neither_order_nor_threads_nor_names_change_a_bit(name, n_labels):
    generator = np.random.default_rng(5)
    true, pred = generator.integers(0, n_labels, (2, 300_000))
    score = getattr(fm, name)
    wanted = score(true, pred, n_threads=1)
    order = generator.permutation(true.shape[0])
    renamed = generator.permutation(n_labels)
    for found in (
        score(true, pred, n_threads=3),
        score(true[order], pred[order]),
        score(renamed[true], pred - 10**6, n_threads=2),
        score(true.astype(np.float32), pred.astype("U4")),
    ):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("n_threads", [0, -1, 1.5, "2", True])
@pytest.mark.parametrize("name", [*SCORES, "contingency_matrix"])
def test_threads_are_a_positive_number(name, n_threads):
    with pytest.raises(ValueError, match="n_threads"):
        getattr(fm, name)([0, 1], [0, 1], n_threads=n_threads)


# ---------------------------------------------------------------------------------------------------- Jaccard distance

SETS = st.sets(st.integers(0, 6))
BITS = st.integers(1, 65).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 1), min_size=n, max_size=n)] * 2)
)


@given(SETS, SETS)
def test_distance_of_sets(first, second):
    assert fm.jaccard_distance(first, frozenset(second)) == oracle.jaccard_distance(first, second)


@given(BITS)
@example(([0], [0]))
@example(([1, 1], [1, 1]))
def test_distance_of_bits_is_scipys_and_that_of_sets(columns):
    jaccard = pytest.importorskip("scipy.spatial.distance", reason="SciPy is not installed").jaccard
    first, second = (np.array(column) for column in columns)
    wanted = fm.jaccard_distance(set(np.flatnonzero(first)), set(np.flatnonzero(second)))
    assert fm.jaccard_distance(first, second) == wanted == jaccard(first.astype(bool), second.astype(bool))
    assert fm.jaccard_distance(first.astype(bool), second.astype(bool), pos_label=True) == wanted


@pytest.mark.parametrize("average", ["micro", "macro", "weighted", None])
@pytest.mark.parametrize("weighted", [False, True])
def test_distance_of_labels_is_one_minus_their_jaccard(average, weighted):
    generator = np.random.default_rng(2)
    true, pred = generator.integers(0, 4, (2, 100))
    weights = generator.random(100) if weighted else None
    options = {"average": average, "sample_weight": weights, "labels": [2, 0, 3]}
    found = fm.jaccard_distance(true, pred, **options)
    assert found == pytest.approx(1 - fm.jaccard_score(true, pred, **options), abs=1e-15)
    matrix = generator.integers(0, 2, (2, 50, 3))
    assert fm.jaccard_distance(*matrix, average="samples") == pytest.approx(
        1 - fm.jaccard_score(*matrix, average="samples", zero_division=1), abs=1e-15
    )


def test_distance_of_nothing():
    assert fm.jaccard_distance(set(), frozenset()) == 0.0
    assert fm.jaccard_distance([0, 0], [0, 0]) == 0.0
    assert fm.jaccard_distance(set(), set(), zero_division=0) == 1.0
    for nothing in (set(), [0, 0]):
        with pytest.warns(UndefinedMetricWarning, match=r"set to 1\.0") as caught:
            assert fm.jaccard_distance(nothing, nothing, zero_division="warn") == 1.0
        assert caught[0].filename == __file__


def test_sets_have_no_options_of_columns():
    for name, value in {"labels": [1], "pos_label": 2, "average": "micro", "sample_weight": [1]}.items():
        with pytest.raises(ValueError, match=f"{name} is an option of columns"):
            fm.jaccard_distance({1}, {2}, **{name: value})
    for columns in (({1}, [1]), ([1], {1})):
        with pytest.raises(TypeError, match="must be a set, as the other is; found list"):
            fm.jaccard_distance(*columns)
    with pytest.raises(ValueError, match="average must be one of"):
        fm.jaccard_distance({1}, {2}, average="mean")


def test_the_table_made_by_hand_is_the_table_of_rows():
    true, pred = [0, 0, 1, 1, 2], [1, 1, 1, 0, 0]
    cells = [[0, 2], [1, 1], [1, 0]]
    assert fm.contingency_matrix(true, pred).tolist() == cells
    assert pairs.adjusted_rand(table_of(cells)) == fm.adjusted_rand_score(true, pred)
