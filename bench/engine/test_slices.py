"""Slices of numbers by quantiles beside a stored column of slices, and grouping sets beside a scan without slices."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from bench.workloads import SEED

ROWS_PER_USER = 10
COLUMNS = {"label": "click", "score": "pctr", "group": "user"}
# Six columns of few values; all of them together have 75,600 combinations, far more than a set may have.
SLICES = {"channel": 5, "device": 3, "country": 12, "hour": 24, "weekday": 7, "slot": 5}
SETS = [[name] for name in SLICES] + [list(pair) for pair in combinations(SLICES, 2)]
METRICS = {"logloss": ["logloss"], "auc_and_gauc": ["auc", "gauc"]}


@pytest.fixture(scope="module")
def path(rows, tmp_path_factory):
    random = np.random.default_rng(SEED + 81)
    pctr = random.random(rows).astype(np.float32)
    log = {
        "click": (random.random(rows) < 0.1).astype(np.int8),
        "pctr": pctr,
        "user": random.integers(0, max(1, rows // ROWS_PER_USER), rows),
        "decile": np.searchsorted(quantiles_of(pctr), pctr, "right").astype(np.int8),
    }
    for number, (name, size) in enumerate(SLICES.items()):
        codes = random.integers(0, size, rows)
        names = pa.array([f"{name} {code}" for code in range(size)])
        # Half of the columns are texts, half integers.
        log[name] = codes if number % 2 else pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), names)
    path = tmp_path_factory.mktemp("slices") / "log.parquet"
    pyarrow.parquet.write_table(pa.table(log), path, row_group_size=1 << 20)
    return path


def quantiles_of(values):
    ranks = [-(-number * len(values) // 10) - 1 for number in range(1, 10)]
    return np.sort(values)[ranks]


def values_by(path, metrics, by):
    report = fm.evaluate(path, metrics, by=by, **COLUMNS)
    return [own.value for own in report]


@pytest.mark.parametrize("metrics", METRICS.values(), ids=METRICS)
def test_quantiles(timing, path, metrics):
    timing.compare(
        f"`evaluate` of {' and '.join(metrics)} by `qcut(pctr, 10)`, {{rows}} rows in Parquet",
        lambda: values_by(path, metrics, "qcut(pctr, 10)"),
        "by a stored column of these slices", lambda: values_by(path, metrics, "decile"), within=0.0, rounds=3,
    )  # fmt: skip


@pytest.mark.parametrize("metrics", METRICS.values(), ids=METRICS)
def test_grouping_sets(timing, path, metrics):
    timing.compare(
        f"`evaluate` of {' and '.join(metrics)} by 21 grouping sets of 6 columns, {{rows}} rows in Parquet",
        lambda: values_by(path, metrics, SETS)[: len(metrics)],
        "without slices", lambda: values_by(path, metrics, None), within=0.0, rounds=3,
    )  # fmt: skip
