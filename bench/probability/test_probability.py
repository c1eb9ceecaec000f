"""Log loss and Brier score against scikit-learn."""

from functools import partial

import pytest

import fastmetrics as fm
from bench import peers

LOG_LOSS = "`log_loss`, {rows} float64"


@pytest.fixture(scope="module")
def columns(clicks):
    return clicks.labels, clicks.probabilities


def test_log_loss_alone(timing, columns):
    timing.measure(LOG_LOSS, lambda: fm.log_loss(*columns))


@pytest.mark.parametrize("n_threads", [None, 1], ids=["default", "one_thread"])
def test_log_loss(timing, columns, n_threads):
    work = LOG_LOSS if n_threads is None else f"{LOG_LOSS}, one thread of ours"
    ours = partial(fm.log_loss, *columns, n_threads=n_threads)
    theirs = peers.scikit_learn_log_loss(*columns)
    timing.compare(work, ours, "scikit-learn", theirs, within=1e-12)


def test_brier_score_loss(timing, columns):
    theirs = peers.scikit_learn_brier(*columns)
    work = "`brier_score_loss`, {rows} float64"
    ours = partial(fm.brier_score_loss, *columns)
    timing.compare(work, ours, "scikit-learn", theirs, within=1e-12)
