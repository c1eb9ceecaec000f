"""evaluate_ranking: 20,000 queries of 100 items, with fifteen judged items each, five of them not retrieved."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from bench import workloads

ranx = pytest.importorskip("ranx")
pytrec_eval = pytest.importorskip("pytrec_eval")
# The compiler that ranx uses warns of a cast of its own.
pytestmark = pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64 to int64")

QUERIES, ITEMS, JUDGED = 20_000, 100, 10
METRICS = ["ndcg@10", "map(normalize=relevant)", "mrr"]
DICTS = "`evaluate_ranking` of dicts of dicts, 20k queries of 100 items: ndcg@10, map, mrr"
TABLES = "`evaluate_ranking` of the same as Arrow tables"

Nested = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def nested() -> tuple[Nested, dict[str, dict[str, int]]]:
    """Scores are distinct inside a query (tie rules differ) and exact as float32 (pytrec_eval rounds to float32)."""
    random = np.random.default_rng(workloads.SEED)
    run, qrels = {}, {}
    for query in range(QUERIES):
        numbers = random.choice(100_000, ITEMS + JUDGED // 2, replace=False)
        items = [f"d{number}" for number in numbers.tolist()]
        scores = random.permutation(1 << 12)[:ITEMS] / (1 << 12)
        judged = [*random.choice(items[:ITEMS], JUDGED, replace=False).tolist(), *items[ITEMS:]]
        run[f"q{query}"] = dict(zip(items[:ITEMS], scores.tolist(), strict=True))
        qrels[f"q{query}"] = dict(zip(judged, random.integers(0, 4, len(judged)).tolist(), strict=True))
        qrels[f"q{query}"][judged[0]] = 1  # libraries differ in how they count a query without a relevant item
    return run, qrels


def table(rows: Nested, number: str) -> pa.Table:
    queries = [query for query, items in rows.items() for _ in items]
    items = [item for own in rows.values() for item in own]
    return pa.table(
        {"query": queries, "item": items, number: [value for own in rows.values() for value in own.values()]}
    )


@pytest.fixture(scope="module")
def tables(nested) -> tuple[pa.Table, pa.Table]:
    return table(nested[0], "score"), table(nested[1], "relevance")


def values(run: object, qrels: object, **options: object) -> tuple[float, ...]:
    return tuple(fm.evaluate_ranking(qrels, run, METRICS, **options).values())


def pytrec_values(run: Nested, qrels: dict[str, dict[str, int]]) -> tuple[float, ...]:
    names = ("ndcg_cut_10", "map", "recip_rank")
    found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map", "recip_rank"}).evaluate(run)
    return tuple(sum(own[name] for own in found.values()) / len(found) for name in names)


def ranx_values(run: Nested, qrels: dict[str, dict[str, int]]) -> tuple[float, ...]:
    found = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), ["ndcg@10", "map", "mrr"])
    return tuple(found[name] for name in ("ndcg@10", "map", "mrr"))


def test_dicts_beside_pytrec_eval(timing, nested):
    timing.compare(
        DICTS, lambda: values(*nested), "pytrec_eval", lambda: pytrec_values(*nested), within=1e-12,
        rounds=6,
    )  # fmt: skip


def test_dicts_beside_ranx_and_its_build(timing, nested):
    timing.compare(
        DICTS, lambda: values(*nested), "ranx, its Run and Qrels built", lambda: ranx_values(*nested), within=1e-9,
        rounds=1,
    )  # fmt: skip


def test_tables_beside_pytrec_eval(timing, nested, tables):
    timing.compare(
        TABLES, lambda: values(*tables), "pytrec_eval", lambda: pytrec_values(*nested), within=1e-12,
        rounds=6,
    )  # fmt: skip


def shuffled(rows: pa.Table) -> pa.Table:
    order = np.random.default_rng(workloads.SEED).permutation(len(rows))
    return rows.take(pa.array(order)).combine_chunks()


def with_numbers(rows: pa.Table) -> pa.Table:
    """Ids as int64."""
    for place, name in enumerate(("query", "item")):
        numbers = pa.array([int(text[1:]) for text in rows[name].to_pylist()])
        rows = rows.set_column(place, name, numbers)
    return rows


OTHERS: dict[str, Callable[[pa.Table], pa.Table]] = {"rows shuffled": shuffled, "int64 ids": with_numbers}


@pytest.mark.parametrize("what", OTHERS)
def test_other_tables(timing, tables, what):
    other = OTHERS[what](tables[0]), OTHERS[what](tables[1])
    timing.compare(
        f"{TABLES}, {what}", lambda: values(*other), "as they stand", lambda: values(*tables), within=0.0, rounds=6
    )


def test_recommendations(timing):
    random = np.random.default_rng(workloads.SEED)
    recommended = random.permuted(np.tile(np.arange(200), (QUERIES, 1)), axis=1)[:, :ITEMS]
    relevant = [set(items.tolist()) for items in random.integers(0, 200, (QUERIES, JUDGED))]
    work = "`evaluate_recommendations`, 20k users, an array of 100 ids each against sets: ndcg@10, map, mrr"
    timing.measure(work, lambda: fm.evaluate_recommendations(relevant, recommended, METRICS))


def test_a_log_and_its_truth_table(timing, tables):
    log = tables[0].combine_chunks()
    columns = {"score": "score", "group": "query", "item": "item", "label": "relevance"}
    timing.compare(
        "`evaluate` of a log that is joined with its truth table, the same rows",
        lambda: tuple(result.value for result in fm.evaluate(log, METRICS, truth=tables[1], **columns)),
        "`evaluate_ranking`", lambda: values(*tables), within=0.0, rounds=6,
    )  # fmt: skip
