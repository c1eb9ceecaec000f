"""Accumulators of every kind of state, small: their bytes are stored in files/states, one file each."""

import json
import struct
from typing import Any

import numpy as np

import fastmetrics as fm
from compatibility import data
from compatibility.engine_cases import COLUMNS, SEVERAL, TARGETS

ROWS = 36
BATCH = 17
# Magic, format, length of the header, length of the arrays, checksum; all little-endian.
PREFIX = struct.Struct("<8sIIQ16s")
BINARY = COLUMNS["binary"]
MIXED = ["auc", "gauc", "logloss", "ece(bins=3)", "ndcg@3", "map", "rmse", "f1", "ks", "ap"]
BY_ROW = ["auc", "gauc", "gauc(weight=pairs)", "logloss", "ece", "f1", "ks", "ap", "mse"]
APPROXIMATE = ["auc", "ks", "logloss", "ece"]

# Metrics, options, rows, and how the columns are changed.
STATES: dict[str, tuple[list[str], dict[str, Any], int, str]] = {
    "empty": (MIXED, BINARY, 0, ""),
    "one_row": (MIXED, BINARY, 1, ""),
    "integer_groups": (MIXED, BINARY, ROWS, ""),
    "unsigned_groups_and_slices": (MIXED, {**BINARY, "by": "by"}, ROWS, "unsigned"),
    "short_text_groups_and_weights": (BY_ROW, {**BINARY, "weight": "weight"}, ROWS, "short"),
    "long_text_groups": (BY_ROW, {**BINARY, "weight": "whole", "by": "by"}, ROWS, "long"),
    "global_order": (["auc", "ap"], {**BINARY, "weight": "weight", "by": ["by", "day"]}, ROWS, ""),
    "additive": (["logloss", "ece", "copc", "f1"], {**BINARY, "by": "by"}, ROWS, ""),
    "additive_weights": (["logloss", "brier", "ne"], {**BINARY, "weight": "weight"}, ROWS, ""),
    "several_columns": (["auc", "gauc"], {**BINARY, **SEVERAL["binary"]}, ROWS, "long"),
    "ranked_lists": (TARGETS["graded"], {**COLUMNS["graded"], "by": "day"}, ROWS, ""),
    "ranked_lists_of_texts": (["ndcg@3", "mrr"], COLUMNS["graded"], ROWS, "short"),
    "numbers": (TARGETS["real"], {**COLUMNS["real"], "by": "by"}, ROWS, ""),
    "numbers_and_weights": (["rmse", "r2"], {**COLUMNS["real"], "weight": "weight"}, ROWS, ""),
    "texts": (TARGETS["text"], {**COLUMNS["text"], "by": "day"}, ROWS, ""),
    "partitions": (TARGETS["partition"], {**COLUMNS["partition"], "by": "day"}, ROWS, ""),
    "several_partitions": (["ari", "nmi"], {**COLUMNS["partition"], **SEVERAL["partition"]}, ROWS, ""),
    "approximate": (APPROXIMATE, {**BINARY, "approximate": True}, ROWS, ""),
    "approximate_slices": (
        APPROXIMATE, {**BINARY, "approximate": True, "by": "by", "state_size": 4096}, 300, ""
    ),
    "approximate_scores": (["auc"], {**BINARY, "score": ["prob", "second"], "approximate": True}, ROWS, ""),
    "single_scores": (["auc", "gauc", "logloss"], {**BINARY, "on_invalid": "drop"}, ROWS, "single"),
    "dropped_rows": (["auc", "gauc"], {**BINARY, "on_invalid": "drop"}, ROWS, "missing"),
    "bootstrap_by_group": (
        ["auc", "gauc", "logloss", "ndcg@3"], {**BINARY, "ci": 0.9, "replicates": 8, "seed": 5}, ROWS, ""
    ),
    "bootstrap_by_unit": (
        ["auc", "logloss"],
        {**BINARY, "ci": 0.9, "replicates": 8, "unit": "by", "by": "day", "weight": "weight"}, ROWS, "",
    ),
    "bootstrap_of_numbers": (
        ["rmse", "mae"],
        {**COLUMNS["real"], "ci": 0.9, "replicates": 8, "unit": "group", "ci_method": "normal"}, ROWS, "",
    ),
    "delong": (["auc"], {"label": "label", "score": "prob", "ci": 0.95, "ci_method": "delong"}, ROWS, ""),
    "signed_labels": (["auc", "logloss"], {"label": "label", "score": "prob"}, ROWS, "signed"),
}  # fmt: skip


def state_log(rows: int, change: str, seed: int = 21) -> data.Columns:
    """A click log with one column of another type."""
    log = data.click_log(rows, seed)
    group = data.integers(rows, seed + 3, 6)
    log["group"] = group
    if change == "unsigned":
        log["group"] = group.astype(np.uint64) + np.uint64(2**63)
    elif change == "short":
        log["group"] = np.char.add("é", group.astype(str))
    elif change == "long":
        log["group"] = np.char.add("a user's name of some length: ", group.astype(str))
    elif change == "single":
        log["prob"] = log["prob"].astype(np.float32)
    elif change == "missing":
        log["prob"] = np.where(np.arange(rows) % 5 == 0, np.nan, log["prob"])
    elif change == "signed":
        log["label"] = log["label"] * 2 - 1
    return log


def make(name: str, seed: int = 21) -> fm.Accumulator:
    """The state from batches of some rows; another seed gives other rows."""
    metrics, options, rows, change = STATES[name]
    state = fm.Accumulator(metrics, n_threads=1, **options)
    log = state_log(rows, change, seed)
    for start in range(0, rows, BATCH):
        state.update({column: values[start : start + BATCH] for column, values in log.items()})
        state.flush()
    return state


def content(state: bytes) -> tuple[int, dict[str, Any], bytes]:
    """Format, header without the version that wrote it, and arrays."""
    _, format_number, header_size, arrays_size, _ = PREFIX.unpack_from(state)
    start = PREFIX.size + header_size
    header = json.loads(state[PREFIX.size : start])
    assert len(state) == start + arrays_size
    return format_number, {key: value for key, value in header.items() if key != "library"}, state[start:]


def result_of(state: fm.Accumulator) -> Any:
    """The document of its report; a state without rows may have none."""
    try:
        return json.loads(state.result().to_json())
    except ValueError as error:
        return {"error": type(error).__name__}
