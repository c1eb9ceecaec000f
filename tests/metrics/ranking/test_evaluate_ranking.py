"""`evaluate_ranking` against pytrec_eval, ranx and the oracle; every kind of input and every policy."""

import gzip
import math
import pathlib
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.ranking.lists.list_measures import KINDS
from oracles.ranking import ranking_lists as oracle
from support import peers
from support.cases import assert_raises, each_case

RUN = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.7}, "q2": {"d1": 0.5, "d4": 0.4}}
QRELS = {"q1": {"d1": 1, "d3": 2, "d9": 1}, "q2": {"d4": 1}}
METRICS = ["ndcg@10", "ndcg(gain=exp2)@3", "map", "map@3", "mrr", "p@2", "recall@3", "hr@1", "rprec", "bpref", "f1@2"]
# Our metric string, the oracle's name and options, and trec_eval's name.
PLAIN = [
    ("ndcg@10", "ndcg", {"k": 10}, "ndcg_cut_10"),
    ("ndcg", "ndcg", {}, "ndcg"),
    ("map(normalize=relevant)", "map", {"normalize": "relevant"}, "map"),
    ("map(normalize=relevant)@5", "map", {"k": 5, "normalize": "relevant"}, "map_cut_5"),
    ("mrr", "mrr", {}, "recip_rank"),
    ("p@5", "p", {"k": 5}, "P_5"),
    ("recall@5", "recall", {"k": 5}, "recall_5"),
    ("hr@5", "hr", {"k": 5}, "success_5"),
    ("rprec", "rprec", {}, "Rprec"),
    ("bpref", "bpref", {}, "bpref"),
]


def random_case(seed, n_queries=40, n_items=30, distinct=6, ints=False):
    """A run and qrels with many ties, unjudged items, items not retrieved, and queries without a relevant item."""
    rng = np.random.default_rng(seed)
    name = (lambda _, number: int(number)) if ints else "{}{}".format
    run, qrels = {}, {}
    for query in range(n_queries):
        items = rng.permutation(200)[: rng.integers(1, n_items)]
        scores = rng.integers(0, distinct, len(items)) / 4
        run[name("q", query)] = {name("d", i): float(s) for i, s in zip(items, scores, strict=True)}
        judged = rng.permutation(np.concatenate((items[: rng.integers(0, len(items) + 1)], rng.integers(200, 220, 3))))
        grades = rng.integers(0, 4, len(judged)) * (query % 7 != 0)
        qrels[name("q", query)] = {name("d", i): int(g) for i, g in zip(judged, grades, strict=True)}
    return run, qrels


def rows_of(nested, *names):
    columns = zip(
        *((query, item, value) for query, items in nested.items() for item, value in items.items()), strict=True
    )
    return dict(zip(names, map(list, columns), strict=True))


def run_rows(run):
    return rows_of(run, "query", "item", "score")


def qrels_rows(qrels):
    return rows_of(qrels, "query", "item", "relevance")


def same(first, second):
    """Assert equal values (all bits), equal tables and equal coverage."""
    assert first.values == second.values
    tables = first.by_query, second.by_query
    for name in tables[0]:
        np.testing.assert_array_equal(tables[0][name], tables[1][name])
    assert first.coverage == second.coverage


# --------------------------------------------------------------------------------------------------- against peers



def against_pytrec_eval(run, qrels, table, truth):
    """Assert that the values of every topic equal the peer's, which compares scores as 32-bit floats."""
    wanted = {"ndcg_cut.10", "map_cut.5", "P.5", "recall.5", "success.5", "ndcg", "map", "recip_rank", "Rprec", "bpref"}
    peer = peers.pytrec_eval().RelevanceEvaluator(qrels, wanted).evaluate(run)
    ours = fm.evaluate_ranking(table, truth, [own for own, *_ in PLAIN], ties="docid").by_query
    assert ours["query"].tolist() == sorted(peer)
    for own, *_, trec in PLAIN:
        expected = [peer[query][trec] for query in ours["query"]]
        np.testing.assert_allclose(ours[own], expected, rtol=1e-12, atol=1e-15, err_msg=own)


