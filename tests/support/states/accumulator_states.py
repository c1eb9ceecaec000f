"""Small accumulators of every kind, for the tests of states."""

import numpy as np

import fastmetrics as fm
from fastmetrics._core.registry import parse
from fastmetrics.engine.plan.plan_parts import reads_other_order
from support import partition_logs, strategies, text_logs
from support.registry_cases import (
    JOINT_METRICS,
    NUMBER_COLUMNS,
    PARTITION,
    PARTITION_COLUMNS,
    REAL,
    TEXT,
    TEXT_COLUMNS,
    taking_row_weights,
)

COLUMNS = {"label": "label", "score": "prob", "group": "group"}
RANKS = ["auc", "gauc"]


def in_one_part(metrics):
    """The metrics that read rows in the order of scores, or in none: others are a part of the state by themselves."""
    return [name for name in metrics if not reads_other_order(parse(name))]


ONE_PART = in_one_part(JOINT_METRICS)
APPROXIMATE = ["auc", "ks", "logloss", "ece"]


def log_of(rows=40, keys="int64", seed=3):
    log = strategies.click_log(rows, seed=seed)
    generator = np.random.default_rng(seed)
    texts = {
        "int64": log["group"],
        "uint64": log["group"].astype(np.uint64) + np.uint64(2**63),
        "short": np.char.add("é", log["group"].astype(str)),
        "long": np.char.add("a user's name of some length: ", log["group"].astype(str)),
    }
    log["group"] = texts[keys]
    log |= text_logs.text_columns(rows) | partition_logs.partition_columns(rows)
    return {**log, "w": generator.choice([1.0, 0.5, 4.0], rows), "by": generator.choice(["köln", "ulm", "rom"], rows)}


STATES = {
    "empty": (0, "int64", {}),
    "one row": (1, "int64", {}),
    "integers": (40, "int64", {}),
    "unsigned": (40, "uint64", {"by": "by"}),
    "short text": (40, "short", {"metrics": taking_row_weights(ONE_PART), "weight": "w"}),
    "long text": (40, "long", {"metrics": taking_row_weights(ONE_PART), "weight": "w", "by": "by"}),
    "only global": (40, "int64", {"metrics": ["auc"], "weight": "w", "by": ["by", "label"]}),
    "only additive": (40, "int64", {"metrics": ["logloss", "ece"], "by": "by"}),
    "several columns": (40, "long", {"score": ["prob", "score"], "label": ["label", "other"], "metrics": RANKS}),
    "numbers": (40, "int64", {"metrics": in_one_part(REAL), "by": "by", **NUMBER_COLUMNS}),
    "several parts": (40, "int64", {"metrics": JOINT_METRICS, "by": "by"}),
    "texts": (40, "int64", {"metrics": TEXT, "by": "by", **TEXT_COLUMNS}),
    "partitions": (40, "int64", {"metrics": PARTITION, "by": "by", **PARTITION_COLUMNS}),
    "more partitions": (
        300, "int64", {"metrics": PARTITION, "label": ["class", "group"], "score": ["cluster", "rough"]},
    ),
    "approximate": (40, "int64", {"metrics": APPROXIMATE, "approximate": True}),
    "approximate slices": (400, "int64", {"metrics": APPROXIMATE, "approximate": True, "by": "by", "state_size": 4096}),
    "approximate many": (400, "int64", {"metrics": ["auc"], "score": "score", "approximate": True}),
    "single scores": (40, "int64", {"dtype": "float32", "on_invalid": "drop"}),
}  # fmt: skip


def make(name):
    rows, keys, options = STATES[name]
    options = {"metrics": ONE_PART, **COLUMNS, **options}
    dtype = options.pop("dtype", "float64")
    state = fm.Accumulator(options.pop("metrics"), n_threads=1, **options)
    if rows:
        log = log_of(rows, keys)
        log["prob"] = log["prob"].astype(dtype)
        log["other"] = log["label"]
        for start in range(0, rows, 17):
            state.update({column: values[start : start + 17] for column, values in log.items()})
            state.flush()
        state._state.sources = frozenset({f"source of {name}"})  # the same bytes each time
    return state


def outcome(state):
    try:
        return state.result().to_json()
    except ValueError as error:
        return str(error)
