"""Cuts of the score range: they do not change a result, and crowded scores are cut finely enough."""

from __future__ import annotations

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.exchange import range_exchange
from fastmetrics._kernels.sweep import mann_whitney

ROWS = 1_200_000


def exact_auc(y_true: np.ndarray, y_score: np.ndarray) -> float:
    """The AUC from integer counts of pairs, with sorted negatives."""
    negatives, positives = np.sort(y_score[y_true == 0]), y_score[y_true == 1]
    wins = np.searchsorted(negatives, positives, "left").sum() + np.searchsorted(negatives, positives, "right").sum()
    return int(wins) / (2 * len(negatives) * len(positives))


@pytest.fixture(scope="module")
def crowded():
    """99% of the scores lie within 1e-9: cells of equal width put nearly all of them into one bucket."""
    random = np.random.default_rng(8)
    y_true = (random.random(ROWS) < 0.05).astype(np.int8)
    near = 0.5 + random.random(ROWS) * 1e-9
    return y_true, np.where(random.random(ROWS) < 0.99, near, random.random(ROWS) * 2 - 1)


def test_crowded_scores_are_cut_at_quantiles(crowded):
    y_true, y_score = crowded
    splitter = range_exchange.split_scores(y_score[::64], ROWS)
    assert len(splitter.cuts) == splitter.n_buckets - 1 == ROWS // range_exchange.ROWS_PER_BUCKET - 1
    expected = exact_auc(y_true, y_score)
    for n_threads in (1, 3):
        assert fm.roc_auc_score(y_true, y_score, n_threads=n_threads) == expected
    order = np.random.default_rng(9).permutation(ROWS)
    assert fm.roc_auc_score(y_true[order], y_score[order]) == expected
    assert fm.ks_statistic(y_true[order], y_score[order]) == fm.ks_statistic(y_true, y_score)


def test_a_tie_is_not_crowded():
    """A tie cannot be cut, however many rows it has."""
    y_score = np.where(np.arange(ROWS) % 10 == 0, np.linspace(0, 1, ROWS), 0.25)
    assert len(range_exchange.split_scores(y_score[::64], ROWS).cuts) == 0


def test_other_splits_give_the_same_result(crowded, monkeypatch):
    y_true, y_score = crowded
    expected = fm.roc_auc_score(y_true, y_score)
    monkeypatch.setattr(range_exchange, "ROWS_PER_BUCKET", 1_000)
    assert fm.roc_auc_score(y_true, y_score) == expected
    monkeypatch.setattr(range_exchange, "CROWDED", 10**9)
    assert fm.roc_auc_score(y_true, y_score) == expected


def test_slices_share_the_available_buckets(monkeypatch):
    """Numbers of buckets have 16 bits, so many large slices get fewer buckets each. The results are the same."""
    random = np.random.default_rng(10)
    rows, n_slices = 60_000, 40
    log = {"y": (random.random(rows) < 0.3).astype(np.int8), "s": random.random(rows)}
    log["by"] = random.integers(0, n_slices, rows)
    expected = fm.evaluate(log, ["auc", "ks"], label="y", score="s", by="by")
    monkeypatch.setattr(range_exchange, "ROWS_PER_BUCKET", 1)
    splitter = range_exchange.split_slices(log["s"], log["by"].astype(np.uint16), 10**10, n_slices)
    assert n_slices < splitter.n_buckets <= mann_whitney.MOST_BUCKETS
    assert fm.evaluate(log, ["auc", "ks"], label="y", score="s", by="by") == expected
    with pytest.raises(OverflowError, match="16-bit"):
        range_exchange.splitter_of_cuts([np.arange(1, 40_000, dtype=np.uint64)])
