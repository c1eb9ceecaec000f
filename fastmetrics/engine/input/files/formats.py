"""File formats: how each is inspected and how its columns are read, batch by batch.

Parquet has a module of its own, `parquet_reading`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any, NamedTuple

from fastmetrics._core.exchange.memory_size import format_size
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import first_line
from fastmetrics.engine.input.files.compressed_pieces import check_ipc_batches
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.parquet_reading import inspect_parquet, read_parquet
from fastmetrics.engine.input.files.store_paths import name_path_in_errors

# Arrow infers the types of a CSV file from its first block.
CSV_BLOCK_BYTES = 4 << 20


class FileFormat(NamedTuple):
    """How files of one format are inspected (schema and, if that is cheap, number of rows) and read."""

    name: str
    advice: str
    inspect: Callable[[DataFile], tuple[pa.Schema, int | None]]
    read: Callable[..., Iterator[pa.RecordBatch]]
    reads_fields: bool = False  # are fields of structs decoded without the others?


def find_format(data_file: DataFile) -> FileFormat:
    """The format that the file's suffix names, or else its first bytes: Spark may write files without a suffix."""
    name = data_file.name.lower()
    for suffix, file_format in FORMATS.items():
        if name.endswith(suffix):
            return file_format
    if not data_file.is_local or os.path.isfile(data_file.address):
        with name_path_in_errors(data_file), data_file.open_file() as opened:
            first = opened.read(max(map(len, FIRST_BYTES)))
        for magic, file_format in FIRST_BYTES.items():
            if first.startswith(magic):
                return file_format
    raise ValueError(f"{data_file} has no known suffix; known are {', '.join(FORMATS)}")


@contextmanager
def name_file_in_errors(data_file: DataFile, file_format: FileFormat) -> Iterator[None]:
    """Raise Arrow's errors as a ValueError that names the file, which Arrow seldom does."""
    try:
        yield
    except (FileNotFoundError, PermissionError, MemoryError):
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        text = f"{data_file} cannot be read as {file_format.name}; {file_format.advice} {first_line(error)}"
        raise ValueError(text) from error


# Arrow IPC: the file format starts with its name, anything else is the stream format. Files are not memory-mapped:
# mapped pages count as memory of the process, which would grow with the file.


def _open_ipc(opened: pa.NativeFile, columns: list[str] | None = None, use_threads: bool = True) -> Any:
    magic = opened.read(6)
    if magic[:4] == b"FEA1":
        raise pa.ArrowInvalid("this is Feather version 1; write it again with pyarrow.feather.write_feather")
    opener = pa.ipc.open_file if magic == b"ARROW1" else pa.ipc.open_stream
    opened.seek(0)
    if columns is None:
        return opener(opened)
    names = opener(opened).schema.names
    opened.seek(0)
    indices = [names.index(column) for column in columns]
    return opener(opened, options=pa.ipc.IpcReadOptions(included_fields=indices, use_threads=use_threads))


def _inspect_ipc(data_file: DataFile) -> tuple[pa.Schema, int | None]:
    with data_file.open_file() as opened, _open_ipc(opened) as reader:
        # A stream has to be read to count its rows, and so has a file if pyarrow is too old to count them.
        count_rows = getattr(reader, "count_rows", None)
        return reader.schema, None if count_rows is None else count_rows()


def _read_ipc(
    data_file: DataFile, schema: pa.Schema, use_threads: bool, batch_rows: int, memory_limit: int | None
) -> Iterator[pa.RecordBatch]:
    with data_file.open_file() as opened, _open_ipc(opened) as reader:
        in_file = reader.schema
    check_ipc_batches(data_file, in_file, schema.names, memory_limit)
    with data_file.open_file() as opened, _open_ipc(opened, schema.names, use_threads) as reader:
        is_file = isinstance(reader, pa.RecordBatchFileReader)
        for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
            batch.validate(full=True)  # Arrow reads offsets of texts and codes of dictionaries as they are
            yield batch


# CSV: Arrow's streaming reader parses in one thread either way; without its threads its errors name the row.


def _open_csv(data_file: DataFile, schema: pa.Schema | None = None) -> Any:
    import pyarrow.csv as csv

    compression = {".gz": "gzip", ".zst": "zstd"}.get(PurePath(data_file.name).suffix.lower())
    selection = {} if schema is None else {"include_columns": schema.names, "column_types": schema}
    return csv.open_csv(
        data_file.open_stream(compression),
        read_options=csv.ReadOptions(use_threads=False, block_size=CSV_BLOCK_BYTES),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(**selection),
    )


@contextmanager
def name_long_rows(rows: list[int]) -> Iterator[None]:
    """Say what is wrong with a row that does not fit in a block; `rows` are the lengths of the batches before it."""
    try:
        yield
    except pa.ArrowInvalid as error:
        if "straddling object" not in str(error):
            raise
        raise pa.ArrowInvalid(
            f"A row behind row #{1 + sum(rows):,} is longer than {format_size(CSV_BLOCK_BYTES)}, the most read at "
            "once; is a quote not closed, or a line break missing?"
        ) from error


def _inspect_csv(data_file: DataFile) -> tuple[pa.Schema, int | None]:
    with name_long_rows([]), _open_csv(data_file) as reader:
        return reader.schema, None


def _read_csv(
    data_file: DataFile, schema: pa.Schema, use_threads: bool, batch_rows: int, memory_limit: int | None
) -> Iterator[pa.RecordBatch]:
    rows: list[int] = []
    with name_long_rows(rows), _open_csv(data_file, schema) as reader:
        for batch in reader:
            rows.append(batch.num_rows)
            yield batch


_CUT_SHORT = "is it damaged or cut short?"
_FROM_FIRST_BLOCK = f"column types are taken from the first {CSV_BLOCK_BYTES >> 20} MiB."
PARQUET = FileFormat("Parquet", _CUT_SHORT, inspect_parquet, read_parquet, reads_fields=True)
_IPC = FileFormat("Arrow IPC", _CUT_SHORT, _inspect_ipc, _read_ipc)
CSV = FileFormat("CSV", _FROM_FIRST_BLOCK, _inspect_csv, _read_csv)
FORMATS = {
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": _IPC,
    ".arrows": _IPC,
    ".feather": _IPC,
    ".ipc": _IPC,
    ".csv": CSV,
    ".csv.gz": CSV,
    ".csv.zst": CSV,
}
FIRST_BYTES = {b"PAR1": PARQUET, b"ARROW1": _IPC}
