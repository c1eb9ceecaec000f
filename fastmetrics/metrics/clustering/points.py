"""Rows of coordinates and the cluster each is in, checked: what scores of one partition take."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs, labels
from fastmetrics._kernels import dispersions as kernel

# Widths beside which neither the squares of small distances nor the sums of great ones leave the range of doubles.
DOUBLES = (2.0**-400, 2.0**400)
FARTHEST = 490  # rows brought into range lie within 2**490: squares of distances 2**-1000 of that are still normal
FAR = 2.0**900  # beyond, sums of coordinates or of widths might overflow
SPARSE = "X is sparse: dense rows are needed; pass X.toarray(), or some of the rows"


class Points(NamedTuple):
    """A contiguous matrix, float32 or float64, the greatest and least of each column, and codes 0 .. n_clusters - 1."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    codes: np.ndarray
    n_clusters: int


def open_points(X: Any, labels: Any) -> Points:
    """Coordinates and labels of the same rows, and as many clusters as there may be."""
    x = as_matrix(X)
    codes, n_clusters = code_clusters(labels, x.shape[0])
    x = as_coordinates(x)
    low, high = box_of(x)
    check_clusters(n_clusters, x.shape[0])
    return Points(x, low, high, codes, n_clusters)


def box_of(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest of every column; all numbers must be finite."""
    low, high = np.empty((2, x.shape[1]), x.dtype)
    kernel.box(x, low, high)
    if np.isnan(low).any():
        raise_not_finite(x)
    return low, high


def width_of(low: np.ndarray, high: np.ndarray) -> tuple[float, int]:
    """The sum of the columns' widths: a number, and the power of two to multiply it by."""
    low, high = low.astype(np.float64), high.astype(np.float64)
    power = 64 if max(-low.min(), high.max()) > FAR else 0
    return math.fsum((np.ldexp(high, -power) - np.ldexp(low, -power)).tolist()), power


def bring_into_range(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, farthest: int = FARTHEST
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Rows and their box in units, powers of two, in which squares of distances keep their digits; and the power.

    The units of most data will do: these stay as they are. Columns of one value, however great, become 0 with others.
    """
    width, power = width_of(low, high)
    if not power and (not width or DOUBLES[0] < width < DOUBLES[1]):
        return x, low, high, 0
    shift = farthest - power - math.frexp(width)[1]
    varies = low < high
    x, low, high = (np.ldexp(np.where(varies, each, 0.0), shift) for each in (x, low, high))
    return x, low, high, shift


def as_matrix(X: Any) -> np.ndarray:
    """An array of two dimensions with rows and columns, of whatever numbers."""
    if labels.is_sparse(X):
        raise TypeError(SPARSE)
    x = inputs.as_array(X, "X")
    if x.ndim != 2:
        kind = ValueError if x.ndim else inputs.InputError
        raise kind(f"X must have two dimensions, rows and columns; found {x.ndim} (shape {x.shape})")
    if min(x.shape) == 0:
        raise ValueError(f"X is empty (shape {x.shape}): at least one row and one column are needed")
    return x


def as_coordinates(x: np.ndarray) -> np.ndarray:
    """The matrix as kernels read it: float32 as it is, anything else as float64."""
    half = x.dtype == np.float16
    x = inputs.as_floats(x, "X")
    return x.astype(np.float64) if half else x


def raise_not_finite(x: np.ndarray, first_row: int = 0) -> None:
    """The error for a value that is NaN or infinite."""
    row, column = (int(place) for place in np.argwhere(~np.isfinite(x))[0])
    value = x[row, column]
    found = "NaN" if value != value else value
    raise ValueError(f"X has {found} at row {first_row + row}, column {column}: finite numbers are needed")


def code_clusters(values: Any, rows: int) -> tuple[np.ndarray, int]:
    """The number of each row's cluster, int64, and how many clusters there are. Any labels will do, fractions too."""
    opened = labels.open_target(values, "labels")
    if isinstance(opened, np.ndarray) and opened.dtype.kind == "f":
        column = labels.as_column(opened, "labels")
        if not np.isfinite(column).all():
            inputs.raise_bad_number(column, "labels")
        inputs.check_lengths(rows, column.shape[0], "X", "labels")
        classes, codes = np.unique(column, return_inverse=True)
        return codes.astype(np.int64, copy=False), classes.shape[0]
    coded = labels.code_target(labels.open_column(opened, "labels"), "labels")
    inputs.check_lengths(rows, coded.codes.shape[0], "X", "labels")
    return coded.codes.astype(np.int64, copy=False), coded.classes.shape[0]


def check_clusters(n_clusters: int, rows: int) -> None:
    """Fewer than two clusters have no other, and n clusters of n rows nothing inside."""
    if not 1 < n_clusters < rows:
        raise ValueError(
            f"Number of labels is {n_clusters}. Valid values are 2 to n_samples - 1 (inclusive): there are {rows} rows"
        )
