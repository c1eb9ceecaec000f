"""Columns of class labels: judged as scikit-learn judges targets, and numbered.

A label may be a bool, an integer, a float without a fraction, a text, a date: anything with one order. A matrix with a
column per class and two values is a set of labels per row ("multilabel-indicator"). Whatever the type, what comes out
are integer codes into the sorted classes, or indicators 0 and 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core import inputs

MULTILABEL = "multilabel-indicator"
NO_ROWS = "at least one row is needed"
ONE_KIND = "labels must all be numbers or all be text"


class MixedLabelsError(ValueError, TypeError):
    """Labels without a common order: of both types, because scikit-learn raises the one or the other."""


class LabelPair(NamedTuple):
    """Two columns of labels, checked and numbered alike.

    `true` and `pred` are integer codes into the sorted `classes`; for "multilabel-indicator" C-contiguous uint8
    matrices of 0 and 1, and `classes` are the columns' numbers.
    """

    kind: str
    classes: np.ndarray
    true: np.ndarray
    pred: np.ndarray
    weights: np.ndarray | None
    rows: int


def as_target(values: Any, name: str) -> np.ndarray:
    """A dense array of labels of any kind: one column, or a matrix."""
    if type(values) is np.ndarray:
        array = values
    elif hasattr(values, "toarray") and hasattr(values, "nnz"):
        if len(values.shape) != 2 or values.shape[1] < 2:
            raise TypeError(f"{name} is sparse and has one column: sparse input must have a column per label")
        array = np.asarray(values.toarray())
    elif isinstance(values, (str, bytes)) or values is None or not hasattr(values, "__len__"):
        raise inputs.OptionError(f"{name} must be an array of labels; found {type(values).__name__}")
    elif isinstance(values, (set, frozenset, dict)):
        raise ValueError(f"{name} must be an array of labels in the order of the rows; found a {type(values).__name__}")
    else:
        array = inputs.as_array(values, name)
    if array.ndim == 0:
        raise inputs.OptionError(f"{name} must be an array of labels; found a single {array.dtype}")
    if array.dtype.kind == "T":
        array = array.astype(object)
    return array


def kind_of_target(values: np.ndarray, name: str) -> str:
    """What scikit-learn's type_of_target says of an array, and its errors.

    "binary" (at most two labels), "multiclass", "multilabel-indicator" (two values in more than one column),
    "continuous" (fractions), the last and "multiclass" with "-multioutput" for other matrices, or "unknown".
    """
    if values.dtype.kind == "c":
        raise ValueError(f"{name} has dtype {values.dtype}: labels must not be complex")
    if values.dtype.kind == "S" or (values.dtype == object and values.size and isinstance(values.flat[0], bytes)):
        raise TypeError(f"{name} has labels of bytes: decode them to text first")
    if values.ndim not in (1, 2):
        return "unknown"
    if not min(values.shape):
        return "binary" if values.ndim == 1 else "unknown"
    if values.dtype == object and not isinstance(values.flat[0], str):
        return "unknown"
    several = values.ndim == 2 and values.shape[1] > 1
    suffix = "-multioutput" if several else ""
    if values.dtype.kind == "f" and has_fractions(values, name):
        return "continuous" + suffix
    few = sorted_classes(values, name).shape[0] < 3
    if several:
        return MULTILABEL if few and values.dtype.kind in "biuf" else "multiclass-multioutput"
    return "binary" if few else "multiclass"


def has_fractions(values: np.ndarray, name: str) -> bool:
    """Is any value no integer of 64 bits? NaN and infinities are errors."""
    with np.errstate(invalid="ignore"):
        whole = values.astype(np.int64).astype(values.dtype) == values
    if whole.all():
        return False
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.flatnonzero(~finite.reshape(values.shape[0], -1).all(axis=1))[0])
        value = values[row] if values.ndim == 1 else values[row][~finite[row]][0]
        raise ValueError(f"{name} has {'NaN' if value != value else value} at row {row}")
    return True


def sorted_classes(values: np.ndarray, name: str) -> np.ndarray:
    """The distinct labels, sorted."""
    try:
        return np.unique(values)
    except TypeError:
        raise_mixed(values, name)


def raise_mixed(values: np.ndarray, name: str) -> NoReturn:
    """The error for a column of objects that are not all text."""
    for row, value in enumerate(values.ravel()):
        if not isinstance(value, str):
            what = "NaN" if value != value else repr(value)
            raise MixedLabelsError(f"{name} has {what} at row {row} beside text: {ONE_KIND}")
    raise MixedLabelsError(f"{name} has labels without a common order: {ONE_KIND}")


def is_text(values: np.ndarray) -> bool:
    return values.dtype.kind in "UO"


def check_pair(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray, str]:
    """Two arrays of labels and what they are: "binary" (so far), "multiclass" or "multilabel-indicator"."""
    true, pred = as_target(y_true, "y_true"), as_target(y_pred, "y_pred")
    inputs.check_lengths(true.shape[0], pred.shape[0], "y_true", "y_pred")
    if true.shape[0] == 0:
        raise ValueError(f"y_true is empty: {NO_ROWS}")
    kind_true, kind_pred = kind_of_target(true, "y_true"), kind_of_target(pred, "y_pred")
    kinds = {kind_true, kind_pred}
    if kinds == {"binary", "multiclass"}:
        kinds = {"multiclass"}
    if len(kinds) > 1:
        raise ValueError(f"y_true and y_pred must be of one kind; found {kind_true} and {kind_pred} targets")
    kind = kinds.pop()
    if kind not in ("binary", "multiclass", MULTILABEL):
        raise ValueError(f"y_true and y_pred must be labels; found {kind} targets, which are not supported here")
    if kind != MULTILABEL:
        return as_column(true, "y_true"), as_column(pred, "y_pred"), kind
    if true.shape[1] != pred.shape[1]:
        raise ValueError(f"y_true has {true.shape[1]} columns of labels but y_pred has {pred.shape[1]}")
    return true, pred, kind


def as_column(values: np.ndarray, name: str) -> np.ndarray:
    """One column; a matrix with one column is one."""
    if values.ndim == 2 and values.shape[1] == 1:
        return values.reshape(-1)
    if values.ndim != 1:
        raise ValueError(f"{name} must have one dimension; found {values.ndim} (shape {values.shape})")
    return values


def as_label_weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    """Weights of rows, of which at least one is not zero."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, (str, bytes)) or not hasattr(sample_weight, "__len__"):
        raise inputs.OptionError(f"sample_weight must be an array of weights or None; found {sample_weight!r}")
    weights = inputs.as_weights(sample_weight, rows)
    if not weights.any():
        raise ValueError("sample_weight is zero at every row: at least one weight must not be")
    return weights


