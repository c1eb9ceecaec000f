"""Labels of partitions, of any type, read as integers or floats: text and objects are encoded, dates are viewed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.columns import categorical, class_labels, validation
from fastmetrics._core.columns.categorical import CategoricalColumn
from fastmetrics._kernels.classification import label_counts as ranges

INT64_TYPES = frozenset("?bBhHiIlq") if np.dtype("l").itemsize == 8 else frozenset("?bBhHiIlLq")


class PartitionLabels(NamedTuple):
    """A column of numbers as kernels read it, and a function that turns these numbers (as int64) into labels."""

    values: np.ndarray
    restore: Callable[[np.ndarray], np.ndarray]
    has_fractions: bool = False


def read_partition_labels(values: Any, name: str) -> PartitionLabels:
    """Read one column of labels of any type."""
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype.char in INT64_TYPES:
        return PartitionLabels(validation.contiguous(values), cast_to(values.dtype))
    if class_labels.is_sparse(values):
        raise validation.InputError(f"{name} must be one column of labels; found a sparse matrix")
    target = class_labels.read_labels(values, name)
    if isinstance(target, CategoricalColumn):
        return from_categorical(target)
    if target.ndim != 1:
        raise ValueError(f"{name} must have one dimension; found {target.ndim} (shape {target.shape})")
    kind = target.dtype.kind
    if target.shape[0] == 0:
        return from_categorical(CategoricalColumn(np.zeros(0, np.int64), target))
    if kind == "O":
        return from_categorical(encode_objects(target, name))
    if kind == "f":
        return read_floats(target, name)
    if kind in "mM" and np.isnat(target).any():
        raise ValueError(f"{name} has NaT at row {int(np.flatnonzero(np.isnat(target))[0])}")
    if kind not in "biumMU":
        class_labels.type_of_target(target, name)
        raise validation.InputError(f"{name} has dtype {target.dtype}: labels must be numbers, texts or dates")
    column = validation.contiguous(target)
    if kind == "U":
        return from_categorical(categorical.encode_text(column))
    if column.dtype.char in INT64_TYPES:
        return PartitionLabels(column, cast_to(column.dtype))
    return PartitionLabels(column.view(np.int64), lambda values: values.view(column.dtype))


def cast_to(dtype: np.dtype) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: values.astype(dtype, copy=False)


def from_categorical(column: CategoricalColumn) -> PartitionLabels:
    return PartitionLabels(column.codes, column.classes.__getitem__)


def read_floats(values: np.ndarray, name: str) -> PartitionLabels:
    """A column of floats, which may hold integers. Floats of more than 64 bits are encoded: no kernel reads them."""
    if values.dtype.itemsize <= 8:
        return PartitionLabels(categorical.contiguous(values), cast_to(values.dtype))
    class_labels.has_fractions(values, name)
    classes, codes = np.unique(values, return_inverse=True)
    return PartitionLabels(codes, classes.__getitem__, class_labels.has_fractions(classes, name))


def floats_as_bits(column: PartitionLabels, name: str) -> PartitionLabels:
    """The column as integers: floats with fractions become their bits, after -0.0 is replaced by 0.0.

    NaN and infinities are errors. This is needed only for columns that count_dense did not count.
    """
    floats, restore, _ = column
    if floats.dtype.kind != "f" or ranges.label_range(floats, floats, 0, floats.shape[0]) is not None:
        return column
    fractions = class_labels.has_fractions(floats, name)
    bits = np.dtype(f"i{floats.dtype.itemsize}")
    return PartitionLabels(
        (floats + floats.dtype.type(0)).view(bits),
        lambda values: restore(values.astype(bits, copy=False).view(floats.dtype)),
        fractions,
    )


def encode_objects(values: np.ndarray, name: str) -> CategoricalColumn:
    """Encode a column of Python objects: strings, or any other objects that can be sorted."""
    if isinstance(values[0], str):
        return categorical.encode_objects(values, name)
    code_of: dict[Any, int] = {}
    try:
        codes = np.fromiter((code_of.setdefault(value, len(code_of)) for value in values), np.int64, values.shape[0])
        sorted(code_of)
    except TypeError as error:
        check_objects(values, name)
        raise validation.InputError(f"{name} has labels without a common order: {error}") from None
    classes = np.empty(len(code_of), object)
    for label, code in code_of.items():
        classes[code] = label
    check_objects(classes, name, values)
    return CategoricalColumn(codes, classes)


def check_objects(labels: np.ndarray, name: str, values: np.ndarray | None = None) -> None:
    """Raise an error for bytes (as scikit-learn does) and for missing labels.

    If `labels` are the distinct labels of `values`, the error names the row in `values`.
    """
    for position, label in enumerate(labels):
        if isinstance(label, bytes):
            raise TypeError(f"{name} has labels of bytes: decode them to text first")
        if label is None or label is getattr(label, "_NA_SENTINEL", None) or label != label:
            if values is None:
                row = position
            else:
                row = next(row for row, value in enumerate(values) if value is label)
            raise ValueError(f"{name} has {'None' if label is None else 'NaN'} at row {row}")
