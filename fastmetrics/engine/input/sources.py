"""From Arrow data, files or arrays to record batches of the requested columns.

Every source is read front to back, in order. pyarrow is imported when a source is opened, never before: the functions
of the library work without it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from fastmetrics._core.columns.validation import LISTED_COLUMNS
from fastmetrics._core.optional_imports import import_extra
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import BATCH_ROWS, Source, first_line
from fastmetrics.engine.input.files import FileSource
from fastmetrics.engine.input.paths import find_files

# Of a user's pyarrow Dataset: more read-ahead costs memory and gains no time, since batches are processed meanwhile.
DATASET_BATCH_READAHEAD = 4
DATASET_FRAGMENT_READAHEAD = 1

ACCEPTED = (
    "a path, a glob or a list of paths (Parquet, Arrow IPC, Feather, CSV), a directory, a pyarrow Table, RecordBatch, "
    "RecordBatchReader or Dataset, anything with __arrow_c_stream__ (polars, pandas, DuckDB), or a dict of arrays"
)
READ_ONCE = "was read before, and it can be read only once; make a new one, or pass a Table (reader.read_all())"


def open_source(data: object) -> Source:
    """Open anything that holds columns; no row is read yet.

    Parameters
    ----------
    data : object
        A path, a glob or a list of paths to Parquet (``.parquet``, ``.pq``), Arrow IPC (``.arrow``, ``.arrows``,
        ``.feather``, ``.ipc``) and CSV files (``.csv``, ``.csv.gz``, ``.csv.zst``); a directory of such files,
        hive-partitioned or not; a pyarrow Table, RecordBatch, RecordBatchReader or Dataset; anything with
        ``__arrow_c_stream__`` (polars and pandas data frames, DuckDB relations); a dict of arrays.

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
    pa = import_extra("pyarrow", "reading data")
    if isinstance(data, str | os.PathLike):
        return FileSource(find_files(data), label=os.fsdecode(data))
    if isinstance(data, list | tuple) and all(isinstance(item, str | os.PathLike) for item in data):
        if not data:
            raise ValueError("data is an empty list: name at least one file")
        return FileSource(
            list(chain.from_iterable(map(find_files, data))),
            label=os.fsdecode(data[0]) if len(data) == 1 else "the list of files",
        )
    if isinstance(data, Mapping):
        return _ArraySource(data)
    if _is_pandas_frame(data):
        return _PandasSource(data)
    if isinstance(data, pa.Table | pa.RecordBatch):
        return _TableSource(data)
    if isinstance(data, pa.RecordBatchReader):
        return _ReaderSource(data)
    if _is_dataset(data):
        return _DatasetSource(data)
    if hasattr(data, "__arrow_c_stream__"):
        return _StreamSource(data)
    if hasattr(data, "__arrow_c_array__"):
        return _TableSource(pa.record_batch(data))
    raise TypeError(f"data must be {ACCEPTED}; got {type(data).__name__}{_suggest_instead(data)}")


def _top_module(data: object) -> str:
    return type(data).__module__.partition(".")[0]


def _is_pandas_frame(data: object) -> bool:
    return _top_module(data) == "pandas" and type(data).__name__ == "DataFrame"


def _is_duckdb_relation(data: object) -> bool:
    return _top_module(data) in ("duckdb", "_duckdb") and hasattr(data, "project")


def _is_dataset(data: object) -> bool:
    if _top_module(data) != "pyarrow":
        return False
    import pyarrow.dataset as ds

    return isinstance(data, ds.Dataset)


def _suggest_instead(data: object) -> str:
    if hasattr(data, "collect"):
        return "; collect it first: data.collect()"
    if hasattr(data, "__array__"):
        return '; name its columns: {"label": ..., "score": ...}'
    return ""


class _TableSource(Source):
    """A pyarrow Table or RecordBatch: slices of its buffers, no copy."""

    label = "the table"

    def __init__(self, table: pa.Table | pa.RecordBatch) -> None:
        self._table = table
        self.column_names = list(table.schema.names)
        self.rows = table.num_rows

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        arrays = [self._table.column(self.column_names.index(column)) for column in columns]
        yield from pa.table(arrays, names=columns).to_batches()


