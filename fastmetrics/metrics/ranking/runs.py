"""A run and its ground truth apart: two tables, joined by query and item and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.parallel import count_threads
from fastmetrics._kernels import columns as checks
from fastmetrics.metrics.ranking import measures
from fastmetrics.metrics.ranking.ids import Ids, Names
from fastmetrics.metrics.ranking.joined import MISSING
from fastmetrics.metrics.ranking.results import TIES, Evaluation, Options, RankingResult, checked_level, resolve
from fastmetrics.metrics.ranking.run_sources import Columns, join_sources


def evaluate_ranking(
    run: Any,
    qrels: Any,
    metrics: str | Sequence[str],
    *,
    query: str = "query",
    item: str = "item",
    score: str = "score",
    relevance: str = "relevance",
    ties: str = "average",
    missing: str = "zero",
    empty: str = "zero",
    relevance_level: float = 1,
    weights: Mapping[Any, float] | None = None,
    n_threads: int | None = None,
) -> RankingResult:
    """Evaluate a run, what a system retrieved, against relevance judgements that are kept apart from it.

    The items of a query are ranked by score; what is judged of them is looked up by query and item, exactly. A value is
    the mean over queries: sum_q w_q m_q / sum_q w_q (w = 1 without `weights`), as in trec_eval (NIST; E. M. Voorhees
    and D. K. Harman, 2005, TREC: Experiment and evaluation in information retrieval).

    Parameters
    ----------
    run : table, dict, path or TrecRun
        A row per retrieved item: query, item, score. A pyarrow table, a polars or pandas data frame, anything with
        ``__arrow_c_stream__``, a dict of columns, a dict of dicts ``{query: {item: score}}`` (as pytrec_eval takes;
        a ``ranx.Run``), the path of a TREC run file (plain or gzip), or what `read_run` returns. Rows in any order.
    qrels : table, dict, path or TrecQrels
        A row per judged item: query, item, relevance; in the same forms.
    metrics : str or sequence of str
        Metric strings of ranked lists: ``"ndcg@10"``, ``"ndcg(gain=exp2)@10"``, ``"map"``, ``"mrr"``, ``"hr@10"``,
        ``"p@5"``, ``"recall@50"`` ... An option that a string spells out is its own; all others are those below.
    query, item, score, relevance : str
        The names of the columns. Queries and items are integers or strings, of one kind in both tables.
    ties : {"average", "optimistic", "pessimistic", "docid", "stable"}
        Items of equal score: the expected value over their orders; the best or the worst order; the greatest item id
        first (text by its bytes, integers as numbers), as trec_eval; the order of the rows.
    missing : {"zero", "drop", "raise"}
        A judged query without a row in the run counts as an empty list; is left out; is an error.
    empty : {"zero", "skip", "one", "nan", "raise"}
        A query without a relevant item counts as 0 or 1, is left out, makes the mean NaN, is an error.
    relevance_level : float
        The smallest relevance that is relevant. Negative relevances are as if not judged.
    weights : mapping, optional
        The weight of every query; None: all weigh the same.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    RankingResult
        With ``values`` (metric string to float; ``result["ndcg@10"]``), ``by_query``, ``coverage`` and
        ``signature(metric)``. Queries of the run that have no judgement are left out and counted in the coverage.

    Raises
    ------
    ValueError
        An item that is twice in a query (query, item and rows are named), a score that is NaN, a relevance that is not
        finite, a column that is not there, no rows, an unknown metric or option; what the policies make an error; a
        malformed line of a TREC file (file and line are named).
    TypeError
        Ids of run and qrels that are not of one kind, or another kind of input.

    Notes
    -----
    Items that were retrieved and not judged count as not relevant. Relevant items that were not retrieved count in
    the denominators and in the ideal list.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> run = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.7}, "q2": {"d1": 0.5, "d4": 0.4}}
    >>> qrels = {"q1": {"d1": 1, "d3": 2, "d9": 1}, "q2": {"d4": 1}}
    >>> result = fm.evaluate_ranking(run, qrels, ["ndcg@10", "map", "mrr"])
    >>> result
    2 queries, 2.5 items each
    ndcg@10  0.6349
    map      0.5278
    mrr      0.7500
    >>> result["mrr"], result.coverage["relevant_not_retrieved"]
    (0.75, 1)
    >>> result.by_query["mrr"]
    array([1. , 0.5])

    Two tables, of any library, in any order of rows:

    >>> run = {"query": [7, 7, 3], "item": [1, 2, 1], "score": [0.1, 0.2, 0.3]}
    >>> qrels = {"query": [3, 7], "item": [1, 1], "relevance": [1, 1]}
    >>> fm.evaluate_ranking(run, qrels, "mrr").values
    {'mrr': 0.75}
    """
    inputs.check_option(ties, "ties", TIES)
    inputs.check_option(missing, "missing", MISSING)
    inputs.check_option(empty, "empty", measures.EMPTY)
    threads = count_threads(n_threads)
    options = Options(ties, empty, checked_level(relevance_level), missing)
    wanted = resolve(metrics, options)
    names = Columns(query, item, score), Columns(query, item, relevance)
    join = join_sources(run, qrels, names, missing=missing, n_threads=threads)
    own = None if weights is None else list_weights(weights, join.queries)
    return RankingResult(Evaluation(join, wanted, options, own, threads))


def list_weights(weights: Any, queries: Ids | Names, group: str = "query") -> np.ndarray:
    """The weights of the lists, in their order."""
    if not isinstance(weights, Mapping):
        raise inputs.OptionError(f"weights must map every {group} to its weight; found {type(weights).__name__}")
    found = np.empty(queries.rows)
    for place, name in enumerate(queries.names()):
        value = weights.get(name)
        if value is None:
            raise ValueError(f"weights has no weight for {group} {name!r}")
        if not inputs.is_number(value) or not 0 <= value <= checks.MAX_WEIGHT:
            raise ValueError(f"weights has {value!r} for {group} {name!r}: {inputs.WEIGHTS_WANTED}")
        found[place] = value
    return found
