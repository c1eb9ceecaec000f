"""The hinge loss: equal to the definition and to scikit-learn's."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles.probability.hinge_loss import hinge_loss
from support.cases import assert_raises, each_case
from support.peers import peer


@st.composite
def decisions(draw):
    classes = draw(st.integers(2, 5))
    rows = draw(st.integers(1, 12))
    eighths = st.integers(-24, 24).map(lambda value: value / 8)
    row = eighths if classes == 2 else st.lists(eighths, min_size=classes, max_size=classes)
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows))
    weights = draw(st.none() | st.lists(st.integers(1, 4), min_size=rows, max_size=rows))
    return classes, labels, draw(st.lists(row, min_size=rows, max_size=rows)), weights


@given(decisions())
def test_definition(case):
    classes, labels, values, weights = case
    names = "abcde"[:classes]
    expected = float(hinge_loss(labels, values, range(classes), weights))
    assert fm.hinge_loss(labels, values, labels=list(range(classes)), sample_weight=weights) == expected
    named = [names[label] for label in labels][::-1]
    reversed_weights = weights and weights[::-1]
    assert fm.hinge_loss(named, values[::-1], labels=list(names), sample_weight=reversed_weights) == expected


@each_case("classes", [1, 2, 3, 7])
@each_case("weighted", [False, True])
def test_scikit_learn(classes, weighted):
    rng = np.random.default_rng(classes)
    labels = np.append(np.arange(classes), rng.integers(0, classes, 300))
    shape = (labels.size, classes) if classes > 2 else labels.size
    values = rng.normal(size=shape)
    weights = rng.random(labels.size) if weighted else None
    theirs = peer("sklearn.metrics").hinge_loss(labels, values, sample_weight=weights)
    found = fm.hinge_loss(labels, values, sample_weight=weights)
    assert math.isclose(found, theirs, rel_tol=1e-14)
    assert type(found) is float
    if classes <= 2:
        assert fm.hinge_loss(labels, values[:, None], sample_weight=weights) == found


def test_ends_of_the_range():
    assert fm.hinge_loss([0, 1], [1e308, -1e308]) == 1e308
    assert fm.hinge_loss([0, 1, 2], [[-1e308, 1e308, 0], [0, 9, 0], [0, 0, 9]]) == math.inf
    assert fm.hinge_loss([0, 1], [-3.0, 0.5], sample_weight=[5e-324, 5e-324]) == 0.25


@each_case(
    ("labels", "values", "options", "message"),
    [
        ([0, 1], [0.5, np.nan], {}, "pred_decision has NaN at row 1"),
        ([0, 1, 2], [[0, 1, 2], [0, np.inf, -np.inf], [0, 0, 0]], {}, "pred_decision has inf at row 1"),
        ([0, 1], [0.5], {}, "y_true has 2 rows but pred_decision has 1"),
        ([0, 1, 2], [0.5, 1, 2], {}, "3 classes need shape"),
        ([0, 1, 2], [[0.5, 1]] * 3, {}, "3 classes need shape"),
        ([0, 1], [[0.5, 1]] * 2, {}, "at most two classes need one column"),
        ([0, 1], [[0.5, 1, 2]] * 2, {"labels": [0, 2, 3]}, "y_true has 1 at row 1, which is not among labels"),
        ([0, 1], [[[0.5]], [[1.0]]], {}, "one or two dimensions"),
        ([0, 1], [0.5, 1], {"sample_weight": [0, 0]}, "sample_weight is zero"),
        ([], [], {}, "y_true is empty"),
    ],
)
def test_bad_input(labels, values, options, message):
    assert_raises(ValueError, message, fm.hinge_loss, labels, values, **options)
