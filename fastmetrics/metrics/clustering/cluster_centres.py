"""Centres of clusters and distances from them: the statistic of the Calinski-Harabasz and Davies-Bouldin indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._kernels.clustering import dispersion as kernel
from fastmetrics.metrics.clustering.cluster_points import ClusteredPoints, RowsByCluster, read_points, scale_into_range


def read_scaled_points(X: Any, labels: Any, farthest: int) -> tuple[ClusteredPoints, int]:
    """Points and labels, scaled by 2**shift so that squares neither overflow nor underflow; and the shift."""
    x, low, high, codes, n_clusters = read_points(X, labels)
    x, low, high, shift = scale_into_range(x, low, high, farthest)
    return ClusteredPoints(x, low, high, codes, n_clusters), shift


def compute_centres(x: np.ndarray, clusters: RowsByCluster) -> tuple[np.ndarray, np.ndarray]:
    """The mean row of each cluster, and the mean of all rows (a matrix of one row)."""
    out = np.empty((clusters.sizes.shape[0], x.shape[1]))
    overall = np.empty((1, x.shape[1]))
    kernel.compute_centres(x, clusters.order, clusters.ends, out, overall[0], exact.new_states(x.shape[1]))
    return out, overall


def distances_to_centres(points: ClusteredPoints, centres: np.ndarray, root: bool) -> np.ndarray:
    """The distance of each row from the centre of its cluster; squared if not `root`."""
    out = np.empty(points.x.shape[0])
    kernel.distances_to_centres(points.x, points.codes, centres, root, out)
    return out
