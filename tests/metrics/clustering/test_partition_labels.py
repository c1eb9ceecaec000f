"""contingency_matrix, and the labels of partitions: any type and any range, different for each column."""

import datetime
import decimal
import sys
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._kernels.clustering.label_cells import (
    KeyCounter,
    TableCounter,
    count_range,
    partition_sizes,
    scatter_keys,
)
from fastmetrics.metrics.clustering import contingency
from fastmetrics.metrics.clustering.contingency import EncodedLabels, count_contingency, count_keys
from oracles.clustering import clustering_pairs as oracle
from support.cases import assert_raises, each_case

NUMBERS = [0, 1, 1, 2, 0, 2, 2, 1]
CLUSTERS = [5, 5, 7, 7, 7, 5, 7, 5]
EXPECTED = oracle.contingency(NUMBERS, CLUSTERS)
WIDE = [-(2**63), -(2**63), 2**63 - 1, 2**63 - 1, 0, 5, 5, 0]


def as_cells(table):
    """A table as a Counter of pairs of labels; also checks its margins."""
    classes, clusters = table.classes.tolist(), table.clusters.tolist()
    assert len(set(classes)) == len(classes) == len(table.row_sums)
    assert len(set(clusters)) == len(clusters) == len(table.column_sums)
    cells = Counter()
    rows, columns = Counter(), Counter()
    for row, column, count in zip(table.rows.tolist(), table.columns.tolist(), table.counts.tolist(), strict=True):
        assert count > 0
        assert (classes[row], clusters[column]) not in cells
        cells[classes[row], clusters[column]] = count
        rows[row] += count
        columns[column] += count
    assert [rows[i] for i in range(len(classes))] == table.row_sums.tolist()
    assert [columns[j] for j in range(len(clusters))] == table.column_sums.tolist()
    assert sum(cells.values()) == table.total
    assert {array.dtype for array in table[:5]} == {np.dtype(np.int64)}
    return cells


def pairs_of(true, pred):
    return Counter(zip(list(true), list(pred), strict=True))


# ------------------------------------------------------------------------------------------------------ types of labels


def typed_columns():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    polars = pytest.importorskip("polars", reason="polars is not installed")
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    texts = ["a", "bb", "ü"]
    words = [texts[number] for number in NUMBERS]
    days = [datetime.date(2020, 1, 1 + number) for number in NUMBERS]
    yield from ((f"np {kind}", np.array(NUMBERS, kind)) for kind in "bBhHiIlLqQefdgm")
    yield "big-endian", np.array(NUMBERS, ">i4")
    yield "strided", np.repeat(np.array(NUMBERS), 2)[::2]
    yield "reversed", np.array(NUMBERS[::-1])[::-1]
    yield "read-only", np.frombuffer(np.array(NUMBERS).tobytes(), np.int64)
    yield "uint64 beyond int64", np.array(NUMBERS, np.uint64) + np.uint64(2**63 - 1)
    yield "far apart", np.array([-(2**63), 0, 2**63 - 1])[NUMBERS]
    yield "days", np.array(days, "M8[D]")
    yield "list", NUMBERS
    yield "tuple", tuple(NUMBERS)
    yield "list of text", words
    yield "fixed text", np.array(words)
    yield "objects of text", np.array(words, object)
    yield "objects of integers", np.array(NUMBERS, object)
    yield "huge integers", [2**70 + number for number in NUMBERS]
    yield "dates", np.array(days, object)
    yield "decimals", np.array([decimal.Decimal(number) for number in NUMBERS], object)
    yield "pandas", pandas.Series(NUMBERS, index=range(10, 18))
    yield "pandas Int64", pandas.Series(NUMBERS, dtype="Int64")
    yield "pandas text", pandas.Series(words)
    yield "pandas categorical", pandas.Series(words, dtype="category")
    yield "pandas categorical of integers", pandas.Series(NUMBERS, dtype="category")
    yield "pandas dates", pandas.Series(pandas.to_datetime(days))
    yield "polars", polars.Series(NUMBERS)
    yield "polars text", polars.Series(words)
    yield "polars categorical", polars.Series(words, dtype=polars.Categorical)
    yield "polars dates", polars.Series(days)
    yield "arrow", arrow.array(NUMBERS)
    yield "arrow chunks", arrow.chunked_array([NUMBERS[:3], [], NUMBERS[3:]])
    yield "arrow text", arrow.array(words)
    yield "arrow dictionary", arrow.array(words).dictionary_encode()
    yield "arrow dates", arrow.array(days)


