"""Silhouettes and scores of centres beside scikit-learn's, and the memory of a process that computes one."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn import metrics as sk

import fastmetrics as fm
from bench.race import at_least, at_most_mebibytes, at_most_seconds, count

ROWS, DIMS, CLUSTERS = 20_000, 64, 10
PEAK = """
import sys
import numpy as np
import fastmetrics as fm
from bench.memory import peak_of_this_process
from bench.test_silhouette import clustered
points, labels = clustered(dtype=sys.argv[1], clusters=int(sys.argv[2]))
fm.silhouette_score(points[:100], labels[:100] % 3)
before = peak_of_this_process()
fm.silhouette_score(points, labels)
print(peak_of_this_process() - before)
"""


def clustered(rows=ROWS, dims=DIMS, clusters=CLUSTERS, dtype=np.float64):
    """Points around centres, a few rows at a time: nothing is left in memory but them."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, clusters, rows)
    centres = rng.normal(size=(clusters, dims))
    points = np.empty((rows, dims), dtype)
    for start in range(0, rows, 1000):
        own = labels[start : start + 1000]
        points[start : start + 1000] = centres[own] + rng.normal(size=(own.shape[0], dims))
    return points, labels


@pytest.mark.parametrize(("dtype", "target", "within"), [("float32", 6, 1e-6), ("float64", 4, 1e-12)])
def test_score(race, dtype, target, within):
    points, labels = clustered(dtype=dtype)
    race.against(
        f"`silhouette_score`, {count(ROWS)} x {DIMS} {dtype}", lambda: fm.silhouette_score(points, labels),
        "scikit-learn", lambda: sk.silhouette_score(points, labels), within=within, target=at_least(target),
    )  # fmt: skip


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_other_metrics(race, metric):
    points, labels = clustered(rows=5000, dtype=np.float32)
    race.against(
        f"`silhouette_score`, {metric}, 5,000 x {DIMS} float32",
        lambda: fm.silhouette_score(points, labels, metric=metric), "scikit-learn",
        lambda: sk.silhouette_score(points, labels, metric=metric), within=1e-6, target=at_least(2), ours_rounds=3,
    )  # fmt: skip


def test_many_clusters(race):
    points, labels = clustered(rows=5000, clusters=1000)
    race.against(
        f"`silhouette_score`, 5,000 x {DIMS} float64, 1,000 clusters", lambda: fm.silhouette_score(points, labels),
        "scikit-learn", lambda: sk.silhouette_score(points, labels), within=1e-11, target=at_least(3),
    )  # fmt: skip


def test_distances(race):
    points, labels = clustered(rows=5000)
    matrix = sk.pairwise_distances(points)
    race.against(
        "`silhouette_score` of 5,000 x 5,000 distances",
        lambda: fm.silhouette_score(matrix, labels, metric="precomputed"), "scikit-learn",
        lambda: sk.silhouette_score(matrix, labels, metric="precomputed"), within=1e-12, target=at_least(1.5),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["silhouette_score", "calinski_harabasz_score", "davies_bouldin_score"])
def test_hundred_rows(race, name):
    points, labels = clustered(100, 4, 3)
    race.against(
        f"`{name}`, 100 x 4", lambda: getattr(fm, name)(points, labels), "scikit-learn",
        lambda: getattr(sk, name)(points, labels), within=1e-12, target=at_least(4),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["calinski_harabasz_score", "davies_bouldin_score"])
def test_centres(race, name):
    points, labels = clustered()
    race.against(
        f"`{name}`, {count(ROWS)} x {DIMS} float64", lambda: getattr(fm, name)(points, labels), "scikit-learn",
        lambda: getattr(sk, name)(points, labels), within=1e-12, target=at_least(1),
    )  # fmt: skip


@pytest.mark.parametrize(("dtype", "clusters"), [("float32", CLUSTERS), ("float64", CLUSTERS), ("float64", 250)])
def test_memory(race, dtype, clusters):
    def peak():
        command = [sys.executable, "-c", PEAK, dtype, str(clusters)]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / 2**20

    work = f"peak memory of `silhouette_score` beside its input, {count(ROWS)} x {DIMS} {dtype}, {clusters} clusters"
    race.alone(work, peak, target=at_most_mebibytes(200), reported=True, rounds=2)


def test_quarter_million_rows(race, rows):
    n = min(rows, 250_000)
    points, labels = clustered(n, 16, 20, np.float32)
    race.alone(
        f"`silhouette_score`, {count(n)} x 16 float32", lambda: fm.silhouette_score(points, labels),
        target=at_most_seconds(300), rounds=1,
    )  # fmt: skip
