"""Parquet pages of ours: other readers find the same values, whatever these are."""

import io

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.columns.delta_packing import most_packed_bytes, pack_deltas
from fastmetrics.engine.partial.files.parquet_pages import PageColumn, ParquetPages
from support.cases import each_case

LENGTHS = (1, 2, 31, 32, 33, 34, 127, 128, 129, 130, 257, 1000)
SCHEMA = pa.schema([
    pa.field("key", pa.int64()), pa.field("text", pa.binary()),
    pa.field("long", pa.int64(), nullable=False), pa.field("short", pa.int32(), nullable=False),
    pa.field("hash", pa.uint64(), nullable=False), pa.field("code", pa.uint16(), nullable=False),
    pa.field("label", pa.bool_(), nullable=False),
])  # fmt: skip


def integers(chance, n, dtype, spread):
    bounds = np.iinfo(dtype)
    return chance.integers(max(bounds.min, -spread), min(bounds.max, spread), n, dtype, endpoint=True)


def table_and_columns(chance, n, spread):
    """A table of the schema, and its columns for a row group."""
    has_value = chance.random(n) < 0.3
    has_value[0] = True
    texts = [b"x" * int(length) for length in chance.integers(0, 30, n)]
    key, long, hashes = (integers(chance, n, np.int64, spread) for _ in range(3))
    short, code = integers(chance, n, np.int32, spread), chance.integers(0, 1 << 16, n).astype(np.int32)
    label = chance.random(n) < 0.5
    arrays = [
        pa.array(key, mask=~has_value), pa.array(texts, pa.binary(), mask=~has_value), long, short,
        hashes.view(np.uint64), code.astype(np.uint16), label,
    ]  # fmt: skip
    found = [text for text, is_there in zip(texts, has_value, strict=True) if is_there]
    lengths = np.array(list(map(len, found)), np.int32)
    of_texts = PageColumn(lengths, has_value, np.frombuffer(b"".join(found), np.uint8))
    columns = [PageColumn(key[has_value], has_value), of_texts, *map(PageColumn, (long, short, hashes, code, label))]
    return pa.table(list(map(pa.array, arrays)), schema=SCHEMA), columns


def written(tables):
    file = ParquetPages(SCHEMA)
    for table, columns in tables:
        file.add(columns, len(table))
    return b"".join(map(bytes, file.end()))


@each_case("n", LENGTHS)
def test_other_readers_find_the_same_values(tmp_path, n):
    for spread in (0, 3, 1 << 20, (1 << 63) - 1):
        tables = [table_and_columns(np.random.default_rng(seed), n, spread) for seed in range(3)]
        whole = pa.concat_tables([table for table, _ in tables])
        path = tmp_path / "a.parquet"
        path.write_bytes(written(tables))
        assert pq.read_table(path, page_checksum_verification=True) == whole
        assert duckdb.sql(f"from '{path}'").to_arrow_table().cast(SCHEMA) == whole
        assert pl.read_parquet(path).to_arrow().cast(SCHEMA) == whole


def test_the_footer_says_what_is_there():
    tables = [table_and_columns(np.random.default_rng(seed), 1000, 9) for seed in range(20)]
    file = pq.ParquetFile(io.BytesIO(written(tables)))
    file.metadata.row_group(19).to_dict()
    assert file.schema_arrow == SCHEMA
    assert file.metadata.num_row_groups == 20
    column = file.metadata.row_group(7).column(2)
    assert (column.compression, column.num_values) == ("UNCOMPRESSED", 1000)
    assert "DELTA_BINARY_PACKED" in column.encodings
    assert file.read_row_group(7) == tables[7][0]


def test_a_changed_page_is_found():
    tables = [table_and_columns(np.random.default_rng(1), 1000, 1 << 40)]
    data = bytearray(written(tables))
    data[data.index(tables[0][1][2].page()[1][0].tobytes()) + 100] ^= 1
    with pytest.raises(OSError, match=r"(?i)crc|checksum"):
        pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True).read()


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1), st.sampled_from([np.int32, np.int64]))
def test_all_integers_are_kept(numbers, dtype):
    values = np.array(numbers).astype(dtype)
    kind = pa.from_numpy_dtype(values.dtype)
    file = ParquetPages(pa.schema([pa.field("a", kind, nullable=False)]))
    file.add([PageColumn(values)], len(values))
    assert (pq.read_table(io.BytesIO(b"".join(map(bytes, file.end()))))["a"].to_numpy() == values).all()


def test_memory_that_is_too_short():
    values = ColumnBlocks([np.arange(1000)])
    for n_bytes in (0, 10, most_packed_bytes(1000) - 1):
        with pytest.raises(ValueError, match="a result has less than"):
            pack_deltas(values, np.empty(n_bytes, np.uint8))
    with pytest.raises(ValueError, match="values has 1 blocks of elements of 2 bytes"):
        pack_deltas(ColumnBlocks([np.arange(9, dtype=np.int16)]), np.empty(9000, np.uint8))
    assert pack_deltas(ColumnBlocks([np.arange(0)]), np.empty(most_packed_bytes(0), np.uint8)) == 5