TYPED = ["np b", "np B", "np h", "np H", "np i", "np I", "np l", "np L", "np q", "np Q", "np e", "np f", "np d", "np g",
         "np m", "big-endian", "strided", "reversed", "read-only", "uint64 beyond int64", "far apart", "days", "list",
         "tuple", "list of text", "fixed text", "objects of text", "objects of integers", "huge integers", "dates",
         "decimals", "pandas", "pandas Int64", "pandas text", "pandas categorical", "pandas categorical of integers",
         "pandas dates", "polars", "polars text", "polars categorical", "polars dates", "arrow", "arrow chunks",
         "arrow text", "arrow dictionary", "arrow dates"]  # fmt: skip


@each_case("kind", TYPED)
def test_labels_of_every_type(kind):
    columns = dict(typed_columns())
    assert sorted(columns) == sorted(TYPED)
    assert fm.contingency_matrix(columns[kind], CLUSTERS).tolist() == EXPECTED
    assert fm.contingency_matrix(CLUSTERS, columns[kind]).T.tolist() == EXPECTED
    assert as_cells(count_contingency(columns[kind], CLUSTERS)).total() == 8
    assert fm.adjusted_rand_score(columns[kind], columns["fixed text"]) == 1.0


@each_case("kind", ["l", "i", "B", "Q", "d", "f", "?", "U", "O", "m"])
def test_classes_are_the_labels_themselves(kind):
    labels = [True, False, True] if kind == "?" else ["x", "y", "x"] if kind in "UO" else [3, 0, 3]
    column = np.array(labels, kind)
    table = count_contingency(column, [1, 1, 1])
    assert table.classes.dtype.kind == ("U" if kind in "UO" else column.dtype.kind)
    assert sorted(table.classes.tolist()) == sorted(set(column.tolist()))
    assert as_cells(table) == pairs_of(column.tolist(), [1, 1, 1])


@each_case("kind", ["f2", "f4", "f8", "g"])
def test_fractions_are_labels_with_a_warning(kind):
    column = np.array([0.5, 0.25, 0.5, 1, -0.0, 0.0, 2**15, 0.25], kind)
    with pytest.warns(UserWarning, match="labels_true has fractions") as caught:
        found = fm.rand_score(column, CLUSTERS)
    assert caught[0].filename == __file__
    assert found == oracle.rand(column.tolist(), CLUSTERS)
    assert fm.contingency_matrix(column, CLUSTERS).tolist() == oracle.contingency(column.tolist(), CLUSTERS)
    table = count_contingency(column, CLUSTERS, warn=False)
    assert table.classes.dtype == column.dtype
    assert as_cells(table) == pairs_of(column.tolist(), CLUSTERS)


def test_warnings_name_the_column_and_point_to_the_caller():
    for name in ("adjusted_rand_score", "fowlkes_mallows_score", "pair_confusion_matrix", "pair_jaccard_score",
                 "purity_score", "rand_score"):  # fmt: skip
        with pytest.warns(UserWarning, match="labels_pred has fractions") as caught:
            getattr(fm, name)([1, 2, 1], [1.5, 1.5, 2])
        assert [warning.filename for warning in caught] == [__file__]


# ---------------------------------------------------------------------------------------------------------- bad labels

