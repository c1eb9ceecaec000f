"""Bootstrap intervals with users as units, against the same values without intervals."""

import numpy as np
import pytest

import fastmetrics as fm
from bench.workloads import unit_weights

WORK = "1000 replicates by user, `evaluate` {0} of {{rows}} rows, 10 rows a user (int64 ids, shuffled)"
COLUMNS = {"label": "click", "score": "pctr", "group": "user"}


@pytest.fixture(scope="module")
def log(clicks, rows):
    users = np.random.default_rng(5).integers(0, max(2, rows // 10), rows)
    weights = np.random.default_rng(6).uniform(0.1, 3.1, rows)
    return {"click": clicks.labels, "pctr": clicks.probabilities, "user": users, "weight": weights}


def repeated(log, seed):
    """Repeat the rows of each user by the weight of its unit bucket. Copies of a user are different users."""
    weights, bucket_of_row = unit_weights(log["user"], seed, 1)
    times = weights[bucket_of_row, 0].astype(np.int64)
    chosen = np.repeat(np.arange(len(times)), times)
    copy = np.arange(len(chosen)) - np.repeat(np.cumsum(times) - times, times)
    rows = {name: column[chosen] for name, column in log.items()}
    return rows | {"user": 16 * rows["user"] + copy}


ADDITIVE = ["logloss", "mse", "mae", "accuracy", "ne", "brier", "ctr"]


@pytest.mark.parametrize("metrics", ADDITIVE)
def test_weighted_against_the_value_alone(timing, log, metrics):
    weighted = COLUMNS | {"weight": "weight"}
    small = {name: column[: 1 << 20] for name, column in log.items()}
    result = fm.evaluate(small, metrics, **weighted, ci=0.95, replicates=1, seed=3).result(metrics)
    assert result.interval[0] == fm.evaluate(repeated(small, 3), metrics, **weighted)[metrics]

    def ours():
        return fm.evaluate(log, metrics, **weighted, ci=0.95, replicates=1000)[metrics]

    def theirs():
        return fm.evaluate(log, metrics, **weighted)[metrics]

    name = "the value without an interval"
    timing.compare(WORK.format(f"weighted `{metrics}`"), ours, name, theirs, within=0, rounds=6)


@pytest.mark.parametrize("metrics", ["gauc", "ndcg@10", *ADDITIVE])
def test_against_the_value_alone(timing, log, metrics):
    small = {name: column[: 1 << 20] for name, column in log.items()}
    result = fm.evaluate(small, metrics, **COLUMNS, ci=0.95, replicates=1, seed=3).result(metrics)
    assert result.interval[0] == fm.evaluate(repeated(small, 3), metrics, **COLUMNS)[metrics]

    def ours():
        return fm.evaluate(log, metrics, **COLUMNS, ci=0.95, replicates=1000)[metrics]

    def theirs():
        return fm.evaluate(log, metrics, **COLUMNS)[metrics]

    name = "the value without an interval"
    timing.compare(WORK.format(f"`{metrics}`"), ours, name, theirs, within=0, rounds=6)
