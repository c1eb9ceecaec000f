"""Precision, recall, F and support, per label or averaged, as scikit-learn defines them."""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core import inputs
from fastmetrics._core.parallel import count_threads
from fastmetrics.metrics.classification import ratios
from fastmetrics.metrics.classification.ratios import Counts

Scores = NDArray[np.float64]

MACROS = ("mean_of_f", "f_of_means")

__all__ = ["f1_score", "fbeta_score", "precision_recall_fscore_support", "precision_score", "recall_score"]


@overload
def precision_recall_fscore_support(
    y_true: Any, y_pred: Any, *, beta: float = ..., average: None = None, labels: Any = ..., pos_label: Any = ...,
    warn_for: Any = ..., sample_weight: Any = ..., zero_division: Any = ..., macro: str = ...,
    n_threads: int | None = ...,
) -> tuple[Scores, Scores, Scores, NDArray[Any]]: ...  # fmt: skip
@overload
def precision_recall_fscore_support(
    y_true: Any, y_pred: Any, *, beta: float = ..., average: str, labels: Any = ..., pos_label: Any = ...,
    warn_for: Any = ..., sample_weight: Any = ..., zero_division: Any = ..., macro: str = ...,
    n_threads: int | None = ...,
) -> tuple[float, float, float, None]: ...  # fmt: skip
def precision_recall_fscore_support(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float = 1.0,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = None,
    warn_for: Any = ("precision", "recall", "f-score"),
    sample_weight: Any = None,
    zero_division: Any = "warn",
    macro: str = "mean_of_f",
    n_threads: int | None = None,
) -> tuple[Any, Any, Any, Any]:
    """Precision, recall, F-beta and support of every label, or averaged.

    precision = tp / (tp + fp), recall = tp / (tp + fn), F = (1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp) and
    support = tp + fn, with tp, fp and fn the true positives, false positives and false negatives of a label (van
    Rijsbergen, Information Retrieval, 1979, chapter 7). Every ratio is one division of exact counts.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels of any one kind: integers, texts, bools. With a column per label (0 or 1, dense or
        sparse), sets of labels.
    beta : float of at least 0
        How much more recall weighs than precision: 0 is precision, infinity recall.
    labels : array-like, optional
        The labels to count and their order, for every average but "binary"; by default all that occur, sorted. Labels
        that do not occur count nothing. For sets of labels, column numbers.
    pos_label : int, float, bool or str
        The label to report with average="binary"; elsewhere not used.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value of `pos_label`, for two classes. None: an array with the value of every label. "micro": of
        the counts of all labels added. "macro": the mean over labels. "weighted": the mean weighted by the labels' true
        rows. "samples": the mean over rows, for sets of labels.
    warn_for : tuple, list or set
        Which of "precision", "recall" and "f-score" warn when they are 0/0.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    zero_division : "warn", 0, 1 or nan
        What stands for 0/0: "warn" is 0 with an UndefinedMetricWarning; nan is left out of averages.
    macro : "mean_of_f" or "f_of_means"
        The macro F: the mean of the labels' F, or the F of macro precision and macro recall (Sokolova and Lapalme, Inf.
        Process. Manag. 45, 2009). The second needs average="macro".
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    precision, recall, fscore : float or ndarray of float64
        In [0, 1]; arrays, one value per label, with average=None.
    support : ndarray of int64 or None
        The true rows of every label (with weights float64), with average=None.

    Raises
    ------
    ValueError
        Labels that are no class labels, of two kinds or of different lengths, no rows, an option not allowed, a
        `pos_label` that does not occur beside two labels that do, average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> y_true, y_pred = ["cat", "dog", "pig", "cat"], ["cat", "pig", "pig", "dog"]
    >>> precision, recall, fscore, support = fm.precision_recall_fscore_support(y_true, y_pred, average="macro")
    >>> precision, recall, support
    (0.5, 0.5, None)
    >>> fm.precision_recall_fscore_support(y_true, y_pred, labels=["pig", "cat"])
    (array([0.5, 1. ]), array([1. , 0.5]), array([0.66666667, 0.66666667]), array([1, 2]))
    """
    beta = ratios.check_beta(beta)
    if not isinstance(warn_for, (tuple, list, set)):
        raise inputs.OptionError(f"warn_for must be a tuple, list or set; found {warn_for!r}")
    zero = check_options(average, pos_label, zero_division, macro, n_threads)
    counts = ratios.count(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads, 3)
    warn = set(warn_for) if isinstance(zero_division, str) else set()
    precision, recall = ratios.precision_of(counts), ratios.recall_of(counts)
    precisions = ratios.divide(precision, counts, zero, "precision" in warn, 3)
    recalls = ratios.divide(recall, counts, zero, "recall" in warn, 3)
    fscore = ratios.fbeta_of(counts, beta)
    if fscore.name == "precision":
        fscores = precisions
    elif fscore.name == "recall":
        fscores = recalls
    else:
        fscores = ratios.divide(fscore, counts, zero, "f-score" in warn and macro != "f_of_means", 3)
    mean_precision, mean_recall = ratios.finish(precisions, counts), ratios.finish(recalls, counts)
    if macro == "f_of_means":
        return mean_precision, mean_recall, f_of_means(mean_precision, mean_recall, beta), None
    return mean_precision, mean_recall, ratios.finish(fscores, counts), counts.support


