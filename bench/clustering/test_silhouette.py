"""Silhouettes, Calinski-Harabasz and Davies-Bouldin compared with scikit-learn, and the peak memory of a process."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn import metrics as sk

import fastmetrics as fm
from bench.timing import format_count

ROWS, DIMS, CLUSTERS = 20_000, 64, 10
PEAK = """
import sys
import numpy as np
import fastmetrics as fm
from bench.memory import peak_of_this_process
from bench.clustering.test_silhouette import clustered
points, labels = clustered(dtype=sys.argv[1], clusters=int(sys.argv[2]))
fm.silhouette_score(points[:100], labels[:100] % 3)
before = peak_of_this_process()
fm.silhouette_score(points, labels)
print(peak_of_this_process() - before)
"""


def clustered(rows=ROWS, dims=DIMS, clusters=CLUSTERS, dtype=np.float64):
    """Points around centers, made a few rows at a time so that peak memory is only that of the points."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, clusters, rows)
    centers = rng.normal(size=(clusters, dims))
    points = np.empty((rows, dims), dtype)
    for start in range(0, rows, 1000):
        clusters_of_rows = labels[start : start + 1000]
        noise = rng.normal(size=(clusters_of_rows.shape[0], dims))
        points[start : start + 1000] = centers[clusters_of_rows] + noise
    return points, labels


@pytest.mark.parametrize(("dtype", "within"), [("float32", 1e-6), ("float64", 1e-12)])
def test_score(timing, dtype, within):
    points, labels = clustered(dtype=dtype)
    timing.compare(
        f"`silhouette_score`, {format_count(ROWS)} x {DIMS} {dtype}", lambda: fm.silhouette_score(points, labels),
        "scikit-learn", lambda: sk.silhouette_score(points, labels), within=within,
    )  # fmt: skip


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_other_metrics(timing, metric):
    points, labels = clustered(rows=5000, dtype=np.float32)
    timing.compare(
        f"`silhouette_score`, {metric}, 5,000 x {DIMS} float32",
        lambda: fm.silhouette_score(points, labels, metric=metric), "scikit-learn",
        lambda: sk.silhouette_score(points, labels, metric=metric), within=1e-6, ours_rounds=3,
    )  # fmt: skip


def test_many_clusters(timing):
    points, labels = clustered(rows=5000, clusters=1000)
    timing.compare(
        f"`silhouette_score`, 5,000 x {DIMS} float64, 1,000 clusters", lambda: fm.silhouette_score(points, labels),
        "scikit-learn", lambda: sk.silhouette_score(points, labels), within=1e-11,
    )  # fmt: skip


def test_distances(timing):
    points, labels = clustered(rows=5000)
    matrix = sk.pairwise_distances(points)
    timing.compare(
        "`silhouette_score` of 5,000 x 5,000 distances",
        lambda: fm.silhouette_score(matrix, labels, metric="precomputed"), "scikit-learn",
        lambda: sk.silhouette_score(matrix, labels, metric="precomputed"), within=1e-12,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["silhouette_score", "calinski_harabasz_score", "davies_bouldin_score"])
def test_hundred_rows(timing, name):
    points, labels = clustered(100, 4, 3)
    timing.compare(
        f"`{name}`, 100 x 4", lambda: getattr(fm, name)(points, labels), "scikit-learn",
        lambda: getattr(sk, name)(points, labels), within=1e-12,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["calinski_harabasz_score", "davies_bouldin_score"])
def test_centers(timing, name):
    points, labels = clustered()
    timing.compare(
        f"`{name}`, {format_count(ROWS)} x {DIMS} float64", lambda: getattr(fm, name)(points, labels), "scikit-learn",
        lambda: getattr(sk, name)(points, labels), within=1e-12,
    )  # fmt: skip


@pytest.mark.parametrize(("dtype", "clusters"), [("float32", CLUSTERS), ("float64", CLUSTERS), ("float64", 250)])
def test_memory(timing, dtype, clusters):
    def peak():
        command = [sys.executable, "-c", PEAK, dtype, str(clusters)]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / 2**20

    shape = f"{format_count(ROWS)} x {DIMS} {dtype}, {clusters} clusters"
    work = f"peak memory of `silhouette_score` beside its input, {shape}"
    timing.measure(work, peak, unit="MiB", reported=True, rounds=2)


def test_quarter_million_rows(timing, rows):
    n = min(rows, 250_000)
    points, labels = clustered(n, 16, 20, np.float32)
    timing.measure(
        f"`silhouette_score`, {format_count(n)} x 16 float32", lambda: fm.silhouette_score(points, labels),
        rounds=1,
    )  # fmt: skip
