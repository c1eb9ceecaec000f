"""Silhouettes: equal to the definition and scikit-learn, and independent of row order, threads and registers."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

import fastmetrics as fm
from fastmetrics.metrics.clustering import mean_distances
from oracles.clustering import silhouettes as oracle
from support.cases import assert_raises, each_case

METRICS = ("euclidean", "sqeuclidean", "manhattan", "cosine")


def clustered(rows, dims, clusters, dtype=np.float64, seed=0, center=0.0):
    """Points around centers, and their clusters; every cluster occurs."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(rows) % clusters)
    points = rng.normal(size=(clusters, dims))[labels] + rng.normal(size=(rows, dims)) + center
    return points.astype(dtype), labels


@st.composite
def few_points(draw):
    """Few points with ties, duplicates and zeros, and labels with a valid number of clusters."""
    rows = draw(st.sampled_from([3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 40]))
    dims = draw(st.sampled_from([1, 2, 3, 4, 5, 8, 11]))
    reals = st.floats(-100, 100, width=32).filter(lambda x: x == 0 or abs(x) > 1e-3)
    kinds = st.one_of(st.integers(-2, 2).map(float), reals)
    values = draw(st.lists(kinds, min_size=rows * dims, max_size=rows * dims))
    clusters = draw(st.integers(2, rows - 1))
    labels = draw(st.permutations([row % clusters for row in range(rows)]))
    return np.array(values).reshape(rows, dims), np.array(labels)


