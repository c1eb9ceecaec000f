"""A run against its judgements as trec_eval evaluates it: the same queries, ties, means and output."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.parallel import count_threads
from fastmetrics.metrics.ranking.ids import Segments, Texts
from fastmetrics.metrics.ranking.joined import Arranged, QrelsColumns, RunColumns, arrange, join_run
from fastmetrics.metrics.ranking.measures import JUDGED, Lists, MeasureTable, measure_lists
from fastmetrics.metrics.ranking.trec_files import Progress, TrecFile, TrecQrels, TrecRun, read_qrels, read_run
from fastmetrics.metrics.ranking.trec_measures import (
    JUDGED_RETRIEVED,
    MEAN,
    QUERIES,
    SUM,
    TAG,
    Column,
    Columns,
    needed,
    parse_measures,
)

if TYPE_CHECKING:
    import pyarrow

# What a value is raised to before its logarithm is taken for a geometric mean.
LEAST_OF_GEOMETRIC = 0.00001

Value = float | int | str


class TrecResult:
    """What trec_eval says of a run.

    Attributes
    ----------
    runid : str
        The run's tag.
    summary : dict of str to float, int or str
        The values over all queries, by their names, in trec_eval's order.
    queries : tuple of str
        The queries evaluated, in the order of their bytes.
    per_query : dict of str to array
        The values of every query: float64, counts int64. What trec_eval only shows in its summary is not here.
    missing : tuple of str
        Queries of the qrels that the run lacks.
    unjudged : tuple of str
        Queries of the run that the qrels lack; they are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "qrels").write_text("q1 0 d1 1\\nq1 0 d2 0\\n")
    >>> _ = (folder / "run").write_text("q1 Q0 d2 1 0.9 bm25\\nq1 Q0 d1 2 0.4 bm25\\n")
    >>> result = fm.evaluate_trec(folder / "qrels", folder / "run", ["map", "recip_rank"])
    >>> result["map"], result.queries, result.per_query["map"]
    (0.5, ('q1',), array([0.5]))
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
        self.per_query = dict(per_query)
        self.missing = tuple(missing)
        self.unjudged = tuple(unjudged)

    def __getitem__(self, name: str) -> Value:
        if name not in self.summary:
            raise KeyError(f"no value {name!r}; this result has {', '.join(self.summary)}")
        return self.summary[name]

    def __repr__(self) -> str:
        return f"TrecResult({self.runid!r}, {len(self.queries):,} queries, {len(self.summary)} values)"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, *, per_query: bool = False, summary: bool = True) -> Iterator[str]:
        """Lines as trec_eval prints them: the name, the query or "all", and the value with 4 decimals, apart by tabs.

        Parameters
        ----------
        per_query : bool
            The values of every query too, before the summary (trec_eval's -q).
        summary : bool
            The values over all queries (False: trec_eval's -n).

        Returns
        -------
        lines : iterator of str
            Without ends of lines.
        """
        if per_query and self.per_query:
            heads = [f"{name:<22}\t" for name in self.per_query]
            rows = zip(*(values.tolist() for values in self.per_query.values()), strict=True)
            for query, row in zip(self.queries, rows, strict=True):
                for head, value in zip(heads, row, strict=True):
                    yield f"{head}{query}\t{shown(value)}"
        if summary:
            for name, value in self.summary.items():
                yield f"{name:<22}\tall\t{shown(value)}"

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The values of every query, by query and name: the shape that pytrec_eval has."""
        columns = {name: values.tolist() for name, values in self.per_query.items()}
        return {
            query: {name: values[place] for name, values in columns.items()} for place, query in enumerate(self.queries)
        }

    def to_arrow(self) -> pyarrow.Table:
        """The values of every query as an Arrow table: ``query``, and a column for every value."""
        import pyarrow

        return pyarrow.table({"query": pyarrow.array(self.queries, pyarrow.string()), **self.per_query})


def shown(value: Value) -> str:
    """As C's %6.4f, %ld and %s."""
    return f"{value:6.4f}" if isinstance(value, float) else str(value)