def check_options(average: Any, pos_label: Any, zero_division: Any, macro: Any, n_threads: int | None) -> float:
    """The options all of this family take; what stands for 0/0 is returned."""
    ratios.check_average(average)
    ratios.check_pos_label(pos_label)
    inputs.check_option(macro, "macro", MACROS)
    if macro == "f_of_means" and average != "macro":
        raise inputs.OptionError(f"macro='f_of_means' needs average='macro'; found {average!r}")
    if n_threads is not None:
        count_threads(n_threads)
    return ratios.check_zero_division(zero_division)


def f_of_means(precision: float, recall: float, beta: float) -> float:
    """F of two means; 0 where both are 0."""
    square = beta * beta
    if square == math.inf:
        return recall
    if precision == 0 == recall:
        return 0.0
    return (1 + square) * precision * recall / (square * precision + recall) if beta else precision


@overload
def precision_score(
    y_true: Any, y_pred: Any, *, average: None, labels: Any = ..., pos_label: Any = ..., sample_weight: Any = ...,
    zero_division: Any = ..., n_threads: int | None = ...,
) -> Scores: ...  # fmt: skip
@overload
def precision_score(
    y_true: Any, y_pred: Any, *, average: str = ..., labels: Any = ..., pos_label: Any = ...,
    sample_weight: Any = ..., zero_division: Any = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
def precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
    n_threads: int | None = None,
) -> Any:
    """The share of rows that have a label among those predicted to have it.

    precision = tp / (tp + fp), with tp the true and fp the false positives of a label.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels of any one kind: integers, texts, bools. With a column per label (0 or 1, dense or
        sparse), sets of labels.
    labels : array-like, optional
        The labels to count and their order, for every average but "binary"; by default all that occur, sorted. Labels
        that do not occur count nothing. For sets of labels, column numbers.
    pos_label : int, float, bool or str
        The label to report with average="binary"; elsewhere not used.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value of `pos_label`, for two classes. None: an array with the value of every label. "micro": of
        the counts of all labels added. "macro": the mean over labels. "weighted": the mean weighted by the labels' true
        rows. "samples": the mean over rows, for sets of labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    zero_division : "warn", 0, 1 or nan
        What stands for 0/0: "warn" is 0 with an UndefinedMetricWarning; nan is left out of averages.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array, one value per label, with average=None.

    Raises
    ------
    ValueError
        Labels that are no class labels, of two kinds or of different lengths, no rows, an option not allowed, a
        `pos_label` that does not occur beside two labels that do, average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.precision_score([0, 1, 1, 0], [1, 1, 1, 0], average=None)
    array([1.        , 0.66666667])
    >>> fm.precision_score([0, 1, 2, 0], [0, 2, 2, 1], average="macro")
    0.5
    """
    zero = check_options(average, pos_label, zero_division, "mean_of_f", n_threads)
    counts = ratios.count(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads, 3)
    warn = isinstance(zero_division, str)
    return ratios.finish(ratios.divide(ratios.precision_of(counts), counts, zero, warn, 3), counts)


