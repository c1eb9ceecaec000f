"""Infinite scores are errors that name the row, as in scikit-learn; `allow_infinite=True` orders them."""

import math

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core import parallel
from support.cases import assert_raises, each_case

FUNCTIONS = [
    fm.average_precision_score, fm.det_curve, fm.precision_recall_curve, fm.roc_auc_score, fm.roc_curve,
]  # fmt: skip
OF_CLASSES = [fm.average_precision_score, fm.roc_auc_score]
LONG = 70_000  # more than the rows that one thread sorts at once


def labels_and_scores(rows, dtype="float64"):
    generator = np.random.default_rng(rows)
    labels = generator.integers(0, 2, rows)
    labels[:2] = 0, 1
    return labels, generator.integers(0, 50, rows).astype(dtype)


@each_case("value", [math.inf, -math.inf])
@each_case("rows", [10, 2_000, LONG])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_error_names_the_row(function, rows, value):
    for dtype in ("float32", "float64"):
        labels, scores = labels_and_scores(rows, dtype)
        scores[[5, 7]] = value
        message = rf"y_score has {value} at row 5: finite numbers are needed, or allow_infinite=True"
        assert_raises(ValueError, message, function, labels, scores)
        assert_raises(ValueError, message, function, labels, scores, sample_weight=np.arange(rows) % 5)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_parts_of_a_long_column(function, monkeypatch):
    """The threads check all rows, however many do not divide by their number."""
    monkeypatch.setattr(parallel, "PARALLEL_VALUES", 8)
    labels, scores = labels_and_scores(11)
    for row in range(11):
        bad = np.where(np.arange(11) == row, math.inf, scores)
        for n_threads in (1, 2, 3):
            assert_raises(ValueError, f"y_score has inf at row {row}", function, labels, bad, n_threads=n_threads)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_columns_of_any_kind(function):
    labels, scores = [0, 1, 1, 0], [0.5, math.inf, 0.25, 0.125]
    for columns in ((labels, scores), (labels, np.array(scores)), (np.array(labels) == 1, np.array(scores, object))):
        assert_raises(ValueError, "y_score has inf at row 1", function, *columns)
    if function is not fm.roc_auc_score:
        assert_raises(ValueError, "y_score has inf at row 1", function, list("abba"), scores, pos_label="b")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_nan_is_no_infinity(function):
    for allow_infinite in (False, True):
        options = {"allow_infinite": allow_infinite}
        assert_raises(ValueError, "y_score has NaN at row 1", function, [0, 1, 1], [0.5, math.nan, 0.25], **options)
    assert_raises(ValueError, "y_score has -inf at row 2", function, [0, 1, 1], [0.5, math.nan, -math.inf])
    assert_raises(ValueError, "allow_infinite", function, [0, 1, 1], [0.5, 0.25, 0.125], allow_infinite=1)
    refused = {"allow_infinite": np.bool_(False)}  # a flag that comes from an array
    assert_raises(ValueError, "y_score has inf at row 2", function, [0, 1, 1], [0.5, 0.25, math.inf], **refused)


@each_case("rows", [10, 2_000, LONG])
@pytest.mark.parametrize("function", OF_CLASSES)
def test_allowed_infinities_are_the_ends_of_the_order(function, rows):
    """The value is that of the greatest and the least finite score in their place."""
    labels, scores = labels_and_scores(rows)
    infinite = np.select([scores < 5, scores > 45], [-math.inf, math.inf], scores)
    finite = np.select([scores < 5, scores > 45], [-1e300, 1e300], scores)
    assert function(labels, infinite, allow_infinite=True) == function(labels, finite)
    assert function(labels, finite, allow_infinite=True) == function(labels, finite)


@each_case("order", ["C", "F"])
@pytest.mark.parametrize("function", OF_CLASSES)
def test_matrices(function, order):
    labels = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    scores = np.array([[0.5, 0.25], [1.0, 0.5], [0.75, math.inf], [-math.inf, 0.25]], order=order)
    for average in ("macro", "micro", "samples"):
        assert_raises(ValueError, "y_score has inf at row 2", function, labels, scores, average=average)
    finite = np.clip(scores, -9, 9)
    assert function(labels, scores, allow_infinite=True) == function(labels, finite)