BAD = {
    "lengths": ([1, 2, 3], [1, 2], ValueError, "labels_true has 3 rows but labels_pred has 2"),
    "matrix": ([[1], [2]], [1, 2], ValueError, r"labels_true must have one dimension; found 2 \(shape \(2, 1\)\)"),
    "scalar": (1, [1], TypeError, "labels_true must be an array"),
    "none": ([1], None, TypeError, "labels_pred must be an array"),
    "text": ("ab", [1, 2], ValueError, "labels_true must be an array"),
    "set": ({1, 2}, [1, 2], ValueError, "labels_true must be an array"),
    "nan": ([1.0, float("nan")], [1, 2], ValueError, "labels_true has NaN at row 1"),
    "infinity": ([1, 2], np.array([1.0, np.inf]), ValueError, "labels_pred has inf at row 1"),
    "nat": ([1, 2], np.array(["2020", "NaT"], "M8[D]"), ValueError, "labels_pred has NaT at row 1"),
    "missing": (np.array(["a", None], object), [1, 2], TypeError, "labels_true has None at row 1 beside text"),
    "missing first": (np.array([None, "a"], object), [1, 2], ValueError, "labels_true has None at row 0"),
    "nan among objects": (np.array([1, 1, float("nan")], object), [1] * 3, ValueError, "labels_true has NaN at row 2"),
    "two kinds": (np.array([1, "a"], object), [1, 2], TypeError, "labels_true has labels without a common order"),
    "unhashable": (np.array([[1], {}], object), [1, 2], TypeError, "labels_true has labels without a common order"),
    "complex": ([1j, 2], [1, 2], ValueError, "labels_true has dtype complex128"),
    "bytes": ([b"a", b"b"], [1, 2], TypeError, "labels_true has labels of bytes"),
    "bytes as objects": (np.array([b"a", b"b"], object), [1, 2], TypeError, "labels_true has labels of bytes"),
}


@each_case("what", BAD)
def test_bad_labels(what):
    true, pred, error, message = BAD[what]
    for function in (fm.adjusted_rand_score, fm.contingency_matrix, fm.purity_score):
        assert_raises(error, message, function, true, pred)


def test_sparse_matrices_and_nulls_are_rejected():
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    assert_raises(
        TypeError, "labels_true must be one column of labels; found a sparse matrix",
        fm.rand_score, sparse.csr_matrix([[1], [0]]), [1, 2],
    )
    for column in (pandas.Series([1, None], dtype="Int64"), arrow.array([1, None]), arrow.array(["a", None])):
        assert_raises(ValueError, "labels_pred has a null at row 1", fm.rand_score, [1, 2], column)


# --------------------------------------------------------------------------------------------------- contingency_matrix

LABELS = st.one_of(st.integers(0, 4), st.integers(-(2**63), 2**63 - 1))
LETTERS = st.sampled_from("abc")
COLUMNS = st.integers(0, 65).flatmap(
    lambda n: st.tuples(*(st.lists(labels, min_size=n, max_size=n) for labels in (LABELS, LETTERS)))
)


@settings(max_examples=40)
@given(COLUMNS, st.sampled_from([None, 0, 0.5]), st.sampled_from([np.int64, np.float32, np.uint8, None]))
@example(([], []), None, np.int64)
@example((WIDE, list("aabbccab")), 0.5, np.float32)
def test_matrices_equal_scikit_learn(columns, eps, dtype):
    cluster = pytest.importorskip("sklearn.metrics.cluster", reason="scikit-learn is not installed")
    found = fm.contingency_matrix(*columns, eps=eps, dtype=dtype)
    expected = cluster.contingency_matrix(*columns, eps=eps, dtype=dtype)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert (found == expected).all()
    assert not columns[0] or eps or found.tolist() == oracle.contingency(*columns)
    sparse = fm.contingency_matrix(*columns, sparse=True, dtype=dtype)
    expected = cluster.contingency_matrix(*columns, sparse=True, dtype=dtype)
    assert type(sparse) is type(expected)
    assert (sparse.dtype, sparse.shape) == (expected.dtype, expected.shape)
    assert sparse.has_canonical_format
    assert all((getattr(sparse, name) == getattr(expected, name)).all() for name in ("data", "indices", "indptr"))


def test_options_of_matrices():
    for eps in (-1, float("nan"), float("inf"), "1"):
        assert_raises(ValueError, "eps must be a number of at least 0", fm.contingency_matrix, [1], [1], eps=eps)
    assert_raises(
        ValueError, "eps must be None with sparse=True", fm.contingency_matrix, [1], [1], eps=0.5, sparse=True
    )
    assert_raises(ValueError, "sparse must be True or False", fm.contingency_matrix, [1], [1], sparse=1)
    for dtype in (object, "U3", "M8[D]"):
        assert_raises(ValueError, "dtype must be a type of numbers", fm.contingency_matrix, [1], [1], dtype=dtype)
    assert fm.contingency_matrix([1, 1], [1, 1], dtype=bool).tolist() == [[True]]


