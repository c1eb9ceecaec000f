"""`ranking_by_group`: a table with one row for every ranked list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics.metrics.ranking.lists import list_inputs, list_measures
from fastmetrics.metrics.ranking.lists.list_measures import Measure, MeasuredLists, MeasureTable
from fastmetrics.metrics.ranking.lists.list_tables import TABLE_OF_TIES
from fastmetrics.metrics.ranking.runs import ranking_result
from fastmetrics.metrics.ranking.runs.ranking_result import RankingTable

if TYPE_CHECKING:

    from fastmetrics._core.registry import Metrics
    from fastmetrics._core.types.arrays import ArrayLike, KeysLike, NumericArrayLike
    from fastmetrics._core.types.options import Empty, Ties

__all__ = ["ranking_by_group"]


@answers_unknown
def ranking_by_group(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None,
    metrics: Metrics | None = None,
    *,
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    empty: Empty = "zero",
    items: ArrayLike | None = None,
    n_threads: int | None = None,
) -> RankingTable:
    """Metrics of every ranked list: the values that the functions of ranked lists and `evaluate` average.

    The function of a metric documents its metric string; docs/definitions.md lists all of them.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_rows)
        Relevance grade of each row, at least 0.
    y_score : array-like of the shape of y_true
        Scores, higher for rows that come first. float32 and float64 are read without conversion; integers and float16
        are widened.
    groups : array-like of shape (n,), or None
        The key of each row's list (a query, a user): integers or strings, rows in any order. Without groups, `offsets`
        says where lists begin and end, or each row of a two-dimensional array is a list.
    metrics : str or sequence of str, optional
        Metrics of ranked lists: "ndcg@10", "map(normalize=relevant)", "mrr" ... An option in a string overrides the
        option below. As for `evaluate_ranking`.
    offsets : array-like of shape (n_lists + 1,), optional
        List i is the rows offsets[i] up to, but not including, offsets[i + 1].
    relevance_level : float
        A row is relevant if its y_true is at least this level, which is above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        How rows of equal score count. "average": the expected value over all orders of the tied rows. "docid": the
        greater item id first (integers as numbers, strings by their bytes), as trec_eval does. "stable": the earlier
        row first. "optimistic": the more relevant row first. "pessimistic": the less relevant row first.
    empty : {"zero", "skip", "one", "nan", "raise"}
        The value of a list without a relevant row. "zero": 0. "skip" and "nan": NaN. "one": 1. "raise": it is an error.
    items : array-like of shape (n,), optional
        Item ids, needed for ties="docid": integers (compared as numbers) or strings (compared by their bytes). An id
        occurs once per list.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    RankingTable
        Columns group (without groups: list, numbered from 0), n (rows), n_judged (equal to n), n_relevant, and one for
        each metric; sorted by group.

    Raises
    ------
    ValueError
        A column has NaN or null, relevance is negative, a metric is unknown, an option is invalid, shapes differ, or
        there are no rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> users = ["bob", "ann", "bob", "ann", "ann"]
    >>> fm.ranking_by_group([1, 0, 0, 1, 2], [0.9, 0.3, 0.8, 0.2, 0.7], users, ["ndcg@2", "mrr"])
    group  n  n_judged  n_relevant  ndcg@2     mrr
    ann    3         3           2  0.7602  1.0000
    bob    2         2           1  1.0000  1.0000
    """
    options = list_inputs.check_options(ties, n_threads, empty, items)
    level = list_measures.check_level(relevance_level)
    run_options = ranking_result.RunOptions(ties, empty, level)
    resolved = ranking_result.resolve_metrics(metrics, run_options)
    arguments = list_inputs.ListArguments(y_true, y_score, groups, offsets, None)
    keys: np.ndarray = np.empty(0)

    def measure(table: MeasureTable, rule: str) -> MeasuredLists:
        nonlocal keys
        keys, measured = measure_each_list(arguments, table, options._replace(ties=rule))
        return measured

    relevant = Measure.of("n_relevant", relevance_level=level)
    measured, first = ranking_result.measure_metrics(resolved, run_options, [relevant], measure)
    unit = "list" if groups is None else "group"
    n_rows = first.counts[:, list_measures.ROWS]
    n_relevant = first.values[0].astype(np.int64)
    columns = {unit: keys, "n": n_rows.copy(), "n_judged": n_rows.copy(), "n_relevant": n_relevant}
    return RankingTable(
        columns
        | {
            name: apply_empty_policy(measured[name], arguments_of_metric.get("empty", empty), keys, unit)
            for name, (_, arguments_of_metric) in resolved.items()
        }
    )


def measure_each_list(
    arguments: list_inputs.ListArguments, table: MeasureTable, options: list_inputs.ListOptions
) -> tuple[np.ndarray, MeasuredLists]:
    """The keys and the measures of every list, in the order of their keys."""
    grades, scores = list_inputs.as_columns(arguments)
    if arguments.groups is not None and options.ties in TABLE_OF_TIES and options.items is None:
        list_inputs.check_columns(grades, scores)
        return list_inputs.measures_by_exchange(grades, scores, arguments.groups, table, options)
    lists, measured = list_inputs.measure_in_memory(arguments, grades, scores, table, options)
    keys = np.arange(lists.lists.n_lists) if lists.groups is None else lists.groups
    return (keys.astype(object) if keys.dtype.kind == "U" else keys), measured


def apply_empty_policy(measured: tuple[np.ndarray, ...], empty: str, keys: np.ndarray, unit: str) -> np.ndarray:
    """The value of a metric for every list, with the policy for lists without a relevant row.

    `measured` are the values of the metric's measure; of a micro average, hits and relevant rows.
    """
    is_empty = np.isnan(measured[0])
    if empty == "raise" and len(measured) == 1 and is_empty.any():
        (key,) = keys[is_empty][:1].tolist()
        raise ValueError(f"{unit} {key!r} has no relevant row, and empty='raise'")
    return ranking_result.list_values(measured, empty)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"ranking_by_group": ({"metrics": ["ndcg@3", "map", "hr(average=micro)@2"]},)}
