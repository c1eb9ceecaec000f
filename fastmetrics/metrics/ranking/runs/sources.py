"""Runs and ground truths as they come: tables of any kind, TREC files, dicts of dicts -> columns of ids and numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.parallel import for_each
from fastmetrics.metrics.ranking.dicts import as_dict, check_nested, is_nested, join_dicts
from fastmetrics.metrics.ranking.ids import Codes, Segments, Texts, as_ids, as_query_ids, of_objects
from fastmetrics.metrics.ranking.joined import Joined, QrelsColumns, RunColumns, join_run
from fastmetrics.metrics.ranking.trec_files import TrecFile, TrecQrels, TrecRun, read_qrels, read_run

ACCEPTED = (
    "a table (pyarrow, polars, pandas, anything with __arrow_c_stream__), a dict of columns, a dict of dicts, the path "
    "of a TREC file, or what read_{name} returns"
)
TABLE_FILES = {
    ".parquet": "pyarrow.parquet.read_table(path)", ".pq": "pyarrow.parquet.read_table(path)",
    ".arrow": "polars.read_ipc(path)", ".feather": "polars.read_ipc(path)", ".ipc": "polars.read_ipc(path)",
    ".csv": "pyarrow.csv.read_csv(path)",
}  # fmt: skip
OPTIONS = {"run": ("query", "item", "score"), "qrels": ("query", "item", "relevance")}


class Columns(NamedTuple):
    """What the columns of a table are called."""

    query: str
    item: str
    number: str


def join_sources(run: Any, qrels: Any, columns: tuple[Columns, Columns], *, missing: str, n_threads: int) -> Joined:
    """A run and its ground truth, joined, of whatever kind each is. `columns` are those of the run and of the qrels."""
    run, qrels = plain_dicts(run), plain_dicts(qrels)
    if is_nested(run) and is_nested(qrels):
        return join_dicts(run, qrels, missing=missing)
    return join_run(
        RunColumns(*open_source(run, "run", columns[0], n_threads)),
        QrelsColumns(*open_source(qrels, "qrels", columns[1], n_threads)),
        missing=missing, n_threads=n_threads,
    )  # fmt: skip


def plain_dicts(data: Any) -> Any:
    """What ranx keeps in arrays of its own, as dicts."""
    return data.to_dict() if type(data).__module__.partition(".")[0] == "ranx" else data


def open_source(data: Any, name: str, columns: Columns, n_threads: int) -> tuple[Any, ...]:
    """Query, item and number of every row, and the name: "run" or "qrels"."""
    if isinstance(data, (str, os.PathLike)):
        refuse_other_file(os.fspath(data), name)
        read = read_run if name == "run" else read_qrels
        return trec_columns(read(data, n_threads=n_threads), name)
    if isinstance(data, TrecFile):
        wanted = TrecRun if name == "run" else TrecQrels
        if not isinstance(data, wanted):
            raise TypeError(f"{name} must be a {wanted.__name__}; found {data!r}")
        return trec_columns(data, name)
    if is_nested(data):
        return nested_columns(data, name)
    parts = table_columns(data, name, columns)
    called = [f"{name}[{column!r}]" for column in columns]
    readers: list[Callable[[Any, str], Any]] = [as_query_ids, as_ids, partial(as_numbers, name=name)]
    opened: list[Any] = [None] * len(parts)

    def open_column(unit: int) -> None:
        opened[unit] = readers[unit](parts[unit], called[unit])

    for_each(len(parts), lambda: open_column, n_threads)
    query, item, values = opened
    for other, rows in ((called[1], item.rows), (called[2], values.shape[0])):
        inputs.check_lengths(query.rows, rows, called[0], other)
    return query, item, values, name


def refuse_other_file(path: str, name: str) -> None:
    """Tables in files are for the library that reads them."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix in TABLE_FILES:
        raise ValueError(
            f"{name} is the path of a {suffix} file; paths are those of TREC files: read it first, say with "
            f"{TABLE_FILES[suffix]}"
        )


def as_numbers(values: Any, called: str, name: str) -> np.ndarray:
    """Scores, none of them NaN, or finite relevances (float64)."""
    if name == "qrels":
        return inputs.as_numbers(values, called).astype(np.float64, copy=False)
    scores = inputs.as_scores(values, called)
    # A sum is NaN where a score is, or where infinities of both signs meet.
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isnan(scores.sum()) and np.isnan(scores).any():
            inputs.raise_nan(scores, called)
    return scores


def trec_columns(data: TrecFile, name: str) -> tuple[Any, ...]:
    query = Segments(data.segments[:-1], Texts(*data.segment_query), len(data))
    return query, Texts(*data.item), data.values.astype(np.float64, copy=False), name


def nested_columns(data: Mapping[Any, Any], name: str) -> tuple[Any, ...]:
    """A dict of dicts as columns, for a join with a table."""
    check_nested(data, name)
    lists = [as_dict(items, name, query) for query, items in data.items()]
    codes = np.repeat(np.arange(len(lists)), [len(items) for items in lists])
    if not codes.shape[0]:
        raise ValueError(f"{name} has no item in any query: at least one is needed")
    values = as_numbers(list(chain.from_iterable(items.values() for items in lists)), name, name)
    queries = of_objects(list(data), f"queries of {name}")
    return Codes(codes, queries), of_objects(list(chain.from_iterable(lists)), f"items of {name}"), values, name


def table_columns(data: Any, name: str, columns: Columns) -> list[Any]:
    """The three columns of a table, as its library has them."""
    kind = type(data)
    module = kind.__module__.partition(".")[0]
    if isinstance(data, Mapping):
        check_columns(list(data), columns, name, "a dict of columns")
        return [data[column] for column in columns]
    if module == "pandas" and kind.__name__ == "DataFrame":
        check_columns(list(data.columns), columns, name, "a data frame")
        return [data[column] for column in columns]
    if module == "pyarrow" and hasattr(data, "read_all"):
        data = data.read_all()
    elif module == "pyarrow" and hasattr(data, "to_table"):
        data = data.to_table(columns=[column for column in dict.fromkeys(columns) if column in data.schema.names])
    elif module != "pyarrow" and (hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")):
        data = read_stream(data)
    if not (hasattr(data, "column") and hasattr(data, "schema")):
        hint = "; collect it first: data.collect()" if hasattr(data, "collect") else ""
        raise TypeError(f"{name} must be {ACCEPTED.format(name=name)}; found {kind.__name__}{hint}")
    check_columns(data.schema.names, columns, name, f"a {kind.__name__}")
    return [data.column(column) for column in columns]


def read_stream(data: Any) -> Any:
    """Anything that speaks the Arrow PyCapsule protocol, as a pyarrow table."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("reading tables needs pyarrow: pip install 'fastmetrics[arrow]'") from error
    if hasattr(data, "__arrow_c_stream__"):
        return pyarrow.RecordBatchReader.from_stream(data).read_all()
    return pyarrow.record_batch(data)


def check_columns(available: list[Any], columns: Columns, name: str, what: str) -> None:
    for option, column in zip(OPTIONS[name], columns, strict=True):
        found = available.count(column)
        if found == 0:
            raise ValueError(f"{option}: {inputs.no_column(column, f'{name}, {what}', available)}")
        if found > 1:
            raise ValueError(f"{option}: {name}, {what}, has {found} columns named {column!r}; rename all but one")
