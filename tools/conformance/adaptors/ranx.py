"""ranx's tests of its measures, half of which compare with pytrec_eval.

The functions of `ranx.metrics` are replaced. They take a list with an array for each query: judged items with their
relevance, and retrieved items, best first. `ranx.evaluate` calls them. The tests are in ranx's repository only.
"""

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tools.conformance.suite import Calls, Suite

ALL = 2**31 - 1  # a cutoff below every list
# Each function of ranx, as a metric string: of a cutoff, and of whole lists. None: it has no cutoff.
METRICS: dict[str, tuple[str | None, str]] = {
    "average_precision": ("map(normalize=relevant)@{k}", "map"),
    "bpref": (None, "bpref"),
    "dcg": ("dcg@{k}", "dcg"),
    "dcg_burges": ("dcg(gain=exp2)@{k}", "dcg(gain=exp2)"),
    "f1": ("f1@{k}", f"f1(short_list=n)@{ALL}"),
    "hit_rate": ("hr@{k}", f"hr@{ALL}"),
    "hits": ("cg(gain=binary)@{k}", "cg(gain=binary)"),
    "ndcg": ("ndcg@{k}", "ndcg"),
    "ndcg_burges": ("ndcg(gain=exp2)@{k}", "ndcg(gain=exp2)"),
    "precision": ("p@{k}", f"p(short_list=n)@{ALL}"),
    "r_precision": (None, "rprec"),
    "recall": ("recall@{k}", f"recall@{ALL}"),
    "reciprocal_rank": ("mrr@{k}", "mrr"),
}


def tables(qrels: Any, run: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The lists of ranx as two tables; a retrieved item is scored by its place."""
    judged, retrieved = ([np.asarray(rows) for rows in lists] for lists in (qrels, run))
    found = []
    for lists in (judged, retrieved):
        query = np.repeat(np.arange(len(lists)), [len(rows) for rows in lists])
        items = np.concatenate([rows[:, 0] for rows in lists]).astype(np.int64)
        found.append({"query": query, "item": items})
    places = [-np.arange(len(rows), dtype=np.float64) for rows in retrieved]
    relevance = np.concatenate([rows[:, 1] for rows in judged]).astype(np.float64)
    return found[0] | {"relevance": relevance}, found[1] | {"score": np.concatenate(places)}


def values(qrels: Any, run: Any, metric: str, level: float) -> np.ndarray:
    """The value of each query."""
    import fastmetrics as fm

    judged, retrieved = tables(qrels, run)
    per_query = fm.evaluate_ranking(judged, retrieved, metric, relevance_level=level).per_query
    return np.array(per_query[metric])


def measure(name: str) -> Callable[..., np.ndarray]:
    cut, whole = METRICS[name]

    def call(qrels: Any, run: Any, k: int = 0, rel_lvl: int = 1) -> np.ndarray:
        return values(qrels, run, whole if cut is None or k == 0 else cut.format(k=k), rel_lvl)

    return call


def rank_biased_precision(qrels: Any, run: Any, p: float, rel_lvl: int = 1) -> np.ndarray:
    return values(qrels, run, f"rbp(p={p}, gain=linear)", rel_lvl)


def replace(calls: Calls) -> int:
    ours = {name: measure(name) for name in METRICS} | {"rank_biased_precision": rank_biased_precision}
    package = importlib.import_module("ranx.metrics")
    importlib.import_module("ranx")
    replaced = {getattr(package, name): calls.counted(getattr(package, name), own) for name, own in ours.items()}
    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "ranx"]:
        for name, value in list(vars(module).items()):
            if callable(value) and getattr(value, "__hash__", None) and value in replaced:
                setattr(module, name, replaced[value])
    return len(ours)


TWICE = "an item occurs twice in the judgments or in the list of a query: here an error"
SUITE = Suite(
    library="ranx",
    source="git",
    repository="https://github.com/AmenRa/ranx",
    files=(
        "tests/unit/ranx/metrics_test.py",
        "tests/unit/ranx/meta",
        "tests/unit/ranx/metrics",
        "tests/unit/ranx/trec",
    ),
    requirements=("ranx==0.3.21", "pytrec_eval-terrier==0.5.11", "pytest"),
    replace=replace,
    explained={"test_hit_rate": TWICE, "test_reciprocal_rank": TWICE},
)
