"""`evaluate_recommendations`: lists against lists, sets, dicts and CSR matrices; equal to runs of descending scores."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from support.cases import assert_raises, each_case

METRICS = ["ndcg@3", "ndcg(gain=exp2)", "map@3", "mrr", "hr@1", "p@2", "recall@3", "rprec", "f1@2"]


@st.composite
def users(draw):
    """Lists and truths with grades; ids of one kind."""
    ids = draw(st.sampled_from([list(range(9)), [f"item {number}" for number in range(9)]]))
    lists = draw(st.lists(st.lists(st.sampled_from(ids), unique=True, max_size=6), min_size=1, max_size=6))
    truth = st.dictionaries(st.sampled_from(ids), st.integers(0, 3), max_size=5)
    return lists, [draw(truth) for _ in lists]


@given(case=users())
def test_a_list_is_a_run_of_descending_scores(case):
    lists, truth = case
    ours = fm.evaluate_recommendations(truth, lists, METRICS)
    run = {user: {item: -float(place) for place, item in enumerate(items)} for user, items in enumerate(lists)}
    # A query without a judgment would be left out. One more judged item that is not relevant changes no value.
    nothing = 99 if all(isinstance(item, int) for items in (*lists, *truth) for item in items) else "item 99"
    other = fm.evaluate_ranking({user: grades | {nothing: 0} for user, grades in enumerate(truth)}, run, METRICS)
    assert dict(ours) == dict(other)
    for name in (*METRICS, "n", "n_relevant"):
        np.testing.assert_array_equal(ours.per_query[name], other.per_query[name])
    assert (ours.per_query["user"].tolist(), ours.coverage["users"]) == (list(range(len(lists))), len(lists))
    assert ours.coverage["users_empty"] == sum(not items for items in lists)
    assert ours.coverage["users_without_relevant"] == sum(not any(grades.values()) for grades in truth)


LISTS = [[4, 2, 9], [7], [], [1, 2]]
SETS = [{2, 9, 5}, {7}, {1}, set()]


def csr(sets):
    sizes = [len(items) for items in sets]
    indices = [item for items in sets for item in sorted(items)]
    return np.concatenate(([0], np.cumsum(sizes))), np.array(indices)


@each_case(
    "truth",
    [
        SETS,
        [list(items) for items in SETS],
        [tuple(items) for items in SETS],
        tuple(map(frozenset, SETS)),
        [dict.fromkeys(items, 1) for items in SETS],
        [np.array(sorted(items), np.int64) for items in SETS],
        csr(SETS),
        (*csr(SETS), np.ones(5)),
        (item for item in SETS),
    ],
    ids=lambda truth: type(truth).__name__,
)
def test_every_kind_of_truth_gives_the_same(truth):
    ours = fm.evaluate_recommendations(truth, LISTS, METRICS)
    expected = fm.evaluate_recommendations(SETS, LISTS, METRICS)
    assert (dict(ours), ours["hr@1"]) == (dict(expected), 0.25)
    assert (ours["mrr"], ours.coverage) == (pytest.approx((0.5 + 1) / 4), expected.coverage)
    assert (ours.coverage["users_empty"], ours.coverage["users_without_relevant"]) == (1, 1)


@each_case("make", ["csr_matrix", "csr_array", "csc_array", "coo_array"])
def test_sparse_matrices_have_their_data_as_grades(make):
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.zeros((4, 10))
    dense[0, [2, 9, 5]] = 1, 3, 2
    dense[1, 7] = 1
    truth = [{2: 1, 9: 3, 5: 2}, {7: 1}, {}, {}]
    matrix = getattr(sparse, make)(dense)
    if make == "csc_array":
        assert_raises(ValueError, r"format 'csc': use .tocsr\(\)", fm.evaluate_recommendations, matrix, LISTS, METRICS)
        matrix = matrix.tocsr()
    assert dict(fm.evaluate_recommendations(matrix, LISTS, METRICS)) == dict(
        fm.evaluate_recommendations(truth, LISTS, METRICS)
    )


@each_case(
    ("matrix", "padding"),
    [
        (np.array([[4, 2, 9], [7, -1, -1], [-1, -1, -1], [1, 2, -1]]), -1),
        (np.array([[4, 2, 9], [7, -1, -1], [-1, -1, -1], [1, 2, -1]], np.int32).T.copy().T, -1),
        (np.array([["4", "2", "9"], ["7", "", ""], ["", "", ""], ["1", "2", ""]]), ""),
        ([[4, 2, 9], [7, -1], [-1], [1, 2, -1]], -1),
    ],
    ids=["int64", "int32, columns first", "text", "lists"],
)  # fmt: skip
def test_arrays_with_padding(matrix, padding):
    truth = [set(map(str, items)) for items in SETS] if isinstance(padding, str) else SETS
    ours = fm.evaluate_recommendations(truth, matrix, METRICS, padding=padding)
    assert dict(ours) == dict(fm.evaluate_recommendations(SETS, LISTS, METRICS))
    assert ours.per_query["n"].tolist() == [3, 1, 0, 2]


def test_without_padding_every_id_is_an_item():
    assert_raises(
        ValueError, "recommended has item -1 twice in user 1, at places 1 and 2",
        fm.evaluate_recommendations, SETS[:2], np.array([[4, 2, 9], [7, -1, -1]]), "mrr",
    )


def test_weights_and_policies():
    by_user = fm.evaluate_recommendations(SETS, LISTS, "mrr", sample_weight=[3, 1, 1, 5])
    assert by_user["mrr"] == pytest.approx((3 * 0.5 + 1) / 10)
    named = fm.evaluate_recommendations(SETS, LISTS, "mrr", sample_weight=dict(enumerate([3, 1, 1, 5])))
    assert dict(named) == dict(by_user)
    assert fm.evaluate_recommendations(SETS, LISTS, "mrr", empty="skip")["mrr"] == pytest.approx(1.5 / 3)
    assert fm.evaluate_recommendations([{1: 1, 2: 3}], [[1, 2]], "hr@1", relevance_level=2)["hr@1"] == 0
    assert_raises(
        ValueError, "user 3 has no relevant item", fm.evaluate_recommendations, SETS, LISTS, "mrr", empty="raise"
    )
    signature = fm.evaluate_recommendations(SETS, LISTS, "mrr").signature("mrr")
    assert "ties:stable" in signature
    assert "missing" not in signature


def test_all_lists_are_empty():
    ours = fm.evaluate_recommendations([{"a"}, set()], [[], []], ["mrr", "ndcg@5", "recall@5"])
    assert set(ours.values()) == {0.0}
    assert fm.evaluate_recommendations([[], []], [["a"], []], "mrr")["mrr"] == 0
    assert fm.evaluate_recommendations([[], []], [[], []], "mrr")["mrr"] == 0


def test_repr_names_users():
    assert repr(fm.evaluate_recommendations(SETS, LISTS, "mrr")).splitlines() == [
        "4 users, 1.5 items each, 1 without a relevant item", "mrr  0.3750",
    ]  # fmt: skip


@each_case(
    ("lists", "truth", "options", "error", "message"),
    [
        ([[1, 2, 1]], [{1}], {}, ValueError, "recommended has item 1 twice in user 0, at places 0 and 2"),
        ([["a"], ["b", "b"]], [{"a"}, {"b"}], {}, ValueError, "recommended has item 'b' twice in user 1"),
        ([[1]], [[2, 2]], {}, ValueError, "relevant has item 2 twice in user 0, at places 0 and 1"),
        ([[1]], (np.array([0, 2]), np.array([4, 4])), {}, ValueError, "relevant has item 4 twice in user 0"),
        ([[1], [2]], [{1}], {}, ValueError, "recommended has 2 rows but relevant has 1"),
        ([], [], {}, ValueError, "recommended is empty"),
        ([[1]], [{"1"}], {}, TypeError, "items of recommended and relevant are integers and strings"),
        ([[1, "2"]], [{1}], {}, TypeError, "items of recommended has '2' at row 1"),
        ([[1.5]], [{1}], {}, TypeError, "items of recommended has 1.5 at row 0"),
        ([[1, -1, 2]], [{1}], {"padding": -1}, ValueError, "padding at place 1 of user 0 and item 2 behind it"),
        (np.array([[1, -1, 2]]), [{1}], {"padding": -1}, ValueError, "padding at place 1 of user 0 and item 2"),
        (np.array([1, 2]), [{1}], {}, ValueError, r"found an array of shape \(2,\)"),
        (["abc"], [{"a"}], {}, TypeError, "list of items for every user; user 0 has 'abc'"),
        ([{1, 2}], [{1}], {}, TypeError, "user 0 has {1, 2}"),
        ("abc", [{1}], {}, TypeError, "recommended must be a list of item lists"),
        ([[1]], {0: [1]}, {}, TypeError, "relevant must be a list"),
        ([[1]], [{1: math.nan}], {}, ValueError, "grades of relevant has NaN at row 0"),
        ([[1]], [{1: "x"}], {}, ValueError, "grades of relevant has 'x'"),
        ([[1]], (np.array([0, 2]), np.array([4])), {}, ValueError, "indptr of relevant must begin at 0"),
        ([[1]], (np.array([0.0, 1.0]), np.array([4])), {}, ValueError, "indptr of relevant must be integers"),
        ([[1]], (np.array([0, 1]), np.array([4]), np.array([1, 2])), {}, ValueError, "has 1 rows but data has 2"),
        ([[1]], [{1}], {"sample_weight": [-1]}, ValueError, "sample_weight has -1"),
        ([[1]], [{1}], {"sample_weight": [1, 2]}, ValueError, "sample_weight has 2"),
    ],
)  # fmt: skip
def test_bad_input_is_named(lists, truth, options, error, message):
    assert_raises(error, message, fm.evaluate_recommendations, truth, lists, "mrr", **options)
