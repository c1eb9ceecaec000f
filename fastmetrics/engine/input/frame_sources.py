"""Sources of query engines and data frames: polars LazyFrames, results of DuckDB, and frames that narwhals reads.

Only the columns that are read are selected, before anything is computed. Frames of clusters are refused, with the words
to type instead.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.arrow_sources import ReaderSource, select_columns, top_module
from fastmetrics.engine.input.batches import BATCH_ROWS, Source, split_path


class LazyFrameSource(Source):
    """A polars LazyFrame: its streaming engine computes the columns that are read, batch by batch."""

    label = "the LazyFrame"

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._schema = frame.collect_schema()
        self.column_names = list(self._schema.names())

    def type_of(self, column: str) -> pa.DataType | None:
        import polars

        return polars.Series(column, [], self._schema[column]).to_arrow().type

    def _read_fields(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        import polars

        expressions = []
        for column in columns:
            root, fields = split_path(column, self.column_names)
            expression = polars.col([root]) if not fields else polars.col(root)
            for field in fields:
                expression = expression.struct.field(field)
            expressions.append(expression.alias(column) if fields else expression)
        return self._collect(self._frame.select(expressions), columns)

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        return self._read_fields(columns, use_threads)

    def _collect(self, query: Any, columns: list[str]) -> Iterator[pa.RecordBatch]:
        if hasattr(query, "collect_batches"):
            frames = query.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True, engine="streaming")
        else:
            frames = iter([collect_streaming(query)])
        for frame in frames:
            for batch in frame.to_arrow().to_batches():
                yield select_columns(batch, columns)


def collect_streaming(query: Any) -> Any:
    """The whole result of a query, by the streaming engine, which older versions of polars name by another option."""
    try:
        return query.collect(engine="streaming")
    except TypeError:
        return query.collect(streaming=True)


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
    """The source of a LazyFrame, of a result of DuckDB, or of a frame that only narwhals reads; None for other data."""
    module = top_module(data)
    if module == "polars" and type(data).__name__ == "LazyFrame":
        return LazyFrameSource(data)
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
    return data.to_native() if top_module(data) == "narwhals" and hasattr(data, "to_native") else data


def open_with_narwhals(data: object) -> Source | None:
    """The source of a frame that narwhals knows; None if it does not, or is not installed."""
    if sys.modules.get(top_module(data)) is None and not hasattr(data, "__narwhals_dataframe__"):
        return None
    try:
        import narwhals
    except ImportError:
        return None
    frame: Any = narwhals.from_native(data, pass_through=True)
    return NarwhalsSource(frame) if isinstance(frame, narwhals.DataFrame | narwhals.LazyFrame) else None


def refuse_cluster_frames(data: object) -> None:
    """Raise TypeError for frames whose rows are not in this process, and say what to type."""
    module, name = top_module(data), type(data).__name__
    if module == "pyspark" and (hasattr(data, "mapInArrow") or hasattr(data, "to_spark")):
        frame = "data" if hasattr(data, "mapInArrow") else "data.to_spark()"
        raise TypeError(
            f"data is a Spark {name}: its rows stay on the cluster; type fastmetrics.spark.evaluate({frame}, ...)"
        )
    if module in ("dask", "dask_expr"):
        raise TypeError(
            f"data is a dask {name}: give its partitions one by one, "
            "(partition.compute() for partition in data.partitions)"
        )
    if module == "ray":
        raise TypeError(f"data is a Ray {name}: give its batches, data.iter_batches(batch_format='pyarrow')")
