"""Columns of class labels: validated as scikit-learn validates targets, and encoded.

A label may be a bool, an integer, a float without a fraction, a text, or a date: any type with one order. A matrix with
a column per class and two values is a set of labels per row ("multilabel-indicator"). The result is always integer
codes into the sorted classes, or indicators 0 and 1.
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeGuard

import numpy as np

from fastmetrics._core import object_keys
from fastmetrics._core.columns import categorical, group_keys, validation
from fastmetrics._core.columns.categorical import CategoricalColumn
from fastmetrics._core.columns.weights import as_weights, check_some_weight
from fastmetrics._core.parallel import for_each
from fastmetrics._kernels.classification import label_counts
from fastmetrics._kernels.columns import column_checks
from fastmetrics._kernels.columns import label_encoding as kernel

MULTILABEL = "multilabel-indicator"
COLUMN = "column"
MINUS_AND_ZERO = column_checks.SAW_MINUS_ONE | column_checks.SAW_ZERO
NO_ROWS = "at least one row is needed"

Target = np.ndarray | CategoricalColumn
Names = tuple[str, str]
NAMES: Names = ("y_true", "y_pred")


def read_labels(values: Any, name: str, one_label: bool = False) -> Target:
    """Labels of any kind, one column or a matrix, as a dense array or as an encoded text column.

    A sparse matrix must have several columns, or one if `one_label`.
    """
    if type(values) is np.ndarray:
        array = validation.as_array(values, name)
    elif is_sparse(values):
        array = densify(values, name, one_label)
    elif isinstance(values, (str, bytes)) or values is None or not validation.is_array_like(values):
        raise validation.OptionError(f"{name} must be an array of labels; found {type(values).__name__}")
    elif isinstance(values, (set, frozenset, dict)):
        raise ValueError(f"{name} must be an array of labels in the order of the rows; found a {type(values).__name__}")
    elif isinstance(values, CategoricalColumn):
        return values
    elif isinstance(values, (list, tuple)):
        array = validation.as_array(values, name)
        if object_keys.has_integers_beside_floats(values, array):
            exact = object_keys.plain_numbers(list(values))
            array = array if exact is None else exact
    elif (decimals := decimal_labels(values)) is not None:
        array = decimals
    else:
        encoded = categorical.encode_text_column(values, name)
        if encoded is not None:
            return encoded
        array = validation.as_array(values, name)
    if array.ndim == 0:
        raise validation.OptionError(f"{name} must be an array of labels; found a single {array.dtype}")
    if array.dtype.kind == "T":
        array = array.astype(object)
    return wide_labels(array) if array.dtype == object and array.ndim == 1 else array


def decimal_labels(values: Any) -> np.ndarray | None:
    """The numbers of an Arrow column of decimals, or of integers of 128 bits, as objects; None for other columns."""
    type_name = str(getattr(values, "type", getattr(values, "dtype", ""))).lower()
    if "decimal" not in type_name and "int128" not in type_name:
        return None
    column = group_keys.as_arrow(values)
    if column is None or column.null_count or not len(column):
        return None
    return group_keys.as_keys(column).to_numpy().astype(object)


def wide_labels(array: np.ndarray) -> Target:
    """Objects that are numbers as labels: encoded if no type of NumPy holds them all. Other objects are themselves."""
    numbers = object_keys.plain_numbers(array.tolist())
    if numbers is None:
        return array
    return numbers if numbers.dtype != object else categorical.encode_numbers_of_python(numbers)


def is_sparse(values: Any) -> bool:
    return hasattr(values, "toarray") and hasattr(values, "nnz")


def densify(values: Any, name: str, one_label: bool = False) -> np.ndarray:
    """A sparse matrix, with a column per label and at most one value besides 0, as a dense array.

    With `one_label` it may be a single column, of any values.
    """
    if len(values.shape) != 2 or values.shape[1] < (1 if one_label else 2):
        raise validation.InputError(
            f"{name} is sparse and has one column: a sparse target must have a column per label"
        )
    array = np.asarray(values.toarray())
    if array.shape[1] > 1 and array.size and array.all() and array.min() != array.max():
        raise ValueError(
            f"{name} is sparse and has {array.min()} and {array.max()}: a sparse target must have one value besides 0"
        )
    return array


def as_target(values: Any, name: str, one_label: bool = False) -> np.ndarray:
    """Labels of any kind, one column or a matrix, as a dense array."""
    target = read_labels(values, name, one_label)
    return target.classes[target.codes] if isinstance(target, CategoricalColumn) else target


def check_no_bytes(values: np.ndarray, name: str) -> None:
    if values.dtype.kind == "S" or (values.dtype == object and values.size and isinstance(values.flat[0], bytes)):
        raise validation.InputError(f"{name} has labels of bytes: decode them to text first")


def type_of_target(values: np.ndarray, name: str) -> str:
    """The result of scikit-learn's type_of_target for an array, with its errors.

    "binary" (at most two labels), "multiclass", "multilabel-indicator" (two values in more than one column),
    "continuous" (fractions), "multiclass-multioutput" and "continuous-multioutput" (other matrices), or "unknown".
    """
    if values.dtype.kind == "c":
        raise ValueError(f"{name} has dtype {values.dtype}: labels must not be complex")
    check_no_bytes(values, name)
    if values.ndim not in (1, 2):
        return "unknown"
    if not min(values.shape):
        return "binary" if values.ndim == 1 else "unknown"
    if values.dtype == object and not isinstance(values.flat[0], str):
        return "unknown"
    several = values.ndim == 2 and values.shape[1] > 1
    if several and is_indicator_matrix(values):
        return MULTILABEL
    suffix = "-multioutput" if several else ""
    if values.dtype.kind == "f" and has_fractions(values, name):
        return "continuous" + suffix
    few = sorted_classes(values, name).shape[0] < 3
    if several:
        return MULTILABEL if few and values.dtype.kind in "biuf" else "multiclass-multioutput"
    return "binary" if few else "multiclass"


def is_indicator_matrix(values: np.ndarray) -> bool:
    """Has the matrix only two neighboring integers? Nearly all indicator matrices have: 0 and 1."""
    if values.dtype.char not in categorical.KERNEL_TYPES:
        return False
    flat = validation.contiguous(values.T if values.flags.f_contiguous else values).reshape(-1)
    span = label_counts.label_range(flat, flat, 0, flat.shape[0])
    return span is not None and span[1] - span[0] < 2


def has_fractions(values: np.ndarray, name: str) -> bool:
    """Is any value not a 64-bit integer? Raises ValueError for NaN and infinities."""
    with np.errstate(invalid="ignore"):
        whole = values.astype(np.int64).astype(values.dtype) == values
    if whole.all():
        return False
    finite = np.isfinite(values)
    if not finite.all():
        row = validation.first_bad_row(~finite.reshape(values.shape[0], -1).all(axis=1))
        value = values[row] if values.ndim == 1 else values[row][~finite[row]][0]
        raise ValueError(f"{name} has {'NaN' if value != value else value} at row {row}")
    return True


def sorted_classes(values: np.ndarray, name: str) -> np.ndarray:
    """The distinct labels, sorted."""
    if values.dtype == object:
        return np.sort(categorical.encode_objects(values.ravel(), name).classes)
    return np.unique(values)


def is_text(values: np.ndarray) -> bool:
    """Can the array have text?"""
    return values.dtype.kind in "UO"


def value_kind(values: np.ndarray) -> str:
    """"text", "numbers", or NumPy's kind of other types: labels of different kinds have no common order."""
    kind = values.dtype.kind
    if kind == "O" and values.shape[0] and not isinstance(values[0], str):
        return "numbers"
    return "text" if kind in "UO" else "numbers" if kind in "biuf" else kind


