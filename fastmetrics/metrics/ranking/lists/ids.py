"""Ids of queries and items as the kernels read them: integers, or text as spans of one byte array."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import object_keys
from fastmetrics._core.columns import group_keys, key_columns, validation
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.ranking import run_qrels_dicts

WANTED = "ids must be integers or strings"
SIGN_BIT = 1 << 63


class TextIds(NamedTuple):
    """Ids that are UTF-8 text: id i is data[starts[i]:stops[i]]. starts and stops are contiguous, int32 or int64.

    If they `write_numbers`, they are numbers that no integer of 64 bits holds.
    """

    data: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    write_numbers: bool = False

    @property
    def rows(self) -> int:
        return int(self.starts.shape[0])

    @property
    def kind(self) -> str:
        return "numbers" if self.write_numbers else "strings"

    @property
    def spans(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The bytes, and where each id begins and ends."""
        return self.data, self.starts, self.stops

    def take(self, rows: np.ndarray) -> TextIds:
        return TextIds(self.data, self.starts[rows], self.stops[rows], self.write_numbers)

    def at(self, row: int) -> Any:
        return self.take(np.array([row])).to_list()[0]

    def to_list(self) -> list[Any]:
        """All ids as Python's strings, or as the numbers that they write."""
        if not self.rows:
            return []
        first = int(self.starts.min())
        whole = self.data[first : int(self.stops.max())].tobytes()
        spans = zip((self.starts - first).tolist(), (self.stops - first).tolist(), strict=True)
        texts = [whole[start:stop].decode(errors="backslashreplace") for start, stop in spans]
        return list(map(object_keys.value_of_numeral, texts)) if self.write_numbers else texts

    def as_texts(self) -> TextIds:
        """The same ids with offsets of 64 bits."""
        starts, stops = (own.astype(np.int64, copy=False) for own in (self.starts, self.stops))
        return TextIds(self.data, starts, stops, self.write_numbers)


class IntegerIds(NamedTuple):
    """Ids that are 64-bit integers. Unsigned ones are stored as the int64 of the same bits."""

    values: np.ndarray
    is_unsigned: bool = False

    @property
    def rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def kind(self) -> str:
        return "unsigned integers" if self.is_unsigned else "integers"

    def take(self, rows: np.ndarray) -> IntegerIds:
        return IntegerIds(self.values[rows], self.is_unsigned)

    def at(self, row: int) -> int:
        return int(self.values.view(np.uint64)[row]) if self.is_unsigned else int(self.values[row])

    def to_list(self) -> list[int]:
        """All ids as Python integers."""
        names: list[int] = (self.values.view(np.uint64) if self.is_unsigned else self.values).tolist()
        return names

    def as_texts(self) -> TextIds:
        """The eight bytes of each integer as a text, so that integers can be numbered like texts."""
        starts = np.arange(0, 8 * self.rows, 8, dtype=np.int64)
        return TextIds(np.ascontiguousarray(self.values).view(np.uint8), starts, starts + 8)

    def as_numbers(self) -> TextIds:
        """The integers as the texts that write them, comparable with numbers of any width."""
        texts = [str(integer).encode() for integer in self.to_list()]
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64, self.rows), dtype=np.int64)
        data = np.frombuffer(b"".join(texts), np.uint8)
        return TextIds(data, np.concatenate((np.zeros(1, np.int64), ends))[:-1], ends, True)


class DictionaryIds(NamedTuple):
    """A dictionary-encoded column. Rows with equal codes have the same id."""

    codes: np.ndarray
    ids: TextIds | IntegerIds

    @property
    def rows(self) -> int:
        return int(self.codes.shape[0])

    @property
    def kind(self) -> str:
        return self.ids.kind

    def take(self, rows: np.ndarray) -> TextIds | IntegerIds:
        return self.ids.take(self.codes[rows])


class QuerySegments(NamedTuple):
    """Segments of neighboring rows of one query. Segment i starts at row starts[i]. A query may have several."""

    starts: np.ndarray
    ids: TextIds
    rows: int

    @property
    def kind(self) -> str:
        return self.ids.kind


Ids = TextIds | IntegerIds
QueryIds = TextIds | IntegerIds | DictionaryIds | QuerySegments


class DictKeys(NamedTuple):
    """Ids that are keys of a dict, unchanged."""

    keys: list[Any]

    @property
    def rows(self) -> int:
        return len(self.keys)

    def at(self, row: int) -> Any:
        return self.keys[row]

    def to_list(self) -> list[Any]:
        return self.keys


def no_ids() -> IntegerIds:
    return IntegerIds(np.zeros(0, np.int64))


