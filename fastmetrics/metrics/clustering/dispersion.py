"""How tight clusters are beside how far apart: scores of centres, in one pass over the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._kernels import dispersions as kernel
from fastmetrics.metrics.clustering.mean_distances import Clusters, by_cluster
from fastmetrics.metrics.clustering.points import FARTHEST, Points, bring_into_range, open_points

__all__ = ["calinski_harabasz_score", "davies_bouldin_score"]

NOTHING = 1e-8  # scikit-learn takes so small a distance for none
MOST_SHIFT = 1000  # such a part of 2**FARTHEST is more than any distance
NARROW = 400  # sums of so large squares may be multiplied by numbers of rows


def calinski_harabasz_score(X: Any, labels: Any) -> float:
    """The variance ratio: how far centres spread beside how far rows spread around them.

    (B / (k - 1)) / (W / (n - k)), with B = sum_c n_c |m_c - m|^2 over the k clusters and W the sum of squared distances
    of rows from their cluster's mean. T. Calinski, J. Harabasz, "A dendrite method for cluster analysis",
    Communications in Statistics 3, 1974.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Rows of finite numbers.
    labels : array-like of shape (n,)
        The cluster of each row: numbers, bools, text. At least two clusters, and fewer than rows.

    Returns
    -------
    float
        Not negative; greater is better.

    Raises
    ------
    ValueError
        Numbers that are not finite, lengths that differ, one cluster or as many as rows.
    TypeError
        X is sparse, or no array.

    Notes
    -----
    Where W = 0 the result is 1, as in scikit-learn. Sums over rows are exact: their order does not change a bit.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.calinski_harabasz_score([[0, 0], [0, 1], [5, 5], [5, 6]], [0, 0, 1, 1])
    100.0
    """
    points, _ = open_in_range(X, labels, NARROW)
    clusters = by_cluster(points.codes, points.n_clusters)
    centres, middle = means_of(points.x, clusters)
    n_rows = points.x.shape[0]
    within = exact.exact_sum(distances_from(points, centres, root=False))
    if within == 0:
        return 1.0
    apart = np.empty(points.n_clusters)
    kernel.spreads(centres, np.zeros(points.n_clusters, np.int64), middle, False, apart)
    between = exact.exact_sum(apart * clusters.sizes)
    return float(between * (n_rows - points.n_clusters) / (within * (points.n_clusters - 1.0)))


def davies_bouldin_score(X: Any, labels: Any) -> float:
    """The mean likeness of each cluster to the one most like it: how wide both are beside how far apart.

    (1/k) sum_i max_{j != i} (s_i + s_j) / |m_i - m_j|, with s_c the mean distance of a cluster's rows from its mean
    m_c. D. Davies, D. Bouldin, "A cluster separation measure", IEEE Transactions on Pattern Analysis and Machine
    Intelligence 1, 1979.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Rows of finite numbers.
    labels : array-like of shape (n,)
        The cluster of each row: numbers, bools, text. At least two clusters, and fewer than rows.

    Returns
    -------
    float
        Not negative; smaller is better.

    Raises
    ------
    ValueError
        Numbers that are not finite, lengths that differ, one cluster or as many as rows.
    TypeError
        X is sparse, or no array.

    Notes
    -----
    Pairs of clusters with the same mean do not count. Where all clusters are points, or all means are in one place (to
    1e-8), the result is 0, as in scikit-learn. Sums over rows are exact: their order does not change a bit.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.davies_bouldin_score([[0, 1], [1, 1], [3, 4]], [0, 0, 1])
    0.1280...
    """
    points, shift = open_in_range(X, labels, FARTHEST)
    clusters = by_cluster(points.codes, points.n_clusters)
    centres, _ = means_of(points.x, clusters)
    around = distances_from(points, centres, root=True)
    spread = means_of(around[:, None], clusters)[0].reshape(-1)
    ratios = np.zeros(points.n_clusters)
    farthest = kernel.worst_ratios(centres, spread, ratios)
    nothing = math.ldexp(NOTHING, min(shift, MOST_SHIFT))
    if farthest <= nothing or spread.max() <= nothing:
        return 0.0
    return exact.exact_sum(ratios) / points.n_clusters


def open_in_range(X: Any, labels: Any, farthest: int) -> tuple[Points, int]:
    """Coordinates and labels, in units that are a power of two in which squares neither overflow nor vanish."""
    x, low, high, codes, n_clusters = open_points(X, labels)
    x, low, high, shift = bring_into_range(x, low, high, farthest)
    return Points(x, low, high, codes, n_clusters), shift


def means_of(x: np.ndarray, clusters: Clusters) -> tuple[np.ndarray, np.ndarray]:
    """The mean row of each cluster, and that of all rows (a matrix of one row)."""
    out = np.empty((clusters.sizes.shape[0], x.shape[1]))
    middle = np.empty((1, x.shape[1]))
    kernel.centres(x, clusters.order, clusters.ends, out, middle[0], exact.new_states(x.shape[1]))
    return out, middle


def distances_from(points: Points, centres: np.ndarray, root: bool) -> np.ndarray:
    """Each row's distance from its cluster's centre, squared or not."""
    out = np.empty(points.x.shape[0])
    kernel.spreads(points.x, points.codes, centres, root, out)
    return out
