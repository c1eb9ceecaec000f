"""Distances of a few rows at a time to all rows: of sparse rows, of SciPy's metrics, and of functions.

`silhouette.py` reads them like rows of a matrix of distances, so that no such matrix is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.optional_imports import import_extra

# Distances of sets: a value other than 0 says that the row has the element.
OF_SETS = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
OF_NUMBERS = (
    "braycurtis", "canberra", "chebyshev", "correlation", "hamming", "mahalanobis", "minkowski", "seuclidean",
)  # fmt: skip
SCIPY_METRICS = (*OF_NUMBERS, *OF_SETS)
DENSE_SHARE = 1 / 8  # sparse rows with a larger share of values are faster as dense rows
CANCELLED = 1 / 64  # if a smaller share of the squares of two rows is left, their distance is measured again
PAIRS_AT_ONCE = 1 << 14

ReadBlock = Callable[[int, int], np.ndarray]


def metric_blocks(x: np.ndarray, metric: Any, options: Mapping[str, Any]) -> ReadBlock:
    """Distances by a metric of SciPy, or by a function of two rows."""
    cdist = import_extra("scipy.spatial.distance", f"metric={metric!r}").cdist
    parameters = dict(options)
    if callable(metric):
        return lambda start, stop: np.asarray(cdist(x[start:stop], x, metric, **parameters), np.float64)
    if metric in OF_SETS:
        x = x != 0
    elif metric == "seuclidean":
        parameters.setdefault("V", np.var(x, axis=0, ddof=1, dtype=np.float64))
    elif metric == "mahalanobis":
        parameters.setdefault("VI", np.linalg.inv(np.cov(x.T.astype(np.float64))).T)

    def read(start: int, stop: int) -> np.ndarray:
        block = np.asarray(cdist(x[start:stop], x, metric, **parameters), np.float64)
        np.maximum(block, 0.0, out=block)  # rounding may give less than 0
        own = np.arange(stop - start)
        block[own, start + own] = np.where(np.isnan(block[own, start + own]), np.nan, 0.0)  # russellrao gives more
        return block

    return read


def read_sparse_points(X: Any) -> Any:
    """A sparse matrix, checked: a private `scipy.sparse.csr_array` of float64, or a dense array if few values are 0."""
    sparse = import_extra("scipy.sparse", "a sparse X")
    x = sparse.csr_array(X, copy=True)
    if x.dtype.kind not in "biuf":
        raise validation.OptionError(f"X must have numbers; found {x.dtype}")
    if min(x.shape) == 0:
        raise ValueError(f"X is empty (shape {x.shape}): at least one row and one column are needed")
    x.check_format(full_check=True)
    x.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(x.data))
    if bad.shape[0]:
        row = int(np.searchsorted(x.indptr, bad[0], "right")) - 1
        value = x.data[bad[0]]
        found = "NaN" if value != value else value
        raise ValueError(f"X has {found} at row {row}, column {x.indices[bad[0]]}: finite numbers are needed")
    return x.toarray() if x.nnz > DENSE_SHARE * x.shape[0] * x.shape[1] else x.astype(np.float64)


def scaled_values(x: Any) -> Any:
    """Sparse rows times a power of two, so that squares do not overflow: silhouettes do not depend on it."""
    largest = np.abs(x.data).max(initial=0.0)
    if largest:
        x.data = np.ldexp(x.data, -np.frexp(largest)[1])
    return x


def rows_of_values(x: Any) -> np.ndarray:
    """The row of each stored value."""
    return np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))


def sparse_unit_vectors(x: Any) -> tuple[Any, np.ndarray]:
    """Unit vectors of sparse rows, and a mask of rows of zeros, which get an extra dimension."""
    sparse = import_extra("scipy.sparse", "a sparse X")
    rows = rows_of_values(x)
    lengths = np.zeros(x.shape[0])
    np.maximum.at(lengths, rows, np.abs(x.data))
    zeros = lengths == 0
    lengths[zeros] = 1.0
    shares = x.data / lengths[rows]
    lengths = np.sqrt(np.bincount(rows, shares * shares, minlength=x.shape[0]))
    lengths[zeros] = 1.0
    units = sparse.csr_array((shares / lengths[rows], x.indices, x.indptr), shape=x.shape)
    return sparse.csr_array(sparse.hstack([units, zeros[:, None].astype(np.float64)])), zeros


def squared_blocks(x: Any, root: bool) -> ReadBlock:
    """Euclidean distances of sparse rows, squared if not `root`.

    The squares of both rows less twice their product. Where little is left of the squares, the distance is measured
    again from differences. Products are sums in the order of columns, so a distance depends on its two rows alone.
    """
    sizes = np.bincount(rows_of_values(x), x.data * x.data, minlength=x.shape[0])
    columns = x.T.tocsr()

    def read(start: int, stop: int) -> np.ndarray:
        sums = sizes[start:stop, None] + sizes
        block = sums - 2 * (x[start:stop] @ columns).toarray()
        left, right = np.nonzero(block <= CANCELLED * sums)
        for first in range(0, left.shape[0], PAIRS_AT_ONCE):
            pairs = left[first : first + PAIRS_AT_ONCE], right[first : first + PAIRS_AT_ONCE]
            block[pairs] = (x[pairs[0] + start] - x[pairs[1]]).power(2).sum(axis=1)
        return np.asarray(np.sqrt(block) if root else block)

    return read


def manhattan_blocks(x: Any) -> ReadBlock:
    """Sums of absolute differences of sparse rows: of the columns that a row has, and of those that it lacks."""
    rows = rows_of_values(x)

    def read(start: int, stop: int) -> np.ndarray:
        block = np.empty((stop - start, x.shape[0]))
        for row in range(start, stop):
            own = x[[row]].toarray().ravel()
            others = np.abs(own[x.indices])
            differences = np.bincount(rows, np.abs(x.data - own[x.indices]), minlength=x.shape[0])
            shared = np.bincount(rows, others, minlength=x.shape[0])
            block[row - start] = differences + np.maximum(np.abs(own).sum() - shared, 0.0)
            block[row - start, row] = 0.0
        return block

    return read