@overload
def recall_score(
    y_true: Any, y_pred: Any, *, average: None, labels: Any = ..., pos_label: Any = ..., sample_weight: Any = ...,
    zero_division: Any = ..., n_threads: int | None = ...,
) -> Scores: ...  # fmt: skip
@overload
def recall_score(
    y_true: Any, y_pred: Any, *, average: str = ..., labels: Any = ..., pos_label: Any = ...,
    sample_weight: Any = ..., zero_division: Any = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
def recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
    n_threads: int | None = None,
) -> Any:
    """The share of rows predicted to have a label among those that have it.

    recall = tp / (tp + fn), with tp the true positives and fn the false negatives of a label (sensitivity, true
    positive rate).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels of any one kind: integers, texts, bools. With a column per label (0 or 1, dense or
        sparse), sets of labels.
    labels : array-like, optional
        The labels to count and their order, for every average but "binary"; by default all that occur, sorted. Labels
        that do not occur count nothing. For sets of labels, column numbers.
    pos_label : int, float, bool or str
        The label to report with average="binary"; elsewhere not used.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value of `pos_label`, for two classes. None: an array with the value of every label. "micro": of
        the counts of all labels added. "macro": the mean over labels. "weighted": the mean weighted by the labels' true
        rows. "samples": the mean over rows, for sets of labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    zero_division : "warn", 0, 1 or nan
        What stands for 0/0: "warn" is 0 with an UndefinedMetricWarning; nan is left out of averages.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array, one value per label, with average=None.

    Raises
    ------
    ValueError
        Labels that are no class labels, of two kinds or of different lengths, no rows, an option not allowed, a
        `pos_label` that does not occur beside two labels that do, average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.recall_score([0, 1, 1, 0], [1, 1, 1, 0], average=None)
    array([0.5, 1. ])
    >>> fm.recall_score(["no", "yes", "yes"], ["no", "no", "yes"], pos_label="yes")
    0.5
    """
    zero = check_options(average, pos_label, zero_division, "mean_of_f", n_threads)
    counts = ratios.count(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads, 3)
    warn = isinstance(zero_division, str)
    return ratios.finish(ratios.divide(ratios.recall_of(counts), counts, zero, warn, 3), counts)


@overload
def fbeta_score(
    y_true: Any, y_pred: Any, *, beta: float, average: None, labels: Any = ..., pos_label: Any = ...,
    sample_weight: Any = ..., zero_division: Any = ..., macro: str = ..., n_threads: int | None = ...,
) -> Scores: ...  # fmt: skip
@overload
def fbeta_score(
    y_true: Any, y_pred: Any, *, beta: float, average: str = ..., labels: Any = ..., pos_label: Any = ...,
    sample_weight: Any = ..., zero_division: Any = ..., macro: str = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
def fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
    macro: str = "mean_of_f",
    n_threads: int | None = None,
) -> Any:
    """The harmonic mean of precision and recall, in which recall weighs beta^2 times as much.

    F = (1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp), with tp, fp and fn the true positives, false positives and
    false negatives of a label (van Rijsbergen, Information Retrieval, 1979, chapter 7).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels of any one kind: integers, texts, bools. With a column per label (0 or 1, dense or
        sparse), sets of labels.
    beta : float of at least 0
        How much more recall weighs than precision: 0 is precision, infinity recall.
    labels : array-like, optional
        The labels to count and their order, for every average but "binary"; by default all that occur, sorted. Labels
        that do not occur count nothing. For sets of labels, column numbers.
    pos_label : int, float, bool or str
        The label to report with average="binary"; elsewhere not used.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value of `pos_label`, for two classes. None: an array with the value of every label. "micro": of
        the counts of all labels added. "macro": the mean over labels. "weighted": the mean weighted by the labels' true
        rows. "samples": the mean over rows, for sets of labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    zero_division : "warn", 0, 1 or nan
        What stands for 0/0: "warn" is 0 with an UndefinedMetricWarning; nan is left out of averages.
    macro : "mean_of_f" or "f_of_means"
        The macro F: the mean of the labels' F, or the F of macro precision and macro recall (Sokolova and Lapalme, Inf.
        Process. Manag. 45, 2009). The second needs average="macro".
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array, one value per label, with average=None.

    Raises
    ------
    ValueError
        Labels that are no class labels, of two kinds or of different lengths, no rows, an option not allowed, a
        `pos_label` that does not occur beside two labels that do, average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.fbeta_score([0, 1, 1, 1], [0, 0, 1, 1], beta=0.5)
    0.9090909090909091
    """
    beta = ratios.check_beta(beta)
    zero = check_options(average, pos_label, zero_division, macro, n_threads)
    counts = ratios.count(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads, 3)
    warn = isinstance(zero_division, str)
    if macro == "f_of_means":
        return macro_f(counts, beta, zero, warn)
    fscore = ratios.fbeta_of(counts, beta)
    # As in scikit-learn, an F that is precision or recall does not warn in their place.
    return ratios.finish(ratios.divide(fscore, counts, zero, warn and fscore.name == "f-score", 3), counts)


