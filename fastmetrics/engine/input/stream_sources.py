"""Sources of several batches: lists and iterators of Arrow data, data frames, dicts of arrays, or rows as dicts.

A list can be read again, an iterator once. All batches have the columns that are read, in types of the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from os import PathLike
from typing import Any

from fastmetrics._core.columns.arrow_columns import type_name
from fastmetrics._core.optional_imports import library_of
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.array_sources import RowsSource
from fastmetrics.engine.input.arrow_sources import READ_ONCE
from fastmetrics.engine.input.batches import BATCH_ROWS, ColumnUses, Source
from fastmetrics.engine.input.column_types import convert_exactly, describe_misfit, shared_type, types_fit

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
        types = self._common_types(items, columns) if isinstance(items, Sequence) else {}
        batches = self._one_zone(self._numbered_batches(items, columns))
        return give_one_schema(batches, self.label, types, self.uses.only_numbers)

    def _common_types(self, items: Sequence[Any], columns: list[str]) -> dict[str, pa.DataType]:
        """A type for the values of all batches of a list, of columns whose types are known before they are read."""
        kinds = pa.Table | pa.RecordBatch | Mapping
        if not all(isinstance(item, kinds) or hasattr(item, "iloc") or library_of(item) == "polars" for item in items):
            return {}
        sources = [self._open(number, item) for number, item in enumerate(items)]
        common: dict[str, pa.DataType | None] = {}
        for column in columns:
            found = [own.type_before_reading(column) if column in own.column_names else None for own in sources]
            for data_type in found:
                known = common.get(column, data_type)
                common[column] = None if known is None or data_type is None else shared_type(known, data_type)
        return {column: found for column, found in common.items() if found is not None}

    def _one_zone(self, batches: Iterator[tuple[int, pa.RecordBatch]]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The batches; one whose days would be counted in another zone than those of the first is refused."""
        zones: dict[str, str] = {}
        for number, batch in batches:
            for field in batch.schema if self.time_zone is None else ():
                if field.name in self.uses.compared and pa.types.is_timestamp(field.type) and field.type.tz is not None:
                    zone = zones.setdefault(field.name, field.type.tz)
                    if zone != field.type.tz:
                        raise ValueError(
                            f"data: batch {number} of {self.label} has column {field.name!r} in zone {field.type.tz}, "
                            f"but those before it are in {zone}: time_zone= says in which zone expressions count days"
                        )
            yield number, batch

    def _numbered_batches(self, items: Iterable[Any], columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        for number, item in enumerate(items):
            source = self._open(number, item)
            source.expect(ColumnUses(*self.uses[:4]))  # its numbers and keys are compared here, over all batches
            source.memory_limit = self.memory_limit
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


def give_one_schema(
    batches: Iterable[tuple[int, pa.RecordBatch]],
    label: str,
    types: Mapping[str, pa.DataType],
    numbers: Collection[str],
) -> Iterator[pa.RecordBatch]:
    """The batches in the types of the first one, or in those of `types`.

    `batches` have the number of what they are part of; `numbers` are columns that are only read as numbers. Values that
    are all null have no type: such batches wait for one that has.
    """
    schema: pa.Schema | None = None
    waiting: list[tuple[int, pa.RecordBatch, int]] = []
    rows = 0
    for number, batch in batches:
        if schema is None:
            schema = pa.schema([(field.name, types.get(field.name, field.type)) for field in batch.schema])
        elif rows <= ROWS_WITHOUT_TYPE:
            schema = fill_null_types(schema, batch.schema)
        waiting.append((number, batch, rows))
        rows += batch.num_rows
        if rows <= ROWS_WITHOUT_TYPE and any(pa.types.is_null(field.type) for field in schema):
            continue
        for own_number, own, first_row in waiting:
            yield conform(own, schema, own_number, label, numbers, first_row)
        waiting = []
    for own_number, own, first_row in waiting:
        if schema is not None:
            yield conform(own, schema, own_number, label, numbers, first_row)


def fill_null_types(schema: pa.Schema, found: pa.Schema) -> pa.Schema:
    """The schema with types for columns that had none."""
    fields = zip(schema, found, strict=True)
    return pa.schema([(own.name, other.type if pa.types.is_null(own.type) else own.type) for own, other in fields])


def conform(
    batch: pa.RecordBatch, schema: pa.Schema, number: int, label: str, numbers: Collection[str], first_row: int
) -> pa.RecordBatch:
    """The batch in the types of the schema; values never change. Numbers that are read as float64 stay as they are."""
    if batch.schema.types == schema.types:
        return batch
    arrays = []
    for column, field in zip(batch.columns, schema, strict=True):
        reads_alike = field.name in numbers and types_fit(type_name(column.type), type_name(field.type), numbers=True)
        converted = column if reads_alike else convert_exactly(column, field.type)
        if converted is None:
            raise ValueError(
                f"data: batch {number} of {label} has column {field.name!r} of Arrow type {column.type}, but those "
                f"before it have {field.type}, which does not hold {describe_misfit(column, field.type, first_row)}; "
                "give all batches one type"
            )
        arrays.append(converted)
    return pa.RecordBatch.from_arrays(arrays, names=schema.names)
