"""Pieces of Parquet and Arrow files that are decompressed as a whole: pages and batches. Their sizes, before that.

A small file may hold a page or a batch of gigabytes. The sizes stand in its metadata, which are read here without the
data: headers of pages (Thrift's compact protocol), messages of Arrow (FlatBuffers). What cannot be understood is left
to Arrow, which says what is wrong.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fastmetrics._core.exchange.memory_size import default_memory_limit, format_size
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.files.data_file import DataFile

SMALLEST_LIMIT = 64 << 20  # pieces up to this size are read whatever the memory limit is
LONGEST_PAGE_HEADER = 1 << 20  # it may hold the least and the greatest text of the page

# Types of Thrift's compact protocol; true, false and bytes take no or one byte.
THRIFT_STOP, THRIFT_BYTE, THRIFT_DOUBLE, THRIFT_BINARY, THRIFT_LIST, THRIFT_SET, THRIFT_STRUCT = 0, 3, 7, 8, 9, 10, 12
THRIFT_INTEGERS = (4, 5, 6)

ARROW_DICTIONARY, ARROW_BATCH = 2, 3  # kinds of messages
BLOCK = np.dtype([("offset", "<i8"), ("metadata", "<i4"), ("padding", "<i4"), ("body", "<i8")])
BUFFER = np.dtype([("offset", "<i8"), ("length", "<i8")])


def piece_limit(size: int, memory_limit: int | None) -> int:
    """The limit of a piece of `size` bytes. The default limit costs time, so it is left out for small pieces."""
    if size <= SMALLEST_LIMIT:
        return SMALLEST_LIMIT
    return max(SMALLEST_LIMIT, default_memory_limit() if memory_limit is None else memory_limit)


def check_size(data_file: DataFile, piece: str, size: int, memory_limit: int | None, advice: str) -> None:
    """Raise ValueError for a piece that expands to more than the memory limit; None is the default limit."""
    limit = piece_limit(size, memory_limit)
    if size > limit:
        raise ValueError(
            f"{data_file} has {piece} that expands to {format_size(size)}, more than the memory limit of "
            f"{format_size(limit)}; {advice}"
        )


# -------------------------------------------------------------------------------------------------------------- Parquet


def check_parquet_pages(
    data_file: DataFile, metadata: Any, row_groups: Iterable[int], names: list[str], memory_limit: int | None
) -> None:
    """Check the pages of the columns that are decompressed at the same time: one of each column.

    Headers of pages are read only where the columns of a row group together are larger than the limit.
    """
    for number in row_groups:
        group = metadata.row_group(number)
        # Arrow ends the process if the metadata of a column are damaged, so columns of small groups are not touched.
        if group.total_byte_size <= piece_limit(group.total_byte_size, memory_limit):
            continue
        chunks = [group.column(index) for index in range(group.num_columns)]
        to_read = [chunk for chunk in chunks if is_part_of(chunk.path_in_schema, names)]
        whole = sum(chunk.total_uncompressed_size for chunk in to_read)
        if whole <= piece_limit(whole, memory_limit):
            continue
        with data_file.open_file() as file:
            size = sum(min(largest_page(file, chunk), chunk.total_uncompressed_size) for chunk in to_read)
        check_size(data_file, f"a page of each column in row group {number}", size, memory_limit, "write smaller pages")


def is_part_of(path: str, names: Iterable[str]) -> bool:
    """Does a column chunk hold one of the columns, or a part of it? A name may be that of a field, "model.score"."""
    return any(path == name or path.startswith(f"{name}.") for name in names)


def largest_page(file: pa.NativeFile, chunk: Any) -> int:
    """The size of the largest page of a column chunk, decompressed."""
    place = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        place = min(place, chunk.dictionary_page_offset)
    end = place + chunk.total_compressed_size
    largest = 0
    while place < end:
        header = read_page_header(file, place)
        if header is None:
            return int(chunk.total_uncompressed_size)
        length, uncompressed, compressed = header
        largest = max(largest, uncompressed)
        place += length + compressed
    return largest


def read_page_header(file: pa.NativeFile, place: int) -> tuple[int, int, int] | None:
    """The length of a page's header, and the page's sizes, decompressed and as stored; None if it is no header."""
    for most in (1 << 8, LONGEST_PAGE_HEADER):
        file.seek(place)
        reader = ThriftReader(file.read(most))
        try:
            fields = reader.read_struct()
        except (IndexError, RecursionError):
            continue
        uncompressed, compressed = fields.get(2), fields.get(3)
        if isinstance(uncompressed, int) and isinstance(compressed, int) and min(uncompressed, compressed) >= 0:
            return reader.place, uncompressed, compressed
        return None
    return None


class ThriftReader:
    """Reads integers of structs in Thrift's compact protocol, and skips everything else."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def read_byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def read_unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.read_byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def read_integer(self) -> int:
        value = self.read_unsigned()
        return value >> 1 ^ -(value & 1)

    def read_struct(self) -> dict[int, int | None]:
        """The integers of a struct by the numbers of their fields; None for other types."""
        fields: dict[int, int | None] = {}
        number = 0
        while (head := self.read_byte()) != THRIFT_STOP:
            step = head >> 4
            number = number + step if step else self.read_integer()
            fields[number] = self.read_value(head & 15)
        return fields

    def read_value(self, kind: int) -> int | None:
        if kind in THRIFT_INTEGERS:
            return self.read_integer()
        if kind == THRIFT_BYTE:
            self.place += 1
        elif kind == THRIFT_DOUBLE:
            self.place += 8
        elif kind == THRIFT_BINARY:
            length = self.read_unsigned()
            self.place += length
        elif kind in (THRIFT_LIST, THRIFT_SET):
            head = self.read_byte()
            length = head >> 4 if head >> 4 < 15 else self.read_unsigned()
            for _ in range(length):
                self.read_value(head & 15)
        elif kind == THRIFT_STRUCT:
            self.read_struct()
        return None


