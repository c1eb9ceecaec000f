"""`evaluate_ranking`: a run and its qrels in two tables, joined by query and item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.weights import WEIGHTS_WANTED
from fastmetrics._core.parallel import count_threads
from fastmetrics._kernels.columns import column_checks as checks
from fastmetrics.metrics.ranking.lists import list_measures
from fastmetrics.metrics.ranking.lists.ids import DictKeys, Ids
from fastmetrics.metrics.ranking.runs.join import MISSING
from fastmetrics.metrics.ranking.runs.ranking_result import (
    TIES,
    RankingResult,
    RunEvaluation,
    RunOptions,
    as_relevance_level,
    resolve_metrics,
)
from fastmetrics.metrics.ranking.runs.sources import TableColumns, join_sources

if TYPE_CHECKING:
    from fastmetrics._core.registry import Metrics
    from fastmetrics._core.types.arrays import RankedRows
    from fastmetrics._core.types.options import Empty, Missing, Ties
    from fastmetrics.metrics.ranking.runs.trec_files import TrecQrels, TrecRun

__all__ = ["evaluate_ranking"]


@answers_unknown
def evaluate_ranking(
    qrels: RankedRows | TrecQrels,
    run: RankedRows | TrecRun,
    metrics: Metrics | None = None,
    *,
    query: str = "query",
    item: str = "item",
    score: str = "score",
    relevance: str = "relevance",
    ties: Ties = "average",
    missing: Missing = "zero",
    empty: Empty = "zero",
    relevance_level: float = 1,
    sample_weight: Mapping[Any, float] | None = None,
    n_threads: int | None = None,
) -> RankingResult:
    """Evaluate a run, the items that a system retrieved, against relevance judgments in a second table (qrels).

    The items of a query are ranked by score. Their relevance is looked up by query and item; ids match exactly. A value
    is the mean over queries: sum_q w_q m_q / sum_q w_q (w = 1 without `sample_weight`), as in trec_eval (NIST; E. M.
    Voorhees and D. K. Harman, 2005, TREC: Experiment and evaluation in information retrieval).

    Parameters
    ----------
    qrels : table, dict, path or TrecQrels
        One row for each judged item: query, item, relevance. A pyarrow table, a polars or pandas data frame, any object
        with ``__arrow_c_stream__``, a dict of columns, a dict of dicts ``{query: {item: relevance}}`` (as for
        pytrec_eval), a ``ranx.Qrels``, the path of a TREC qrels file (plain or gzip), or the result of `read_qrels`.
    run : table, dict, path or TrecRun
        One row for each retrieved item: query, item, score; rows in any order. A pyarrow table, a polars or pandas data
        frame, any object with ``__arrow_c_stream__``, a dict of columns, a dict of dicts ``{query: {item: score}}`` (as
        for pytrec_eval), a ``ranx.Run``, the path of a TREC run file (plain or gzip), or the result of `read_run`.
    metrics : str or sequence of str, optional
        Metric strings of ranked lists: ``"ndcg@10"``, ``"ndcg(gain=exp2)@10"``, ``"map"``, ``"mrr"``, ``"hr@10"``,
        ``"p@5"``, ``"recall@50"`` ... also as trec_eval writes them, ``"ndcg_cut_10,map_cut_10"``, or public functions.
        A string is split at commas. An option in a string overrides the option below. None: ndcg@10, map, mrr, p@10,
        recall@10.
    query, item, score, relevance : str
        The names of the columns. Queries and items are integers or strings, of the same kind in both tables.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        How rows of equal score count. "average": the expected value over all orders of the tied rows. "docid": the
        greater item id first (integers as numbers, strings by their bytes), as trec_eval does. "stable": the earlier
        row first. "optimistic": the more relevant row first. "pessimistic": the less relevant row first.
    missing : {"zero", "drop", "raise"}
        A judged query without a row in the run. "zero": it counts as an empty list. "drop": it is left out. "raise": it
        is an error.
    empty : {"zero", "skip", "one", "nan", "raise"}
        A query without a relevant item. "zero": it counts as 0. "skip": it is left out. "one": it counts as 1. "nan":
        the mean is NaN. "raise": it is an error.
    relevance_level : float
        The smallest relevance of a relevant item. An item of negative relevance counts as not judged.
    sample_weight : array-like of shape (n_lists,) or (n,), optional
        Weights of lists, from 0 to 1e300, not all zero. With `groups`, one for each row, equal for all rows of a group.
        A list of weight zero is left out.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    RankingResult
        Has ``values`` (metric string to float; also ``result["ndcg@10"]``), ``per_query``, ``coverage`` and
        ``signature(metric)``. Queries of the run without a judgment are left out and counted in the coverage.

    Raises
    ------
    ValueError
        An item occurs twice in a query (the message names query, item and rows), a score is NaN, a relevance is not
        finite, qrels have fractions while all scores are whole numbers (they are swapped), a column is missing, there
        are no rows, a metric or option is unknown, a policy is "raise" and applies, or a line of a TREC file is
        malformed (the message names file and line).
    TypeError
        The ids of run and qrels are of different kinds, or the kind of input is not supported.

    Notes
    -----
    Retrieved items without a judgment count as not relevant. Relevant items that were not retrieved count in the
    denominators and in the ideal list.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> qrels = {"q1": {"d1": 1, "d3": 2, "d9": 1}, "q2": {"d4": 1}}
    >>> run = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.7}, "q2": {"d1": 0.5, "d4": 0.4}}
    >>> result = fm.evaluate_ranking(qrels, run, ["ndcg@10", "map", "mrr"])
    >>> result
    2 queries, 2.5 items each
    ndcg@10  0.6349
    map      0.5278
    mrr      0.7500
    >>> result["mrr"], result.coverage["relevant_not_retrieved"]
    (0.75, 1)
    >>> result.per_query["mrr"]
    array([1. , 0.5])

    Two tables of any library, with rows in any order:

    >>> run = {"query": [7, 7, 3], "item": [1, 2, 1], "score": [0.1, 0.2, 0.3]}
    >>> qrels = {"query": [3, 7], "item": [1, 1], "relevance": [1, 1]}
    >>> dict(fm.evaluate_ranking(qrels, run, "mrr"))
    {'mrr': 0.75}
    """
    validation.check_option(ties, "ties", TIES)
    validation.check_option(missing, "missing", MISSING)
    validation.check_option(empty, "empty", list_measures.EMPTY_POLICIES)
    threads = count_threads(n_threads)
    options = RunOptions(ties, empty, as_relevance_level(relevance_level), missing)
    resolved = resolve_metrics(metrics, options)
    names = TableColumns(query, item, score), TableColumns(query, item, relevance)
    join = join_sources(run, qrels, names, missing=missing, n_threads=threads)
    query_weights = None if sample_weight is None else weights_from_mapping(sample_weight, join.queries)
    return RankingResult(RunEvaluation(join, resolved, options, query_weights, threads))


def weights_from_mapping(weights: Any, queries: Ids | DictKeys, group: str = "query") -> np.ndarray:
    """The weights of the lists, in the order of the lists."""
    if not isinstance(weights, Mapping):
        found = type(weights).__name__
        raise validation.OptionError(f"sample_weight must map every {group} to its weight; found {found}")
    list_weights = np.empty(queries.rows)
    for index, name in enumerate(queries.to_list()):
        value = weights.get(name)
        if value is None:
            raise ValueError(f"sample_weight has no weight for {group} {name!r}")
        if not validation.is_number(value) or not 0 <= value <= checks.MAX_WEIGHT:
            raise ValueError(f"sample_weight has {value!r} for {group} {name!r}: {WEIGHTS_WANTED}")
        list_weights[index] = value
    return list_weights
