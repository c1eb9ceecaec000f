"""Several files as one source: columns are matched by name, and ``key=value`` folders are columns too."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, groupby
from typing import Any

from fastmetrics._core.columns.arrow_columns import plain_column, plain_type
from fastmetrics._core.columns.validation import InputError
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics._core.parallel import submit
from fastmetrics.engine.expressions.column_tests import ColumnTest
from fastmetrics.engine.input.batches import (
    BATCH_ROWS,
    Source,
    SourcePartition,
    field_of_batch,
    first_line,
    resize_batches,
    rows_of_own_batches,
    split_path,
    type_of_field,
)
from fastmetrics.engine.input.column_types import shared_type, type_of_booleans
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.formats import (
    PARQUET,
    SourceFile,
    find_format,
    name_file_in_errors,
)
from fastmetrics.engine.input.files.hive_folders import hive_types, hive_values_of, repeat_folder_value
from fastmetrics.engine.input.files.missing_columns import ColumnPlaces, is_read_from
from fastmetrics.engine.input.files.numerals.exact_columns import ExactColumns
from fastmetrics.engine.input.files.opened_files import StreamFile
from fastmetrics.engine.input.files.parquet_reading import forget_footer, parquet_footer, parquet_row_groups
from fastmetrics.engine.input.files.paths import notes_on_hard_links
from fastmetrics.engine.input.files.skipped_rows import is_skipped, join_skipped, skipped_groups
from fastmetrics.engine.input.files.store_paths import name_path_in_errors
from fastmetrics.engine.input.files.text_blocks import EmptyTextError
from fastmetrics.engine.input.input_options import NO_INPUT_OPTIONS, InputOptions

PARTITION_BATCHES = 2
PARTITION_ROWS = PARTITION_BATCHES * BATCH_ROWS
STORE_REQUESTS = 16  # at the same time
KEPT_FOOTER_BYTES = 32 << 20  # of all files together, as they are stored


class FilePiece(NamedTuple):
    """Row groups of a file (None: the whole file), and how many of its rows a filter may keep."""

    file: SourceFile
    row_groups: list[int] | None
    rows: int
    rows_to_read: int


class FileSource(Source):
    """Files that are read one after the other; columns are matched by name."""

    def __init__(
        self, data_files: list[DataFile], *, label: str, options: InputOptions = NO_INPUT_OPTIONS
    ) -> None:
        self.label = label if len(data_files) == 1 else f"{label} ({len(data_files)} files)"
        self.files = inspect_files(data_files, options)
        self._found_types: dict[str, pa.DataType] = {}
        self.places = ColumnPlaces(self.files, options.missing_columns)
        self._exact = ExactColumns(self, self.files_with, self.find_later_type)
        self._unified_types: dict[str, pa.DataType] = {}
        self._filters: Sequence[Sequence[ColumnTest]] = ()
        self._constants: dict[DataFile, dict[str, Any]] = {}  # of every file: the values of its folders in filters
        self._skipped: dict[DataFile, dict[int, int]] = {}  # of every file: the row groups to skip, and their rows
        self.reads_once = any(isinstance(data_file, StreamFile) for data_file in data_files)
        # A thread that waits for data of a stream could not be interrupted.
        self.reads_ahead = not self.reads_once
        self.places.require_typed_columns()
        self._hive_types = hive_types([(file.schema, file.hive_values) for file in self.files])
        self.column_names = self._collect_column_names()
        counts = [file.rows for file in self.files]
        self.rows = None if None in counts else sum(count for count in counts if count is not None)

    def locate(self, row: int) -> str:
        """Describe a row by its number in its own file, if there are several files and their rows are known."""
        if len(self.files) > 1:
            start = 0
            for file in self.files:
                if file.rows is None:
                    break
                if row < start + file.rows:
                    return f"row {row - start} of {file.data_file}"
                start += file.rows
        return super().locate(row)

    def notes(self) -> list[str]:
        links = notes_on_hard_links([file.data_file for file in self.files]) if len(self.files) > 1 else []
        return links + self.places.notes()

    def files_with(self, column: str) -> list[SourceFile]:
        """The files that have a column, or one of its fields. It is an error that all must have it and one does not."""
        return self.places.files_with(column)

    def _collect_column_names(self) -> list[str]:
        """The files' columns, then the hive keys. A name that a file has several times is repeated as often."""
        names: list[str] = []
        for in_file in dict.fromkeys(tuple(file.schema.names) for file in self.files):
            known = Counter(names)
            for name in in_file:
                known[name] -= 1
                if known[name] < 0:
                    names.append(name)
        return names + [key for key in self._hive_types if key not in names]

    def expect_filters(self, filters: Sequence[Sequence[ColumnTest]]) -> None:
        self._filters = filters
        self._constants = {}
        self._skipped = {}

    def _type_of(self, column: str) -> pa.DataType | None:
        return self._unified_type(column)

    def _require_field(self, column: str, root: str, fields: Sequence[str]) -> None:
        problem: ValueError | None = None
        for file in self.files:  # whose other fields may have other types
            if root in file.own_names:
                try:
                    type_of_field(plain_type(file.schema.field(root).type), root, fields)
                    return
                except ValueError as error:
                    problem = problem or error
        if problem is not None:
            raise problem

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        schema = self._unified_schema(columns)
        found = (self._read_file(file, schema, use_threads, self.batch_rows) for file in self.files)
        return self._with_skipped(schema, chain.from_iterable(found))

    def _read_fields(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        return self._read(columns, use_threads)  # which snapshots of tables override

    def _with_skipped(self, schema: pa.Schema, found: Iterator[pa.RecordBatch | int]) -> Iterator[Any]:
        """The batches that were found; rows that no filter keeps are nulls."""
        return join_skipped(schema, found) if self._filters else found

    def partitions(self, columns: Sequence[str]) -> list[SourcePartition]:
        """Consecutive row groups of at least PARTITION_ROWS rows, if all files are Parquet and there are several.

        Rows that no filter keeps belong to the partition of the rows that follow.
        """
        least = min(PARTITION_ROWS, PARTITION_BATCHES * self.batch_rows)
        if any(file.format is not PARQUET for file in self.files) or (self.rows is not None and self.rows <= least):
            return []
        schema = self._unified_schema(list(dict.fromkeys(columns)))
        partitions: list[SourcePartition] = []
        pieces: list[FilePiece] = []
        first_row = rows = rows_to_read = 0
        for piece in self._pieces():
            pieces.append(piece)
            rows += piece.rows
            rows_to_read += piece.rows_to_read
            if rows_to_read >= least:
                partitions.append(SourcePartition(first_row, rows, partial(self._read_pieces, pieces, schema)))
                first_row, rows, rows_to_read, pieces = first_row + rows, 0, 0, []
        if pieces:
            partitions.append(SourcePartition(first_row, rows, partial(self._read_pieces, pieces, schema)))
        return partitions if len(partitions) > 1 else []

    def _pieces(self) -> Iterator[FilePiece]:
        """The row groups of all files; a file of which no filter keeps a row is one piece."""
        for file in self.files:
            constants = self._constants_of(file)
            if self._filters and file.rows is not None and is_skipped(self._filters, constants):
                yield FilePiece(file, None, file.rows, 0)
                continue
            skipped = self._skipped_in(file, constants) if self._filters else {}
            with name_file_in_errors(file.data_file, file.format):
                group_sizes = parquet_row_groups(file.data_file)
            for index, rows in enumerate(group_sizes):
                yield FilePiece(file, [index], rows, 0 if index in skipped else rows)

    def _read_pieces(self, pieces: list[FilePiece], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        # They are decoded by the thread that asks for them.
        rows = self.batch_rows
        if rows >= BATCH_ROWS:
            rows = max(rows, rows_of_own_batches(schema, self.memory_limit, self.n_threads or 1))
        found = (self._read_file(piece.file, schema, False, rows, piece.row_groups) for piece in pieces)
        return resize_batches(self._with_skipped(schema, chain.from_iterable(found)), rows)

    def _schema_in_file(self, file: SourceFile, fields: list[pa.Field]) -> pa.Schema:
        """What is read of a file for fields that it has. Without any, its first column gives the number of rows."""
        if not file.format.reads_fields:
            types = {field.name: field for field in fields}
            roots = dict.fromkeys(split_path(field.name, file.own_names)[0] for field in fields)
            fields = [types[root] if root in types else file.schema.field(root) for root in roots]
        return pa.schema(fields or [file.schema.field(0)])

    def _unified_schema(self, columns: list[str]) -> pa.Schema:
        return pa.schema([(column, self._type_to_read(column)) for column in columns])

    def _type_to_read(self, column: str) -> pa.DataType:
        """The type in which a column is read.

        Columns with few different texts stay dictionaries, as Parquet stores them. Texts in CSV files are read as
        texts, since their type would only be guessed.
        """
        files = self.files_with(column)
        if column in self.uses.texts and all(self._is_only_inferred(file, column) for file in files):
            return pa.string()
        if self.reads_numerals(column):
            return pa.string()
        if column in self.uses.numbers:
            self._require_numbers(column)
        unified = self._unified_type(column)
        # Arrow does not read dictionaries inside structs.
        is_whole = column in self.column_names
        if is_whole and column in self.uses.dictionaries and all(file.format is PARQUET for file in files):
            return _dictionary_type(unified)
        return unified

    def reads_numerals(self, column: str) -> bool:
        return self._exact.are_numerals(column)

    def expect_mixed_keys(self, column: str) -> None:
        self._exact.mixed.add(column)
        self._unified_types.pop(column, None)

    def _require_numbers(self, column: str) -> None:
        """Raise InputError, with the first value that is no number, if a column of CSV looks like texts for it."""
        for file in self.files:
            if not self._is_only_inferred(file, column) or not pa.types.is_string(file.schema.field(column).type):
                continue
            if file.format.find_text is not None and not self.reads_once:
                with name_file_in_errors(file.data_file, file.format):
                    found = file.format.find_text(file.data_file, file.schema.names, column)
                if found is not None:
                    raise InputError(f"column {column!r} has {found}")

    def _is_only_inferred(self, file: SourceFile, column: str) -> bool:
        """Is the type of a column just what its texts look like?"""
        is_given = column in file.format.column_types
        return file.format.name in ("CSV", "TSV") and column in file.own_names and not is_given

    def _unified_type(self, column: str) -> pa.DataType:
        """The type of a column in all files together. It is found once: there may be thousands of files."""
        if column not in self._unified_types:
            self._unified_types[column] = self._exact.find_decimals(column) or self._unify_type(column)
        return self._unified_types[column]

    def _unify_type(self, column: str) -> pa.DataType:
        files = self.files_with(column)
        first = files[0]
        unified = self._type_in(first, column)
        for file in files[1:]:
            file_type = self._type_in(file, column)
            merged = unified if file_type == unified else shared_type(unified, file_type)
            if merged is None and column in self.uses.only_numbers:
                merged = type_of_booleans(unified, file_type)
            if merged is None:
                raise ValueError(
                    f"column {column!r} is {file_type} in {file.data_file} but {unified} in those before it, such as "
                    f"{first.data_file}; write the files with one type"
                )
            unified = merged
        return self.find_later_type(column) if pa.types.is_null(unified) else unified

    def find_later_type(self, column: str) -> pa.DataType:
        """The type of a column without a value in the first block of every file."""
        if column not in self._found_types:
            found = pa.null()
            for file in self.files:
                if file.format.find_types is not None and column in file.own_names and not self.reads_once:
                    with name_file_in_errors(file.data_file, file.format):
                        types = file.format.find_types(file.data_file, file.schema.names, [column])
                    found = shared_type(found, types.get(column, found)) or found
            self._found_types[column] = found
        return self._found_types[column]

    def _type_in(self, file: SourceFile, column: str) -> pa.DataType:
        if column in file.hive_values:
            return self._hive_types[column]
        if column in file.own_names:
            return plain_type(file.schema.field(column).type)
        root, fields = split_path(column, file.own_names)
        try:
            return type_of_field(plain_type(file.schema.field(root).type), root, fields)
        except ValueError as error:
            raise ValueError(f"{error}, in {file.data_file}") from None

    def _read_file(
        self, file: SourceFile, schema: pa.Schema, use_threads: bool, batch_rows: int, groups: list[int] | None = None
    ) -> Iterator[pa.RecordBatch | int]:
        """The batches of a file, or of some row groups of it; of those that no filter keeps, the numbers of rows."""
        for own, skipped_rows in self._find_groups(file, groups):
            if own is None and skipped_rows:
                yield skipped_rows
            else:
                yield from self._read_groups_of(file, schema, use_threads, batch_rows, own)

    def _read_groups_of(
        self, file: SourceFile, schema: pa.Schema, use_threads: bool, batch_rows: int, groups: list[int] | None
    ) -> Iterator[pa.RecordBatch]:
        """The batches of neighboring row groups; snapshots of tables find the columns of a file in another way."""
        fields = [field for field in schema if is_read_from(file, field.name)]
        in_file = self._schema_in_file(file, fields)
        options: dict[str, Any] = {}
        if file.format.is_text:
            keys = self._exact.columns_in(file, in_file.names)
            names = file.schema.names
            if file.format.finds_any_key:
                names = list(dict.fromkeys([*names, *self.column_names]))
            options = {"names": names, "n_threads": self.n_threads, "keys": keys}
        row_groups = [] if groups is None else [groups]  # Parquet alone has some
        with name_file_in_errors(file.data_file, file.format):
            for batch in file.format.read(
                file.data_file, in_file, use_threads, batch_rows, self.memory_limit, *row_groups, **options
            ):
                conformed = _conform_batch(batch, schema, file, fields)
                self.places.look_for(file, conformed)
                yield conformed

    def _find_groups(self, file: SourceFile, groups: list[int] | None) -> Iterator[tuple[list[int] | None, int]]:
        """The row groups to read, those side by side together, and the numbers of rows to skip between them.

        A file that is read as a whole has no groups and no rows here.
        """
        if not self._filters:
            yield groups, 0
            return
        constants = self._constants_of(file)
        if groups is None and file.rows is not None and is_skipped(self._filters, constants):
            yield None, file.rows
            return
        if file.format is not PARQUET:
            yield None, 0
            return
        skipped = self._skipped_in(file, constants)
        if groups is None:
            with name_file_in_errors(file.data_file, file.format):
                groups = list(range(len(parquet_row_groups(file.data_file)))) if skipped else []
        if not skipped.keys() & set(groups):
            yield groups or None, 0
            return
        for is_one, own in groupby(groups, lambda group: group in skipped):
            together = list(own)
            yield (None, sum(map(skipped.__getitem__, together))) if is_one else (together, 0)

    def _skipped_in(self, file: SourceFile, constants: dict[str, Any]) -> dict[int, int]:
        """The row groups of a Parquet file of which no filter keeps a row, and their numbers of rows."""
        if file.data_file not in self._skipped:
            with name_file_in_errors(file.data_file, file.format):
                metadata = parquet_footer(file.data_file)
            types = {field.name: field.type for field in file.schema}
            self._skipped[file.data_file] = skipped_groups(self._filters, metadata, constants, types)
        return self._skipped[file.data_file]

    def _constants_of(self, file: SourceFile) -> dict[str, Any]:
        """The values of the columns that a file has from its folders, and null for those that it lacks."""
        if file.data_file not in self._constants:
            names = {test.column for tests in self._filters for test in tests}
            self._constants[file.data_file] = {
                name: pa.scalar(file.hive_values.get(name), pa.string()).cast(self._unified_type(name)).as_py()
                for name in names
                if not is_read_from(file, name)
            }
        return self._constants[file.data_file]


def inspect_files(data_files: list[DataFile], options: InputOptions = NO_INPUT_OPTIONS) -> list[SourceFile]:
    """Inspect files in their order; those of stores, where each is a request or two, several at a time."""
    files = _inspect_all(data_files, options, may_be_empty=len(data_files) > 1)
    return files or _inspect_all(data_files[:1], options, may_be_empty=False)


def _inspect_all(data_files: list[DataFile], options: InputOptions, may_be_empty: bool) -> list[SourceFile]:
    """See `inspect_files`. Text files without a line, which Spark writes for empty partitions, are left out."""
    if all(data_file.is_local for data_file in data_files):
        found = (_inspect_file(data_file, options, may_be_empty) for data_file in data_files)
        return [file for file in found if file is not None]
    from concurrent.futures import Future, ThreadPoolExecutor

    files: list[SourceFile] = []
    footer_bytes = KEPT_FOOTER_BYTES
    waiting: deque[Future[SourceFile | None]] = deque()

    def take_first() -> None:
        nonlocal footer_bytes
        file = waiting.popleft().result()
        if file is not None:
            files.append(file)
            footer_bytes = forget_footer(file.data_file, footer_bytes)

    with ThreadPoolExecutor(STORE_REQUESTS, thread_name_prefix="fastmetrics-inspect") as threads:
        try:
            for data_file in data_files:
                waiting.append(submit(threads, _inspect_file, data_file, options, may_be_empty))
                if len(waiting) >= 2 * STORE_REQUESTS:
                    take_first()
            while waiting:
                take_first()
        finally:
            threads.shutdown(cancel_futures=True)
    return files


def _inspect_file(data_file: DataFile, options: InputOptions, may_be_empty: bool) -> SourceFile | None:
    """The file with its columns; None for a text file without a line, if it may be empty."""
    file_format = find_format(data_file, options)
    if not data_file.is_local:
        with name_path_in_errors(data_file):
            data_file.handle()
    with name_file_in_errors(data_file, file_format):
        try:
            schema, rows = file_format.inspect(data_file)
        except EmptyTextError:
            if may_be_empty:
                return None
            raise
    hive_values = hive_values_of(data_file)
    own_names = [name for name in schema.names if name not in hive_values]
    return SourceFile(data_file, file_format, schema, rows, hive_values, own_names)


def _dictionary_type(data_type: pa.DataType) -> pa.DataType:
    """A dictionary for texts, and a list of them for lists of texts; other types stay as they are."""
    if pa.types.is_string(data_type) or pa.types.is_large_string(data_type):
        return pa.dictionary(pa.int32(), pa.string())
    if pa.types.is_list(data_type) or pa.types.is_large_list(data_type):
        field = data_type.value_field.with_type(_dictionary_type(data_type.value_type))
        return pa.list_(field) if pa.types.is_list(data_type) else pa.large_list(field)
    return data_type


def _conform_batch(
    batch: pa.RecordBatch, schema: pa.Schema, file: SourceFile, fields: Sequence[pa.Field]
) -> pa.RecordBatch:
    """The columns of `schema` in its order and types: from the file the `fields`, from its hive folders, or null."""
    arrays = []
    in_file = {field.name for field in fields}
    for field in schema:
        if field.name in file.hive_values:
            arrays.append(repeat_folder_value(file.hive_values[field.name], field.type, batch.num_rows))
        elif field.name not in in_file:
            arrays.append(pa.nulls(batch.num_rows, field.type))
        else:
            arrays.append(cast_exactly(field_of_batch(batch, field.name, batch.schema.names), field, file.data_file))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def cast_exactly(column: pa.Array, field: pa.Field, data_file: DataFile) -> pa.Array:
    """Convert exactly: a value that would change, such as a long id in a float64, is an error."""
    if column.type == field.type:
        return column
    try:
        return plain_column(column).cast(field.type)
    except pa.ArrowException as error:
        raise ValueError(
            f"column {field.name!r} of {data_file} is {column.type} and does not fit {field.type}, the type that it "
            f"shares with the other files: {first_line(error)}"
        ) from error
