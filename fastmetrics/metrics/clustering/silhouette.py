"""Silhouettes: the mean distance of each row to its own cluster, compared with the nearest other cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.words import ask_meant
from fastmetrics._core.columns import class_labels, validation
from fastmetrics._core.option_numbers import integer_value
from fastmetrics._core.parallel import count_threads
from fastmetrics._kernels.clustering import distances as kernel
from fastmetrics.metrics.clustering import cluster_points, distance_blocks, mean_distances
from fastmetrics.metrics.clustering.cluster_points import RowsByCluster
from fastmetrics.metrics.clustering.distance_blocks import ReadBlock
from fastmetrics.metrics.clustering.mean_distances import MeanDistances, MetricSpace, Progress

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, NumericMatrixLike
    from fastmetrics._core.types.options import Distance

__all__ = ["silhouette_samples", "silhouette_score"]

PRECOMPUTED = "precomputed"
OWN_OPTIONS = ("sample_size", "random_state", "n_threads", "progress")
COSINE = "cosine"
# The squared Euclidean distance of two unit vectors is twice their cosine distance.
KINDS = {
    "euclidean": kernel.ROOT,
    "l2": kernel.ROOT,
    "nan_euclidean": kernel.ROOT,  # of rows without NaN, which alone are accepted
    "sqeuclidean": kernel.PLAIN,
    "manhattan": kernel.ABSOLUTE,
    "cityblock": kernel.ABSOLUTE,
    "l1": kernel.ABSOLUTE,
    COSINE: kernel.PLAIN,
}
METRICS = (*KINDS, PRECOMPUTED, distance_blocks.HAVERSINE, *distance_blocks.SCIPY_METRICS)
BLOCK_VALUES = 1 << 18  # values of a matrix of distances that are read together
# Total widths at which float32 neither overflows nor loses relevant squares; other widths need float64.
FLOAT32_WIDTHS = (2.0**-39, 2.0**61)


def silhouette_samples(
    X: NumericMatrixLike,
    labels: ArrayLike,
    *,
    metric: Distance = "euclidean",
    n_threads: int | None = None,
    progress: Progress = None,
    **kwds: Any,
) -> Floats:
    """The silhouette of every row: its distance to its own cluster compared with that to the nearest other.

    s = (b - a) / max(a, b), with a the mean distance to the other rows of the own cluster and b the smallest mean
    distance to the rows of another cluster. P. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and
    validation of cluster analysis", J. Computational and Applied Mathematics 20, 1987.

    Parameters
    ----------
    X : array-like of shape (n, n_features), or (n, n) distances
        Rows of finite numbers. Distances of float32 rows are computed in float32, a few dimensions at a time; those of
        other types in float64. For metric "precomputed", distances from row to column that are not negative, with zeros
        on the diagonal; contiguous float32 and float64 matrices are read in place.
    labels : array-like of shape (n,)
        The cluster of each row: numbers, bools or strings. At least two clusters, and fewer clusters than rows.
    metric : {"euclidean", "l2", "sqeuclidean", "manhattan", "cityblock", "l1", "cosine", "precomputed"}
        The distance. The cosine distance from a row of zeros is 1. Dense rows may have one of SciPy's `cdist`,
        "haversine" (of latitudes and longitudes in radians), or a function of two rows; "nan_euclidean" is "euclidean":
        no value may be NaN.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.
    progress : callable, optional
        Called with (chunks of work done, all chunks) in the calling thread.
    **kwds
        Options of a metric of SciPy, or of a function: `p=3` of "minkowski".

    Returns
    -------
    numpy.ndarray of shape (n,), float64
        In [-1, 1].

    Raises
    ------
    ValueError
        Values that are not finite, different lengths, one cluster, as many clusters as rows, distances that are
        negative or not zero on the diagonal, or an unknown metric.
    TypeError
        X is not an array, or sparse with a metric that needs dense rows; or an option that the metric lacks.

    Notes
    -----
    The silhouette is 0 for the only row of a cluster, and if a = b = 0. Sums of distances are exact, so the result
    depends neither on the order of rows nor on threads. Distances are computed from differences of coordinates, not
    from products, so they are accurate far from the origin. The float32 result is within 1e-6 of the float64 result.
    Memory is proportional to n, plus at most 100 MB if the sums of all rows and clusters fit.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.silhouette_samples([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    array([0.8       , 0.75      , 0.42857143, 0.63636364])
    """
    return compute_silhouettes(X, labels, metric, kwds, None, None, n_threads, progress)


def silhouette_score(
    X: NumericMatrixLike,
    labels: ArrayLike,
    *,
    metric: Distance = "euclidean",
    sample_size: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_threads: int | None = None,
    progress: Progress = None,
    **kwds: Any,
) -> float:
    """The mean silhouette of all rows.

    The mean of s = (b - a) / max(a, b), with a the mean distance to the other rows of the own cluster and b the
    smallest mean distance to the rows of another cluster. P. Rousseeuw, "Silhouettes: a graphical aid to the
    interpretation and validation of cluster analysis", J. Computational and Applied Mathematics 20, 1987.

    Parameters
    ----------
    X : array-like of shape (n, n_features), or (n, n) distances
        Rows of finite numbers. Distances of float32 rows are computed in float32, a few dimensions at a time; those of
        other types in float64. For metric "precomputed", distances from row to column that are not negative, with zeros
        on the diagonal; contiguous float32 and float64 matrices are read in place.
    labels : array-like of shape (n,)
        The cluster of each row: numbers, bools or strings. At least two clusters, and fewer clusters than rows.
    metric : {"euclidean", "l2", "sqeuclidean", "manhattan", "cityblock", "l1", "cosine", "precomputed"}
        The distance. The cosine distance from a row of zeros is 1. Dense rows may have one of SciPy's `cdist`,
        "haversine" (of latitudes and longitudes in radians), or a function of two rows; "nan_euclidean" is "euclidean":
        no value may be NaN.
    sample_size : int, optional
        Use only this number of random rows, the same rows as scikit-learn.
    random_state : int or numpy.random.RandomState, optional
        The seed of the sample; None for NumPy's global state.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.
    progress : callable, optional
        Called with (chunks of work done, all chunks) in the calling thread.
    **kwds
        Options of a metric of SciPy, or of a function: `p=3` of "minkowski".

    Returns
    -------
    float
        In [-1, 1].

    Raises
    ------
    ValueError
        Values that are not finite, different lengths, one cluster, as many clusters as rows, distances that are
        negative or not zero on the diagonal, an unknown metric, or an invalid sample size or seed.
    TypeError
        X is not an array, or sparse with a metric that needs dense rows; or an option that the metric lacks.

    Notes
    -----
    The silhouette is 0 for the only row of a cluster, and if a = b = 0. Sums of distances and of silhouettes are exact,
    so the result depends neither on the order of rows nor on threads. Distances are computed from differences of
    coordinates, not from products, so they are accurate far from the origin. The float32 result is within 1e-6 of the
    float64 result. Memory is proportional to n, plus at most 100 MB if the sums of all rows and clusters fit.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.silhouette_score([[0, 0], [0, 1], [5, 5], [5, 6]], [0, 0, 1, 1])
    0.8585856960087929
    >>> fm.silhouette_score([[0, 1, 4], [1, 0, 2], [4, 2, 0]], ["a", "a", "b"], metric="precomputed")
    0.4166666666666667
    """
    silhouettes = compute_silhouettes(X, labels, metric, kwds, sample_size, random_state, n_threads, progress)
    return exact.divide(exact.integer_sum(silhouettes), silhouettes.shape[0] << exact.EXPONENT)


def compute_silhouettes(
    X: Any,
    labels: Any,
    metric: Any,
    options: dict[str, Any],
    sample_size: Any,
    random_state: Any,
    n_threads: int | None,
    progress: Progress,
) -> np.ndarray:
    """The silhouettes of all rows, or of a random sample."""
    check_metric(metric, options)
    threads = count_threads(n_threads)
    if sample_size is not None:
        sample_size = validation.check_integer(sample_size, "sample_size", "None or an integer of at least 1")
    if metric == PRECOMPUTED:
        return silhouettes_of_distances(X, labels, sample_size, random_state, threads, progress)
    if class_labels.is_sparse(X):
        if metric not in KINDS:
            raise TypeError(f"X is sparse: metric {metric!r} needs dense rows; pass X.toarray(), or a part of the rows")
        X = distance_blocks.read_sparse_points(X)
        if class_labels.is_sparse(X):
            return silhouettes_of_sparse_rows(X, labels, metric, sample_size, random_state, threads, progress)
    x, low, high, codes, n_clusters = cluster_points.read_points(X, labels)
    if sample_size is not None:
        chosen = choose_rows(x.shape[0], sample_size, random_state)
        x, codes, n_clusters = x[chosen], *drop_unused_codes(codes[chosen])
        cluster_points.check_cluster_count(n_clusters, x.shape[0])
        low, high = cluster_points.bounding_box(x)
    clusters = cluster_points.group_by_cluster(codes, n_clusters)
    if metric not in KINDS:
        read = distance_blocks.metric_blocks(x, metric, options)
        return silhouettes_of_blocks(read, clusters, f"metric {metric!r} gives", 1, progress)
    if metric == COSINE:
        x, zeros = unit_vectors(x)
        low, high = cluster_points.bounding_box(x)
        means = mean_distances_of_points(x, metric, low, high, clusters, threads, progress)
        silhouettes = silhouettes_from_means(clusters, means)
        silhouettes[zeros] = 0.0
        return silhouettes
    means = mean_distances_of_points(x, metric, low, high, clusters, threads, progress)
    return silhouettes_from_means(clusters, means)


def silhouettes_of_sparse_rows(
    x: Any, labels: Any, metric: str, sample_size: Any, random_state: Any, n_threads: int, progress: Progress
) -> np.ndarray:
    """Silhouettes of the rows of a sparse matrix, without a dense copy."""
    codes, n_clusters = cluster_points.encode_clusters(labels, x.shape[0])
    if sample_size is not None:
        chosen = choose_rows(x.shape[0], sample_size, random_state)
        x, codes, n_clusters = x[chosen], *drop_unused_codes(codes[chosen])
    cluster_points.check_cluster_count(n_clusters, x.shape[0])
    clusters = cluster_points.group_by_cluster(codes, n_clusters)
    x, zeros = distance_blocks.scaled_values(x), np.zeros(x.shape[0], bool)
    if metric == COSINE:
        x, zeros = distance_blocks.sparse_unit_vectors(x)
    read = distance_blocks.sparse_blocks(x, KINDS[metric])
    silhouettes = silhouettes_of_blocks(read, clusters, "X has", n_threads, progress)
    silhouettes[zeros] = 0.0
    return silhouettes


def check_metric(metric: Any, options: dict[str, Any]) -> None:
    if not callable(metric) and (not isinstance(metric, str) or metric not in METRICS):
        allowed = ", ".join(map(repr, METRICS))
        advice = "; for another distance pass a function, or the matrix of distances with metric='precomputed'"
        raise validation.OptionError(f"metric must be one of {allowed}; found {metric!r}{advice}")
    if options and (metric in (PRECOMPUTED, distance_blocks.HAVERSINE) or metric in KINDS):
        word = next(iter(options))
        raise TypeError(f"metric {metric!r} has no option {word!r}{ask_meant(word, OWN_OPTIONS)}")


def choose_rows(rows: int, sample_size: int, random_state: Any) -> np.ndarray:
    """A random sample of row numbers, the same as scikit-learn's."""
    if random_state is None or random_state is np.random:
        permute = np.random.permutation
    elif isinstance(random_state, np.random.RandomState):
        permute = random_state.permutation
    elif (seed := integer_value(random_state)) is not None:
        if not 0 <= seed < 1 << 32:
            raise ValueError(f"random_state must lie between 0 and 2**32 - 1; found {random_state!r}")
        permute = np.random.RandomState(seed).permutation
    else:
        raise validation.OptionError(
            f"random_state must be None, an integer or a numpy.random.RandomState; found {random_state!r}"
        )
    return permute(rows)[:sample_size]


def drop_unused_codes(codes: np.ndarray) -> tuple[np.ndarray, int]:
    """Codes without gaps for a part of the rows, and their number."""
    classes, new_codes = np.unique(codes, return_inverse=True)
    return new_codes.astype(np.int64, copy=False), classes.shape[0]


def unit_vectors(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """float64 unit vectors of the rows, and a mask of rows of zeros, which get an extra dimension."""
    lengths = np.empty(x.shape[0])
    magnitudes = np.maximum(x.max(axis=1), -x.min(axis=1))
    least, greatest = float(magnitudes.min(initial=1.0, where=magnitudes > 0)), float(magnitudes.max())
    if not (cluster_points.SAFE_WIDTHS[0] < least and greatest < cluster_points.SAFE_WIDTHS[1]):
        x = np.ldexp(x.astype(np.float64), -np.frexp(magnitudes)[1][:, None])
    kernel.lengths(x, lengths)
    zeros = lengths == 0
    lengths[zeros] = 1.0
    out = np.empty((x.shape[0], x.shape[1] + int(zeros.any())))
    np.divide(x, lengths[:, None], out=out[:, : x.shape[1]])
    out[:, x.shape[1] :] = zeros[:, None]
    return out, zeros


def mean_distances_of_points(
    x: np.ndarray,
    metric: str,
    low: np.ndarray,
    high: np.ndarray,
    clusters: RowsByCluster,
    n_threads: int,
    progress: Progress,
) -> MeanDistances:
    """Mean distances of points, scaled so that no relevant value overflows or underflows.

    Silhouettes do not depend on the scale.
    """
    kind = KINDS[metric]
    if x.dtype == np.float32 and not FLOAT32_WIDTHS[0] < cluster_points.total_width(low, high)[0] < FLOAT32_WIDTHS[1]:
        x, low, high = (values.astype(np.float64) for values in (x, low, high))
    x, low, high, _ = cluster_points.scale_into_range(x, low, high)
    max_distance = mean_distances.distance_bound(kind, low, high)
    return mean_distances.mean_distances(MetricSpace(x, kind, max_distance), clusters, n_threads, progress)


def silhouettes_from_means(clusters: RowsByCluster, means: MeanDistances) -> np.ndarray:
    """(b - a) / max(a, b); 0 for the only row of a cluster and if a = b = 0."""
    own_mean = means.own_mean(clusters)
    divisor = np.maximum(own_mean, means.nearest_mean)
    divisor[divisor == 0] = 1.0
    silhouettes = means.nearest_mean - own_mean
    silhouettes /= divisor
    if clusters.sizes.min() == 1:
        silhouettes[clusters.sizes[clusters.codes] == 1] = 0.0
    return np.asarray(silhouettes)


def silhouettes_of_distances(
    X: Any, labels: Any, sample_size: Any, random_state: Any, n_threads: int, progress: Progress
) -> np.ndarray:
    """Silhouettes from a matrix of distances, read a few rows at a time."""
    is_sparse = class_labels.is_sparse(X)
    x: Any = X.tocsr() if is_sparse else cluster_points.as_matrix(X)
    if x.shape[0] != x.shape[1]:
        raise ValueError(f"X must be square for metric='precomputed'; found shape {x.shape}")
    codes, n_clusters = cluster_points.encode_clusters(labels, x.shape[0])
    chosen = None if sample_size is None else choose_rows(x.shape[0], sample_size, random_state)
    diagonal = cluster_points.as_coordinates(x.diagonal()[None])[0]
    if chosen is not None:
        codes, n_clusters = drop_unused_codes(codes[chosen])
        diagonal = diagonal[chosen]
    check_diagonal(diagonal, x.dtype, chosen)
    cluster_points.check_cluster_count(n_clusters, codes.shape[0])
    clusters = cluster_points.group_by_cluster(codes, n_clusters)

    def read(start: int, stop: int) -> np.ndarray:
        if is_sparse:
            block = (x[start:stop] if chosen is None else x[chosen[start:stop]][:, chosen]).toarray()
        else:
            block = x[start:stop] if chosen is None else x[np.ix_(chosen[start:stop], chosen)]
        return cluster_points.as_coordinates(block)

    return silhouettes_of_blocks(read, clusters, "X has", n_threads, progress, chosen)


def silhouettes_of_blocks(
    read: ReadBlock,
    clusters: RowsByCluster,
    found: str,
    n_threads: int,
    progress: Progress,
    chosen: np.ndarray | None = None,
) -> np.ndarray:
    """Silhouettes from distances of a few rows at a time; `found` and the rows `chosen` are for errors."""
    codes = clusters.codes
    rows = codes.shape[0]
    max_size = int(clusters.sizes.max())
    means = MeanDistances(np.zeros(rows), np.full(rows, np.inf))
    length = max(1, BLOCK_VALUES // rows)

    def make_worker() -> Callable[[int], None]:
        copy = np.empty(rows)

        def work(chunk: int) -> None:
            start, stop = chunk * length, min(rows, (chunk + 1) * length)
            block = read(start, stop)
            bad = kernel.row_means(
                block, clusters.order, clusters.ends, max_size, codes[start:stop], means.own_sum[start:stop],
                means.nearest_mean[start:stop], copy, mean_distances.least_accurate_share(max_size),
            )  # fmt: skip
            if bad >= 0:
                raise_bad_distance(block, bad, start, chosen, found)

        return work

    n_threads = n_threads if rows * rows > mean_distances.SERIAL_WORK else 1
    mean_distances.run_chunks(-(-rows // length), make_worker, n_threads, progress)
    return silhouettes_from_means(clusters, means)


def check_diagonal(diagonal: np.ndarray, dtype: np.dtype, chosen: np.ndarray | None) -> None:
    """Check that the distance of each row from itself is 0, except for rounding."""
    allowed = 100 * float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0
    bad = np.flatnonzero(np.abs(diagonal) > allowed)
    if bad.shape[0]:
        row = int(bad[0] if chosen is None else chosen[bad[0]])
        raise ValueError(
            f"X has {diagonal[bad[0]]} at row {row}, column {row}: the precomputed distance matrix contains non-zero "
            f"elements on the diagonal. Use np.fill_diagonal(X, 0)."
        )


def raise_bad_distance(block: np.ndarray, row: int, first_row: int, chosen: np.ndarray | None, found_in: str) -> None:
    """Raise the error for a distance that is negative or not finite."""
    column = validation.first_bad_row(~((block[row] >= 0) & np.isfinite(block[row])))
    value = block[row, column]
    x_row, x_column = first_row + row, column
    if chosen is not None:
        x_row, x_column = int(chosen[x_row]), int(chosen[column])
    found = "NaN" if value != value else value
    raise ValueError(f"{found_in} {found} at row {x_row}, column {x_column}: distances must be finite and not negative")
