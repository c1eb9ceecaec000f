"""The inverse of a matrix of covariances by exact sums and operations in a fixed order, without BLAS."""

from __future__ import annotations

import numpy as np

from fastmetrics._core import exact

SINGULAR = (
    "metric 'mahalanobis' needs the inverse of the covariances of the columns of X, which are linearly dependent: pass "
    "VI, or fewer columns"
)


def inverse_covariance(x: np.ndarray) -> np.ndarray:
    """The inverse of the covariances (divisor n - 1) of the columns of a float64 array, which is symmetric."""
    n, dims = x.shape
    columns = np.ascontiguousarray(x.T)
    means = [exact.divide(exact.integer_sum(column), n << exact.EXPONENT) for column in columns]
    deviations = columns - np.array(means)[:, None]
    covariances = np.empty((dims, dims))
    for one in range(dims):
        for other in range(one + 1):
            total = exact.exact_sum(deviations[one] * deviations[other])
            covariances[one, other] = covariances[other, one] = total / (n - 1) if n > 1 else np.nan
    return inverse(covariances)


def inverse(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a symmetric matrix without negative eigenvalues, by Cholesky's decomposition.

    Rows and columns are scaled to a diagonal of about 1, by powers of two: columns of any size keep their digits.
    """
    dims = matrix.shape[0]
    diagonal = matrix.diagonal()
    if not (diagonal > 0).all():
        raise ValueError(SINGULAR)
    shifts = -(np.frexp(diagonal)[1] // 2)
    scaled = np.ldexp(np.ldexp(matrix, shifts), shifts[:, None])
    # The lower factor L, and beside it the same operations on the unit matrix, which give the inverse of L.
    rows = np.hstack((scaled, np.eye(dims)))
    for step in range(dims):
        pivot = rows[step, step]
        if not pivot > dims * np.finfo(np.float64).eps:
            raise ValueError(SINGULAR)
        rows[step] /= np.sqrt(pivot)
        rows[step + 1 :] -= rows[step + 1 :, step, None] / np.sqrt(pivot) * rows[step]
    factor = rows[:, dims:]
    found = np.zeros((dims, dims))
    for row in factor:  # the transpose of the inverse factor times itself
        found += row[:, None] * row
    return np.asarray(np.ldexp(np.ldexp(found, shifts), shifts[:, None]))
