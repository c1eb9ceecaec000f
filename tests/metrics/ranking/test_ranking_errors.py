"""Errors of the functions of ranked lists: invalid input is rejected and named."""

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.ranking.ranking_functions import FUNCTIONS

Y_TRUE, Y_SCORE, GROUPS = [1, 0, 2, 1], [0.4, 0.3, 0.2, 0.1], ["a", "a", "b", "b"]
SIGNED = ("cumulative_gain", "dcg_score")


def call(name, y_true=None, y_score=None, groups=GROUPS, **options):
    if FUNCTIONS[name].needs_cutoff:
        options = {"k": 2} | options
    return getattr(fm, name)(
        Y_TRUE if y_true is None else y_true, Y_SCORE if y_score is None else y_score, groups, **options
    )


@pytest.mark.parametrize("name", [name for name, function in FUNCTIONS.items() if function.cutoff])
@each_case("k", [0, -1, 1.5, "3", True, [], [1, 0], [2, None]])
def test_cutoffs(name, k):
    assert_raises((ValueError, TypeError), "k ", call, name, k=k)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options(name):
    for option, value in (
        ("ties", "mean"), ("ties", "later"), ("relevance_level", 0), ("relevance_level", -1), ("relevance_level", "1"),
        ("relevance_level", float("nan")), ("relevance_level", float("inf")), ("n_threads", 0),
    ):  # fmt: skip
        assert_raises((ValueError, TypeError), option, call, name, **{option: value})
    for option in FUNCTIONS[name].options:
        assert_raises((ValueError, TypeError), option, call, name, **{option: "neither"})
    if FUNCTIONS[name].has_empty:
        assert_raises(ValueError, "empty", call, name, empty="drop")
    assert_raises(ValueError, "items", call, name, ties="docid")
    assert_raises(ValueError, r"groups=.*offsets=", call, name, offsets=[0, 2, 4])


@pytest.mark.parametrize("name", FUNCTIONS)
@each_case("form", ["groups", "offsets", "matrix"])
def test_rows(name, form):
    """The message names the bad row, for every form of input."""
    offsets = {"offsets": [0, 2, 4]} if form == "offsets" else {}
    groups = GROUPS if form == "groups" else None

    def check_error(match, **columns):
        if form == "matrix":
            columns = {key: np.reshape(column, (2, 2)) for key, column in columns.items()}
            columns = {"y_true": np.reshape(Y_TRUE, (2, 2)), "y_score": np.reshape(Y_SCORE, (2, 2))} | columns
        assert_raises((ValueError, TypeError), match, call, name, groups=groups, **offsets, **columns)

    where = r"row \(1, 0\)" if form == "matrix" else "row 2"
    check_error("y_score", y_score=[0.4, 0.3, float("nan"), 0.1])
    check_error(f"y_true.*{where}", y_true=[1, 0, float("nan"), 1])
    check_error(f"y_true.*{where}", y_true=[1, 0, float("inf"), 1])
    if name not in SIGNED:
        check_error(f"y_true has -1.* {where}: relevance must not be negative", y_true=[1, 0, -1, 1])
    if name == "expected_reciprocal_rank":
        check_error(f"y_true has 5 at {where}: grades may be at most 4", y_true=[1, 0, 5, 1])
    if form != "matrix":
        check_error("y_score", y_score=[0.4, 0.3])
        check_error("y_true is empty", y_true=[], y_score=[])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lists(name):
    for offsets in ([0, 2], [1, 4], [0, 3, 2, 4], [0.0, 4.0], [[0, 4]], [], [0, 5]):
        assert_raises((ValueError, TypeError), "offsets", call, name, groups=None, offsets=offsets)
    assert_raises((ValueError, TypeError), "groups", call, name, groups=GROUPS[:3])
    assert_raises((ValueError, TypeError), r"groups=.*offsets=", call, name, groups=None)
    assert_raises(
        ValueError, "shape",
        call, name, y_true=[[1, 0], [0, 1]], y_score=[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], groups=None,
    )
    assert_raises(ValueError, r"items|docid", call, name, ties="docid", items=["x", "y"])