def pair_labels(y_true: Any, y_pred: Any, sample_weight: Any = None) -> LabelPair:
    """Two columns of labels as codes into the labels found in either, with all checks of scikit-learn."""
    true, pred, kind = check_pair(y_true, y_pred)
    rows = true.shape[0]
    weights = as_label_weights(sample_weight, rows)
    if kind == MULTILABEL:
        return LabelPair(kind, np.arange(true.shape[1]), indicators(true), indicators(pred), weights, rows)
    check_same_kind(true, pred)
    first, second = sorted_classes(true, "y_true"), sorted_classes(pred, "y_pred")
    classes = unite(first, second)
    if kind == "binary" and classes.shape[0] > 2:
        kind = "multiclass"
    return LabelPair(kind, classes, np.searchsorted(classes, true), np.searchsorted(classes, pred), weights, rows)


def check_same_kind(true: np.ndarray, pred: np.ndarray) -> None:
    """Text against numbers is a mistake."""
    if is_text(true) != is_text(pred):
        raise ValueError(
            f"y_true has {true[0]!r} and y_pred has {pred[0]!r} at row 0: labels must be all numbers or all text"
        )


def unite(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The sorted labels of both."""
    if np.isin(second, first).all():
        return first
    return np.unique(np.concatenate([first, second]))


def indicators(values: np.ndarray) -> np.ndarray:
    """1 where a label is set: a C-contiguous matrix of uint8."""
    return np.ascontiguousarray(values != 0).view(np.uint8)


def code_labels(values: Any, labels: Any = None, name: str = "y_true") -> tuple[np.ndarray, np.ndarray]:
    """Codes (int64) of one column and the sorted classes: those found, or `labels`, which must hold every one found."""
    column = as_column(as_target(values, name), name)
    inputs.check_column(column, name)
    kind_of_target(column, name)
    if labels is None:
        classes, codes = np.unique(column, return_inverse=True)
        return codes.astype(np.int64, copy=False), classes
    classes = sorted_classes(as_column(as_target(labels, "labels"), "labels"), "labels")
    if classes.shape[0] == 0:
        raise ValueError("labels is empty: at least one label is needed")
    if is_text(classes) != is_text(column):
        raise ValueError(f"{name} has {column[0]!r} at row 0, which is not among labels")
    codes = np.searchsorted(classes, column)
    known = classes[np.minimum(codes, classes.shape[0] - 1)] == column
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise ValueError(f"{name} has {column[row]!r} at row {row}, which is not among labels")
    return codes.astype(np.int64, copy=False), classes


def positive_mask(y_true: Any, pos_label: Any = None, name: str = "y_true") -> np.ndarray:
    """uint8, 1 where the label is `pos_label`; without one labels must be 0 and 1 or -1 and 1, and 1 is positive."""
    column = as_column(as_target(y_true, name), name)
    inputs.check_column(column, name)
    if pos_label is None:
        if column.dtype.kind not in "biuf" or column.dtype.itemsize > 8:
            found = ", ".join(repr(value) for value in sorted_classes(column, name)[:5].tolist())
            raise ValueError(f"{name} has labels {found} and pos_label is not given: it says which label is positive")
        if column.dtype == np.bool_:
            return np.ascontiguousarray(column).view(np.uint8)
        return inputs.decode_labels(inputs.as_labels(column, name), name)
    if column.dtype.kind == "f" and np.isnan(column).any():
        inputs.raise_nan(column, name)
    if is_text(column) != isinstance(pos_label, str):
        return np.zeros(column.shape[0], np.uint8)
    return np.ascontiguousarray(column == pos_label).view(np.uint8)
