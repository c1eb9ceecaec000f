"""Errors of predicted numbers against scikit-learn, and XAUC."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics

import fastmetrics as fm
from bench.workloads import SEED

ERRORS = [
    "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "r2_score",
    "explained_variance_score", "max_error", "mean_pinball_loss",
]  # fmt: skip


@pytest.fixture(scope="module")
def columns(rows):
    """Watch times, positive and skewed, and forecasts of them."""
    random = np.random.default_rng(SEED + 20)
    seconds = np.exp(random.standard_normal(rows) + 3.0)
    return seconds, seconds * np.exp(0.4 * random.standard_normal(rows))


@pytest.mark.parametrize("name", ERRORS)
def test_error(timing, columns, name):
    ours, theirs = partial(getattr(fm, name), *columns), partial(getattr(metrics, name), *columns)
    timing.compare(f"`{name}`, {{rows}} float64", ours, "scikit-learn", theirs, within=1e-12)


def test_xauc_alone(timing, columns):
    timing.measure("`xauc`, {rows} float64", lambda: fm.xauc(*columns))