def target_layout(target: Target, name: str) -> str:
    """COLUMN, MULTILABEL, or the type of a target that is neither; the errors are those of type_of_target."""
    if isinstance(target, CategoricalColumn):
        return COLUMN
    if target.ndim == 1 or (target.ndim == 2 and target.shape[1] == 1):
        kind = target.dtype.kind
        if kind in "biuU":
            return COLUMN
        if kind == "f":
            column = categorical.contiguous(target.reshape(-1))
            if label_counts.label_range(column, column, 0, column.shape[0]) or not has_fractions(target, name):
                return COLUMN
        elif kind == "O" and target.shape[0] and isinstance(target.flat[0], str):
            return COLUMN
    target_type = type_of_target(target, name)
    return COLUMN if target_type in ("binary", "multiclass") else target_type


def target_type_name(target: Target, name: str) -> str:
    """The type of the target, for error texts."""
    if isinstance(target, CategoricalColumn):
        return "binary" if target.classes.shape[0] < 3 else "multiclass"
    return type_of_target(target, name)


def check_pair(y_true: Any, y_pred: Any, names: Names = NAMES) -> tuple[Target, Target, str]:
    """Read and check two targets. The third result is COLUMN (contiguous arrays or encoded columns) or MULTILABEL."""
    first, second = names
    true, pred = read_labels(y_true, first), read_labels(y_pred, second)
    validation.check_lengths(true.shape[0], pred.shape[0], first, second)
    if true.shape[0] == 0:
        raise ValueError(f"{first} is empty: {NO_ROWS}")
    shapes = target_layout(true, first), target_layout(pred, second)
    if shapes == (COLUMN, COLUMN):
        return as_kernel_column(true), as_kernel_column(pred), COLUMN
    if isinstance(true, CategoricalColumn) or isinstance(pred, CategoricalColumn) or shapes != (MULTILABEL, MULTILABEL):
        kinds = target_type_name(true, first), target_type_name(pred, second)
        error = validation.InputError if "unknown" in kinds else ValueError
        if kinds[0] == kinds[1]:
            raise error(f"{first} and {second} must be labels; found {kinds[0]} targets, which are not supported here")
        raise error(f"{first} and {second} must be of one kind; found {kinds[0]} and {kinds[1]} targets")
    if true.shape[1] != pred.shape[1]:
        raise ValueError(f"{first} has {true.shape[1]} columns of labels but {second} has {pred.shape[1]}")
    return true, pred, MULTILABEL


