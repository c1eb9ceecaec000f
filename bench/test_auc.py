"""AUC of all rows."""

from functools import partial

import pytest

import fastmetrics as fm
from bench import peers, workloads
from bench.race import at_least

FLOAT32 = "`roc_auc_score`, {rows} float32 scores, 5% positives"
FLOAT64 = "`roc_auc_score`, {rows} float64 scores, 5% positives"


@pytest.fixture(scope="module")
def float32(clicks):
    return clicks.labels, clicks.scores32


@pytest.fixture(scope="module")
def float64(clicks):
    return clicks.labels, clicks.probabilities


def test_float32_alone(race, float32):
    race.alone(FLOAT32, lambda: fm.roc_auc_score(*float32))


@pytest.mark.parametrize(
    ("name", "peer", "target", "rounds"),
    [
        ("scikit-learn", peers.scikit_learn_auc, at_least(70), 3),
        ("polars `rank`", peers.polars_auc, at_least(15), 5),
    ],
    ids=["scikit-learn", "polars"],
)
def test_float32(race, float32, name, peer, target, rounds):
    theirs = peer(*float32)
    race.against(FLOAT32, lambda: fm.roc_auc_score(*float32), name, theirs, within=1e-12, target=target, rounds=rounds)


@pytest.mark.parametrize(
    ("name", "peer", "target", "rounds"),
    [
        ("scikit-learn", peers.scikit_learn_auc, at_least(40), 3),
        ("polars `rank`", peers.polars_auc, None, 5),
    ],
    ids=["scikit-learn", "polars"],
)
def test_float32_with_one_thread(race, float32, name, peer, target, rounds):
    theirs = peer(*float32)
    work = f"{FLOAT32}, one thread of ours"
    ours = partial(fm.roc_auc_score, *float32, n_threads=1)
    race.against(work, ours, name, theirs, within=1e-12, target=target, rounds=rounds)


def test_float64_alone(race, float64):
    race.alone(FLOAT64, lambda: fm.roc_auc_score(*float64))


@pytest.mark.parametrize(
    ("name", "peer", "target", "rounds"),
    [
        ("scikit-learn", peers.scikit_learn_auc, at_least(45), 3),
        ("polars `rank`", peers.polars_auc, None, 5),
    ],
    ids=["scikit-learn", "polars"],
)
def test_float64(race, float64, name, peer, target, rounds):
    theirs = peer(*float64)
    race.against(FLOAT64, lambda: fm.roc_auc_score(*float64), name, theirs, within=1e-12, target=target, rounds=rounds)


HARD = {
    "three-digit float32 scores (heavy ties)": lambda data: (data.labels, workloads.tied(data)),
    "sorted float32 scores": workloads.in_score_order,
    "float64 scores, 99% of them within 1e-9": lambda data: (data.labels, workloads.clustered(data)),
}


@pytest.mark.parametrize("what", HARD, ids=["ties", "sorted", "clustered"])
def test_hard_scores(race, clicks, what):
    columns = HARD[what](clicks)
    work = f"`roc_auc_score`, {{rows}} {what}"
    theirs = peers.scikit_learn_auc(*columns)
    race.against(work, lambda: fm.roc_auc_score(*columns), "scikit-learn", theirs, within=1e-12)
