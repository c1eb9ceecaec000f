"""Ranked lists: a long table with groups, and matrices."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics

import fastmetrics as fm
from bench import peers, workloads

LONG = "`ndcg_score` k=10, {rows} rows, lists of about 100 (int64 ids, shuffled), "
BLAS = 0.2  # seconds: OpenBLAS threads started by scikit-learn keep a core busy for at most so long
MATRIX = "`ndcg_score`, 100,000 x 100, relevance 0 to 4, "
TOGETHER = ["ndcg@10", "map@10", "mrr", "hr@10", "p@5", "recall@50"]
RELEVANCE = {"clicks": "clicks, 5 % positive", "grades": "relevance 0 to 4, half of it 0"}


@pytest.fixture(scope="module", params=RELEVANCE)
def judged(request, rows):
    log = workloads.judged_lists(rows)
    return RELEVANCE[request.param], getattr(log, request.param), log.scores, log.lists


@pytest.mark.parametrize("name", peers.POLARS_NDCG)
def test_long_table(timing, judged, name):
    what, *columns = judged
    theirs = peers.POLARS_NDCG[name](*columns)
    timing.compare(LONG + what, lambda: fm.ndcg_score(*columns, k=10), name, theirs, within=1e-9)


def test_beside_gauc(timing, judged):
    """On the same rows; for GAUC a grade other than zero is positive."""
    what, labels, scores, lists = judged
    gauc = partial(fm.gauc_score, (labels > 0).astype(np.int64), scores, lists)
    ours = partial(fm.ndcg_score, labels, scores, lists, k=10)
    timing.compare(LONG + what, ours, "`gauc_score`", gauc, within=None, rounds=10)


def test_six_metrics_together(timing, judged):
    what, labels, scores, lists = judged
    log = {"label": labels, "score": scores, "list": lists}
    alone, together = (partial(evaluate, log, wanted) for wanted in (TOGETHER[:1], TOGETHER))
    work = f"`evaluate`, {', '.join(TOGETHER)} together, {what}"
    timing.compare(work, together, "ndcg@10 alone", alone, within=0.0, rounds=10)


def evaluate(log, wanted):
    return fm.evaluate(log, wanted, label="label", score="score", group="list")["ndcg@10"]


@pytest.fixture(scope="module")
def matrices():
    random = np.random.default_rng(workloads.SEED)
    shape = (100_000, 100)
    return random.integers(0, 5, shape), random.random(shape), random.integers(0, 50, shape).astype(np.float64)


def test_matrix_without_ties(timing, matrices):
    y_true, y_score, _ = matrices
    ours, theirs = (partial(own.ndcg_score, y_true, y_score, ignore_ties=True) for own in (fm, metrics))
    timing.compare(
        f"{MATRIX}`ignore_ties=True`", ours, "scikit-learn", theirs, within=1e-12, rounds=6,
        settle=BLAS,
    )  # fmt: skip


@pytest.mark.parametrize("scores", ["continuous", "50 different scores"])
def test_matrix_with_ties(timing, matrices, scores):
    y_true, continuous, tied = matrices
    y_score = continuous if scores == "continuous" else tied
    ours, theirs = (partial(own.ndcg_score, y_true, y_score) for own in (fm, metrics))
    work = f"{MATRIX}ties averaged, {scores}"
    timing.compare(work, ours, "scikit-learn", theirs, within=1e-12, rounds=2)
