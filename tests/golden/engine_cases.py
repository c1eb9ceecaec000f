"""Evaluations of logs: every metric of the registry by itself, and with each option of the engine.

`evaluate` and accumulators that are merged must give the same report; one value is stored for both.
"""

import hashlib
from functools import cache
from typing import Any, NamedTuple

import pyarrow as pa

import fastmetrics as fm
from golden import data
from golden.encoding import encode, text_of

ROWS = 210
# The columns of a target. What a metric is computed from tells which target it has.
COLUMNS: dict[str, dict[str, Any]] = {
    "binary": {"label": "label", "score": "prob", "group": "group"},
    "real": {"label": "target", "score": "forecast"},
    "graded": {"label": "grade", "score": "score", "group": "group"},
    "text": {"label": "reference", "score": "hypothesis"},
    "partition": {"label": "class", "score": "cluster"},
}
# Labels and scores where there are several: every score against every label.
SEVERAL: dict[str, dict[str, Any]] = {
    "binary": {"label": ["label", "other"], "score": ["prob", "second"]},
    "real": {"score": ["forecast", "weight"]},
    "graded": {"score": ["score", "prob"]},
    "text": {"score": ["hypothesis", "worse"]},
    "partition": {"label": ["class", "group"], "score": ["cluster", "rough"]},
}
TARGETS: dict[str, list[str]] = {
    "binary": [
        "accuracy", "ap", "auc", "balanced_accuracy", "brier", "copc", "ctr", "ece", "eer", "f1", "fbeta", "gauc",
        "gmean", "jaccard", "kappa", "ks", "logloss", "mcc", "ne", "pcoc", "precision", "recall", "specificity",
        "eer(method=mean)", "eer(method=max)", "eer(method=convex_hull)", "fbeta(beta=0.5, threshold=0.125)",
        "mcc(threshold=0.25)", "f1(threshold=0.75)", "gauc(weight=pairs)", "gauc(weight=uniform)",
        "gauc(weight=positives, single_class=half)", "gauc(single_class=half)", "ece(n_bins=3)", "ece(norm=l2)",
        "ece(n_bins=7, norm=max)", "logloss(eps=0.1)", "ne(base_rate=0.25)", "brier(sampling_rate=0.5)",
    ],
    "real": [
        "bias", "gamma_deviance", "mae", "mape", "mse", "msle", "pinball", "poisson_deviance", "r2", "rmse", "rmsle",
        "tweedie_deviance", "pinball(alpha=0.9)", "tweedie_deviance(power=1.5)",
    ],
    "graded": [
        "auc@3", "bpref", "cg", "dcg", "err", "f1@3", "hr@2", "idcg", "map", "mind_mrr", "mrr", "ndcg", "p@3", "rbp",
        "recall@3", "rprec", "ndcg@3", "ndcg(gain=exp2, ideal=k)@5", "ndcg(ties=pessimistic)", "ndcg(empty=skip)@10",
        "dcg(gain=exp2)@4", "dcg(ties=optimistic)@4", "map(normalize=relevant)@5", "map(normalize=hits)@3",
        "map(relevance_level=2)", "mrr@2", "hr(average=micro)@5", "p(short_list=n)@30", "err(max_grade=3)@5",
        "rbp(p=0.5, gain=linear)@7",
    ],
    "text": [
        "bleu", "chrf", "rouge1", "rouge2", "rougeL", "rougeLsum", "ter", "meteor(modules=('exact', 'stem'))",
        "bleu(lowercase=True, smooth=floor, max_order=2)", "bleu(tokenize=intl, effective_order=True, smooth='add-k')",
        "bleu(tokenize=zh)", "chrf(word_order=2, lowercase=True)", "rouge1(stem=True)", "rougeL(stem=True, beta=2)",
        "ter(normalized=True, no_punct=True, asian_support=True)",
        "meteor(modules=('exact',), alignment=nltk, average=corpus)",
    ],
    "partition": [
        "ami", "ari", "completeness", "fowlkes_mallows", "homogeneity", "mutual_info", "nmi", "pair_jaccard", "purity",
        "rand", "v_measure", "nmi(average_method=max)", "ami(average_method=min)", "v_measure(beta=0.25)",
    ],
}  # fmt: skip


class Case(NamedTuple):
    """One evaluation."""

    metrics: list[str]
    options: dict[str, Any]
    log: data.Columns
    accumulates: bool = True  # can an accumulator give the same report?


# An accumulator takes the same options but for these.
OF_EVALUATE = ("memory_limit", "spill_dir")
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "weights": {"weight": "whole"},
    "fractional weights": {"weight": "weight"},
    "slices": {"by": "by"},
    "combined slices and weights": {"by": ["by", "day"], "weight": "weight"},
    "bootstrap by unit": {"ci": 0.95, "replicates": 12, "seed": 3, "unit": "day"},
    "bootstrap by group": {"ci": 0.9, "replicates": 12, "seed": 4, "unit": "group"},
    "normal intervals of slices": {
        "ci": 0.9, "ci_method": "normal", "replicates": 10, "unit": "group", "by": "day"
    },
    "bootstrap of weighted rows": {"ci": 0.9, "replicates": 8, "unit": "row", "weight": "weight"},
}  # fmt: skip


