"""Points and their cluster labels, checked: the input of metrics of one partition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import class_labels, validation
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.clustering import dispersion as kernel
from fastmetrics._kernels.clustering import distances

# Total widths at which neither squares of small distances underflow nor sums of large ones overflow.
SAFE_WIDTHS = (2.0**-400, 2.0**400)
MAX_DISTANCE_EXPONENT = 490  # scaled distances are below 2**490; squares of distances 2**-1000 of that are normal
OVERFLOW_LIMIT = 2.0**900  # above it, sums of coordinates or of widths might overflow


class ClusteredPoints(NamedTuple):
    """A contiguous float32 or float64 matrix, the least and greatest value of each column, and cluster codes."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    codes: np.ndarray
    n_clusters: int


class RowsByCluster(NamedTuple):
    """Rows grouped by cluster.

    `codes` is the cluster of each row. `order` lists the rows cluster by cluster; those of cluster c end at `ends[c]`.
    """

    codes: np.ndarray
    order: np.ndarray
    sizes: np.ndarray
    ends: np.ndarray


def read_points(X: Any, labels: Any) -> ClusteredPoints:
    """Read points and labels of the same rows, and check the number of clusters."""
    x = as_matrix(X)
    codes, n_clusters = encode_clusters(labels, x.shape[0])
    x = as_coordinates(x)
    low, high = bounding_box(x)
    check_cluster_count(n_clusters, x.shape[0])
    return ClusteredPoints(x, low, high, codes, n_clusters)


def bounding_box(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest value of every column. All values must be finite."""
    low, high = np.empty((2, x.shape[1]), x.dtype)
    kernel.bounding_box(x, low, high)
    if np.isnan(low).any():
        raise_not_finite(x)
    return low, high


def total_width(low: np.ndarray, high: np.ndarray) -> tuple[float, int]:
    """The sum of the widths of all columns: a number, and the power of two by which it is multiplied."""
    low, high = low.astype(np.float64), high.astype(np.float64)
    power = 64 if max(-low.min(), high.max()) > OVERFLOW_LIMIT else 0
    return math.fsum((np.ldexp(high, -power) - np.ldexp(low, -power)).tolist()), power


def scale_into_range(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, farthest: int = MAX_DISTANCE_EXPONENT
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Points and their bounding box, scaled by 2**shift so that squares of distances keep their digits; and the shift.

    Most data need no scaling and are returned unchanged. If data are scaled, columns of one value become 0.
    """
    width, power = total_width(low, high)
    if not power and (not width or SAFE_WIDTHS[0] < width < SAFE_WIDTHS[1]):
        return x, low, high, 0
    shift = farthest - power - math.frexp(width)[1]
    varies = low < high
    x, low, high = (np.ldexp(np.where(varies, values, 0.0), shift) for values in (x, low, high))
    return x, low, high, shift


def as_matrix(X: Any) -> np.ndarray:
    """An array with rows and columns, of any numeric type."""
    if class_labels.is_sparse(X):
        raise TypeError("X is sparse: dense rows are needed; pass X.toarray(), or a part of the rows")
    x = validation.as_array(X, "X")
    if x.ndim != 2:
        kind = ValueError if x.ndim else validation.InputError
        raise kind(f"X must have two dimensions, rows and columns; found {x.ndim} (shape {x.shape})")
    if min(x.shape) == 0:
        raise ValueError(f"X is empty (shape {x.shape}): at least one row and one column are needed")
    return x


def as_coordinates(x: np.ndarray) -> np.ndarray:
    """The matrix as kernels read it: float32 is kept, any other type becomes float64."""
    is_float16 = x.dtype == np.float16
    x = validation.as_floats(x, "X")
    return x.astype(np.float64) if is_float16 else x


def raise_not_finite(x: np.ndarray, first_row: int = 0) -> None:
    """Raise the error for a value that is NaN or infinite."""
    row, column = divmod(validation.first_bad_row(~np.isfinite(x).reshape(-1)), x.shape[1])
    value = x[row, column]
    found = "NaN" if value != value else value
    raise ValueError(f"X has {found} at row {first_row + row}, column {column}: finite numbers are needed")


def encode_clusters(values: Any, rows: int) -> tuple[np.ndarray, int]:
    """int64 codes of the clusters of all rows, and the number of clusters. Labels may have fractions."""
    read = class_labels.read_labels(values, "labels")
    if isinstance(read, np.ndarray) and read.dtype.kind == "f":
        column = class_labels.as_column(read, "labels")
        if not np.isfinite(column).all():
            validation.raise_bad_number(column, "labels")
        validation.check_lengths(rows, column.shape[0], "X", "labels")
        classes, codes = np.unique(column, return_inverse=True)
        return codes.astype(np.int64, copy=False), classes.shape[0]
    coded = class_labels.encode_target(class_labels.read_label_column(read, "labels"), "labels")
    validation.check_lengths(rows, coded.codes.shape[0], "X", "labels")
    return coded.codes.astype(np.int64, copy=False), coded.classes.shape[0]


def check_cluster_count(n_clusters: int, rows: int) -> None:
    """Metrics need at least two clusters, and one cluster with more than one row."""
    if not 1 < n_clusters < rows:
        raise ValueError(
            f"Number of labels is {n_clusters}. Valid values are 2 to n_samples - 1 (inclusive): there are {rows} rows"
        )


def group_by_cluster(codes: np.ndarray, n_clusters: int) -> RowsByCluster:
    sizes, ends = np.empty((2, n_clusters), np.int64)
    order = np.empty(codes.shape[0], np.int64)
    distances.sort_rows(codes, sizes, ends, order)
    return RowsByCluster(codes, order, sizes, ends)


def read_scaled_points(X: Any, labels: Any, farthest: int) -> tuple[ClusteredPoints, int]:
    """Points and labels, scaled by 2**shift so that squares neither overflow nor underflow; and the shift."""
    x, low, high, codes, n_clusters = read_points(X, labels)
    x, low, high, shift = scale_into_range(x, low, high, farthest)
    return ClusteredPoints(x, low, high, codes, n_clusters), shift


def compute_centers(x: np.ndarray, clusters: RowsByCluster) -> tuple[np.ndarray, np.ndarray]:
    """The mean row of each cluster, and the mean of all rows (a matrix of one row)."""
    out = np.empty((clusters.sizes.shape[0], x.shape[1]))
    overall = np.empty((1, x.shape[1]))
    kernel.compute_centers(x, clusters.order, clusters.ends, out, overall[0], exact.new_states(x.shape[1]))
    return out, overall


def distances_to_centers(points: ClusteredPoints, centers: np.ndarray, root: bool) -> np.ndarray:
    """The distance of each row from the center of its cluster; squared if not `root`."""
    out = np.empty(points.x.shape[0])
    kernel.distances_to_centers(points.x, points.codes, centers, root, out)
    return out
