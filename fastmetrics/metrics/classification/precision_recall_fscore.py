"""Precision, recall, F-score and support, per label or averaged, as scikit-learn defines them."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core.calls.compiled_functions import computed_by
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics.metrics.classification import count_ratios

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Ints, Label, MatrixLike, NumericArrayLike
    from fastmetrics._core.types.options import Average, MacroF, WarnFor, ZeroDivision

Scores = NDArray[np.float64]


__all__ = ["f1_score", "fbeta_score", "precision_recall_fscore_support", "precision_score", "recall_score"]


@overload
def precision_recall_fscore_support(
    y_true: MatrixLike, y_pred: MatrixLike, *, beta: float = ..., labels: ArrayLike | None = ...,
    pos_label: Label = ..., average: None = ..., warn_for: tuple[WarnFor, ...] | list[WarnFor] | set[WarnFor] = ...,
    sample_weight: None = ..., zero_division: ZeroDivision = ..., macro: MacroF = ..., n_threads: int | None = ...,
) -> tuple[Floats, Floats, Floats, Ints]: ...  # fmt: skip
@overload
def precision_recall_fscore_support(
    y_true: MatrixLike, y_pred: MatrixLike, *, beta: float = ..., labels: ArrayLike | None = ...,
    pos_label: Label = ..., average: None = ..., warn_for: tuple[WarnFor, ...] | list[WarnFor] | set[WarnFor] = ...,
    sample_weight: NumericArrayLike, zero_division: ZeroDivision = ..., macro: MacroF = ...,
    n_threads: int | None = ...,
) -> tuple[Floats, Floats, Floats, Floats]: ...  # fmt: skip
@overload
def precision_recall_fscore_support(
    y_true: MatrixLike, y_pred: MatrixLike, *, beta: float = ..., labels: ArrayLike | None = ...,
    pos_label: Label = ..., average: Average, warn_for: tuple[WarnFor, ...] | list[WarnFor] | set[WarnFor] = ...,
    sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ..., macro: MacroF = ...,
    n_threads: int | None = ...,
) -> tuple[float, float, float, None]: ...  # fmt: skip
@answers_unknown
def precision_recall_fscore_support(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    beta: float = 1.0,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: Average | None = None,
    warn_for: tuple[WarnFor, ...] | list[WarnFor] | set[WarnFor] = ("precision", "recall", "f-score"),
    sample_weight: NumericArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
    macro: MacroF = "mean_of_f",
    n_threads: int | None = None,
) -> tuple[float | Floats, float | Floats, float | Floats, Ints | Floats | None]:
    """Precision, recall, F-beta and support, per label or averaged.

    precision = tp / (tp + fp), recall = tp / (tp + fn), F = (1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp) and
    support = tp + fn, with tp, fp and fn the true positives, false positives and false negatives of a label (van
    Rijsbergen, Information Retrieval, 1979, chapter 7). Every ratio is one division of exact counts.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels, both of one kind: integers, strings or bools. Multilabel input has one column per
        label, with 0 and 1 (dense or sparse).
    beta : float of at least 0
        The weight of recall relative to precision: 0 gives precision, infinity gives recall.
    labels : array-like, optional
        The labels to include and their order, for every average except "binary". By default all labels that occur,
        sorted. A label that does not occur has no true and no predicted rows. For multilabel input, column numbers.
    pos_label : int, float, bool or str
        The positive label with average="binary"; ignored for other averages.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value for `pos_label`, for two classes only. None: an array with one value per label. "micro":
        computed from the summed counts of all labels. "macro": the mean over labels. "weighted": the mean over labels,
        weighted by their true rows. "samples": the mean over rows, for multilabel input.
    warn_for : tuple, list or set of {"precision", "recall", "f-score"}
        The scores that warn at 0/0.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    zero_division : "warn", 0, 1 or nan
        The value of 0/0. "warn" gives 0 with an UndefinedMetricWarning; nan is left out of averages.
    macro : "mean_of_f" or "f_of_means"
        The macro F. "mean_of_f": the mean of the F of all labels. "f_of_means": the F of macro precision and macro
        recall (Sokolova and Lapalme, Inf. Process. Manag. 45, 2009); it needs average="macro".
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    precision, recall, fscore : float or ndarray of float64
        In [0, 1]; arrays with one value per label if average=None.
    support : ndarray of int64 or None
        The true rows of every label if average=None (float64 with weights); else None.

    Raises
    ------
    ValueError
        Values that are not class labels, labels of two kinds, different lengths, no rows, an invalid option, a
        `pos_label` that does not occur although two other labels do, or average="binary" with more than two classes.

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
    beta = count_ratios.check_beta(beta)
    if not isinstance(warn_for, (tuple, list, set)):
        raise validation.OptionError(f"warn_for must be a tuple, list or set; found {warn_for!r}")
    zero = check_options(average, pos_label, zero_division, macro)
    counts = count_ratios.count_for_average(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads)
    warn = set(warn_for) if isinstance(zero_division, str) else set()
    precision, recall = count_ratios.precision_ratio(counts), count_ratios.recall_ratio(counts)
    precisions = count_ratios.divide_counts(precision, counts, zero, "precision" in warn)
    recalls = count_ratios.divide_counts(recall, counts, zero, "recall" in warn)
    fscore = count_ratios.fbeta_ratio(counts, beta)
    # As in scikit-learn, an F that equals precision or recall does not warn.
    warn_f = fscore.name == "f-score" and "f-score" in warn and macro != "f_of_means"
    fscores = count_ratios.divide_counts(fscore, counts, zero, warn_f)
    mean_precision = count_ratios.average_ratios(precisions, counts)
    mean_recall = count_ratios.average_ratios(recalls, counts)
    if macro == "f_of_means":
        return mean_precision, mean_recall, f_of_means(mean_precision, mean_recall, beta), None
    return mean_precision, mean_recall, count_ratios.average_ratios(fscores, counts), counts.support


