"""Curves over all thresholds, and several metrics from one sort."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics

import fastmetrics as fm
from bench import workloads

WORK = "`{name}`, {{rows}} {dtype} scores, 5% positives"


@pytest.fixture(scope="module")
def float32(clicks):
    return clicks.labels, clicks.scores32


@pytest.fixture(scope="module")
def float64(clicks):
    return clicks.labels, clicks.probabilities


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve", "det_curve"])
def test_curve(timing, request, name, dtype):
    columns = request.getfixturevalue(dtype)
    work = WORK.format(name=name, dtype=dtype)
    ours, theirs = partial(getattr(fm, name), *columns), partial(getattr(metrics, name), *columns)
    timing.compare(work, ours, "scikit-learn", theirs, within=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_average_precision(timing, request, dtype):
    columns = request.getfixturevalue(dtype)
    work = WORK.format(name="average_precision_score", dtype=dtype)
    theirs = partial(metrics.average_precision_score, *columns)
    ours = partial(fm.average_precision_score, *columns)
    timing.compare(work, ours, "scikit-learn", theirs, within=1e-12)


@pytest.mark.parametrize("kind", ["three-digit float32", "sorted float32"])
def test_average_precision_of_hard_scores(timing, clicks, kind):
    columns = (clicks.labels, workloads.tied(clicks)) if kind.startswith("three") else workloads.in_score_order(clicks)
    theirs = partial(metrics.average_precision_score, *columns)
    ours = partial(fm.average_precision_score, *columns)
    timing.compare(f"`average_precision_score`, {{rows}} {kind} scores", ours, "scikit-learn", theirs, within=1e-12)


def four_metrics(columns):
    order = fm.ScoreOrder(*columns)
    return (
        order.roc_auc_score(),
        order.average_precision_score(),
        order.equal_error_rate(),
        order.ks_statistic(),
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_four_metrics(timing, request, dtype):
    """Four metrics of one ScoreOrder against AUC alone; each equals the result of its function."""
    columns = request.getfixturevalue(dtype)
    functions = fm.roc_auc_score, fm.average_precision_score, fm.equal_error_rate, fm.ks_statistic
    expected = [np.atleast_1d(function(*columns))[0] for function in functions]
    assert list(four_metrics(columns)) == expected
    timing.compare(
        f"AUC, AP, EER and KS of one `ScoreOrder`, {{rows}} {dtype} scores", lambda: four_metrics(columns),
        "`roc_auc_score` alone", lambda: fm.roc_auc_score(*columns), within=None, rounds=9,
        ours_rounds=9,
    )  # fmt: skip
