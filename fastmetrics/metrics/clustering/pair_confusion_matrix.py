"""Pairs of rows that are together or apart in each of two partitions: the statistic of all metrics of pairs.

The counts of pairs follow from four integers: the sums of the squared sizes of cells, classes and clusters, and the
number of rows. They are Python integers of any size. Pairs are ordered, as in scikit-learn: each pair counts twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.clustering import mutual_info as kernel
from fastmetrics.metrics.clustering.contingency import AnyContingency, count_contingency

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Ints

__all__ = ["pair_confusion_matrix"]

INT64_MAX = 2**63 - 1
WIDE_TOTAL = 1 << 32


class PairConfusion(NamedTuple):
    """Ordered pairs of rows: together in neither partition, only in clusters, only in classes, and in both."""

    neither: int
    clusters_only: int
    classes_only: int
    both: int


def count_pairs(table: AnyContingency) -> PairConfusion:
    """Count the pairs of a table. It needs counts, sizes of classes and clusters, and the total."""
    total = table.total
    wide = total >= WIDE_TOTAL
    both = sum(kernel.square_sum(part.counts, wide) for part in table.parts())
    classes, clusters = kernel.square_sum(table.row_sums, wide), kernel.square_sum(table.column_sums, wide)
    return PairConfusion(total * total - classes - clusters + both, clusters - both, classes - both, both - total)


def pair_confusion(table: AnyContingency) -> NDArray[Any]:
    """pair_confusion_matrix of a table."""
    pairs = count_pairs(table)
    dtype = np.int64 if max(pairs) <= INT64_MAX else object
    return np.array([[pairs.neither, pairs.clusters_only], [pairs.classes_only, pairs.both]], dtype)


@answers_unknown
def pair_confusion_matrix(labels_true: ArrayLike, labels_pred: ArrayLike, *, n_threads: int | None = None) -> Ints:
    """The number of pairs of rows that are together or apart in each of two partitions.

    C[1, 1] counts pairs together in both, C[0, 1] pairs together only in labels_pred, C[1, 0] pairs together only in
    labels_true, C[0, 0] pairs apart in both. Pairs are ordered (each counts twice): with n_ij the rows of class i and
    cluster j, C[1, 1] = sum n_ij^2 - n. L. Hubert, P. Arabie, "Comparing partitions", Journal of Classification 2,
    1985.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, strings, dates, or other objects that can be sorted.
    labels_pred : array-like of shape (n,)
        Clusters. Their type may differ from the type of the classes.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    ndarray of shape (2, 2)
        int64; an array of Python integers if one of them exceeds 2**63 - 1 (above about 3e9 rows).

    Raises
    ------
    ValueError
        Missing labels (NaN, None, NaT), labels that are not one column or that cannot be sorted together, or different
        lengths.

    Warns
    -----
    UserWarning
        Labels with fractional values.

    Notes
    -----
    Without rows all counts are 0.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.pair_confusion_matrix([0, 0, 1, 2], ["a", "a", "b", "b"])
    array([[8, 2],
           [0, 2]])
    """
    return pair_confusion(count_contingency(labels_true, labels_pred, n_threads=n_threads))