def check_options(average: Any, pos_label: Any, zero_division: Any, macro: Any) -> float:
    """Check the options of this family and return the value of 0/0."""
    zero = count_ratios.check_options(average, pos_label, zero_division)
    validation.check_option(macro, "macro", ("mean_of_f", "f_of_means"))
    if macro == "f_of_means" and average != "macro":
        raise validation.OptionError(f"macro='f_of_means' needs average='macro'; found {average!r}")
    return zero


def f_of_means(precision: float, recall: float, beta: float) -> float:
    """The F of a mean precision and a mean recall; 0 if both are 0."""
    square = beta * beta
    if square == math.inf:
        return recall
    if precision == 0 == recall:
        return 0.0
    return (1 + square) * precision * recall / (square * precision + recall) if beta else precision


@overload
def precision_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ..., average: None,
    sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def precision_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ...,
    average: Average = ..., sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@computed_by(partial(count_ratios.average_ratio, count_ratios.precision_ratio))
def precision_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: Average | None = "binary",
    sample_weight: NumericArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
    n_threads: int | None = None,
) -> float | Floats:
    """The share of rows predicted to have a label that have it.

    precision = tp / (tp + fp), with tp the true and fp the false positives of a label.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels, both of one kind: integers, strings or bools. Multilabel input has one column per
        label, with 0 and 1 (dense or sparse).
    labels : array-like, optional
        The labels to include and their order, for every average except "binary". By default all labels that occur,
        sorted. A label that does not occur has no true and no predicted rows. For multilabel input, column numbers.
    pos_label : int, float, bool or str
        The positive label with average="binary"; ignored for other averages.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value for `pos_label`, for two classes only. None: an array with one value per label. "micro":
        computed from the summed counts of all labels. "macro": the mean over labels. "weighted": the mean over labels,
        weighted by their true rows. "samples": the mean over rows, for multilabel input.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    zero_division : "warn", 0, 1 or nan
        The value of 0/0. "warn" gives 0 with an UndefinedMetricWarning; nan is left out of averages.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array with one value per label if average=None.

    Raises
    ------
    ValueError
        Values that are not class labels, labels of two kinds, different lengths, no rows, an invalid option, a
        `pos_label` that does not occur although two other labels do, or average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.precision_score([0, 1, 1, 0], [1, 1, 1, 0], average=None)
    array([1.        , 0.66666667])
    >>> fm.precision_score([0, 1, 2, 0], [0, 2, 2, 1], average="macro")
    0.5
    """