def as_kernel_column(target: Target) -> Target:
    """A column that kernels can read."""
    return target if isinstance(target, CategoricalColumn) else categorical.contiguous(target.reshape(-1))


def is_kernel_array(target: Target) -> TypeGuard[np.ndarray]:
    """Can kernels read the column as integers?"""
    return not isinstance(target, CategoricalColumn) and target.dtype.char in categorical.KERNEL_TYPES


def encode_target(column: Target, name: str) -> CategoricalColumn:
    """Encode a checked column."""
    if isinstance(column, CategoricalColumn):
        return column
    if column.dtype == object:
        return categorical.encode_objects(column, name)
    return categorical.encode_text(column) if column.dtype.kind == "U" else categorical.encode_numbers(column)


def encode_columns(
    true: Target, pred: Target, n_threads: int = 1, names: Names = NAMES
) -> tuple[CategoricalColumn, CategoricalColumn]:
    """Encode two checked columns of one kind, each with its own classes."""
    columns = ((true, names[0]), (pred, names[1]))
    first, second = for_each(2, lambda: lambda number: encode_target(*columns[number]), n_threads)
    if value_kind(first.classes) != value_kind(second.classes):
        raise validation.InputError(
            f"{names[0]} has {first.classes[0]!r} and {names[1]} has {second.classes[0]!r}: {categorical.ONE_KIND}"
        )
    return first, second


