"""The Calinski-Harabasz index (variance ratio criterion), in one pass over the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._kernels.clustering import dispersion as kernel
from fastmetrics.metrics.clustering.cluster_points import (
    compute_centers,
    distances_to_centers,
    group_by_cluster,
    read_scaled_points,
)

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, NumericMatrixLike

__all__ = ["calinski_harabasz_score"]

NARROW_DISTANCE_EXPONENT = 400  # sums of squares up to 2**800 may be multiplied by numbers of rows


@answers_unknown
def calinski_harabasz_score(X: NumericMatrixLike, labels: ArrayLike) -> float:
    """The variance ratio: the dispersion between clusters divided by the dispersion within clusters.

    (B / (k - 1)) / (W / (n - k)), with B = sum_c n_c |m_c - m|^2 over the k clusters and W the sum of squared distances
    of rows from their cluster's mean. T. Calinski, J. Harabasz, "A dendrite method for cluster analysis",
    Communications in Statistics 3, 1974.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Rows of finite numbers.
    labels : array-like of shape (n,)
        The cluster of each row: numbers, bools or strings. At least two clusters, and fewer clusters than rows.

    Returns
    -------
    float
        Not negative; greater is better.

    Raises
    ------
    ValueError
        Values that are not finite, different lengths, one cluster, or as many clusters as rows.
    TypeError
        X is sparse or not an array.

    Notes
    -----
    If W = 0 the result is 1, as in scikit-learn. Sums over rows are exact, so the result does not depend on their
    order.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.calinski_harabasz_score([[0, 0], [0, 1], [5, 5], [5, 6]], [0, 0, 1, 1])
    100.0
    """
    points, _ = read_scaled_points(X, labels, NARROW_DISTANCE_EXPONENT)
    clusters = group_by_cluster(points.codes, points.n_clusters)
    centers, overall = compute_centers(points.x, clusters)
    n_rows = points.x.shape[0]
    within = exact.exact_sum(distances_to_centers(points, centers, root=False))
    if within == 0:
        return 1.0
    squared_distances = np.empty(points.n_clusters)
    kernel.distances_to_centers(centers, np.zeros(points.n_clusters, np.int64), overall, False, squared_distances)
    between = exact.exact_sum(squared_distances * clusters.sizes)
    return float(between * (n_rows - points.n_clusters) / (within * (points.n_clusters - 1.0)))