@overload
def recall_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ..., average: None,
    sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def recall_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ...,
    average: Average = ..., sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@computed_by(partial(count_ratios.average_ratio, count_ratios.recall_ratio))
def recall_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: Average | None = "binary",
    sample_weight: NumericArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
    n_threads: int | None = None,
) -> float | Floats:
    """The share of rows with a label that are predicted to have it.

    recall = tp / (tp + fn), with tp the true positives and fn the false negatives of a label (sensitivity, true
    positive rate).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels, both of one kind: integers, strings or bools. Multilabel input has one column per
        label, with 0 and 1 (dense or sparse).
    labels : array-like, optional
        The labels to include and their order, for every average except "binary". By default all labels that occur,
        sorted. A label that does not occur has no true and no predicted rows. For multilabel input, column numbers.
    pos_label : int, float, bool or str
        The positive label with average="binary"; ignored for other averages.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value for `pos_label`, for two classes only. None: an array with one value per label. "micro":
        computed from the summed counts of all labels. "macro": the mean over labels. "weighted": the mean over labels,
        weighted by their true rows. "samples": the mean over rows, for multilabel input.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    zero_division : "warn", 0, 1 or nan
        The value of 0/0. "warn" gives 0 with an UndefinedMetricWarning; nan is left out of averages.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array with one value per label if average=None.

    Raises
    ------
    ValueError
        Values that are not class labels, labels of two kinds, different lengths, no rows, an invalid option, a
        `pos_label` that does not occur although two other labels do, or average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.recall_score([0, 1, 1, 0], [1, 1, 1, 0], average=None)
    array([0.5, 1. ])
    >>> fm.recall_score(["no", "yes", "yes"], ["no", "no", "yes"], pos_label="yes")
    0.5
    """


def average_fbeta(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any,
    pos_label: Any,
    average: Any,
    sample_weight: Any,
    zero_division: Any,
    macro: Any,
    n_threads: int | None,
    beta: float = 1.0,
) -> float | NDArray[np.float64]:
    """The whole of `f1_score`, and of `fbeta_score` but for the check of beta."""
    mean: float | Floats
    if macro == "f_of_means":
        means: Any = precision_recall_fscore_support(
            y_true, y_pred, beta=beta, labels=labels, pos_label=pos_label, average=average, sample_weight=sample_weight,
            zero_division=zero_division, macro=macro, n_threads=n_threads,
        )  # fmt: skip
        mean = means[2]
        return mean
    zero = check_options(average, pos_label, zero_division, macro)
    counts = count_ratios.count_for_average(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads)
    warn = isinstance(zero_division, str)
    fscore = count_ratios.fbeta_ratio(counts, beta)
    # As in scikit-learn, an F that equals precision or recall does not warn.
    ratios = count_ratios.divide_counts(fscore, counts, zero, warn and fscore.name == "f-score")
    mean = count_ratios.average_ratios(ratios, counts)
    return mean


def average_checked_fbeta(y_true: Any, y_pred: Any, *, beta: Any, **options: Any) -> float | NDArray[np.float64]:
    return average_fbeta(y_true, y_pred, beta=count_ratios.check_beta(beta), **options)


@overload
def fbeta_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, beta: float, labels: ArrayLike | None = ..., pos_label: Label = ...,
    average: None, sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ..., macro: MacroF = ...,
    n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def fbeta_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, beta: float, labels: ArrayLike | None = ..., pos_label: Label = ...,
    average: Average = ..., sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ...,
    macro: MacroF = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@computed_by(average_checked_fbeta)