def texts(numbers):
    return [str(number) for number in numbers.tolist()]


def test_visits_to_a_site_topic_by_topic(visits):
    """A third of the judgements is of items that were not retrieved; scores tie by rounding."""
    chosen = visits["user_id"] < np.quantile(visits["user_id"], 0.2)
    users, items = texts(visits["user_id"][chosen]), texts(visits["item_id"][chosen])
    scores = np.round(visits["score"][chosen] ** 0.25, 2).astype(np.float32)
    labels = visits["label"][chosen]
    retrieved = np.random.default_rng(0).random(len(labels)) < np.where(labels > 0, 0.67, 0.9)
    run, qrels = {}, {}
    for row, (user, item) in enumerate(zip(users, items, strict=True)):
        if retrieved[row]:
            run.setdefault(user, {})[item] = float(scores[row])
        if retrieved[row] or labels[row]:
            qrels.setdefault(user, {})[item] = int(labels[row])
    qrels = {user: own for user, own in qrels.items() if user in run}
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"query": users, "item": items, "score": scores}).filter(pa.array(retrieved))
    against_pytrec_eval(run, qrels, table, qrels)


def test_graded_documents_topic_by_topic(data_folder):
    """The ranking data of LightGBM's examples: every feature as a run, a few hundred documents with grades 0 to 4."""
    folder = data_folder / "ltr_lightgbm"
    lines = [line.split() for line in (folder / "rank.test").read_text().splitlines()]
    sizes = [int(size) for size in (folder / "rank.test.query").read_text().split()]
    queries = [f"q{number}" for number, size in enumerate(sizes) for _ in range(size)]
    items = [f"doc{row}" for row in range(len(lines))]
    grades = [int(line[0]) for line in lines]
    truth = {"query": queries, "item": items, "relevance": grades}
    for feature in (1, 9, 30, 112):
        values = [dict(pair.split(":") for pair in line[1:]).get(str(feature), "0") for line in lines]
        table = {"query": queries, "item": items, "score": np.array(values, np.float32)}
        run, qrels = {}, {}
        for query, item, score, grade in zip(queries, items, table["score"].tolist(), grades, strict=True):
            run.setdefault(query, {})[item] = score
            qrels.setdefault(query, {})[item] = grade
        against_pytrec_eval(run, qrels, table, truth)



@each_case("ints", [False, True])
@each_case("ties", ["average", "optimistic", "pessimistic", "docid", "stable"])
def test_oracle_list_by_list(ties, ints):
    run, qrels = random_case(7, n_queries=12, n_items=8, distinct=3, ints=ints)
    table = fm.evaluate_ranking(run, qrels, [own for own, *_ in PLAIN], ties=ties, empty="nan").by_query
    for place, query in enumerate(table["query"].tolist()):
        items = run[query]
        scores, grades = list(items.values()), [qrels[query].get(item, -1) for item in items]
        rest = [grade for item, grade in qrels[query].items() if item not in items]
        for own, name, options, _ in PLAIN:
            expected = oracle.measure(name, scores, grades, rest, ties=ties, items=list(items), **options)
            got = table[own][place]
            assert (math.isnan(got) and expected is None) or got == pytest.approx(float(expected), rel=1e-12), own


GRADED = [spec for spec in fm.describe_metrics() if spec.target == "graded" and spec.base_name in KINDS]
SPELT = ["hr(average=micro)@5", "map(normalize=hits)@3", "p(short_list=n)@40", "rbp(p=0.5)", "ndcg(ideal=k)@4",
         "ndcg(gain=binary)", "err(max_grade=3)@2", "mrr(ties=optimistic)", "map(empty=skip)"]  # fmt: skip


