"""The Fowlkes-Mallows index: the geometric mean of precision and recall over pairs of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.exact import divide_root
from fastmetrics.metrics.clustering.contingency import AnyContingency, count_contingency
from fastmetrics.metrics.clustering.pair_confusion_matrix import count_pairs

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike

__all__ = ["fowlkes_mallows_score"]


def fowlkes_mallows(table: AnyContingency) -> float:
    """fowlkes_mallows_score of a table."""
    pairs = count_pairs(table)
    if not pairs.both:
        return 0.0
    return divide_root(pairs.both * pairs.both, (pairs.both + pairs.classes_only) * (pairs.both + pairs.clusters_only))


@answers_unknown
def fowlkes_mallows_score(labels_true: ArrayLike, labels_pred: ArrayLike, *, n_threads: int | None = None) -> float:
    """The geometric mean of precision and recall over pairs of rows.

    FMI = tp / sqrt((tp + fp) (tp + fn)), with tp the pairs together in both partitions, fp only in labels_pred, fn only
    in labels_true; E. Fowlkes, C. Mallows, "A method for comparing two hierarchical clusterings", Journal of the
    American Statistical Association 78, 1983. The root is taken of integers and rounded once.

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
        In [0, 1]; 0 if no pair is together in both partitions.

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
    >>> fm.fowlkes_mallows_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> fm.fowlkes_mallows_score([0, 0, 0, 0], [0, 1, 2, 3])
    0.0
    """
    return fowlkes_mallows(count_contingency(labels_true, labels_pred, n_threads=n_threads))
