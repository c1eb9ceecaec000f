"""`evaluate_trec`: a run evaluated as by trec_eval, with the same queries, ties, means and output."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.elementary import exp, log
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.results.json_results import as_json_value
from fastmetrics._core.results.table_columns import TableColumn, python_values
from fastmetrics._core.results.table_rows import NamedValues, refuse_place
from fastmetrics.metrics.ranking.lists.ids import QuerySegments, TextIds
from fastmetrics.metrics.ranking.lists.list_measures import (
    JUDGED,
    Lists,
    MeasureTable,
    check_positive_integer,
    measure_lists,
)
from fastmetrics.metrics.ranking.runs.graded_rankings import UNJUDGED, GradedRankings, id_bytes
from fastmetrics.metrics.ranking.runs.join import RowsByQuery, group_by_query, join_run
from fastmetrics.metrics.ranking.runs.ranking_result import RankingTable
from fastmetrics.metrics.ranking.runs.trec_files import Progress, TrecFile, TrecQrels, TrecRun, read_qrels, read_run
from fastmetrics.metrics.ranking.runs.trec_measures import (
    JUDGED_RETRIEVED,
    MEAN,
    NO_SUMMARY,
    QUERIES,
    SUM,
    TAG,
    MeasureOptions,
    MeasureValues,
    TrecValue,
    kernel_measures,
)
from fastmetrics.metrics.ranking.runs.trec_metric_names import parse_metrics, trec_metric_names

if TYPE_CHECKING:
    from fastmetrics._core.registry import Metrics

__all__ = ["TrecResult", "evaluate_trec"]

GEOMETRIC_MEAN_FLOOR = 0.00001  # smaller values count as this one in a geometric mean

Value = float | int | str


class TrecResult(NamedValues[Value]):
    """The evaluation of a run by `evaluate_trec`.

    ``result["map"]`` is a value over all queries; ``"map" in result``, ``result.keys()`` and ``dict(result)`` work as
    for ``summary``. Rows are a measure and its value over all queries.

    Attributes
    ----------
    runid : str
        The run's tag.
    summary : dict of str to float, int or str
        The values over all queries, by their names, in trec_eval's order.
    queries : tuple of str
        The queries evaluated, in the order of their bytes; with ``complete=True`` also those that the run does not
        have.
    per_query : RankingTable
        The ``query`` of every row, and its values: float64, int64 for counts, or str (``relstring``). Values that
        trec_eval shows only in its summary are not included.
    missing : tuple of str
        Queries of the qrels that the run does not have.
    unjudged : tuple of str
        Queries of the run that the qrels do not have; they are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qrels, run = pathlib.Path(folder, "qrels"), pathlib.Path(folder, "run")
    ...     _ = qrels.write_text("q1 0 d1 1\\nq1 0 d2 0\\n")
    ...     _ = run.write_text("q1 Q0 d2 1 0.9 bm25\\nq1 Q0 d1 2 0.4 bm25\\n")
    ...     result = fm.evaluate_trec(qrels, run, ["map", "recip_rank"])
    >>> result["map"], result.queries, result.per_query["map"]
    (0.5, ('q1',), array([0.5]))
    >>> dict(result)
    {'map': 0.5, 'recip_rank': 0.5}
    >>> print(result)
    map                   	all	0.5000
    recip_rank            	all	0.5000
    """

    def __init__(
        self,
        runid: str,
        summary: Mapping[str, Value],
        queries: Sequence[str],
        per_query: Mapping[str, np.ndarray],
        missing: Sequence[str] = (),
        unjudged: Sequence[str] = (),
    ) -> None:
        self.runid = runid
        self.summary = dict(summary)
        self.queries = tuple(queries)
        self.per_query = RankingTable({"query": np.array(self.queries, dtype=object), **per_query})
        self.missing = tuple(missing)
        self.unjudged = tuple(unjudged)

    def __getitem__(self, name: str) -> Value:
        refuse_place(name, type(self).__name__)
        if name in self.summary:
            return self.summary[name]
        try:
            (own,) = trec_metric_names(name)
        except ValueError:
            own = name
        return super().__getitem__(own if own in self.summary else name)

    def _named(self) -> dict[str, Value]:
        return self.summary

    def _table_columns(self) -> list[TableColumn]:
        values = self.summary.values()
        texts = [value if isinstance(value, str) else None for value in values]
        return [
            TableColumn("measure", "text", list(self.summary)),
            TableColumn("value", "number", [None if isinstance(value, str) else float(value) for value in values]),
            *([TableColumn("text", "text", texts)] if any(texts) else []),
        ]

    def _content(self) -> tuple[Any, ...]:
        return self.runid, self.summary, self.per_query._content(), self.missing, self.unjudged

    def __repr__(self) -> str:
        return f"TrecResult({self.runid!r}, {len(self.queries):,} queries, {len(self.summary)} values)"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    @answers_unknown
    def lines(self, *, per_query: bool = False, summary: bool = True) -> Iterator[str]:
        """Lines as trec_eval prints them: name, query or "all", and value with 4 decimals, separated by tabs.

        Parameters
        ----------
        per_query : bool
            Include the values of every query, before the summary (trec_eval's -q).
        summary : bool
            Include the values over all queries (False: trec_eval's -n).

        Returns
        -------
        lines : iterator of str
            Without line ends.
        """
        columns = self.values_of_queries()
        if per_query and columns:
            heads = [f"{name:<22}\t" for name in columns]
            rows = zip(*columns.values(), strict=True)
            for query, row in zip(self.queries, rows, strict=True):
                for head, value in zip(heads, row, strict=True):
                    yield f"{head}{query}\t{format_value(value, quote=True)}"
        if summary:
            for name, value in self.summary.items():
                yield f"{name:<22}\tall\t{format_value(value)}"

    def to_dict(self) -> dict[str, dict[str, Value | None]]:
        """The values of every query as {query: {name: value}}, as pytrec_eval returns them; NaN becomes None."""
        columns = as_json_value(self.values_of_queries())
        return {
            query: {name: values[row] for name, values in columns.items()} for row, query in enumerate(self.queries)
        }

    def values_of_queries(self) -> dict[str, list[Value]]:
        """The values of every measure, in the order of `queries`.

        Returns
        -------
        dict of str to list
        """
        return {name: python_values(own) for name, own in self.per_query.columns.items() if name != "query"}


def format_value(value: Value, *, quote: bool = False) -> str:
    """A value as in C with %6.4f, %ld, or %s in quotes or without."""
    if quote and isinstance(value, str):
        return f"'{value}'"
    return f"{value:6.4f}" if isinstance(value, float) else str(value)


@answers_unknown
def evaluate_trec(
    qrels: str | os.PathLike[str] | TrecQrels,
    run: str | os.PathLike[str] | TrecRun,
    metrics: Metrics | None = None,
    *,
    relevance_level: int = 1,
    complete: bool = False,
    max_per_query: int | None = None,
    judged_only: bool = False,
    collection_size: int | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> TrecResult:
    """Evaluate a TREC run against its qrels, with the metrics, definitions and output of trec_eval.

    Items are ranked by score, descending; items of equal score by their ids, descending by bytes. The rank in the file
    is not used. Queries that both files have are evaluated, in the order of their bytes. Items without a judgment are
    not relevant (bpref leaves them out). Relevant items that were not retrieved count. A query without a relevant item
    has 0 everywhere and counts in the means. Means are sums in the order of queries, divided once, so that the fourth
    decimal is that of trec_eval.

    Numbers are those of trec_eval 9 (NIST) with two differences, which version 10 also has: scores are compared as
    float64, not rounded to float32, and with ``complete`` the queries that the run lacks have values of their own.

    Parameters
    ----------
    qrels : path or TrecQrels
        The judgments. For many runs, pass the result of `read_qrels`: the file is then read once.
    run : path or TrecRun
        The items that a system retrieved. For many evaluations of one file, pass the result of `read_run`.
    metrics : str or sequence of str, optional
        Metrics as in trec_eval's option -m, or metric strings of the same numbers, see `trec_metric_names`; None:
        ``official``.
    relevance_level : int
        The smallest relevance of a relevant item, at least 1 (trec_eval's -l).
    complete : bool
        Take means over all queries of the qrels (trec_eval's -c). A query that the run does not have is an empty list:
        its values are 0, but it has relevant items. The sum ``num_rel`` is then, as in trec_eval, of all relevances
        above 0, whatever the relevance level.
    max_per_query : int or None
        Evaluate only the first so many items of each query (trec_eval's -M).
    judged_only : bool
        Remove items without a judgment from the ranking (trec_eval's -J).
    collection_size : int or None
        The number of items of the collection, for the fourth parameter of ``utility`` (trec_eval's -N).
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.
    progress : callable or None
        Called as ``progress(stage, rows done, rows in all)`` while files are read.

    Returns
    -------
    result : TrecResult
        ``result["map"]``, ``result.per_query``, ``print(result)`` as trec_eval prints it.

    Raises
    ------
    ValueError
        A metric is unknown, a file is malformed, an item occurs twice in a query, or no query is in both files.
    OSError
        A file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qrels, run = pathlib.Path(folder, "qrels"), pathlib.Path(folder, "run")
    ...     _ = qrels.write_text("q1 0 d1 1\\nq1 0 d2 0\\nq2 0 d9 1\\n")
    ...     _ = run.write_text("q1 Q0 d2 1 0.9 bm25\\nq1 Q0 d1 2 0.4 bm25\\n")
    ...     judged = fm.evaluate_trec(qrels, run, "map")
    ...     complete = fm.evaluate_trec(qrels, run, "map", complete=True)
    >>> judged["map"], complete["map"]
    (0.5, 0.25)
    """
    level = check_positive_integer(relevance_level, "relevance_level")
    if max_per_query is not None:
        check_positive_integer(max_per_query, "max_per_query")
    if collection_size is not None:
        check_positive_integer(collection_size, "collection_size")
    trec_values = parse_metrics(metrics, MeasureOptions(level, collection_size))
    threads = count_threads(n_threads)
    for name, file, other in (("qrels", qrels, TrecRun), ("run", run, TrecQrels)):
        if isinstance(file, other):
            raise TypeError(f"{name} is a {other.__name__}: the order is qrels, run")
    qrels = qrels if isinstance(qrels, TrecQrels) else read_qrels(qrels, n_threads=threads, progress=progress)
    run = run if isinstance(run, TrecRun) else read_run(run, n_threads=threads, progress=progress)
    joined = join_trec(run, qrels, threads, complete=complete)
    if not joined.n_retrieved:
        raise ValueError(f"{run.path} and {qrels.path} have no query in common")
    lists = joined.lists
    if max_per_query is not None:
        lists = cut_lists(lists, max_per_query)
    if judged_only:
        lists = select_rows(lists, lists.grades >= 0)
    by_name = sorted(range(len(joined.queries)), key=joined.queries.__getitem__)
    queries = [joined.queries[index].decode("utf-8", "backslashreplace") for index in by_name]
    is_missing = np.array(by_name) >= joined.n_retrieved
    all_values = {
        name: values[by_name] for name, values in measure_queries(lists, trec_values, level, threads).items()
    }
    for value in trec_values:
        if value.missing_is_zero:
            all_values[value.name][is_missing] = 0
    scope = SummaryScope(is_missing, qrels, run.tag, complete)
    summary = {
        value.name: scope.of(value, all_values.get(value.name))
        for value in trec_values
        if value.summary != NO_SUMMARY
    }
    per_query = {
        value.name: all_values[value.name].astype(np.int64) if value.is_count else all_values[value.name]
        for value in trec_values
        if value.is_per_query
    }
    return TrecResult(run.tag, summary, queries, per_query, joined.missing, joined.unjudged)


def measure_queries(
    lists: Lists, trec_values: Sequence[TrecValue], level: int, n_threads: int
) -> dict[str, np.ndarray]:
    """The values of all lists, by name."""
    needed_measures = kernel_measures(trec_values)
    measured: MeasureValues = {}
    if needed_measures:
        values, counts = measure_lists(lists, MeasureTable(needed_measures), "docid", n_threads)
        measured = dict(zip(needed_measures, np.where(np.isnan(values), 0.0, values), strict=True))
        measured[JUDGED_RETRIEVED] = counts[:, JUDGED].astype(np.float64)
    rankings = None
    if any(value.from_rankings is not None for value in trec_values):
        rankings = GradedRankings(lists, level)
    return {value.name: value.values(measured, rankings) for value in trec_values if value.is_computed}


class SummaryScope(NamedTuple):
    """The queries and files that a summary covers."""

    is_missing: np.ndarray  # of every query: the run lacks it
    qrels: TrecQrels
    tag: str
    complete: bool

    @property
    def n_queries(self) -> int:
        return int(self.is_missing.shape[0])

    def of(self, trec_value: TrecValue, values: np.ndarray | None) -> Value:
        """The summary of the values of all queries: a mean, a sum, a geometric mean, a count or the tag."""
        if trec_value.summary == TAG:
            return self.tag
        if trec_value.summary == QUERIES or values is None:
            return self.n_queries
        if trec_value.summary == SUM:
            if self.complete and trec_value.name == "num_rel":
                return int(np.count_nonzero(self.qrels.relevance > 0))
            return int(values.sum())
        if trec_value.summary == MEAN:
            # Values are added one after the other as in trec_eval: the same rounding, so the same fourth decimal.
            return float(np.cumsum(values)[-1]) / self.n_queries
        # Queries that the run lacks are added last, as in trec_eval 9.
        logarithms = [log(max(value, GEOMETRIC_MEAN_FLOOR)) for value in values[~self.is_missing].tolist()]
        total = float(np.cumsum(logarithms)[-1]) + int(self.is_missing.sum()) * log(GEOMETRIC_MEAN_FLOOR)
        return exp(total / self.n_queries)


class TrecLists(NamedTuple):
    """The lists of the queries, and the names of those that only one of run and qrels has.

    The first `n_retrieved` lists are of queries that both have; lists of queries that the run lacks may follow.
    """

    lists: Lists
    queries: list[bytes]
    n_retrieved: int
    missing: list[str]
    unjudged: list[str]


def join_trec(run: TrecRun, qrels: TrecQrels, n_threads: int, *, complete: bool) -> TrecLists:
    """The lists of the queries that run and qrels have, or of all queries of the qrels."""
    run_rows = group_by_query(query_segments(run), run.item, run.score, run.path, n_threads)
    joined = join_run(
        run_rows, qrels_by_query(qrels, n_threads), missing="zero" if complete else "drop", n_threads=n_threads
    )
    items, queries = joined.items(), joined.queries
    if not isinstance(items, TextIds) or not isinstance(queries, TextIds):
        raise TypeError("names in TREC files are texts")
    lists = Lists(joined.scores, joined.grades, joined.offsets, joined.unretrieved, joined.unretrieved_offsets, items)
    names = [id_bytes(queries, row) for row in range(queries.rows)]
    coverage = joined.coverage
    missing, unjudged = ([str(ids.at(row)) for row in range(ids.rows)] for ids in (coverage.missing, coverage.unjudged))
    return TrecLists(lists, names, coverage.matched, missing, unjudged)


def query_segments(file: TrecFile) -> QuerySegments:
    return QuerySegments(file.segments[:-1], file.segment_query, len(file))


def qrels_by_query(qrels: TrecQrels, n_threads: int) -> RowsByQuery:
    """The judgments grouped by query; computed once for all runs. All negative relevances are UNJUDGED."""
    if qrels._rows_by_query is None:
        relevance = np.where(qrels.relevance < 0, UNJUDGED, qrels.relevance)
        qrels._rows_by_query = group_by_query(query_segments(qrels), qrels.item, relevance, qrels.path, n_threads)
    return qrels._rows_by_query


def cut_lists(lists: Lists, most: int) -> Lists:
    """The first rows of every list by rank. Judged items among the other rows become unretrieved items."""
    lengths = np.diff(lists.offsets)
    keep = np.ones(lists.scores.shape[0], bool)
    for number in np.flatnonzero(lengths > most).tolist():
        start, stop = int(lists.offsets[number]), int(lists.offsets[number + 1])
        scores = lists.scores[start:stop]
        last_score = np.partition(scores, stop - start - most)[stop - start - most]
        inside = scores > last_score
        tied = np.flatnonzero(scores == last_score)
        names = [id_bytes(lists.order, start + row) for row in tied.tolist()]
        ranked = sorted(range(len(names)), key=names.__getitem__, reverse=True)
        inside[tied[ranked[: most - int(np.count_nonzero(inside))]]] = True
        keep[start:stop] = inside
    if keep.all():
        return lists
    list_of_row = np.repeat(np.arange(lists.n_lists), lengths)
    is_cut = ~keep & (lists.grades >= 0)
    list_of_unretrieved = np.repeat(np.arange(lists.n_lists), np.diff(lists.unretrieved_offsets))
    owners = np.concatenate((list_of_unretrieved, list_of_row[is_cut]))
    grades = np.concatenate((lists.unretrieved, lists.grades[is_cut]))[np.argsort(owners, kind="stable")]
    offsets = np.append(0, np.cumsum(np.bincount(owners, minlength=lists.n_lists)))
    return select_rows(lists, keep)._replace(unretrieved=grades, unretrieved_offsets=offsets)


def select_rows(lists: Lists, keep: np.ndarray) -> Lists:
    """The rows of every list that the mask `keep` selects."""
    if keep.all():
        return lists
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(keep)))
    data, starts, stops = lists.order[:3]
    return lists._replace(
        scores=lists.scores[keep],
        grades=lists.grades[keep],
        offsets=before[lists.offsets],
        order=TextIds(data, starts[keep], stops[keep]),
    )