@pytest.mark.parametrize("metric", [*(spec.example for spec in GRADED), *SPELT])
def test_every_metric_of_graded_rows_is_that_of_evaluate(metric):
    """If every item is judged and retrieved, `evaluate` on one table gives the same bits."""
    pytest.importorskip("pyarrow")
    run, _ = random_case(9)
    rng = np.random.default_rng(4)
    qrels = {query: {item: int(rng.integers(0, 4)) for item in items} for query, items in run.items()}
    log = run_rows(run) | {"relevance": qrels_rows(qrels)["relevance"]}
    expected = fm.evaluate(log, metric, label="relevance", score="score", group="query")
    ours = fm.evaluate_ranking(run, qrels, metric)
    assert ours[metric] == next(iter(expected)).value
    assert len(ours.by_query[metric]) == len(run)
    assert ours.signature(metric).split("|")[0] == re.sub(r"\(.*\)", "", metric)


def test_example_of_the_literature_by_hand():
    ours = fm.evaluate_ranking(RUN, QRELS, ["ndcg", "map", "mrr", "recall@3"])
    first = (1 + 2 / 2) / (2 + 1 / math.log2(3) + 1 / 2)
    assert ours["ndcg"] == pytest.approx((first + 1 / math.log2(3)) / 2)
    assert (ours["map"], ours["mrr"]) == (pytest.approx(((1 + 2 / 3) / 3 + 1 / 2) / 2), 0.75)
    assert ours["recall@3"] == pytest.approx((2 / 3 + 1) / 2)


# ------------------------------------------------------------------------------------------------- kinds of input


