"""Parquet files: how their columns are read, batch by batch.

They are decoded by ``ParquetFile.iter_batches`` and not by ``pyarrow.dataset``: the dataset scanner decodes whole row
groups, so its memory grows with the row group, not with the batch (three columns of 10M rows in one row group: 360 to
950 MiB; here 60 MiB). Files with several row groups are divided into partitions of them: the thread that decodes a
batch also processes it, while it is in cache. A single row group is decoded by Arrow's threads, a few batches ahead.

In a store a read is a request. A file is opened once, its footer is kept, and the column chunks of a row group are
fetched together, each as a whole, before they are decoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fastmetrics._core.optional_imports import compute as pc
from fastmetrics._core.optional_imports import parquet as pq
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import BATCH_ROWS, TEXT_BATCH_BYTES
from fastmetrics.engine.input.files.compressed_pieces import check_parquet_pages, is_part_of
from fastmetrics.engine.input.files.data_file import DataFile

# Column chunks are read through a window of this size and not as a whole, which bounds memory for large row groups.
PARQUET_OPTIONS: dict[str, Any] = {"buffer_size": 1 << 20, "pre_buffer": False}
# Of a store they are fetched as a whole, unless those of a row group take more than STORED_GROUP_BYTES.
STORED_OPTIONS: dict[str, Any] = {"pre_buffer": True}
LARGE_STORED_OPTIONS: dict[str, Any] = {"buffer_size": 8 << 20, "pre_buffer": False}
STORED_GROUP_BYTES = 128 << 20


@contextmanager
def open_with_footer(data_file: DataFile) -> Iterator[tuple[pa.NativeFile, pq.FileMetaData | None]]:
    """The opened file, and the footer if it was read before. A file of a store stays open."""
    if data_file.is_local:
        with data_file.open_file() as opened:
            yield opened, None
        return
    handle = data_file.handle()
    if data_file.footer is None:
        data_file.footer = pq.read_metadata(handle)
    yield handle, data_file.footer


def inspect_parquet(data_file: DataFile) -> tuple[pa.Schema, int | None]:
    with open_with_footer(data_file) as (opened, footer), pq.ParquetFile(opened, metadata=footer) as file:
        metadata = file.metadata
        data_file.row_groups = tuple(metadata.row_group(index).num_rows for index in range(metadata.num_row_groups))
        return file.schema_arrow, metadata.num_rows


def parquet_row_groups(data_file: DataFile) -> tuple[int, ...]:
    """The number of rows of every row group."""
    if data_file.row_groups is None:
        inspect_parquet(data_file)
    return data_file.row_groups or ()


def parquet_footer(data_file: DataFile) -> pq.FileMetaData:
    """The footer of a file, with the statistics of its row groups."""
    with open_with_footer(data_file) as (opened, footer):
        return pq.read_metadata(opened) if footer is None else footer


def forget_footer(data_file: DataFile, left: int) -> int:
    """Forget the footer of a file unless `left` bytes suffice for it; return how many are left for those of others.

    All of them would take memory in proportion to the files.
    """
    if data_file.footer is not None:
        left -= data_file.footer.serialized_size
        if left < 0:
            data_file.footer = None
    return left


def limit_batch_rows(metadata: pq.FileMetaData, row_groups: Iterable[int], names: list[str], batch_rows: int) -> int:
    """The rows of a batch: fewer if texts are long, so that a batch takes a few megabytes."""
    if batch_rows >= BATCH_ROWS:
        return batch_rows
    bounded = batch_rows
    for group in map(metadata.row_group, row_groups):
        chunks = (group.column(index) for index in range(group.num_columns))
        to_read = [chunk for chunk in chunks if is_part_of(chunk.path_in_schema, names)]
        n_bytes = sum(chunk.total_uncompressed_size for chunk in to_read)
        bounded = min(bounded, TEXT_BATCH_BYTES * group.num_rows // max(1, n_bytes))
    return max(1, bounded)


def stored_options(metadata: pq.FileMetaData, names: Sequence[str]) -> dict[str, Any]:
    """How column chunks of a store are fetched: whole, unless those of a row group are too large for that."""
    largest = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        chunks = (group.column(index) for index in range(group.num_columns))
        sizes = (chunk.total_compressed_size for chunk in chunks if chunk.path_in_schema.partition(".")[0] in names)
        largest = max(largest, sum(sizes))
    return STORED_OPTIONS if largest <= STORED_GROUP_BYTES else LARGE_STORED_OPTIONS


def open_parquet(
    opened: pa.NativeFile, schema: pa.Schema, metadata: pq.FileMetaData | None = None
) -> pq.ParquetFile:
    """A file whose columns are read as the dictionaries, or lists of dictionaries, of the schema.

    The `metadata` of a file of a store were read before.
    """
    options = PARQUET_OPTIONS if metadata is None else stored_options(metadata, schema.names)
    names = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    lists = tuple(f"{field.name}." for field in schema if is_list_of_dictionaries(field.type))
    if lists:
        # Writers have different names for the items of a list: "tags.list.element", "tags.bag.array_element".
        metadata = pq.read_metadata(opened) if metadata is None else metadata
        paths = [metadata.schema.column(number).path for number in range(metadata.num_columns)]
        names += [path for path in paths if path.startswith(lists)]
    # Pages without a checksum are read as they are; those of Spark and of this package's states have one.
    return pq.ParquetFile(
        opened, metadata=metadata, read_dictionary=names, page_checksum_verification=True, **options
    )


def is_list_of_dictionaries(data_type: pa.DataType) -> bool:
    is_list = pa.types.is_list(data_type) or pa.types.is_large_list(data_type)
    return is_list and bool(pa.types.is_dictionary(data_type.value_type))


def read_parquet(
    data_file: DataFile,
    schema: pa.Schema,
    use_threads: bool,
    batch_rows: int,
    memory_limit: int | None,
    row_groups: Sequence[int] | None = None,
) -> Iterator[pa.RecordBatch]:
    """The batches of some row groups, by default of all."""
    with open_with_footer(data_file) as (opened, footer), open_parquet(opened, schema, footer) as file:
        # For a single batch, the hand-over to other threads costs more than the decoding.
        use_threads = use_threads and file.metadata.num_rows > BATCH_ROWS
        row_groups = range(file.metadata.num_row_groups) if row_groups is None else row_groups
        check_parquet_pages(data_file, file.metadata, row_groups, schema.names, memory_limit)
        rows = limit_batch_rows(file.metadata, row_groups, schema.names, batch_rows)
        # pyarrow cannot read lists of dictionaries of several row groups into one batch.
        has_lists = any(is_list_of_dictionaries(field.type) for field in schema)
        one_by_one = has_lists or not data_file.is_local  # a store's row groups would be fetched together
        for groups in [[group] for group in row_groups] if one_by_one else [row_groups]:
            for batch in file.iter_batches(rows, groups, schema.names, use_threads=use_threads):
                check_codes(batch)
                yield batch


def check_codes(batch: pa.RecordBatch) -> None:
    """Refuse codes that the dictionary of a column does not have, which Arrow reads from damaged files."""
    for column in batch.columns:
        while pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            column = column.flatten()
        if pa.types.is_dictionary(column.type):
            least, greatest = pc.min_max(column.indices).as_py().values()
            if greatest is not None and (least < 0 or greatest >= len(column.dictionary)):
                raise pa.ArrowInvalid("A dictionary lacks a code of its column")