def match_columns(
    true: Target, pred: Target, n_threads: int = 1, names: Names = NAMES
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Encode two checked columns with the same classes: the sorted labels of both, and the int64 codes of each."""
    return categorical.match_codes(*encode_columns(true, pred, n_threads, names))


def as_column(values: np.ndarray, name: str) -> np.ndarray:
    """The array, or the only column of a matrix."""
    if values.ndim == 2 and values.shape[1] == 1:
        return values.reshape(-1)
    validation.check_one_dimension(values, name)
    return values


def as_label_weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    """Checked weights of rows, at least one of them not zero; None without weights."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, (str, bytes)) or not validation.is_array_like(sample_weight):
        raise validation.OptionError(f"sample_weight must be an array of weights or None; found {sample_weight!r}")
    weights = as_weights(sample_weight, rows)
    check_some_weight(weights)
    return weights


def column_kind(classes: np.ndarray) -> str:
    return "binary" if classes.shape[0] < 3 else "multiclass"


def as_indicators(values: np.ndarray) -> np.ndarray:
    """A C-contiguous uint8 matrix: 1 for a nonzero value, otherwise 0."""
    return np.ascontiguousarray(values != 0).view(np.uint8)


def encode_labels(values: Any, labels: Any = None, name: str = "y_true") -> tuple[np.ndarray, np.ndarray]:
    """The int64 codes and the sorted classes of a column. Classes are its labels, or `labels`, which must have them."""
    column = encode_target(read_label_column(values, name), name)
    return categorical.sort_classes(column) if labels is None else encode_with_labels(column, labels, name)


def encode_with_labels(column: CategoricalColumn, labels: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The codes of a column for the sorted `labels`, which must have all its classes, and these labels."""
    classes = sorted_classes(as_column(as_target(labels, "labels"), "labels"), "labels")
    if classes.shape[0] == 0:
        raise ValueError("labels is empty: at least one label is needed")
    index_of = {label: index for index, label in enumerate(classes.tolist())}
    new_codes = np.array([index_of.get(label, -1) for label in column.classes.tolist()], np.int64)
    if (new_codes < 0).any():
        row = validation.first_bad_row(new_codes[column.codes] < 0)
        label = column.classes[column.codes[row]].item()
        raise ValueError(f"{name} has {label!r} at row {row}, which is not among labels")
    return new_codes[column.codes], classes


def read_label_column(values: Any, name: str) -> Target:
    """Read and check one column of labels."""
    target = read_labels(values, name)
    if len(target.shape) == 1 and target.shape[0] == 0:
        raise ValueError(f"{name} is empty: {NO_ROWS}")
    shape = target_layout(target, name)
    if shape != COLUMN:
        raise ValueError(f"{name} must be one column of labels; found {shape} targets")
    return as_kernel_column(target)


def positive_mask(y_true: Any, pos_label: Any = None, name: str = "y_true") -> np.ndarray:
    """A uint8 column: 1 for `pos_label`, otherwise 0.

    Without `pos_label`, labels must be 0 and 1, or -1 and 1; then 1 is positive.
    """
    plain = type(y_true) is np.ndarray and y_true.ndim == 1 and y_true.dtype.kind in "biuf"
    column = y_true if plain else read_mask_column(y_true, name)
    if isinstance(column, CategoricalColumn):
        if pos_label is None:
            raise_no_pos_label(np.sort(column.classes), name)
        is_positive: np.ndarray = column.classes == pos_label
        return np.asarray(is_positive[column.codes]).view(np.uint8)
    rows = column.shape[0]
    if rows == 0:
        raise ValueError(f"{name} is empty: {NO_ROWS}")
    if pos_label is None:
        if column.dtype.char == "?":
            return np.ascontiguousarray(column).view(np.uint8)
        mask = np.empty(rows, np.uint8)
        seen = kernel.mark_positive(column, mask)
        if seen < 0 and column.dtype.kind in "biuf":
            column = categorical.contiguous(column)
            seen = kernel.mark_positive(column, mask)
        if seen < 0 or seen & column_checks.SAW_OTHER or seen & MINUS_AND_ZERO == MINUS_AND_ZERO:
            if column.dtype.kind == "f":
                has_fractions(column, name)
            raise_no_pos_label(sorted_classes(column, name), name)
        return mask
    if column.dtype.kind == "f" and np.isnan(column).any():
        validation.raise_nan(column, name)
    if is_text(column) != isinstance(pos_label, str):
        return np.zeros(rows, np.uint8)
    return np.ascontiguousarray(column == pos_label).view(np.uint8)


def binary_labels(y_true: Any, pos_label: Any, name: str = "y_true") -> np.ndarray:
    """Labels 0 and 1, or -1 and 1, as they are; with `pos_label` a column of 1 for it and 0 for all others."""
    check_pos_label(pos_label)
    if pos_label is not None:
        return positive_mask(y_true, pos_label, name)
    try:
        return validation.as_labels(y_true, name)
    except validation.InputError:
        column = read_mask_column(y_true, name)
        if isinstance(column, CategoricalColumn) or is_text(column):
            positive_mask(y_true, None, name)  # an error, which names the labels
        raise


def check_pos_label(pos_label: Any) -> None:
    if pos_label is not None and not isinstance(pos_label, (bool, np.bool_, int, float, np.number, str)):
        raise validation.OptionError(f"pos_label must be a number, a text, a bool or None; found {pos_label!r}")


def read_mask_column(values: Any, name: str) -> Target:
    """Read one column of labels of any kind."""
    target = read_labels(values, name)
    return target if isinstance(target, CategoricalColumn) else as_column(target, name)


def raise_no_pos_label(classes: np.ndarray, name: str) -> NoReturn:
    """Raise the error for labels of which none is known to be positive."""
    found = ", ".join(map(repr, classes[:5].tolist())) + (", ..." if classes.shape[0] > 5 else "")
    raise ValueError(
        f"{name} has labels {found} and pos_label is not given: labels must be 0 and 1, or -1 and 1, or pos_label must "
        "name the positive label"
    )