def ids_from_objects(names: list[Any], what: str) -> Ids:
    """Ids from a list of Python objects: all strings, or all integers."""
    if not names:
        return no_ids()
    rows = len(names)
    if isinstance(names[0], str):
        starts, stops = np.empty(rows, np.int64), np.empty(rows, np.int64)
        try:
            data = np.empty(run_qrels_dicts.text_bytes(names, starts, stops), np.uint8)
        except (TypeError, UnicodeEncodeError):
            # as_ids looks at the objects one by one and names the bad row.
            return as_ids(np.fromiter(names, object, rows), what)
        run_qrels_dicts.copy_texts(names, data)
        return TextIds(data, starts, stops)
    if not all(issubclass(kind, (int, np.integer)) for kind in set(map(type, names))):
        row = next(row for row, name in enumerate(names) if not isinstance(name, (int, np.integer)))
        raise TypeError(f"{what} has {names[row]!r} at row {row}: {WANTED}, all of one kind")
    return as_ids(names, what)


def as_ids(values: Any, name: str) -> Ids:
    """Ids from any column of integers or strings. Columns with the layout of Arrow or NumPy are not copied."""
    try:
        return ids_from_keys(group_keys.as_keys(values, name), name)
    except (TypeError, ValueError) as error:
        # The checks are those of group keys; the message must say ids.
        if object_keys.WANTED not in str(error):
            raise
        raise type(error)(str(error).replace(object_keys.WANTED, WANTED)) from None


def ids_from_keys(column: key_columns.Keys, name: str) -> Ids:
    if isinstance(column, key_columns.FixedWidthKeys):
        column = column.as_texts()
    if isinstance(column, key_columns.TextKeys):
        are_numbers = column.dtype.metadata is not None
        return TextIds(column.data, column.offsets[:-1], column.offsets[1:], are_numbers)
    if isinstance(column, key_columns.NumberKeys) and column.has_integers:
        values = column.values
        if values.dtype == np.uint64:
            return IntegerIds(values.view(np.int64), bool((values >= SIGN_BIT).any()))
        return IntegerIds(values.astype(np.int64, copy=False))
    raise TypeError(f"{name} has dtype {column.dtype}: {WANTED}")


def as_query_ids(values: Any, name: str) -> QueryIds:
    """Like as_ids, but a dictionary-encoded column keeps its codes."""
    arrow = None if type(values) is np.ndarray else group_keys.as_arrow(values)
    if arrow is not None and hasattr(arrow.type, "index_type") and len(arrow) and not arrow.null_count:
        if hasattr(arrow, "chunks"):
            arrow = arrow.combine_chunks() if arrow.num_chunks != 1 else arrow.chunk(0)
        if hasattr(arrow, "dictionary") and not arrow.dictionary.null_count:
            codes = validation.arrow_to_numpy(arrow.indices, name)
            kind = np.int32 if codes.dtype.itemsize < 4 or codes.dtype == np.int32 else np.int64
            return DictionaryIds(validation.contiguous(codes.astype(kind, copy=False)), as_ids(arrow.dictionary, name))
    return as_ids(arrow if arrow is not None else values, name)


def align_ids(first: Ids, second: Ids, what: str) -> tuple[Ids, Ids]:
    """Two columns of ids, made comparable: of one kind, with offsets of one type. `what` names them in the error."""
    first, second = align_numbers(first, second)
    if isinstance(first, TextIds) and isinstance(second, TextIds) and first.write_numbers == second.write_numbers:
        if first.starts.dtype == second.starts.dtype:
            return first, second
        return first.as_texts(), second.as_texts()
    elif isinstance(first, IntegerIds) and isinstance(second, IntegerIds) and bits_are_comparable(first, second):
        return first, second
    raise TypeError(f"{what} {first.kind} and {second.kind}: cast one of them to the type of the other")


def align_numbers(first: Ids, second: Ids) -> tuple[Ids, Ids]:
    """Integers as texts if those of the other column are, or if their bits mean other integers there."""
    if isinstance(first, IntegerIds) and isinstance(second, IntegerIds):
        return (first, second) if bits_are_comparable(first, second) else (first.as_numbers(), second.as_numbers())
    if isinstance(first, IntegerIds) and isinstance(second, TextIds) and second.write_numbers:
        return first.as_numbers(), second
    if isinstance(second, IntegerIds) and isinstance(first, TextIds) and first.write_numbers:
        return first, second.as_numbers()
    return first, second


def docid_order(items: Ids) -> Any:
    """What decides ties="docid" (Lists.order): the greater id comes first, integers as numbers, text by its bytes."""
    if isinstance(items, IntegerIds):
        bits = ~items.values.view(np.uint64)
        return bits if items.is_unsigned else bits ^ np.uint64(SIGN_BIT)
    if items.write_numbers:
        ranks = np.unique(np.fromiter(items.to_list(), object, items.rows), return_inverse=True)[1]
        return ~ranks.astype(np.uint64)
    return items.as_texts()


def bits_are_comparable(first: IntegerIds, second: IntegerIds) -> bool:
    """Whether equal bits mean equal integers in both columns: -1 and 2**64 - 1 have the same bits."""
    if first.is_unsigned == second.is_unsigned:
        return True
    signed = second if first.is_unsigned else first
    return not signed.rows or int(signed.values.min()) >= 0
