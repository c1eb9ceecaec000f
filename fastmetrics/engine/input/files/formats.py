"""File formats: how each is inspected and how its columns are read, batch by batch.

Parquet, CSV and JSON lines have modules of their own. The format of a file is that of the option `format`, of its
suffix, or, for open files and streams, of its first bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from fastmetrics._core.exchange.spill import SpillError
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import first_line
from fastmetrics.engine.input.files import csv_reading, json_reading
from fastmetrics.engine.input.files.compressed_pieces import check_ipc_batches
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.format_options import (
    TextOptions,
    read_encoding,
    read_format_name,
    read_format_options,
)
from fastmetrics.engine.input.files.opened_files import OpenedFile, StreamFile
from fastmetrics.engine.input.files.parquet_reading import inspect_parquet, read_parquet
from fastmetrics.engine.input.files.store_paths import name_path_in_errors
from fastmetrics.engine.input.files.text_blocks import BLOCK_BYTES, EmptyTextError
from fastmetrics.engine.input.files.text_streams import decompress_beginning, describe_encoding, encoding_of
from fastmetrics.engine.input.input_options import NO_INPUT_OPTIONS, InputOptions

SUFFIXES = {
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow",
    ".ipc": "arrow", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".json": "jsonl", ".orc": "orc",
}  # fmt: skip
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
COMPRESSED_FORMATS = ("csv", "tsv", "jsonl")  # the others compress their own pieces
# All suffixes, as messages list them.
FORMATS = (*SUFFIXES, *(f"{own}{zipped}" for own in (".csv", ".tsv", ".jsonl") for zipped in COMPRESSIONS))
FIRST_BYTES = {b"PAR1": "parquet", b"ORC": "orc", b"ARROW1": "arrow", b"FEA1": "arrow", b"\xff\xff\xff\xff": "arrow"}
COMPRESSED_BYTES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}


class FileFormat(NamedTuple):
    """How files of one format are inspected (schema and, if that is cheap, number of rows) and read.

    `find_types` gives the types of columns that have no value in the first block of a text file, `find_text` the first
    value of a column that is no number, with its row.
    """

    name: str
    advice: str
    inspect: Callable[[DataFile], tuple[pa.Schema, int | None]]
    read: Callable[..., Iterator[pa.RecordBatch]]
    reads_fields: bool = False  # are fields of structs decoded without the others?
    find_types: Callable[[DataFile, list[str], list[str]], dict[str, Any]] | None = None
    column_types: Mapping[str, Any] = {}  # those that the user gave
    find_text: Callable[[DataFile, list[str], str], str | None] | None = None

    @property
    def finds_any_key(self) -> bool:
        """May a file have a column of which its beginning shows nothing?"""
        return self.name == "JSON lines"

    @property
    def is_text(self) -> bool:
        """Are types inferred from texts?"""
        return self.find_types is not None


class SourceFile(NamedTuple):
    """An inspected file; `hive_values` are the ``key=value`` folders of its path, `own_names` its other columns.

    A column that the file has beside its folder is the folder's, as in Spark, DuckDB and polars.
    """

    data_file: DataFile
    format: FileFormat
    schema: pa.Schema
    rows: int | None
    hive_values: dict[str, str | None]
    own_names: list[str]


def find_format(data_file: DataFile, options: InputOptions = NO_INPUT_OPTIONS) -> FileFormat:
    """The format that the options name, or the file's suffix; of an open file also that of its first bytes."""
    stem, compression = split_compression(data_file.name.lower())
    suffix = next((own for own in SUFFIXES if stem.endswith(own)), None)
    name = None
    if options.format is not None:
        name = read_format_name(options.format)
    elif suffix is not None and (compression is None or SUFFIXES[suffix] in COMPRESSED_FORMATS):
        name = SUFFIXES[suffix]
    if isinstance(data_file, OpenedFile | StreamFile):
        first = data_file.first_bytes()
        compression = find_beginning(first, COMPRESSED_BYTES)
        name = name or recognize_format(first, compression, data_file.path, options.format_options)
    elif name is None and (not data_file.is_local or os.path.isfile(data_file.address)):
        name = recognize_stored(data_file)  # Spark may write files without a suffix
    if name is None:
        raise ValueError(f"{data_file} has no known suffix; known are {', '.join(FORMATS)}; or name it: format='csv'")
    return make_format(name, compression, read_format_options(name, options.format_options))


