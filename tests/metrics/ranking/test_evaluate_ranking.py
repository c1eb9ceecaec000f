"""`evaluate_ranking` against pytrec_eval, ranx and the oracle; every kind of input and every policy."""

import gzip
import math
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
from support.ranking.ranking_inputs import METRICS, QRELS, RUN, same

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


# --------------------------------------------------------------------------------------------------- against peers


def against_pytrec_eval(run, qrels, table, truth):
    """Assert that the values of every topic equal the peer's, which compares scores as 32-bit floats."""
    wanted = {"ndcg_cut.10", "map_cut.5", "P.5", "recall.5", "success.5", "ndcg", "map", "recip_rank", "Rprec", "bpref"}
    peer = peers.pytrec_eval().RelevanceEvaluator(qrels, wanted).evaluate(run)
    ours = fm.evaluate_ranking(truth, table, [own for own, *_ in PLAIN], ties="docid").per_query
    assert ours["query"].tolist() == sorted(peer)
    for own, *_, trec in PLAIN:
        expected = [peer[query][trec] for query in ours["query"]]
        np.testing.assert_allclose(ours[own], expected, rtol=1e-12, atol=1e-15, err_msg=own)


def texts(numbers):
    return [str(number) for number in numbers.tolist()]


def test_visits_to_a_site_topic_by_topic(visits):
    """A third of the judgments is of items that were not retrieved; scores tie by rounding."""
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
    table = fm.evaluate_ranking(qrels, run, [own for own, *_ in PLAIN], ties=ties, empty="nan").per_query
    for place, query in enumerate(table["query"].tolist()):
        items = run[query]
        scores, grades = list(items.values()), [qrels[query].get(item, -1) for item in items]
        rest = [grade for item, grade in qrels[query].items() if item not in items]
        for own, name, options, _ in PLAIN:
            expected = oracle.measure(name, scores, grades, rest, ties=ties, items=list(items), **options)
            got = table[own][place]
            assert (math.isnan(got) and expected is None) or got == pytest.approx(float(expected), rel=1e-12), own


GRADED = [spec for spec in fm.list_metrics().values() if spec.target == "graded" and spec.base_name in KINDS]
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
    ours = fm.evaluate_ranking(qrels, run, metric)
    assert ours[metric] == next(iter(expected)).value
    assert len(ours.per_query[metric]) == len(run)
    assert ours.signature(metric).split("|")[0] == re.sub(r"\(.*\)", "", metric)


def test_example_of_the_literature_by_hand():
    ours = fm.evaluate_ranking(QRELS, RUN, ["ndcg", "map", "mrr", "recall@3"])
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
    expected = fm.evaluate_ranking(qrels, run, METRICS, ties=ties)
    make = KINDS[kind]
    same(fm.evaluate_ranking(make(qrels_rows(qrels)), make(run_rows(run)), METRICS, ties=ties), expected)
    same(fm.evaluate_ranking(make(qrels_rows(qrels)), run, METRICS, ties=ties), expected)
    same(fm.evaluate_ranking(qrels, make(run_rows(run)), METRICS, ties=ties), expected)


@given(seed=st.integers(0, 10**6), ints=st.booleans(), n_threads=st.sampled_from([1, 2, 3]), order=st.randoms())
def test_order_of_rows_and_threads_do_not_matter(seed, ints, n_threads, order):
    run, qrels = random_case(seed, n_queries=6, n_items=8, ints=ints)
    expected = fm.evaluate_ranking(qrels, run, METRICS, ties="docid")
    rows = []
    for columns in (qrels_rows(qrels), run_rows(run)):
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
    one = fm.evaluate_ranking(qrels, run, METRICS, n_threads=1)
    same(fm.evaluate_ranking(qrels, run, METRICS, n_threads=4), one)
    shuffled = rng.permutation(300_000)
    same(fm.evaluate_ranking(qrels, {name: column[shuffled] for name, column in run.items()}, METRICS), one)


@pytest.mark.parametrize("compress", [False, True])
def test_trec_files(tmp_path, compress):
    run, qrels = random_case(5)
    lines = [f"{q} Q0 {d} 1 {s} tag\n" for q, items in run.items() for d, s in items.items()]
    truth = [f"{q} 0 {d} {g}\n" for q, items in qrels.items() for d, g in items.items()]
    paths = tmp_path / "truth.qrels", tmp_path / "system.run"
    for path, content in zip(paths, (truth, lines), strict=True):
        data = "".join(content).encode()
        path.write_bytes(gzip.compress(data) if compress else data)
    expected = fm.evaluate_ranking(qrels, run, METRICS, ties="docid")
    same(fm.evaluate_ranking(*paths, METRICS, ties="docid"), expected)
    same(fm.evaluate_ranking(qrels, str(paths[1]), METRICS, ties="docid"), expected)
    read = fm.read_qrels(paths[0]), fm.read_run(paths[1])
    same(fm.evaluate_ranking(*read, METRICS, ties="docid"), expected)
    same(fm.evaluate_ranking(read[0].to_arrow(), read[1].to_arrow(), METRICS, ties="docid"), expected)
    assert_raises(TypeError, "run must be a TrecRun", fm.evaluate_ranking, read[0], read[0], "map")
    paths[1].write_text("q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 oops tag\n")
    assert_raises(ValueError, r"system.run.*line 2", fm.evaluate_ranking, *paths, "map")


def test_a_trec_query_that_comes_back(tmp_path):
    path = tmp_path / "system.run"
    path.write_text("q1 Q0 d1 1 0.9 t\nq2 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.8 t\nq2 Q0 d4 2 0.4 t\nq1 Q0 d3 3 0.7 t\n")
    same(fm.evaluate_ranking(QRELS, path, METRICS), fm.evaluate_ranking(QRELS, RUN, METRICS))


def test_columns_by_other_names():
    run, qrels = run_rows(RUN), qrels_rows(QRELS)
    run = {"user_id": run["query"], "doc": run["item"], "sim": run["score"], "other": [object()] * 5}
    qrels = {"user_id": qrels["query"], "doc": qrels["item"], "grade": qrels["relevance"]}
    ours = fm.evaluate_ranking(qrels, run, METRICS, query="user_id", item="doc", score="sim", relevance="grade")
    same(ours, fm.evaluate_ranking(QRELS, RUN, METRICS))


def test_inputs_are_not_modified():
    run = {name: np.array(column) for name, column in run_rows(RUN).items()}
    before = {name: column.copy() for name, column in run.items()}
    for column in run.values():
        column.flags.writeable = False
    fm.evaluate_ranking(qrels_rows(QRELS), run, METRICS, ties="docid")
    for name, column in run.items():
        np.testing.assert_array_equal(column, before[name])


# ------------------------------------------------------------------------------------------------------- policies


# --------------------------------------------------------------------------------------------------------- result


# ------------------------------------------------------------------------------------------------------ bad input
