"""A run and its ground truth arranged by query and joined by item.

Rows of a query nearly always stand together already; then nothing is moved and the columns are used where they are.
Lists come in the order in which their queries first appear in the run, judged queries without a row in the run last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels import joins
from fastmetrics.metrics.ranking.ids import Codes, Ids, Integers, Names, QueryIds, Segments, Texts, align

UNIT_ROWS = 1 << 16
MISSING = ("zero", "drop", "raise")
NAMED = 5  # queries that a message or a coverage names


class RunColumns(NamedTuple):
    """Retrieved items: query, item and score (float32 or float64, none of them NaN) of every row."""

    query: QueryIds
    item: Ids
    score: np.ndarray
    name: str = "run"


class QrelsColumns(NamedTuple):
    """Judged items: query, item and relevance (float64) of every row."""

    query: QueryIds
    item: Ids
    relevance: np.ndarray
    name: str = "qrels"


class Arranged(NamedTuple):
    """Rows by query: query q has the rows offsets[q]..offsets[q + 1].

    `order` says where each row was, None where it stands where it was. `table` finds a query by its bytes.
    """

    queries: Ids
    table: np.ndarray
    offsets: np.ndarray
    item: Ids
    values: np.ndarray
    order: np.ndarray | None
    name: str
    group: str = "query"

    @property
    def n_queries(self) -> int:
        return int(self.offsets.shape[0]) - 1

    def row(self, place: int) -> int:
        """The row, as the user counts, that stands at a place."""
        return place if self.order is None else int(self.order[place])


class JoinCoverage(NamedTuple):
    """What met and what did not; ids of queries in the order of their appearance."""

    matched: int
    unjudged: Ids | Names
    missing: Ids | Names


class Joined(NamedTuple):
    """Lists of scores and grades: one per query of both, and per missing query where these count.

    `grades` (float32 or float64) is -1 where an item is not judged; `unretrieved` are the grades of judged items that
    the run does not have. `items` gives the items of the rows, as they stand here.
    """

    scores: np.ndarray
    grades: np.ndarray
    offsets: np.ndarray
    unretrieved: np.ndarray
    unretrieved_offsets: np.ndarray
    queries: Ids | Names
    items: Callable[[], Ids]
    coverage: JoinCoverage


def find_heads(query: Ids | Codes, n_threads: int) -> np.ndarray:
    """The rows that begin a segment: neighbouring rows of one query."""
    rows = query.rows
    heads = np.empty(rows, np.int64)
    edges = [*range(0, rows, UNIT_ROWS), rows]
    counts = [0] * (len(edges) - 1)

    def find(unit: int) -> None:
        start, stop = edges[unit], edges[unit + 1]
        if isinstance(query, Texts):
            counts[unit] = joins.text_segments(query.data, query.starts, query.stops, start, stop, heads)
        else:
            values = query.codes if isinstance(query, Codes) else query.values
            counts[unit] = joins.integer_segments(values, start, stop, heads)

    for_each(len(counts), lambda: find, n_threads)
    return np.concatenate([heads[edge : edge + count] for edge, count in zip(edges, counts, strict=False)])


def table_size(n_keys: int, entries: int = 2) -> int:
    """A power of two with room for so many entries a key."""
    return max(32, 1 << (entries * n_keys - 1).bit_length())


def arrange(columns: RunColumns | QrelsColumns, n_threads: int = 1) -> Arranged:
    """Bring the rows of a query together; nothing is moved where they stand together."""
    query, item, values, name = columns
    rows = query.rows
    head_ids: Ids
    if isinstance(query, Segments):
        heads, head_ids = query.heads, query.ids
    else:
        heads = find_heads(query, n_threads)
        head_ids = query.take(heads)
    texts = head_ids.as_texts()
    n_heads = heads.shape[0]
    table = np.zeros(table_size(n_heads), np.uint64)
    numbers, firsts = np.empty(n_heads, np.int64), np.empty(n_heads, np.int64)
    n_queries = joins.number_texts(texts.data, texts.starts, texts.stops, table, numbers, firsts)
    if n_queries == n_heads:
        offsets = np.append(heads, rows)
        return Arranged(head_ids, table, offsets, item, values, None, name)
    offsets, order = np.zeros(n_queries + 1, np.int64), np.empty(rows, np.int64)
    joins.bring_together(heads, rows, numbers, offsets, order)
    queries = head_ids.take(firsts[:n_queries])
    return Arranged(queries, table, offsets, item.take(order), values[order], order, name)


def match_queries(run: Arranged, qrels: Arranged) -> np.ndarray:
    """For every query of the run its number in the qrels, -1 where there is none."""
    align(run.queries, qrels.queries, f"queries of {run.name} and {qrels.name} are")
    ours, theirs = run.queries.as_texts(), qrels.queries.as_texts()
    numbers = np.empty(run.n_queries, np.int64)
    joins.look_up_texts(
        theirs.data, theirs.starts, theirs.stops, qrels.table, np.arange(qrels.n_queries), ours.data, ours.starts,
        ours.stops, numbers,
    )  # fmt: skip
    return numbers


def join_run(
    run: RunColumns | Arranged,
    qrels: QrelsColumns | Arranged,
    *,
    missing: str = "zero",
    n_threads: int | None = None,
) -> Joined:
    """Join a run with its ground truth.

    Queries of the run without a judgement are left out and counted. A judged query without a row in the run is an empty
    list (missing="zero"), left out ("drop") or an error ("raise").

    Raises
    ------
    ValueError
        An item twice in a query of either; a missing query and missing="raise".
    TypeError
        Ids of the two are not of one kind.
    """
    inputs.check_option(missing, "missing", MISSING)
    threads = count_threads(n_threads)
    run = run if isinstance(run, Arranged) else arrange(run, threads)
    qrels = qrels if isinstance(qrels, Arranged) else arrange(qrels, threads)
    return join_matched(run, qrels, match_queries(run, qrels), missing, threads)


def join_matched(run: Arranged, qrels: Arranged, numbers: np.ndarray, missing: str, threads: int) -> Joined:
    """Join, query by query, a run whose query i is number numbers[i] of the qrels, or none (-1)."""
    kept = numbers >= 0
    n_kept = int(np.count_nonzero(kept))
    is_missing = np.ones(qrels.n_queries, np.bool_)
    is_missing[numbers[kept]] = False
    absent = np.flatnonzero(is_missing)
    if missing == "raise" and absent.shape[0]:
        refuse_missing(run.name, qrels.name, qrels.queries.take(absent))
    n_lists = n_kept + (absent.shape[0] if missing == "zero" else 0)
    spans = np.zeros((n_lists, 4), np.int64)
    spans[:n_kept, 0] = run.offsets[:-1][kept]
    spans[:n_kept, 1] = run.offsets[1:][kept]
    judged = numbers[kept] if n_lists == n_kept else np.concatenate((numbers[kept], absent))
    spans[:, 2] = qrels.offsets[:-1][judged]
    spans[:, 3] = qrels.offsets[1:][judged]
    grades, unretrieved, unretrieved_offsets = join_items(run, qrels, spans, threads)
    scores = run.values
    sizes = spans[:, 1] - spans[:, 0]
    rows_kept = None
    if n_kept < run.n_queries:
        rows_kept = np.repeat(kept, np.diff(run.offsets))
        scores, grades = scores[rows_kept], grades[rows_kept]
    offsets = np.zeros(n_lists + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    places = np.flatnonzero(kept)
    coverage = JoinCoverage(n_kept, run.queries.take(np.flatnonzero(~kept)), qrels.queries.take(absent))
    return Joined(
        scores, grades, offsets, unretrieved, unretrieved_offsets,
        list_queries(run.queries.take(places), qrels.queries.take(absent) if n_lists > n_kept else None),
        lambda: run.item if rows_kept is None else run.item.take(np.flatnonzero(rows_kept)), coverage,
    )  # fmt: skip


def list_queries(own: Ids, absent: Ids | None) -> Ids:
    """The queries of the run's lists and, behind them, of those missing."""
    if absent is None or not absent.rows:
        return own
    if isinstance(own, Integers) and isinstance(absent, Integers):
        values = np.concatenate((own.values, absent.values))
        return Integers(values, own.is_unsigned or absent.is_unsigned)
    first, second = own.as_texts(), absent.as_texts()
    shift = first.data.shape[0]
    return Texts(
        np.concatenate((first.data, second.data)),
        np.concatenate((first.starts, second.starts + shift)),
        np.concatenate((first.stops, second.stops + shift)),
    )