def macro_f(counts: Counts, beta: float, zero: float, warn: bool) -> float:
    """The F of the labels' mean precision and mean recall; a warning where one of these is made of 0/0."""
    precisions = ratios.divide(ratios.precision_of(counts), counts, zero, warn, 4)
    recalls = ratios.divide(ratios.recall_of(counts), counts, zero, warn, 4)
    return f_of_means(ratios.finish(precisions, counts), ratios.finish(recalls, counts), beta)


@overload
def f1_score(
    y_true: Any, y_pred: Any, *, average: None, labels: Any = ..., pos_label: Any = ..., sample_weight: Any = ...,
    zero_division: Any = ..., macro: str = ..., n_threads: int | None = ...,
) -> Scores: ...  # fmt: skip
@overload
def f1_score(
    y_true: Any, y_pred: Any, *, average: str = ..., labels: Any = ..., pos_label: Any = ...,
    sample_weight: Any = ..., zero_division: Any = ..., macro: str = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
def f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
    macro: str = "mean_of_f",
    n_threads: int | None = None,
) -> Any:
    """The harmonic mean of precision and recall.

    F1 = 2 tp / (2 tp + fp + fn), with tp, fp and fn the true positives, false positives and false negatives of a label
    (van Rijsbergen, Information Retrieval, 1979, chapter 7).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels of any one kind: integers, texts, bools. With a column per label (0 or 1, dense or
        sparse), sets of labels.
    labels : array-like, optional
        The labels to count and their order, for every average but "binary"; by default all that occur, sorted. Labels
        that do not occur count nothing. For sets of labels, column numbers.
    pos_label : int, float, bool or str
        The label to report with average="binary"; elsewhere not used.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value of `pos_label`, for two classes. None: an array with the value of every label. "micro": of
        the counts of all labels added. "macro": the mean over labels. "weighted": the mean weighted by the labels' true
        rows. "samples": the mean over rows, for sets of labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    zero_division : "warn", 0, 1 or nan
        What stands for 0/0: "warn" is 0 with an UndefinedMetricWarning; nan is left out of averages.
    macro : "mean_of_f" or "f_of_means"
        The macro F: the mean of the labels' F, or the F of macro precision and macro recall (Sokolova and Lapalme, Inf.
        Process. Manag. 45, 2009). The second needs average="macro".
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array, one value per label, with average=None.

    Raises
    ------
    ValueError
        Labels that are no class labels, of two kinds or of different lengths, no rows, an option not allowed, a
        `pos_label` that does not occur beside two labels that do, average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.f1_score([0, 1, 1, 0], [1, 1, 1, 0])
    0.8
    >>> y_true, y_pred = [0, 1, 2, 0], [0, 0, 2, 1]
    >>> fm.f1_score(y_true, y_pred, average="macro"), fm.f1_score(y_true, y_pred, average="macro", macro="f_of_means")
    (0.5, 0.5)
    """
    zero = check_options(average, pos_label, zero_division, macro, n_threads)
    counts = ratios.count(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads, 3)
    warn = isinstance(zero_division, str)
    if macro == "f_of_means":
        return macro_f(counts, 1.0, zero, warn)
    return ratios.finish(ratios.divide(ratios.fbeta_of(counts, 1.0), counts, zero, warn, 3), counts)
