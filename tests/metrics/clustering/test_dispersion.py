"""Calinski-Harabasz and Davies-Bouldin indices: equal to the definitions and scikit-learn, in any order of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

import fastmetrics as fm
from oracles.clustering import silhouettes as oracle
from support.cases import assert_raises, each_case

SCORES = ("calinski_harabasz_score", "davies_bouldin_score")
ORACLES = {"calinski_harabasz_score": oracle.calinski_harabasz, "davies_bouldin_score": oracle.davies_bouldin}


def clustered(rows, dims, clusters, seed=0, center=0.0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(rows) % clusters)
    return rng.normal(size=(clusters, dims))[labels] + rng.normal(size=(rows, dims)) + center, labels


@st.composite
def few_points(draw):
    rows, dims = draw(st.integers(3, 20)), draw(st.integers(1, 4))
    values = draw(st.lists(st.integers(-9, 9).map(float), min_size=rows * dims, max_size=rows * dims))
    clusters = draw(st.integers(2, rows - 1))
    labels = draw(st.permutations([row % clusters for row in range(rows)]))
    return np.array(values).reshape(rows, dims), np.array(labels)


@pytest.mark.parametrize("name", SCORES)
@given(few_points())
@settings(max_examples=60)
def test_definition(name, case):
    points, labels = case
    expected = ORACLES[name](points.tolist(), labels.tolist())
    # Means that differ only by rounding may be equal in one of the two computations.
    if expected < 1e10:
        assert getattr(fm, name)(points, labels) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", SCORES)
@each_case(("rows", "dims", "clusters"), [(10, 1, 2), (500, 64, 7), (5000, 3, 300)])
@each_case("center", [0.0, 100.0])
def test_scikit_learn(name, rows, dims, clusters, center):
    points, labels = clustered(rows, dims, clusters, center=center)
    tolerance = 1e-12 if center == 0 else 1e-9  # scikit-learn computes distances from products, not from differences
    assert getattr(fm, name)(points, labels) == pytest.approx(getattr(sk, name)(points, labels), rel=tolerance)


@pytest.mark.parametrize("name", SCORES)
def test_result_does_not_depend_on_order(name):
    points, labels = clustered(3000, 5, 11)
    score = getattr(fm, name)
    expected = score(points, labels)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(3000)
        assert score(points[order], labels[order]) == expected
        assert score(points[order], np.array(list("lkjihgfedcba"))[labels[order]]) == expected
    assert score(np.asfortranarray(points), labels) == expected
    short = points.astype(np.float32)
    assert score(short, labels) == score(short.astype(np.float64), labels)


@pytest.mark.parametrize("name", SCORES)
@each_case(
    ("points", "labels"),
    [
        (np.ones((10, 2)), [0] * 5 + [1] * 5),
        ([[0, 0]] * 3 + [[1, 1]] * 3, [0] * 3 + [1] * 3),
        ([[-1, -1], [1, 1]] * 10, [0] * 10 + [1] * 10),
        ([[0, 0], [1, 1]] * 5 + [[3, 3], [4, 4]] * 5, [0] * 10 + [1] * 10),
        ([[0.0], [1.0], [5.0]], ["x", "x", "y"]),
    ],
    ids=["one point", "two points", "one center", "two centers", "singleton"],
)
def test_degenerate_points(name, points, labels):
    assert getattr(fm, name)(points, labels) == pytest.approx(getattr(sk, name)(points, labels), rel=1e-14)


@pytest.mark.parametrize("name", SCORES)
@each_case("unit", [1e160, 1e307])
def test_squares_do_not_overflow(name, unit):
    points, labels = clustered(40, 3, 4)
    expected = getattr(fm, name)(points, labels)
    assert getattr(fm, name)(points * unit, labels) == pytest.approx(expected, rel=1e-12)
    with_constant = np.column_stack([points, np.full(40, 1.7e308)])
    assert getattr(fm, name)(with_constant, labels) == pytest.approx(expected, rel=1e-12)


def test_variance_ratio_of_tiny_rows():
    points, labels = clustered(40, 3, 4)
    expected = fm.calinski_harabasz_score(points, labels)
    assert fm.calinski_harabasz_score(points * 1e-200, labels) == pytest.approx(expected, rel=1e-12)
    assert fm.davies_bouldin_score(points * 1e-200, labels) == 0


@pytest.mark.parametrize("name", SCORES)
@each_case(
    ("points", "labels", "message"),
    [
        ([[0.0], [1.0], [2.0]], [0, 0, 0], "Number of labels is 1"),
        ([[0.0], [1.0], [2.0]], [0, 1, 2], "Number of labels is 3"),
        ([[0.0], [np.nan], [2.0]], [0, 1, 1], "X has NaN at row 1, column 0"),
        ([[0.0], [1.0]], [0, 1, 1], "X has 2 rows but labels has 3"),
        ([0.0, 1.0], [0, 1], "X must have two dimensions"),
        ([["a"], ["b"], ["c"]], [0, 0, 1], "X has 'a' at row 0"),
    ],
    ids=["one", "all", "NaN", "lengths", "column", "text"],
)
def test_bad_input(name, points, labels, message):
    assert_raises(ValueError, message, getattr(fm, name), points, labels)