def test_counts_never_overflow():
    """scikit-learn returns 44, which is 300 rows modulo 256."""
    assert_raises(
        ValueError, "dtype int8 cannot hold a count of 300", fm.contingency_matrix, [1] * 300, [1] * 300, dtype=np.int8
    )
    cluster = pytest.importorskip("sklearn.metrics.cluster", reason="scikit-learn is not installed")
    assert cluster.contingency_matrix([1] * 300, [1] * 300, dtype=np.int8).tolist() == [[44]]


def test_error_without_scipy_names_the_command_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    message = r"contingency_matrix with sparse=True needs scipy: pip install 'fastmetrics-engine\[stats\]'"
    assert_raises(ImportError, message, fm.contingency_matrix, [1], [1], sparse=True)


# ----------------------------------------------------------------------------------------------------- counting methods


@each_case("n_threads", [1, 3])
@each_case("spread", ["few", "sorted", "falling", "late", "far", "many"])
def test_all_counting_methods_agree(spread, n_threads, monkeypatch):
    """Growing tables, new labels in late rows, a table per thread, codes instead of labels, keys in partitions."""
    monkeypatch.setattr(contingency, "CHUNK_ROWS", 1 << 14)
    generator = np.random.default_rng(3)
    rows = 100_000
    true, pred = generator.integers(0, 40, (2, rows))
    if spread == "sorted":
        true, pred = np.sort(true * 9), np.sort(pred) - 2**40
    elif spread == "falling":
        true, pred = -np.sort(true), pred[::-1]
    elif spread == "late":
        true[-1], pred[70_000] = 2**20, -3
    elif spread == "many":
        true, pred = generator.integers(0, 30_000, (2, rows)) // [[1], [30]]
    elif spread == "far":
        true, pred = true * 2**55, pred << 50
    table = count_contingency(true, pred, n_threads=n_threads)
    assert as_cells(table) == pairs_of(true.tolist(), pred.tolist())
    same = count_contingency(true, true, n_threads=n_threads)
    assert as_cells(same) == pairs_of(true.tolist(), true.tolist())


@each_case("rows", [1, 1023, 1024, 1025, 20_000])
def test_blocks_of_rows(rows):
    labels = np.arange(rows)
    for true, pred in ((labels, labels), (labels % 7, labels[::-1].copy()), (labels // 500, labels % 2)):
        assert as_cells(count_contingency(true, pred)) == pairs_of(true.tolist(), pred.tolist())


@pytest.mark.parametrize("n_labels", [2, 90])
def test_cells_are_flushed_before_they_overflow(n_labels):
    """uint32 cells are flushed after 2000 rows instead of 2**32, in growing tables with one copy and with two."""
    true, pred = np.random.default_rng(1).integers(0, n_labels, (2, 30_000))
    true[20_000:] += 3
    counter, other = TableCounter(1 << 20, 2000), TableCounter(1 << 20, 2000)
    assert counter.add(true, pred, 0, 13_000)
    assert other.add(true, pred, 13_000, 30_000)
    assert counter.merge(other)
    assert counter.merge(TableCounter(1 << 20))
    rows, columns, counts, row_sums, column_sums, classes, clusters = counter.cells()
    cells = zip(classes[rows].tolist(), clusters[columns].tolist(), counts.tolist(), strict=True)
    assert {(row, column): count for row, column, count in cells} == pairs_of(true.tolist(), pred.tolist())
    assert row_sums.sum() == column_sums.sum() == 30_000


def test_a_table_reports_labels_that_do_not_fit():
    counter = TableCounter(4096)
    labels = np.array([0, 1, 1])
    assert counter.add(labels, labels, 0, 3)
    assert not counter.add(labels, labels * 4096, 0, 3)
    assert not counter.add(labels, np.array([0, 2**63 - 1, -(2**63)]), 0, 3)
    assert not counter.add(labels, labels + 0.5, 0, 3)
    far = TableCounter(4096)
    assert far.add(labels + 2**62, labels - 2**62, 0, 3)
    assert not counter.merge(far)
    assert counter.cells()[2].tolist() == [1, 2]
    assert_raises(TypeError, "cannot be read here", counter.add, labels, labels[:2], 0, 2)
    assert_raises(TypeError, "cannot be read here", counter.add, ["a"], labels, 0, 1)


@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 3)), min_size=1, max_size=200))
@example([(2**32 - 1, 2**32 - 1)] * 3)
def test_keys_are_counted_in_partitions(pairs):
    first, second = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    unused = np.broadcast_to(np.zeros(1, np.int64), 2**32)  # as many labels as there may be, which are not read
    encoded_first = EncodedLabels(first - 5, -5, None, unused, unused)
    rows, columns, counts = count_keys(encoded_first, EncodedLabels(second, 0, None, unused, unused), 1)
    cells = zip(rows.tolist(), columns.tolist(), counts.tolist(), strict=True)
    assert {(row, column): count for row, column, count in cells} == Counter(pairs)


