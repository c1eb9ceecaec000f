"""Ids of queries and items as the kernels read them: integers, or text as spans of one byte array."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs, keys
from fastmetrics._kernels import dictlists, partition

WANTED = "ids must be integers or strings"
LARGEST = 1 << 63


class Texts(NamedTuple):
    """UTF-8 text: id i is data[starts[i]:stops[i]]. starts and stops are both int32 or both int64, contiguous."""

    data: np.ndarray
    starts: np.ndarray
    stops: np.ndarray

    @property
    def rows(self) -> int:
        return int(self.starts.shape[0])

    @property
    def kind(self) -> str:
        return "strings"

    def take(self, rows: np.ndarray) -> Texts:
        return Texts(self.data, self.starts[rows], self.stops[rows])

    def at(self, row: int) -> str:
        return self.data[self.starts[row] : self.stops[row]].tobytes().decode(errors="backslashreplace")

    def names(self) -> list[str]:
        """All ids as Python strings."""
        if not self.rows:
            return []
        first = int(self.starts.min())
        whole = self.data[first : int(self.stops.max())].tobytes()
        spans = zip((self.starts - first).tolist(), (self.stops - first).tolist(), strict=True)
        return [whole[start:stop].decode(errors="backslashreplace") for start, stop in spans]

    def as_texts(self) -> Texts:
        """With places of 64 bits."""
        return Texts(self.data, self.starts.astype(np.int64, copy=False), self.stops.astype(np.int64, copy=False))


class Integers(NamedTuple):
    """Integers of 64 bits; those without a sign keep their bits, seen as int64."""

    values: np.ndarray
    is_unsigned: bool = False

    @property
    def rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def kind(self) -> str:
        return "unsigned integers" if self.is_unsigned else "integers"

    def take(self, rows: np.ndarray) -> Integers:
        return Integers(self.values[rows], self.is_unsigned)

    def at(self, row: int) -> int:
        return int(self.values.view(np.uint64)[row]) if self.is_unsigned else int(self.values[row])

    def names(self) -> list[int]:
        """All ids as Python integers."""
        names: list[int] = (self.values.view(np.uint64) if self.is_unsigned else self.values).tolist()
        return names

    def as_texts(self) -> Texts:
        """Each integer's eight bytes: what is numbered as text is found by its bits."""
        starts = np.arange(0, 8 * self.rows, 8, dtype=np.int64)
        return Texts(np.ascontiguousarray(self.values).view(np.uint8), starts, starts + 8)


class Codes(NamedTuple):
    """A dictionary-encoded column: neighbouring rows are told apart by their codes."""

    codes: np.ndarray
    ids: Texts | Integers

    @property
    def rows(self) -> int:
        return int(self.codes.shape[0])

    @property
    def kind(self) -> str:
        return self.ids.kind

    def take(self, rows: np.ndarray) -> Texts | Integers:
        return self.ids.take(self.codes[rows])


class Segments(NamedTuple):
    """Rows that stand by query: row heads[i] begins the rows of ids[i]; a query may come back."""

    heads: np.ndarray
    ids: Texts
    rows: int

    @property
    def kind(self) -> str:
        return self.ids.kind


Ids = Texts | Integers
QueryIds = Texts | Integers | Codes | Segments


class Names(NamedTuple):
    """Keys of a dict, as they are."""

    keys: list[Any]

    @property
    def rows(self) -> int:
        return len(self.keys)

    def at(self, row: int) -> Any:
        return self.keys[row]

    def names(self) -> list[Any]:
        return self.keys


