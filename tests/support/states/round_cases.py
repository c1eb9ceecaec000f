"""A log, and questions about it for each kind of round: an engine's report has to be that of `evaluate`."""

from typing import Any

import numpy as np
import pyarrow as pa

import fastmetrics as fm

ROWS = 4000
COLUMNS: dict[str, Any] = {"label": "click", "score": "pctr"}
UNITS = {"ci": 0.9, "replicates": 12}
SETS = [["channel"], ["channel", "day"]]
# Metrics, the number of rounds, and options beside COLUMNS.
REPORTS: list[tuple[list[str], int, dict[str, Any]]] = [
    (["logloss", "ctr"], 1, {}),
    (["logloss", "f1"], 1, {"by": SETS, "weight": "w"}),
    (["auc"], 2, {}),
    (["auc", "logloss"], 2, {"weight": "w", "by": SETS, "score": ["pctr", "coarse"]}),
    (["gauc", "auc", "ndcg@5"], 2, {"group": "user"}),
    (["gauc", "map"], 2, {"group": ["name", "day"], "by": "channel", "weight": None}),
    (["gauc(stat=p10)"], 2, {"group": "name", "by": SETS}),
    (["ks", "auc", "eer"], 3, {}),
    (["ap", "gauc", "ks"], 3, {"weight": "of_user", "by": SETS, "group": "name"}),
    (["median_ae", "d2_absolute_error", "xauc"], 2, {"label": "watched", "score": "expected", "by": "channel"}),
]
OF_CLASSES: list[tuple[list[str], dict[str, Any]]] = [
    (["auc", "ap"], {}),
    (["auc(multi_class=ovo)"], {"by": "channel"}),
    (["ap(average=micro)", "auc", "logloss"], {"weight": "w"}),
    (["auc", "logloss"], UNITS | {"unit": "user"}),
]
INTERVALS: list[tuple[list[str], dict[str, Any]]] = [
    (["logloss", "f1"], {"unit": "user"}),
    (["gauc", "auc", "logloss"], {"group": "user"}),
    (["gauc", "ctr", "ks"], {"group": "name", "unit": "household", "by": SETS}),
    (["auc"], {"unit": "user", "weight": "of_user", "score": ["pctr", "coarse"]}),
    (["median_ae", "xauc"], {"label": "watched", "score": "expected", "unit": "household", "by": "day"}),
    (["ari", "nmi"], {"label": "channel", "score": "day", "unit": "household"}),
    (["auc"], {"ci_method": "delong", "replicates": None}),
]
LINEARIZED: list[tuple[list[str], dict[str, Any]]] = [
    (["logloss", "f1", "ne"], {"unit": "user"}),
    (["gauc", "auc", "logloss"], {"group": "user", "score": ["pctr", "coarse"]}),
    (["gauc", "ctr", "ks"], {"group": "name", "unit": "household", "by": SETS}),
    (["auc", "ap", "ks", "brier"], {"unit": "user", "weight": "of_user", "by": SETS, "score": ["pctr", "coarse"]}),
    (["auc", "ap", "eer"], {"unit": "household", "weight": "w", "by": "channel"}),
    (["median_ae", "xauc", "rmse", "r2"], {"label": "watched", "score": "expected", "unit": "household"}),
    (["ari", "nmi"], {"label": "channel", "score": "day", "unit": "household"}),
    (["bleu"], {"label": "reference", "score": "hypothesis", "unit": "user", "by": "channel"}),
    (["auc", "logloss"], {"label": "kind", "score": None, "probabilities": "probs", "unit": "user"}),
]
TASKS = {
    "ctr": fm.Task(),
    "late": fm.Task(where="day > 0", metrics=["gauc", "ks"], group="user"),
    "both": fm.Task(label="click * day > 0", score="pctr * 2", group="name", metrics=["gauc", "rmse"]),
}


def make_log() -> pa.Table:
    random = np.random.default_rng(3)
    user, pctr = random.integers(0, 300, ROWS), random.random(ROWS)
    return pa.table({
        "click": (random.random(ROWS) < pctr).astype(np.int8),
        "pctr": np.round(pctr, 3),
        "coarse": np.round(pctr, 1).astype(np.float32),
        "user": user,
        "name": [f"the name of user number {own}" for own in user],
        "household": user // 4,
        "of_user": 0.5 + user % 3,
        "w": random.integers(0, 4, ROWS) / 4,
        "channel": random.choice(["app", "web", "tv"], ROWS),
        "day": random.integers(0, 3, ROWS),
        "watched": np.round(random.gamma(1.0, 9.0, ROWS), 2).astype(np.float32),
        "expected": np.round(random.gamma(2.0, 5.0, ROWS), 1),
        "kind": random.integers(0, 3, ROWS),
        "probs": list(random.dirichlet([1, 1, 1], ROWS)),
        "reference": random.choice(["the cat sat", "a dog ran off", "no"], ROWS),
        "hypothesis": random.choice(["the cat sat on", "a dog ran", "no"], ROWS),
    })  # fmt: skip
