"""AUC of all rows."""

from functools import partial

import pytest

import fastmetrics as fm
from bench import peers, workloads

FLOAT32 = "`roc_auc_score`, {rows} float32 scores, 5% positives"
FLOAT64 = "`roc_auc_score`, {rows} float64 scores, 5% positives"


@pytest.fixture(scope="module")
def float32(clicks):
    return clicks.labels, clicks.scores32


@pytest.fixture(scope="module")
def float64(clicks):
    return clicks.labels, clicks.probabilities


BESIDE = pytest.mark.parametrize(
    ("name", "peer", "rounds"),
    [("scikit-learn", peers.scikit_learn_auc, 3), ("polars `rank`", peers.polars_auc, 5)],
    ids=["scikit-learn", "polars"],
)


def test_float32_alone(timing, float32):
    timing.measure(FLOAT32, lambda: fm.roc_auc_score(*float32))


@BESIDE
def test_float32(timing, float32, name, peer, rounds):
    theirs = peer(*float32)
    ours = partial(fm.roc_auc_score, *float32)
    timing.compare(FLOAT32, ours, name, theirs, within=1e-12, rounds=rounds)


@BESIDE
def test_float32_with_one_thread(timing, float32, name, peer, rounds):
    theirs = peer(*float32)
    work = f"{FLOAT32}, one thread of ours"
    ours = partial(fm.roc_auc_score, *float32, n_threads=1)
    timing.compare(work, ours, name, theirs, within=1e-12, rounds=rounds)


def test_float64_alone(timing, float64):
    timing.measure(FLOAT64, lambda: fm.roc_auc_score(*float64))


@BESIDE
def test_float64(timing, float64, name, peer, rounds):
    theirs = peer(*float64)
    ours = partial(fm.roc_auc_score, *float64)
    timing.compare(FLOAT64, ours, name, theirs, within=1e-12, rounds=rounds)


HARD_SCORES = {
    "three-digit float32 scores (heavy ties)": lambda data: (data.labels, workloads.tied(data)),
    "sorted float32 scores": workloads.in_score_order,
    "float64 scores, 99% of them within 1e-9": lambda data: (data.labels, workloads.clustered(data)),
}


@pytest.mark.parametrize("kind", HARD_SCORES, ids=["ties", "sorted", "clustered"])
def test_hard_scores(timing, clicks, kind):
    columns = HARD_SCORES[kind](clicks)
    work = f"`roc_auc_score`, {{rows}} {kind}"
    theirs = peers.scikit_learn_auc(*columns)
    timing.compare(work, lambda: fm.roc_auc_score(*columns), "scikit-learn", theirs, within=1e-12)
