"""`ranking_by_group`: a table with one row for every ranked list."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics.metrics.ranking.lists import list_inputs, list_measures
from fastmetrics.metrics.ranking.lists.list_measures import Measure, MeasureTable, cached_table
from fastmetrics.metrics.ranking.lists.list_tables import TABLE_OF_TIES
from fastmetrics.metrics.ranking.runs import ranking_result
from fastmetrics.metrics.ranking.runs.ranking_result import RankingTable

__all__ = ["ranking_by_group"]

MeasuresByKey = tuple[np.ndarray, np.ndarray, np.ndarray]  # keys, values (measure, list), counts


def ranking_by_group(
    y_true: Any,
    y_score: Any,
    groups: Any,
    metrics: Any,
    *,
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
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
    metrics : str or sequence of str
        Metrics of ranked lists: "ndcg@10", "map(normalize=relevant)", "mrr" ... An option in a string overrides the
        option below.
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
        Number of threads; by default the number of CPUs that the process may use. The result does not depend on it.

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
    options = list_inputs.check_options(ties, empty, n_threads, items)
    level = list_measures.check_level(relevance_level)
    run_options = ranking_result.RunOptions(ties, empty, level)
    resolved = ranking_result.resolve_metrics(metrics, run_options)
    measures = {name: ranking_result.kernel_measures(*entry, run_options) for name, entry in resolved.items()}
    relevant = Measure.of("n_relevant", relevance_level=level)
    arguments_of_lists = list_inputs.ListArguments(y_true, y_score, groups, offsets, None)
    columns: dict[str, np.ndarray] = {}
    names_of_ties: dict[str, list[str]] = {ties: []}
    for name, (_, arguments) in resolved.items():
        names_of_ties.setdefault(arguments.get("ties", ties), []).append(name)
    values_of = {}
    for rule, names in names_of_ties.items():
        of_metrics = (measure for name in names for measure in measures[name])
        distinct = list(dict.fromkeys([relevant, *of_metrics]))
        table = cached_table(tuple(distinct))
        keys, values, counts = measure_each_list(arguments_of_lists, table, options._replace(ties=rule))
        if not columns:
            columns["list" if groups is None else "group"] = keys
            columns["n"] = counts[:, list_measures.ROWS].copy()
            columns["n_judged"] = counts[:, list_measures.ROWS].copy()
            columns["n_relevant"] = values[0].astype(np.int64)
        for name in names:
            measured = [values[distinct.index(measure)] for measure in measures[name]]
            policy = resolved[name][1].get("empty", empty)
            values_of[name] = apply_empty_policy(measured, policy, keys, "list" if groups is None else "group")
    return RankingTable(columns | {name: values_of[name] for name in resolved})


def measure_each_list(
    arguments: list_inputs.ListArguments, table: MeasureTable, options: list_inputs.ListOptions
) -> MeasuresByKey:
    """The measures of every list, in the order of their keys."""
    y_true, y_score, groups, offsets, _ = arguments
    if groups is not None and offsets is not None:
        raise validation.OptionError(f"groups= and offsets= both define the lists; {list_inputs.FORMS}")
    grades = list_inputs.as_grades(y_true)
    scores = validation.as_floats(y_score, "y_score")
    if groups is not None and options.ties in TABLE_OF_TIES and options.items is None:
        list_inputs.check_columns(grades, scores)
        return list_inputs.measures_by_exchange(grades, scores, groups, table, options)
    lists = list_inputs.read_lists(grades, scores, groups, offsets, None, options)
    try:
        measured = list_inputs.measure_input(lists, table, options)
    except list_measures.InvalidRowError:
        list_inputs.check_rows(grades, scores, table)
        raise
    keys = np.arange(lists.lists.n_lists) if lists.groups is None else lists.groups
    return (keys.astype(object) if keys.dtype.kind == "U" else keys), measured.values, measured.counts


def apply_empty_policy(measured: list[np.ndarray], empty: str, keys: np.ndarray, unit: str) -> np.ndarray:
    """The value of a metric for every list, with the policy for lists without a relevant row.

    `measured` are the values of the metric's measure; of a micro average, hits and relevant rows.
    """
    if len(measured) == 2:
        return measured[0] / np.where(measured[1] > 0, measured[1], np.nan)
    (values,) = measured
    is_empty = np.isnan(values)
    if empty == "raise" and is_empty.any():
        (key,) = keys[is_empty][:1].tolist()
        raise ValueError(f"{unit} {key!r} has no relevant row, and empty='raise'")
    fill = {"zero": 0.0, "one": 1.0}.get(empty, np.nan)
    return np.where(is_empty, fill, values)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"ranking_by_group": ({"metrics": ["ndcg@3", "map", "hr(average=micro)@2"]},)}
