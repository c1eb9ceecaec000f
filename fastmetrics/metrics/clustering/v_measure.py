"""Homogeneity, completeness and their weighted harmonic mean, the V-measure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.option_numbers import real_value
from fastmetrics.metrics.clustering.contingency import AnyContingency, count_contingency
from fastmetrics.metrics.clustering.mutual_info import compute_information

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike

__all__ = ["completeness_score", "homogeneity_completeness_v_measure", "homogeneity_score", "v_measure_score"]


@answers_unknown
def homogeneity_completeness_v_measure(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, beta: float = 1.0, n_threads: int | None = None
) -> tuple[float, float, float]:
    """Homogeneity, completeness and V-measure of clusters.

    Homogeneity is 1 - H(classes | clusters) / H(classes) = MI / H(classes), completeness MI / H(clusters), and
    V = (1 + beta) h c / (beta h + c); A. Rosenberg, J. Hirschberg, "V-measure: a conditional entropy-based external
    cluster evaluation measure", EMNLP-CoNLL 2007.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, strings, dates, or other objects that can be sorted.
    labels_pred : array-like of shape (n,)
        Clusters. Their type may differ from the type of the classes.
    beta : float of at least 0
        The weight of completeness; above 1 completeness has more weight than homogeneity.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    homogeneity, completeness, v_measure : float
        In [0, 1].

    Raises
    ------
    ValueError
        Missing labels (NaN, None, NaT), labels that are not one column or that cannot be sorted together, different
        lengths, or beta below 0.

    Warns
    -----
    UserWarning
        Labels with fractional values.

    Notes
    -----
    Homogeneity is 1 for one class, completeness is 1 for one cluster, and all are 1 without rows. V is 0 if homogeneity
    or completeness is 0.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.homogeneity_completeness_v_measure([0, 0, 1, 1], [0, 0, 0, 0])
    (0.0, 1.0, 0.0)
    >>> [round(value, 4) for value in fm.homogeneity_completeness_v_measure([0, 0, 1, 1], [0, 0, 1, 2])]
    [1.0, 0.6667, 0.8]
    """
    check_beta(beta)
    return homogeneity_completeness_v(count_contingency(labels_true, labels_pred, n_threads=n_threads), beta, n_threads)


@answers_unknown
def homogeneity_score(labels_true: ArrayLike, labels_pred: ArrayLike, *, n_threads: int | None = None) -> float:
    """The extent to which each cluster contains rows of one class only.

    1 - H(classes | clusters) / H(classes) = MI / H(classes); A. Rosenberg, J. Hirschberg, "V-measure: a conditional
    entropy-based external cluster evaluation measure", EMNLP-CoNLL 2007. It is the completeness of the swapped columns.

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
        In [0, 1]; 1 if each cluster has rows of one class only.

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
    1 for one class, and without rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.homogeneity_score([0, 0, 1, 1], [0, 1, 2, 3])
    1.0
    >>> fm.homogeneity_score([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred, n_threads=n_threads)[0]


@answers_unknown
def completeness_score(labels_true: ArrayLike, labels_pred: ArrayLike, *, n_threads: int | None = None) -> float:
    """The extent to which all rows of a class are in one cluster.

    1 - H(clusters | classes) / H(clusters) = MI / H(clusters); A. Rosenberg, J. Hirschberg, "V-measure: a conditional
    entropy-based external cluster evaluation measure", EMNLP-CoNLL 2007. It is the homogeneity of the swapped columns.

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
        In [0, 1]; 1 if each class is in one cluster only.

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
    1 for one cluster, and without rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.completeness_score([0, 0, 1, 1], [0, 0, 0, 0])
    1.0
    >>> fm.completeness_score([0, 0, 1, 1], [0, 1, 2, 3])
    0.5
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred, n_threads=n_threads)[1]


@answers_unknown
def v_measure_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, beta: float = 1.0, n_threads: int | None = None
) -> float:
    """The V-measure: the weighted harmonic mean of homogeneity and completeness.

    V = (1 + beta) h c / (beta h + c); A. Rosenberg, J. Hirschberg, "V-measure: a conditional entropy-based external
    cluster evaluation measure", EMNLP-CoNLL 2007. With beta = 1 it is `normalized_mutual_info_score`.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, strings, dates, or other objects that can be sorted.
    labels_pred : array-like of shape (n,)
        Clusters. Their type may differ from the type of the classes.
    beta : float of at least 0
        The weight of completeness; above 1 completeness has more weight than homogeneity.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, 1]; 1 for equal partitions.

    Raises
    ------
    ValueError
        Missing labels (NaN, None, NaT), labels that are not one column or that cannot be sorted together, different
        lengths, or beta below 0.

    Warns
    -----
    UserWarning
        Labels with fractional values.

    Notes
    -----
    0 for one class in several clusters, or several classes in one cluster. 1 without rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.v_measure_score([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.8
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred, beta=beta, n_threads=n_threads)[2]


def homogeneity_completeness_v(
    table: AnyContingency, beta: float = 1.0, n_threads: int | None = None
) -> tuple[float, float, float]:
    """Homogeneity, completeness and V-measure of a table."""
    if table.total == 0:
        return 1.0, 1.0, 1.0
    mutual, class_entropy, cluster_entropy = compute_information(table, n_threads)
    h = mutual / class_entropy if class_entropy else 1.0
    c = mutual / cluster_entropy if cluster_entropy else 1.0
    if h == 0 or c == 0:
        return h, c, 0.0
    return h, c, (1 + beta) * h * c / (beta * h + c)


def check_beta(beta: Any) -> None:
    if not 0 <= real_value(beta) < math.inf:
        raise validation.OptionError(f"beta must be a number of at least 0; found {beta!r}")
