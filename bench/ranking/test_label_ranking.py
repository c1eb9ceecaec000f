"""Label ranking measures."""

from functools import partial

import pytest
from sklearn import metrics

import fastmetrics as fm
from bench import workloads


@pytest.fixture(scope="module")
def label_sets():
    return workloads.label_sets(100_000, 100)


@pytest.mark.parametrize("name", ["coverage_error", "label_ranking_average_precision_score", "label_ranking_loss"])
def test_beside_scikit_learn(timing, label_sets, name):
    timing.compare(
        f"`{name}`, 100,000 rows of 100 labels", partial(getattr(fm, name), *label_sets), "scikit-learn",
        partial(getattr(metrics, name), *label_sets), within=1e-12, rounds=3,
    )  # fmt: skip
