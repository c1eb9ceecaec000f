"""Sources of several batches: lists and iterators of Arrow data, data frames, dicts of arrays, or rows as dicts.

A list can be read again, an iterator once. All batches have the columns that are read, in types of the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from os import PathLike
from typing import Any

from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.array_sources import RowsSource
from fastmetrics.engine.input.arrow_sources import READ_ONCE
from fastmetrics.engine.input.batches import BATCH_ROWS, Source, first_line

ROWS_OF_ITERATOR = 1 << 14  # rows as dicts that are converted together
ROWS_WITHOUT_TYPE = 16 * BATCH_ROWS  # rows that wait for the type of a column whose values were all null so far


class BatchesSource(Source):
    """Several batches, one after the other. `open_batch` makes the source of each."""

    def __init__(self, items: Iterable[Any], open_batch: Callable[[Any], Source], label: str = "") -> None:
        self._open_batch = open_batch
        self._items: Iterable[Any] | None = items
        self.reads_once = isinstance(items, Iterator)
        self.label = label or f"the {type(items).__name__} of batches"
        items = iter(items)
        first = next(items, None)
        if first is None:
            raise ValueError(f"data: {self.label} is empty: give at least one")
        if isinstance(first, Mapping) and is_row(first):
            self._items = RowChunks(chain([first], items))
            self.label = "the iterator of rows"
            self.reads_once = True
            first, items = next(self._items), self._items
        self._first = self._open(0, first)
        self.column_names = list(self._first.column_names)
        if self.reads_once:
            self._items = chain([self._first], items)

    def _open(self, number: int, item: Any) -> Source:
        if isinstance(item, Source):
            return item
        try:
            return self._open_batch(item)
        except (ValueError, TypeError) as error:
            raise type(error)(f"batch {number} of {self.label}: {error}") from error

    def _type_of(self, column: str) -> pa.DataType | None:
        return self._first.type_of(column)

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        return self._read_fields(columns, use_threads)

    def _read_fields(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        items = self._items
        if items is None:
            raise ValueError(f"data: {self.label} {READ_ONCE}")
        if self.reads_once:
            self._items = None
        return give_one_schema(self._numbered_batches(items, columns), self.label)

    def _numbered_batches(self, items: Iterable[Any], columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        for number, item in enumerate(items):
            source = self._open(number, item)
            source.dictionaries, source.texts, source.lists = self.dictionaries, self.texts, self.lists
            source.has_long_lists, source.memory_limit = self.has_long_lists, self.memory_limit
            try:
                for batch in source.batches(columns, use_threads=False):
                    yield number, batch
            except ValueError as error:
                raise ValueError(f"batch {number} of {self.label}: {error}") from error


class RowChunks(Iterator[Source]):
    """An iterator of rows as dicts, some thousand of them at a time. A key that a row lacks is null there."""

    def __init__(self, rows: Iterator[Mapping[str, Any]]) -> None:
        self._rows = rows
        self._names: list[str] = []

    def __next__(self) -> Source:
        rows = list(islice(self._rows, ROWS_OF_ITERATOR))
        if not rows:
            raise StopIteration
        if not all(isinstance(row, Mapping) for row in rows):
            found = next(type(row).__name__ for row in rows if not isinstance(row, Mapping))
            raise TypeError(f"data: an iterator of rows gave {found}, not a dict")
        source = RowsSource(rows)
        self._names = list(dict.fromkeys([*self._names, *source.column_names]))
        source.column_names = self._names
        return source


def is_row(item: Mapping[Any, Any]) -> bool:
    """Is a dict one row, and not columns of several rows?"""
    return any(isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__") for value in item.values())


def open_batches(data: Any, open_batch: Callable[[Any], Source]) -> Source | None:
    """The source of a list or an iterable of batches or rows; None for other data."""
    if isinstance(data, Sequence) and not isinstance(data, str | bytes | bytearray | memoryview):
        if all(isinstance(item, Mapping) and is_row(item) for item in data):
            return RowsSource(data)
        return BatchesSource(data, open_batch)
    is_iterable = isinstance(data, Iterable) and not isinstance(data, str | bytes | bytearray | memoryview)
    if not is_iterable or hasattr(data, "__array__") or hasattr(data, "read"):
        return None
    label = f"the {type(data).__name__} of batches"
    if isinstance(data, Iterator):
        first = next(data, None)
        if first is None:
            raise ValueError(f"data: {label} is empty, or it {READ_ONCE}")
        data = chain([first], data)
        if isinstance(first, str | PathLike):  # such as the paths of Path.glob
            return open_batch(list(data))
    return BatchesSource(data, open_batch, label)


# ------------------------------------------------------------------------------------------------------ one schema


def give_one_schema(batches: Iterable[tuple[int, pa.RecordBatch]], label: str) -> Iterator[pa.RecordBatch]:
    """The batches in the types of the first one; `batches` have the number of what they are part of.

    Values that are all null have no type: such batches wait for one that has.
    """
    schema: pa.Schema | None = None
    waiting: list[tuple[int, pa.RecordBatch]] = []
    rows = 0
    for number, batch in batches:
        if schema is None:
            schema = batch.schema.remove_metadata()
        elif rows <= ROWS_WITHOUT_TYPE:
            schema = fill_null_types(schema, batch.schema)
        rows += batch.num_rows
        if has_null_type(schema) and rows <= ROWS_WITHOUT_TYPE:
            waiting.append((number, batch))
            continue
        for own_number, own in waiting:
            yield conform(own, schema, own_number, label)
        waiting = []
        yield conform(batch, schema, number, label)
    for own_number, own in waiting:
        if schema is not None:
            yield conform(own, schema, own_number, label)


def has_null_type(schema: pa.Schema) -> bool:
    return any(pa.types.is_null(field.type) for field in schema)


def fill_null_types(schema: pa.Schema, found: pa.Schema) -> pa.Schema:
    """The schema with types for columns that had none."""
    fields = zip(schema, found, strict=True)
    return pa.schema([(own.name, other.type if pa.types.is_null(own.type) else own.type) for own, other in fields])


def conform(batch: pa.RecordBatch, schema: pa.Schema, number: int, label: str) -> pa.RecordBatch:
    """The batch in the types of the schema; values never change."""
    if batch.schema.types == schema.types:
        return batch
    arrays = []
    for column, field in zip(batch.columns, schema, strict=True):
        cause: Exception | None = None
        if column.type != field.type:
            try:
                converted = column.cast(field.type) if may_become(column.type, field.type) else None
            except pa.ArrowException as error:
                converted, cause = None, error
            if converted is None:
                why = "" if cause is None else f" ({first_line(cause)})"
                raise ValueError(
                    f"data: batch {number} of {label} has column {field.name!r} of Arrow type {column.type}, but those "
                    f"before it have {field.type}{why}; give all batches one type"
                )
            column = converted
        arrays.append(column)
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def may_become(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Does the type hold the same values? They are checked one by one when they are converted."""
    types = pa.types
    if types.is_null(found) or (is_text(found) and is_text(wanted)):
        return True
    if types.is_dictionary(found):
        return found.value_type == wanted or may_become(found.value_type, wanted)
    if types.is_decimal(wanted) or types.is_decimal(found):
        return all(types.is_decimal(own) or types.is_integer(own) for own in (found, wanted))
    if types.is_timestamp(found) and types.is_timestamp(wanted):
        return (found.tz is None) == (wanted.tz is None)
    if types.is_integer(found):
        return bool(types.is_integer(wanted) or types.is_float64(wanted))
    return bool(types.is_floating(found) and types.is_float64(wanted))


def is_text(data_type: pa.DataType) -> bool:
    """Is it a type of texts, however they are stored?"""
    types = pa.types
    if types.is_dictionary(data_type):
        return is_text(data_type.value_type)
    return bool(types.is_string(data_type) or types.is_large_string(data_type) or types.is_string_view(data_type))
