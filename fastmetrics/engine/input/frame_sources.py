"""Sources of query engines and data frames: polars LazyFrames, results of DuckDB, and frames that narwhals reads.

Only the columns that are read are selected, before anything is computed. Frames of clusters are refused, with the words
to type instead.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

from fastmetrics._core.columns.arrow_columns import WIDE_DIGITS, decimals_of_texts, is_wide_integer
from fastmetrics._core.optional_imports import library_of
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.arrow_sources import ReaderSource
from fastmetrics.engine.input.batches import BATCH_ROWS, Source, split_path


class PolarsSource(Source):
    """A polars DataFrame: Arrow reads its columns as they are, but for integers of 128 bits."""

    label = "the DataFrame"

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.column_names = list(frame.columns)
        self._schema = frame.schema
        self.rows = frame.height

    def _type_of(self, column: str) -> pa.DataType | None:
        return arrow_type_of_polars(column, self._schema[column])

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        found = self._frame.select(select_polars(columns, self._schema))
        reader = pa.RecordBatchReader.from_stream(found)
        return (read_wide_integers(batch, columns, self._schema) for batch in reader)


class LazyFrameSource(Source):
    """A polars LazyFrame: its streaming engine computes the columns that are read, batch by batch."""

    label = "the LazyFrame"

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._schema = frame.collect_schema()
        self.column_names = list(self._schema.names())

    def _type_of(self, column: str) -> pa.DataType | None:
        return arrow_type_of_polars(column, self._schema[column])

    def _read_fields(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        import polars

        expressions = []
        for column in columns:
            root, fields = split_path(column, self.column_names)
            if not fields:
                expressions += select_polars([column], self._schema)
                continue
            expression = polars.col([root])
            for field in fields:
                expression = expression.struct.field(field)
            expressions.append(expression.alias(column))
        return self._collect(self._frame.select(expressions), columns)

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        return self._read_fields(columns, use_threads)

    def _collect(self, query: Any, columns: list[str]) -> Iterator[pa.RecordBatch]:
        if hasattr(query, "collect_batches"):
            frames = query.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True, engine="streaming")
        else:
            frames = iter([query.collect(engine="streaming")])
        for frame in frames:
            for batch in frame.to_arrow().to_batches():
                yield read_wide_integers(batch, columns, self._schema)


def arrow_type_of_polars(column: str, data_type: Any) -> pa.DataType:
    """The Arrow type in which a column of polars is read; raise TypeError if Arrow has none."""
    import polars

    if is_wide_integer(data_type):
        return pa.decimal256(WIDE_DIGITS, 0)
    try:
        return polars.Series(column, [], data_type).to_arrow().type
    except pa.ArrowException as error:
        raise TypeError(f"column {column!r} has the polars type {data_type}, which Arrow does not read") from error


def select_polars(columns: list[str], schema: Any) -> list[Any]:
    """Expressions of polars for columns: integers of 128 bits as texts, from which Arrow reads them exactly."""
    import polars

    expressions = []
    for column in columns:
        arrow_type_of_polars(column, schema[column])
        expression = polars.col([column])
        expressions.append(expression.cast(polars.String) if is_wide_integer(schema[column]) else expression)
    return expressions


def read_wide_integers(batch: pa.RecordBatch, columns: list[str], schema: Any) -> pa.RecordBatch:
    """The columns of a batch, in their order; texts of integers of 128 bits as decimals."""
    arrays = []
    for column in columns:
        array = batch.column(column)
        is_wide = column in schema and is_wide_integer(schema[column])
        arrays.append(decimals_of_texts(array) if is_wide else array)
    return pa.RecordBatch.from_arrays(arrays, names=columns)


class NarwhalsSource(Source):
    """A frame that narwhals reads and Arrow does not: the columns that are read are converted as a whole."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.label = f"the {type(frame.to_native()).__name__}"
        self.column_names = list(frame.collect_schema().names())

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        selected = self._frame.select(columns)
        table = selected.to_arrow() if hasattr(selected, "to_arrow") else selected.collect("pyarrow").to_native()
        return iter(table.select(columns).to_batches())


def open_frame(data: object) -> Source | None:
    """The source of a frame of polars or of a result of DuckDB; None for other data."""
    module = library_of(data)
    if module == "polars" and type(data).__name__ in ("LazyFrame", "DataFrame"):
        return LazyFrameSource(data) if type(data).__name__ == "LazyFrame" else PolarsSource(data)
    if module in ("duckdb", "_duckdb") and hasattr(data, "fetchall") and hasattr(data, "cursor"):
        return open_duckdb_result(data)
    return None


def open_duckdb_result(connection: Any) -> Source:
    """The rows of the query that a DuckDB connection or cursor executed last; they can be read once."""
    reader = None
    if connection.description is not None:
        make_reader = getattr(connection, "to_arrow_reader", None) or connection.fetch_record_batch
        with warnings.catch_warnings():
            # DuckDB advises its users to take relations; the documentation of inputs says so too.
            warnings.simplefilter("ignore", UserWarning)
            reader = make_reader(BATCH_ROWS)
    if reader is None:
        raise ValueError(
            "data: the DuckDB connection has no result: execute a query first, connection.execute('select ...'); a "
            "result can be read only once"
        )
    return ReaderSource(reader, "the DuckDB result")


def native_frame(data: Any) -> Any:
    """The frame that a frame of narwhals wraps; other data are themselves."""
    return data.to_native() if library_of(data) == "narwhals" and hasattr(data, "to_native") else data


def open_with_narwhals(data: object) -> Source | None:
    """The source of a frame that narwhals knows; None if it does not, or is not installed."""
    if sys.modules.get(library_of(data)) is None and not hasattr(data, "__narwhals_dataframe__"):
        return None
    try:
        import narwhals
    except ImportError:
        return None
    frame: Any = narwhals.from_native(data, pass_through=True)
    return NarwhalsSource(frame) if isinstance(frame, narwhals.DataFrame | narwhals.LazyFrame) else None


def refuse_cluster_frames(data: object) -> None:
    """Raise TypeError for frames whose rows are not in this process, and say what to type."""
    module, name = library_of(data), type(data).__name__
    if module == "pyspark" and (hasattr(data, "mapInArrow") or hasattr(data, "to_spark")):
        frame = "data" if hasattr(data, "mapInArrow") else "data.to_spark()"
        raise TypeError(
            f"data is a Spark {name}: its rows stay on the cluster; type fastmetrics.spark.evaluate({frame}, ...)"
        )
    if module in ("dask", "dask_expr"):
        raise TypeError(
            f"data is a dask {name}: its rows stay where they are; type fastmetrics.dask.evaluate(data, ...) with a "
            "DataFrame, or give the partitions one by one, (partition.compute() for partition in data.partitions)"
        )
    if module == "ray":
        raise TypeError(
            f"data is a Ray {name}: its rows stay on the cluster; type fastmetrics.ray.evaluate(data, ...), or give "
            "its batches, data.iter_batches(batch_format='pyarrow')"
        )