def recognize_stored(data_file: DataFile) -> str | None:
    """The format of a file whose first bytes are those of a format that is not text."""
    with name_path_in_errors(data_file), data_file.open_file() as opened:
        first = opened.read(max(map(len, FIRST_BYTES)))
    return find_beginning(first, FIRST_BYTES)


def split_compression(name: str) -> tuple[str, str | None]:
    """A file's name without the suffix of a compression, and that compression."""
    for suffix, compression in COMPRESSIONS.items():
        if name.endswith(suffix):
            return name.removesuffix(suffix), compression
    return name, None


def find_beginning(first: bytes, names: Mapping[bytes, str]) -> str | None:
    """The name of the beginning that a file with these first bytes has."""
    return next((name for magic, name in names.items() if first.startswith(magic)), None)


def recognize_format(
    first: bytes, compression: str | None, path: str, format_options: Mapping[str, Any] | None = None
) -> str:
    """The format of a file that begins with these bytes, which are text in the encoding that the options name."""
    if compression is not None:
        first = decompress_beginning(first, compression)
        if not first:
            raise ValueError(f"{path} is empty, or its beginning does not tell its format; name it: format='csv'")
    if (name := find_beginning(first, FIRST_BYTES)) is not None:
        return name
    if not first:
        raise ValueError(f"{path} is empty")
    given = (format_options or {}).get("encoding")
    if given is not None:
        first = first.decode(read_encoding(given), "ignore").encode()
    elif (encoding := encoding_of(first)) is not None:
        raise ValueError(f"{path} begins like {describe_encoding(encoding)}")
    if b"\0" in first[:1000]:
        raise ValueError(f"{path} is of no known format: its first bytes are {first[:8]!r}; name it: format='csv'")
    text = first.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return "jsonl"
    line = text.partition(b"\n")[0]
    return "tsv" if b"\t" in line and b"," not in line else "csv"


@contextmanager
def name_file_in_errors(data_file: DataFile, file_format: FileFormat) -> Iterator[None]:
    """Raise Arrow's errors as a ValueError that names the file, which Arrow seldom does.

    Any error of a file that was changed meanwhile says that.
    """
    try:
        with data_file.unchanged():
            yield
    except (FileNotFoundError, PermissionError, MemoryError, SpillError):
        raise
    except TimeoutError as error:  # the file may be in order
        raise TimeoutError(f"{data_file} cannot be read: {first_line(error)}") from error
    except (pa.ArrowException, OSError, UnicodeDecodeError, EmptyTextError) as error:
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


# ORC: one stripe after the other, as a whole.


def _inspect_orc(data_file: DataFile) -> tuple[pa.Schema, int | None]:
    from pyarrow import orc

    with data_file.open_file() as opened:
        file = orc.ORCFile(opened)
        return file.schema, file.nrows


def _read_orc(
    data_file: DataFile, schema: pa.Schema, use_threads: bool, batch_rows: int, memory_limit: int | None
) -> Iterator[pa.RecordBatch]:
    from pyarrow import orc

    with data_file.open_file() as opened:
        file = orc.ORCFile(opened)
        for stripe in range(file.nstripes):
            batch = file.read_stripe(stripe, columns=schema.names)
            yield from pa.Table.from_batches([batch]).select(schema.names).to_batches()


# CSV and JSON lines, with their options.


def make_format(name: str, compression: str | None, options: TextOptions) -> FileFormat:
    """The format of a name, with what its readers need to know."""
    if name in ("csv", "tsv", "jsonl"):
        reading: Any = json_reading if name == "jsonl" else csv_reading
        functions: list[Any] = [reading.inspect, reading.read, reading.find_missing_types, csv_reading.find_text]
        inspect, read, find_types, find_text = (
            partial(function, compression=compression, options=options) for function in functions
        )
        if name == "jsonl":
            return FileFormat("JSON lines", _FROM_FIRST_BLOCK, inspect, read, True, find_types, options.column_types)
        return FileFormat(
            name.upper(), _FROM_FIRST_BLOCK, inspect, read, False, find_types, options.column_types, find_text
        )
    return {"parquet": PARQUET, "orc": _ORC, "arrow": _IPC}[name]


_CUT_SHORT = "is it damaged or cut short?"
_FROM_FIRST_BLOCK = f"column types are taken from the first {BLOCK_BYTES >> 20} MiB."
PARQUET = FileFormat("Parquet", _CUT_SHORT, inspect_parquet, read_parquet, reads_fields=True)
_IPC = FileFormat("Arrow IPC", _CUT_SHORT, _inspect_ipc, _read_ipc)
_ORC = FileFormat("ORC", _CUT_SHORT, _inspect_orc, _read_orc)
