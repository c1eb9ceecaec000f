"""Calls of the public functions of runs, of trec_eval's files, and of comparisons of runs."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fastmetrics as fm
from golden import data

Cases = dict[str, Callable[[], Any]]
RANKED = ["ndcg@3", "ndcg(gain=exp2)", "map", "map@3", "mrr", "p@2", "recall@3", "hr@1", "rprec", "bpref", "f1@2"]


def of_runs() -> Cases:
    run, qrels = data.ranking()
    second = {query: dict(zip(items, reversed(items.values()), strict=True)) for query, items in run.items()}
    third = {query: dict.fromkeys(items, 1.0) for query, items in run.items()}
    lists = [[4, 2, 9], [7], [], [1, 2]]
    sets = [{2, 9, 5}, {7}, {1}, set()]
    grades = [{2: 1, 9: 3}, {7: 1}, {1: 2}, {}]
    padded = np.array([[4, 2, 9], [7, -1, -1], [-1, -1, -1], [1, 2, -1]])
    weights = {query: 1.0 + place % 3 for place, query in enumerate(qrels)}
    cases: Cases = {
        "evaluate_ranking": lambda: fm.evaluate_ranking(qrels, run, RANKED),
        "evaluate_ranking of columns": lambda: fm.evaluate_ranking(
            rows_of(qrels, "relevance"), rows_of(run, "score"), ["ndcg@3", "map"]
        ),
        "evaluate_ranking of pessimists": lambda: fm.evaluate_ranking(qrels, run, RANKED, ties="pessimistic"),
        "evaluate_ranking that skips": lambda: fm.evaluate_ranking(qrels, run, RANKED, missing="drop", empty="skip"),
        "evaluate_ranking with weights": lambda: fm.evaluate_ranking(
            qrels, run, ["ndcg@3", "map"], sample_weight=weights
        ),
        "RankingResult.to_dict": lambda: fm.evaluate_ranking(qrels, run, ["ndcg@3", "map"]).to_dict(),
        "evaluate_recommendations": lambda: fm.evaluate_recommendations(sets, lists, RANKED[:9]),
        "evaluate_recommendations of grades": lambda: fm.evaluate_recommendations(grades, lists, RANKED[:9]),
        "evaluate_recommendations of an array": lambda: fm.evaluate_recommendations(
            sets, padded, ["ndcg@3", "hr@2"], padding=-1, empty="skip"
        ),
        "compare_runs by signs": lambda: fm.compare_runs(
            qrels, {"first": run, "second": second, "third": third}, ["ndcg@3", "mrr"], replicates=100, seed=5
        ),
    }
    for test in ("t", "sign-flip"):
        cases[f"compare_runs of {test}"] = lambda test=test: fm.compare_runs(
            qrels, {"first": run, "second": second}, ["map", "p@2"], test=test, replicates=100, correction=None
        )
    measures: list[Any] = [None, "official", "all_trec", ["map", "P.5,10", "ndcg_cut.3", "bpref", "recip_rank"]]
    for measure in measures:
        cases[f"trec_metric_names {measure}"] = lambda measure=measure: fm.trec_metric_names(measure)
    for options in ({}, {"complete": True}, {"relevance_level": 2}, {"max_per_query": 3}, {"judged_only": True}):
        cases[f"evaluate_trec {options or ''}".strip()] = lambda options=options: in_files(
            lambda folder: fm.evaluate_trec(folder / "qrels", folder / "run", **options)
        )
        cases[f"evaluate_trec of read files {options}"] = lambda options=options: in_files(
            lambda folder: fm.evaluate_trec(
                fm.read_qrels(folder / "qrels"), fm.read_run(folder / "run"), ["map", "ndcg", "recip_rank"], **options
            )
        )  # fmt: skip
    cases |= {
        "read_qrels": lambda: in_files(lambda folder: fm.read_qrels(folder / "qrels").to_arrow().to_pydict()),
        "read_run": lambda: in_files(lambda folder: fm.read_run(folder / "run").to_arrow().to_pydict()),
    }
    return cases


def rows_of(nested: Any, value: str) -> data.Columns:
    rows = [(query, item, own) for query, items in nested.items() for item, own in items.items()]
    return dict(zip(("query", "item", value), map(list, zip(*rows, strict=True)), strict=True))


def write_trec(folder: Path, seed: int = 0, name: str = "run") -> None:
    run, qrels = data.ranking(seed=seed)
    lines = [f"{query} 0 {item} {grade}" for query, items in qrels.items() for item, grade in items.items()]
    (folder / "qrels").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    lines = [f"{query} Q0 {item} 1 {score} {name}" for query, items in run.items() for item, score in items.items()]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def in_files(call: Callable[[Path], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        write_trec(Path(folder))
        return call(Path(folder))