def table_kinds():
    kinds = {"dict of lists": dict, "dict of arrays": lambda rows: {name: np.array(c) for name, c in rows.items()}}
    try:
        import pyarrow as pa
        import pyarrow.dataset

        def views(rows):
            table = pa.table(rows)
            is_text = pa.types.is_string(table["item"].type)
            return table.set_column(1, "item", table["item"].cast(pa.string_view())) if is_text else table

        def coded(rows):
            table = pa.table(rows)
            return table.set_column(0, "query", table["query"].dictionary_encode()).set_column(
                1, "item", table["item"].dictionary_encode()
            )

        def chunked(rows):
            table = pa.table(rows)
            return pa.concat_tables([table.slice(0, len(table) // 3), table.slice(len(table) // 3)])

        kinds |= {
            "arrow": pa.table,
            "arrow, chunked": chunked,
            "arrow, dictionaries": coded,
            "arrow, record batch": lambda rows: pa.table(rows).combine_chunks().to_batches()[0],
            "arrow, reader": lambda rows: pa.table(rows).to_reader(),
            "arrow, dataset": lambda rows: pa.dataset.dataset(pa.table(rows)),
            "arrow, string views": views,
        }
    except ImportError:  # pragma: no cover
        pass
    for name in ("pandas", "polars"):
        try:
            kinds[name] = __import__(name).DataFrame
        except ImportError:  # pragma: no cover
            continue
    if "pandas" in kinds:
        kinds["pandas, categories"] = lambda rows: kinds["pandas"](rows).astype(
            {"query": "category", "item": "category"}
        )
    return kinds


KINDS = table_kinds()


@each_case("kind", KINDS)
@each_case("ints", [False, True])
@each_case("ties", ["average", "docid"])
def test_every_kind_of_table_gives_the_same(kind, ints, ties):
    run, qrels = random_case(11, ints=ints)
    expected = fm.evaluate_ranking(run, qrels, METRICS, ties=ties)
    make = KINDS[kind]
    same(fm.evaluate_ranking(make(run_rows(run)), make(qrels_rows(qrels)), METRICS, ties=ties), expected)
    same(fm.evaluate_ranking(run, make(qrels_rows(qrels)), METRICS, ties=ties), expected)
    same(fm.evaluate_ranking(make(run_rows(run)), qrels, METRICS, ties=ties), expected)


@given(seed=st.integers(0, 10**6), ints=st.booleans(), n_threads=st.sampled_from([1, 2, 3]), order=st.randoms())
def test_order_of_rows_and_threads_do_not_matter(seed, ints, n_threads, order):
    run, qrels = random_case(seed, n_queries=6, n_items=8, ints=ints)
    expected = fm.evaluate_ranking(run, qrels, METRICS, ties="docid")
    rows = []
    for columns in (run_rows(run), qrels_rows(qrels)):
        places = list(range(len(columns["query"])))
        order.shuffle(places)
        rows.append({name: np.array(column)[places] for name, column in columns.items()})
    same(fm.evaluate_ranking(*rows, METRICS, ties="docid", n_threads=n_threads), expected)


def test_many_rows_on_several_threads():
    rng = np.random.default_rng(2)
    queries = np.repeat(np.arange(3000), 100)
    items = np.concatenate([rng.permutation(300)[:100] for _ in range(3000)])
    run = {"query": queries, "item": items, "score": rng.integers(0, 50, 300_000).astype(np.float32)}
    qrels = {"query": queries[::9], "item": items[::9], "relevance": rng.integers(0, 3, len(queries[::9]))}
    one = fm.evaluate_ranking(run, qrels, METRICS, n_threads=1)
    same(fm.evaluate_ranking(run, qrels, METRICS, n_threads=4), one)
    shuffled = rng.permutation(300_000)
    same(fm.evaluate_ranking({name: column[shuffled] for name, column in run.items()}, qrels, METRICS), one)


@pytest.mark.parametrize("compress", [False, True])
def test_trec_files(tmp_path, compress):
    run, qrels = random_case(5)
    lines = [f"{q} Q0 {d} 1 {s} tag\n" for q, items in run.items() for d, s in items.items()]
    truth = [f"{q} 0 {d} {g}\n" for q, items in qrels.items() for d, g in items.items()]
    paths = tmp_path / "system.run", tmp_path / "truth.qrels"
    for path, content in zip(paths, (lines, truth), strict=True):
        data = "".join(content).encode()
        path.write_bytes(gzip.compress(data) if compress else data)
    expected = fm.evaluate_ranking(run, qrels, METRICS, ties="docid")
    same(fm.evaluate_ranking(*paths, METRICS, ties="docid"), expected)
    same(fm.evaluate_ranking(str(paths[0]), qrels, METRICS, ties="docid"), expected)
    read = fm.read_run(paths[0]), fm.read_qrels(paths[1])
    same(fm.evaluate_ranking(*read, METRICS, ties="docid"), expected)
    same(fm.evaluate_ranking(read[0].to_arrow(), read[1].to_arrow(), METRICS, ties="docid"), expected)
    assert_raises(TypeError, "run must be a TrecRun", fm.evaluate_ranking, read[1], read[1], "map")
    paths[0].write_text("q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 oops tag\n")
    assert_raises(ValueError, r"system.run.*line 2", fm.evaluate_ranking, *paths, "map")


def test_a_trec_query_that_comes_back(tmp_path):
    path = tmp_path / "system.run"
    path.write_text("q1 Q0 d1 1 0.9 t\nq2 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.8 t\nq2 Q0 d4 2 0.4 t\nq1 Q0 d3 3 0.7 t\n")
    same(fm.evaluate_ranking(path, QRELS, METRICS), fm.evaluate_ranking(RUN, QRELS, METRICS))


def test_columns_by_other_names():
    run, qrels = run_rows(RUN), qrels_rows(QRELS)
    run = {"user_id": run["query"], "doc": run["item"], "sim": run["score"], "other": [object()] * 5}
    qrels = {"user_id": qrels["query"], "doc": qrels["item"], "grade": qrels["relevance"]}
    ours = fm.evaluate_ranking(run, qrels, METRICS, query="user_id", item="doc", score="sim", relevance="grade")
    same(ours, fm.evaluate_ranking(RUN, QRELS, METRICS))


def test_inputs_are_not_modified():
    run = {name: np.array(column) for name, column in run_rows(RUN).items()}
    before = {name: column.copy() for name, column in run.items()}
    for column in run.values():
        column.flags.writeable = False
    fm.evaluate_ranking(run, qrels_rows(QRELS), METRICS, ties="docid")
    for name, column in run.items():
        np.testing.assert_array_equal(column, before[name])


# ------------------------------------------------------------------------------------------------------- policies


def test_missing_queries():
    qrels = QRELS | {"q3": {"d1": 1}, "q4": {"d1": 0}}
    zero = fm.evaluate_ranking(RUN, qrels, ["mrr", "map"])
    drop = fm.evaluate_ranking(RUN, qrels, ["mrr", "map"], missing="drop")
    assert zero["mrr"] == 1.5 / 4
    assert drop["mrr"] == 1.5 / 2
    assert zero.coverage["queries"] == 4
    assert drop.coverage["queries"] == 2
    for result in (zero, drop):
        assert (result.coverage["queries_in_both"], result.coverage["queries_missing"]) == (2, 2)
        assert result.coverage["missing"] == ["q3", "q4"]
    assert (zero.coverage["queries_empty"], zero.coverage["queries_without_relevant"]) == (2, 1)
    assert zero.by_query["query"].tolist() == ["q1", "q2", "q3", "q4"]
    assert (zero.by_query["n"].tolist(), zero.by_query["n_judged"].tolist()) == ([3, 2, 0, 0], [3, 1, 1, 1])
    assert zero.by_query["n_relevant"].tolist() == [3, 1, 1, 0]
    assert_raises(ValueError, r"2 queries \('q3', 'q4'\)", fm.evaluate_ranking, RUN, qrels, "mrr", missing="raise")


def test_dicts_without_an_item():
    """As in pytrec_eval: a query without a judged item is unjudged, one without retrieved items is an empty list."""
    run, qrels = RUN | {"x": {"d": 1.0}, "y": {}}, QRELS | {"x": {}, "y": {"d": 1}, "z": {}}
    ours = fm.evaluate_ranking(run, qrels, "mrr", missing="raise")
    assert (ours["mrr"], ours.coverage["unjudged"]) == (1.5 / 3, ["x"])
    assert ours.coverage["queries_empty"] == 1
    pytrec_eval = peers.pytrec_eval()
    assert pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run).keys() == {"q1", "q2", "y"}


def test_queries_without_a_relevant_item():
    qrels = QRELS | {"q2": {"d4": 0}}
    values = {empty: fm.evaluate_ranking(RUN, qrels, "mrr", empty=empty) for empty in ("zero", "one", "skip", "nan")}
    assert {empty: result["mrr"] for empty, result in values.items() if empty != "nan"} == {
        "zero": 0.5,
        "one": 1,
        "skip": 1,
    }
    assert math.isnan(values["nan"]["mrr"])
    assert values["zero"].by_query["mrr"].tolist() == [1, 0]
    assert values["one"].by_query["mrr"].tolist() == [1, 1]
    assert np.isnan(values["skip"].by_query["mrr"][1])
    assert all(result.coverage["queries_without_relevant"] == 1 for result in values.values())
    assert_raises(
        ValueError, "query 'q2' has no relevant item for 'mrr'", fm.evaluate_ranking, RUN, qrels, "mrr", empty="raise"
    )


def test_options_in_a_string_override_those_of_the_call():
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 2}}
    ours = fm.evaluate_ranking(run, qrels, ["mrr", "mrr(ties=optimistic)", "mrr(ties=pessimistic)"])
    assert list(ours.values.values()) == [0.75, 1.0, 0.5]
    ours = fm.evaluate_ranking(run, qrels, ["mrr", "mrr(ties=pessimistic)", "mrr(ties=average)"], ties="docid")
    assert list(ours.values.values()) == [0.5, 0.5, 0.75]
    ours = fm.evaluate_ranking(run, qrels, ["hr@1", "hr(relevance_level=3)@1"], ties="optimistic", relevance_level=2)
    assert list(ours.values.values()) == [1, 0]


