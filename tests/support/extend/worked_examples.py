"""The worked examples in examples/extend/, how they are evaluated, and a log for all of them."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import fastmetrics as fm

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "extend"
# The columns of each example, as keywords of `evaluate`.
COLUMNS: dict[str, dict[str, Any]] = {
    "cvr": {"roles": {"click": "click", "conversion": "bought"}},
    "snips": {"propensity": "logged", "roles": {"reward": "revenue", "target_propensity": "target"}},
    "auuc": {"label": "bought", "score": "score", "treatment": "treated"},
    "concordance": {"score": "score", "roles": {"time": "days", "event": "churned"}},
}
NAMES = tuple(COLUMNS)
ALL_COLUMNS: dict[str, Any] = {name: value for own in COLUMNS.values() for name, value in own.items()} | {
    "roles": {role: column for own in COLUMNS.values() for role, column in own.get("roles", {}).items()}
}


def load_example(name: str) -> ModuleType:
    """A worked example, registered anew, under the name by which a caller in the root of the checkout imports it."""
    module_name = f"examples.extend.{name}"
    spec = importlib.util.spec_from_file_location(module_name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return module


def make_log(rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns of all examples, with ties in scores and times; users, hours and whole weights, some of them 0."""
    random = np.random.default_rng(seed)
    return {
        "score": np.round(random.normal(0.0, 1.0, rows), 1),
        "treated": random.integers(0, 2, rows),
        "click": random.integers(0, 2, rows),
        "bought": random.integers(0, 2, rows),
        "revenue": np.round(random.normal(1.0, 3.0, rows), 2),
        "logged": np.round(random.uniform(0.05, 1.0, rows), 2),
        "target": np.round(random.random(rows), 2),
        "days": np.round(random.exponential(20.0, rows)),
        "churned": random.integers(0, 2, rows),
        "user": random.integers(0, 40, rows),
        "hour": random.integers(0, 3, rows),
        "weight": random.integers(0, 4, rows).astype(float),
    }


def evaluate(data: Any, names: tuple[str, ...] = NAMES, **options: Any) -> fm.Report:
    """Evaluate examples in one call."""
    columns = COLUMNS[names[0]] if len(names) == 1 else ALL_COLUMNS
    return fm.evaluate(data, list(names), **{**columns, **options})


def contents(report: fm.Report) -> list[Any]:
    """What must not depend on how a log was read."""
    return [(own.metric, own.slice, own.value.hex(), own.reason, own.coverage, own.interval) for own in report]
