"""Partitions against partitions by what they tell: rows counted, sums over cells, what chance makes of the sizes."""

import math
import time
from functools import partial

import numpy as np
import pytest
from sklearn import metrics

import fastmetrics as fm
from bench.race import at_least
from bench.workloads import SEED

FEW_ROWS = 100
ROWS = 1_000_000
PARTS = 1000
CALLS = 200


def partitions(rows, parts, random):
    """Clusters that follow the classes in 30 % of rows."""
    classes = random.integers(0, parts, rows)
    return classes, np.where(random.random(rows) < 0.3, classes, random.integers(0, parts, rows))


@pytest.mark.parametrize("name", ["mutual_info_score", "v_measure_score"])
def test_information(race, rows, name):
    columns = partitions(rows, 100, np.random.default_rng(SEED + 60))
    race.against(
        f"`{name}`, {{rows}} rows, 100 classes and 100 clusters", partial(getattr(fm, name), *columns), "scikit-learn",
        partial(getattr(metrics, name), *columns), within=1e-12, target=at_least(100),
    )  # fmt: skip


def timed(function):
    """Seconds of a call, and what it answers."""
    start = time.perf_counter()
    answer = function()
    return time.perf_counter() - start, answer


def test_adjusted(race):
    """scikit-learn's takes a minute: it is called once, and compared with ours by what that call says.

    Its logarithms of factorials of a million are rounded: it is off by some 1e-10, as a test shows by sixty digits.
    """
    columns = partitions(ROWS, PARTS, np.random.default_rng(SEED + 61))
    ours = partial(fm.adjusted_mutual_info_score, *columns)
    seconds, theirs = timed(partial(metrics.adjusted_mutual_info_score, *columns))
    assert math.isclose(ours(), theirs, rel_tol=1e-9)
    race.against(
        "`adjusted_mutual_info_score`, 1M rows, 1,000 classes and 1,000 clusters",
        lambda: timed(ours)[0], "scikit-learn", lambda: seconds, within=None, target=at_least(10), rounds=1,
        reported=True,
    )  # fmt: skip


def test_adjusted_without_equal_sizes(race):
    """The worst case: every pair of a class and a cluster has sizes of its own."""
    random = np.random.default_rng(SEED + 62)
    ranks = np.repeat(np.arange(300), np.arange(100, 400))
    clusters = ranks.copy()
    moved = np.flatnonzero(random.random(len(ranks)) < 0.7)
    clusters[moved] = random.permutation(ranks[moved])
    columns = ranks, clusters
    race.against(
        "`adjusted_mutual_info_score`, 75k rows, 300 classes and 300 clusters of different sizes",
        partial(fm.adjusted_mutual_info_score, *columns), "scikit-learn",
        partial(metrics.adjusted_mutual_info_score, *columns), within=1e-9, target=at_least(10),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["mutual_info_score", "normalized_mutual_info_score", "adjusted_mutual_info_score"])
def test_few_rows(race, name):
    columns = partitions(FEW_ROWS, 5, np.random.default_rng(SEED + 63))
    race.against(
        f"`{name}`, 100 rows, 5 classes", partial(getattr(fm, name), *columns), "scikit-learn",
        partial(getattr(metrics, name), *columns), within=1e-11, target=at_least(10), calls=CALLS,
    )  # fmt: skip