def test_micro_average():
    ours = fm.evaluate_ranking(RUN, QRELS, ["hr(average=micro)@2", "hr@2"])
    assert (ours["hr(average=micro)@2"], ours["hr@2"]) == (pytest.approx(2 / 4), 1)


def test_queries_of_weight_zero_are_absent():
    """Also a query without a relevant item, for policies that make the mean NaN or an error."""
    run, qrels = {"a": {"x": 1.0}, "b": {"x": 1.0}}, {"a": {"x": 1}, "b": {"x": 0}}
    for empty in ("zero", "skip", "one", "nan", "raise"):
        ours = fm.evaluate_ranking(run, qrels, ["map", "mrr@3"], empty=empty, weights={"a": 2.0, "b": 0.0})
        assert ours.values == {"map": 1.0, "mrr@3": 1.0}
    assert math.isnan(fm.evaluate_ranking(run, qrels, "map", empty="nan", weights={"a": 2.0, "b": 1.0})["map"])
    assert_raises(
        ValueError, "query 'b' has no relevant item",
        fm.evaluate_ranking, run, qrels, "map", empty="raise", weights={"a": 2.0, "b": 1.0},
    )


def test_weights_of_queries():
    ours = fm.evaluate_ranking(RUN, QRELS, ["mrr", "p@1"], weights={"q1": 3, "q2": 1.0})
    assert (ours["mrr"], ours["p@1"]) == (pytest.approx((3 * 1 + 0.5) / 4), pytest.approx(3 / 4))
    assert "weight:weights" in ours.signature("mrr")
    for weights, message in (
        ({"q1": 1}, "no weight for query 'q2'"),
        ({"q1": 1, "q2": -1}, "-1 for query 'q2'"),
        ({"q1": 1, "q2": float("nan")}, "nan for query 'q2'"),
        ({"q1": 1, "q2": "2"}, "'2' for query 'q2'"),
    ):
        assert_raises(ValueError, message, fm.evaluate_ranking, RUN, QRELS, "mrr", weights=weights)
    assert_raises(TypeError, "weights must map every query", fm.evaluate_ranking, RUN, QRELS, "mrr", weights=[1, 2])