def of_objects(names: list[Any], what: str) -> Ids:
    """Ids of Python objects: all strings, or all integers."""
    if not names:
        return Integers(np.zeros(0, np.int64))
    rows = len(names)
    if isinstance(names[0], str):
        starts, stops = np.empty(rows, np.int64), np.empty(rows, np.int64)
        try:
            data = np.empty(dictlists.text_bytes(names, starts, stops), np.uint8)
        except (TypeError, UnicodeEncodeError):
            # Looked at one by one, the row can be named.
            return as_ids(np.fromiter(names, object, rows), what)
        dictlists.copy_texts(names, data)
        return Texts(data, starts, stops)
    if not all(issubclass(kind, (int, np.integer)) for kind in set(map(type, names))):
        row = next(row for row, name in enumerate(names) if not isinstance(name, (int, np.integer)))
        raise TypeError(f"{what} has {names[row]!r} at row {row}: {WANTED}, all of one kind")
    try:
        return as_ids(np.array(names), what)
    except OverflowError:
        raise ValueError(f"{what} has integers beyond 64 bits") from None


def as_ids(values: Any, name: str) -> Ids:
    """Ids of any column of integers or strings: without a copy where its layout is Arrow's or NumPy's."""
    try:
        return of_keys(keys.as_keys(values, name))
    except (TypeError, ValueError) as error:
        # The same checks as of group keys; here they are ids.
        if keys.WANTED not in str(error):
            raise
        raise type(error)(str(error).replace(keys.WANTED, WANTED)) from None


def of_keys(column: keys.Keys) -> Ids:
    if isinstance(column, keys.IntegerKeys):
        values = column.values
        if values.dtype == np.uint64:
            fits = values.shape[0] == 0 or int(values.max()) < LARGEST
            return Integers(values.view(np.int64), not fits)
        return Integers(values.astype(np.int64, copy=False))
    if isinstance(column, keys.TextKeys):
        return Texts(column.data, column.offsets[:-1], column.offsets[1:])
    if column.width == 0:
        places = np.zeros(column.rows, np.int64)
        return Texts(np.zeros(0, np.uint8), places, places)
    codes = column.values.view(np.uint32).reshape(column.rows, column.width)
    offsets = np.empty(column.rows + 1, np.int64)
    data = np.empty(4 * codes.size, np.uint8)
    bad = partition.encode_utf8(codes, offsets, data)
    if bad >= 0:
        raise ValueError(f"{column.name} has {str(column.values[bad])!r} at row {bad}: no valid Unicode text")
    return Texts(data, offsets[:-1], offsets[1:])


def as_query_ids(values: Any, name: str) -> QueryIds:
    """As as_ids; dictionary-encoded columns keep their codes."""
    arrow = None if type(values) is np.ndarray else keys.as_arrow(values)
    if arrow is not None and hasattr(arrow.type, "index_type") and len(arrow) and not arrow.null_count:
        if hasattr(arrow, "chunks"):
            arrow = arrow.combine_chunks() if arrow.num_chunks != 1 else arrow.chunk(0)
        if hasattr(arrow, "dictionary") and not arrow.dictionary.null_count:
            codes = inputs.arrow_to_numpy(arrow.indices, name)
            kind = np.int32 if codes.dtype.itemsize < 4 or codes.dtype == np.int32 else np.int64
            return Codes(inputs.contiguous(codes.astype(kind, copy=False)), as_ids(arrow.dictionary, name))
    return as_ids(arrow if arrow is not None else values, name)


def align(first: Ids, second: Ids, what: str) -> tuple[Ids, Ids]:
    """Two columns to be compared: of one kind, their places of one type. `what` names them in the error."""
    if isinstance(first, Texts) and isinstance(second, Texts):
        if first.starts.dtype == second.starts.dtype:
            return first, second
        return first.as_texts(), second.as_texts()
    elif isinstance(first, Integers) and isinstance(second, Integers) and same_bits(first, second):
        return first, second
    raise TypeError(f"{what} {first.kind} and {second.kind}: cast one of them, so that both are of one type")


def same_bits(first: Integers, second: Integers) -> bool:
    """Are equal bits equal integers? Not of -1 and 2**64 - 1."""
    if first.is_unsigned == second.is_unsigned:
        return True
    signed = second if first.is_unsigned else first
    return not signed.rows or int(signed.values.min()) >= 0
