"""Are clusters of one class, are classes in one cluster, and the mean of both answers."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from fastmetrics._core import inputs
from fastmetrics.metrics.clustering.contingency import Contingency, count_labels
from fastmetrics.metrics.clustering.entropy import information

__all__ = ["completeness_score", "homogeneity_completeness_v_measure", "homogeneity_score", "v_measure_score"]


def homogeneity_completeness_v_measure(
    labels_true: Any, labels_pred: Any, *, beta: float = 1.0, n_threads: int | None = None
) -> tuple[float, float, float]:
    """Homogeneity, completeness and V-measure of clusters.

    Homogeneity is 1 - H(classes | clusters) / H(classes) = MI / H(classes), completeness MI / H(clusters), and
    V = (1 + beta) h c / (beta h + c); A. Rosenberg, J. Hirschberg, "V-measure: a conditional entropy-based external
    cluster evaluation measure", EMNLP-CoNLL 2007.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, texts, dates, or other objects with one order.
    labels_pred : array-like of shape (n,)
        Clusters, of the same kind or another.
    beta : float of at least 0
        The weight of completeness; above 1 it counts more than homogeneity.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    homogeneity, completeness, v_measure : float
        In [0, 1].

    Raises
    ------
    ValueError
        Labels that are missing (NaN, None, NaT), no column, or without one order; lengths that differ; beta below 0.

    Warns
    -----
    UserWarning
        Labels that have fractions.

    Notes
    -----
    One class: homogeneity 1. One cluster: completeness 1. No rows: 1, 1, 1. V is 0 where either is.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.homogeneity_completeness_v_measure([0, 0, 1, 1], [0, 0, 0, 0])
    (0.0, 1.0, 0.0)
    >>> [round(value, 4) for value in fm.homogeneity_completeness_v_measure([0, 0, 1, 1], [0, 0, 1, 2])]
    [1.0, 0.6667, 0.8]
    """
    check_beta(beta)
    return homogeneity_completeness_v(count_labels(labels_true, labels_pred, n_threads=n_threads), beta, n_threads)


def homogeneity_score(labels_true: Any, labels_pred: Any, *, n_threads: int | None = None) -> float:
    """How far each cluster has rows of one class only.

    1 - H(classes | clusters) / H(classes) = MI / H(classes); A. Rosenberg, J. Hirschberg, "V-measure: a conditional
    entropy-based external cluster evaluation measure", EMNLP-CoNLL 2007. The completeness of the columns exchanged.

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
        In [0, 1]; 1 if no cluster has rows of two classes.

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
    One class, or no rows: 1.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.homogeneity_score([0, 0, 1, 1], [0, 1, 2, 3])
    1.0
    >>> fm.homogeneity_score([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    return homogeneity(count_labels(labels_true, labels_pred, n_threads=n_threads), n_threads)


def completeness_score(labels_true: Any, labels_pred: Any, *, n_threads: int | None = None) -> float:
    """How far the rows of each class are in one cluster.

    1 - H(clusters | classes) / H(clusters) = MI / H(clusters); A. Rosenberg, J. Hirschberg, "V-measure: a conditional
    entropy-based external cluster evaluation measure", EMNLP-CoNLL 2007. The homogeneity of the columns exchanged.

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
        In [0, 1]; 1 if no class has rows in two clusters.

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
    One cluster, or no rows: 1.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.completeness_score([0, 0, 1, 1], [0, 0, 0, 0])
    1.0
    >>> fm.completeness_score([0, 0, 1, 1], [0, 1, 2, 3])
    0.5
    """
    return completeness(count_labels(labels_true, labels_pred, n_threads=n_threads), n_threads)


def v_measure_score(labels_true: Any, labels_pred: Any, *, beta: float = 1.0, n_threads: int | None = None) -> float:
    """The V-measure: the weighted harmonic mean of homogeneity and completeness.

    V = (1 + beta) h c / (beta h + c); A. Rosenberg, J. Hirschberg, "V-measure: a conditional entropy-based external
    cluster evaluation measure", EMNLP-CoNLL 2007. With beta = 1 it is `normalized_mutual_info_score`.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, texts, dates, or other objects with one order.
    labels_pred : array-like of shape (n,)
        Clusters, of the same kind or another.
    beta : float of at least 0
        The weight of completeness; above 1 it counts more than homogeneity.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1]; 1 for equal partitions.

    Raises
    ------
    ValueError
        Labels that are missing (NaN, None, NaT), no column, or without one order; lengths that differ; beta below 0.

    Warns
    -----
    UserWarning
        Labels that have fractions.

    Notes
    -----
    One class in several clusters, and the other way round: 0. No rows: 1.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.v_measure_score([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.8
    """
    check_beta(beta)
    return v_measure(count_labels(labels_true, labels_pred, n_threads=n_threads), beta, n_threads)


def homogeneity_completeness_v(
    table: Contingency, beta: float = 1.0, n_threads: int | None = None
) -> tuple[float, float, float]:
    """Homogeneity, completeness and V-measure of a table."""
    if table.total == 0:
        return 1.0, 1.0, 1.0
    mutual, of_classes, of_clusters = information(table, n_threads)
    homogeneous = mutual / of_classes if of_classes else 1.0
    complete = mutual / of_clusters if of_clusters else 1.0
    if homogeneous == 0 or complete == 0:
        return homogeneous, complete, 0.0
    return homogeneous, complete, (1 + beta) * homogeneous * complete / (beta * homogeneous + complete)


def homogeneity(table: Contingency, n_threads: int | None = None) -> float:
    """The homogeneity of a table."""
    return homogeneity_completeness_v(table, n_threads=n_threads)[0]


def completeness(table: Contingency, n_threads: int | None = None) -> float:
    """The completeness of a table."""
    return homogeneity_completeness_v(table, n_threads=n_threads)[1]


def v_measure(table: Contingency, beta: float = 1.0, n_threads: int | None = None) -> float:
    """The V-measure of a table."""
    return homogeneity_completeness_v(table, beta, n_threads)[2]


def check_beta(beta: Any) -> None:
    if not isinstance(beta, Real) or not 0 <= float(beta) < math.inf:
        raise inputs.OptionError(f"beta must be a number of at least 0; found {beta!r}")
