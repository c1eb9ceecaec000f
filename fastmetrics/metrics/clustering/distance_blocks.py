"""Distances of a few rows at a time to all rows: of sparse rows, of SciPy's metrics, on a sphere, and of functions.

`silhouette.py` reads them like rows of a matrix of distances, so that no such matrix is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.elementary import arcsin, cos, sin
from fastmetrics._core.optional_imports import import_extra
from fastmetrics._kernels.clustering import distances as kernel
from fastmetrics._kernels.numeric import elementary
from fastmetrics.metrics.clustering.inverse_covariance import inverse_covariance

# Distances of sets: a value other than 0 says that the row has the element.
OF_SETS = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
OF_NUMBERS = (
    "braycurtis", "canberra", "chebyshev", "correlation", "hamming", "mahalanobis", "minkowski", "seuclidean",
)  # fmt: skip
SCIPY_METRICS = (*OF_NUMBERS, *OF_SETS)
HAVERSINE = "haversine"
DENSE_SHARE = 1 / 8  # sparse rows with a larger share of values are faster as dense rows
LARGEST_EXPONENT = 430  # of sparse values: sums of 2**38 squares are below 2**900

ReadBlock = Callable[[int, int], np.ndarray]


def metric_blocks(x: np.ndarray, metric: Any, options: Mapping[str, Any]) -> ReadBlock:
    """Distances by a metric of SciPy, on a sphere, or by a function of two rows."""
    if metric == HAVERSINE:
        return haversine_blocks(x)
    if metric == "minkowski" and needs_powers(options):
        return minkowski_blocks(x, float(options["p"]), options.get("w"))
    cdist = import_extra("scipy.spatial.distance", f"metric={metric!r}").cdist
    parameters = dict(options)
    if callable(metric):
        return lambda start, stop: np.asarray(cdist(x[start:stop], x, metric, **parameters), np.float64)
    if metric in OF_SETS:
        x = x != 0
    elif metric == "seuclidean":
        parameters.setdefault("V", np.var(x, axis=0, ddof=1, dtype=np.float64))
    elif metric == "mahalanobis" and "VI" not in parameters:
        parameters["VI"] = inverse_covariance(x.astype(np.float64))

    def read(start: int, stop: int) -> np.ndarray:
        block = np.asarray(cdist(x[start:stop], x, metric, **parameters), np.float64)
        np.maximum(block, 0.0, out=block)  # rounding may give less than 0
        own = np.arange(stop - start)
        block[own, start + own] = np.where(np.isnan(block[own, start + own]), np.nan, 0.0)  # russellrao gives more
        return block

    return read


def needs_powers(options: Mapping[str, Any]) -> bool:
    """Whether a Minkowski distance is valid and neither the sum, the root of squares nor the maximum of differences."""
    p = options.get("p", 2)
    return options.keys() <= {"p", "w"} and isinstance(p, Real) and 0 < float(p) < math.inf and float(p) not in (1, 2)


def minkowski_blocks(x: np.ndarray, p: float, weights: Any) -> ReadBlock:
    """(sum_k w_k |x_k - y_k|^p)^(1/p). SciPy's takes powers from the C library, whose last digits differ."""
    columns, exponent = x.astype(np.float64).T, np.array([p])
    w = np.ones(columns.shape[0]) if weights is None else np.asarray(weights, np.float64)
    if w.shape != (columns.shape[0],) or not (w >= 0).all():
        raise ValueError(f"w must have {columns.shape[0]} weights of at least 0, one for each column of X")

    def read(start: int, stop: int) -> np.ndarray:
        block, terms = np.zeros((2, stop - start, columns.shape[1]))
        for weight, column in zip(w.tolist(), columns, strict=True):
            np.subtract(column[start:stop, None], column, out=terms)
            np.abs(terms, out=terms)
            elementary.power(terms.reshape(-1), exponent, terms.reshape(-1))
            if weights is not None:
                terms *= weight
            block += terms
        elementary.power(block.reshape(-1), 1 / exponent, block.reshape(-1))
        return block

    return read


def haversine_blocks(x: np.ndarray) -> ReadBlock:
    """Angles between points of a sphere, from latitudes and longitudes in radians."""
    if x.shape[1] != 2:
        raise ValueError(f"metric 'haversine' needs two columns, latitude and longitude; found {x.shape[1]}")
    latitude, longitude = x.astype(np.float64).T
    cosines = cos(latitude)

    def read(start: int, stop: int) -> np.ndarray:
        north = sin((latitude[start:stop, None] - latitude) / 2) ** 2
        east = sin((longitude[start:stop, None] - longitude) / 2) ** 2
        share = north + cosines[start:stop, None] * cosines * east
        return np.asarray(2 * arcsin(np.sqrt(share.clip(0.0, 1.0))))

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
    """Sparse rows times a power of two, so that squares keep their digits: silhouettes do not depend on it."""
    largest = np.abs(x.data).max(initial=0.0)
    if largest:
        x.data = np.ldexp(x.data, LARGEST_EXPONENT - np.frexp(largest)[1])
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


def layout(x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values of a sparse matrix, their places, and the starts of its rows (or columns)."""
    return x.data, x.indices.astype(np.int64), x.indptr.astype(np.int64)


def sparse_blocks(x: Any, kind: int) -> ReadBlock:
    """Distances of sparse rows, which depend on the two rows alone."""
    x.sort_indices()
    terms = np.abs(x.data) if kind == kernel.ABSOLUTE else x.data * x.data
    sizes = np.bincount(rows_of_values(x), terms, minlength=x.shape[0]).astype(np.float64)  # of no terms: integers
    by_row, by_column = layout(x), layout(x.tocsc())

    def read(start: int, stop: int) -> np.ndarray:
        block = np.zeros((stop - start, x.shape[0]))
        kernel.sparse_distances(*by_row, *by_column, sizes, kind, start, block)
        return block

    return read
