"""Categorical columns: labels become codes 0, 1, 2, ... by a table over their range, a hash table, or a dictionary.

For every method, the classes are the distinct labels of the column, and a code is the index of a label among them. Two
labels are one class only if they are equal: equal hashes are not enough. Classes are sorted last (`sort_classes`,
`unify_classes`): often a small table of counts has to be sorted, not the rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.classification import label_counts
from fastmetrics._kernels.columns import label_encoding as kernel

KERNEL_TYPES = frozenset("?bBhHiIlLqQfd")
ONE_KIND = "labels must all be numbers or all be text"
INITIAL_SLOTS = 256
WIDE_RANGE = 1 << 16


class CategoricalColumn(NamedTuple):
    """A column as codes (int32 or int64) into its classes, which are all different, in any order."""

    codes: np.ndarray
    classes: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.codes.shape


def encode_numbers(values: np.ndarray) -> CategoricalColumn:
    """Encode a contiguous column of integers, or of floats without fractions."""
    # Labels are read several times, and index tables: another thread may change the caller's array meanwhile.
    values = values.copy()
    span = label_counts.label_range(values, values, 0, values.shape[0]) if values.dtype.char in KERNEL_TYPES else None
    if span is None:
        classes, codes = np.unique(values, return_inverse=True)
        return CategoricalColumn(codes.astype(np.int64, copy=False), classes)
    low, high = span
    rows = values.shape[0]
    if high - low >= max(WIDE_RANGE, rows):
        codes, labels = encode_with_table(rows, None, lambda *table: kernel.encode_integers(values, *table))
        return CategoricalColumn(codes, labels.astype(values.dtype))
    present = np.zeros(high - low + 1, np.uint8)
    if kernel.mark_labels(values, 0, rows, low, present) == high - low + 1:
        classes = (np.arange(high - low + 1) + low).astype(values.dtype)
        if low == 0 and values.dtype == np.int64:
            return CategoricalColumn(values, classes)
        return CategoricalColumn(values.astype(np.int64) - low, classes)
    offsets = np.flatnonzero(present)
    code_of_offset = np.cumsum(present, dtype=np.int64)
    code_of_offset -= 1
    out = np.empty(rows, np.int64)
    kernel.look_up_codes(values, 0, rows, low, code_of_offset, out)
    return CategoricalColumn(out, (offsets + low).astype(values.dtype))


def encode_text(values: np.ndarray) -> CategoricalColumn:
    """Encode a contiguous column of fixed-width text (dtype U)."""
    rows, width = values.shape[0], values.dtype.itemsize
    if width == 0:
        return CategoricalColumn(np.zeros(rows, np.int64), values[:1])
    by_row = values.view(np.uint8).reshape(rows, width)
    codes, first_rows = encode_with_table(rows, by_row, lambda *table: kernel.encode_byte_rows(by_row, *table))
    return CategoricalColumn(codes, values[first_rows])


def encode_with_table(
    rows: int, by_row: np.ndarray | None, encode_more: Callable[..., tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Encode rows with a hash table that grows. Returns codes (int32), and the kernel's entry for each class.

    `encode_more` encodes rows until the table is full.
    """
    codes = np.empty(rows, np.int32)
    slots = np.zeros(INITIAL_SLOTS, np.int32)
    entries = np.empty(INITIAL_SLOTS // 2, np.int64)
    hashes = np.empty(INITIAL_SLOTS // 2, np.uint64)
    row = n_classes = 0
    while True:
        table = (slots, entries, n_classes) if by_row is None else (slots, entries, hashes, n_classes)
        row, n_classes = encode_more(row, rows, *table, codes)
        if row == rows:
            return codes, entries[:n_classes]
        slots = np.zeros(8 * entries.shape[0], np.int32)
        entries, hashes = (
            np.concatenate([array, np.empty_like(array), np.empty_like(array), np.empty_like(array)])
            for array in (entries, hashes)
        )
        if by_row is None:
            kernel.hash_integers(entries[:n_classes], hashes)
        kernel.rehash(hashes[:n_classes], slots)


def sort_classes(column: CategoricalColumn) -> CategoricalColumn:
    """The same column with sorted classes and int64 codes."""
    order = np.argsort(column.classes)
    if (order[1:] > order[:-1]).all():
        return CategoricalColumn(column.codes.astype(np.int64, copy=False), column.classes)
    new_codes = np.empty(order.shape[0], np.int64)
    new_codes[order] = np.arange(order.shape[0])
    return CategoricalColumn(new_codes[column.codes], column.classes[order])


def encode_objects(values: np.ndarray, name: str) -> CategoricalColumn:
    """Encode a column of Python strings."""
    code_of: defaultdict[Any, int] = defaultdict()
    code_of.default_factory = code_of.__len__
    try:
        codes = np.fromiter(map(code_of.__getitem__, values.tolist()), np.int64, values.shape[0])
    except TypeError:
        raise_mixed_types(values, name)
    if not all(isinstance(label, str) for label in code_of):
        raise_mixed_types(values, name)
    return CategoricalColumn(codes, text_classes(list(code_of)))


def encode_numbers_of_python(values: np.ndarray) -> CategoricalColumn:
    """Encode integers and floats that no type of NumPy holds together."""
    code_of: dict[Any, int] = {}
    codes = np.fromiter((code_of.setdefault(value, len(code_of)) for value in values.tolist()), np.int64, len(values))
    return CategoricalColumn(codes, np.fromiter(code_of, object, len(code_of)))


def text_classes(labels: list[str]) -> np.ndarray:
    """Labels as an array of NumPy text, or of objects if a label ends with "\\0", which NumPy text would cut off."""
    if any(label.endswith("\0") for label in labels):
        return np.fromiter(labels, object, len(labels))
    return np.array(labels, dtype=np.str_)


def encode_dictionary(codes: np.ndarray, classes: list[Any], name: str) -> CategoricalColumn:
    """Encode codes into a list of texts, which may have duplicates and texts that do not occur."""
    present = np.zeros(len(classes), np.uint8)
    present[codes] = 1
    occurs = present.tolist()
    if any(label is None and used for label, used in zip(classes, occurs, strict=True)):
        raise validation.InputError(f"{name} has a null among its labels")
    code_of: dict[str, int] = {}
    new_codes = [
        code_of.setdefault(str(label), len(code_of)) if used else -1
        for label, used in zip(classes, occurs, strict=True)
    ]
    return CategoricalColumn(np.array(new_codes, np.int64)[codes], text_classes(list(code_of)))


def raise_mixed_types(values: np.ndarray, name: str) -> NoReturn:
    """Raise the error for a column of objects that are not all text."""
    items = values.ravel().tolist()
    missing = next((row for row, value in enumerate(items) if value is None), None)
    if missing is not None and not any(isinstance(value, str) for value in items):
        raise validation.InputError(f"{name} has None at row {missing} beside numbers: {ONE_KIND}")
    for row, value in enumerate(items):
        if not isinstance(value, str):
            found = "NaN" if value != value else repr(value)
            raise validation.InputError(f"{name} has {found} at row {row} beside text: {ONE_KIND}")
    raise validation.InputError(f"{name} has labels without a common order: {ONE_KIND}")


def encode_text_column(values: Any, name: str) -> CategoricalColumn | None:
    """Encode a text column of pandas, polars or Arrow, which have codes already or encode faster.

    None for every other container.
    """
    module = type(values).__module__.partition(".")[0]
    if module == "pandas" and hasattr(values, "dtype"):
        return pandas_text(values, name)
    if module == "polars" and hasattr(values, "to_arrow") and hasattr(values, "dtype"):
        if str(values.dtype).partition("(")[0] in ("String", "Categorical", "Enum"):
            return polars_text(values, name)
        return None
    if module == "pyarrow" and hasattr(values, "type"):
        return arrow_text(values, name)
    return None


def pandas_text(values: Any, name: str) -> CategoricalColumn | None:
    """Encode a text column of pandas; None if it has no fast path."""
    array = getattr(values, "array", values)
    if values.dtype.name == "category":
        if not all(isinstance(label, str) for label in array.categories):
            return None
        codes = np.asarray(array.codes)
        if codes.shape[0] and codes.min() < 0:
            raise validation.InputError(f"{name} has a null at row {validation.first_bad_row(codes < 0)}")
        return encode_dictionary(codes, array.categories.tolist(), name)
    storage = getattr(values.dtype, "storage", None) or str(getattr(values.dtype, "pyarrow_dtype", ""))
    if storage == "pyarrow" or storage in ("string", "large_string"):
        return arrow_text(array.__arrow_array__(), name)
    if storage == "python":
        missing = np.asarray(array.isna())
        if missing.any():
            raise validation.InputError(f"{name} has a null at row {validation.first_bad_row(missing)}")
    return None


def polars_text(values: Any, name: str) -> CategoricalColumn | None:
    """Encode a text column of polars; None without pyarrow."""
    if values.null_count():
        row = int(np.flatnonzero(values.is_null().to_numpy())[0])
        raise validation.InputError(f"{name} has a null at row {row}")
    try:
        return arrow_text(values.to_arrow(), name)
    except ImportError:
        return None


def arrow_text(values: Any, name: str) -> CategoricalColumn | None:
    """Encode a text column of Arrow; None if it is not text."""
    kind = str(values.type)
    if kind in ("string", "large_string", "string_view"):
        if kind == "string_view":
            values = values.cast("large_string")
        values = values.dictionary_encode()
    elif not (kind.startswith("dictionary<") and str(values.type.value_type) in ("string", "large_string")):
        return None
    if values.null_count:
        row = int(np.flatnonzero(np.asarray(values.is_null()))[0])
        raise validation.InputError(f"{name} has a null at row {row}")
    if hasattr(values, "chunks"):
        chunks = values.unify_dictionaries().chunks
        if not chunks:
            return None
        codes = np.concatenate([np.asarray(chunk.indices) for chunk in chunks])
        return encode_dictionary(codes, chunks[0].dictionary.to_pylist(), name)
    return encode_dictionary(np.asarray(values.indices), values.dictionary.to_pylist(), name)


def unify_classes(
    one: CategoricalColumn, other: CategoricalColumn
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sorted labels of two columns, and for each column the index of its classes among these labels."""
    first, second = one.classes.tolist(), other.classes.tolist()
    labels = sorted({*first, *second})
    index_of = {label: index for index, label in enumerate(labels)}
    first_indices, second_indices = (
        np.array([index_of[label] for label in classes], np.int64) for classes in (first, second)
    )
    return common_classes(labels, one.classes, other.classes), first_indices, second_indices


def match_codes(one: CategoricalColumn, other: CategoricalColumn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sorted labels of two columns, and the int64 codes of each column in these."""
    classes, indices, other_indices = unify_classes(one, other)
    return classes, map_codes(one.codes, indices), map_codes(other.codes, other_indices)


def map_codes(codes: np.ndarray, new_codes: np.ndarray) -> np.ndarray:
    """The codes of a column replaced by new_codes[code], as int64."""
    if codes.dtype == np.int64 and (new_codes == np.arange(new_codes.shape[0])).all():
        return codes
    mapped: np.ndarray = new_codes[codes]
    return mapped


def common_classes(labels: list[Any], one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The labels of two columns as an array: of the first column's type if it has all, else of a type for both."""
    if object in (one.dtype, other.dtype):
        return text_classes(labels) if isinstance(labels[0], str) else np.fromiter(labels, object, len(labels))
    dtype = one.dtype if len(labels) == one.shape[0] else np.result_type(one.dtype, other.dtype)
    if dtype.kind == "f" and one.dtype.kind in "iu" and other.dtype.kind in "iu":
        dtype = np.dtype(object)  # int64 and uint64: no float type represents all of them
    return np.array(labels, dtype)


def contiguous(values: np.ndarray) -> np.ndarray:
    """A column that kernels can read. float16 and long doubles become float64: their values are integers here."""
    if values.dtype.kind == "f" and values.dtype.char not in KERNEL_TYPES:
        values = values.astype(np.float64)
    return validation.contiguous(values)
