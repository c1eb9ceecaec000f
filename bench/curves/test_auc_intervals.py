"""Bootstrap intervals of AUC, AP, KS and EER over users, against scikit-learn on the rows of every replicate."""

from functools import partial

import numpy as np
import pytest

import fastmetrics as fm
from bench.workloads import unit_weights

ROWS = 1_000_000
ROWS_PER_USER = 10
REPLICATES = 1000
PEER_REPLICATES = 10  # the peer would need minutes for all replicates
SEED = 0
SCALE = REPLICATES // PEER_REPLICATES
NOTE = (
    f"extrapolated: the peer made {PEER_REPLICATES} of {REPLICATES} replicates, and its time was multiplied by {SCALE}"
)


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
    """Both ends of the interval; the time includes the whole evaluation."""
    report = fm.evaluate(
        log, [metric], label="label", score="score", unit="user", ci=0.95, replicates=replicates, seed=SEED
    )
    return tuple(np.array(end) for end in report.results[0].interval)


def peer_ks(labels, scores):
    from sklearn.metrics import roc_curve

    fpr, tpr, _ = roc_curve(labels, scores)
    return np.abs(tpr - fpr).max()


class PeerBootstrap:
    """The first replicates with the same weights of users, one after another. Drawing the weights is not timed."""

    def __init__(self, log, measure):
        self.times, self.bucket_of_row = unit_weights(log["user"], SEED, PEER_REPLICATES)
        self.log = log
        self.measure = measure

    def __call__(self):
        values = []
        for replicate in range(PEER_REPLICATES):
            rows = np.repeat(np.arange(len(self.bucket_of_row)), self.times[self.bucket_of_row, replicate])
            values.append(self.measure(self.log["label"][rows], self.log["score"][rows]))
        return tuple(np.quantile(values, (0.025, 0.975)))


def peer_metric(metric):
    metrics = pytest.importorskip("sklearn.metrics")
    return {"auc": metrics.roc_auc_score, "ap": metrics.average_precision_score, "ks": peer_ks}[metric]


@pytest.mark.parametrize("metric", ["auc", "ap", "ks"])
def test_a_thousand_replicates(timing, log, metric):
    theirs = PeerBootstrap(log, peer_metric(metric))
    work = f"{REPLICATES} replicates of `{metric}`, 1M rows, 100k users resampled (`evaluate(..., ci=0.95)`)"
    timing.compare(
        work, partial(ours, log, metric, REPLICATES), "scikit-learn, replicate by replicate", theirs, within=1e-12,
        expected=ours(log, metric, PEER_REPLICATES), rounds=2,
        scale=SCALE, note=NOTE,
    )  # fmt: skip


def test_ten_replicates(timing, log):
    """The same number of replicates on both sides, without extrapolation."""
    theirs = PeerBootstrap(log, peer_metric("auc"))
    work = f"{PEER_REPLICATES} replicates of `auc`, 1M rows, 100k users resampled"
    timing.compare(
        work, partial(ours, log, "auc", PEER_REPLICATES), "scikit-learn, replicate by replicate", theirs, within=1e-12
    )


def test_equal_error_rate(timing, log):
    work = f"{REPLICATES} replicates of `eer`, 1M rows, 100k users resampled"
    timing.measure(work, partial(ours, log, "eer", REPLICATES))


def test_many_rows(timing, rows):
    work = f"{REPLICATES} replicates of `auc`, {{rows}} rows, {{users}} users resampled"
    timing.measure(work, partial(ours, make_log(rows), "auc", REPLICATES))
