"""From Arrow data, files or arrays to record batches of the requested columns.

Every source is read front to back, in order. pyarrow is imported when a source is opened, never before: the functions
of the library work without it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import is_pandas_frame
from fastmetrics._core.optional_imports import check_version, import_extra, library_of
from fastmetrics.engine.input.array_sources import ArraySource, PandasSource, StructuredSource
from fastmetrics.engine.input.arrow_sources import (
    DatasetSource,
    ReaderSource,
    ScannerSource,
    StreamSource,
    TableSource,
)
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.files.file_source import FileSource
from fastmetrics.engine.input.files.opened_files import open_handle
from fastmetrics.engine.input.frame_sources import (
    native_frame,
    open_frame,
    open_with_narwhals,
    refuse_cluster_frames,
)
from fastmetrics.engine.input.input_options import (
    NO_INPUT_OPTIONS,
    InputOptions,
    check_missing_columns,
    check_time_zone,
)
from fastmetrics.engine.input.lake.table_objects import open_table_object
from fastmetrics.engine.input.path_sources import (
    open_paths,
    refuse_format_options,
    refuse_path_options,
    refuse_snapshot_options,
)
from fastmetrics.engine.input.stream_sources import open_batches

ACCEPTED = (
    "a path, a glob or a list of paths (Parquet, Arrow IPC, Feather, CSV), a directory, a pyarrow Table, RecordBatch, "
    "RecordBatchReader, Dataset or Scanner, a polars or pandas frame, a LazyFrame, a DuckDB relation or result, "
    "anything with __arrow_c_stream__, a dict of arrays, a structured array, a list of dicts, an iterator or a list of "
    "any of these, or an open binary file"
)


def open_source(data: object, options: InputOptions = NO_INPUT_OPTIONS) -> Source:
    """Open anything that holds columns; no row is read yet.

    Parameters
    ----------
    data : object
        A path, a glob or a list of paths to Parquet (``.parquet``, ``.pq``), Arrow IPC (``.arrow``, ``.arrows``,
        ``.feather``, ``.ipc``) and CSV files (``.csv``, ``.csv.gz``, ``.csv.zst``); a directory of such files,
        hive-partitioned or not; a pyarrow Table, RecordBatch, RecordBatchReader or Dataset; anything with
        ``__arrow_c_stream__`` (polars and pandas data frames, DuckDB relations); a dict of arrays.
    options : InputOptions

    Returns
    -------
    Source

    Raises
    ------
    FileNotFoundError
        A path that does not exist, a glob without a match, a directory without data files.
    ValueError
        A file that cannot be read (the message names it), an unknown suffix, columns of different lengths.
    TypeError
        Any other kind of data.
    ImportError
        pyarrow is not installed.
    """
    import_extra("pyarrow", "reading data")
    check_missing_columns(options)
    check_time_zone(options.time_zone)
    source = _open_data(data, options)
    source.time_zone = options.time_zone
    return source


def _open_data(data: Any, options: InputOptions) -> Source:
    """See `open_source`."""
    if isinstance(data, str | os.PathLike):
        return open_paths([data], options)
    if isinstance(data, list | tuple) and all(isinstance(item, str | os.PathLike) for item in data):
        if not data:
            raise ValueError("data is an empty list: name at least one file")
        return open_paths(data, options)
    refuse_path_options(options, data)
    if hasattr(data, "read") and not hasattr(data, "columns"):
        refuse_snapshot_options(options, "an open file, which has no versions")
        opened = open_handle(data)
        return FileSource([opened], label=opened.path, options=options)
    if (source := open_table_object(data, options)) is not None:
        return source
    refuse_snapshot_options(options, f"of type {type(data).__name__}, which has no versions")
    data = native_frame(data)
    check_version(library_of(data).lstrip("_"), f"reading a {type(data).__name__}")
    refuse_cluster_frames(data)
    source = _open_columns(data)
    if source is not None:
        refuse_format_options(options, data)
        return source
    source = open_batches(data, partial(open_source, options=options))
    if source is not None:
        return source
    raise TypeError(f"data must be {ACCEPTED}; got {type(data).__name__}{_suggest_instead(data)}")


def _open_columns(data: Any) -> Source | None:
    """The source of data that has columns itself; None for other data."""
    pa = import_extra("pyarrow", "reading data")
    if isinstance(data, Mapping):
        return ArraySource(data)
    if isinstance(data, np.ndarray) and data.dtype.names is not None:
        return StructuredSource(data)
    if is_pandas_frame(data):
        return PandasSource(data)
    if isinstance(data, pa.Table | pa.RecordBatch):
        return TableSource(data)
    if isinstance(data, pa.RecordBatchReader):
        return ReaderSource(data)
    if (source := _open_dataset(data) or open_frame(data)) is not None:
        return source
    if hasattr(data, "__arrow_c_stream__"):
        return StreamSource(data)
    if hasattr(data, "__arrow_c_array__"):
        return TableSource(pa.record_batch(data))
    return open_with_narwhals(data)


def _open_dataset(data: object) -> Source | None:
    """The source of a Dataset or Scanner of pyarrow; None for other data."""
    if library_of(data) != "pyarrow":
        return None
    import pyarrow.dataset as ds

    if isinstance(data, ds.Dataset):
        return DatasetSource(data)
    return ScannerSource(data) if isinstance(data, ds.Scanner) else None


def _suggest_instead(data: object) -> str:
    if hasattr(data, "collect"):
        return "; collect it first: data.collect()"
    if hasattr(data, "__array__"):
        return '; name its columns: {"label": ..., "score": ...}'
    return ""
