"""Print the bits of many values as JSON, and those of the platform's own functions. Run in a process of its own.

    python tests/support/machines/values.py LOG.pickle

Inputs come from a file, and from arithmetic of integers, so that only the library computes. The values are those of all
metrics of the registry, with intervals, and all values that tests/golden stores.
"""

import json
import math
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from golden import engine_cases, function_cases, object_cases
from golden.encoding import outcome, text_of

import fastmetrics as fm
from fastmetrics._kernels.clustering.distances import widest_registers
from fastmetrics.testing import metric_cases

EXPRESSIONS = ("exp(score)", "ln(prob + 0.01)", "power(prob, 0.3)", "power(2.5, score)", "sqrt(prob)")
POINTS = ("mahalanobis", "haversine", "minkowski", "seuclidean", "correlation", "cosine", "euclidean")


def of_the_platform() -> dict[str, Any]:
    """What the values must not depend on. Tests check that it differs between machines."""
    numbers = np.linspace(0.1, 0.9, 999)
    square = numbers[:900].reshape(30, 30) ** 2
    return {
        "libm": [f(0.7).hex() for f in (math.log, math.exp, math.sin, math.atan, math.erfc)],
        "numpy": [f(numbers).tobytes().hex() for f in (np.log, np.exp, np.log1p, np.arcsin, np.exp2)],
        "blas": (square @ square).tobytes().hex(),
        "registers": widest_registers(),
    }


def of_the_registry() -> dict[str, str]:
    """Every metric with its variants, on every kind of columns; those with intervals also with these."""
    found = {}
    for name in [spec.name for spec in fm.list_metrics().values()]:
        for case in metric_cases.metric_cases(name):
            found[f"evaluate {case}"] = repr(outcome(lambda case=case: case.content(case.log)))
            found[f"interval {case}"] = repr(
                outcome(lambda case=case: case.content(case.log, ci=0.95, replicates=20, seed=1))
            )
    return found


def of_expressions(log: dict[str, np.ndarray]) -> dict[str, str]:
    columns = {name: log[name] for name in ("label", "prob", "score")}
    return {
        text: repr(fm.evaluate(columns, ["auc", "rmse"], label="label", score=text).to_dict()["results"])
        for text in EXPRESSIONS
    }


def of_points(log: dict[str, np.ndarray]) -> dict[str, str]:
    x = np.column_stack([log["prob"], log["target"] / 7, log["forecast"] / 9])[:300]
    labels = log["kind_number"][:300]
    found = {}
    for metric in POINTS:
        options = {"p": 3.5} if metric == "minkowski" else {}
        own = x[:, :2] if metric == "haversine" else x
        found[metric] = fm.silhouette_samples(own, labels, metric=metric, **options).tobytes().hex()
    return found


def values(path: str) -> dict[str, str]:
    log = pickle.loads(Path(path).read_bytes())
    metric_cases.log_of = lambda rows=metric_cases.ROWS: log
    found = of_the_registry() | of_expressions(log) | of_points(log)
    for cases in (function_cases.function_cases(), object_cases.object_cases()):
        found |= {name: text_of(outcome(call)) for name, call in cases.items()}
    for name, case in engine_cases.engine_cases().items():
        found[name] = text_of(engine_cases.encode_report(engine_cases.evaluated(case)))
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps({"platform": of_the_platform(), "values": values(sys.argv[1])}))