@pytest.mark.parametrize("name", FUNCTIONS)
@each_case("ties", ["average", "stable"])
def test_weights(name, ties):
    assert_raises(
        ValueError, r"group 'b' has weights 1\.0 and 2\.0", call, name, sample_weight=[3.0, 3.0, 1.0, 2.0], ties=ties
    )
    assert_raises(ValueError, "sample_weight", call, name, sample_weight=[1.0, 1.0, -1.0, -1.0], ties=ties)
    assert_raises(ValueError, "sample_weight", call, name, sample_weight=[0.0, 0.0, 0.0, 0.0], ties=ties)
    assert_raises(ValueError, "sample_weight", call, name, sample_weight=[1.0, 2.0], ties=ties)
    assert_raises(
        ValueError, "sample_weight",
        call, name, groups=None, offsets=[0, 2, 4], sample_weight=[1.0, 1.0, 1.0, 1.0], ties=ties,
    )


@pytest.mark.parametrize("name", [name for name, function in FUNCTIONS.items() if function.has_empty])
@each_case("ties", ["average", "stable"])
def test_lists_without_a_value_are_named(name, ties):
    assert_raises(ValueError, "group 'b'", call, name, y_true=[1, 0, 0, 0], empty="raise", ties=ties)
    assert_raises(
        ValueError, "list 1", call, name, y_true=[1, 0, 0, 0], groups=None, offsets=[0, 2, 4], empty="raise", ties=ties
    )
    assert call(name, y_true=[1, 0, 0, 0], empty="skip", ties=ties) == call(
        name, y_true=[1, 0], y_score=[0.4, 0.3], groups=["a", "a"], ties=ties
    )
    # Keys are named in their own type.
    assert_raises(ValueError, "group 7", call, name, y_true=[1, 0, 0, 0], groups=[2, 2, 7, 7], empty="raise", ties=ties)


def test_micro_hit_rate_has_no_empty_lists():
    assert_raises(ValueError, "empty", call, "hit_rate", average="micro", empty="skip")
    assert_raises(ValueError, "average", call, "hit_rate", average="macro")


def test_ideal_lists():
    for name in ("ndcg_score", "ideal_dcg"):
        assert_raises(ValueError, "ideal", call, name, ideal="listed", k=2)
    for name in ("ndcg_score", "dcg_score"):
        assert_raises(ValueError, "ignore_ties", call, name, ignore_ties=True, ties="stable")
        assert_raises((ValueError, TypeError), "ignore_ties", call, name, ignore_ties="no")


def test_logarithms():
    for base in (1, 0, -2, float("nan"), float("inf"), "e", True):
        assert_raises((ValueError, TypeError), "log_base", call, "dcg_score", log_base=base)


def test_persistence_and_grades():
    for p in (0, 1, -0.1, float("nan"), "half", True):
        assert_raises((ValueError, TypeError), "p ", call, "rank_biased_precision", p=p)
    for grade in (0, -1, float("nan"), "4", True):
        assert_raises((ValueError, TypeError), "max_grade", call, "expected_reciprocal_rank", max_grade=grade)
    assert call("expected_reciprocal_rank", max_grade=2) > 0


@each_case("rows", [40, 5000])
@each_case("value", [np.inf, -np.inf])
@pytest.mark.parametrize("function", [fm.ndcg_score, fm.dcg_score])
def test_infinite_scores_are_ordered_if_asked_for(function, rows, value):
    generator = np.random.default_rng(rows)
    grades, scores, groups = generator.integers(0, 3, rows), generator.random(rows), np.arange(rows) % 4
    infinite = scores.copy()
    infinite[7] = value
    finite = np.where(np.isinf(infinite), np.sign(infinite) * 2.0, infinite)
    message = f"y_score has {value} at row 7: finite numbers are needed, or allow_infinite=True"
    assert_raises(ValueError, message, function, grades, infinite, groups)
    assert function(grades, infinite, groups, allow_infinite=True) == function(grades, finite, groups)
    lists = grades.reshape(4, -1), infinite.reshape(4, -1)
    assert_raises(ValueError, f"y_score has {value} at row 0", function, *lists)
    assert function(*lists, allow_infinite=True) == function(lists[0], finite.reshape(4, -1))
