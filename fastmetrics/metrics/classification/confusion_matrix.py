"""Confusion matrices: one for all classes, and one of two by two for every class or row."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core import labels as targets
from fastmetrics._core.labels import MULTILABEL, NAMES, Names, Target
from fastmetrics._core.parallel import count_threads
from fastmetrics._kernels import counts as kernel
from fastmetrics.metrics.classification import counts as counting
from fastmetrics.metrics.classification.counts import Cells

__all__ = ["confusion_matrix", "multilabel_confusion_matrix"]

ONE_LABEL = "one label alone was found in y_true and y_pred: the matrix has one cell; labels= names all known labels"


def confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    normalize: str | None = None,
    n_threads: int | None = None,
) -> np.ndarray:
    """How many rows of each class were predicted as each class.

    C[i, j] = sum over rows with true class i and predicted class j of w (1 without weights); K. Pearson, "On the theory
    of contingency", 1904. For two classes C = [[tn, fp], [fn, tp]].

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers, bools, floats without fractions, text.
    y_pred : array-like of shape (n,)
        Predicted labels.
    labels : array-like of shape (n_classes,), optional
        The classes and their order; rows with others are left out. By default all that occur in y_true or y_pred,
        sorted. Of a label given twice the last place counts.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    normalize : {"true", "pred", "all"}, optional
        Divide by the totals of the rows (true classes), of the columns (predicted classes), or of all. An empty row or
        column stays 0.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        int64; float64 with weights that are no integers, and where normalised. Weighted counts are exact sums, rounded
        once.

    Raises
    ------
    ValueError
        Labels that are continuous, multilabel or of mixed kinds, lengths that differ, no rows, bad weights, none of
        `labels` in y_true.

    Warns
    -----
    UserWarning
        The matrix has one cell.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.confusion_matrix(["cat", "ant", "cat", "cat"], ["ant", "ant", "cat", "cat"])
    array([[1, 0],
           [1, 2]])
    >>> fm.confusion_matrix([0, 1, 0, 1], [1, 1, 1, 0], normalize="true")
    array([[0. , 1. ],
           [0.5, 0.5]])
    """
    if normalize is not None:
        inputs.check_option(normalize, "normalize", ("true", "pred", "all", None))
    if n_threads is not None:
        count_threads(n_threads)
    cells = counting.few_cells(y_true, y_pred) if labels is None and sample_weight is None else None
    if cells is None:
        plain = None
        if labels is None and sample_weight is None:
            plain = counting.plain_cells(y_true, y_pred, n_threads)
        cells = matrix_of(y_true, y_pred, labels, sample_weight, n_threads) if plain is None else plain.counts
    if normalize is not None:
        cells = normalised(cells, normalize)
    if cells.shape[0] == 1:
        warnings.warn(ONE_LABEL, UserWarning, stacklevel=2)
    return cells


def matrix_of(y_true: Any, y_pred: Any, labels: Any, sample_weight: Any, n_threads: int | None) -> np.ndarray:
    """The matrix, not normalised."""
    true, pred = check_columns(y_true, y_pred)
    rows = true.shape[0]
    wanted = None if labels is None else check_wanted(labels)
    weights = targets.as_label_weights(sample_weight, rows)
    threads = counting.threads_for(rows, n_threads)
    if weights is None and wanted is None:
        return counting.count_cells(true, pred, threads).counts
    if weights is None and wanted is not None:
        counted = counting.direct_cells(true, pred, threads)
        if counted is not None:
            return chosen_cells(counted, wanted)
    classes, first, second = targets.match_columns(true, pred, threads)
    n = classes.shape[0]
    if wanted is not None:
        first, second, weights = only_wanted(classes, first, second, weights, wanted)
        n = len(wanted)
    if weights is not None and np.asarray(sample_weight).dtype.kind not in "biu":
        return counting.weigh_cells(first, second, n, weights)
    cells = np.zeros((n, n), np.int64)
    if weights is None:
        kernel.add_cells(first, second, cells)
    else:
        np.add.at(cells, (first, second), weights.astype(np.int64))
    return cells


def check_columns(y_true: Any, y_pred: Any, names: Names = NAMES) -> tuple[Target, Target]:
    """Two columns; sets of labels have no place in one matrix."""
    for values, name in zip((y_true, y_pred), names, strict=True):
        if targets.is_sparse(values):
            raise inputs.InputError(f"{name} must have one label per row; found a sparse {type(values).__name__}")
    true, pred, shape = targets.check_pair(y_true, y_pred, names)
    if shape == MULTILABEL:
        raise ValueError(f"{names[0]} and {names[1]} must have one label per row; found {MULTILABEL} targets")
    return true, pred


def check_wanted(labels: Any) -> list[Any]:
    wanted = counting.as_wanted(labels)
    if wanted.shape[0] == 0:
        raise ValueError("labels is empty: at least one label is needed")
    found: list[Any] = wanted.tolist()
    return found


def places_of(classes: np.ndarray, wanted: list[Any]) -> np.ndarray:
    """Where each class stands among the labels wanted; -1: nowhere."""
    places = {label: place for place, label in enumerate(wanted)}
    return np.array([places.get(label, -1) for label in classes.tolist()], np.int64)


def check_met(met: bool, wanted: list[Any]) -> None:
    if not met:
        raise ValueError(f"labels must have one that occurs in y_true; found {wanted[:5]!r}")


def only_wanted(
    classes: np.ndarray, first: np.ndarray, second: np.ndarray, weights: np.ndarray | None, wanted: list[Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The rows that have labels wanted in both columns, numbered in their order."""
    places = places_of(classes, wanted)
    first, second = places[first], places[second]
    check_met(bool((first >= 0).any()), wanted)
    kept = (first >= 0) & (second >= 0)
    return first[kept], second[kept], None if weights is None else weights[kept]


