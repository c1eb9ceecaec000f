"""Partitions against partitions: scores over pairs of rows."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.distance import jaccard
from sklearn import metrics

import fastmetrics as fm
from bench.race import at_least
from bench.workloads import SEED

LABELS = 100
MANY_LABELS = 1_000_000
STRING_ROWS = 1_000_000
FEW_ROWS = 100
CALLS = 200
ROUNDED = 1e-12  # scikit-learn rounds what it divides; the pairs are compared exactly


def partitions(rows, n_labels, kind=np.int64):
    """Clusters that hold a class in half of the rows, and are any in the others."""
    random = np.random.default_rng(SEED + 40)
    classes = random.integers(0, n_labels, rows)
    clusters = np.where(random.random(rows) < 0.5, (classes * 7 + 3) % n_labels, random.integers(0, n_labels, rows))
    return classes.astype(kind), clusters.astype(kind)


def as_text(labels):
    return np.array([f"cluster_{number:03d}" for number in range(LABELS)])[labels]


@pytest.mark.parametrize(
    ("name", "kind", "target"),
    [
        ("adjusted_rand_score", "int64", 100),
        ("adjusted_rand_score", "int32", 100),
        ("pair_confusion_matrix", "int64", 100),
        ("fowlkes_mallows_score", "int64", 100),
        ("contingency_matrix", "int64", 50),
    ],
)
def test_partitions(race, rows, name, kind, target):
    columns = partitions(rows, LABELS, kind)
    peer = getattr(metrics.cluster, name, None) or getattr(metrics, name)
    race.against(
        f"`{name}`, {{rows}} {kind} labels, 100 x 100", partial(getattr(fm, name), *columns), "scikit-learn",
        partial(peer, *columns), within=0.0 if name.endswith("matrix") else ROUNDED, target=at_least(target),
        rounds=2,
    )  # fmt: skip


def test_string_labels(race):
    columns = [as_text(labels) for labels in partitions(STRING_ROWS, LABELS)]
    race.against(
        "`adjusted_rand_score`, 1M string labels, 100 x 100", partial(fm.adjusted_rand_score, *columns), "scikit-learn",
        partial(metrics.adjusted_rand_score, *columns), within=ROUNDED, target=at_least(10), rounds=2,
    )  # fmt: skip


@pytest.mark.parametrize(("what", "factor"), [("a million labels", 1), ("a million labels far apart", 2**40)])
def test_many_labels(race, rows, what, factor):
    columns = [labels * factor for labels in partitions(rows, MANY_LABELS)]
    race.against(
        f"`adjusted_rand_score`, {{rows}} rows, {what} in each column", partial(fm.adjusted_rand_score, *columns),
        "scikit-learn", partial(metrics.adjusted_rand_score, *columns), within=ROUNDED, target=at_least(5), rounds=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("adjusted_rand_score", 20),
        ("contingency_matrix", 5),
        ("fowlkes_mallows_score", 20),
        ("pair_confusion_matrix", 20),
        ("rand_score", 20),
    ],
)
def test_few_rows(race, name, target):
    columns = partitions(FEW_ROWS, 5)
    peer = getattr(metrics.cluster, name, None) or getattr(metrics, name)
    race.against(
        f"`{name}`, {FEW_ROWS} rows", partial(getattr(fm, name), *columns), "scikit-learn", partial(peer, *columns),
        within=0.0 if name.endswith("matrix") else ROUNDED, target=at_least(target), calls=CALLS,
    )  # fmt: skip


def test_distance_of_bits(race, rows):
    columns = [labels.astype(bool) for labels in partitions(rows, 2)]
    race.against(
        "`jaccard_distance`, {rows} bools", partial(fm.jaccard_distance, *columns), "SciPy", partial(jaccard, *columns),
        within=0.0, target=at_least(5),
    )  # fmt: skip
