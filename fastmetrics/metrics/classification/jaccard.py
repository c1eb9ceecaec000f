"""The overlap of true and predicted labels: Jaccard, as scikit-learn defines it, and the distance that it gives."""

from __future__ import annotations

import warnings
from collections.abc import Set
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core import inputs
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics.metrics.classification import ratios

__all__ = ["jaccard_distance", "jaccard_score"]


@overload
def jaccard_score(
    y_true: Any, y_pred: Any, *, average: None, labels: Any = ..., pos_label: Any = ..., sample_weight: Any = ...,
    zero_division: Any = ..., n_threads: int | None = ...,
) -> NDArray[np.float64]: ...  # fmt: skip
@overload
def jaccard_score(
    y_true: Any, y_pred: Any, *, average: str = ..., labels: Any = ..., pos_label: Any = ...,
    sample_weight: Any = ..., zero_division: Any = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
def jaccard_score(
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
    """The rows that have a label and are predicted to, among those of which one is true.

    Jaccard = tp / (tp + fp + fn), with tp, fp and fn the true positives, false positives and false negatives of a label
    (Jaccard, Bull. Soc. Vaudoise Sci. Nat. 37, 1901). It is not the Jaccard index of two clusterings, which counts
    pairs of rows.

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
    zero_division : "warn", 0 or 1
        What stands for 0/0: "warn" is 0 with an UndefinedMetricWarning.
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
    >>> fm.jaccard_score([0, 1, 1, 0], [1, 1, 1, 0], average=None)
    array([0.5       , 0.66666667])
    >>> fm.jaccard_score([[0, 1, 1], [1, 1, 0]], [[1, 1, 1], [1, 0, 0]], average="micro")
    0.6
    """
    ratios.check_average(average)
    ratios.check_pos_label(pos_label)
    zero = ratios.check_zero_division(zero_division, nan=False)
    if n_threads is not None:
        count_threads(n_threads)
    counts = ratios.count(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads, 3)
    warn = isinstance(zero_division, str)
    return ratios.finish(ratios.divide(ratios.jaccard_of(counts), counts, zero, warn, 3), counts)


@overload
def jaccard_distance(
    y_true: Any, y_pred: Any, *, average: None, labels: Any = ..., pos_label: Any = ...,
    sample_weight: Any = ..., zero_division: Any = ..., n_threads: int | None = ...,
) -> NDArray[np.float64]: ...  # fmt: skip
@overload
def jaccard_distance(
    y_true: Any, y_pred: Any, *, average: str = ..., labels: Any = ..., pos_label: Any = ...,
    sample_weight: Any = ..., zero_division: Any = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
def jaccard_distance(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = 1,
    n_threads: int | None = None,
) -> Any:
    """How little two sets overlap: 1 - |A and B| / |A or B|; of columns of labels, 1 - `jaccard_score`.

    For columns (fp + fn) / (tp + fp + fn), with tp, fp and fn those of a label; P. Jaccard, Bull. Soc. Vaudoise Sci.
    Nat. 37, 1901; a metric in the sense of mathematics: M. Levandowsky, D. Winter, "Distance between sets", Nature 234,
    1971. For columns of 0 and 1 it is `scipy.spatial.distance.jaccard`.

    Parameters
    ----------
    y_true, y_pred : set, frozenset, or array-like of shape (n,) or (n, n_labels)
        Two sets of anything; or two columns of labels of any one kind; or sets of labels row by row, with a column per
        label (0 or 1, dense or sparse).
    labels : array-like, optional
        For columns: the labels to count and their order, for every average but "binary".
    pos_label : int, float, bool or str
        For columns: the label to report with average="binary".
    average : "binary", "micro", "macro", "samples", "weighted" or None
        For columns: as in `jaccard_score`.
    sample_weight : array-like of shape (n,), optional
        For columns: weights, finite and not negative, not all zero.
    zero_division : 1, 0 or "warn"
        The overlap that stands for 0/0. By default 1: two empty sets are equal, so their distance is 0. "warn" is an
        overlap of 0, so a distance of 1, with an UndefinedMetricWarning.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1], rounded once for one label and for sets; an array, one value per label, with average=None.

    Raises
    ------
    ValueError
        A set beside a column, options of columns beside sets; what `jaccard_score` raises.

    Notes
    -----
    `jaccard_score` has another default for `zero_division`: scikit-learn's.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.jaccard_distance({"a", "b", "c"}, {"b", "c", "d"})
    0.5
    >>> fm.jaccard_distance([1, 0, 1, 0], [1, 1, 0, 0])
    0.6666666666666666
    """
    ratios.check_average(average)
    ratios.check_pos_label(pos_label)
    zero = 1 - ratios.check_zero_division(zero_division, nan=False)
    warn = isinstance(zero_division, str)
    if n_threads is not None:
        count_threads(n_threads)
    if isinstance(y_true, Set) or isinstance(y_pred, Set):
        check_sets(y_true, y_pred, labels, pos_label, average, sample_weight)
        return set_distance(y_true, y_pred, zero, warn)
    counts = ratios.count(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads, 3)
    return ratios.finish(ratios.divide(ratios.jaccard_distance_of(counts), counts, zero, warn, 3), counts)


def check_sets(y_true: Any, y_pred: Any, labels: Any, pos_label: Any, average: Any, sample_weight: Any) -> None:
    """Two sets, and no option that only columns have."""
    for name, value in (("y_true", y_true), ("y_pred", y_pred)):
        if not isinstance(value, Set):
            raise inputs.InputError(f"{name} must be a set, as the other is; found {type(value).__name__}")
    given = {
        "labels": labels is not None,
        "pos_label": pos_label is None or pos_label != 1,
        "average": average != "binary",
        "sample_weight": sample_weight is not None,
    }
    for name, is_given in given.items():
        if is_given:
            raise ValueError(f"{name} is an option of columns: sets have none")


def set_distance(a: Set[Any], b: Set[Any], zero: float, warn: bool) -> float:
    both = sum(1 for element in a if element in b)
    either = len(a) + len(b) - both
    if either:
        return (either - both) / either
    if warn:
        warnings.warn(
            "jaccard distance is undefined: both sets are empty; set to 1.0, zero_division says what else",
            UndefinedMetricWarning,
            stacklevel=3,
        )
    return float(zero)
