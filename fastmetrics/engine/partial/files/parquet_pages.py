"""Parquet of integers and texts, written page by page: the few features that state files need.

A column of a row group is one page, uncompressed, with its checksum. Integers are `DELTA_BINARY_PACKED`, booleans
`PLAIN`, texts `DELTA_LENGTH_BYTE_ARRAY`. Headers of pages and the footer are structs of Thrift's compact protocol, here
dictionaries of fields by their numbers: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.columns.delta_packing import most_packed_bytes, pack_deltas

MAGIC = b"PAR1"
PLAIN, RLE, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY = 0, 3, 5, 6
INTEGERS = {"int16": 16, "uint16": 12, "uint32": 13, "uint64": 14}  # "converted types" that their columns name
THRIFT_INT32, THRIFT_INT64, THRIFT_BINARY, THRIFT_LIST, THRIFT_STRUCT = 5, 6, 8, 9, 12
LONG_LIST = 15


class PageColumn(NamedTuple):
    """A column of a row group: the values of the rows that have one. Those of texts are their lengths."""

    values: np.ndarray
    has_value: np.ndarray | None = None
    text: np.ndarray | None = None

    def page(self) -> tuple[int, list[Any]]:
        """The encoding of the values, and the page in pieces."""
        levels = [] if self.has_value is None else [level_bytes(self.has_value)]
        if self.values.dtype == np.bool_:
            return PLAIN, [*levels, np.packbits(self.values, bitorder="little")]
        packed = np.empty(most_packed_bytes(len(self.values)), np.uint8)
        packed = packed[: pack_deltas(ColumnBlocks([self.values]), packed)]
        if self.text is None:
            return DELTA_BINARY_PACKED, [*levels, packed]
        return DELTA_LENGTH_BYTE_ARRAY, [*levels, packed, self.text]


class ParquetPages:
    """The bytes of a file in pieces, with row groups of columns that have the fields of an Arrow schema."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.types = [physical_type(str(field.type)) for field in schema]
        self.pieces: list[Any] = [MAGIC]
        self.n_bytes = len(MAGIC)
        self.rows = 0
        self.row_groups: list[dict[int, Any]] = []

    def add(self, columns: Sequence[PageColumn], rows: int) -> None:
        """Add a row group."""
        start = self.n_bytes
        chunks = [self.add_column(number, own, rows) for number, own in enumerate(columns)]
        self.row_groups.append({1: chunks, 2: Int64(self.n_bytes - start), 3: Int64(rows)})
        self.rows += rows

    def add_column(self, number: int, column: PageColumn, rows: int) -> dict[int, Any]:
        """What the footer says about a column of a row group, whose page is added."""
        encoding, page = column.page()
        size, checksum = sum(map(len, page)), 0
        for piece in page:
            checksum = crc32(piece, checksum)
        of_data = {1: rows, 2: encoding, 3: RLE, 4: RLE}
        header = struct_bytes({1: 0, 2: size, 3: size, 4: checksum - (checksum >> 31 << 32), 5: of_data})
        start, chunk_bytes = Int64(self.n_bytes), Int64(len(header) + size)
        self.pieces += [header, *page]
        self.n_bytes += chunk_bytes
        path = [self.schema.field(number).name.encode()]
        about = {1: self.types[number], 2: [RLE, encoding], 3: path, 4: 0, 5: Int64(rows), 6: chunk_bytes}
        return {2: start, 3: about | {7: chunk_bytes, 9: start}}

    def end(self) -> list[Any]:
        """All pieces."""
        columns = [
            {1: own, 3: int(field.nullable), 4: field.name.encode()}
            | ({6: INTEGERS[str(field.type)]} if str(field.type) in INTEGERS else {})
            for own, field in zip(self.types, self.schema, strict=True)
        ]
        schema = [{4: b"schema", 5: len(columns)}, *columns]
        footer = struct_bytes({1: 2, 2: schema, 3: Int64(self.rows), 4: self.row_groups, 6: b"fastmetrics"})
        return [*self.pieces, footer, len(footer).to_bytes(4, "little"), MAGIC]


def physical_type(name: str) -> int:
    """Parquet's number of the type in which a type of Arrow is stored."""
    return {"bool": 0, "binary": 6, "int64": 2, "uint64": 2}.get(name, 1)


def level_bytes(has_value: np.ndarray) -> bytes:
    """Definition levels, a bit for each row, as one run."""
    bits = np.packbits(has_value, bitorder="little").tobytes()
    run = varint(len(bits) << 1 | 1) + bits
    return len(run).to_bytes(4, "little") + run


class Int64(int):
    """A number whose field has 64 bits."""


def varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; the highest bit of a byte says that more follow."""
    found = bytearray()
    while number >> 7:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def struct_bytes(fields: dict[int, Any]) -> bytes:
    """A struct, whose fields stand in the order of their numbers."""
    found, before = b"", 0
    for number, value in fields.items():
        kind, data = value_bytes(value)
        found += bytes([(number - before) << 4 | kind]) + data
        before = number
    return found + b"\0"


def value_bytes(value: Any) -> tuple[int, bytes]:
    """The type and the bytes of a value."""
    if isinstance(value, int):
        return (THRIFT_INT64 if isinstance(value, Int64) else THRIFT_INT32), varint(value << 1 ^ value >> 63)
    if isinstance(value, dict):
        return THRIFT_STRUCT, struct_bytes(value)
    if isinstance(value, bytes):
        return THRIFT_BINARY, varint(len(value)) + value
    kinds, items = zip(*map(value_bytes, value), strict=True)
    n = min(len(items), LONG_LIST)
    return THRIFT_LIST, bytes([n << 4 | kinds[0]]) + varint(len(items)) * (n == LONG_LIST) + b"".join(items)
