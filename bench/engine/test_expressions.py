"""Filters and computed columns beside the whole log and a stored column."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm

N_DAYS = 10
METRICS = ["logloss", "auc,gauc"]
KEPT = "a tenth of {rows} rows by %s, beside all of them: `%s`"
COMPUTED = "a score that is a product of two columns, {rows} rows, beside a stored one: `%s`"


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    """A log in one file, with the product of its two scores, and the same log by days."""
    random = np.random.default_rng(1)
    p_ctr, p_cvr = (random.random(rows).astype(np.float32) for _ in range(2))
    log = pa.table({
        "click": (random.random(rows) < 0.2).astype(np.int8),
        "p_ctr": p_ctr,
        "p_cvr": p_cvr,
        "score": p_ctr.astype(np.float64) * p_cvr,
        "user_id": random.integers(0, max(1, rows // 20), rows),
        "share": random.random(rows).astype(np.float32),
    })
    folder = tmp_path_factory.mktemp("filters")
    pq.write_table(log, folder / "log.parquet", row_group_size=1 << 20)
    for day in range(N_DAYS):
        inside = folder / "days" / f"day={day}"
        inside.mkdir(parents=True)
        part = log.slice(day * rows // N_DAYS, (day + 1) * rows // N_DAYS - day * rows // N_DAYS)
        pq.write_table(part, inside / "log.parquet", row_group_size=1 << 19)
    return folder


def evaluate(path, metrics, **options):
    group = "user_id" if "gauc" in metrics else None
    options = {"label": "click", "score": "score", "group": group} | options
    return [result.value for result in fm.evaluate(path, metrics, **options)]


@pytest.mark.parametrize("metrics", METRICS)
@pytest.mark.parametrize(
    ("what", "data", "where"),
    [("a folder", "days", "day = 3"), ("a column", "log.parquet", "share < 0.1")],
    ids=["folder", "column"],
)
def test_filters(timing, folder, metrics, what, data, where):
    # The values are of other rows: only that both are values is checked.
    timing.compare(
        KEPT % (what, metrics), lambda: evaluate(folder / data, metrics, where=where) and 1,
        "the whole log", lambda: evaluate(folder / data, metrics) and 1, within=0.0,
    )  # fmt: skip


@pytest.mark.parametrize("metrics", METRICS)
def test_computed_score(timing, folder, metrics):
    path = folder / "log.parquet"
    timing.compare(
        COMPUTED % metrics, lambda: evaluate(path, metrics, score="p_ctr * p_cvr"),
        "a stored column", lambda: evaluate(path, metrics), within=0.0,
    )  # fmt: skip
