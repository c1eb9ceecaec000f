"""Columns of class labels: judged as scikit-learn judges targets, and numbered.

A label may be a bool, an integer, a float without a fraction, a text, a date: anything with one order. A matrix with a
column per class and two values is a set of labels per row ("multilabel-indicator"). Whatever the type, what comes out
are integer codes into the sorted classes, or indicators 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeGuard

import numpy as np

from fastmetrics._core import coding, inputs
from fastmetrics._core.coding import Coded
from fastmetrics._core.parallel import for_each
from fastmetrics._kernels import columns
from fastmetrics._kernels import counts as pairs
from fastmetrics._kernels import labels as kernel

MULTILABEL = "multilabel-indicator"
COLUMN = "column"
MINUS_AND_ZERO = columns.SAW_MINUS_ONE | columns.SAW_ZERO
NO_ROWS = "at least one row is needed"

Target = np.ndarray | Coded
Names = tuple[str, str]
NAMES: Names = ("y_true", "y_pred")


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


def open_target(values: Any, name: str) -> Target:
    """Labels of any kind, one column or a matrix: a dense array, or a column of text that is numbered already."""
    if type(values) is np.ndarray:
        array = values
    elif is_sparse(values):
        array = open_sparse(values, name)
    elif isinstance(values, (str, bytes)) or values is None or not inputs.has_rows(values):
        raise inputs.OptionError(f"{name} must be an array of labels; found {type(values).__name__}")
    elif isinstance(values, (set, frozenset, dict)):
        raise ValueError(f"{name} must be an array of labels in the order of the rows; found a {type(values).__name__}")
    elif isinstance(values, Coded):
        return values
    elif isinstance(values, (list, tuple)):
        array = inputs.as_array(values, name)
    else:
        coded = coding.text_column(values, name)
        if coded is not None:
            return coded
        array = inputs.as_array(values, name)
    if array.ndim == 0:
        raise inputs.OptionError(f"{name} must be an array of labels; found a single {array.dtype}")
    if array.dtype.kind == "T":
        array = array.astype(object)
    return array


def is_sparse(values: Any) -> bool:
    return hasattr(values, "toarray") and hasattr(values, "nnz")


def open_sparse(values: Any, name: str) -> np.ndarray:
    """A sparse matrix as a dense one: of nothing and one other value, in a column per label."""
    if len(values.shape) != 2 or values.shape[1] < 2:
        raise inputs.InputError(f"{name} is sparse and has one column: sparse input must have a column per label")
    array = np.asarray(values.toarray())
    if array.size and array.all() and array.min() != array.max():
        raise ValueError(f"{name} is sparse and has {array.min()} and {array.max()}: a label is set or it is not")
    return array


def as_target(values: Any, name: str) -> np.ndarray:
    """A dense array of labels of any kind: one column, or a matrix."""
    target = open_target(values, name)
    return target.classes[target.codes] if isinstance(target, Coded) else target


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
    if several and is_set(values):
        return MULTILABEL
    suffix = "-multioutput" if several else ""
    if values.dtype.kind == "f" and has_fractions(values, name):
        return "continuous" + suffix
    few = sorted_classes(values, name).shape[0] < 3
    if several:
        return MULTILABEL if few and values.dtype.kind in "biuf" else "multiclass-multioutput"
    return "binary" if few else "multiclass"


def is_set(values: np.ndarray) -> bool:
    """Are all values of a matrix one of two neighbouring integers? Nearly all indicators are: 0 and 1."""
    if values.dtype.char not in coding.READABLE:
        return False
    flat = inputs.contiguous(values.T if values.flags.f_contiguous else values).reshape(-1)
    span = pairs.label_range(flat, flat, 0, flat.shape[0])
    return span is not None and span[1] - span[0] < 2


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
    if values.dtype == object:
        return np.sort(coding.code_objects(values.ravel(), name).classes)
    return np.unique(values)


def is_text(values: np.ndarray) -> bool:
    return values.dtype.kind in "UO"


def what_kind(values: np.ndarray) -> str:
    """Text, numbers, or the kind of something else: labels of two kinds have no common order."""
    kind = values.dtype.kind
    return "text" if kind in "UO" else "numbers" if kind in "biuf" else kind


def shape_of_target(target: Target, name: str) -> str:
    """COLUMN, MULTILABEL, or the kind of what is neither; the errors are those of kind_of_target."""
    if isinstance(target, Coded):
        return COLUMN
    if target.ndim == 1 or (target.ndim == 2 and target.shape[1] == 1):
        kind = target.dtype.kind
        if kind in "biuU":
            return COLUMN
        if kind == "f":
            column = coding.contiguous(target.reshape(-1))
            if pairs.label_range(column, column, 0, column.shape[0]) or not has_fractions(target, name):
                return COLUMN
        elif kind == "O" and target.shape[0] and isinstance(target.flat[0], str):
            return COLUMN
    found = kind_of_target(target, name)
    return COLUMN if found in ("binary", "multiclass") else found


def kind_name(target: Target, name: str) -> str:
    """kind_of_target for messages."""
    if isinstance(target, Coded):
        return "binary" if target.classes.shape[0] < 3 else "multiclass"
    return kind_of_target(target, name)


def check_pair(y_true: Any, y_pred: Any, names: Names = NAMES) -> tuple[Target, Target, str]:
    """Two targets, and whether they are columns (COLUMN; contiguous arrays or numbered) or matrices (MULTILABEL)."""
    first, second = names
    true, pred = open_target(y_true, first), open_target(y_pred, second)
    inputs.check_lengths(true.shape[0], pred.shape[0], first, second)
    if true.shape[0] == 0:
        raise ValueError(f"{first} is empty: {NO_ROWS}")
    shapes = shape_of_target(true, first), shape_of_target(pred, second)
    if shapes == (COLUMN, COLUMN):
        return as_codable(true), as_codable(pred), COLUMN
    if isinstance(true, Coded) or isinstance(pred, Coded) or shapes != (MULTILABEL, MULTILABEL):
        kinds = kind_name(true, first), kind_name(pred, second)
        error = inputs.InputError if "unknown" in kinds else ValueError
        if kinds[0] == kinds[1]:
            raise error(f"{first} and {second} must be labels; found {kinds[0]} targets, which are not supported here")
        raise error(f"{first} and {second} must be of one kind; found {kinds[0]} and {kinds[1]} targets")
    if true.shape[1] != pred.shape[1]:
        raise ValueError(f"{first} has {true.shape[1]} columns of labels but {second} has {pred.shape[1]}")
    return true, pred, MULTILABEL


def as_codable(target: Target) -> Target:
    """A column as the kernels read it."""
    return target if isinstance(target, Coded) else coding.contiguous(target.reshape(-1))


def is_numbers(target: Target) -> TypeGuard[np.ndarray]:
    """Can kernels read the column as integers?"""
    return not isinstance(target, Coded) and target.dtype.char in coding.READABLE


def code_target(column: Target, name: str) -> Coded:
    """A checked column, numbered."""
    if isinstance(column, Coded):
        return column
    if column.dtype == object:
        return coding.code_objects(column, name)
    return coding.code_text(column) if column.dtype.kind == "U" else coding.code_numbers(column)


def code_columns(true: Target, pred: Target, n_threads: int = 1, names: Names = NAMES) -> tuple[Coded, Coded]:
    """Two checked columns, each numbered for itself, of one kind."""
    found: list[Coded] = [None, None]  # type: ignore[list-item]
    columns = ((true, names[0]), (pred, names[1]))

    def make_worker() -> Callable[[int], None]:
        def code(unit: int) -> None:
            found[unit] = code_target(*columns[unit])

        return code

    for_each(2, make_worker, n_threads)
    first, second = found
    if what_kind(first.classes) != what_kind(second.classes):
        raise inputs.InputError(
            f"{names[0]} has {first.classes[0]!r} and {names[1]} has {second.classes[0]!r}: {coding.ONE_KIND}"
        )
    return first, second


def match_columns(
    true: Target, pred: Target, n_threads: int = 1, names: Names = NAMES
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two checked columns numbered alike: the sorted labels found in either, and the codes (int64) of each."""
    first, second = code_columns(true, pred, n_threads, names)
    classes, places, other_places = coding.unite(first, second)
    return classes, coding.place_codes(first.codes, places), coding.place_codes(second.codes, other_places)


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
    if isinstance(sample_weight, (str, bytes)) or not inputs.has_rows(sample_weight):
        raise inputs.OptionError(f"sample_weight must be an array of weights or None; found {sample_weight!r}")
    weights = inputs.as_weights(sample_weight, rows)
    inputs.check_some_weight(weights)
    return weights


