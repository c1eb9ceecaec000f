"""Intervals of metrics by score: users are resampled, beside scikit-learn on the rows of every replicate."""

from functools import partial

import numpy as np
import pytest

import fastmetrics as fm
from bench.race import at_least
from fastmetrics._core.keys import KeyScratch, as_keys
from fastmetrics._core.lots import draw, make_lots

ROWS = 1_000_000
ROWS_PER_USER = 10
REPLICATES = 1000
RUN = 10  # replicates that the peer makes: all of them would take it minutes
SEED = 0
SCALE = REPLICATES // RUN
NOTE = f"extrapolated: the peer made {RUN} of {REPLICATES} replicates, and its time was multiplied by {SCALE}"


def make_log(rows):
    random = np.random.default_rng(4)
    user = random.integers(0, rows // ROWS_PER_USER, rows)
    label = random.random(rows) < 0.2
    score = random.standard_normal(rows) + label + 0.3 * random.standard_normal(rows // ROWS_PER_USER)[user]
    return {"user": user, "label": label.astype(np.int8), "score": score.astype(np.float32)}


@pytest.fixture(scope="module")
def log():
    return make_log(ROWS)


def ours(log, metric, replicates):
    """Both ends of the interval; all other work of an evaluation is part of it."""
    report = fm.evaluate(
        log, [metric], label="label", score="score", unit="user", ci=0.95, replicates=replicates, seed=SEED
    )
    return tuple(np.array(end) for end in report.results[0].interval)


def greatest_distance(labels, scores):
    from sklearn.metrics import roc_curve

    fpr, tpr, _ = roc_curve(labels, scores)
    return np.abs(tpr - fpr).max()


class Resampled:
    """The first replicates with the same weights of users, one after the other. Weights are drawn before."""

    def __init__(self, log, measure):
        keys = as_keys(log["user"])
        scratch = KeyScratch(keys.rows, keys.is_text)
        keys.hash_block(0, keys.rows, scratch)
        lots = make_lots([scratch.hashes])
        self.times = draw(lots, SEED, 0, RUN)
        self.numbers = lots.numbers(scratch.hashes)
        self.log = log
        self.measure = measure

    def __call__(self):
        values = []
        for replicate in range(RUN):
            rows = np.repeat(np.arange(len(self.numbers)), self.times[self.numbers, replicate])
            values.append(self.measure(self.log["label"][rows], self.log["score"][rows]))
        return tuple(np.quantile(values, (0.025, 0.975)))


def peer_of(metric):
    metrics = pytest.importorskip("sklearn.metrics")
    return {"auc": metrics.roc_auc_score, "ap": metrics.average_precision_score, "ks": greatest_distance}[metric]


@pytest.mark.parametrize("metric", ["auc", "ap", "ks"])
def test_a_thousand_replicates(race, log, metric):
    theirs = Resampled(log, peer_of(metric))
    work = f"{REPLICATES} replicates of `{metric}`, 1M rows, 100k users resampled (`evaluate(..., ci=0.95)`)"
    race.against(
        work, partial(ours, log, metric, REPLICATES), "scikit-learn, replicate by replicate", theirs, within=1e-12,
        expected=ours(log, metric, RUN), target=at_least(100) if metric == "auc" else None, rounds=2,
        scale=SCALE, note=NOTE,
    )  # fmt: skip


def test_ten_replicates(race, log):
    """Nothing extrapolated: as many replicates on both sides."""
    theirs = Resampled(log, peer_of("auc"))
    work = f"{RUN} replicates of `auc`, 1M rows, 100k users resampled"
    race.against(work, partial(ours, log, "auc", RUN), "scikit-learn, replicate by replicate", theirs, within=1e-12)


def test_equal_error_rate(race, log):
    work = f"{REPLICATES} replicates of `eer`, 1M rows, 100k users resampled"
    race.alone(work, partial(ours, log, "eer", REPLICATES))


def test_many_rows(race, rows):
    work = f"{REPLICATES} replicates of `auc`, {{rows}} rows, {{users}} users resampled"
    race.alone(work, partial(ours, make_log(rows), "auc", REPLICATES))
