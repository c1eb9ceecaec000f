"""Two groupings in one call of `evaluate`, beside a call for each."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from bench.workloads import SEED

SESSIONS = 8  # of a user
ROWS_PER_USER = 10
COLUMNS = {"label": "click", "score": "pctr"}


@pytest.fixture(scope="module")
def path(rows, tmp_path_factory):
    random = np.random.default_rng(SEED + 80)
    users = random.integers(0, max(1, rows // ROWS_PER_USER), rows)
    log = {
        "click": (random.random(rows) < 0.1).astype(np.int8),
        "pctr": random.random(rows).astype(np.float32),
        "user": users,
        "session": users * SESSIONS + random.integers(0, SESSIONS, rows),
    }
    path = tmp_path_factory.mktemp("sessions") / "log.parquet"
    pyarrow.parquet.write_table(pa.table(log), path)
    return path


def one_call(path):
    report = fm.evaluate(path, ["gauc(group=user)", "ndcg(group=session)@10"], **COLUMNS)
    return [report["gauc(group=user)"], report["ndcg(group=session)@10"]]


def two_calls(path):
    by_user = fm.evaluate(path, ["gauc"], group="user", **COLUMNS)
    by_session = fm.evaluate(path, ["ndcg@10"], group="session", **COLUMNS)
    return [by_user["gauc"], by_session["ndcg@10"]]


def test_two_groupings(timing, path):
    timing.compare(
        "`evaluate` of gauc by user and ndcg@10 by session, {rows} rows in Parquet", lambda: one_call(path),
        "a call for each", lambda: two_calls(path), within=0.0, rounds=5,
    )  # fmt: skip
