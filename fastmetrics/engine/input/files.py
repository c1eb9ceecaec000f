"""Files, read one after the other as if they were one: columns by name, ``key=value`` folders as columns too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fastmetrics._core.inputs import no_column
from fastmetrics.engine.batches import BATCH_ROWS, Part, Source, first_line, read_ahead, resized
from fastmetrics.engine.formats import CSV, PARQUET, Format, errors_name, format_of, parquet_row_groups, read_row_group

if TYPE_CHECKING:
    import pyarrow as pa

PART_BATCHES = 2
PART_ROWS = PART_BATCHES * BATCH_ROWS
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


class File(NamedTuple):
    """A file as it was found; `partition` has the ``key=value`` folders of its path."""

    path: Path
    format: Format
    schema: pa.Schema
    rows: int | None
    partition: dict[str, str | None]


class FileSource(Source):
    """Files that are read one after the other; columns are matched by name."""

    def __init__(self, paths: list[Path], *, label: str) -> None:
        self.label = label if len(paths) == 1 else f"{label} ({len(paths)} files)"
        self._files = [_inspected(path) for path in paths]
        self._partition_types = _partition_types(self._files)
        self.column_names = self._names()
        counts = [file.rows for file in self._files]
        self.rows = None if None in counts else sum(count for count in counts if count is not None)

    def locate(self, row: int) -> str:
        """The row in the user's words; with several files the row of its file, where the files tell their rows."""
        if len(self._files) > 1:
            start = 0
            for file in self._files:
                if file.rows is None:
                    break
                if row < start + file.rows:
                    return f"row {row - start} of {file.path}"
                start += file.rows
        return super().locate(row)

    def _names(self) -> list[str]:
        """The files' columns, then the partition keys. A name stands as often as the file with most of it has it."""
        names: list[str] = []
        for own in dict.fromkeys(tuple(file.schema.names) for file in self._files):
            names += [column for at, column in enumerate(own) if names.count(column) <= own[:at].count(column)]
        return names + [key for key in self._partition_types if key not in names]

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        schema = self._unified_schema(columns)
        files = (self._read_file(file, schema, use_threads) for file in self._files)
        batches = resized(chain.from_iterable(files), self.batch_rows)
        return read_ahead(batches) if use_threads else batches

    def parts(self, columns: Sequence[str]) -> list[Part]:
        """Runs of row groups of at least PART_ROWS rows, if all files are Parquet and there are several such runs."""
        if any(file.format is not PARQUET for file in self._files):
            return []
        schema = self._unified_schema(list(dict.fromkeys(columns)))
        parts: list[Part] = []
        pieces: list[tuple[File, int]] = []
        first_row = rows = 0
        for file in self._files:
            with errors_name(file.path, file.format):
                row_groups = parquet_row_groups(file.path)
            for index, group_rows in enumerate(row_groups):
                pieces.append((file, index))
                rows += group_rows
                if rows >= min(PART_ROWS, PART_BATCHES * self.batch_rows):
                    parts.append(Part(first_row, rows, partial(self._read_pieces, pieces, schema)))
                    first_row, rows, pieces = first_row + rows, 0, []
        if pieces:
            parts.append(Part(first_row, rows, partial(self._read_pieces, pieces, schema)))
        return parts if len(parts) > 1 else []

    def _read_pieces(self, pieces: list[tuple[File, int]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        row_groups = (self._read_row_group(file, index, schema) for file, index in pieces)
        return resized(chain.from_iterable(row_groups), self.batch_rows)

    def _read_row_group(self, file: File, index: int, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        with errors_name(file.path, file.format):
            for batch in read_row_group(file.path, self._own_schema(file, schema), index, self.batch_rows):
                yield _conformed(batch, schema, file)

    def _own_schema(self, file: File, schema: pa.Schema) -> pa.Schema:
        """What of `schema` is in the file. Only partition keys are wanted: any column tells the number of rows."""
        import pyarrow as pa

        own = pa.schema([field for field in schema if field.name in file.schema.names])
        return own if len(own) else pa.schema([file.schema.field(0)])

    def _unified_schema(self, columns: list[str]) -> pa.Schema:
        import pyarrow as pa

        return pa.schema([(column, self._type_to_read(column)) for column in columns])

    def _type_to_read(self, column: str) -> pa.DataType:
        """Parquet keeps texts in dictionaries; they need not be spelt out where few are known to differ.

        CSV has no types: what is known to be text need not be guessed.
        """
        import pyarrow as pa

        if column in self.texts and all(file.format is CSV and column in file.schema.names for file in self._files):
            return pa.string()
        unified = self._unified_type(column)
        is_text = pa.types.is_string(unified) or pa.types.is_large_string(unified)
        if is_text and column in self.dictionaries and all(file.format is PARQUET for file in self._files):
            return pa.dictionary(pa.int32(), pa.string())
        return unified

    def _unified_type(self, column: str) -> pa.DataType:
        first = self._files[0]
        unified = self._type_in(first, column)
        for file in self._files:
            own_type = self._type_in(file, column)
            merged = unified if own_type == unified else _common_type(unified, own_type)
            if merged is None:
                raise ValueError(
                    f"column {column!r} is {own_type} in {file.path} but {unified} in those before it, such as "
                    f"{first.path}; write the files with one type"
                )
            unified = merged
        return unified

    def _type_in(self, file: File, column: str) -> pa.DataType:
        if column in file.schema.names:
            return file.schema.field(column).type
        if column in file.partition:
            return self._partition_types[column]
        available = [*file.schema.names, *file.partition]
        raise ValueError(f"{no_column(column, str(file.path), available)}. Other files that were given have it")

    def _read_file(self, file: File, schema: pa.Schema, use_threads: bool) -> Iterator[pa.RecordBatch]:
        with errors_name(file.path, file.format):
            for batch in file.format.read(file.path, self._own_schema(file, schema), use_threads, self.batch_rows):
                yield _conformed(batch, schema, file)


def _inspected(path: Path) -> File:
    file_format = format_of(path)
    with errors_name(path, file_format):
        schema, rows = file_format.inspect(path)
    return File(path, file_format, schema, rows, _partition(path))


def _partition(path: Path) -> dict[str, str | None]:
    from urllib.parse import unquote

    pairs = (folder.partition("=") for folder in path.parts[:-1] if "=" in folder)
    return {unquote(key): None if value == HIVE_NULL else unquote(value) for key, _, value in pairs}


def _partition_types(files: list[File]) -> dict[str, pa.DataType]:
    """int64 if every value of the key is an integer as Python writes it (01 and 1 must not meet), otherwise string."""
    import pyarrow as pa

    values: dict[str, set[str]] = {}
    for file in files:
        for key, value in file.partition.items():
            values.setdefault(key, set()).update([] if value is None else [value])
    return {key: pa.int64() if texts and all(map(_is_int64, texts)) else pa.string() for key, texts in values.items()}


def _is_int64(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and str(int(text)) == text and -(2**63) <= int(text) < 2**63


def _common_type(first: pa.DataType, second: pa.DataType) -> pa.DataType | None:
    """A type that holds both; the conversion itself is checked value by value. None if there is none."""
    import pyarrow as pa

    for one, two in ((first, second), (_plain_type(first), _plain_type(second))):
        try:
            fields = [pa.schema([("column", one)]), pa.schema([("column", two)])]
            return pa.unify_schemas(fields, promote_options="permissive").field(0).type
        except pa.ArrowException:
            continue
    return None


def _plain_type(data_type: pa.DataType) -> pa.DataType:
    """Strings are the same strings whether Arrow stores them as a dictionary, as views or as offsets."""
    import pyarrow as pa

    if pa.types.is_dictionary(data_type):
        return _plain_type(data_type.value_type)
    return pa.large_string() if pa.types.is_string_view(data_type) else data_type


def _conformed(batch: pa.RecordBatch, schema: pa.Schema, file: File) -> pa.RecordBatch:
    """The columns of `schema` in its order and types, with the partition's values where the file has no such column."""
    import pyarrow as pa

    arrays = []
    for field in schema:
        index = batch.schema.get_field_index(field.name)
        if index >= 0:
            arrays.append(_cast(batch.column(index), field, file.path))
        else:
            value = pa.scalar(file.partition[field.name], pa.string()).cast(field.type)
            arrays.append(pa.repeat(value, batch.num_rows))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _cast(column: pa.Array, field: pa.Field, path: Path) -> pa.Array:
    """An exact conversion: a value that would change, such as a long id in a float64, is an error."""
    import pyarrow as pa

    if column.type == field.type:
        return column
    try:
        return column.cast(field.type)
    except pa.ArrowException as error:
        raise ValueError(
            f"column {field.name!r} of {path} is {column.type} and does not fit {field.type}, the type that it shares "
            f"with the other files: {first_line(error)}"
        ) from error
