"""Intervals by resampling users, against the same values without intervals."""

import numpy as np
import pytest

import fastmetrics as fm
from bench.race import at_most
from fastmetrics._core.keys import KeyScratch, as_keys
from fastmetrics._core.lots import draw, make_lots

WORK = "1000 replicates by user, `evaluate` {0} of {{rows}} rows, 10 rows a user (int64 ids, shuffled)"
COLUMNS = {"label": "click", "score": "pctr", "group": "user"}


@pytest.fixture(scope="module")
def log(clicks, rows):
    users = np.random.default_rng(5).integers(0, max(2, rows // 10), rows)
    return {"click": clicks.labels, "pctr": clicks.probabilities, "user": users}


def repeated(log, seed):
    """The log with the rows of every user as often as the weight of its lot says, copies as users of their own."""
    own = as_keys(log["user"])
    scratch = KeyScratch(own.rows, False)
    own.hash_block(0, own.rows, scratch)
    lots = make_lots([scratch.hashes])
    times = draw(lots, seed, 0, 1)[:, 0][lots.numbers(scratch.hashes)].astype(np.int64)
    chosen = np.repeat(np.arange(own.rows), times)
    copy = np.arange(len(chosen)) - np.repeat(np.cumsum(times) - times, times)
    out = {name: column[chosen] for name, column in log.items()}
    return out | {"user": 16 * out["user"] + copy}


@pytest.mark.parametrize(("metrics", "target"), [("gauc", at_most(3)), ("ndcg@10", None), ("logloss", None)])
def test_against_the_value_alone(race, log, metrics, target):
    small = {name: column[: 1 << 20] for name, column in log.items()}
    one = fm.evaluate(small, metrics, **COLUMNS, ci=0.95, replicates=1, seed=3).result(metrics)
    assert one.interval[0] == fm.evaluate(repeated(small, 3), metrics, **COLUMNS)[metrics]

    def ours():
        return fm.evaluate(log, metrics, **COLUMNS, ci=0.95, replicates=1000)[metrics]

    def theirs():
        return fm.evaluate(log, metrics, **COLUMNS)[metrics]

    name = "the value without an interval"
    race.against(WORK.format(f"`{metrics}`"), ours, name, theirs, within=0, target=target, rounds=6)