class _ArraySource(Source):
    """A dict of arrays. Only requested columns are converted to Arrow: the others may hold anything."""

    label = "data"

    def __init__(self, arrays: Mapping[Any, Any]) -> None:
        if not arrays:
            raise ValueError("data is an empty dict: give one array per column")
        self._arrays = arrays
        self.column_names = list(arrays)
        lengths = {name: _count_rows(name, values) for name, values in arrays.items()}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name}: {length}" for name, length in list(lengths.items())[:LISTED_COLUMNS])
            raise ValueError(f"data has columns of different lengths: {found}; give each the same number of rows")
        self.rows = next(iter(lengths.values()))

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        arrays = [_arrow_column(column, self._arrays[column], column in self.texts | self.lists) for column in columns]
        yield from pa.table(arrays, names=columns).to_batches()


class _PandasSource(_ArraySource):
    """A pandas data frame, column by column: its own Arrow export would convert every column."""

    label = "the data frame"

    def __init__(self, frame: Any) -> None:
        self._arrays = frame
        self.column_names = list(frame.columns)
        self.rows = len(frame)


def _count_rows(name: object, values: Any) -> int:
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise TypeError(f"data[{name!r}] must be a one-dimensional array or a list; got {type(values).__name__}")
    try:
        return len(values)
    except TypeError:  # NumPy's zero-dimensional arrays have __len__ but no length
        raise ValueError(f"data[{name!r}] is a single value; give an array with one value per row") from None


def _arrow_column(name: str, values: Any, lists: bool = False) -> pa.Array | pa.ChunkedArray:
    """One column of a dict, without a copy if Arrow can wrap the buffer. With `lists`, values may be lists."""
    try:
        is_matrix = lists and isinstance(values, np.ndarray) and values.ndim == 2
        column = _convert_matrix(name, values) if is_matrix else _convert_column(name, values)
    except UnicodeEncodeError as error:
        row, text = next((row, value) for row, value in enumerate(values) if _has_surrogate(value))
        raise ValueError(f"data[{name!r}] has {text!r} at row {row}, which is not valid Unicode") from error
    except (pa.ArrowException, OverflowError) as error:
        raise ValueError(f"data[{name!r}] cannot be read as one column: {first_line(error)}") from error
    if pa.types.is_nested(column.type) and not lists:
        raise ValueError(f"data[{name!r}] holds {column.type}; it must be one-dimensional, with one value per row")
    return column


def _has_surrogate(value: Any) -> bool:
    """Whether it is a text, or a list with a text, that UTF-8 cannot encode."""
    if isinstance(value, list | tuple):
        return any(map(_has_surrogate, value))
    return isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value)


