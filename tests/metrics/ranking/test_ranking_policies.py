"""Policies of `evaluate_ranking` for queries, items and weights; its result; and errors of bad input."""

import math
import pathlib
import pickle

import numpy as np
import pytest

import fastmetrics as fm
from support import peers
from support.cases import assert_raises, each_case
from support.ranking.ranking_inputs import METRICS, QRELS, RUN, same


def test_missing_queries():
    qrels = QRELS | {"q3": {"d1": 1}, "q4": {"d1": 0}}
    zero = fm.evaluate_ranking(qrels, RUN, ["mrr", "map"])
    drop = fm.evaluate_ranking(qrels, RUN, ["mrr", "map"], missing="drop")
    assert zero["mrr"] == 1.5 / 4
    assert drop["mrr"] == 1.5 / 2
    assert zero.coverage["queries"] == 4
    assert drop.coverage["queries"] == 2
    for result in (zero, drop):
        assert (result.coverage["queries_in_both"], result.coverage["queries_missing"]) == (2, 2)
        assert result.coverage["missing"] == ["q3", "q4"]
    assert (zero.coverage["queries_empty"], zero.coverage["queries_without_relevant"]) == (2, 1)
    assert zero.per_query["query"].tolist() == ["q1", "q2", "q3", "q4"]
    assert (zero.per_query["n"].tolist(), zero.per_query["n_judged"].tolist()) == ([3, 2, 0, 0], [3, 1, 1, 1])
    assert zero.per_query["n_relevant"].tolist() == [3, 1, 1, 0]
    assert_raises(ValueError, r"2 queries \('q3', 'q4'\)", fm.evaluate_ranking, qrels, RUN, "mrr", missing="raise")


def test_dicts_without_an_item():
    """As in pytrec_eval: a query without a judged item is unjudged, one without retrieved items is an empty list."""
    run, qrels = RUN | {"x": {"d": 1.0}, "y": {}}, QRELS | {"x": {}, "y": {"d": 1}, "z": {}}
    ours = fm.evaluate_ranking(qrels, run, "mrr", missing="raise")
    assert (ours["mrr"], ours.coverage["unjudged"]) == (1.5 / 3, ["x"])
    assert ours.coverage["queries_empty"] == 1
    pytrec_eval = peers.pytrec_eval()
    assert pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run).keys() == {"q1", "q2", "y"}


def test_queries_without_a_relevant_item():
    qrels = QRELS | {"q2": {"d4": 0}}
    values = {empty: fm.evaluate_ranking(qrels, RUN, "mrr", empty=empty) for empty in ("zero", "one", "skip", "nan")}
    assert {empty: result["mrr"] for empty, result in values.items() if empty != "nan"} == {
        "zero": 0.5,
        "one": 1,
        "skip": 1,
    }
    assert math.isnan(values["nan"]["mrr"])
    assert values["zero"].per_query["mrr"].tolist() == [1, 0]
    assert values["one"].per_query["mrr"].tolist() == [1, 1]
    assert np.isnan(values["skip"].per_query["mrr"][1])
    assert all(result.coverage["queries_without_relevant"] == 1 for result in values.values())
    assert_raises(
        ValueError, "query 'q2' has no relevant item for 'mrr'", fm.evaluate_ranking, qrels, RUN, "mrr", empty="raise"
    )


def test_options_in_a_string_override_those_of_the_call():
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 2}}
    ours = fm.evaluate_ranking(qrels, run, ["mrr", "mrr(ties=optimistic)", "mrr(ties=pessimistic)"])
    assert list(ours.values()) == [0.75, 1.0, 0.5]
    ours = fm.evaluate_ranking(qrels, run, ["mrr", "mrr(ties=pessimistic)", "mrr(ties=average)"], ties="docid")
    assert list(ours.values()) == [0.5, 0.5, 0.75]
    ours = fm.evaluate_ranking(qrels, run, ["hr@1", "hr(relevance_level=3)@1"], ties="optimistic", relevance_level=2)
    assert list(ours.values()) == [1, 0]


