"""ScoreOrder: the functions' results to the last bit, asked in any order, for the price of one sort."""

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
from curve_cases import BIG, KINDS, case_of, quietly, same, weighted_scores
from hypothesis import given
from hypothesis import strategies as st
from peers import pandas

import fastmetrics as fm
import strategies
from fastmetrics._core import ordered_rows

# What can be asked: the method, its options.
QUESTIONS = [
    ("roc_auc_score", {}),
    ("roc_auc_score", {"max_fpr": 0.2}),
    ("partial_auc_score", {"max_fpr": 0.2}),
    ("average_precision_score", {}),
    ("ks_statistic", {}),
    *(("equal_error_rate", {"method": method}) for method in ("interpolate", "mean", "max", "convex_hull")),
    *(("best_threshold", {"metric": metric}) for metric in ("f1", "mcc", "youden")),
    ("best_threshold", {"metric": "fbeta", "beta": 2.0}),
    *itertools.product(["roc_curve", "precision_recall_curve", "det_curve"], [{}, {"drop_intermediate": True}]),
    ("roc_curve", {"drop_intermediate": False}),
    ("far_frr_curve", {}),
    ("lift_curve", {}),
]


def ask(order, question):
    method, options = question
    return getattr(order, method)(**options)


def answer(y_true, y_score, question, **rows):
    """The same from the function."""
    function, options = question
    if function == "roc_auc_score":
        rows = {name: value for name, value in rows.items() if name != "pos_label"}
    return getattr(fm, function)(y_true, y_score, **options, **rows)


def check_all(y_true, y_score, seed=0, **rows):
    questions = list(QUESTIONS)
    random.Random(seed).shuffle(questions)
    order = fm.ScoreOrder(y_true, y_score, **rows)
    for question in [*questions, *questions[:5]]:
        found, expected = ask(order, question), answer(y_true, y_score, question, **rows)
        assert type(found) is type(expected), question
        same(found, expected)
        if isinstance(found, tuple) and isinstance(found[0], np.ndarray):
            assert [own.dtype for own in found] == [own.dtype for own in expected]


def test_every_method_is_asked():
    public = {name for name in vars(fm.ScoreOrder) if not name.startswith("_")} - {"rows", "positives"}
    assert public == {method for method, _ in QUESTIONS}
    assert public <= set(fm.__all__)


@given(weighted_scores(), st.integers(0, 1000))
def test_the_functions_to_the_bit_in_any_order(case, seed):
    y_true, y_score, weights = case
    check_all(y_true, y_score, seed, sample_weight=weights)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.03, 0.9])
def test_many_rows(kind, share):
    check_all(*case_of(kind, BIG, share, "float32" if kind == "tied" else "float64"), n_threads=2)


@pytest.mark.parametrize("rows", [1025, 70_000])
def test_many_weighted_rows(rows):
    y_true, y_score = case_of("tied", rows, 0.3)
    generator = np.random.default_rng(0)
    for weights in (generator.integers(0, 4, rows), generator.lognormal(0.0, 20.0, rows)):
        check_all(y_true, y_score, sample_weight=weights)


def test_any_labels_and_types_of_scores():
    y_true, y_score = case_of("tied", 200, 0.3)
    check_all(np.array(["no", "yes"])[y_true], y_score, pos_label="yes")
    check_all(2 * y_true - 1, y_score)
    narrow = y_score.astype("float32"), y_score.astype("float16"), (8 * y_score).astype("int8")
    for scores in (*narrow, y_score.tolist()):
        check_all(y_true, scores)
    check_all(pandas().Series(y_true), pandas().Series(y_score))


@pytest.mark.parametrize("label", [0, 1])
def test_one_class(label):
    order = fm.ScoreOrder([label] * 3, [0.3, 0.1, 0.2])
    for question in QUESTIONS:
        try:
            expected = quietly(answer, [label] * 3, [0.3, 0.1, 0.2], question)
        except ValueError as error:
            with pytest.raises(ValueError, match="one class only"):
                ask(order, question)
            assert "one class only" in str(error)  # noqa: PT017
        else:
            same(quietly(ask, order, question), expected)


