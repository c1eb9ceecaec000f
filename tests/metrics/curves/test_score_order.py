"""ScoreOrder: exactly the results of the functions, in any order of calls, with one sort."""

import inspect
import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.exchange import sorted_rows
from support import strategies
from support.cases import assert_raises, each_case, without_warnings
from support.curve_cases import (
    KINDS_AND_SHARES,
    LARGE_ROWS,
    assert_same,
    make_case,
    ordering_infinities,
    weighted_scores,
)
from support.peers import pandas

# Calls of methods: name, options.
CALLS = [
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


def call_method(order, call):
    method, options = call
    return getattr(order, method)(**options)


def call_function(y_true, y_score, call, **rows):
    """The result of the function of the same name."""
    function, options = call
    if function == "roc_auc_score":
        rows = {name: value for name, value in rows.items() if name != "pos_label"}
    own = getattr(fm, function)
    if "allow_infinite" in inspect.signature(own).parameters:
        own = ordering_infinities(own)
    return own(y_true, y_score, **options, **rows)


def check_all(y_true, y_score, seed=0, **rows):
    calls = list(CALLS)
    random.Random(seed).shuffle(calls)
    order = fm.ScoreOrder(y_true, y_score, **rows)
    for call in [*calls, *calls[:5]]:
        found, expected = call_method(order, call), call_function(y_true, y_score, call, **rows)
        assert type(found) is type(expected), call
        assert_same(found, expected)
        if isinstance(found, tuple) and isinstance(found[0], np.ndarray):
            assert [own.dtype for own in found] == [own.dtype for own in expected]


def test_every_method_is_called():
    public = {name for name in vars(fm.ScoreOrder) if not name.startswith("_")} - {"rows", "positives"}
    assert public == {method for method, _ in CALLS}
    assert public <= set(fm.__all__)


@given(weighted_scores(), st.integers(0, 1000))
def test_methods_equal_functions_in_any_order(case, seed):
    y_true, y_score, weights = case
    check_all(y_true, y_score, seed, sample_weight=weights)


@each_case(("kind", "share"), KINDS_AND_SHARES)
def test_many_rows(kind, share):
    check_all(*make_case(kind, LARGE_ROWS, share, "float32" if kind == "tied" else "float64"), n_threads=2)


@pytest.mark.parametrize("rows", [1025, 70_000])
def test_many_weighted_rows(rows):
    y_true, y_score = make_case("tied", rows, 0.3)
    generator = np.random.default_rng(0)
    for weights in (generator.integers(0, 4, rows), generator.lognormal(0.0, 20.0, rows)):
        check_all(y_true, y_score, sample_weight=weights)


def test_any_labels_and_types_of_scores():
    y_true, y_score = make_case("tied", 200, 0.3)
    check_all(np.array(["no", "yes"])[y_true], y_score, pos_label="yes")
    check_all(2 * y_true - 1, y_score)
    narrow = y_score.astype("float32"), y_score.astype("float16"), (8 * y_score).astype("int8")
    for scores in (*narrow, y_score.tolist()):
        check_all(y_true, scores)
    check_all(pandas().Series(y_true), pandas().Series(y_score))


@pytest.mark.parametrize("label", [0, 1])
def test_one_class(label):
    order = fm.ScoreOrder([label] * 3, [0.3, 0.1, 0.2])
    for call in CALLS:
        try:
            expected = without_warnings(call_function, [label] * 3, [0.3, 0.1, 0.2], call)
        except ValueError as error:
            assert_raises(ValueError, "one class only", call_method, order, call)
            assert "one class only" in str(error)  # noqa: PT017
        else:
            assert_same(without_warnings(call_method, order, call), expected)


@pytest.fixture
def sorts(monkeypatch):
    """The number of sorts of rows by score, and of partitions into ranges of scores."""
    counts = Counter()
    for name in ("bucket_columns", "sort_buckets", "sort_small", "sweep_with_weights"):
        function = getattr(sorted_rows, name)

        def counting(*arguments, function=function, name=name):
            counts[name] += 1
            return function(*arguments)

        monkeypatch.setattr(sorted_rows, name, counting)
    return counts


@pytest.mark.parametrize("rows", [100, 70_000, LARGE_ROWS])
def test_rows_are_sorted_once(rows, sorts):
    y_true, y_score = make_case("shuffled", rows, 0.1)
    order = fm.ScoreOrder(y_true, y_score)
    assert not sorts
    for call in [*CALLS, *CALLS]:
        call_method(order, call)
    assert sorts == ({"sort_small": 1} if rows <= 65_536 else {"bucket_columns": 1, "sort_buckets": 1})


def test_metrics_need_no_full_sort(sorts):
    """AUC, AP, KS and EER need only ranges of scores in which one class is sorted."""
    order = fm.ScoreOrder(*make_case("shuffled", LARGE_ROWS, 0.1))
    for call in CALLS[:9]:
        if "max_fpr" not in call[1]:
            call_method(order, call)
    assert sorts == {"bucket_columns": 1}


def test_weighted_curves_share_a_sort(sorts):
    y_true, y_score = make_case("shuffled", 3000, 0.1)
    order = fm.ScoreOrder(y_true, y_score, sample_weight=np.arange(3000))
    for call in CALLS:
        if call[0].endswith("curve"):
            call_method(order, call)
    assert sorts == {"sweep_with_weights": 1}


@pytest.mark.parametrize("weighted", [False, True])
def test_changing_a_result_does_not_change_the_next(weighted):
    y_true, y_score = make_case("tied", 500, 0.3)
    order = fm.ScoreOrder(y_true, y_score, sample_weight=np.arange(500) if weighted else None)
    for call in CALLS:
        if call[0].endswith("curve"):
            first = call_method(order, call)
            expected = tuple(own.copy() for own in first)
            for own in first:
                own[:] = -7
            assert_same(call_method(order, call), expected)


def test_rows_and_positives():
    order = fm.ScoreOrder([1, 0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert (order.rows, order.positives) == (5, 2)
    assert repr(order) == "ScoreOrder(5 rows)"
    order = fm.ScoreOrder([1, 0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5], sample_weight=[0, 1, 2, 3, 0])
    assert (order.rows, order.positives) == (3, 1)


@given(strategies.labeled_scores())
def test_inputs_are_not_changed(case):
    y_true, y_score = case
    before = y_true.copy(), y_score.copy()
    check_all(y_true, y_score)
    assert_same((y_true, y_score), before)


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
    for call, name in (
        (("roc_auc_score", {"max_fpr": 2}), "max_fpr"),
        (("equal_error_rate", {"method": "middle"}), "method"),
        (("best_threshold", {"metric": "auc"}), "metric"),
        (("best_threshold", {"beta": 0}), "beta"),
        (("roc_curve", {"drop_intermediate": "no"}), "drop_intermediate"),
        (("precision_recall_curve", {"drop_intermediate": 1}), "drop_intermediate"),
    ):
        assert_raises(ValueError, name, call_method, order, call)