# ---------------------------------------------------------------------------------------------------------------- Arrow


def check_ipc_batches(data_file: DataFile, schema: pa.Schema, names: list[str], memory_limit: int | None) -> None:
    """Check the size of each batch, and of each dictionary, of the columns that are read.

    A message that is longer than the file is an error too: Arrow would ask for its memory.
    """
    chosen = chosen_buffers(schema, names)
    with data_file.open_file() as file:
        for number, (message, body) in enumerate(find_messages(file)):
            try:
                is_whole = body + message.number(3, "<q") <= file.size()
                size = decompressed_size(file, message, body, chosen) if is_whole else 0
            except (struct.error, ValueError, IndexError):
                return
            if not is_whole:
                raise pa.ArrowInvalid(f"Message {number} is longer than the file")
            check_size(data_file, f"a batch (message {number})", size, memory_limit, "write smaller batches")


def chosen_buffers(schema: pa.Schema, names: list[str]) -> np.ndarray | None:
    """The numbers of the buffers of some columns; None for all, if a type has an unknown number of buffers."""
    chosen: list[int] = []
    start = 0
    for field in schema:
        count = count_buffers(field.type)
        if count is None:
            return None
        if field.name in names:
            chosen.extend(range(start, start + count))
        start += count
    return np.array(chosen, np.int64)


def count_buffers(data_type: Any) -> int | None:
    """The buffers of a column in a batch: that of nulls, those of offsets and values, and those of its children."""
    types = pa.types
    if isinstance(data_type, pa.BaseExtensionType):
        return count_buffers(data_type.storage_type)
    if types.is_null(data_type):
        return 0
    if types.is_primitive(data_type) or types.is_fixed_size_binary(data_type) or types.is_decimal(data_type):
        return 2
    if types.is_dictionary(data_type):
        return 2
    if data_type in (pa.string(), pa.binary(), pa.large_string(), pa.large_binary()):
        return 3
    if types.is_struct(data_type) or types.is_fixed_size_list(data_type):
        own = 1
    elif types.is_list(data_type) or types.is_large_list(data_type) or types.is_map(data_type):
        own = 2
    else:
        return None
    children = [count_buffers(data_type.field(number).type) for number in range(data_type.num_fields)]
    return None if None in children else own + sum(count for count in children if count is not None)