def test_docid_is_the_greatest_first():
    run = {"q": {"d10": 1.0, "d9": 1.0, "d": 1.0, "e": 1.0}}
    ranks = {item: 1 / fm.evaluate_ranking(run, {"q": {item: 1}}, "mrr", ties="docid")["mrr"] for item in run["q"]}
    assert ranks == {"e": 1, "d9": 2, "d10": 3, "d": 4}
    run = {1: {10: 1.0, 9: 1.0, -3: 1.0}}
    ranks = {item: 1 / fm.evaluate_ranking(run, {1: {item: 1}}, "mrr", ties="docid")["mrr"] for item in run[1]}
    assert ranks == {10: 1, 9: 2, -3: 3}
    large = {"query": np.array([1, 1]), "item": np.array([5, 2**64 - 1], np.uint64), "score": [1.0, 1.0]}
    truth = {"query": np.array([1]), "item": np.array([5], np.uint64), "relevance": [1]}
    assert fm.evaluate_ranking(large, truth, "mrr", ties="docid")["mrr"] == 0.5


# --------------------------------------------------------------------------------------------------------- result


def test_result_as_text_and_mapping():
    ours = fm.evaluate_ranking(RUN | {"x": {"d": 1}}, QRELS | {"q3": {"d1": 1}}, ["ndcg@10", "mrr"])
    assert repr(ours).splitlines() == [
        "3 queries, 1.667 items each, 1 judged but not in the run (count as 0), 1 of the run not judged (left out)",
        "ndcg@10  0.4232",
        "mrr      0.5000",
    ]
    assert ours[" mrr "] == ours["mrr"] == 0.5
    assert "mrr" in ours
    assert len(ours) == 2
    assert list(ours) == ["ndcg@10", "mrr"]
    with pytest.raises(KeyError, match="no 'map' in this result"):
        ours["map"]
    signature = ours.signature("ndcg@10")
    assert signature.startswith("ndcg@10|gain:linear|ideal:judged|")
    for part in ("ties:average", "empty:zero", "missing:zero", "relevance_level:1", "groups:3", f"v:{fm.__version__}"):
        assert part in signature.split("|")
    plain = ours.to_dict()
    assert (plain["values"], plain["coverage"]["relevant_not_retrieved"]) == (ours.values, 2)
    assert plain["signatures"]["mrr"] == ours.signature("mrr")
    table = ours.by_query
    assert list(table) == ["query", "n", "n_judged", "n_relevant", "ndcg@10", "mrr"]
    assert len(table) == 3
    assert repr(table).splitlines()[0].split() == list(table)
    assert table.to_dict()["mrr"] == [1.0, 0.5, 0.0]
    pytest.importorskip("pyarrow")
    assert table.to_arrow().column_names == list(table)


