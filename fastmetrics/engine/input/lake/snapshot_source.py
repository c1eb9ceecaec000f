"""The files of a snapshot as one source: columns, types and values as the table declares them.

A table's files may be older than its schema. A column is found in a file by the name or the number that it has there;
it is null where the file lacks it, and is cast to the type that the table declares now. Values of partitions come from
the table's own lists of files, never from the names of folders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import SourcePartition, field_of_batch, split_path, type_of_field
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.file_source import FileSource, cast_exactly
from fastmetrics.engine.input.files.formats import SourceFile, name_file_in_errors
from fastmetrics.engine.input.input_options import InputOptions

PARQUET_FILES = InputOptions(format="parquet")  # whatever their names are
NameInFile = Callable[[str, pa.Schema], str | None]


class SnapshotFile(NamedTuple):
    """A Parquet file of a snapshot.

    Attributes
    ----------
    data_file : DataFile
    constants : mapping of str and pyarrow.Scalar
        Columns that have one value in the whole file, if the file itself lacks them.
    kept : numpy.ndarray or None
        The rows that are not deleted, as flags; rows behind its end are kept. None: all.
    """

    data_file: DataFile
    constants: Mapping[str, pa.Scalar]
    kept: np.ndarray | None = None


class Snapshot(NamedTuple):
    """A state of a table: its name in messages, the declared schema, the files, and how columns are found in them."""

    label: str
    schema: pa.Schema
    files: list[SnapshotFile]
    name_in_file: NameInFile


class SnapshotSource(FileSource):
    """The files of a snapshot, read one after the other or in partitions."""

    numbers_rows = False  # the rows of a table have no order

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        try:
            super().__init__([file.data_file for file in snapshot.files], label=snapshot.label, options=PARQUET_FILES)
        except FileNotFoundError as error:
            raise FileNotFoundError(f"{snapshot.label} lacks a file; is it vacuumed? {error}") from error
        self.column_names = list(snapshot.schema.names)
        self._of_file = {id(file.data_file): file for file in snapshot.files}
        self._has_deleted_rows = any(file.kept is not None for file in snapshot.files)
        if self._has_deleted_rows:
            deleted = (np.count_nonzero(~file.kept) for file in snapshot.files if file.kept is not None)
            self.rows = None if self.rows is None else self.rows - int(sum(deleted))

    def locate(self, row: int) -> str:
        """Rows that are deleted have no number."""
        return f"row {row}" if self._has_deleted_rows else super().locate(row)

    def files_with(self, column: str) -> list[SourceFile]:
        """All files: the table says which values a file has of a column that it lacks."""
        return self.files

    def partitions(self, columns: Sequence[str]) -> list[SourcePartition]:
        """None where rows are deleted: their flags are those of whole files."""
        return [] if self._has_deleted_rows else super().partitions(columns)

    def _unified_type(self, column: str) -> pa.DataType:
        root, fields = split_path(column, self.column_names)
        return type_of_field(self._snapshot.schema.field(root).type, root, fields)

    def _read_file(
        self, file: SourceFile, schema: pa.Schema, use_threads: bool, batch_rows: int, groups: list[int] | None = None
    ) -> Iterator[pa.RecordBatch]:
        if self._of_file[id(file.data_file)].kept is not None:  # flags are those of all row groups: none is skipped
            return self._read_groups_of(file, schema, use_threads, batch_rows, groups)
        return super()._read_file(file, schema, use_threads, batch_rows, groups)

    def _constants_of(self, file: SourceFile) -> dict[str, Any]:
        constants = self._of_file[id(file.data_file)].constants
        names = {test.column for tests in self._filters for test in tests} & constants.keys()
        return {name: constants[name].as_py() for name in names if self._name_in_file(name, file) is None}

    def _skipped_in(self, file: SourceFile, constants: dict[str, Any]) -> dict[int, int]:
        """Statistics in a file are those of its own columns: they count if a column has its name and type there."""
        for name in {test.column for tests in self._filters for test in tests} - constants.keys():
            root = split_path(name, self.column_names)[0]
            if self._name_in_file(root, file) != root or self._unified_type(root) != file.schema.field(root).type:
                return {}
        return super()._skipped_in(file, constants)

    def _name_in_file(self, column: str, file: SourceFile) -> str | None:
        return self._snapshot.name_in_file(column, file.schema)

    def _read_groups_of(
        self, file: SourceFile, schema: pa.Schema, use_threads: bool, batch_rows: int, groups: list[int] | None
    ) -> Iterator[pa.RecordBatch]:
        row_groups = [] if groups is None else [groups]
        of_snapshot = self._of_file[id(file.data_file)]
        places = {field.name: self._place_of(field, file) for field in schema}
        to_read = {place: schema.field(name).type for name, place in places.items() if place is not None}
        in_file = pa.schema(list(to_read.items())) if to_read else pa.schema([file.schema.field(0)])
        row = 0
        with name_file_in_errors(file.data_file, file.format):
            for batch in file.format.read(
                file.data_file, in_file, use_threads, batch_rows, self.memory_limit, *row_groups
            ):
                known = batch.schema.names
                arrays = []
                for field in schema:
                    place = places[field.name]
                    if place is None:
                        constant = of_snapshot.constants.get(field.name)
                        arrays.append(repeat_value(constant, field.type, batch.num_rows))
                    else:
                        array = field_of_batch(batch, place, known)
                        arrays.append(cast_exactly(array, field, file.data_file))
                conformed = pa.RecordBatch.from_arrays(arrays, schema=schema)
                yield drop_rows(conformed, of_snapshot.kept, row)
                row += batch.num_rows

    def _place_of(self, field: pa.Field, file: SourceFile) -> str | None:
        """The name of a column, or of a field of a struct, in the file; None if the file lacks it."""
        root, fields = split_path(field.name, self.column_names)
        name = self._name_in_file(root, file)
        if name is None:
            return None
        declared, found = self._snapshot.schema.field(root).type, file.schema.field(name).type
        if names_of_fields(declared) != names_of_fields(found):
            raise ValueError(
                f"column {root!r} of {file.data_file} has other fields, {found}, than the table, {declared}; "
                "nested columns whose fields were added or renamed are not read"
            )
        return ".".join((name, *fields))


def names_of_fields(data_type: pa.DataType) -> Any:
    """The names of the fields of structs, at any depth; None without any."""
    if pa.types.is_struct(data_type):
        return [(field.name, names_of_fields(field.type)) for field in data_type]
    if pa.types.is_dictionary(data_type):
        return names_of_fields(data_type.value_type)
    if pa.types.is_map(data_type):
        return [names_of_fields(data_type.key_type), names_of_fields(data_type.item_type)]
    if any(is_kind(data_type) for is_kind in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)):
        return [names_of_fields(data_type.value_type)]
    return None


def repeat_value(value: pa.Scalar | None, data_type: pa.DataType, rows: int) -> pa.Array:
    """A column of one value; of nulls if there is none."""
    if value is None or not value.is_valid:
        return pa.nulls(rows, data_type)
    if pa.types.is_dictionary(data_type):
        codes = pa.array(np.zeros(rows, np.int32)).cast(data_type.index_type)
        words = pa.array([value.as_py()], data_type.value_type)
        return pa.DictionaryArray.from_arrays(codes, words)
    return pa.repeat(value.cast(data_type), rows)


def drop_rows(batch: pa.RecordBatch, kept: np.ndarray | None, first_row: int) -> pa.RecordBatch:
    """The rows of a batch that are not deleted; it begins at `first_row` of its file."""
    if kept is None:
        return batch
    flags = np.ones(batch.num_rows, bool)
    of_batch = kept[first_row : first_row + batch.num_rows]
    flags[: len(of_batch)] = of_batch
    return batch if flags.all() else batch.filter(pa.array(flags))
