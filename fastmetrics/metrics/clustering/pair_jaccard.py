"""The Jaccard index over pairs of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.exact import divide
from fastmetrics._core.undefined import warn_undefined
from fastmetrics.metrics.clustering.contingency import AnyContingency, count_contingency
from fastmetrics.metrics.clustering.pair_confusion_matrix import count_pairs

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike

__all__ = ["pair_jaccard_score"]


def pair_jaccard(table: AnyContingency) -> float:
    """pair_jaccard_score of a table; NaN, without a warning, if no pair is together in either partition."""
    pairs = count_pairs(table)
    together = pairs.both + pairs.classes_only + pairs.clusters_only
    return divide(pairs.both, together) if together else float("nan")


@answers_unknown
def pair_jaccard_score(labels_true: ArrayLike, labels_pred: ArrayLike, *, n_threads: int | None = None) -> float:
    """The Jaccard index over pairs of rows: the pairs together in both partitions, of those together in at least one.

    tp / (tp + fp + fn), with tp the pairs together in both partitions, fp only in labels_pred, fn only in labels_true;
    A. Ben-Hur, A. Elisseeff, I. Guyon, "A stability based method for discovering structure in clustered data", 2002.
    `jaccard_score` is a different metric: it compares labels row by row.

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
        In [0, 1], rounded once; NaN with an UndefinedMetricWarning if no pair is together in either partition: fewer
        than two rows, or every row alone in both.

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
    >>> fm.pair_jaccard_score([0, 0, 1, 2], ["a", "a", "b", "b"])
    0.5
    """
    score = pair_jaccard(count_contingency(labels_true, labels_pred, n_threads=n_threads))
    if score != score:
        return warn_undefined("pair_jaccard_score", "no pair of rows is together in either partition")
    return score