def pair_labels(y_true: Any, y_pred: Any, sample_weight: Any = None) -> LabelPair:
    """Two columns of labels as codes into the labels found in either, with all checks of scikit-learn."""
    true, pred, shape = check_pair(y_true, y_pred)
    rows = true.shape[0]
    weights = as_label_weights(sample_weight, rows)
    if shape == MULTILABEL:
        sets = indicators(as_target(true, "y_true")), indicators(as_target(pred, "y_pred"))
        return LabelPair(MULTILABEL, np.arange(true.shape[1]), *sets, weights, rows)
    classes, first, second = match_columns(true, pred)
    return LabelPair(column_kind(classes), classes, first, second, weights, rows)


def column_kind(classes: np.ndarray) -> str:
    return "binary" if classes.shape[0] < 3 else "multiclass"


def indicators(values: np.ndarray) -> np.ndarray:
    """1 where a label is set: a C-contiguous matrix of uint8."""
    return np.ascontiguousarray(values != 0).view(np.uint8)


def code_labels(values: Any, labels: Any = None, name: str = "y_true") -> tuple[np.ndarray, np.ndarray]:
    """Codes (int64) of one column and the sorted classes: those found, or `labels`, which must hold every one found."""
    coded = code_target(open_column(values, name), name)
    return coding.in_order(coded) if labels is None else recode(coded, labels, name)