def chosen_cells(cells: Cells, wanted: list[Any]) -> np.ndarray:
    """The cells of the labels wanted, in their order."""
    places = places_of(cells.classes, wanted)
    kept = np.flatnonzero(places >= 0)
    check_met(bool(cells.counts[kept].any()), wanted)
    out = np.zeros((len(wanted), len(wanted)), np.int64)
    out[np.ix_(places[kept], places[kept])] = cells.counts[np.ix_(kept, kept)]
    return out


def normalised(cells: np.ndarray, normalize: str) -> np.ndarray:
    """Cells as shares; 0 where there is nothing to share."""
    if normalize == "all":
        total = cells.sum(keepdims=True)
    else:
        total = cells.sum(axis=1 if normalize == "true" else 0, keepdims=True)
    shares = np.zeros(cells.shape)
    np.divide(cells, total, out=shares, where=total != 0)
    return shares


def multilabel_confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    labels: Any = None,
    samplewise: bool = False,
    n_threads: int | None = None,
) -> np.ndarray:
    """A matrix of two by two for every class against the rest, or for every row.

    M[c] = [[tn, fp], [fn, tp]] of class c. Rows of several labels are given as a matrix of indicators, a column per
    class; one label per row counts as a set of one.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes), or sparse matrix
        True labels, or indicators: two values, 0 and another.
    y_pred : array-like of shape (n,) or (n, n_classes), or sparse matrix
        Predicted labels, or indicators.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    labels : array-like of shape (n_labels,), optional
        The classes and their order; for indicators the columns. By default all that occur, sorted.
    samplewise : bool
        A matrix per row instead of per class; for indicators only.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_labels, 2, 2) or (n, 2, 2)
        int64, or float64 with weights: exact sums, rounded once. float64 too where not one row of labels is right, as
        in scikit-learn.

    Raises
    ------
    ValueError
        Targets that are continuous or of two kinds, lengths that differ, no rows, bad weights, columns that do not
        exist, samplewise without indicators.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.multilabel_confusion_matrix([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    array([[[0, 1],
            [0, 1]],
    <BLANKLINE>
           [[1, 0],
            [0, 1]]])
    """
    inputs.check_flag(samplewise, "samplewise")
    counts = counting.count_classes(
        y_true, y_pred, labels=labels, sample_weight=sample_weight, samplewise=bool(samplewise), n_threads=n_threads
    )
    tp, fp, fn, tn = counts[:4]
    dtype: np.dtype[Any] = tp.dtype
    if counts.kind != MULTILABEL and sample_weight is None and not counts.any_right:
        dtype = np.dtype(np.float64)
    elif samplewise and sample_weight is not None and np.asarray(sample_weight).dtype.kind in "biu":
        dtype = np.dtype(np.int64)
    out = np.empty((tp.shape[0], 2, 2), dtype)
    out[:, 0, 0] = tn
    out[:, 0, 1] = fp
    out[:, 1, 0] = fn
    out[:, 1, 1] = tp
    return out
