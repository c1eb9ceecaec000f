"""Reads runs and qrels into columns of ids and numbers: from tables of any library, TREC files, and dicts of dicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.arrow_columns import describe_no_table, is_pandas_frame, read_arrow_table
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import library_of
from fastmetrics._core.parallel import for_each
from fastmetrics.metrics.ranking.lists.ids import (
    DictionaryIds,
    QuerySegments,
    TextIds,
    as_ids,
    as_query_ids,
    ids_from_objects,
)
from fastmetrics.metrics.ranking.runs.join import JoinedLists, group_by_query, join_run
from fastmetrics.metrics.ranking.runs.join_dicts import check_item_dict, check_nested, is_nested, join_dicts
from fastmetrics.metrics.ranking.runs.trec_files import TrecFile, TrecQrels, TrecRun, read_qrels, read_run

ACCEPTED = (
    "a table (pyarrow, polars, pandas, anything with __arrow_c_stream__), a dict of columns, a dict of dicts, the path "
    "of a TREC file, or what read_{name} returns"
)
TABLE_FILES = {
    ".parquet": "pyarrow.parquet.read_table(path)", ".pq": "pyarrow.parquet.read_table(path)",
    ".arrow": "polars.read_ipc(path)", ".feather": "polars.read_ipc(path)", ".ipc": "polars.read_ipc(path)",
    ".csv": "pyarrow.csv.read_csv(path)",
}  # fmt: skip
ORDER = "the order is qrels, run"
COLUMN_OPTIONS = {"run": ("query", "item", "score"), "qrels": ("query", "item", "relevance")}


class TableColumns(NamedTuple):
    """The names of the columns of a table."""

    query: str
    item: str
    number: str


def join_sources(
    run: Any, qrels: Any, columns: tuple[TableColumns, TableColumns], *, missing: str, n_threads: int
) -> JoinedLists:
    """Join a run and its qrels of any kinds. `columns` are the names for the run and for the qrels."""
    run, qrels = unwrap_ranx(run), unwrap_ranx(qrels)
    if is_nested(run) and is_nested(qrels):
        return check_order(join_dicts(run, qrels, missing=missing))
    run_rows, judged_rows = (
        group_by_query(*read_source(data, name, names, n_threads), n_threads=n_threads)
        for data, name, names in ((run, "run", columns[0]), (qrels, "qrels", columns[1]))
    )
    return check_order(join_run(run_rows, judged_rows, missing=missing, n_threads=n_threads))


def check_order(join: JoinedLists) -> JoinedLists:
    """Raise for scores where the relevance should be: it has fractions, and the scores are all whole numbers."""
    relevance = (join.grades, join.unretrieved)
    if not all((values == np.floor(values)).all() for values in relevance) and join.scores.shape[0]:
        scores = join.scores
        if np.isfinite(scores).all() and (scores == np.floor(scores)).all():
            found = next(float(values[values != np.floor(values)][0]) for values in relevance
                         if (values != np.floor(values)).any())
            raise ValueError(
                f"qrels has the relevance {found!r} while all scores of the run are whole numbers: they look swapped; "
                f"{ORDER}"
            )
    return join


def unwrap_ranx(data: Any) -> Any:
    """A ranx.Run or ranx.Qrels as a dict of dicts; other data unchanged."""
    return data.to_dict() if library_of(data) == "ranx" else data


def read_source(data: Any, name: str, columns: TableColumns, n_threads: int) -> tuple[Any, Any, np.ndarray, str]:
    """The query, item and number of every row, and the name: "run" or "qrels"."""
    if isinstance(data, (str, os.PathLike)):
        check_file_suffix(os.fspath(data), name)
        data = (read_run if name == "run" else read_qrels)(data, n_threads=n_threads)
    if isinstance(data, TrecFile):
        wanted = TrecRun if name == "run" else TrecQrels
        if not isinstance(data, wanted):
            raise TypeError(f"{name} must be a {wanted.__name__}; found {data!r}: {ORDER}")
        query = QuerySegments(data.segments[:-1], TextIds(*data.segment_query), len(data))
        return query, TextIds(*data.item), data.numbers.astype(np.float64, copy=False), name
    if is_nested(data):
        return nested_columns(data, name)
    table = table_columns(data, name, columns)
    labels = [f"{name}[{column!r}]" for column in columns]
    readers: list[Callable[[Any, str], Any]] = [as_query_ids, as_ids, partial(as_numbers, name=name)]
    query, item, values = for_each(
        len(table), lambda: lambda number: readers[number](table[number], labels[number]), n_threads
    )
    for label, rows in ((labels[1], item.rows), (labels[2], values.shape[0])):
        validation.check_lengths(query.rows, rows, labels[0], label)
    return query, item, values, name


def check_file_suffix(path: str, name: str) -> None:
    """Raise for a file of tables: the user reads it with its library."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix in TABLE_FILES:
        raise ValueError(
            f"{name} is the path of a {suffix} file; only TREC files are read from a path: read it first, say with "
            f"{TABLE_FILES[suffix]}"
        )


def as_numbers(values: Any, label: str, name: str) -> np.ndarray:
    """Scores without NaN, or finite relevances (float64)."""
    if name == "qrels":
        return validation.as_numbers(values, label).astype(np.float64, copy=False)
    scores = validation.as_scores(values, label)
    # The sum is NaN if a score is NaN, or if there are infinities of both signs.
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isnan(scores.sum()) and np.isnan(scores).any():
            validation.raise_nan(scores, label)
    return scores


def nested_columns(data: Mapping[Any, Any], name: str) -> tuple[Any, Any, np.ndarray, str]:
    """A dict of dicts as columns, for a join with a table."""
    check_nested(data, name)
    lists = [check_item_dict(items, name, query) for query, items in data.items()]
    codes = np.repeat(np.arange(len(lists)), [len(items) for items in lists])
    if not codes.shape[0]:
        raise ValueError(f"{name} has no item in any query: at least one is needed")
    values = as_numbers(list(chain.from_iterable(items.values() for items in lists)), name, name)
    queries = ids_from_objects(list(data), f"queries of {name}")
    items = ids_from_objects(list(chain.from_iterable(lists)), f"items of {name}")
    return DictionaryIds(codes, queries), items, values, name


def table_columns(data: Any, name: str, columns: TableColumns) -> list[Any]:
    """The three columns of a table, as objects of its library."""
    is_frame = is_pandas_frame(data)
    if is_frame or isinstance(data, Mapping):
        check_columns(list(data), columns, name, "a data frame" if is_frame else "a dict of columns")
        return [data[column] for column in columns]
    table = read_arrow_table(data, columns)
    if table is None:
        raise TypeError(f"{name} must be {ACCEPTED.format(name=name)}; found {describe_no_table(data)}")
    check_columns(table.schema.names, columns, name, f"a {type(data).__name__}")
    return [table.column(column) for column in columns]


def check_columns(available: list[Any], columns: TableColumns, name: str, kind: str) -> None:
    for option, column in zip(COLUMN_OPTIONS[name], columns, strict=True):
        n_columns = available.count(column)
        if n_columns == 0:
            raise ValueError(f"{option}: {validation.missing_column_text(column, f'{name}, {kind}', available)}")
        if n_columns > 1:
            raise ValueError(f"{option}: {name}, {kind}, has {n_columns} columns named {column!r}; rename all but one")