def evaluate_trec(
    qrels: str | os.PathLike[str] | TrecQrels,
    run: str | os.PathLike[str] | TrecRun,
    measures: str | Iterable[str] | None = None,
    *,
    relevance_level: int = 1,
    complete: bool = False,
    max_per_query: int | None = None,
    judged_only: bool = False,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> TrecResult:
    """Evaluate a TREC run against its qrels: trec_eval's measures, definitions and output.

    Items are ranked by score, descending; tied ones by their names, descending by bytes; the rank in the file is not
    looked at. The queries are those of both files, in the order of their bytes. Items that were not judged are not
    relevant (and left out by bpref); judged items that were not retrieved count among the relevant ones. A query
    without a relevant item has 0 everywhere and counts in the means. Means are sums in the order of queries, divided
    once, so that the fourth decimal is trec_eval's too.

    Numbers are those of trec_eval 9 (NIST) with two differences, in which version 10 agrees: scores are compared as
    float64, not rounded to float32, and ``num_rel`` of ``complete`` goes by the relevance level, too.

    Parameters
    ----------
    qrels : path or TrecQrels
        The judgements; what `read_qrels` gives is read once for many runs.
    run : path or TrecRun
        The run.
    measures : str, iterable of str, or None
        Measures as for trec_eval's option -m, see `trec_measure_names`; None: ``official``.
    relevance_level : int
        The least relevance of a relevant item, at least 1 (trec_eval's -l).
    complete : bool
        Means over all queries of the qrels; those that the run lacks count as 0, and their relevant items count in
        ``num_rel`` (trec_eval's -c).
    max_per_query : int or None
        So many items of each query, the first by rank, are evaluated (trec_eval's -M).
    judged_only : bool
        Items that were not judged are taken out of the ranking (trec_eval's -J).
    n_threads : int or None
        Threads; None: all cores. The result does not depend on it.
    progress : callable or None
        Called as ``progress(stage, rows done, rows in all)`` while files are read.

    Returns
    -------
    result : TrecResult
        ``result["map"]``, ``result.per_query``, ``print(result)`` as trec_eval prints it.

    Raises
    ------
    ValueError
        An unknown measure; a malformed file; an item twice in a query; no query in both files.
    OSError
        A file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "qrels").write_text("q1 0 d1 1\\nq1 0 d2 0\\nq2 0 d9 1\\n")
    >>> _ = (folder / "run").write_text("q1 Q0 d2 1 0.9 bm25\\nq1 Q0 d1 2 0.4 bm25\\n")
    >>> fm.evaluate_trec(folder / "qrels", folder / "run", "map")["map"]
    0.5
    >>> fm.evaluate_trec(folder / "qrels", folder / "run", "map", complete=True)["map"]
    0.25
    """
    level = checked_integer(relevance_level, "relevance_level")
    if max_per_query is not None:
        checked_integer(max_per_query, "max_per_query")
    columns = parse_measures(measures, level)
    threads = count_threads(n_threads)
    qrels = qrels if isinstance(qrels, TrecQrels) else read_qrels(qrels, n_threads=threads, progress=progress)
    run = run if isinstance(run, TrecRun) else read_run(run, n_threads=threads, progress=progress)
    joined = join(run, qrels, threads)
    if not joined.queries:
        raise ValueError(f"{run.path} and {qrels.path} have no query in common")
    lists = joined.lists
    if max_per_query is not None:
        lists = cut(lists, max_per_query)
    if judged_only:
        lists = without_unjudged(lists)
    wanted = needed(columns)
    by_name = sorted(range(len(joined.queries)), key=joined.queries.__getitem__)
    values: Columns = {}
    if wanted:
        measured, counts = measure_lists(lists, MeasureTable(wanted), "docid", threads)
        measured = np.where(np.isnan(measured), 0.0, measured)[:, by_name]
        values = dict(zip(wanted, measured, strict=True))
        values[JUDGED_RETRIEVED] = counts[by_name, JUDGED].astype(np.float64)
    over = Over(
        len(joined.queries), len(joined.queries) + len(joined.missing) if complete else None, qrels, level, run.tag
    )
    per_query = {column.name: column.values(values) for column in columns if column.needs}
    summary = {column.name: over.summary(column, per_query.get(column.name)) for column in columns}
    shown_values = {
        column.name: per_query[column.name].astype(np.int64) if column.is_count else per_query[column.name]
        for column in columns
        if column.is_per_query
    }
    queries = [joined.queries[place].decode("utf-8", "backslashreplace") for place in by_name]
    return TrecResult(run.tag, summary, queries, shown_values, joined.missing, joined.unjudged)


def checked_integer(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise inputs.OptionError(f"{name} must be a whole number of at least 1; found {value!r}")
    return int(value)


class Over(NamedTuple):
    """What summaries are taken over: the queries evaluated, all queries judged where these count, and the files."""

    n_queries: int
    n_judged: int | None
    qrels: TrecQrels
    level: int
    tag: str

    def summary(self, column: Column, values: np.ndarray | None) -> Value:
        if column.summary == TAG:
            return self.tag
        n = self.n_queries if self.n_judged is None else self.n_judged
        if column.summary == QUERIES or values is None:
            return n
        if column.summary == SUM:
            if self.n_judged is not None and column.name == "num_rel":
                return int(np.count_nonzero(self.qrels.relevance >= self.level))
            return int(values.sum())
        if column.summary == MEAN:
            # One after the other: rounding then is trec_eval's, which decides where a fifth decimal is a 5.
            return float(np.cumsum(values)[-1]) / n
        logarithms = [math.log(max(value, LEAST_OF_GEOMETRIC)) for value in values.tolist()]
        total = float(np.cumsum(logarithms)[-1]) + (n - self.n_queries) * math.log(LEAST_OF_GEOMETRIC)
        return math.exp(total / n)


class JoinedRun(NamedTuple):
    lists: Lists
    queries: list[bytes]
    missing: list[str]
    unjudged: list[str]


def join(run: TrecRun, qrels: TrecQrels, n_threads: int) -> JoinedRun:
    """The lists of the queries that both have."""
    own = arrange(RunColumns(segments(run), run.item, run.score, run.path), n_threads)
    joined = join_run(own, judged(qrels, n_threads), missing="drop", n_threads=n_threads)
    items, queries = joined.items(), joined.queries
    if not isinstance(items, Texts) or not isinstance(queries, Texts):
        raise TypeError("names in TREC files are texts")
    lists = Lists(joined.scores, joined.grades, joined.offsets, joined.unretrieved, joined.unretrieved_offsets, items)
    names = [name_at(queries, place) for place in range(queries.rows)]
    coverage = joined.coverage
    missing, unjudged = ([str(ids.at(row)) for row in range(ids.rows)] for ids in (coverage.missing, coverage.unjudged))
    return JoinedRun(lists, names, missing, unjudged)


def segments(file: TrecFile) -> Segments:
    return Segments(file.segments[:-1], file.segment_query, len(file))


def judged(qrels: TrecQrels, n_threads: int) -> Arranged:
    """The judgements by query; made once for all runs."""
    if qrels.arranged is None:
        relevance = qrels.relevance.astype(np.float64)
        qrels.arranged = arrange(QrelsColumns(segments(qrels), qrels.item, relevance, qrels.path), n_threads)
    return qrels.arranged


def cut(lists: Lists, most: int) -> Lists:
    """The first rows of every list by rank; judged ones among the others become items that were not retrieved."""
    lengths = np.diff(lists.offsets)
    keep = np.ones(lists.scores.shape[0], bool)
    for place in np.flatnonzero(lengths > most).tolist():
        start, stop = int(lists.offsets[place]), int(lists.offsets[place + 1])
        scores = lists.scores[start:stop]
        last = np.partition(scores, stop - start - most)[stop - start - most]
        inside = scores > last
        tied = np.flatnonzero(scores == last)
        names = [name_at(lists.order, start + row) for row in tied.tolist()]
        ranked = sorted(range(len(names)), key=names.__getitem__, reverse=True)
        inside[tied[ranked[: most - int(np.count_nonzero(inside))]]] = True
        keep[start:stop] = inside
    if keep.all():
        return lists
    owners = np.repeat(np.arange(lists.n_lists), lengths)
    is_lost = ~keep & (lists.grades >= 0)
    before = np.repeat(np.arange(lists.n_lists), np.diff(lists.unretrieved_offsets))
    of_list = np.concatenate((before, owners[is_lost]))
    grades = np.concatenate((lists.unretrieved, lists.grades[is_lost]))[np.argsort(of_list, kind="stable")]
    offsets = np.zeros(lists.n_lists + 1, np.int64)
    np.cumsum(np.bincount(of_list, minlength=lists.n_lists), out=offsets[1:])
    return kept_rows(lists, keep)._replace(unretrieved=grades, unretrieved_offsets=offsets)


def name_at(texts: Texts, row: int) -> bytes:
    return bytes(texts.data[texts.starts[row] : texts.stops[row]])


def without_unjudged(lists: Lists) -> Lists:
    return kept_rows(lists, lists.grades >= 0)


def kept_rows(lists: Lists, keep: np.ndarray) -> Lists:
    """Some of the rows of every list."""
    if keep.all():
        return lists
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(keep)))
    data, starts, stops = lists.order
    return lists._replace(
        scores=lists.scores[keep],
        grades=lists.grades[keep],
        offsets=before[lists.offsets],
        order=Texts(data, starts[keep], stops[keep]),
    )