def test_micro_average():
    ours = fm.evaluate_ranking(QRELS, RUN, ["hr(average=micro)@2", "hr@2"])
    assert (ours["hr(average=micro)@2"], ours["hr@2"]) == (pytest.approx(2 / 4), 1)


def test_queries_of_weight_zero_are_absent():
    """Also a query without a relevant item, for policies that make the mean NaN or an error."""
    run, qrels = {"a": {"x": 1.0}, "b": {"x": 1.0}}, {"a": {"x": 1}, "b": {"x": 0}}
    for empty in ("zero", "skip", "one", "nan", "raise"):
        ours = fm.evaluate_ranking(qrels, run, ["map", "mrr@3"], empty=empty, sample_weight={"a": 2.0, "b": 0.0})
        assert dict(ours) == {"map": 1.0, "mrr@3": 1.0}
    assert math.isnan(fm.evaluate_ranking(qrels, run, "map", empty="nan", sample_weight={"a": 2.0, "b": 1.0})["map"])
    assert_raises(
        ValueError, "query 'b' has no relevant item",
        fm.evaluate_ranking, qrels, run, "map", empty="raise", sample_weight={"a": 2.0, "b": 1.0},
    )


def test_weights_of_queries():
    ours = fm.evaluate_ranking(QRELS, RUN, ["mrr", "p@1"], sample_weight={"q1": 3, "q2": 1.0})
    assert (ours["mrr"], ours["p@1"]) == (pytest.approx((3 * 1 + 0.5) / 4), pytest.approx(3 / 4))
    assert "weight:sample_weight" in ours.signature("mrr")
    for weights, message in (
        ({"q1": 1}, "no weight for query 'q2'"),
        ({"q1": 1, "q2": -1}, "-1 for query 'q2'"),
        ({"q1": 1, "q2": float("nan")}, "nan for query 'q2'"),
        ({"q1": 1, "q2": "2"}, "'2' for query 'q2'"),
    ):
        assert_raises(ValueError, message, fm.evaluate_ranking, QRELS, RUN, "mrr", sample_weight=weights)
    words = "sample_weight must map every query"
    assert_raises(TypeError, words, fm.evaluate_ranking, QRELS, RUN, "mrr", sample_weight=[1, 2])


def test_docid_is_the_greatest_first():
    run = {"q": {"d10": 1.0, "d9": 1.0, "d": 1.0, "e": 1.0}}
    ranks = {item: 1 / fm.evaluate_ranking({"q": {item: 1}}, run, "mrr", ties="docid")["mrr"] for item in run["q"]}
    assert ranks == {"e": 1, "d9": 2, "d10": 3, "d": 4}
    run = {1: {10: 1.0, 9: 1.0, -3: 1.0}}
    ranks = {item: 1 / fm.evaluate_ranking({1: {item: 1}}, run, "mrr", ties="docid")["mrr"] for item in run[1]}
    assert ranks == {10: 1, 9: 2, -3: 3}
    large = {"query": np.array([1, 1]), "item": np.array([5, 2**64 - 1], np.uint64), "score": [1.0, 1.0]}
    truth = {"query": np.array([1]), "item": np.array([5], np.uint64), "relevance": [1]}
    assert fm.evaluate_ranking(truth, large, "mrr", ties="docid")["mrr"] == 0.5