def _convert_column(name: str, values: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if type(values).__module__.partition(".")[0] == "pandas":
        return pa.array(values, from_pandas=True)
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    if hasattr(values, "__arrow_c_array__"):
        return pa.array(values)
    if isinstance(values, list | tuple | range):
        return pa.array(values)
    return _convert_numpy(name, values if isinstance(values, np.ndarray) else np.asarray(values))


def _convert_matrix(name: str, matrix: np.ndarray[Any, Any]) -> pa.Array:
    """A matrix as lists: one for each row."""
    entries = _convert_numpy(name, np.ascontiguousarray(matrix).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(entries, matrix.shape[1])


def _convert_numpy(name: str, array: np.ndarray[Any, Any]) -> pa.Array | pa.ChunkedArray:
    if array.ndim != 1:
        raise ValueError(f"data[{name!r}] must be one-dimensional; got shape {array.shape}")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind in "cgV":
        raise ValueError(f"data[{name!r}] has dtype {array.dtype}; give integers, floats, booleans or strings")
    if array.dtype.kind == "T":  # NumPy's StringDType, which not every pyarrow reads
        array = array.astype(object)
    if array.dtype.kind == "U" and _has_inner_nul(array):  # Arrow would end the text there
        array = array.astype(object)
    # NaN marks a missing value in object arrays only; in a float array it stays NaN.
    return pa.array(array, from_pandas=array.dtype == object)


def _has_inner_nul(array: np.ndarray[Any, Any]) -> bool:
    """Whether a fixed-width text has a NUL before its end."""
    if array.dtype.itemsize <= 4 or not array.shape[0]:
        return False
    codes = np.ascontiguousarray(array).view(np.uint32).reshape(array.shape[0], -1)
    return bool(((codes[:, :-1] == 0) & (codes[:, 1:] != 0)).any())


class _ReaderSource(Source):
    """A pyarrow RecordBatchReader, which can be read once."""

    label = "the RecordBatchReader"

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader: pa.RecordBatchReader | None = reader
        self.column_names = list(reader.schema.names)

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        reader, self._reader = self._reader, None
        if reader is None:
            raise ValueError(f"data: {self.label} {READ_ONCE}")
        return self._drain(reader, columns)

    def _drain(self, reader: pa.RecordBatchReader, columns: list[str]) -> Iterator[pa.RecordBatch]:
        rows = 0
        for batch in reader:
            rows += batch.num_rows
            yield _select_columns(batch, columns)
        if rows == 0:
            # Arrow cannot distinguish an exhausted reader from an empty one.
            raise ValueError(f"data: {self.label} gave no rows: it is empty, or it {READ_ONCE}")


class _StreamSource(Source):
    """Any other object with the Arrow PyCapsule protocol."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self.label = f"the {type(data).__name__}"
        # The stream that is opened for its schema is also read: a second stream could run a query again.
        self._reader: pa.RecordBatchReader | None = None
        if _is_duckdb_relation(data):
            self.column_names = list(data.columns)
        else:
            self._reader = pa.RecordBatchReader.from_stream(data)
            self.column_names = list(self._reader.schema.names)
        counts = (getattr(data, name, None) for name in ("num_rows", "height"))
        self.rows = next((rows for rows in counts if isinstance(rows, int)), None)

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        reader, self._reader = self._reader, None
        if reader is None:
            reader = pa.RecordBatchReader.from_stream(_project_columns(self._data, columns))
        return (_select_columns(batch, columns) for batch in reader)


def _project_columns(data: Any, columns: list[str]) -> Any:
    """Select columns of a DuckDB relation, which is computed when it is read; elsewhere unread columns cost nothing."""
    if not _is_duckdb_relation(data):
        return data
    return data.project(", ".join('"' + column.replace('"', '""') + '"' for column in columns))


class _DatasetSource(Source):
    """A pyarrow Dataset, with the filter, filesystem and format options of its owner."""

    label = "the dataset"

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.column_names = list(dataset.schema.names)

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        last_path = None
        try:
            scanner = self._dataset.scanner(
                columns=columns,
                batch_size=self.batch_rows,
                batch_readahead=DATASET_BATCH_READAHEAD,
                fragment_readahead=DATASET_FRAGMENT_READAHEAD,
                use_threads=use_threads,
            )
            for tagged in scanner.scan_batches():
                last_path = getattr(tagged.fragment, "path", None)
                yield _select_columns(tagged.record_batch, columns)
        except MemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            bad_path = self._unreadable_file(last_path, columns)
            if bad_path is None:
                raise
            raise ValueError(f"{bad_path}, a file of the dataset, cannot be read: {first_line(error)}") from error

    def _unreadable_file(self, last_path: str | None, columns: list[str]) -> str | None:
        """The file that cannot be read. Arrow seldom names it: files after the last good batch are tried one by one."""
        files = list(getattr(self._dataset, "files", []))
        for path in files[files.index(last_path) if last_path in files else 0 :]:
            try:
                fragment = self._dataset.format.make_fragment(path, self._dataset.filesystem)
                present = [column for column in columns if column in fragment.physical_schema.names]
                deque(fragment.scanner(columns=present, batch_size=BATCH_ROWS).to_batches(), maxlen=0)
            except (pa.ArrowException, OSError):
                return str(path)
        return None


def _select_columns(batch: pa.RecordBatch, columns: list[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([batch.column(column) for column in columns], names=columns)
