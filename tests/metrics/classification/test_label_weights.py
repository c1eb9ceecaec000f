"""Weights of pairs of labels: the square of sums and the sorted weights give the bits of the definitions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core import exact
from fastmetrics._core.columns import row_blocks
from fastmetrics.metrics.classification import label_counts as counting
from fastmetrics.metrics.classification import label_weights
from support.cases import each_case, without_warnings

CALLS = (
    ("confusion_matrix", {}),
    ("multilabel_confusion_matrix", {}),
    ("f1_score", {"average": None}),
    ("cohen_kappa_score", {}),
    ("cohen_kappa_score", {"weights": "quadratic"}),
    ("matthews_corrcoef", {}),
    ("accuracy_score", {"normalize": False}),
)


def weights_of(kind, rng, n):
    return {
        "integers": lambda: rng.integers(1, 9, n),
        "fractions": lambda: rng.random(n) + 0.01,
        "wide": lambda: 2.0 ** rng.integers(-300, 300, n) * rng.random(n),
        "subnormal": lambda: rng.integers(1, 1 << 40, n) * 5e-324,
        "zeros": lambda: rng.integers(0, 2, n) * rng.random(n) + (np.arange(n) == 0),
    }[kind]()


class TestSquare:
    @each_case("kind", ["integers", "fractions", "wide", "subnormal", "zeros"])
    @each_case("dtype", ["int64", "int8", "float64", "U", "O"])
    @each_case("n_labels", [1, 2, 3, 16, 17, 100])
    def test_the_same_as_sorted_weights(self, kind, dtype, n_labels, monkeypatch):
        rng = np.random.default_rng(n_labels)
        n = 700
        true, pred = rng.integers(0, n_labels, (2, n))
        true, pred = (
            column.astype(str).astype(dtype) if dtype in "UO" else column.astype(dtype) for column in (true, pred)
        )
        weights = weights_of(kind, rng, n)
        for name, options in CALLS:
            found = []
            for is_square in (True, False):
                monkeypatch.setattr(label_weights, "has_square", lambda n_labels, rows, answer=is_square: answer)
                found.append(without_warnings(getattr(fm, name), true, pred, sample_weight=weights, **options))
            first, second = map(np.asarray, found)
            assert first.dtype == second.dtype
            assert np.array_equal(first, second, equal_nan=True), name

    @given(st.data())
    def test_sums_of_fractions(self, data):
        n = data.draw(st.integers(1, 60))
        n_labels = data.draw(st.integers(1, 5))
        labels = st.lists(st.integers(-3, n_labels - 4), min_size=n, max_size=n)
        first, second = np.array(data.draw(labels)), np.array(data.draw(labels))
        weight = st.one_of(st.floats(0, 1e300), st.integers(0, 4).map(float))
        weights = np.array(data.draw(st.lists(weight, min_size=n, max_size=n)))
        square = label_weights.weigh_square(first, second, weights, -3, n_labels, 1)
        wanted = [[Fraction(0)] * n_labels for _ in range(n_labels)]
        for one, other, own in zip(first.tolist(), second.tolist(), weights.tolist(), strict=True):
            wanted[one + 3][other + 3] += Fraction(own)
        unit = Fraction(1, 1 << exact.EXPONENT)
        where, values = square.cells()
        cells = dict(zip(where.tolist(), values, strict=True))
        assert [[cells.get(i * n_labels + j, 0) * unit for j in range(n_labels)] for i in range(n_labels)] == wanted
        both, in_first, in_second = square.margins()
        assert [value * unit for value in both] == [wanted[i][i] for i in range(n_labels)]
        assert [value * unit for value in in_first] == [sum(row) for row in wanted]
        assert [value * unit for value in in_second] == [sum(column) for column in zip(*wanted, strict=True)]
        distances = [Fraction(0)] * n_labels
        for i, row in enumerate(wanted):
            for j, value in enumerate(row):
                distances[abs(i - j)] += value
        assert [value * unit for value in square.by_distance()] == distances

    def test_threads_have_squares_of_their_own(self, monkeypatch):
        monkeypatch.setattr(row_blocks, "BLOCK_ROWS", 5000)
        rng = np.random.default_rng(0)
        true, pred = rng.integers(0, 3, (2, 50_000))
        weights = rng.random(50_000) * 2.0 ** rng.integers(-60, 0, 50_000)
        one, three = (
            label_weights.weigh_square(true, pred, weights, 0, 3, n_threads).cells()[1] for n_threads in (1, 3)
        )
        assert one == three
        assert sum(one) == exact.integer_sum(weights)

    def test_few_cells_for_the_rows(self):
        assert label_weights.has_square(16, 1)
        assert not label_weights.has_square(17, 1000)
        assert label_weights.has_square(100, 1_000_000)
        assert not label_weights.has_square(129, 1 << 30)

    def test_labels_that_change(self):
        """Labels outside the square end in an error: nothing is written outside it."""
        square = label_weights.WindowSquare(4)
        labels = np.array([0, 1, 2])
        with pytest.raises(ValueError, match="the labels changed"):
            square.add(labels, labels, np.ones(3), (0, 3), 0, 1, 980)
        assert not square.windows.any()


class TestIntegerWeights:
    @each_case("n_labels", [2, 300])
    def test_sums_beyond_int64_are_floats(self, n_labels):
        true = np.arange(3000) % n_labels
        weights = np.full(3000, 1 << 52)
        found = fm.confusion_matrix(true, true, sample_weight=weights)
        assert found.dtype == np.float64
        assert found.sum() == 3000.0 * 2**52
        assert counting.count_classes(true, true, sample_weight=weights).tp.sum() == 3000.0 * 2**52


class TestEqualRows:
    @given(st.data())
    def test_sums_of_fractions(self, data):
        n = data.draw(st.integers(1, 50))
        labels = st.lists(st.integers(0, 2), min_size=n, max_size=n)
        first, second = np.array(data.draw(labels)), np.array(data.draw(labels), np.int8)
        weights = np.array(data.draw(st.lists(st.floats(0, 1e300), min_size=n, max_size=n)))
        found = label_weights.weigh_equal_rows(first, second, weights, 1)
        wanted = sum((Fraction(own) for own in weights[first == second].tolist()), Fraction(0))
        assert Fraction(found, 1 << exact.EXPONENT) == wanted

    def test_fractions_are_not_read(self):
        assert label_weights.weigh_equal_rows(np.array([0.5]), np.array([0.5]), np.ones(1), 1) is None
