"""Freeze what ranking metrics of other tools do on small lists: `python lists_of_tools.py TOOL ...` writes lists.json.

Each number has the metric string that must give it; docs/definitions.md states these differences.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("lists.json")
DATA = {
    "grades": {"label": [3, 0, 2, 0, 1], "score": [0.9, 0.8, 0.7, 0.6, 0.5], "group": [0] * 5},
    "ties": {"label": [0, 0, 1], "score": [0.5] * 3, "group": [0] * 3},
    "ties, first": {"label": [1, 0, 0], "score": [0.5] * 3, "group": [0] * 3},
    "empty": {"label": [0, 1, 0, 0, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5], "group": [0] * 3 + [1] * 2},
    "short": {"label": [1, 0, 1], "score": [0.9, 0.8, 0.7], "group": [0] * 3},
    "many": {"label": [1, 0, 0, 1, 1, 1, 1], "score": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3], "group": [0] * 7},
    "late": {"label": [0, 0, 1, 1], "score": [0.9, 0.8, 0.7, 0.6], "group": [0] * 4},
}  # fmt: skip


def column(data, name):
    return np.array(DATA[data][name])


def scikit_learn(data, name, k):
    from sklearn.metrics import ndcg_score

    lists = [column(data, "group") == group for group in np.unique(column(data, "group"))]
    return np.mean([ndcg_score([column(data, "label")[own]], [column(data, "score")[own]], k=k) for own in lists])


def lightgbm(data, name, k):
    import lightgbm as package

    label = column(data, "label")
    sizes = np.unique(column(data, "group"), return_counts=True)[1]
    rows = package.Dataset(np.zeros((len(label), 1)), label, group=sizes, init_score=column(data, "score"))
    found: dict = {}
    options = {"objective": "lambdarank", "metric": name, "eval_at": k, "verbosity": -1, "learning_rate": 1e-300}
    recorded = [package.record_evaluation(found)]
    package.train(options, rows, 1, valid_sets=[rows], valid_names=["all"], callbacks=recorded)
    ((value,),) = found["all"].values()
    return value


def xgboost(data, name, k):
    import xgboost as package

    label = column(data, "label")
    rows = package.DMatrix(np.zeros((len(label), 1)), label, base_margin=column(data, "score"))
    rows.set_group(np.unique(column(data, "group"), return_counts=True)[1])
    metric = name.removesuffix("-") + f"@{k}" + ("-" if name.endswith("-") else "")
    found: dict = {}
    options = {"objective": "rank:ndcg", "eval_metric": metric, "eta": 0, "verbosity": 0}
    package.train(options, rows, 1, evals=[(rows, "all")], evals_result=found, verbose_eval=False)
    ((value,),) = found["all"].values()
    return value


def torchmetrics(data, name, k):
    import torch
    from torchmetrics import retrieval

    name, _, option = name.partition(" ")
    metric = getattr(retrieval, name)(top_k=k, **({option: True} if option else {}))
    label, score, group = (torch.from_numpy(column(data, own)) for own in ("label", "score", "group"))
    return metric(score.float(), label, indexes=group)


def runs_of(data):
    """The items of each list, best first, and the grades of those that are relevant."""
    found = {}
    for item, (label, score, group) in enumerate(zip(*DATA[data].values(), strict=True)):
        found.setdefault(f"q{group}", {})[f"d{item}"] = (label, score)
    grades = {query: {item: own[0] for item, own in items.items()} for query, items in found.items()}
    return grades, {query: {item: own[1] for item, own in items.items()} for query, items in found.items()}


def spark(data, name, k):
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    grades, run = runs_of(data)
    rows = []
    for query, items in run.items():
        relevant = [item for item, grade in grades[query].items() if grade]
        rows.append((list(items), relevant))
    return getattr(RankingMetrics(session.sparkContext.parallelize(rows)), name)(k)


def ranx(data, name, k):
    import ranx as package

    grades, run = runs_of(data)
    return package.evaluate(package.Qrels(grades), package.Run(run), f"{name}@{k}")


def pytrec_eval(data, name, k):
    import pytrec_eval as package

    grades, run = runs_of(data)
    measure = name if name in ("recip_rank", "map") else f"{name}.{k}"
    values = package.RelevanceEvaluator(grades, {measure}).evaluate(run).values()
    return np.mean([own[measure.replace(".", "_")] for own in values])


# Equal scores stay in the order of the rows: the relevant one is last, then first.
BY_ROWS_NDCG = {
    "ties": "ndcg(gain=exp2, ties=pessimistic)@1", "ties, first": "ndcg(gain=exp2, ties=optimistic)@1",
}  # fmt: skip
BY_ROWS_MAP = {"ties": "map(ties=pessimistic)@1", "ties, first": "map(ties=optimistic)@1"}
# What is asked of a tool: its name of a metric, the cutoff, and by data the metric string of that number.
LISTS = {
    "scikit-learn": (scikit_learn, "scikit-learn", [
        ("ndcg", 3, {"grades": "ndcg@3", "empty": "ndcg@3"}), ("ndcg", 1, {"ties": "ndcg@1"}),
    ]),
    "LightGBM": (lightgbm, "lightgbm", [
        ("ndcg", 3, {"grades": "ndcg(gain=exp2)@3", "empty": "ndcg(gain=exp2, empty=one)@3"}),
        ("ndcg", 1, BY_ROWS_NDCG),
        ("map", 3, {"many": "map@3", "empty": "map(empty=one)@3"}), ("map", 1, BY_ROWS_MAP),
    ]),
    "XGBoost": (xgboost, "xgboost-cpu", [
        ("ndcg", 3, {"grades": "ndcg(gain=exp2)@3", "empty": "ndcg(gain=exp2, empty=one)@3"}),
        ("ndcg-", 3, {"empty": "ndcg(gain=exp2)@3"}), ("ndcg", 1, BY_ROWS_NDCG),
        ("map", 3, {"many": "map@3", "empty": "map(empty=one)@3"}), ("map-", 3, {"empty": "map@3"}),
        ("map", 1, BY_ROWS_MAP), ("pre", 5, {"short": "p(short_list=n)@5"}),
    ]),
    "torchmetrics": (torchmetrics, "torchmetrics", [
        ("RetrievalNormalizedDCG", 3, {"grades": "ndcg@3", "empty": "ndcg@3"}),
        ("RetrievalNormalizedDCG", 1, {"ties": "ndcg@1"}),
        ("RetrievalMAP", 3, {"many": "map(normalize=hits)@3", "empty": "map(normalize=hits)@3"}),
        ("RetrievalPrecision", 5, {"short": "p@5"}),
        ("RetrievalPrecision adaptive_k", 5, {"short": "p(short_list=n)@5"}), ("RetrievalMRR", 4, {"late": "mrr@4"}),
    ]),
    "Spark": (spark, "pyspark", [
        ("ndcgAt", 3, {"grades": "ndcg(gain=binary)@3", "empty": "ndcg(gain=binary)@3"}),
        ("meanAveragePrecisionAt", 3, {"many": "map@3", "empty": "map@3"}), ("precisionAt", 5, {"short": "p@5"}),
    ]),
    "ranx": (ranx, "ranx", [
        ("ndcg", 3, {"grades": "ndcg@3", "empty": "ndcg@3"}), ("map", 3, {"many": "map(normalize=relevant)@3"}),
        ("precision", 5, {"short": "p@5"}), ("mrr", 4, {"late": "mrr@4"}),
    ]),
    "pytrec_eval": (pytrec_eval, "pytrec_eval-terrier", [
        ("ndcg_cut", 3, {"grades": "ndcg@3", "empty": "ndcg@3"}),
        ("map_cut", 3, {"many": "map(normalize=relevant)@3"}), ("P", 5, {"short": "p@5"}),
        ("recip_rank", 4, {"late": "mrr@4"}),
    ]),
}  # fmt: skip


def main():
    frozen = json.loads(FILE.read_text()) if FILE.exists() else {}
    frozen["data"] = DATA
    for tool in sys.argv[1:]:
        function, package, asked = LISTS[tool]
        numbers = [
            {"name": name, "k": k, "data": data, "line": line, "value": float(function(data, name, k))}
            for name, k, lines in asked
            for data, line in lines.items()
        ]
        frozen[tool] = {"made with": f"{package} {version(package)}", "numbers": numbers}
    lines = []
    for tool, values in frozen.items():
        rows = values["numbers"] if tool != "data" else [values]
        made = "" if tool == "data" else f'"made with": {json.dumps(values["made with"])}, '
        inside = json.dumps(values) if tool == "data" else "[\n  " + ",\n  ".join(map(json.dumps, rows)) + "\n ]}"
        lines.append(f' {json.dumps(tool)}: ' + (inside if tool == "data" else "{" + made + '"numbers": ' + inside))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
