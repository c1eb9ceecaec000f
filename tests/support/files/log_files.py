"""A small log, written as files of every format, and read back by the engine."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from fastmetrics.engine.input.batches import BATCH_ROWS
from fastmetrics.engine.input.sources import open_source

COLUMNS = ["user", "score", "click"]


def log(n_rows=1000, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "user": pa.array(rng.integers(0, 50, n_rows)),
            "score": pa.array(rng.random(n_rows)),
            "click": pa.array(rng.integers(0, 2, n_rows), pa.int8()),
            "city": pa.array([f"city {i % 7}" for i in range(n_rows)]),
        }
    )


def read(data, columns=COLUMNS, use_threads=True):
    batches = list(open_source(data).batches(columns, use_threads=use_threads))
    assert all(0 < batch.num_rows <= BATCH_ROWS for batch in batches)
    assert all(batch.schema == batches[0].schema for batch in batches)
    return pa.Table.from_batches(batches)


def write_parquet(table, path, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    pa.parquet.write_table(table, path, **options)
    return path


def write_ipc(table, path, *, stream=False, rows_per_batch=100, options=None):
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows_per_batch)
    return path


def write_csv(table, path):
    pa.csv.write_csv(table, path)
    return path


def corrupt_column(path, index):
    """Overwrite a column of a Parquet file; its footer and the other columns stay intact."""
    column = pa.parquet.read_metadata(path).row_group(0).column(index)
    start = column.dictionary_page_offset or column.data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(content)
    return path


def truncate(path, n_bytes):
    path.write_bytes(path.read_bytes()[:-n_bytes])
    return path


def parquet_file(table, folder):
    return write_parquet(table, folder / "log.parquet", row_group_size=300)
