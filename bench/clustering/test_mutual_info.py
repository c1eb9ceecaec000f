"""Mutual information of partitions: counting rows, sums over cells, and the expectation for given sizes."""

import math
import time
from functools import partial

import numpy as np
import pytest
from sklearn import metrics

import fastmetrics as fm
from bench.workloads import SEED

FEW_ROWS = 100
ROWS = 1_000_000
LABELS = 1000
CALLS = 200


def partitions(rows, n_labels, random):
    """Clusters that follow the classes in 30 % of rows."""
    classes = random.integers(0, n_labels, rows)
    return classes, np.where(random.random(rows) < 0.3, classes, random.integers(0, n_labels, rows))


@pytest.mark.parametrize("name", ["mutual_info_score", "v_measure_score"])
def test_information(timing, rows, name):
    columns = partitions(rows, 100, np.random.default_rng(SEED + 60))
    timing.compare(
        f"`{name}`, {{rows}} rows, 100 classes and 100 clusters", partial(getattr(fm, name), *columns), "scikit-learn",
        partial(getattr(metrics, name), *columns), within=1e-12,
    )  # fmt: skip


def timed(function):
    """The seconds of a call, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def test_adjusted(timing):
    """scikit-learn takes a minute, so it is called only once, and its time is compared with ours.

    It rounds logarithms of factorials of a million and has an error of about 1e-10; a test with sixty digits shows it.
    """
    columns = partitions(ROWS, LABELS, np.random.default_rng(SEED + 61))
    ours = partial(fm.adjusted_mutual_info_score, *columns)
    seconds, theirs = timed(partial(metrics.adjusted_mutual_info_score, *columns))
    assert math.isclose(ours(), theirs, rel_tol=1e-9)
    timing.compare(
        "`adjusted_mutual_info_score`, 1M rows, 1,000 classes and 1,000 clusters",
        lambda: timed(ours)[0], "scikit-learn", lambda: seconds, within=None, rounds=1,
        reported=True,
    )  # fmt: skip


def test_adjusted_without_equal_sizes(timing):
    """The worst case: every pair of a class and a cluster has different sizes."""
    random = np.random.default_rng(SEED + 62)
    ranks = np.repeat(np.arange(300), np.arange(100, 400))
    clusters = ranks.copy()
    moved = np.flatnonzero(random.random(len(ranks)) < 0.7)
    clusters[moved] = random.permutation(ranks[moved])
    columns = ranks, clusters
    timing.compare(
        "`adjusted_mutual_info_score`, 75k rows, 300 classes and 300 clusters of different sizes",
        partial(fm.adjusted_mutual_info_score, *columns), "scikit-learn",
        partial(metrics.adjusted_mutual_info_score, *columns), within=1e-9,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["mutual_info_score", "normalized_mutual_info_score", "adjusted_mutual_info_score"])
def test_few_rows(timing, name):
    columns = partitions(FEW_ROWS, 5, np.random.default_rng(SEED + 63))
    timing.compare(
        f"`{name}`, 100 rows, 5 classes", partial(getattr(fm, name), *columns), "scikit-learn",
        partial(getattr(metrics, name), *columns), within=1e-11, calls=CALLS,
    )  # fmt: skip