def fbeta_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    beta: float,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: Average | None = "binary",
    sample_weight: NumericArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
    macro: MacroF = "mean_of_f",
    n_threads: int | None = None,
) -> float | Floats:
    """The weighted harmonic mean of precision and recall; the weight of recall is beta^2 times that of precision.

    F = (1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp), with tp, fp and fn the true positives, false positives and
    false negatives of a label (van Rijsbergen, Information Retrieval, 1979, chapter 7).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels, both of one kind: integers, strings or bools. Multilabel input has one column per
        label, with 0 and 1 (dense or sparse).
    beta : float of at least 0
        The weight of recall relative to precision: 0 gives precision, infinity gives recall.
    labels : array-like, optional
        The labels to include and their order, for every average except "binary". By default all labels that occur,
        sorted. A label that does not occur has no true and no predicted rows. For multilabel input, column numbers.
    pos_label : int, float, bool or str
        The positive label with average="binary"; ignored for other averages.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value for `pos_label`, for two classes only. None: an array with one value per label. "micro":
        computed from the summed counts of all labels. "macro": the mean over labels. "weighted": the mean over labels,
        weighted by their true rows. "samples": the mean over rows, for multilabel input.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    zero_division : "warn", 0, 1 or nan
        The value of 0/0. "warn" gives 0 with an UndefinedMetricWarning; nan is left out of averages.
    macro : "mean_of_f" or "f_of_means"
        The macro F. "mean_of_f": the mean of the F of all labels. "f_of_means": the F of macro precision and macro
        recall (Sokolova and Lapalme, Inf. Process. Manag. 45, 2009); it needs average="macro".
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array with one value per label if average=None.

    Raises
    ------
    ValueError
        Values that are not class labels, labels of two kinds, different lengths, no rows, an invalid option, a
        `pos_label` that does not occur although two other labels do, or average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.fbeta_score([0, 1, 1, 1], [0, 0, 1, 1], beta=0.5)
    0.9090909090909091
    """


@overload
def f1_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ..., average: None,
    sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ..., macro: MacroF = ...,
    n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def f1_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ...,
    average: Average = ..., sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ...,
    macro: MacroF = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@computed_by(average_fbeta)
def f1_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: Average | None = "binary",
    sample_weight: NumericArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
    macro: MacroF = "mean_of_f",
    n_threads: int | None = None,
) -> float | Floats:
    """The harmonic mean of precision and recall.

    F1 = 2 tp / (2 tp + fp + fn), with tp, fp and fn the true positives, false positives and false negatives of a label
    (van Rijsbergen, Information Retrieval, 1979, chapter 7).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels, both of one kind: integers, strings or bools. Multilabel input has one column per
        label, with 0 and 1 (dense or sparse).
    labels : array-like, optional
        The labels to include and their order, for every average except "binary". By default all labels that occur,
        sorted. A label that does not occur has no true and no predicted rows. For multilabel input, column numbers.
    pos_label : int, float, bool or str
        The positive label with average="binary"; ignored for other averages.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value for `pos_label`, for two classes only. None: an array with one value per label. "micro":
        computed from the summed counts of all labels. "macro": the mean over labels. "weighted": the mean over labels,
        weighted by their true rows. "samples": the mean over rows, for multilabel input.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    zero_division : "warn", 0, 1 or nan
        The value of 0/0. "warn" gives 0 with an UndefinedMetricWarning; nan is left out of averages.
    macro : "mean_of_f" or "f_of_means"
        The macro F. "mean_of_f": the mean of the F of all labels. "f_of_means": the F of macro precision and macro
        recall (Sokolova and Lapalme, Inf. Process. Manag. 45, 2009); it needs average="macro".
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array with one value per label if average=None.

    Raises
    ------
    ValueError
        Values that are not class labels, labels of two kinds, different lengths, no rows, an invalid option, a
        `pos_label` that does not occur although two other labels do, or average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.f1_score([0, 1, 1, 0], [1, 1, 1, 0])
    0.8
    >>> y_true, y_pred = [0, 1, 2, 0], [0, 0, 2, 1]
    >>> fm.f1_score(y_true, y_pred, average="macro"), fm.f1_score(y_true, y_pred, average="macro", macro="f_of_means")
    (0.5, 0.5)
    """


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "precision_score": count_ratios.CHECKED_AVERAGES,
    "recall_score": count_ratios.CHECKED_AVERAGES,
    "f1_score": ({}, *count_ratios.CHECKED_AVERAGES, {"average": "macro", "macro": "f_of_means"}),
    "fbeta_score": ({"beta": 0.5}, {"beta": 3, "average": "macro", "macro": "f_of_means"}),
    "precision_recall_fscore_support": count_ratios.CHECKED_AVERAGES,
}
