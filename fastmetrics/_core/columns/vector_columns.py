"""Columns with several numbers in a row, as matrices, and the labels of their classes as numbers.

A matrix comes from one column of lists of equal lengths, or from several columns of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns import label_columns, validation
from fastmetrics._core.columns.array_types import noted_distance, sum_tolerance
from fastmetrics._core.columns.arrow_columns import entry_type, is_list, widened_epsilon
from fastmetrics._core.columns.label_codes import LabelCodes
from fastmetrics._core.columns.label_columns import (
    BOOLEAN,
    FIRST_TEXT,
    INTEGER,
    MIN_CODE,
    MIXED,
    NUMBER,
    NUMBERS,
    TEXT,
    LabelColumn,
)
from fastmetrics._core.kinds import Distribution, Vector
from fastmetrics._core.metric_strings import format_value
from fastmetrics._core.optional_imports import compute, pyarrow, types
from fastmetrics._kernels.columns import column_checks
from fastmetrics._kernels.probability import class_losses

MAX_LISTED = 20  # labels that a message lists

Locate = Callable[[int], int]


def rows_of_other_sums(columns: Sequence[Any], title: str, locate: Locate) -> np.ndarray:
    """A mask of the rows, without missing values, whose probabilities do not sum to 1."""
    if len(columns) == 1 and is_list(columns[0].type):
        matrix = matrix_of_lists(columns[0], title, locate)
    else:
        matrix = np.stack([validation.as_floats(own, title, locate) for own in columns], axis=1)
    mask = np.empty(matrix.shape[0], np.uint8)
    tolerance = sum_tolerance(matrix_epsilon(columns, matrix.dtype), matrix.shape[1])
    class_losses.mark_other_sums(matrix, tolerance, mask)
    return mask.view(bool)


def rows_with_missing_entries(column: Any) -> np.ndarray | None:
    """A mask of the rows whose list has a null or NaN; None if there are none."""
    if not is_list(column.type):
        return None
    entries = entries_of(column)
    if not entries.null_count and not has_nan(entries):
        return None
    missing = np.asarray(entries.is_null(nan_is_null=types.is_floating(entries.type)))
    rows = np.repeat(np.arange(len(column)), list_lengths(column))
    mask = np.zeros(len(column), bool)
    mask[rows[missing]] = True
    return mask


def entries_of(column: Any) -> Any:
    """The entries of all lists; those of rows that are null are left out."""
    if column.null_count or types.is_fixed_size_list(column.type) or not len(column):
        return column.flatten()
    first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
    return column.values.slice(first, last - first)


def has_nan(entries: Any) -> bool:
    """Has an array without nulls a NaN?"""
    if not types.is_floating(entries.type):
        return False
    values = entries.to_numpy(zero_copy_only=False)
    values = values.astype(np.float32) if values.dtype == np.float16 else values
    found = np.zeros(1, np.int64)
    column_checks.any_nan(values, 0, values.shape[0], found)
    return bool(found[0])


def list_lengths(column: Any) -> np.ndarray:
    """The length of the list of every row; a null has none."""
    if not column.null_count:
        if types.is_fixed_size_list(column.type):
            return np.full(len(column), column.type.list_size)
        return np.diff(np.asarray(column.offsets))
    return np.asarray(column.value_lengths().fill_null(0)).astype(np.int64, copy=False)


def read_matrix(kind: Vector, columns: Sequence[Any], names: Sequence[str], title: str, locate: Locate) -> np.ndarray:
    """See `read_checked_matrix`; the matrix alone."""
    return read_checked_matrix(kind, columns, names, title, locate)[0]


def read_checked_matrix(
    kind: Vector, columns: Sequence[Any], names: Sequence[str], title: str, locate: Locate
) -> tuple[np.ndarray, float]:
    """The numbers of pyarrow arrays without missing values: float32 or float64, with a row for each row.

    `title` names all columns, `names` each of them. Of probabilities of classes, also how far the sum of a row is from
    1, if a report notes it, otherwise 0.
    """
    if len(columns) == 1 and is_list(columns[0].type):
        matrix = matrix_of_lists(columns[0], title, locate)
    else:
        numbers = [validation.as_floats(*own, locate) for own in zip(columns, names, strict=True)]
        if len(numbers) == 1:
            found = columns[0].type
            raise TypeError(f"{title} has Arrow type {found}: lists of numbers are needed, or several columns")
        matrix = np.stack(numbers, axis=1)
    return matrix, check_matrix(kind, matrix, names, title, locate, float(matrix_epsilon(columns, matrix.dtype)))


def matrix_of_lists(column: Any, title: str, locate: Locate) -> np.ndarray:
    """Lists of equal lengths as a matrix."""
    lengths = list_lengths(column)
    length = int(lengths[0])
    if (lengths != length).any():
        row = int((lengths != length).argmax())
        raise ValueError(
            f"{title} has {lengths[row]} entries at row {locate(row)}, but {length} at row {locate(0)}: all rows have "
            "equally many"
        )
    if length == 0:
        raise ValueError(f"{title} has an empty list at row {locate(0)}")
    entries = validation.as_floats(column.flatten(), title, lambda entry: locate(entry // length))
    return entries.reshape(-1, length)


def matrix_epsilon(columns: Sequence[Any], dtype: np.dtype) -> float:
    """The machine epsilon of the columns' type: that of half floats stays when they are widened."""
    widened = widened_epsilon([str(entry_type(column.type)) for column in columns])
    return float(np.finfo(dtype).eps) if widened is None else widened


