"""jaccard_distance: of sets, of columns of 0 and 1 (as in SciPy), and of labels (1 - jaccard_score)."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.undefined import UndefinedMetricWarning
from oracles.clustering import clustering_pairs as oracle
from support.cases import assert_raises, each_case

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
def test_distance_of_bits_equals_scipy_and_that_of_sets(columns):
    jaccard = pytest.importorskip("scipy.spatial.distance", reason="SciPy is not installed").jaccard
    first, second = (np.array(column) for column in columns)
    expected = fm.jaccard_distance(set(np.flatnonzero(first)), set(np.flatnonzero(second)))
    assert fm.jaccard_distance(first, second) == expected == jaccard(first.astype(bool), second.astype(bool))
    assert fm.jaccard_distance(first.astype(bool), second.astype(bool), pos_label=True) == expected


@each_case("average", ["micro", "macro", "weighted", None])
@each_case("weighted", [False, True])
def test_distance_of_labels_is_one_minus_jaccard_score(average, weighted):
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


def test_distance_of_empty_sets():
    assert fm.jaccard_distance(set(), frozenset()) == 0.0
    assert fm.jaccard_distance([0, 0], [0, 0]) == 0.0
    assert fm.jaccard_distance(set(), set(), zero_division=0) == 1.0
    for empty in (set(), [0, 0]):
        with pytest.warns(UndefinedMetricWarning, match=r"set to 1\.0") as caught:
            assert fm.jaccard_distance(empty, empty, zero_division="warn") == 1.0
        assert caught[0].filename == __file__


def test_sets_have_no_options_of_columns():
    for name, value in {"labels": [1], "pos_label": 2, "average": "micro", "sample_weight": [1]}.items():
        assert_raises(ValueError, f"{name} is an option of columns", fm.jaccard_distance, {1}, {2}, **{name: value})
    for columns in (({1}, [1]), ([1], {1})):
        assert_raises(TypeError, "must be a set, like the other argument; found list", fm.jaccard_distance, *columns)
    assert_raises(ValueError, "average must be one of", fm.jaccard_distance, {1}, {2}, average="mean")
