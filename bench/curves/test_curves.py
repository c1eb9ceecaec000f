"""Curves over all thresholds, and what one sort gives."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics

import fastmetrics as fm
from bench import workloads
from bench.race import at_least, at_most

WORK = "`{name}`, {{rows}} {dtype} scores, 5% positives"


@pytest.fixture(scope="module")
def float32(clicks):
    return clicks.labels, clicks.scores32


@pytest.fixture(scope="module")
def float64(clicks):
    return clicks.labels, clicks.probabilities


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve", "det_curve"])
def test_curve(race, request, name, dtype):
    columns = request.getfixturevalue(dtype)
    work = WORK.format(name=name, dtype=dtype)
    ours, theirs = partial(getattr(fm, name), *columns), partial(getattr(metrics, name), *columns)
    race.against(work, ours, "scikit-learn", theirs, within=1e-12, target=at_least(10))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_average_precision(race, request, dtype):
    columns = request.getfixturevalue(dtype)
    work = WORK.format(name="average_precision_score", dtype=dtype)
    theirs = partial(metrics.average_precision_score, *columns)
    ours = partial(fm.average_precision_score, *columns)
    race.against(work, ours, "scikit-learn", theirs, within=1e-12, target=at_least(40))


@pytest.mark.parametrize("what", ["three-digit float32", "sorted float32"])
def test_average_precision_of_hard_scores(race, clicks, what):
    columns = (clicks.labels, workloads.tied(clicks)) if what.startswith("three") else workloads.in_score_order(clicks)
    theirs = partial(metrics.average_precision_score, *columns)
    ours = partial(fm.average_precision_score, *columns)
    race.against(f"`average_precision_score`, {{rows}} {what} scores", ours, "scikit-learn", theirs, within=1e-12)


def four(columns):
    order = fm.ScoreOrder(*columns)
    return (
        order.roc_auc_score(),
        order.average_precision_score(),
        order.equal_error_rate().value,
        order.ks_statistic(),
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_four_at_once(race, request, dtype):
    """Beside AUC alone; each of the four is what its own function gives."""
    columns = request.getfixturevalue(dtype)
    alone = fm.roc_auc_score, fm.average_precision_score, fm.equal_error_rate, fm.ks_statistic
    expected = [np.atleast_1d(function(*columns))[0] for function in alone]
    assert list(four(columns)) == expected
    race.against(
        f"AUC, AP, EER and KS of one `ScoreOrder`, {{rows}} {dtype} scores", lambda: four(columns),
        "`roc_auc_score` alone", lambda: fm.roc_auc_score(*columns), within=None, target=at_most(1.3), rounds=9,
        ours_rounds=9,
    )  # fmt: skip
