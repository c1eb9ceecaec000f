"""Sources of Arrow data: tables, readers, datasets, and anything with the Arrow PyCapsule protocol."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from fastmetrics._core.columns.arrow_columns import is_flat
from fastmetrics._core.optional_imports import library_of
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import BATCH_ROWS, Source, first_line

READ_ONCE = "was read before, and it can be read only once; make a new one, or pass a Table (reader.read_all())"
# Of a user's pyarrow Dataset: more read-ahead costs memory and gains no time, since batches are processed meanwhile.
DATASET_BATCH_READAHEAD = 4
DATASET_FRAGMENT_READAHEAD = 1


class TableSource(Source):
    """A pyarrow Table or RecordBatch: slices of its buffers, no copy."""

    label = "the table"

    def __init__(self, table: pa.Table | pa.RecordBatch) -> None:
        self._table: Any = table  # None between updates that read table after table
        self._schema = table.schema
        self.column_names = list(table.schema.names)
        self.rows = table.num_rows
        self._plain: tuple[list[str], list[int]] = [], []  # the columns read last, and their numbers, if they are plain

    def _type_of(self, column: str) -> pa.DataType | None:
        return self._schema.field(self.column_names.index(column)).type

    def batches(self, columns: Sequence[str], *, use_threads: bool = True) -> Iterator[pa.RecordBatch]:
        """See `Source.batches`: a short batch is handed out as it is."""
        is_short = isinstance(self._table, pa.RecordBatch) and 0 < self._table.num_rows <= self.batch_rows
        if is_short and columns == self._plain[0]:
            return iter([self._table.select(self._plain[1])])
        if all(self.column_names.count(name) == 1 and is_flat(self._type_of(name)) for name in columns):
            self._plain = list(columns), [self.column_names.index(name) for name in columns]
        return super().batches(columns, use_threads=use_threads)

    def replace_data(self, data: Any) -> bool:
        if data is not None and not (isinstance(data, pa.Table | pa.RecordBatch) and data.schema == self._schema):
            return False
        self._table, self.rows = data, 0 if data is None else data.num_rows
        return True

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        table = self._table.select([self.column_names.index(column) for column in columns])
        yield from [table] if isinstance(table, pa.RecordBatch) else table.to_batches()


class ReaderSource(Source):
    """A pyarrow RecordBatchReader, which can be read once."""

    label = "the RecordBatchReader"
    reads_once = True

    def __init__(self, reader: pa.RecordBatchReader, label: str | None = None) -> None:
        self._reader: pa.RecordBatchReader | None = reader
        self._schema = reader.schema
        self.column_names = list(reader.schema.names)
        self.label = label or self.label

    def _type_of(self, column: str) -> pa.DataType | None:
        return self._schema.field(self.column_names.index(column)).type

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        reader, self._reader = self._reader, None
        if reader is None:
            raise ValueError(f"data: {self.label} {READ_ONCE}")
        return self._drain(reader, columns)

    def _drain(self, reader: pa.RecordBatchReader, columns: list[str]) -> Iterator[pa.RecordBatch]:
        rows = 0
        for batch in reader:
            rows += batch.num_rows
            yield select_columns(batch, columns)
        if rows == 0:
            # Arrow cannot distinguish an exhausted reader from an empty one.
            raise ValueError(f"data: {self.label} gave no rows: it is empty, or it {READ_ONCE}")


class StreamSource(Source):
    """Any other object with the Arrow PyCapsule protocol."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self.label = f"the {type(data).__name__}"
        # The stream that is opened for its schema is also read: a second stream could run a query again.
        self._reader: pa.RecordBatchReader | None = None
        if is_duckdb_relation(data):
            self.column_names = list(data.columns)
        else:
            self._reader = pa.RecordBatchReader.from_stream(data)
            self.column_names = list(self._reader.schema.names)
        self._schema = None if self._reader is None else self._reader.schema
        counts = (getattr(data, name, None) for name in ("num_rows", "height"))
        self.rows = next((rows for rows in counts if isinstance(rows, int)), None)

    def _type_of(self, column: str) -> pa.DataType | None:
        return None if self._schema is None else self._schema.field(self.column_names.index(column)).type

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        reader, self._reader = self._reader, None
        if reader is None:
            reader = pa.RecordBatchReader.from_stream(project_columns(self._data, columns))
        return (select_columns(batch, columns) for batch in reader)


def project_columns(data: Any, columns: list[str]) -> Any:
    """Select columns of a DuckDB relation, which is computed when it is read; elsewhere unread columns cost nothing."""
    if not is_duckdb_relation(data):
        return data
    return data.project(", ".join('"' + column.replace('"', '""') + '"' for column in columns))


class DatasetSource(Source):
    """A pyarrow Dataset, with the filter, filesystem and format options of its owner."""

    label = "the dataset"

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.column_names = list(dataset.schema.names)

    def _type_of(self, column: str) -> pa.DataType | None:
        return self._dataset.schema.field(self.column_names.index(column)).type

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        last_path = None
        try:
            scanner = self._dataset.scanner(
                columns=columns,
                batch_size=self.batch_rows,
                batch_readahead=DATASET_BATCH_READAHEAD,
                fragment_readahead=DATASET_FRAGMENT_READAHEAD,
                use_threads=use_threads,
            )
            for tagged in scanner.scan_batches():
                last_path = getattr(tagged.fragment, "path", None)
                yield select_columns(tagged.record_batch, columns)
        except MemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            bad_path = self._unreadable_file(last_path, columns)
            if bad_path is None:
                raise
            raise ValueError(f"{bad_path}, a file of the dataset, cannot be read: {first_line(error)}") from error

    def _unreadable_file(self, last_path: str | None, columns: list[str]) -> str | None:
        """The file that cannot be read. Arrow seldom names it: files after the last good batch are tried one by one."""
        files = list(getattr(self._dataset, "files", []))
        for path in files[files.index(last_path) if last_path in files else 0 :]:
            try:
                fragment = self._dataset.format.make_fragment(path, self._dataset.filesystem)
                present = [column for column in columns if column in fragment.physical_schema.names]
                deque(fragment.scanner(columns=present, batch_size=BATCH_ROWS).to_batches(), maxlen=0)
            except (pa.ArrowException, OSError):
                return str(path)
        return None


class ScannerSource(Source):
    """A pyarrow Scanner, with the columns, filter and options of its owner; all of its columns are read."""

    label = "the Scanner"

    def __init__(self, scanner: Any) -> None:
        self._scanner = scanner
        self._schema = scanner.projected_schema
        self.column_names = list(self._schema.names)

    def _type_of(self, column: str) -> pa.DataType | None:
        return self._schema.field(self.column_names.index(column)).type

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        try:
            for batch in self._scanner.to_batches():
                yield select_columns(batch, columns)
        except pa.ArrowInvalid as error:
            if "already scanned" not in str(error):
                raise
            raise ValueError(f"data: {self.label} {READ_ONCE}") from error


def select_columns(batch: pa.RecordBatch, columns: list[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([batch.column(column) for column in columns], names=columns)


def is_duckdb_relation(data: object) -> bool:
    return library_of(data) in ("duckdb", "_duckdb") and hasattr(data, "project")