def test_a_partition_that_outgrows_its_table():
    """One partition has more keys than the first table holds. A second partition reuses the memory."""
    counter = KeyCounter()
    keys = np.concatenate([np.arange(100_000, dtype=np.uint64)] * 2)
    counts = np.zeros(keys.shape[0], np.int64)
    assert counter.count(keys, counts, 0, 200_000) == 100_000
    assert sorted(keys[:100_000].tolist()) == list(range(100_000))
    assert set(counts[:100_000].tolist()) == {2}
    more_keys = np.array([7, 7, 9], np.uint64)
    assert counter.count(more_keys, counts, 0, 3) == 2
    assert dict(zip(more_keys[:2].tolist(), counts[:2].tolist(), strict=True)) == {7: 2, 9: 1}
    assert counter.count(more_keys, counts, 1, 1) == 0


def test_partitions_get_the_keys_that_were_counted_for_them():
    first, second = np.random.default_rng(4).integers(0, 2**32, (2, 5000))
    sizes = np.zeros(8, np.int64)
    partition_sizes(first, second, 0, 0, 0, 5000, 3, sizes)
    ends = np.cumsum(sizes)
    offsets, keys = ends - sizes, np.zeros(5000, np.uint64)
    assert scatter_keys(first, second, 0, 0, 0, 5000, 3, 2**32, 2**32, offsets, ends, keys)
    assert (offsets == ends).all()
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    assert sorted(keys.tolist()) == sorted((high << 32) | low for high, low in pairs)
    assert sizes.min() > 400


def test_labels_that_do_not_fit_what_was_read_before():
    """Another thread may change labels between two reads: no index leaves its table."""
    labels = np.array([5, 6, 9])
    assert count_range(labels, 0, 3, 5, sums := np.zeros(5, np.int64))
    assert sums.tolist() == [1, 1, 0, 0, 1]
    for low, size in (5, 4), (6, 4), (2**62, 4), (-(2**63), 4):
        assert not count_range(labels, 0, 3, low, np.zeros(size, np.int64))
    codes, ends, keys = np.array([0, 1, 2]), np.array([3]), np.zeros(3, np.uint64)

    def scatter(low=0, width=3, other_width=3, ends=ends):
        return scatter_keys(codes, codes, low, 0, 0, 3, 0, width, other_width, np.zeros(1, np.int64), ends, keys)

    assert scatter()
    assert not any([scatter(low=1), scatter(width=2), scatter(other_width=2), scatter(ends=ends - 1)])
    gap = EncodedLabels(np.array([5, 9, 4]), 5, np.array([0, 0, 0, 0, 1], np.uint32), codes, codes[:2])
    assert_raises(ValueError, "changed by another thread", gap.codes)


def test_inputs_are_not_written_to():
    true, pred = np.array([3.0, 1.5, 3.0]), np.array(["a", "b", "a"])
    copies = true.copy(), pred.copy()
    true.flags.writeable = pred.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert fm.adjusted_rand_score(true, pred) == 1.0
    assert (true == copies[0]).all()
    assert (pred == copies[1]).all()
