"""Values against values."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics

import fastmetrics as fm
from bench.race import at_least
from bench.workloads import SEED

TARGETS = {"mean_squared_error": 4, "mean_absolute_error": 6}
OTHERS = ["mean_absolute_percentage_error", "r2_score", "explained_variance_score", "max_error", "mean_pinball_loss"]


@pytest.fixture(scope="module")
def columns(rows):
    """Watch times, positive and skewed, and forecasts of them."""
    random = np.random.default_rng(SEED + 20)
    seconds = np.exp(random.standard_normal(rows) + 3.0)
    return seconds, seconds * np.exp(0.4 * random.standard_normal(rows))


@pytest.mark.parametrize("name", [*TARGETS, *OTHERS])
def test_error(race, columns, name):
    ours, theirs = partial(getattr(fm, name), *columns), partial(getattr(metrics, name), *columns)
    target = at_least(TARGETS[name]) if name in TARGETS else None
    race.against(f"`{name}`, {{rows}} float64", ours, "scikit-learn", theirs, within=1e-12, target=target)


def test_xauc_alone(race, columns):
    race.alone("`xauc`, {rows} float64", lambda: fm.xauc(*columns))