class MatrixColumn:
    """A matrix as a column that is read beside one that is not numeric. Rows are selected with NumPy's indexing."""

    __slots__ = ("matrix",)

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix

    @property
    def rows(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        return self.matrix.shape

    def __getitem__(self, where: Any) -> MatrixColumn:
        return MatrixColumn(self.matrix[where])


def check_matrix(
    kind: Vector, matrix: np.ndarray, names: Sequence[str], title: str, locate: Locate, eps: float
) -> float:
    """Raise ValueError for the first row that the kind does not allow; return the distance of a sum that is noted."""
    if not isinstance(kind, Distribution):
        if kind.finite and not np.isfinite(matrix).all():
            raise_bad_entry(~np.isfinite(matrix), matrix, names, locate, kind.wanted)
        return 0.0
    problem, farthest = np.zeros(1, np.int64), np.zeros(1)
    row = class_losses.check_sums(matrix, sum_tolerance(eps, matrix.shape[1]), problem, farthest)
    if problem[0]:
        raise_bad_entry(~((matrix >= 0) & (matrix <= 1)), matrix, names, locate, kind.wanted)
    if row >= 0:
        total = float(matrix[row].sum(dtype=np.float64))
        verb = "sum" if len(names) > 1 else "sums"
        raise ValueError(
            f"{title} {verb} to {total} at row {locate(row)}: the probabilities of a row sum to 1; on_invalid='drop' "
            "leaves such rows out"
        )
    return float(farthest[0]) if farthest[0] > noted_distance(eps) else 0.0


def raise_bad_entry(bad: np.ndarray, matrix: np.ndarray, names: Sequence[str], locate: Locate, wanted: str) -> None:
    row, number = divmod(int(bad.argmax()), matrix.shape[1])
    value = matrix[row, number]
    where = names[number] if len(names) > 1 else names[0]
    entry = "" if len(names) > 1 else f" (entry {number} of its list)"
    raise ValueError(f"{where} has {value} at row {locate(row)}{entry}: {wanted}")


# --------------------------------------------------------------------------------------------------- labels of classes


def read_class_numbers(
    found: LabelColumn,
    column: Any,
    labels: tuple[Any, ...] | None,
    n_classes: int,
    name: str,
    locate: Locate,
    advice: Callable[[Any], str],
) -> np.ndarray:
    """The number of the class of every row, int64. `labels` are those of the classes; None: labels are the numbers.

    `found` are the labels of the column. `advice(column)` says what to type if they are not numbers.
    """
    if labels is None and found.type_name not in NUMBERS:
        codes = found.codes if found.type_name == MIXED else None
        if codes is None or (np.min(codes) < MIN_CODE):
            kind = found.type_name if codes is None else TEXT
            raise ValueError(f"{name} has labels of type {kind}: {advice(column)}")
    if labels is None and found.codes is not None:
        numbers = found.codes
    else:
        numbers = find_labels(found, column, labels or ())
    if numbers.min() < 0 or numbers.max() >= n_classes:
        row = int(((numbers < 0) | (numbers >= n_classes)).argmax())
        wanted = f"labels are the numbers of the {n_classes} classes, 0 to {n_classes - 1}; {advice(column)}"
        if labels is not None:
            wanted = f"the classes are labels={format_labels(labels)}"
        raise ValueError(f"{name} has {column[row].as_py()!r} at row {locate(row)}: {wanted}")
    return np.ascontiguousarray(numbers, np.int64)


def find_labels(found: LabelColumn, column: Any, labels: tuple[Any, ...]) -> np.ndarray:
    """The position of every row's label among `labels`; -1 if it is not among them."""
    if found.type_name in (INTEGER, BOOLEAN) and found.codes is not None:
        return positions_of_integers(found.codes, labels)
    if found.type_name in (NUMBER, MIXED):
        return positions_of_numbers(found, labels)
    values = column.dictionary if types.is_dictionary(column.type) else column
    is_text = found.type_name == TEXT
    texts = [label if isinstance(label, str) or not is_text else None for label in labels]
    wanted = pyarrow.array([None if text is None else str(text) for text in texts], pyarrow.string())
    try:
        wanted = wanted.cast(values.type)
    except pyarrow.ArrowException as error:
        raise ValueError(f"labels {list(labels)!r} are not of type {values.type}: {error}") from error
    positions = np.asarray(compute.index_in(values, wanted).fill_null(-1)).astype(np.int64, copy=False)
    return positions[np.asarray(column.indices)] if types.is_dictionary(column.type) else positions


def label_positions(column: LabelColumn, labels: tuple[Any, ...] | None, n_labels: int) -> np.ndarray:
    """The position of each label among `labels`, by default 0 to n_labels - 1; -1 if it is not among them."""
    if column.type_name in (NUMBER, MIXED):
        return positions_of_numbers(column, range(n_labels) if labels is None else labels)
    if column.codes is not None and column.texts is None:
        if labels is not None:
            return positions_of_integers(column.codes, labels)
        return np.where((column.codes >= 0) & (column.codes < n_labels), column.codes, -1)
    codes = LabelCodes()
    known = label_columns.as_classes(pyarrow.array(list(map(str, labels or ()))), "labels", int)
    codes.number(known)  # different texts, so they get the numbers 0, 1, ...
    positions = codes.number(column) - FIRST_TEXT
    return np.where(positions < n_labels, positions, -1)


def positions_of_numbers(column: LabelColumn, labels: Sequence[Any]) -> np.ndarray:
    """The position among `labels` of each label of a column of numbers of any width; -1 if there is none."""
    texts = [str(int(label)) if isinstance(label, float) and label.is_integer() else str(label) for label in labels]
    codes = LabelCodes()
    known = codes.number(label_columns.number_labels(pyarrow.array(texts, pyarrow.string()), MIXED))
    return positions_among(known, codes.number(column))


def positions_of_integers(codes: np.ndarray, labels: tuple[Any, ...]) -> np.ndarray:
    """The position of every code among labels that are whole numbers; -1 if there is none."""
    whole = [(int(label), number) for number, label in enumerate(labels) if is_whole(label)]
    places = positions_among(np.array([label for label, _ in whole], np.int64), codes)
    return np.take([*(number for _, number in whole), -1], places)  # the last is that of place -1


def positions_among(known: np.ndarray, found: np.ndarray) -> np.ndarray:
    """The position among `known` of each of the integers found; -1 if there is none."""
    if not known.shape[0]:
        return np.full(found.shape[0], -1)
    order = np.argsort(known, kind="stable")
    places = np.minimum(np.searchsorted(known[order], found), known.shape[0] - 1)
    return np.where(known[order][places] == found, order[places], -1)


def is_whole(label: Any) -> bool:
    return isinstance(label, (int, float)) and label == int(label) and abs(label) < label_columns.MAX_WHOLE


def format_labels(labels: Sequence[Any]) -> str:
    """Labels as a metric string writes them; the first few of many."""
    more = ["..."] if len(labels) > MAX_LISTED else []
    return f"[{', '.join([*map(format_value, labels[:MAX_LISTED]), *more])}]"


def propose_labels(column: Any, columns: Sequence[str], n_classes: int) -> str:
    """The labels to type for some rows, as a metric string writes them: those that occur, if they are all classes."""
    distinct = column.unique().to_pylist()
    if len(distinct) != n_classes:
        return "[a, b, ...]"
    labels = sorted(map(str, distinct))
    by_column = [[label for label in labels if own.endswith(label)] for own in columns]
    longest = [max(own, key=len) for own in by_column if own]
    ordered = longest if sorted(longest) == labels else labels
    return format_labels(ordered)


def check_labels(labels: Any) -> None:
    """Check the parameter `labels` of a metric."""
    if labels is None:
        return
    if not isinstance(labels, tuple) or len(labels) < 2:
        raise ValueError(f"labels must be a list of at least two labels, such as labels=[a, b]; found {labels!r}")
    if len(set(labels)) < len(labels):
        raise ValueError(f"labels must be different; found {list(labels)!r}")