@pytest.fixture
def sorts(monkeypatch):
    """How often rows were put into the order of their scores, or into ranges of them."""
    counts = Counter()
    for name in ("bucket_columns", "sort_buckets", "sort_small", "sweep_weighted"):
        function = getattr(ordered_rows, name)

        def counting(*arguments, function=function, name=name):
            counts[name] += 1
            return function(*arguments)

        monkeypatch.setattr(ordered_rows, name, counting)
    return counts


@pytest.mark.parametrize("rows", [100, 70_000, BIG])
def test_rows_are_sorted_once(rows, sorts):
    y_true, y_score = case_of("shuffled", rows, 0.1)
    order = fm.ScoreOrder(y_true, y_score)
    assert not sorts
    for question in [*QUESTIONS, *QUESTIONS]:
        ask(order, question)
    assert sorts == ({"sort_small": 1} if rows <= 65_536 else {"bucket_columns": 1, "sort_buckets": 1})


def test_what_is_not_needed_is_not_sorted(sorts):
    """Areas, distances and error rates need ranges of scores only, in which one class is sorted."""
    order = fm.ScoreOrder(*case_of("shuffled", BIG, 0.1))
    for question in QUESTIONS[:9]:
        if "max_fpr" not in question[1]:
            ask(order, question)
    assert sorts == {"bucket_columns": 1}


def test_weighted_curves_share_a_sort(sorts):
    y_true, y_score = case_of("shuffled", 3000, 0.1)
    order = fm.ScoreOrder(y_true, y_score, sample_weight=np.arange(3000))
    for question in QUESTIONS:
        if question[0].endswith("curve"):
            ask(order, question)
    assert sorts == {"sweep_weighted": 1}


@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_done_to_an_answer_does_not_change_the_next(weighted):
    y_true, y_score = case_of("tied", 500, 0.3)
    order = fm.ScoreOrder(y_true, y_score, sample_weight=np.arange(500) if weighted else None)
    for question in QUESTIONS:
        if question[0].endswith("curve"):
            first = ask(order, question)
            expected = tuple(own.copy() for own in first)
            for own in first:
                own[:] = -7
            same(ask(order, question), expected)


def test_rows_and_positives():
    order = fm.ScoreOrder([1, 0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert (order.rows, order.positives) == (5, 2)
    assert repr(order) == "ScoreOrder(5 rows)"
    order = fm.ScoreOrder([1, 0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5], sample_weight=[0, 1, 2, 3, 0])
    assert (order.rows, order.positives) == (3, 1)


@given(strategies.labelled_scores())
def test_inputs_are_not_changed(case):
    y_true, y_score = case
    before = y_true.copy(), y_score.copy()
    check_all(y_true, y_score)
    same((y_true, y_score), before)


def test_errors():
    for labels, scores, options in (
        ([0, 1, 2], [0.1, 0.2, 0.3], {}),
        ([0, 1], [0.1], {}),
        ([0, 1], [0.1, 0.2], {"n_threads": 0}),
        ([0, 1], [0.1, 0.2], {"sample_weight": [1.0, -1.0]}),
        ([0, 1], [0.1, math.nan], {}),
    ):
        with pytest.raises(ValueError, match=r"y_true|y_score|n_threads|sample_weight"):
            fm.ScoreOrder(labels, scores, **options).ks_statistic()
    order = fm.ScoreOrder([0, 1], [0.1, 0.2])
    for question, name in (
        (("roc_auc_score", {"max_fpr": 2}), "max_fpr"),
        (("equal_error_rate", {"method": "middle"}), "method"),
        (("best_threshold", {"metric": "auc"}), "metric"),
        (("best_threshold", {"beta": 0}), "beta"),
        (("roc_curve", {"drop_intermediate": "no"}), "drop_intermediate"),
        (("precision_recall_curve", {"drop_intermediate": 1}), "drop_intermediate"),
    ):
        with pytest.raises(ValueError, match=name):
            ask(order, question)