def recode(coded: Coded, labels: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes into the sorted `labels`, which must hold every class, and those labels."""
    classes = sorted_classes(as_column(as_target(labels, "labels"), "labels"), "labels")
    if classes.shape[0] == 0:
        raise ValueError("labels is empty: at least one label is needed")
    numbers = {label: number for number, label in enumerate(classes.tolist())}
    places = np.array([numbers.get(label, -1) for label in coded.classes.tolist()], np.int64)
    if (places < 0).any():
        row = int(np.flatnonzero(places[coded.codes] < 0)[0])
        label = coded.classes[coded.codes[row]].item()
        raise ValueError(f"{name} has {label!r} at row {row}, which is not among labels")
    return places[coded.codes], classes


def open_column(values: Any, name: str) -> Target:
    """One column of labels, checked, for the kernels."""
    target = open_target(values, name)
    if len(target.shape) == 1 and target.shape[0] == 0:
        raise ValueError(f"{name} is empty: {NO_ROWS}")
    shape = shape_of_target(target, name)
    if shape != COLUMN:
        raise ValueError(f"{name} must be one column of labels; found {shape} targets")
    return as_codable(target)


def positive_mask(y_true: Any, pos_label: Any = None, name: str = "y_true") -> np.ndarray:
    """uint8, 1 where the label is `pos_label`; without one labels must be 0 and 1 or -1 and 1, and 1 is positive."""
    plain = type(y_true) is np.ndarray and y_true.ndim == 1 and y_true.dtype.kind in "biuf"
    column = y_true if plain else open_mask(y_true, name)
    if isinstance(column, Coded):
        if pos_label is None:
            raise_no_positive(np.sort(column.classes), name)
        chosen: np.ndarray = column.classes == pos_label
        return np.asarray(chosen[column.codes]).view(np.uint8)
    rows = column.shape[0]
    if rows == 0:
        raise ValueError(f"{name} is empty: {NO_ROWS}")
    if pos_label is None:
        if column.dtype.char == "?":
            return np.ascontiguousarray(column).view(np.uint8)
        mask = np.empty(rows, np.uint8)
        seen = kernel.mark_positive(column, mask)
        if seen < 0 and column.dtype.kind in "biuf":
            column = coding.contiguous(column)
            seen = kernel.mark_positive(column, mask)
        if seen < 0 or seen & columns.SAW_OTHER or seen & MINUS_AND_ZERO == MINUS_AND_ZERO:
            if column.dtype.kind == "f":
                has_fractions(column, name)
            raise_no_positive(sorted_classes(column, name), name)
        return mask
    if column.dtype.kind == "f" and np.isnan(column).any():
        inputs.raise_nan(column, name)
    if is_text(column) != isinstance(pos_label, str):
        return np.zeros(rows, np.uint8)
    return np.ascontiguousarray(column == pos_label).view(np.uint8)


def open_mask(values: Any, name: str) -> Target:
    target = open_target(values, name)
    return target if isinstance(target, Coded) else as_column(target, name)


def raise_no_positive(classes: np.ndarray, name: str) -> NoReturn:
    """The error where nothing says which label is positive."""
    found = ", ".join(map(repr, classes[:5].tolist())) + (", ..." if classes.shape[0] > 5 else "")
    raise ValueError(
        f"{name} has labels {found} and pos_label is not given: labels must be 0 and 1, or -1 and 1, or pos_label must "
        f"name the positive one"
    )
