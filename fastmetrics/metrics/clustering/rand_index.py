"""The Rand index and the adjusted Rand index: pairs of rows on which two partitions agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.exact import divide
from fastmetrics.metrics.clustering.contingency import AnyContingency, count_contingency
from fastmetrics.metrics.clustering.pair_confusion_matrix import count_pairs

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike

__all__ = ["adjusted_rand_score", "rand_score"]


def rand(table: AnyContingency) -> float:
    """rand_score of a table."""
    pairs = count_pairs(table)
    if not pairs.clusters_only and not pairs.classes_only:
        return 1.0
    return divide(pairs.neither + pairs.both, sum(pairs))


def adjusted_rand(table: AnyContingency) -> float:
    """adjusted_rand_score of a table."""
    neither, clusters, classes, both = count_pairs(table)
    if not clusters and not classes:
        return 1.0
    agreement = 2 * (both * neither - classes * clusters)
    return divide(agreement, (both + classes) * (classes + neither) + (both + clusters) * (clusters + neither))


@answers_unknown
def rand_score(labels_true: ArrayLike, labels_pred: ArrayLike, *, n_threads: int | None = None) -> float:
    """The share of pairs of rows on which two partitions agree: together in both or apart in both.

    RI = (C[0, 0] + C[1, 1]) / (n (n - 1)), with C of `pair_confusion_matrix`; W. Rand, "Objective criteria for the
    evaluation of clustering methods", Journal of the American Statistical Association 66, 1971.

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
    float
        In [0, 1], rounded once; 1 if there are fewer than two rows.

    Raises
    ------
    ValueError
        Missing labels (NaN, None, NaT), labels that are not one column or that cannot be sorted together, or different
        lengths.

    Warns
    -----
    UserWarning
        Labels with fractional values.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.rand_score([0, 0, 1, 2], [0, 0, 1, 1])
    0.8333333333333334
    """
    return rand(count_contingency(labels_true, labels_pred, n_threads=n_threads))


@answers_unknown
def adjusted_rand_score(labels_true: ArrayLike, labels_pred: ArrayLike, *, n_threads: int | None = None) -> float:
    """The Rand index, rescaled so that 0 is the value expected by chance and 1 is full agreement.

    ARI = (RI - E) / (1 - E), with E the expected Rand index of random partitions with classes and clusters of these
    sizes. In pairs, 2 (tp tn - fn fp) / ((tp + fn) (fn + tn) + (tp + fp) (fp + tn)). L. Hubert, P. Arabie, "Comparing
    partitions", Journal of Classification 2, 1985. Computed in integers of any size, rounded once.

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
    float
        In [-0.5, 1]; 1 if the partitions are equal, also without rows.

    Raises
    ------
    ValueError
        Missing labels (NaN, None, NaT), labels that are not one column or that cannot be sorted together, or different
        lengths.

    Warns
    -----
    UserWarning
        Labels with fractional values.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.adjusted_rand_score([0, 0, 1, 2], [0, 0, 1, 1])
    0.5714285714285714
    >>> fm.adjusted_rand_score([0, 0, 1, 1], ["a", "b", "a", "b"])
    -0.5
    """
    return adjusted_rand(count_contingency(labels_true, labels_pred, n_threads=n_threads))
