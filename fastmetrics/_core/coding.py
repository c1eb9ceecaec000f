"""Columns of labels as numbers 0, 1, 2, ...: by their values' range, by a hash table over their bits, by a dictionary.

However a column is numbered, its classes are the distinct labels found in it, and its codes the places of its labels
among them. Two labels are one only if they are equal; a hash decides nothing. Classes are sorted last (`in_order`,
`unite`): often only a small table of counts has to be brought into order, not the rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._kernels import counts as pairs
from fastmetrics._kernels import labels as kernel

READABLE = frozenset("?bBhHiIlLqQfd")
ONE_KIND = "labels must all be numbers or all be text"
FEW_SLOTS = 256
WIDE_RANGE = 1 << 16


class Coded(NamedTuple):
    """A numbered column: codes (int32 or int64) into its classes, all different, in any order."""

    codes: np.ndarray
    classes: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.codes.shape


def code_numbers(values: np.ndarray) -> Coded:
    """A column of integers, or of floats without fractions. The array is contiguous."""
    span = pairs.label_range(values, values, 0, values.shape[0]) if values.dtype.char in READABLE else None
    if span is None:
        classes, codes = np.unique(values, return_inverse=True)
        return Coded(codes.astype(np.int64, copy=False), classes)
    low, high = span
    rows = values.shape[0]
    if high - low >= max(WIDE_RANGE, rows):
        codes, found = number(rows, None, lambda *table: kernel.number_integers(values, *table))
        return Coded(codes, found.astype(values.dtype))
    present = np.zeros(high - low + 1, np.uint8)
    if kernel.mark_labels(values, 0, rows, low, present) == high - low + 1:
        classes = (np.arange(high - low + 1) + low).astype(values.dtype)
        if low == 0 and values.dtype == np.int64:
            return Coded(values, classes)
        return Coded(values.astype(np.int64) - low, classes)
    places = np.flatnonzero(present)
    numbers = np.cumsum(present, dtype=np.int64)
    numbers -= 1
    out = np.empty(rows, np.int64)
    kernel.look_up(values, 0, rows, low, numbers, out)
    return Coded(out, (places + low).astype(values.dtype))


def code_text(values: np.ndarray) -> Coded:
    """A column of text of fixed width (dtype U). The array is contiguous."""
    rows, width = values.shape[0], values.dtype.itemsize
    if width == 0:
        return Coded(np.zeros(rows, np.int64), values[:1])
    by_row = values.view(np.uint8).reshape(rows, width)
    codes, found = number(rows, by_row, lambda *table: kernel.number_rows(by_row, *table))
    return Coded(codes, values[found])


def number(
    rows: int, by_row: np.ndarray | None, go_on: Callable[..., tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Number labels with a hash table that grows: codes (int32), and what the kernel found for each number."""
    codes = np.empty(rows, np.int32)
    slots = np.zeros(FEW_SLOTS, np.int32)
    found = np.empty(FEW_SLOTS // 2, np.int64)
    hashes = np.empty(FEW_SLOTS // 2, np.uint64)
    row = n_found = 0
    while True:
        table = (slots, found, n_found) if by_row is None else (slots, found, hashes, n_found)
        row, n_found = go_on(row, rows, *table, codes)
        if row == rows:
            return codes, found[:n_found]
        slots = np.zeros(8 * found.shape[0], np.int32)
        found, hashes = (
            np.concatenate([array, np.empty_like(array), np.empty_like(array), np.empty_like(array)])
            for array in (found, hashes)
        )
        if by_row is None:
            kernel.hash_integers(found[:n_found], hashes)
        kernel.place_again(hashes[:n_found], slots)


def in_order(coded: Coded) -> Coded:
    """The same column with sorted classes, and codes of int64."""
    order = np.argsort(coded.classes)
    if (order[1:] > order[:-1]).all():
        return Coded(coded.codes.astype(np.int64, copy=False), coded.classes)
    places = np.empty(order.shape[0], np.int64)
    places[order] = np.arange(order.shape[0])
    return Coded(places[coded.codes], coded.classes[order])


def code_objects(values: np.ndarray, name: str) -> Coded:
    """A column of Python strings."""
    numbers: defaultdict[Any, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    try:
        codes = np.fromiter(map(numbers.__getitem__, values.tolist()), np.int64, values.shape[0])
    except TypeError:
        raise_mixed(values, name)
    if not all(isinstance(label, str) for label in numbers):
        raise_mixed(values, name)
    return Coded(codes, text_classes(list(numbers)))


def text_classes(found: list[str]) -> np.ndarray:
    """Labels as an array: of NumPy's text unless that would cut off what they end with."""
    if any(label.endswith("\0") for label in found):
        classes = np.empty(len(found), object)
        classes[:] = found
        return classes
    return np.array(found, dtype=np.str_)


def code_dictionary(codes: np.ndarray, classes: list[Any], name: str) -> Coded:
    """Codes into a list of texts that may hold some twice, and some that do not occur."""
    present = np.zeros(len(classes), np.uint8)
    present[codes] = 1
    if any(label is None and there for label, there in zip(classes, present.tolist(), strict=True)):
        raise inputs.InputError(f"{name} has a null among its labels")
    numbers: dict[str, int] = {}
    places = np.array([numbers.setdefault(str(label), len(numbers)) if there else -1
                       for label, there in zip(classes, present.tolist(), strict=True)], np.int64)  # fmt: skip
    return Coded(places[codes], text_classes(list(numbers)))


def raise_mixed(values: np.ndarray, name: str) -> NoReturn:
    """The error for a column of objects that are not all text."""
    for row, value in enumerate(values.ravel()):
        if not isinstance(value, str):
            what = "NaN" if value != value else repr(value)
            raise inputs.InputError(f"{name} has {what} at row {row} beside text: {ONE_KIND}")
    raise inputs.InputError(f"{name} has labels without a common order: {ONE_KIND}")


def text_column(values: Any, name: str) -> Coded | None:
    """A column of text that its container has numbered already, or numbers faster than we: pandas, polars, Arrow.

    None for everything else.
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


def pandas_text(values: Any, name: str) -> Coded | None:
    array = getattr(values, "array", values)
    if values.dtype.name == "category":
        if not all(isinstance(label, str) for label in array.categories):
            return None
        codes = np.asarray(array.codes)
        if codes.shape[0] and codes.min() < 0:
            raise inputs.InputError(f"{name} has a null at row {int(np.flatnonzero(codes < 0)[0])}")
        return code_dictionary(codes, array.categories.tolist(), name)
    storage = getattr(values.dtype, "storage", None) or str(getattr(values.dtype, "pyarrow_dtype", ""))
    if storage == "pyarrow" or storage in ("string", "large_string"):
        return arrow_text(array.__arrow_array__(), name)
    if storage == "python":
        missing = np.asarray(array.isna())
        if missing.any():
            raise inputs.InputError(f"{name} has a null at row {int(np.flatnonzero(missing)[0])}")
    return None


def polars_text(values: Any, name: str) -> Coded | None:
    if values.null_count():
        row = int(np.flatnonzero(values.is_null().to_numpy())[0])
        raise inputs.InputError(f"{name} has a null at row {row}")
    try:
        return arrow_text(values.to_arrow(), name)
    except ImportError:
        return None


def arrow_text(values: Any, name: str) -> Coded | None:
    kind = str(values.type)
    if kind in ("string", "large_string", "string_view"):
        if kind == "string_view":
            values = values.cast("large_string")
        values = values.dictionary_encode()
    elif not (kind.startswith("dictionary<") and str(values.type.value_type) in ("string", "large_string")):
        return None
    if values.null_count:
        row = int(np.flatnonzero(np.concatenate([np.asarray(chunk.is_null()) for chunk in chunks_of(values)]))[0])
        raise inputs.InputError(f"{name} has a null at row {row}")
    if hasattr(values, "chunks"):
        values = values.unify_dictionaries()
        chunks = chunks_of(values)
        if not chunks:
            return None
        codes = np.concatenate([np.asarray(chunk.indices) for chunk in chunks])
        return code_dictionary(codes, chunks[0].dictionary.to_pylist(), name)
    return code_dictionary(np.asarray(values.indices), values.dictionary.to_pylist(), name)


def chunks_of(values: Any) -> list[Any]:
    chunks: list[Any] = getattr(values, "chunks", None) or [values]
    return chunks


def unite(one: Coded, other: Coded) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sorted labels of two columns, and the place among them of each class of the one and of the other."""
    first, second = one.classes.tolist(), other.classes.tolist()
    labels = sorted({*first, *second})
    numbers = {label: number for number, label in enumerate(labels)}
    places, others = (np.array([numbers[label] for label in found], np.int64) for found in (first, second))
    return as_classes(labels, one.classes, other.classes), places, others


def place_codes(codes: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The places (int64) of a column's codes."""
    if codes.dtype == np.int64 and (places == np.arange(places.shape[0])).all():
        return codes
    placed: np.ndarray = places[codes]
    return placed


def as_classes(labels: list[Any], one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The labels as an array of the first column's type if they are all its own, else of a type that holds both's."""
    if object in (one.dtype, other.dtype):
        return text_classes(labels)
    dtype = one.dtype if len(labels) == one.shape[0] else np.result_type(one.dtype, other.dtype)
    if dtype.kind == "f" and one.dtype.kind in "iu" and other.dtype.kind in "iu":
        dtype = np.dtype(object)  # int64 beside uint64: no float holds them all
    return np.array(labels, dtype)


def contiguous(values: np.ndarray) -> np.ndarray:
    """A column a kernel can read: float16 and long doubles, which hold integers here, become float64."""
    if values.dtype.kind == "f" and values.dtype.char not in READABLE:
        values = values.astype(np.float64)
    return inputs.contiguous(values)