def test_result_as_text_and_mapping():
    ours = fm.evaluate_ranking(QRELS | {"q3": {"d1": 1}}, RUN | {"x": {"d": 1}}, ["ndcg@10", "mrr"])
    assert repr(ours).splitlines() == [
        "3 queries, 1.667 items each, 1 judged but not in the run (count as 0), 1 of the run not judged (left out)",
        "ndcg@10  0.4232",
        "mrr      0.5000",
    ]
    assert ours[" mrr "] == ours["mrr"] == 0.5
    assert "mrr" in ours
    assert len(ours) == 2
    assert list(ours.keys()) == ["ndcg@10", "mrr"]
    with pytest.raises(KeyError, match="no 'map' in this RankingResult"):
        ours["map"]
    signature = ours.signature("ndcg@10")
    assert signature.startswith("ndcg@10|gain:linear|ideal:judged|")
    for part in ("ties:average", "empty:zero", "missing:zero", "relevance_level:1", "groups:3", f"v:{fm.__version__}"):
        assert part in signature.split("|")
    plain = ours.to_dict()
    assert (plain["values"], plain["coverage"]["relevant_not_retrieved"]) == (dict(ours), 2)
    assert plain["signatures"]["mrr"] == ours.signature("mrr")
    table = ours.per_query
    assert list(table.keys()) == ["query", "n", "n_judged", "n_relevant", "ndcg@10", "mrr"]
    assert len(table) == 3
    assert repr(table).splitlines()[0].split() == list(table.keys())
    assert table.to_dict()["mrr"] == [1.0, 0.5, 0.0]
    pytest.importorskip("pyarrow")
    assert table.to_arrow().column_names == list(table.keys())


def test_a_result_can_be_sent_to_another_process():
    ours = fm.evaluate_ranking(QRELS, RUN, METRICS, ties="docid")
    other = pickle.loads(pickle.dumps(ours))
    same(other, ours)
    assert [other.signature(name) for name in dict(other)] == [ours.signature(name) for name in dict(ours)]
    assert repr(other) == repr(ours)


def test_coverage_counts():
    run = {"a": {1: 0.5, 2: 0.5, 3: 0.5}, "b": {1: 0.2, 2: 0.1}}
    ours = fm.evaluate_ranking({"a": {1: 1, 9: 2, 8: 0}, "b": {2: 0, 1: -1}}, run, "map")
    wanted = {
        "queries": 2, "queries_empty": 0, "queries_without_relevant": 1, "retrieved": 5, "relevant": 2,
        "relevant_retrieved": 1, "relevant_not_retrieved": 1, "tied_pairs": 1.0,
        "candidates": {"mean": 2.5, "min": 2, "max": 3},
    }  # fmt: skip
    assert {name: ours.coverage[name] for name in wanted} == wanted


def test_the_queries_that_are_named_do_not_depend_on_the_order_of_rows():
    ours = fm.evaluate_ranking({3: {"d": 1}}, {query: {"d": 1.0} for query in reversed(range(12))}, "map")
    assert (ours.coverage["unjudged"], ours.coverage["queries_unjudged"]) == ([0, 1, 2, 4, 5], 11)


ROWS = {"query": [1, 1], "item": ["a", "b"], "score": [0.5, 0.25]}
TRUTH = {"query": [1], "item": ["a"], "relevance": [1]}


