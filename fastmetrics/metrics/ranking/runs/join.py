"""Joins a run with its qrels: rows are grouped by query, and the items of a query are joined.

The rows of a query are nearly always contiguous already. Then no row is moved and the columns are used as they are.
Lists are in the order in which their queries first appear in the run. Judged queries without a row in the run are last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._kernels.ranking import run_qrels_join
from fastmetrics.metrics.ranking.lists.ids import (
    DictionaryIds,
    DictKeys,
    Ids,
    IntegerIds,
    QueryIds,
    QuerySegments,
    TextIds,
    align_ids,
)

ROWS_PER_CHUNK = 1 << 16
MISSING = ("zero", "drop", "raise")
MOST_NAMED = 5  # queries that are named in a message or in the coverage


class RowsByQuery(NamedTuple):
    """Rows grouped by query: query q has the rows offsets[q]..offsets[q + 1].

    `order` holds the original number of each row; it is None if no row was moved. `numbered` has the queries as
    texts, where it was needed.
    """

    queries: Ids
    numbered: run_qrels_join.NumberedTexts | None
    offsets: np.ndarray
    item: Ids
    values: np.ndarray
    order: np.ndarray | None
    name: str
    group: str = "query"

    @property
    def n_queries(self) -> int:
        return int(self.offsets.shape[0]) - 1

    def original_row(self, row: int) -> int:
        """The number of a row in the user's data."""
        return row if self.order is None else int(self.order[row])


class JoinCoverage(NamedTuple):
    """How many queries matched, and which did not, in the order of their first appearance."""

    matched: int
    unjudged: Ids | DictKeys
    missing: Ids | DictKeys


class JoinedLists(NamedTuple):
    """Lists of scores and grades: one per query that both have, and one per missing query if these count.

    `grades` (float32 or float64) is -1 if an item is not judged. `unretrieved` holds the grades of judged items that
    the run does not have. `items` returns the items of the rows, in the order of `scores`.
    """

    scores: np.ndarray
    grades: np.ndarray
    offsets: np.ndarray
    unretrieved: np.ndarray
    unretrieved_offsets: np.ndarray
    queries: Ids | DictKeys
    items: Callable[[], Ids]
    coverage: JoinCoverage


def find_segment_starts(query: Ids | DictionaryIds, n_threads: int) -> np.ndarray:
    """The first row of every segment. A segment is a run of neighboring rows of one query."""
    rows = query.rows
    starts = np.empty(rows, np.int64)
    edges = [*range(0, rows, ROWS_PER_CHUNK), rows]

    def find(chunk: int) -> int:
        start, stop = edges[chunk], edges[chunk + 1]
        if isinstance(query, TextIds):
            return run_qrels_join.text_segments(query.data, query.starts, query.stops, start, stop, starts)
        values = query.codes if isinstance(query, DictionaryIds) else query.values
        return run_qrels_join.integer_segments(values, start, stop, starts)

    counts = for_each(len(edges) - 1, lambda: find, n_threads)
    return np.concatenate([starts[edge : edge + count] for edge, count in zip(edges, counts, strict=False)])


def group_by_query(query: QueryIds, item: Ids, values: np.ndarray, name: str, n_threads: int = 1) -> RowsByQuery:
    """Bring the rows of each query together. No row is moved if every query has one segment.

    Values are scores (float32 or float64, none of them NaN) or relevances (float64); errors name the data `name`.
    """
    rows = query.rows
    segment_ids: Ids
    if isinstance(query, QuerySegments):
        starts, segment_ids = query.starts, query.ids
    else:
        starts = find_segment_starts(query, n_threads)
        segment_ids = query.take(starts)
    numbered = number_ids(segment_ids)
    n_queries = numbered.firsts.shape[0]
    if n_queries == starts.shape[0]:
        return RowsByQuery(segment_ids, numbered, np.append(starts, rows), item, values, None, name)
    offsets, order = np.empty(n_queries + 1, np.int64), np.empty(rows, np.int64)
    run_qrels_join.sort_by_query(starts, rows, numbered.numbers, offsets, order)
    queries = segment_ids.take(numbered.firsts)
    return RowsByQuery(queries, numbered, offsets, item.take(order), values[order], order, name)


def number_ids(ids: Ids) -> run_qrels_join.NumberedTexts:
    """The ids as numbered texts."""
    return run_qrels_join.NumberedTexts(*ids.as_texts().spans)


