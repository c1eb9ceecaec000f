"""The Davies-Bouldin index, in one pass over the rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._kernels.clustering import dispersion as kernel
from fastmetrics.metrics.clustering.cluster_points import (
    MAX_DISTANCE_EXPONENT,
    compute_centers,
    distances_to_centers,
    group_by_cluster,
    read_scaled_points,
)

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, NumericMatrixLike

__all__ = ["davies_bouldin_score"]

ZERO_DISTANCE = 1e-8  # smaller distances are 0, as in scikit-learn
MAX_SHIFT = 1000  # 2**1000 * ZERO_DISTANCE is more than any scaled distance


@answers_unknown
def davies_bouldin_score(X: NumericMatrixLike, labels: ArrayLike) -> float:
    """The mean similarity of each cluster to its most similar cluster: the sum of their widths over their distance.

    (1/k) sum_i max_{j != i} (s_i + s_j) / |m_i - m_j|, with s_c the mean distance of a cluster's rows from its mean
    m_c. D. Davies, D. Bouldin, "A cluster separation measure", IEEE Transactions on Pattern Analysis and Machine
    Intelligence 1, 1979.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Rows of finite numbers.
    labels : array-like of shape (n,)
        The cluster of each row: numbers, bools or strings. At least two clusters, and fewer clusters than rows.

    Returns
    -------
    float
        Not negative; smaller is better.

    Raises
    ------
    ValueError
        Values that are not finite, different lengths, one cluster, or as many clusters as rows.
    TypeError
        X is sparse or not an array.

    Notes
    -----
    Pairs of clusters with the same mean are left out. If all widths, or all distances of means, are at most 1e-8,
    the result is 0, as in scikit-learn. Sums over rows are exact, so the result does not depend on their order.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.davies_bouldin_score([[0, 1], [1, 1], [3, 4]], [0, 0, 1])
    0.1280...
    """
    points, shift = read_scaled_points(X, labels, MAX_DISTANCE_EXPONENT)
    clusters = group_by_cluster(points.codes, points.n_clusters)
    centers, _ = compute_centers(points.x, clusters)
    distances = distances_to_centers(points, centers, root=True)
    widths = compute_centers(distances[:, None], clusters)[0].reshape(-1)
    ratios = np.zeros(points.n_clusters)
    farthest = kernel.largest_ratios(centers, widths, ratios)
    zero = math.ldexp(ZERO_DISTANCE, min(shift, MAX_SHIFT))
    if farthest <= zero or widths.max() <= zero:
        return 0.0
    return exact.exact_sum(ratios) / points.n_clusters