def test_a_result_can_be_sent_to_another_process():
    ours = fm.evaluate_ranking(RUN, QRELS, METRICS, ties="docid")
    other = pickle.loads(pickle.dumps(ours))
    same(other, ours)
    assert [other.signature(name) for name in other] == [ours.signature(name) for name in ours]
    assert repr(other) == repr(ours)


def test_coverage_counts():
    run = {"a": {1: 0.5, 2: 0.5, 3: 0.5}, "b": {1: 0.2, 2: 0.1}}
    ours = fm.evaluate_ranking(run, {"a": {1: 1, 9: 2, 8: 0}, "b": {2: 0, 1: -1}}, "map")
    wanted = {
        "queries": 2, "queries_empty": 0, "queries_without_relevant": 1, "retrieved": 5, "relevant": 2,
        "relevant_retrieved": 1, "relevant_not_retrieved": 1, "tied_pairs": 1.0,
        "candidates": {"mean": 2.5, "min": 2, "max": 3},
    }  # fmt: skip
    assert {name: ours.coverage[name] for name in wanted} == wanted


def test_the_queries_that_are_named_do_not_depend_on_the_order_of_rows():
    ours = fm.evaluate_ranking({query: {"d": 1.0} for query in reversed(range(12))}, {3: {"d": 1}}, "map")
    assert (ours.coverage["unjudged"], ours.coverage["queries_unjudged"]) == ([0, 1, 2, 4, 5], 11)


# ------------------------------------------------------------------------------------------------------ bad input

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
    assert_raises(error, message, fm.evaluate_ranking, run, qrels, metrics, **options)


def test_two_columns_of_one_name():
    pa = pytest.importorskip("pyarrow")
    table = pa.table([[1], ["a"], [0.5], [0.5]], names=["query", "item", "score", "score"])
    assert_raises(ValueError, "has 2 columns named 'score'", fm.evaluate_ranking, table, TRUTH, "map")


def test_a_lazy_frame_is_told_to_collect():
    polars = pytest.importorskip("polars")
    assert_raises(
        TypeError, r"collect it first: data.collect\(\)", fm.evaluate_ranking, polars.LazyFrame(ROWS), TRUTH, "map"
    )


def test_infinite_scores_order():
    run = {"query": [1, 1, 1], "item": ["a", "b", "c"], "score": [math.inf, 0.0, -math.inf]}
    assert fm.evaluate_ranking(run, {1: {"b": 1}}, "mrr")["mrr"] == 0.5