def join_run(run: RowsByQuery, qrels: RowsByQuery, *, missing: str = "zero", n_threads: int = 1) -> JoinedLists:
    """Join a run with its qrels.

    Queries of the run without a judgment are left out and counted. A judged query without a row in the run is an empty
    list (missing="zero"), is left out ("drop"), or is an error ("raise").

    Raises
    ------
    ValueError
        An item occurs twice in a query; a query is missing and missing="raise".
    TypeError
        The ids of run and qrels are of different kinds.
    """
    queries, judged = align_ids(run.queries, qrels.queries, f"queries of {run.name} and {qrels.name} are")
    run, qrels = run._replace(queries=queries), with_queries(qrels, judged)
    matches = (qrels.numbered or number_ids(qrels.queries)).look_up(*run.queries.as_texts().spans)  # -1 for none
    return join_matched(run, qrels, matches, missing, n_threads)


def with_queries(rows: RowsByQuery, queries: Ids) -> RowsByQuery:
    """The rows with the same queries in a form that can be compared with other ids."""
    if isinstance(queries, IntegerIds) == isinstance(rows.queries, IntegerIds):
        return rows._replace(queries=queries)
    return rows._replace(queries=queries, numbered=None)


def join_matched(run: RowsByQuery, qrels: RowsByQuery, numbers: np.ndarray, missing: str, threads: int) -> JoinedLists:
    """Join the items of each query. Query i of the run is query numbers[i] of the qrels, or none (-1)."""
    kept = numbers >= 0
    n_kept = int(np.count_nonzero(kept))
    is_missing = np.ones(qrels.n_queries, np.bool_)
    is_missing[numbers[kept]] = False
    missing_queries = np.flatnonzero(is_missing)
    if missing == "raise" and missing_queries.shape[0]:
        raise_missing(run.name, qrels.name, qrels.queries.take(missing_queries))
    n_lists = n_kept + (missing_queries.shape[0] if missing == "zero" else 0)
    spans = np.zeros((n_lists, 4), np.int64)
    spans[:n_kept, 0] = run.offsets[:-1][kept]
    spans[:n_kept, 1] = run.offsets[1:][kept]
    judged = numbers[kept] if n_lists == n_kept else np.concatenate((numbers[kept], missing_queries))
    spans[:, 2] = qrels.offsets[:-1][judged]
    spans[:, 3] = qrels.offsets[1:][judged]
    grades, unretrieved, unretrieved_offsets = join_items(run, qrels, spans, threads)
    scores = run.values
    sizes = spans[:, 1] - spans[:, 0]
    rows_kept = None
    if n_kept < run.n_queries:
        rows_kept = np.repeat(kept, np.diff(run.offsets))
        scores, grades = scores[rows_kept], grades[rows_kept]
    offsets = np.append(0, np.cumsum(sizes))
    kept_queries = np.flatnonzero(kept)
    missing_ids = qrels.queries.take(missing_queries)
    coverage = JoinCoverage(n_kept, run.queries.take(np.flatnonzero(~kept)), missing_ids)
    return JoinedLists(
        scores, grades, offsets, unretrieved, unretrieved_offsets,
        concatenate_ids(run.queries.take(kept_queries), missing_ids if n_lists > n_kept else None),
        lambda: run.item if rows_kept is None else run.item.take(np.flatnonzero(rows_kept)), coverage,
    )  # fmt: skip


def concatenate_ids(first: Ids, last: Ids | None) -> Ids:
    """Two columns of ids, one after the other."""
    if last is None or not last.rows:
        return first
    if isinstance(first, IntegerIds) and isinstance(last, IntegerIds):
        return IntegerIds(np.concatenate((first.values, last.values)), first.is_unsigned or last.is_unsigned)
    first_texts, last_texts = first.as_texts(), last.as_texts()
    shift = first_texts.data.shape[0]
    return TextIds(
        np.concatenate((first_texts.data, last_texts.data)),
        np.concatenate((first_texts.starts, last_texts.starts + shift)),
        np.concatenate((first_texts.stops, last_texts.stops + shift)),
        first.kind == "numbers",
    )