@each_case(
    ("run", "qrels", "metrics", "options", "error", "message"),
    [
        (ROWS | {"score": [0.5, math.nan]}, TRUTH, "map", {}, ValueError, r"run\['score'\] has NaN at row 1"),
        (ROWS | {"score": [0.5]}, TRUTH, "map", {}, ValueError, r"run\['query'\] has 2 rows but run\['score'\] has 1"),
        (ROWS | {"item": ["a", "a"]}, TRUTH, "map", {}, ValueError, "item 'a' twice in query 1, at rows 0 and 1"),
        (ROWS | {"item": ["a", None]}, TRUTH, "map", {}, ValueError, r"run\['item'\] has None at row 1"),
        (ROWS | {"item": [0.5, 1.5]}, TRUTH, "map", {}, TypeError, r"run\['item'\] has dtype float64"),
        (ROWS | {"score": ["x", "y"]}, TRUTH, "map", {}, ValueError, r"run\['score'\] has 'x'"),
        (ROWS, TRUTH | {"relevance": [math.inf]}, "map", {}, ValueError, r"qrels\['relevance'\] has inf at row 0"),
        (ROWS, TRUTH | {"item": [1]}, "map", {}, TypeError, "items of run and qrels are strings and integers"),
        (ROWS, TRUTH | {"query": ["1"]}, "map", {}, TypeError, "queries of run and qrels are integers and strings"),
        ({"query": [], "item": [], "score": []}, TRUTH, "map", {}, ValueError, "is empty: at least one row"),
        ({"q": [1], "item": ["a"], "score": [1.0]}, TRUTH, "map", {}, ValueError,
         "query: no column 'query' in run, a dict of columns. Its columns: q, item, score"),
        (ROWS, {"query": [1], "item": ["a"], "relevanc": [1]}, "map", {}, ValueError,
         "relevance: no column 'relevance' in qrels.*did you mean 'relevanc'"),
        (ROWS, TRUTH, "map", {"score": "scores"}, ValueError, "score: no column 'scores' in run.*did you mean 'score'"),
        (ROWS, TRUTH, [], {}, ValueError, "metrics is empty"),
        (ROWS, TRUTH, "mop", {}, ValueError, "unknown metric 'mop'"),
        (ROWS, TRUTH, "logloss", {}, ValueError, "'logloss' is not one of ranked lists"),
        (ROWS, TRUTH, "gauc", {}, ValueError, "'gauc' is not one of ranked lists"),
        (ROWS, TRUTH, "p@0", {}, ValueError, "at least 1; found @0"),
        (ROWS, TRUTH, "p", {}, ValueError, "needs a cutoff"),
        (ROWS, TRUTH, "map", {"ties": "random"}, ValueError, "ties must be one of"),
        (ROWS, TRUTH, "map", {"missing": "skip"}, ValueError, "missing must be one of"),
        (ROWS, TRUTH, "map", {"empty": "drop"}, ValueError, "empty must be one of"),
        (ROWS, TRUTH, "map", {"relevance_level": 0}, ValueError, "relevance_level must be"),
        (ROWS, TRUTH, "map", {"n_threads": 0}, ValueError, "n_threads must be"),
        (3, TRUTH, "map", {}, TypeError, "run must be a table .* found int"),
        (ROWS, None, "map", {}, TypeError, "qrels must be a table .* found NoneType"),
        (RUN | {"q2": {"d1": math.nan}}, QRELS, "map", {}, ValueError, "run has score NaN for item 'd1' of query 'q2'"),
        ({}, QRELS, "map", {}, ValueError, "run is empty"),
        ("clicks.parquet", TRUTH, "map", {}, ValueError, r"run is the path of a .parquet file.*read_table"),
        (ROWS | {"item": ["a", 1]}, TRUTH, "map", {}, TypeError, "has 1 at row 1: ids must be integers or strings"),
        (pathlib.Path("no such file"), QRELS, "map", {}, OSError, "no such file"),
    ],
)  # fmt: skip
def test_bad_input_is_named(run, qrels, metrics, options, error, message):
    assert_raises(error, message, fm.evaluate_ranking, qrels, run, metrics, **options)


def test_two_columns_of_one_name():
    pa = pytest.importorskip("pyarrow")
    table = pa.table([[1], ["a"], [0.5], [0.5]], names=["query", "item", "score", "score"])
    assert_raises(ValueError, "has 2 columns named 'score'", fm.evaluate_ranking, TRUTH, table, "map")


def test_a_lazy_frame_is_told_to_collect():
    polars = pytest.importorskip("polars")
    assert_raises(
        TypeError, r"collect it first: data.collect\(\)", fm.evaluate_ranking, TRUTH, polars.LazyFrame(ROWS), "map"
    )


def test_infinite_scores_order():
    run = {"query": [1, 1, 1], "item": ["a", "b", "c"], "score": [math.inf, 0.0, -math.inf]}
    assert fm.evaluate_ranking({1: {"b": 1}}, run, "mrr")["mrr"] == 0.5
