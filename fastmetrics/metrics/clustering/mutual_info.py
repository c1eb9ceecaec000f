"""Mutual information of two partitions: plain, by entropy, and corrected for chance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.parallel import count_threads
from fastmetrics.metrics.clustering import entropy
from fastmetrics.metrics.clustering.contingency import Contingency, count_labels

__all__ = ["adjusted_mutual_info_score", "mutual_info_score", "normalized_mutual_info_score"]

AVERAGES = ("min", "geometric", "arithmetic", "max")


def mutual_info_score(
    labels_true: Any, labels_pred: Any, *, contingency: Any = None, n_threads: int | None = None
) -> float:
    """The mutual information of two partitions, in nats.

    MI = sum_ij n_ij/n log(n n_ij / (a_i b_j)) for n_ij rows of class i in cluster j, a_i rows of the class, b_j of the
    cluster; N. X. Vinh, J. Epps, J. Bailey, "Information theoretic measures for clusterings comparison", JMLR 2010.

    Parameters
    ----------
    labels_true : array-like of shape (n,), or None
        Classes: integers of any size, bools, floats, texts, dates, or other objects with one order.
    labels_pred : array-like of shape (n,), or None
        Clusters, of the same kind or another.
    contingency : array-like or sparse matrix of shape (n_classes, n_clusters), optional
        The rows of each class in each cluster. If given, labels are not looked at.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0, at most the lesser entropy of both.

    Raises
    ------
    ValueError
        Labels that are missing (NaN, None, NaT), no column, or without one order; lengths that differ; no rows, counts
        below 0 or with fractions.

    Warns
    -----
    UserWarning
        Labels that have fractions.

    Notes
    -----
    Computed as a sum of terms of which none is negative, to a few units in the last place however small it is.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.mutual_info_score([0, 0, 1, 1], ["a", "a", "b", "b"]), 6)
    0.693147
    >>> fm.mutual_info_score(None, None, contingency=[[3, 1], [6, 2]])
    0.0
    """
    if n_threads is not None:
        count_threads(n_threads)
    if contingency is not None:
        return mutual_info(open_table(contingency), n_threads)
    table = count_labels(labels_true, labels_pred, n_threads=n_threads)
    if table.total == 0:
        raise ValueError("labels_true is empty: mutual information needs at least one row")
    return mutual_info(table, n_threads)


def mutual_info(table: Contingency, n_threads: int | None = None) -> float:
    """The mutual information of a table; no rows: NaN."""
    return entropy.information(table, n_threads).mutual


def normalized_mutual_info_score(
    labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic", n_threads: int | None = None
) -> float:
    """The mutual information of two partitions as a part of their mean entropy.

    NMI = MI / mean(H(classes), H(clusters)), H = sum_i a_i/n log(n / a_i); N. X. Vinh, J. Epps, J. Bailey, "Information
    theoretic measures for clusterings comparison", JMLR 2010. With the arithmetic mean it is the V-measure.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, texts, dates, or other objects with one order.
    labels_pred : array-like of shape (n,)
        Clusters, of the same kind or another.
    average_method : {"min", "geometric", "arithmetic", "max"}
        Which mean of the two entropies.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1]; 1 for equal partitions.

    Raises
    ------
    ValueError
        Labels that are missing (NaN, None, NaT), no column, or without one order; lengths that differ; another average.

    Warns
    -----
    UserWarning
        Labels that have fractions.

    Notes
    -----
    1 without rows, and for one class in one cluster; 0 for one class in several clusters, and the other way round.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.normalized_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> fm.normalized_mutual_info_score([0, 0, 1, 1], [0, 1, 2, 3], average_method="max")
    0.5
    """
    inputs.check_option(average_method, "average_method", AVERAGES)
    table = count_labels(labels_true, labels_pred, n_threads=n_threads)
    return normalized_mutual_info(table, average_method, n_threads)


def normalized_mutual_info(
    table: Contingency, average_method: str = "arithmetic", n_threads: int | None = None
) -> float:
    """The normalized mutual information of a table."""
    if is_same(table):
        return 1.0
    mutual, of_classes, of_clusters = entropy.information(table, n_threads)
    return mutual / average(of_classes, of_clusters, average_method) if mutual else 0.0


def adjusted_mutual_info_score(
    labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic", n_threads: int | None = None
) -> float:
    """The mutual information of two partitions beyond what chance gives.

    AMI = (MI - E MI) / (mean(H(classes), H(clusters)) - E MI), with E MI the mean over all partitions with the same
    sizes: sum_ij sum_k P(k) k/n log(n k / (a_i b_j)), k hypergeometric; N. X. Vinh, J. Epps, J. Bailey, "Information
    theoretic measures for clusterings comparison", JMLR 2010.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, texts, dates, or other objects with one order.
    labels_pred : array-like of shape (n,)
        Clusters, of the same kind or another.
    average_method : {"min", "geometric", "arithmetic", "max"}
        Which mean of the two entropies.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At most 1; 1 for equal partitions, about 0 for random ones, which may be below.

    Raises
    ------
    ValueError
        Labels that are missing (NaN, None, NaT), no column, or without one order; lengths that differ; another average.

    Warns
    -----
    UserWarning
        Labels that have fractions.

    Notes
    -----
    1 without rows, and for one class in one cluster; 0 for one class in several clusters, and the other way round.
    Where either partition puts every row apart, all partitions with these sizes are alike: 0, and 1 if the mean
    entropy is not more than what is expected either.

    Time goes with the pairs of different sizes that occur, not with the number of rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.adjusted_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(fm.adjusted_mutual_info_score([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 6)
    0.298792
    """
    inputs.check_option(average_method, "average_method", AVERAGES)
    table = count_labels(labels_true, labels_pred, n_threads=n_threads)
    return adjusted_mutual_info(table, average_method, n_threads)


def adjusted_mutual_info(table: Contingency, average_method: str = "arithmetic", n_threads: int | None = None) -> float:
    """The adjusted mutual information of a table."""
    if is_same(table):
        return 1.0
    n_classes, n_clusters = table.row_sums.shape[0], table.column_sums.shape[0]
    if n_classes == 1 or n_clusters == 1:
        return 0.0
    mutual, of_classes, of_clusters = entropy.information(table, n_threads)
    expected = of_clusters if n_classes == table.total else of_classes
    if n_classes != table.total and n_clusters != table.total:
        # In truth at most the lesser entropy: it is a mean of numbers that are.
        expected = min(entropy.expected_information(table, n_threads), of_classes, of_clusters)
    best = average(of_classes, of_clusters, average_method) - expected
    # 0 / 0: no partition with these sizes tells less. It is a perfect match, as in scikit-learn but for its rounding.
    return (mutual - expected) / best if best > 0 else 1.0


def is_same(table: Contingency) -> bool:
    """Are both partitions the same, but for the names of their parts?"""
    return len(table.counts) == len(table.row_sums) == len(table.column_sums)


def average(first: float, second: float, method: str) -> float:
    """A mean of two numbers."""
    if method == "min":
        return min(first, second)
    if method == "max":
        return max(first, second)
    return math.sqrt(first * second) if method == "geometric" else (first + second) / 2


def open_table(contingency: Any) -> Contingency:
    """A matrix of counts, dense or sparse, as a table without empty classes and clusters."""
    if hasattr(contingency, "tocoo"):
        cells = contingency.tocoo()
        shape, values = cells.shape, cells.data
    else:
        values = inputs.as_array(contingency, "contingency")
        shape = values.shape
    if len(shape) != 2:
        raise ValueError(f"contingency must be a matrix of counts; found {len(shape)} dimensions")
    if not hasattr(contingency, "tocoo"):
        rows, columns = np.nonzero(values)
        values = values[rows, columns]
    else:
        rows, columns = cells.row, cells.col
    counts = as_counts(values, rows, columns)
    found, places = np.unique(rows.astype(np.int64) * shape[1] + columns, return_inverse=True)
    merged = np.zeros(found.shape[0], np.int64)
    np.add.at(merged, places, counts)
    found, merged = found[merged > 0], merged[merged > 0]
    total = sum(merged.tolist())
    entropy.check_total(total)
    if total == 0:
        raise ValueError("contingency has no rows: all of its counts are 0")
    classes, codes_of_rows = np.unique(found // shape[1], return_inverse=True)
    clusters, codes_of_columns = np.unique(found % shape[1], return_inverse=True)
    row_sums, column_sums = np.zeros(classes.shape[0], np.int64), np.zeros(clusters.shape[0], np.int64)
    np.add.at(row_sums, codes_of_rows, merged)
    np.add.at(column_sums, codes_of_columns, merged)
    return Contingency(codes_of_rows, codes_of_columns, merged, row_sums, column_sums, total, classes, clusters)


def as_counts(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Counts as int64; anything that is no count is an error."""
    if values.dtype.kind not in "buif":
        raise inputs.OptionError(f"contingency must be a matrix of counts; found {values.dtype}")
    counts = values.astype(np.int64) if values.dtype.kind != "f" else values
    bad = (counts < 0) | ~(counts < 2.0**63) if values.dtype.kind == "f" else counts < 0
    if values.dtype.kind == "f":
        bad |= np.floor(values) != values
    if bad.any():
        place = int(np.argmax(bad))
        raise ValueError(
            f"contingency must have whole counts of at least 0; found {values[place]!s} in row {int(rows[place])}, "
            f"column {int(columns[place])}"
        )
    return counts.astype(np.int64, copy=False)