def units_of(sizes: np.ndarray) -> list[int]:
    """Edges of runs of lists that have about as many rows as a thread takes at once."""
    ends = np.cumsum(sizes)
    if not ends.shape[0]:
        return [0]
    cuts = np.searchsorted(ends, np.arange(UNIT_ROWS, int(ends[-1]), UNIT_ROWS), side="left") + 1
    return [0, *np.unique(cuts[cuts < ends.shape[0]]).tolist(), int(ends.shape[0])]


def join_items(
    run: Arranged, qrels: Arranged, spans: np.ndarray, n_threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grades of the run's rows, grades of the items it does not have, and these lists' offsets."""
    items, judged_items = align(run.item, qrels.item, f"items of {run.name} and {qrels.name} are")
    n_lists = spans.shape[0]
    run_sizes, judged_sizes = spans[:, 1] - spans[:, 0], spans[:, 3] - spans[:, 2]
    sizes = run_sizes + judged_sizes
    room = np.cumsum(judged_sizes) - judged_sizes
    grades = np.empty(run.values.shape[0], grade_type(qrels.values))
    gaps = np.empty(int(judged_sizes.sum()))
    n_unretrieved = np.zeros(n_lists, np.int64)
    repeated = np.empty((n_lists, 2), np.int64)
    edges = units_of(sizes)
    # Eight entries a key below, two from there on: the longest list need not have the largest table.
    longest, many = int(sizes.max(initial=1)), joins.KEYS_OF_LARGE_TABLES
    largest = max(table_size(min(longest, many), 8), table_size(longest))
    met_twice = [False] * len(edges)

    def make_worker() -> Callable[[int], None]:
        table = np.empty(largest, np.uint64)

        def join(unit: int) -> None:
            rest: tuple[Any, ...] = (
                qrels.values, spans, room, edges[unit], edges[unit + 1], table, grades, gaps, n_unretrieved, repeated
            )  # fmt: skip
            if isinstance(items, Texts) and isinstance(judged_items, Texts):
                met_twice[unit] = joins.join_texts(*items, *judged_items, *rest)
            elif isinstance(items, Integers) and isinstance(judged_items, Integers):
                met_twice[unit] = joins.join_integers(items.values, judged_items.values, *rest)

        return join

    for_each(len(edges) - 1, make_worker, n_threads)
    if any(met_twice):
        raise_repeated(run, qrels, spans, repeated)
    offsets = np.zeros(n_lists + 1, np.int64)
    np.cumsum(n_unretrieved, out=offsets[1:])
    unretrieved = np.empty(int(offsets[-1]))
    joins.close_gaps(gaps, room, offsets, unretrieved)
    return grades, unretrieved, offsets


def grade_type(relevance: np.ndarray) -> type[np.floating[Any]]:
    """The narrower type if it holds every relevance: the grades of a run are read and written row by row."""
    with np.errstate(over="ignore"):
        narrow = relevance.astype(np.float32)
    return np.float32 if np.array_equal(narrow, relevance) else np.float64


def raise_repeated(run: Arranged, qrels: Arranged, spans: np.ndarray, repeated: np.ndarray) -> NoReturn:
    """The error for an item that is in a query twice: the first such row, in the run before the qrels."""
    side, part = (0, run) if (repeated[:, 0] >= 0).any() else (1, qrels)
    lists = np.flatnonzero(repeated[:, side] >= 0)
    row, place, at = min((part.row(int(repeated[at, side])), int(repeated[at, side]), int(at)) for at in lists)
    item = part.item.at(place)
    start = int(spans[at, 2 * side])
    first = next(earlier for earlier in range(start, place) if part.item.at(earlier) == item)
    query = part.queries.at(int(np.searchsorted(part.offsets, place, side="right")) - 1)
    where = (
        f"rows {part.row(first)} and {row}" if part.group == "query" else f"places {first - start} and {place - start}"
    )
    raise ValueError(
        f"{part.name} has item {item!r} twice in {part.group} {query!r}, at {where}: an item has one place in a list"
    )


def refuse_missing(run: str, qrels: str, absent: Ids | Names) -> NoReturn:
    raise ValueError(f"{run} has no row of {count_queries(absent)} of {qrels}, and missing='raise'")


def count_queries(queries: Ids | Names) -> str:
    """For messages: how many, and the first few of them."""
    names = ", ".join(repr(queries.at(row)) for row in range(min(queries.rows, NAMED)))
    return (
        f"{queries.rows} quer{'y' if queries.rows == 1 else 'ies'} ({names}{', ...' if queries.rows > NAMED else ''})"
    )
