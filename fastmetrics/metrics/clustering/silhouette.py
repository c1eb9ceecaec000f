"""Silhouettes: is a row nearer to its own cluster than to the nearest other?"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.parallel import count_threads
from fastmetrics._kernels import distances as kernel
from fastmetrics._kernels import sums
from fastmetrics.metrics.clustering import mean_distances as measuring
from fastmetrics.metrics.clustering import points as checking
from fastmetrics.metrics.clustering.mean_distances import Clusters, Means, Progress, Space

__all__ = ["silhouette_samples", "silhouette_score"]

PRECOMPUTED = "precomputed"
COSINE = "cosine"
# Twice the cosine distance of two rows is the squared Euclidean distance of the rows divided by their lengths.
KINDS = {
    "euclidean": kernel.ROOT,
    "l2": kernel.ROOT,
    "sqeuclidean": kernel.PLAIN,
    "manhattan": kernel.ABSOLUTE,
    "cityblock": kernel.ABSOLUTE,
    "l1": kernel.ABSOLUTE,
    COSINE: kernel.PLAIN,
}
METRICS = (*KINDS, PRECOMPUTED)
BLOCK_VALUES = 1 << 20  # of a matrix of distances, looked at together
# Widths for which float32 neither overflows nor loses squares that count; beyond, double takes over.
FLOATS = (2.0**-39, 2.0**61)


def silhouette_samples(
    X: Any, labels: Any, *, metric: str = "euclidean", n_threads: int | None = None, progress: Progress = None
) -> np.ndarray:
    """The silhouette of every row: is it nearer to its own cluster than to the nearest other?

    s = (b - a) / max(a, b), with a the mean distance to the other rows of the own cluster and b the least mean distance
    to the rows of another cluster. P. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of
    cluster analysis", J. Computational and Applied Mathematics 20, 1987.

    Parameters
    ----------
    X : array-like of shape (n, n_features), or (n, n) distances
        Rows of finite numbers. float32 is measured in float32, in sums of few dimensions at a time; anything else in
        float64. For metric "precomputed" distances from row to column, not negative, with zeros on the diagonal;
        contiguous float32 and float64 matrices are read in place.
    labels : array-like of shape (n,)
        The cluster of each row: numbers, bools, text. At least two clusters, and fewer than rows.
    metric : {"euclidean", "l2", "sqeuclidean", "manhattan", "cityblock", "l1", "cosine", "precomputed"}
        The distance. The cosine distance from a row of zeros is 1.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.
    progress : callable, optional
        Called with (units of work done, units in all), by the thread that called.

    Returns
    -------
    numpy.ndarray of shape (n,), float64
        In [-1, 1].

    Raises
    ------
    ValueError
        Numbers that are not finite, lengths that differ, one cluster or as many as rows, distances that are negative
        or not zero on the diagonal, an unknown metric.
    TypeError
        X is sparse, or no array.

    Notes
    -----
    The silhouette of a row that is alone in its cluster is 0, and so is that of a row with a = b = 0. Sums of distances
    are exact, so that neither the order of rows nor threads change a bit. Distances are differences of coordinates,
    not of products, and keep their accuracy far from the origin. For float32 the result is within 1e-6 of what float64
    gives. Memory is of the order of n, or of at most 100 MB where sums of all rows and clusters fit.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.silhouette_samples([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    array([0.8       , 0.75      , 0.42857143, 0.63636364])
    """
    return samples(X, labels, metric, None, None, n_threads, progress)


def silhouette_score(
    X: Any,
    labels: Any,
    *,
    metric: str = "euclidean",
    sample_size: int | None = None,
    random_state: Any = None,
    n_threads: int | None = None,
    progress: Progress = None,
) -> float:
    """The mean silhouette of all rows.

    The mean of s = (b - a) / max(a, b), with a the mean distance to the other rows of the own cluster and b the least
    mean distance to the rows of another cluster. P. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and
    validation of cluster analysis", J. Computational and Applied Mathematics 20, 1987.

    Parameters
    ----------
    X : array-like of shape (n, n_features), or (n, n) distances
        Rows of finite numbers. float32 is measured in float32, in sums of few dimensions at a time; anything else in
        float64. For metric "precomputed" distances from row to column, not negative, with zeros on the diagonal;
        contiguous float32 and float64 matrices are read in place.
    labels : array-like of shape (n,)
        The cluster of each row: numbers, bools, text. At least two clusters, and fewer than rows.
    metric : {"euclidean", "l2", "sqeuclidean", "manhattan", "cityblock", "l1", "cosine", "precomputed"}
        The distance. The cosine distance from a row of zeros is 1.
    sample_size : int, optional
        Take as many rows by chance, and only these; the same rows as scikit-learn takes.
    random_state : int or numpy.random.RandomState, optional
        The seed of that choice; None for NumPy's global state.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.
    progress : callable, optional
        Called with (units of work done, units in all), by the thread that called.

    Returns
    -------
    float
        In [-1, 1].

    Raises
    ------
    ValueError
        Numbers that are not finite, lengths that differ, one cluster or as many as rows, distances that are negative
        or not zero on the diagonal, an unknown metric, a bad sample size or seed.
    TypeError
        X is sparse, or no array.

    Notes
    -----
    The silhouette of a row that is alone in its cluster is 0, and so is that of a row with a = b = 0. Sums of distances
    and of silhouettes are exact, so that neither the order of rows nor threads change a bit. Distances are
    differences of coordinates, not of products, and keep their accuracy far from the origin. For float32 the result is
    within 1e-6 of what float64 gives. Memory is of the order of n, or of at most 100 MB where sums of all rows and
    clusters fit.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.silhouette_score([[0, 0], [0, 1], [5, 5], [5, 6]], [0, 0, 1, 1])
    0.8585856960087929
    >>> fm.silhouette_score([[0, 1, 4], [1, 0, 2], [4, 2, 0]], ["a", "a", "b"], metric="precomputed")
    0.4166666666666667
    """
    found = samples(X, labels, metric, sample_size, random_state, n_threads, progress)
    state = exact.new_states()
    sums.sum_values(found, None, state)
    return exact.divide(exact.to_integer(state), found.shape[0] << exact.EXPONENT)


def samples(
    X: Any, labels: Any, metric: str, sample_size: Any, random_state: Any, n_threads: int | None, progress: Progress
) -> np.ndarray:
    """Silhouettes of all rows, or of some taken by chance."""
    check_metric(metric)
    threads = count_threads(n_threads)
    if sample_size is not None:
        check_size(sample_size)
    if metric == PRECOMPUTED:
        return of_distances(X, labels, sample_size, random_state, threads, progress)
    x, low, high, codes, n_clusters = checking.open_points(X, labels)
    if sample_size is not None:
        chosen = choose(x.shape[0], sample_size, random_state)
        x, codes, n_clusters = x[chosen], *recode(codes[chosen])
        checking.check_clusters(n_clusters, x.shape[0])
        low, high = checking.box_of(x)
    clusters = measuring.by_cluster(codes, n_clusters)
    if metric == COSINE:
        x, zeros = directions(x)
        found = silhouettes(clusters, of_space(x, metric, *checking.box_of(x), clusters, threads, progress))
        found[zeros] = 0.0
        return found
    return silhouettes(clusters, of_space(x, metric, low, high, clusters, threads, progress))


def check_metric(metric: Any) -> None:
    if not isinstance(metric, str) or metric not in METRICS:
        wanted = ", ".join(map(repr, METRICS))
        advice = "; for any other distance pass the matrix of distances, and metric='precomputed'"
        raise inputs.OptionError(f"metric must be one of {wanted}; found {metric!r}{advice}")


def check_size(sample_size: Any) -> None:
    if not is_integer(sample_size) or sample_size < 1:
        raise inputs.OptionError(f"sample_size must be None or an integer of at least 1; found {sample_size!r}")


def is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def choose(rows: int, sample_size: int, random_state: Any) -> np.ndarray:
    """The rows that scikit-learn takes."""
    if random_state is None or random_state is np.random:
        permute = np.random.permutation
    elif isinstance(random_state, np.random.RandomState):
        permute = random_state.permutation
    elif is_integer(random_state):
        if not 0 <= random_state < 1 << 32:
            raise ValueError(f"random_state must lie between 0 and 2**32 - 1; found {random_state!r}")
        permute = np.random.RandomState(int(random_state)).permutation
    else:
        raise inputs.OptionError(
            f"random_state must be None, an integer or a numpy.random.RandomState; found {random_state!r}"
        )
    return permute(rows)[:sample_size]


def recode(codes: np.ndarray) -> tuple[np.ndarray, int]:
    """Codes of some of the rows without gaps."""
    classes, numbered = np.unique(codes, return_inverse=True)
    return numbered.astype(np.int64, copy=False), classes.shape[0]


def directions(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows divided by their lengths, in float64, and which of them are zero: these get a dimension of their own."""
    lengths = np.empty(x.shape[0])
    tops = np.maximum(x.max(axis=1), -x.min(axis=1))
    least, most = float(tops.min(initial=1.0, where=tops > 0)), float(tops.max())
    if not (checking.DOUBLES[0] < least and most < checking.DOUBLES[1]):
        x = np.ldexp(x.astype(np.float64), -np.frexp(tops)[1][:, None])
    kernel.lengths(x, lengths)
    zeros = lengths == 0
    lengths[zeros] = 1.0
    out = np.empty((x.shape[0], x.shape[1] + int(zeros.any())))
    np.divide(x, lengths[:, None], out=out[:, : x.shape[1]])
    out[:, x.shape[1] :] = zeros[:, None]
    return out, zeros


def of_space(
    x: np.ndarray,
    metric: str,
    low: np.ndarray,
    high: np.ndarray,
    clusters: Clusters,
    n_threads: int,
    progress: Progress,
) -> Means:
    """Mean distances of rows of coordinates, in units in which nothing that counts overflows or underflows.

    Silhouettes do not depend on the unit.
    """
    kind = KINDS[metric]
    if x.dtype == np.float32 and not FLOATS[0] < checking.width_of(low, high)[0] < FLOATS[1]:
        x, low, high = (each.astype(np.float64) for each in (x, low, high))
    x, low, high, _ = checking.bring_into_range(x, low, high)
    greatest = measuring.box_bound(kind, low, high)
    return measuring.mean_distances(Space(x, kind, greatest), clusters, n_threads, progress)


def silhouettes(clusters: Clusters, means: Means) -> np.ndarray:
    """(b - a) / max(a, b), and 0 for rows alone in their cluster or with nothing to divide by."""
    near = means.near(clusters)
    greatest = np.maximum(near, means.best)
    greatest[greatest == 0] = 1.0
    found = means.best - near
    found /= greatest
    if clusters.sizes.min() == 1:
        found[clusters.sizes[clusters.codes] == 1] = 0.0
    return np.asarray(found)


def of_distances(
    X: Any, labels: Any, sample_size: Any, random_state: Any, n_threads: int, progress: Progress
) -> np.ndarray:
    """Silhouettes of a matrix of distances, read a few rows at a time."""
    x = checking.as_matrix(X)
    if x.shape[0] != x.shape[1]:
        raise ValueError(f"X must be square for metric='precomputed'; found shape {x.shape}")
    codes, n_clusters = checking.code_clusters(labels, x.shape[0])
    chosen = None if sample_size is None else choose(x.shape[0], sample_size, random_state)
    diagonal = checking.as_coordinates(x.diagonal()[None])[0]
    if chosen is not None:
        codes, n_clusters = recode(codes[chosen])
        diagonal = diagonal[chosen]
    rows = codes.shape[0]
    check_diagonal(diagonal, x.dtype, chosen)
    checking.check_clusters(n_clusters, rows)
    clusters = measuring.by_cluster(codes, n_clusters)
    most = int(clusters.sizes.max())
    means = Means(np.zeros(rows), np.full(rows, np.inf))
    length = max(1, BLOCK_VALUES // rows)

    def make_worker() -> Callable[[int], None]:
        copy = np.empty(rows)

        def work(unit: int) -> None:
            start, stop = unit * length, min(rows, (unit + 1) * length)
            part = x[start:stop] if chosen is None else x[np.ix_(chosen[start:stop], chosen)]
            block = checking.as_coordinates(part)
            bad = kernel.row_means(
                block, clusters.order, clusters.ends, most, codes[start:stop], means.own[start:stop],
                means.best[start:stop], copy, measuring.smallest_share(most),
            )  # fmt: skip
            if bad >= 0:
                raise_bad_distance(block, bad, start, chosen)

        return work

    measuring.run(-(-rows // length), make_worker, n_threads if rows * rows > measuring.SERIAL_WORK else 1, progress)
    return silhouettes(clusters, means)


def check_diagonal(diagonal: np.ndarray, dtype: np.dtype, chosen: np.ndarray | None) -> None:
    """A row is at no distance from itself, but for rounding."""
    allowed = 100 * float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0
    bad = np.flatnonzero(np.abs(diagonal) > allowed)
    if bad.shape[0]:
        row = int(bad[0] if chosen is None else chosen[bad[0]])
        raise ValueError(
            f"X has {diagonal[bad[0]]} at row {row}, column {row}: the precomputed distance matrix contains non-zero "
            f"elements on the diagonal. Use np.fill_diagonal(X, 0)."
        )


def raise_bad_distance(block: np.ndarray, row: int, first_row: int, chosen: np.ndarray | None) -> None:
    """The error for a distance that is negative or not finite."""
    column = int(np.flatnonzero(~((block[row] >= 0) & np.isfinite(block[row])))[0])
    value = block[row, column]
    place, other = first_row + row, column
    if chosen is not None:
        place, other = int(chosen[place]), int(chosen[column])
    found = "NaN" if value != value else value
    raise ValueError(f"X has {found} at row {place}, column {other}: distances must be finite and not negative")