def find_messages(file: pa.NativeFile) -> Iterator[tuple[FlatTable, int]]:
    """The messages of a file or a stream, and where their bodies begin."""
    if file.read(6) == b"ARROW1":
        for start in batches_in_footer(file):
            if found := read_message(file, int(start)):
                yield found[:2]
        return
    place: int | None = 0
    while place is not None and (found := read_message(file, place)):
        yield found[:2]
        place = found[2]


def batches_in_footer(file: pa.NativeFile) -> np.ndarray:
    """Where the dictionaries and batches of a file begin."""
    try:
        file.seek(-10, 2)
        length = struct.unpack("<i", file.read(4))[0]
        file.seek(-10 - length, 2)
        footer = FlatTable.root(file.read(length))
        return np.concatenate([footer.vector(2, BLOCK)["offset"], footer.vector(3, BLOCK)["offset"]])
    except (struct.error, ValueError, OSError):
        return np.zeros(0, np.int64)


def read_message(file: pa.NativeFile, place: int) -> tuple[FlatTable, int, int | None] | None:
    """A message, where its body begins, and where the next one begins."""
    try:
        file.seek(place)
        first, second = struct.unpack("<ii", file.read(8))
        start, length = (place + 8, second) if first == -1 else (place + 4, first)
        if not 0 < length <= file.size():
            return None
        file.seek(start)
        message = FlatTable.root(file.read(length))
        body_length = message.number(3, "<q")
    except (struct.error, ValueError, OSError):
        return None
    return message, start + length, start + length + body_length if body_length >= 0 else None


def decompressed_size(file: pa.NativeFile, message: FlatTable, body: int, chosen: np.ndarray | None) -> int:
    """The bytes of a batch's compressed buffers once they are decompressed: they begin with that number."""
    kind = message.number(1, "<B")
    if kind not in (ARROW_DICTIONARY, ARROW_BATCH):
        return 0
    batch = message.table(2)
    if kind == ARROW_DICTIONARY:
        batch, chosen = batch.table(1), None
    if batch.place_of(3) is None:
        return 0
    buffers = batch.vector(2, BUFFER)
    total = 0
    for buffer in buffers if chosen is None else buffers[chosen]:
        if buffer["length"] >= 8:
            file.seek(body + int(buffer["offset"]))
            total += max(0, struct.unpack("<q", file.read(8))[0])
    return total


class FlatTable:
    """A table of FlatBuffers: fields by number."""

    def __init__(self, data: bytes, place: int) -> None:
        self.data = data
        self.place = place
        if not 0 <= place < len(data):
            raise ValueError("a table outside of its bytes")

    @classmethod
    def root(cls, data: bytes) -> FlatTable:
        return cls(data, struct.unpack_from("<I", data, 0)[0])

    def place_of(self, number: int) -> int | None:
        """Where a field is stored; None if it is absent."""
        fields = self.place - struct.unpack_from("<i", self.data, self.place)[0]
        size = struct.unpack_from("<H", self.data, fields)[0]
        slot = 4 + 2 * number
        offset = struct.unpack_from("<H", self.data, fields + slot)[0] if slot < size else 0
        return self.place + offset if offset else None

    def number(self, number: int, layout: str) -> int:
        place = self.place_of(number)
        return 0 if place is None else int(struct.unpack_from(layout, self.data, place)[0])

    def follow(self, number: int) -> int:
        """The place that a field points to."""
        place = self.place_of(number)
        if place is None:
            raise ValueError("a field is absent")
        return place + int(struct.unpack_from("<I", self.data, place)[0])

    def table(self, number: int) -> FlatTable:
        return FlatTable(self.data, self.follow(number))

    def vector(self, number: int, dtype: np.dtype) -> np.ndarray:
        if self.place_of(number) is None:
            return np.zeros(0, dtype)
        place = self.follow(number)
        length = struct.unpack_from("<I", self.data, place)[0]
        return np.frombuffer(self.data, dtype, length, place + 4)
