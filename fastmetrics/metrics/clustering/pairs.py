"""Scores over pairs of rows: together or apart in one partition, and in the other.

All are made of four whole numbers, the sums of the squared sizes of cells, classes and clusters and the number of
rows: Python's integers, whatever their size, and one division that is rounded once. Pairs are ordered, as in
scikit-learn: each counts twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core.exact import divide, divide_root
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import contingency as kernel
from fastmetrics.metrics.clustering.contingency import Contingency, count_labels

__all__ = [
    "adjusted_rand_score",
    "fowlkes_mallows_score",
    "pair_confusion_matrix",
    "pair_jaccard_score",
    "rand_score",
]

INT64_MAX = 2**63 - 1
NARROW_TOTAL = 1 << 32


class Pairs(NamedTuple):
    """Ordered pairs of rows: apart in both partitions, together in clusters only, in classes only, in both."""

    neither: int
    clusters: int
    classes: int
    both: int


def count_pairs(table: Contingency) -> Pairs:
    """The pairs of a table. It needs `counts`, `row_sums`, `column_sums` and `total`."""
    total = table.total
    wide = total >= NARROW_TOTAL
    both = kernel.square_sum(table.counts, wide)
    classes, clusters = kernel.square_sum(table.row_sums, wide), kernel.square_sum(table.column_sums, wide)
    return Pairs(total * total - classes - clusters + both, clusters - both, classes - both, both - total)


def rand(table: Contingency) -> float:
    """rand_score of a table."""
    pairs = count_pairs(table)
    if not pairs.clusters and not pairs.classes:
        return 1.0
    return divide(pairs.neither + pairs.both, sum(pairs))


def adjusted_rand(table: Contingency) -> float:
    """adjusted_rand_score of a table."""
    neither, clusters, classes, both = count_pairs(table)
    if not clusters and not classes:
        return 1.0
    agreement = 2 * (both * neither - classes * clusters)
    return divide(agreement, (both + classes) * (classes + neither) + (both + clusters) * (clusters + neither))


def fowlkes_mallows(table: Contingency) -> float:
    """fowlkes_mallows_score of a table."""
    pairs = count_pairs(table)
    if not pairs.both:
        return 0.0
    return divide_root(pairs.both * pairs.both, (pairs.both + pairs.classes) * (pairs.both + pairs.clusters))


def pair_jaccard(table: Contingency) -> float:
    """pair_jaccard_score of a table; NaN, without a warning, where no pair is together in either partition."""
    pairs = count_pairs(table)
    together = pairs.both + pairs.classes + pairs.clusters
    return divide(pairs.both, together) if together else float("nan")


def pair_confusion(table: Contingency) -> NDArray[Any]:
    """pair_confusion_matrix of a table."""
    neither, clusters, classes, both = count_pairs(table)
    fits = max(neither, clusters, classes, both) <= INT64_MAX
    return np.array([[neither, clusters], [classes, both]], np.int64 if fits else object)


def pair_confusion_matrix(labels_true: Any, labels_pred: Any, *, n_threads: int | None = None) -> NDArray[Any]:
    """How many pairs of rows are together or apart in each of two partitions.

    C[1, 1] counts pairs together in both, C[0, 1] those together in labels_pred only, C[1, 0] in labels_true only,
    C[0, 0] pairs apart in both. Pairs are ordered (each counts twice): with n_ij the rows of class i and cluster j,
    C[1, 1] = sum n_ij^2 - n. L. Hubert, P. Arabie, "Comparing partitions", Journal of Classification 2, 1985.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, texts, dates, or other objects with one order.
    labels_pred : array-like of shape (n,)
        Clusters, of the same kind or another.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    ndarray of shape (2, 2)
        int64; an array of Python integers if one of them passes 2**63 - 1 (beyond some 3e9 rows).

    Raises
    ------
    ValueError
        Labels that are missing (NaN, None, NaT), no column, or without one order; lengths that differ.

    Warns
    -----
    UserWarning
        Labels that have fractions.

    Notes
    -----
    No rows give zeros.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.pair_confusion_matrix([0, 0, 1, 2], ["a", "a", "b", "b"])
    array([[8, 2],
           [0, 2]])
    """
    return pair_confusion(count_labels(labels_true, labels_pred, n_threads=n_threads))


def rand_score(labels_true: Any, labels_pred: Any, *, n_threads: int | None = None) -> float:
    """The share of pairs of rows on which two partitions agree: together in both, or apart in both.

    RI = (C[0, 0] + C[1, 1]) / (n (n - 1)), with C of `pair_confusion_matrix`; W. Rand, "Objective criteria for the
    evaluation of clustering methods", Journal of the American Statistical Association 66, 1971.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, texts, dates, or other objects with one order.
    labels_pred : array-like of shape (n,)
        Clusters, of the same kind or another.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1], rounded once; 1 if there are fewer than two rows.

    Raises
    ------
    ValueError
        Labels that are missing (NaN, None, NaT), no column, or without one order; lengths that differ.

    Warns
    -----
    UserWarning
        Labels that have fractions.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.rand_score([0, 0, 1, 2], [0, 0, 1, 1])
    0.8333333333333334
    """
    return rand(count_labels(labels_true, labels_pred, n_threads=n_threads))


def adjusted_rand_score(labels_true: Any, labels_pred: Any, *, n_threads: int | None = None) -> float:
    """The Rand index, rescaled so that 0 is what chance gives and 1 is agreement.

    ARI = (RI - E) / (1 - E), with E the expected Rand index of random partitions with classes and clusters of these
    sizes; of pairs, 2 (tp tn - fn fp) / ((tp + fn) (fn + tn) + (tp + fp) (fp + tn)). L. Hubert, P. Arabie, "Comparing
    partitions", Journal of Classification 2, 1985. Computed in integers of any length, rounded once.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, texts, dates, or other objects with one order.
    labels_pred : array-like of shape (n,)
        Clusters, of the same kind or another.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [-0.5, 1]; 1 if the partitions are equal, of no rows too.

    Raises
    ------
    ValueError
        Labels that are missing (NaN, None, NaT), no column, or without one order; lengths that differ.

    Warns
    -----
    UserWarning
        Labels that have fractions.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.adjusted_rand_score([0, 0, 1, 2], [0, 0, 1, 1])
    0.5714285714285714
    >>> fm.adjusted_rand_score([0, 0, 1, 1], ["a", "b", "a", "b"])
    -0.5
    """
    return adjusted_rand(count_labels(labels_true, labels_pred, n_threads=n_threads))


def fowlkes_mallows_score(labels_true: Any, labels_pred: Any, *, n_threads: int | None = None) -> float:
    """The geometric mean of precision and recall over pairs of rows.

    FMI = tp / sqrt((tp + fp) (tp + fn)), with tp the pairs together in both partitions, fp in labels_pred only, fn in
    labels_true only; E. Fowlkes, C. Mallows, "A method for comparing two hierarchical clusterings", Journal of the
    American Statistical Association 78, 1983. The root is taken of whole numbers, and the result rounded once.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, texts, dates, or other objects with one order.
    labels_pred : array-like of shape (n,)
        Clusters, of the same kind or another.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1]; 0 if no pair is together in both partitions.

    Raises
    ------
    ValueError
        Labels that are missing (NaN, None, NaT), no column, or without one order; lengths that differ.

    Warns
    -----
    UserWarning
        Labels that have fractions.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.fowlkes_mallows_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> fm.fowlkes_mallows_score([0, 0, 0, 0], [0, 1, 2, 3])
    0.0
    """
    return fowlkes_mallows(count_labels(labels_true, labels_pred, n_threads=n_threads))


def pair_jaccard_score(labels_true: Any, labels_pred: Any, *, n_threads: int | None = None) -> float:
    """The Jaccard index over pairs of rows: together in both partitions, among those together in one at least.

    tp / (tp + fp + fn), with tp the pairs together in both partitions, fp in labels_pred only, fn in labels_true only;
    A. Ben-Hur, A. Elisseeff, I. Guyon, "A stability based method for discovering structure in clustered data", 2002.
    `jaccard_score` is another thing: it compares labels, row by row.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, texts, dates, or other objects with one order.
    labels_pred : array-like of shape (n,)
        Clusters, of the same kind or another.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1], rounded once; NaN with an UndefinedMetricWarning if no pair is together in either partition: fewer
        than two rows, or every row alone in both.

    Raises
    ------
    ValueError
        Labels that are missing (NaN, None, NaT), no column, or without one order; lengths that differ.

    Warns
    -----
    UserWarning
        Labels that have fractions.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.pair_jaccard_score([0, 0, 1, 2], ["a", "a", "b", "b"])
    0.5
    """
    score = pair_jaccard(count_labels(labels_true, labels_pred, n_threads=n_threads))
    if score != score:
        return warn_undefined("pair_jaccard_score", "no pair of rows is together in either partition")
    return score
