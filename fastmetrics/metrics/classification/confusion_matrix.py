"""Confusion matrices: one for all classes, or a two-by-two matrix for every class or row."""

from __future__ import annotations

from collections.abc import Iterable
from operator import mul
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import class_labels as targets
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import choose_thread_count
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.undefined import warn_user
from fastmetrics._kernels.classification import label_counts as kernel
from fastmetrics.metrics.classification import label_counts as counting
from fastmetrics.metrics.classification import label_weights
from fastmetrics.metrics.classification.label_weights import round_integers

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Ints, MatrixLike, NumericArrayLike
    from fastmetrics._core.types.options import Normalize

__all__ = ["confusion_matrix", "multilabel_confusion_matrix"]

SINGLE_LABEL = "only one label was found in y_true and y_pred: the matrix has one cell; pass all labels with labels="
MOST_INTEGER_WEIGHT = 2.0**62  # of all rows: sums of int64 below it do not overflow


@overload
def confusion_matrix(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ...,
    sample_weight: NumericArrayLike | None = ..., normalize: Normalize, n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def confusion_matrix(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., sample_weight: None = ...,
    normalize: None = ..., n_threads: int | None = ...,
) -> Ints: ...  # fmt: skip
@overload
def confusion_matrix(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., sample_weight: NumericArrayLike,
    normalize: None = ..., n_threads: int | None = ...,
) -> Ints | Floats: ...  # fmt: skip
@answers_unknown
def confusion_matrix(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    normalize: Normalize | None = None,
    n_threads: int | None = None,
) -> Ints | Floats:
    """The number of rows of each class that were predicted as each class.

    C[i, j] = sum over rows with true class i and predicted class j of w (1 without weights); K. Pearson, "On the theory
    of contingency", 1904. For two classes C = [[tn, fp], [fn, tp]].

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers, bools, whole floats or strings.
    y_pred : array-like of shape (n,)
        Predicted labels.
    labels : array-like of shape (n_classes,), optional
        The classes and their order; rows with other labels are left out. By default all labels of y_true and y_pred,
        sorted. If a label is given twice, its last position counts.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    normalize : {"true", "pred", "all"}, optional
        Divide by the totals of the rows (true classes), of the columns (predicted classes), or by the total of all
        cells. An empty row or column stays 0.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        int64; float64 if weights are not integers, or more than 2**62 in all, or if normalized. Weighted counts are
        exact sums, rounded once.

    Raises
    ------
    ValueError
        Continuous or multilabel targets, labels of mixed kinds, different lengths, no rows, invalid weights, or no
        label of `labels` in y_true.

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
        validation.check_option(normalize, "normalize", ("true", "pred", "all", None))
    cells = count_matrix(y_true, y_pred, labels, sample_weight, n_threads)
    if normalize is not None:
        cells = normalize_cells(cells, normalize)
    if cells.shape[0] == 1:
        warn_user(SINGLE_LABEL, UserWarning)
    return cells


@small_inputs(counting.count_small_cells)
def count_matrix(
    y_true: Any, y_pred: Any, labels: Any = None, sample_weight: Any = None, n_threads: int | None = None
) -> np.ndarray:
    """The matrix before normalization."""
    if labels is None and sample_weight is None:
        plain = counting.count_plain_cells(y_true, y_pred, n_threads)
        if plain is not None:
            return plain.counts
    found = count_or_match(y_true, y_pred, labels, sample_weight, n_threads)
    if isinstance(found, counting.ConfusionCounts):
        return found.counts
    are_integers = sample_weight is not None and has_integer_sums(validation.as_array(sample_weight, "sample_weight"))
    if isinstance(found, counting.WeighedCells):
        return weigh_matrix(found, are_integers)
    n, first, second, weights = found
    if weights is not None and not are_integers:
        return label_weights.sum_cell_weights(first, second, n, weights)
    cells = np.zeros((n, n), np.int64)
    if weights is None:
        kernel.add_cells(first, second, cells)
    else:
        np.add.at(cells, (first, second), weights.astype(np.int64))
    return cells


class CodedRows(NamedTuple):
    """Rows of two columns of labels as codes of `n` classes, and their weights."""

    n: int
    first: np.ndarray
    second: np.ndarray
    weights: np.ndarray | None


def count_or_match(
    y_true: Any,
    y_pred: Any,
    labels: Any,
    sample_weight: Any,
    n_threads: int | None,
    names: targets.Names = targets.NAMES,
) -> counting.ConfusionCounts | counting.WeighedCells | CodedRows:
    """The cells of two columns of labels, of all labels or of `labels` in their order.

    If the labels are many, or rows have weights and labels are selected, the rows.
    """
    true, pred = check_label_columns(y_true, y_pred, names)
    selected = None if labels is None else check_labels_option(labels)
    weights = targets.as_label_weights(sample_weight, true.shape[0])
    threads = choose_thread_count(true.shape[0], n_threads)
    found: counting.ConfusionCounts | counting.WeighedCells | tuple[np.ndarray, np.ndarray, np.ndarray]
    if weights is None:
        found = counting.count_or_encode(true, pred, threads, names)
    elif selected is None:
        found = counting.weigh_or_encode(true, pred, weights, threads, names)
    else:
        found = targets.match_columns(true, pred, threads, names)
    if isinstance(found, counting.ConfusionCounts):
        return found if selected is None else select_cells(found, selected)
    if isinstance(found, counting.WeighedCells):
        return found
    classes, first, second = found
    if selected is None:
        return CodedRows(classes.shape[0], first, second, weights)
    return CodedRows(len(selected), *select_rows(classes, first, second, weights, selected))


def has_integer_sums(weights: np.ndarray) -> bool:
    """Are weights integers, and fit their sums into int64?"""
    return weights.dtype.kind in "biu" and float(weights.astype(np.float64).sum()) < MOST_INTEGER_WEIGHT


def weigh_matrix(weighed: counting.WeighedCells, are_integers: bool) -> np.ndarray:
    """The matrix of weights: of int64 if weights are integers."""
    n = weighed.classes.shape[0]
    where, values = weighed.weights.cells()
    cells = np.zeros(n * n, np.int64 if are_integers else np.float64)
    cells[where] = [value >> exact.EXPONENT for value in values] if are_integers else round_integers(values)
    return cells.reshape(n, n)


def check_label_columns(
    y_true: Any, y_pred: Any, names: targets.Names = targets.NAMES
) -> tuple[targets.Target, targets.Target]:
    """Two columns of one label per row: multilabel input has no single confusion matrix."""
    for values, name in zip((y_true, y_pred), names, strict=True):
        if targets.is_sparse(values):
            raise validation.InputError(f"{name} must have one label per row; found a sparse {type(values).__name__}")
    true, pred, shape = targets.check_pair(y_true, y_pred, names)
    if shape == targets.MULTILABEL:
        raise ValueError(f"{names[0]} and {names[1]} must have one label per row; found {targets.MULTILABEL} targets")
    return true, pred


def check_labels_option(labels: Any) -> np.ndarray:
    selected = counting.as_label_array(labels)
    if selected.shape[0] == 0:
        raise ValueError("labels is empty: at least one label is needed")
    return selected


def check_any_true_label(any_true: bool, selected: np.ndarray) -> None:
    if not any_true:
        raise ValueError(f"labels must contain a label that occurs in y_true; found {selected[:5].tolist()!r}")


def select_rows(
    classes: np.ndarray, first: np.ndarray, second: np.ndarray, weights: np.ndarray | None, selected: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The rows with a selected label in both columns, as positions of the selected labels, and their weights."""
    positions = counting.positions_among(classes, selected)
    first, second = positions[first], positions[second]
    check_any_true_label(bool((first >= 0).any()), selected)
    kept = (first >= 0) & (second >= 0)
    return first[kept], second[kept], None if weights is None else weights[kept]


def select_cells(cells: counting.ConfusionCounts, selected: np.ndarray) -> counting.ConfusionCounts:
    """The cells of the selected labels, in their order."""
    positions = counting.positions_among(cells.classes, selected)
    kept = np.flatnonzero(positions >= 0)
    check_any_true_label(bool(cells.counts[kept].any()), selected)
    out = np.zeros((len(selected), len(selected)), np.int64)
    out[np.ix_(positions[kept], positions[kept])] = cells.counts[np.ix_(kept, kept)]
    return counting.ConfusionCounts(selected, out)


def normalize_cells(cells: np.ndarray, normalize: str) -> np.ndarray:
    """Cells divided by their total; 0 where the total is 0."""
    total = cells.sum(axis={"true": 1, "pred": 0, "all": None}[normalize], keepdims=True)
    shares = np.zeros(cells.shape)
    np.divide(cells, total, out=shares, where=total != 0)
    return shares


@overload
def multilabel_confusion_matrix(
    y_true: MatrixLike, y_pred: MatrixLike, *, sample_weight: None = ..., labels: ArrayLike | None = ...,
    samplewise: bool = ..., n_threads: int | None = ...,
) -> Ints: ...  # fmt: skip
@overload
def multilabel_confusion_matrix(
    y_true: MatrixLike, y_pred: MatrixLike, *, sample_weight: NumericArrayLike, labels: ArrayLike | None = ...,
    samplewise: bool = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@answers_unknown
def multilabel_confusion_matrix(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    labels: ArrayLike | None = None,
    samplewise: bool = False,
    n_threads: int | None = None,
) -> Ints | Floats:
    """A two-by-two confusion matrix for every class against the rest, or for every row.

    M[c] = [[tn, fp], [fn, tp]] of class c. Multilabel input is a matrix of indicators with one column per class. One
    label per row counts as a set of one label.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes), or sparse matrix
        True labels: integers, bools, whole floats or strings. Multilabel input: a matrix of indicators, 0 and one other
        value, with a column per class.
    y_pred : array-like of shape (n,) or (n, n_classes), or sparse matrix
        Predicted labels, in the same form.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    labels : array-like of shape (n_labels,), optional
        The classes and their order; for indicators the column numbers. By default all labels that occur, sorted.
    samplewise : bool
        One matrix per row instead of one per class; for indicators only.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    ndarray of shape (n_labels, 2, 2) or (n, 2, 2)
        int64, or float64 with weights (exact sums, rounded once). Also float64 if no row is correct, as in
        scikit-learn.

    Raises
    ------
    ValueError
        Continuous targets, targets of two kinds, different lengths, no rows, invalid weights, columns that do not
        exist, or samplewise without indicators.

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
    validation.check_flag(samplewise, "samplewise")
    counts = counting.count_classes(
        y_true, y_pred, labels=labels, sample_weight=sample_weight, samplewise=bool(samplewise), n_threads=n_threads
    )
    tp, fp, fn, tn = counts[:4]
    dtype: np.dtype[Any] = tp.dtype
    if counts.kind != targets.MULTILABEL and sample_weight is None and not counts.any_right:
        dtype = np.dtype(np.float64)
    elif samplewise and sample_weight is not None:
        has_integers = validation.as_array(sample_weight, "sample_weight").dtype.kind in "biu"
        dtype = np.dtype(np.int64) if has_integers else dtype
    return np.array((tn, fp, fn, tp), dtype).T.reshape(-1, 2, 2)


class ClassMargins(NamedTuple):
    """For each class, the rows with it in both columns, in the first and in the second; and the number of all rows.

    With sample weights, exact weights times 2**EXPONENT in place of rows.
    """

    both: list[int]
    true: list[int]
    pred: list[int]
    total: int


def count_small_margins(
    y_true: np.ndarray, y_pred: np.ndarray, *, names: targets.Names = targets.NAMES
) -> ClassMargins | None:
    """count_class_margins for two short arrays with few labels. No error needs the `names`."""
    counts = counting.count_small_classes(y_true, y_pred)
    if counts is None:
        return None
    tp, fp, fn = counts[:3]
    return ClassMargins(tp.tolist(), (tp + fn).tolist(), (tp + fp).tolist(), counts.rows)


@small_inputs(count_small_margins)
def count_class_margins(
    y_true: Any,
    y_pred: Any,
    sample_weight: Any = None,
    n_threads: int | None = None,
    names: targets.Names = targets.NAMES,
) -> ClassMargins:
    """Count or weigh the margins of two columns of labels."""
    if sample_weight is None:
        cells = counting.count_plain_cells(y_true, y_pred, n_threads)
        if cells is not None:
            both, in_true, in_pred = counting.margins_of_cells(cells).tolist()
            return ClassMargins(both, in_true, in_pred, y_true.shape[0])
    true, pred = check_label_columns(y_true, y_pred, names)
    rows = true.shape[0]
    weights = targets.as_label_weights(sample_weight, rows)
    threads = choose_thread_count(rows, n_threads)
    if weights is None:
        _, margins = counting.count_label_margins(true, pred, threads, names)
        both, in_true, in_pred = margins.tolist()
        return ClassMargins(both, in_true, in_pred, rows)
    weighed = counting.weigh_or_encode(true, pred, weights, threads, names)
    if isinstance(weighed, counting.WeighedCells):
        sums = weighed.weights.margins()
        return ClassMargins(*sums, sum(sums[1]))
    classes, first, second = weighed
    equal = first == second
    rows_of_margins = (first[equal], weights[equal]), (first, weights), (second, weights)
    both, in_true, in_pred = (
        label_weights.weights_by_code(codes, classes.shape[0], own) for codes, own in rows_of_margins
    )
    return ClassMargins(both, in_true, in_pred, exact.integer_sum(weights))


def dot(first: Iterable[int], second: Iterable[int]) -> int:
    """The scalar product, in integers of any size."""
    return int(sum(map(mul, first, second)))


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "confusion_matrix": tuple({"normalize": share} for share in (None, "true", "pred", "all")),
}
