"""Counts and metrics at every threshold: equal to the definition and to scikit-learn's."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles.curves import thresholds as oracle
from support.cases import assert_raises, each_case
from support.peers import peer

ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(-3, 3).map(lambda eighths: eighths / 8), st.integers(0, 3)), min_size=1
).filter(lambda rows: any(weight for *_, weight in rows))


@given(ROWS, st.booleans())
def test_definition(rows, weighted):
    labels, scores, weights = map(list, zip(*rows, strict=True))
    chosen = weights if weighted else None
    tns, fps, fns, tps, thresholds = fm.confusion_matrix_at_thresholds(labels, scores, sample_weight=chosen)
    found = list(zip(thresholds, tns, fps, fns, tps, strict=True))
    assert found == oracle.confusion_matrix_at_thresholds(labels, scores, chosen)
    values, thresholds = fm.metric_at_thresholds(labels, scores, fm.accuracy_score)
    expected = oracle.metric_at_thresholds(labels, scores, lambda true, pred: fm.accuracy_score(true, pred))
    assert list(zip(thresholds, values, strict=True)) == expected


@each_case("kind", ["float64", "float32", "float16", "int64", "int8"])
@each_case("weighted", [False, True])
def test_scikit_learn(kind, weighted):
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, 500), rng.integers(-12, 12, 500).astype(kind)
    weights = rng.integers(0, 4, 500).astype(float) if weighted else None
    sk = peer("sklearn.metrics")
    ours = fm.confusion_matrix_at_thresholds(labels, scores, sample_weight=weights)
    theirs = sk.confusion_matrix_at_thresholds(labels, scores, sample_weight=weights)
    assert [own.tolist() for own in ours] == [other.tolist() for other in theirs]
    assert [own.dtype for own in ours] == [other.dtype for other in theirs]

    def rates(true, pred, **options):
        return sk.fbeta_score(true, pred, beta=2, zero_division=0, **options), true[0], pred.sum()

    for function, options in ((sk.fbeta_score, {"beta": 2}), (rates, None)):
        given = {"sample_weight": weights, "metric_params": options}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine = fm.metric_at_thresholds(labels, scores, function, **given)
            other = sk.metric_at_thresholds(labels, scores, function, **given)
        assert [own.tolist() for own in mine] == [value.tolist() for value in other]
        assert [own.dtype for own in mine] == [value.dtype for value in other]


def test_large_inputs_are_as_small_ones():
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 2, 200_000), rng.normal(size=200_000).round(3)
    order = rng.permutation(200_000)
    expected = fm.confusion_matrix_at_thresholds(labels, scores, n_threads=1)
    for threads in (1, 2):
        found = fm.confusion_matrix_at_thresholds(labels[order], scores[order], n_threads=threads)
        assert all(map(np.array_equal, found, expected))
    tns, fps, fns, tps, thresholds = expected
    at = 1234
    predicted = scores >= thresholds[at]
    assert fm.confusion_matrix(labels, predicted).ravel().tolist() == [tns[at], fps[at], fns[at], tps[at]]


@pytest.mark.parametrize("function", [fm.confusion_matrix_at_thresholds, fm.metric_at_thresholds])
def test_bad_input(function):
    extra = (fm.accuracy_score,) if function is fm.metric_at_thresholds else ()
    assert_raises(ValueError, "y_score has NaN at row 1", function, [0, 1], [0.5, np.nan], *extra)
    assert_raises(ValueError, "y_score has inf at row 0", function, [0, 1], [np.inf, 0.5], *extra)
    assert_raises(ValueError, "y_true has 2 rows but y_score has 3", function, [0, 1], [0.5, 0.1, 0.2], *extra)
    assert_raises(ValueError, "sample_weight is zero", function, [0, 1], [0.5, 0.1], *extra, sample_weight=[0, 0])


def test_options():
    counts = fm.confusion_matrix_at_thresholds(["a", "b"], [1, 2], pos_label="b")
    assert [own.tolist() for own in counts] == [[1, 0], [0, 1], [0, 0], [1, 1], [2, 1]]
    counts = fm.confusion_matrix_at_thresholds([0, 1], [1.0, np.inf], allow_infinite=True)
    assert counts[4].tolist() == [np.inf, 1.0]
    assert_raises(ValueError, "pos_label is not given", fm.confusion_matrix_at_thresholds, ["a", "b"], [1, 2])
    assert_raises(ValueError, "metric_func must be", fm.metric_at_thresholds, [0, 1], [1, 2], "accuracy")
    assert_raises(ValueError, "metric_params must", fm.metric_at_thresholds, [0], [1], fm.f1_score, metric_params=[1])


def test_a_missing_label_beside_numbers_is_named():
    for function in (fm.confusion_matrix_at_thresholds, fm.roc_curve, fm.precision_recall_curve):
        assert_raises(ValueError, "y_true has None at row 1 beside numbers", function, [1, None], [0.1, 0.2])
