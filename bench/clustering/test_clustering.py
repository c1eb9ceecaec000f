"""Metrics of pairs of rows of two partitions, and the contingency matrix."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.distance import jaccard
from sklearn import metrics

import fastmetrics as fm
from bench.workloads import SEED

LABELS = 100
MANY_LABELS = 1_000_000
STRING_ROWS = 1_000_000
FEW_ROWS = 100
CALLS = 200
ROUNDED = 1e-12  # scikit-learn rounds before it divides; counts of pairs are compared exactly


def partitions(rows, n_labels, kind=np.int64):
    """Clusters that follow the class in half of the rows and are random in the others."""
    random = np.random.default_rng(SEED + 40)
    classes = random.integers(0, n_labels, rows)
    clusters = np.where(random.random(rows) < 0.5, (classes * 7 + 3) % n_labels, random.integers(0, n_labels, rows))
    return classes.astype(kind), clusters.astype(kind)


def as_text(labels):
    return np.array([f"cluster_{number:03d}" for number in range(LABELS)])[labels]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("adjusted_rand_score", "int64"),
        ("adjusted_rand_score", "int32"),
        ("pair_confusion_matrix", "int64"),
        ("fowlkes_mallows_score", "int64"),
        ("contingency_matrix", "int64"),
    ],
)
def test_partitions(timing, rows, name, kind):
    columns = partitions(rows, LABELS, kind)
    peer = getattr(metrics.cluster, name, None) or getattr(metrics, name)
    timing.compare(
        f"`{name}`, {{rows}} {kind} labels, 100 x 100", partial(getattr(fm, name), *columns), "scikit-learn",
        partial(peer, *columns), within=0.0 if name.endswith("matrix") else ROUNDED, rounds=2,
    )  # fmt: skip


def test_string_labels(timing):
    columns = [as_text(labels) for labels in partitions(STRING_ROWS, LABELS)]
    timing.compare(
        "`adjusted_rand_score`, 1M string labels, 100 x 100", partial(fm.adjusted_rand_score, *columns), "scikit-learn",
        partial(metrics.adjusted_rand_score, *columns), within=ROUNDED, rounds=2,
    )  # fmt: skip


@pytest.mark.parametrize(("labels", "factor"), [("a million labels", 1), ("a million labels far apart", 2**40)])
def test_many_labels(timing, rows, labels, factor):
    columns = [column * factor for column in partitions(rows, MANY_LABELS)]
    timing.compare(
        f"`adjusted_rand_score`, {{rows}} rows, {labels} in each column", partial(fm.adjusted_rand_score, *columns),
        "scikit-learn", partial(metrics.adjusted_rand_score, *columns), within=ROUNDED, rounds=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["adjusted_rand_score", "contingency_matrix", "fowlkes_mallows_score", "pair_confusion_matrix", "rand_score"],
)
def test_few_rows(timing, name):
    columns = partitions(FEW_ROWS, 5)
    peer = getattr(metrics.cluster, name, None) or getattr(metrics, name)
    timing.compare(
        f"`{name}`, {FEW_ROWS} rows", partial(getattr(fm, name), *columns), "scikit-learn", partial(peer, *columns),
        within=0.0 if name.endswith("matrix") else ROUNDED, calls=CALLS,
    )  # fmt: skip


def test_distance_of_bits(timing, rows):
    columns = [labels.astype(bool) for labels in partitions(rows, 2)]
    timing.compare(
        "`jaccard_distance`, {rows} bools", partial(fm.jaccard_distance, *columns), "SciPy", partial(jaccard, *columns),
        within=0.0,
    )  # fmt: skip