def chunk_edges(sizes: np.ndarray) -> list[int]:
    """Edges of chunks of lists: a chunk has about ROWS_PER_CHUNK rows and is joined by one thread."""
    ends = np.cumsum(sizes)
    if not ends.shape[0]:
        return [0]
    cuts = np.searchsorted(ends, np.arange(ROWS_PER_CHUNK, int(ends[-1]), ROWS_PER_CHUNK), side="left") + 1
    return [0, *np.unique(cuts[cuts < ends.shape[0]]).tolist(), int(ends.shape[0])]


def join_items(
    run: RowsByQuery, qrels: RowsByQuery, spans: np.ndarray, n_threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The grades of the run's rows, the grades of judged items that the run does not have, and the offsets of these."""
    items, judged_items = align_ids(run.item, qrels.item, f"items of {run.name} and {qrels.name} are")
    n_lists = spans.shape[0]
    run_sizes, judged_sizes = spans[:, 1] - spans[:, 0], spans[:, 3] - spans[:, 2]
    sizes = run_sizes + judged_sizes
    # A list has room for all its judged items; the entries that are not used are closed up afterwards.
    unretrieved_starts = np.cumsum(judged_sizes) - judged_sizes
    grades = np.empty(run.values.shape[0], grade_type(qrels.values))
    sparse_unretrieved = np.empty(int(judged_sizes.sum()))
    n_unretrieved = np.zeros(n_lists, np.int64)
    repeated = np.empty((n_lists, 2), np.int64)
    edges = chunk_edges(sizes)
    columns = item_column(items), item_column(judged_items)

    def join(chunk: int) -> bool:
        return run_qrels_join.join(
            *columns, qrels.values, spans, unretrieved_starts, edges[chunk], edges[chunk + 1], grades,
            sparse_unretrieved, n_unretrieved, repeated,
        )  # fmt: skip

    has_repeated = for_each(len(edges) - 1, lambda: join, n_threads)
    if any(has_repeated):
        raise_repeated(run, qrels, spans, repeated)
    offsets = np.append(0, np.cumsum(n_unretrieved))
    unretrieved = np.empty(int(offsets[-1]))
    run_qrels_join.close_gaps(sparse_unretrieved, unretrieved_starts, offsets, unretrieved)
    return grades, unretrieved, offsets


def item_column(items: Ids) -> run_qrels_join.ItemColumn:
    """Items as the kernel reads them."""
    if isinstance(items, IntegerIds):
        return run_qrels_join.ItemColumn(items.values)
    return run_qrels_join.ItemColumn(*items.spans)


def grade_type(relevance: np.ndarray) -> type[np.floating[Any]]:
    """float32 if it represents every relevance exactly, else float64: narrow grades are faster to read and write."""
    with np.errstate(over="ignore"):
        narrow = relevance.astype(np.float32)
    return np.float32 if np.array_equal(narrow, relevance) else np.float64


def raise_repeated(run: RowsByQuery, qrels: RowsByQuery, spans: np.ndarray, repeated: np.ndarray) -> NoReturn:
    """Raise for the first row whose item already occurred in its query: of the run, else of the qrels."""
    side, rows = (0, run) if (repeated[:, 0] >= 0).any() else (1, qrels)
    lists = np.flatnonzero(repeated[:, side] >= 0)
    original, row, number = min(
        (rows.original_row(int(repeated[at, side])), int(repeated[at, side]), int(at)) for at in lists
    )
    item = rows.item.at(row)
    start = int(spans[number, 2 * side])
    first = next((earlier for earlier in range(start, row) if rows.item.at(earlier) == item), None)
    if first is None:
        validation.raise_changed()
    query = rows.queries.at(int(np.searchsorted(rows.offsets, row, side="right")) - 1)
    where = (
        f"rows {rows.original_row(first)} and {original}"
        if rows.group == "query"
        else f"places {first - start} and {row - start}"
    )
    raise ValueError(
        f"{rows.name} has item {item!r} twice in {rows.group} {query!r}, at {where}: an item occurs once in a list"
    )


def raise_missing(run: str, qrels: str, missing: Ids | DictKeys) -> NoReturn:
    raise ValueError(f"{run} has no row of {describe_queries(missing)} of {qrels}, and missing='raise'")


def describe_queries(queries: Ids | DictKeys) -> str:
    """For messages: the number of queries, and the first few of them."""
    names = [repr(queries.at(row)) for row in range(min(queries.rows, MOST_NAMED))]
    names += ["..."] * (queries.rows > MOST_NAMED)
    return f"{queries.rows} quer{'y' if queries.rows == 1 else 'ies'} ({', '.join(names)})"