@cache
def engine_cases() -> dict[str, Case]:
    log = data.click_log(ROWS, 1)
    one_row = {name: column[:1] for name, column in log.items()}
    one_class = {**log, "label": log["label"] * 0, "grade": log["grade"] * 0}
    cases: dict[str, Case] = {}
    for target, metrics in TARGETS.items():
        columns = COLUMNS[target]
        cases[f"{target}: several columns"] = Case(metrics, {**columns, **SEVERAL[target]}, log)
        cases[f"{target}: one row"] = Case(metrics, columns, one_row)
        if target in ("binary", "graded"):
            cases[f"{target}: one class"] = Case(metrics, {**columns, "by": "day"}, one_class)
        for name, options in OPTIONS.items():
            if "weight" in options and target in ("graded", "text", "partition"):
                continue  # they take none: `refusals` asks
            if "ci" in options and target == "partition":
                continue
            own = metrics
            if options.get("unit") in ("day", "row"):  # which cut groups
                if target == "graded":
                    continue
                own = [metric for metric in metrics if not metric.startswith("gauc")]
            accumulates = options.get("unit") != "row" and not ("ci" in options and target == "text")
            cases[f"{target}: {name}"] = Case(own, {**columns, **options}, log, accumulates)
    return cases | of_inputs(log)


def of_inputs(log: data.Columns) -> dict[str, Case]:
    """Other types of columns, rows that are dropped, and more rows than the memory takes."""
    binary, graded = COLUMNS["binary"], COLUMNS["graded"]
    some = ["auc", "gauc", "logloss", "ks", "ece"]
    texts = {**log, "group": data.CITIES[0] + log["group"].astype(str).astype(object)}
    single = {**log, "prob": log["prob"].astype("float32")}
    signed = {**log, "label": log["label"] * 2 - 1}
    missing = log["prob"].copy()
    missing[::9] = float("nan")
    large = data.click_log(70_000, 2)
    limited = {**binary, "memory_limit": "1MiB"}
    return {
        "weights of groups": Case(["gauc(weight=weights)", "gauc"], {**binary, "weight": "whole"}, log),
        "text groups": Case(some, {**binary, "by": "by"}, texts),
        "float32 scores": Case(some, binary, single),
        "signed labels": Case(["auc", "gauc", "logloss", "f1"], binary, signed),
        "dropped rows": Case(some, {**binary, "on_invalid": "drop"}, {**log, "prob": missing}),
        "spilled groups": Case(["gauc", "auc", "logloss"], limited, large),
        "spilled lists": Case(["ndcg@3", "map"], {**graded, "memory_limit": "1MiB"}, large),
        "spilled slices": Case(["auc", "ap", "gauc"], {**limited, "by": "by", "weight": "whole"}, large),
        "delong": Case(
            ["auc"], {**binary, "score": ["prob", "second"], "ci": 0.95, "ci_method": "delong", "unit": "row"}, log
        ),
        "grades as labels of numbers": Case(["rmse", "ndcg@3"], {**graded, "by": "day"}, log),
    }


def encode_report(report: fm.Report) -> Any:
    """Every number of a report, and a digest of all of its document."""
    document = encode(report)
    results = [
        [
            f"{own['metric']} of {own['score']}" + (f" for {own['label']}" if own.get("label") else ""),
            *own["slice"].values(),
            own["value"],
            *([[own["ci_low"], own["ci_high"]], own["standard_error"]] if own.get("ci_low") is not None else []),
            *([own["reason"]] if own.get("reason") else []),
        ]
        for own in document["results"]
    ]
    return {"results": results, "sha256": hashlib.sha256(text_of(document).encode()).hexdigest()}


def evaluated(case: Case) -> fm.Report:
    return fm.evaluate(case.log, case.metrics, **case.options)


def arrow_evaluated(case: Case) -> fm.Report:
    """The same from an Arrow table of several chunks."""
    table = pa.table({name: case.log[name] for name in sorted(columns_of(case))})
    parts = [table.slice(start, 50) for start in range(0, len(table), 50)]
    return fm.evaluate(pa.concat_tables(parts), case.metrics, **case.options, n_threads=2)


def alone(target: str) -> dict[str, fm.Report]:
    """Every metric of a target by itself."""
    log = data.click_log(ROWS, 1)
    return {metric: fm.evaluate(log, metric, **COLUMNS[target]) for metric in TARGETS[target]}


def columns_of(case: Case) -> set[str]:
    found: set[str] = set()
    for role in ("label", "score", "group", "weight", "by", "unit"):
        own = case.options.get(role)
        found |= {own} if isinstance(own, str) else set(own or ())
    return found - {"row"}


def accumulated(case: Case, n_states: int = 3) -> fm.Report:
    """The same from accumulators that have a part each, merged; one has travelled as bytes."""
    options = {name: value for name, value in case.options.items() if name not in OF_EVALUATE}
    rows = len(next(iter(case.log.values())))
    size = max(1, -(-rows // n_states))
    states = []
    for start in range(0, rows, size):
        state = fm.Accumulator(case.metrics, **options)
        for first in range(start, min(rows, start + size), max(1, size // 2 + 1)):
            end = min(start + size, first + max(1, size // 2 + 1), rows)
            state.update({name: case.log[name][first:end] for name in columns_of(case)})
        states.append(state)
    whole = fm.Accumulator.from_bytes(states[-1].to_bytes())
    for state in states[:-1]:
        whole.merge(state)
    return whole.result()