@pytest.mark.parametrize("metric", METRICS)
@given(few_points())
@settings(max_examples=40)
def test_definition(metric, case):
    points, labels = case
    expected = oracle.silhouettes(oracle.distances(points.tolist(), metric), labels.tolist())
    found = fm.silhouette_samples(points, labels, metric=metric)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    if metric != "cosine":
        short = fm.silhouette_samples(points.astype(np.float32), labels, metric=metric)
        np.testing.assert_allclose(short, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
@each_case(("rows", "dims", "clusters"), [(64, 1, 2), (257, 64, 5), (300, 33, 120), (500, 130, 3)])
def test_scikit_learn(metric, rows, dims, clusters):
    points, labels = clustered(rows, dims, clusters)
    if metric == "cosine" and dims == 1:
        points = np.column_stack([points, np.ones(rows)])
    expected = sk.silhouette_samples(points, labels, metric=metric)
    assert np.abs(fm.silhouette_samples(points, labels, metric=metric) - expected).max() < 1e-12
    assert fm.silhouette_score(points, labels, metric=metric) == pytest.approx(expected.mean(), abs=1e-13)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan"])
@each_case("dims", [2, 31, 64, 1000])
@each_case("center", [0.0, 1e4])
def test_float32_is_as_good_as_float64(metric, dims, center):
    points, labels = clustered(200, dims, 4, np.float32, center=center)
    assert points.dtype == np.float32
    exact = fm.silhouette_samples(points.astype(np.float64), labels, metric=metric)
    assert np.abs(fm.silhouette_samples(points, labels, metric=metric) - exact).max() < 2e-7


@each_case("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", METRICS)
@each_case("max_sum_bytes", [mean_distances.MAX_SUM_BYTES, 0], ids=["each pair once", "each pair twice"])
def test_result_is_always_the_same(monkeypatch, dtype, metric, max_sum_bytes):
    """For any order of rows, names of clusters, threads, register width, strips, and both ways to store sums."""
    points, labels = clustered(600, 7, 5, dtype)
    labels[:3] = 7, 8, 9
    expected = fm.silhouette_samples(points, labels, metric=metric, n_threads=1)
    score = fm.silhouette_score(points, labels, metric=metric, n_threads=1)
    order = np.random.default_rng(1).permutation(600)
    monkeypatch.setattr(mean_distances, "MAX_SUM_BYTES", max_sum_bytes)
    monkeypatch.setattr(mean_distances, "SERIAL_WORK", 0)
    names = np.array(list("cadbefghijk"))
    for width in range(mean_distances.REGISTER_WIDTH + 1):
        monkeypatch.setattr(mean_distances, "REGISTER_WIDTH", width)
        for threads, longest in ((1, 4096), (2, 64), (3, 96), (8, 32)):
            monkeypatch.setattr(mean_distances, "LONGEST_STRIP", longest)
            options = {"metric": metric, "n_threads": threads}
            again = fm.silhouette_samples(points[order], names[labels[order]], **options)
            assert np.array_equal(again, expected[order])
            assert fm.silhouette_score(points[order], -labels[order], **options) == score


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precomputed(dtype):
    points, labels = clustered(300, 3, 4)
    matrix = sk.pairwise_distances(points).astype(dtype)
    np.fill_diagonal(matrix, 0)
    expected = sk.silhouette_samples(matrix.astype(np.float64), labels, metric="precomputed")
    found = fm.silhouette_samples(matrix, labels, metric="precomputed")
    assert np.abs(found - expected).max() < 1e-12
    order = np.random.default_rng(2).permutation(300)
    shuffled = matrix[np.ix_(order, order)]
    for threads in (1, 2, 5):
        again = fm.silhouette_samples(shuffled, labels[order], metric="precomputed", n_threads=threads)
        assert np.array_equal(again, found[order])


def test_precomputed_of_other_kinds():
    """Integers, a transposed view, a matrix that is not symmetric: distances are read from rows."""
    matrix = np.random.default_rng(0).integers(1, 50, (40, 40))
    np.fill_diagonal(matrix, 0)
    labels = np.arange(40) % 3
    expected = sk.silhouette_samples(matrix.astype(float), labels, metric="precomputed")
    for distances in (matrix, matrix.astype(np.float16), np.asfortranarray(matrix.astype(np.float32)), matrix.tolist()):
        found = fm.silhouette_samples(distances, labels, metric="precomputed")
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@each_case("kind", ["int", "state", "None"])
def test_samples_equal_those_of_scikit_learn(metric, kind):
    points, labels = clustered(200, 4, 3)
    x = sk.pairwise_distances(points) if metric == "precomputed" else points
    for size in (50, 500):
        found = []
        for library in (fm, sk):
            np.random.seed(11)  # noqa: NPY002 - None stands for this global state
            state = {"int": 7, "state": np.random.RandomState(3), "None": None}[kind]
            found.append(library.silhouette_score(x, labels, metric=metric, sample_size=size, random_state=state))
        assert found[0] == pytest.approx(found[1], abs=1e-13)


def test_outliers_do_not_reduce_accuracy():
    """Most distances are 1e-20 of the largest. Two words cannot represent them, so they are summed exactly."""
    points, labels = clustered(120, 3, 3)
    far = points.copy()
    far[5] = 1e20
    matrix = oracle.distances(far.tolist(), "euclidean")
    expected = oracle.silhouettes(matrix, labels.tolist())
    np.testing.assert_allclose(fm.silhouette_samples(far, labels), expected, rtol=0, atol=1e-13)
    found = fm.silhouette_samples(np.array(matrix), labels, metric="precomputed")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    short = far.astype(np.float32)
    expected = fm.silhouette_samples(short.astype(np.float64), labels)
    np.testing.assert_allclose(fm.silhouette_samples(short, labels), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
@each_case("scale", [2.0**-1040, 2.0**-600, 2.0**-40, 2.0**600, 2.0**1018])
def test_silhouettes_do_not_depend_on_scale(metric, scale):
    points = np.array([[1, 2], [3, 5], [-4, 1], [7, -7], [2, 2], [0, 1]], float)
    labels = [0, 0, 1, 1, 2, 2]
    expected = fm.silhouette_samples(points, labels, metric=metric)
    assert np.array_equal(fm.silhouette_samples(points * scale, labels, metric=metric), expected)


@each_case("scale", [1e-30, 1e-18, 1e18, 1e36])
def test_float32_points_whose_squares_overflow(scale):
    points, labels = clustered(50, 3, 3)
    short = (points * scale).astype(np.float32)
    expected = fm.silhouette_samples(short.astype(np.float64), labels)
    assert np.abs(fm.silhouette_samples(short, labels) - expected).max() < 1e-6


def test_edges():
    assert fm.silhouette_samples(np.ones((6, 2)), [0, 0, 0, 1, 1, 1]).tolist() == [0.0] * 6
    assert fm.silhouette_samples([[0.0], [0.0], [9.0]], [0, 0, 1]).tolist() == [1.0, 1.0, 0.0]
    twins = np.array([[0, 0], [0, 0], [5, 5], [0, 0], [0, 0], [5, 5]], float)
    labels = [0, 0, 0, 1, 1, 1]
    assert np.array_equal(fm.silhouette_samples(twins, labels), sk.silhouette_samples(twins, labels))
    zeros = np.array([[0, 0], [0, 0], [1, 2], [2, 1], [3, 0]], float)
    expected = sk.silhouette_samples(zeros, [0, 1, 0, 1, 1], metric="cosine")
    np.testing.assert_allclose(fm.silhouette_samples(zeros, [0, 1, 0, 1, 1], metric="cosine"), expected, atol=1e-14)


@each_case("pair", [("b", "a"), (True, False), (0.5, 0.25), (7, -7)], ids=repr)
def test_any_labels(pair):
    labels = [*pair, *pair]
    points = [[1.0], [2.0], [4.0], [8.0]]
    expected = fm.silhouette_samples(points, [1, 0, 1, 0])
    assert np.array_equal(fm.silhouette_samples(points, labels), expected)
    assert np.array_equal(fm.silhouette_samples(np.array(points, np.float16), np.array(labels)), expected)


@pytest.mark.parametrize(
    ("alias", "metric"),
    [("l2", "euclidean"), ("nan_euclidean", "euclidean"), ("l1", "manhattan"), ("cityblock", "manhattan")],
)
def test_aliases(alias, metric):
    points, labels = clustered(30, 3, 3)
    assert fm.silhouette_score(points, labels, metric=alias) == fm.silhouette_score(points, labels, metric=metric)


POINTS = np.arange(8.0).reshape(4, 2)
WITH_NAN = np.where(np.arange(8).reshape(4, 2) == 5, np.nan, POINTS)
WITH_INFINITY = np.where(np.arange(8).reshape(4, 2) == 2, np.inf, POINTS)
MATRIX = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
AB = [0, 0, 1, 1]
BAD = [
    (POINTS, [0, 0, 0, 0], {}, "Number of labels is 1. Valid values are 2 to n_samples - 1"),
    (POINTS, [0, 1, 2, 3], {}, "Number of labels is 4. Valid values are 2 to n_samples - 1"),
    (WITH_NAN, AB, {}, "X has NaN at row 2, column 1"),
    (WITH_INFINITY, AB, {}, "X has inf at row 1, column 0"),
    (POINTS, [0, 1, 1], {}, "X has 4 rows but labels has 3"),
    (POINTS, [0, np.nan, 1, 1], {}, "labels has NaN at row 1"),
    (POINTS, np.zeros((4, 2)), {}, "labels must"),
    (POINTS[:, 0], AB, {}, "X must have two dimensions"),
    (np.zeros((0, 2)), [], {}, "X is empty"),
    (POINTS, AB, {"metric": "hellinger"}, "metric must be one of 'euclidean'.*found 'hellinger'"),
    (np.ones((4, 3)), AB, {"metric": "haversine"}, "'haversine' needs two columns, latitude and longitude; found 3"),
    (WITH_NAN, AB, {"metric": "nan_euclidean"}, "X has NaN at row 2, column 1"),
    (POINTS, AB, {"metric": 3}, "metric must be one of"),
    (POINTS, AB, {"metric": lambda one, other: -1.0}, "gives -1.0 at row 0, column 0: distances must be finite"),
    (np.ones((4, 2)), AB, {"metric": "correlation"}, "metric 'correlation' gives NaN at row 0, column 0"),
    (POINTS, AB, {"metric": "precomputed"}, "X must be square"),
    (MATRIX + 1, AB, {"metric": "precomputed"}, "X has 1.0 at row 0, column 0.*np.fill_diagonal"),
    (-MATRIX, AB, {"metric": "precomputed"}, "X has -1.0 at row 0, column 1: distances must be finite"),
    (np.where(MATRIX == 3, np.nan, MATRIX), AB, {"metric": "precomputed"}, "X has NaN at row 0, column 3"),
    (POINTS, AB, {"n_threads": 0}, "n_threads must be"),
]


@each_case(("points", "labels", "options", "message"), BAD, ids=range(len(BAD)))
def test_bad_input(points, labels, options, message):
    for function in (fm.silhouette_samples, fm.silhouette_score):
        assert_raises(ValueError, message, function, points, labels, **options)


@each_case(
    ("options", "message"),
    [
        ({"sample_size": 0}, "sample_size must be"),
        ({"sample_size": 2.0}, "sample_size must be"),
        ({"sample_size": 3, "random_state": "x"}, "random_state must be"),
        ({"sample_size": 3, "random_state": -1}, "random_state must lie"),
        ({"sample_size": 1, "random_state": 0}, "Number of labels is 1"),
    ],
    ids=range(5),
)
def test_bad_samples(options, message):
    assert_raises(ValueError, message, fm.silhouette_score, POINTS, AB, **options)


def sparse_points(rows, columns, share, seed=0):
    """Points of which few values are not 0, a row of zeros and two equal rows among them."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < share)
    points[3], points[5] = 0, points[4]
    return points, np.arange(rows) % 4


@pytest.mark.parametrize("metric", METRICS)
@each_case("share", [0.02, 0.5])
@each_case("container", ["csr_matrix", "csr_array", "csc_matrix", "coo_array", "lil_matrix", "dok_array"])
def test_sparse_rows_are_as_dense_ones(metric, share, container):
    points, labels = sparse_points(90, 60, share)
    x = getattr(pytest.importorskip("scipy.sparse"), container)(points)
    expected = fm.silhouette_samples(points, labels, metric=metric)
    found = fm.silhouette_samples(x, labels, metric=metric)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert np.array_equal(fm.silhouette_samples(x, labels, metric=metric, n_threads=1), found)
    sample = {"metric": metric, "sample_size": 40, "random_state": 0}
    assert fm.silhouette_score(x, labels, **sample) == pytest.approx(fm.silhouette_score(points, labels, **sample))


@pytest.mark.parametrize("metric", METRICS)
def test_sparse_rows_in_another_order_and_of_another_scale(metric):
    sparse = pytest.importorskip("scipy.sparse")
    points, labels = sparse_points(90, 300, 0.03)
    points[6] = points[7] * (1 + 1e-9)  # a distance that products alone would lose
    expected = fm.silhouette_samples(points, labels, metric=metric)
    found = fm.silhouette_samples(sparse.csr_array(points), labels, metric=metric)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    order = np.random.default_rng(1).permutation(90)
    shuffled = fm.silhouette_samples(sparse.csr_array(points[order]), labels[order], metric=metric)
    assert np.array_equal(shuffled, found[order])
    for scale in (2.0**-900, 2.0**1000):
        assert np.array_equal(fm.silhouette_samples(sparse.csr_array(points * scale), labels, metric=metric), found)


@pytest.mark.parametrize("metric", METRICS)
def test_sparse_rows_that_share_most_of_their_values(metric):
    """Products of such rows cancel, so all distances are measured from differences; one row is far away."""
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(5)
    points = np.tile(rng.normal(size=400) * (rng.random(400) < 0.05), (50, 1))
    points[:, :3] += np.ldexp(rng.normal(size=(50, 3)), -20)
    points[7, 1] = 1e9
    labels = np.arange(50) % 3
    expected = fm.silhouette_samples(points, labels, metric=metric)
    found = fm.silhouette_samples(sparse.csr_array(points), labels, metric=metric)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 if metric == "cosine" else 1e-12)


def test_sparse_rows_without_values():
    sparse = pytest.importorskip("scipy.sparse")
    for metric in METRICS:
        empty = fm.silhouette_samples(sparse.csr_array((4, 30)), AB, metric=metric)
        assert empty.tolist() == [0.0] * 4


def test_sparse_rows_take_the_memory_of_their_values():
    sparse = pytest.importorskip("scipy.sparse")
    rows, columns = np.arange(3000) % 300, np.random.default_rng(0).integers(0, 1 << 22, 3000)
    points = sparse.csr_array((np.ones(3000), (rows, columns)), shape=(300, 1 << 22))  # 10 GB as a dense matrix
    tracemalloc.start()
    found = fm.silhouette_samples(points, np.arange(300) % 4, n_threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80 << 20
    assert np.isfinite(found).all()


def test_sparse_distances():
    sparse = pytest.importorskip("scipy.sparse")
    points, labels = sparse_points(60, 40, 0.05)
    matrix = sk.pairwise_distances(points)
    matrix[matrix < 1] = 0
    expected = fm.silhouette_samples(matrix, labels, metric="precomputed")
    x = sparse.csr_matrix(matrix)
    assert np.array_equal(fm.silhouette_samples(x, labels, metric="precomputed"), expected)
    sample = {"metric": "precomputed", "sample_size": 30, "random_state": 1}
    assert fm.silhouette_score(x, labels, **sample) == fm.silhouette_score(matrix, labels, **sample)


def test_bad_sparse_points():
    sparse = pytest.importorskip("scipy.sparse")
    points, labels = sparse_points(20, 30, 0.1)
    assert_raises(
        TypeError, "'chebyshev' needs dense rows", fm.silhouette_score, sparse.csr_array(points), labels,
        metric="chebyshev",
    )  # fmt: skip
    for bad, name in ((np.nan, "NaN"), (-np.inf, "-inf")):
        points[7, 2] = bad
        message = f"X has {name} at row 7, column 2"
        assert_raises(ValueError, message, fm.silhouette_score, sparse.csc_array(points), labels)
    assert_raises(ValueError, "X is empty", fm.silhouette_score, sparse.csr_array((0, 3)), [])
    complex_points = sparse.csr_array(np.eye(20) * 1j)
    assert_raises(TypeError, "complex128", fm.silhouette_score, complex_points, labels)
    assert_raises(ValueError, "X has 20 rows but labels has 19", fm.silhouette_score, sparse.eye_array(20), labels[1:])


def furthest(one, other, share=1.0):
    return share * np.abs(one - other).max()


@each_case(
    ("metric", "options"),
    [
        ("braycurtis", {}), ("canberra", {}), ("chebyshev", {}), ("correlation", {}), ("dice", {}), ("hamming", {}),
        ("jaccard", {}), ("mahalanobis", {}), ("minkowski", {"p": 3}), ("rogerstanimoto", {}), ("russellrao", {}),
        ("seuclidean", {}), ("sokalsneath", {}), ("yule", {}), (furthest, {}), (furthest, {"share": 0.5}),
    ],
)  # fmt: skip
def test_other_metrics(metric, options):
    points, labels = clustered(60, 5, 3)
    points = np.round(np.abs(points), 1) * (points > -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # values become true and false
        expected = sk.silhouette_samples(points, labels, metric=metric, **options)
    np.testing.assert_allclose(fm.silhouette_samples(points, labels, metric=metric, **options), expected, atol=1e-12)
    sample = {"metric": metric, "sample_size": 30, "random_state": 0, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = sk.silhouette_score(points, labels, **sample)
    assert fm.silhouette_score(points, labels, **sample) == pytest.approx(expected, abs=1e-12)


def test_distances_on_a_sphere():
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.uniform(-1.5, 1.5, 200), rng.uniform(-3, 3, 200)])
    points[:3] = [0.5, 1.0], [0.5, 1.0], [-0.5, 1.0 - np.pi]  # two equal points and the one opposite
    labels = np.arange(200) % 3
    for x in (points, points.astype(np.float32)):
        expected = sk.silhouette_samples(x, labels, metric="haversine")
        np.testing.assert_allclose(fm.silhouette_samples(x, labels, metric="haversine"), expected, atol=1e-12)


def test_options_of_metrics():
    assert_raises(TypeError, "'haversine' has no option 'p'", fm.silhouette_score, POINTS, AB, metric="haversine", p=3)
    assert_raises(TypeError, "metric 'euclidean' has no option 'p'", fm.silhouette_score, POINTS, AB, p=3)
    assert_raises(TypeError, "q", fm.silhouette_score, POINTS, AB, metric="minkowski", q=3)


def test_progress(monkeypatch):
    monkeypatch.setattr(mean_distances, "LONGEST_STRIP", 64)
    points, labels = clustered(2000, 8, 4)
    for threads in (1, 2):
        calls: list[tuple[int, int]] = []
        fm.silhouette_score(points, labels, n_threads=threads, progress=lambda *now, calls=calls: calls.append(now))
        assert calls[-1][0] == calls[-1][1] > 10
        assert calls == sorted(set(calls))
    calls = []
    matrix = sk.pairwise_distances(points)
    fm.silhouette_score(matrix, labels, metric="precomputed", progress=lambda *now: calls.append(now))
    assert calls[-1] == (16, 16)


def test_interrupt(monkeypatch):
    """An interrupt is raised between two chunks of work, and no thread is left running."""
    monkeypatch.setattr(mean_distances, "LONGEST_STRIP", 64)
    points, labels = clustered(2000, 8, 4)

    def interrupt(done, total):
        raise KeyboardInterrupt

    for threads in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            fm.silhouette_score(points, labels, n_threads=threads, progress=interrupt)
    assert fm.silhouette_score(points, labels) == fm.silhouette_score(points, labels, n_threads=1)


def test_input_is_not_modified():
    points, labels = clustered(50, 3, 3)
    points[0, 0] = -0.0
    original = points.copy()
    points.setflags(write=False)
    labels.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for metric in METRICS:
            fm.silhouette_score(points, labels, metric=metric)
            fm.silhouette_score(points[::-1, ::-1], labels[::-1], metric=metric)
    assert points.tobytes() == original.tobytes()


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_float32_with_small_clusters_and_a_far_one(metric):
    """Squares of small distances lose bits in float32, so these rows are measured in double."""
    points = np.array([[0.0], [1.3], [2.7], [3.1], [2.0**35], [2.0**35 + 2.0**20]]) * 2.0**-73
    labels = [0, 0, 1, 1, 2, 2]
    short = points.astype(np.float32)
    expected = fm.silhouette_samples(short.astype(np.float64), labels, metric=metric)
    assert np.abs(fm.silhouette_samples(short, labels, metric=metric) - expected).max() < 1e-6
    assert expected[0] > 0.4


@pytest.mark.parametrize("metric", METRICS[:3])
@each_case("columns", [1, 2, 3])
def test_widths_beyond_the_range_of_doubles(metric, columns):
    points, labels = clustered(30, columns, 4)
    points /= np.abs(points).max()
    expected = fm.silhouette_samples(points, labels, metric=metric)
    found = fm.silhouette_samples(points * 1.7e308, labels, metric=metric)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS[:3])
def test_an_outlier_at_1e300_does_not_change_other_rows(metric):
    points, labels = clustered(30, 2, 4)
    expected = fm.silhouette_samples(points, labels, metric=metric)
    found = fm.silhouette_samples(np.vstack([points, [[1e300, 0.0]]]), np.append(labels, 9), metric=metric)
    np.testing.assert_allclose(found, np.append(expected, 0.0), rtol=0, atol=1e-9)


@pytest.mark.parametrize("metric", METRICS[:3])
def test_a_constant_column_with_tiny_columns(metric):
    points, labels = clustered(30, 2, 4)
    points = np.round(points * 4)
    expected = fm.silhouette_samples(points, labels, metric=metric)
    found = fm.silhouette_samples(np.column_stack([points * 2.0**-1060, np.ones(30)]), labels, metric=metric)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS[:3])
def test_the_smallest_double_is_not_zero(metric):
    points = np.array([[0.0], [5e-324], [5e-324], [0.0], [5e-324]])
    labels = [2, 2, 0, 3, 1]
    expected = fm.silhouette_samples(points != 0, labels, metric=metric)
    assert expected.tolist() == [-1, -1, 0, 0, 0]
    np.testing.assert_array_equal(fm.silhouette_samples(points, labels, metric=metric), expected)


def test_cosines_of_rows_of_very_different_lengths():
    points, labels = clustered(30, 3, 4)
    lengths = 2.0 ** np.random.default_rng(0).integers(-900, 900, 30)
    expected = fm.silhouette_samples(points, labels, metric="cosine")
    found = fm.silhouette_samples(points * lengths[:, None], labels, metric="cosine")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("unit", [2.0**1020, 2.0**890, 2.0**-1000])
def test_precomputed_distances_do_not_depend_on_scale(unit):
    points, labels = clustered(40, 1, 4)
    distances = np.abs(points - points.T)
    expected = fm.silhouette_samples(distances, labels, metric="precomputed")
    found = fm.silhouette_samples(distances * unit, labels, metric="precomputed")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
