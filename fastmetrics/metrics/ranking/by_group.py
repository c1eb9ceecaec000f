"""A row for every ranked list: its measures, its rows, its relevant rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics.metrics.ranking import lists, measures, results
from fastmetrics.metrics.ranking.measures import Measure, MeasureTable, table_of
from fastmetrics.metrics.ranking.results import RankingTable
from fastmetrics.metrics.ranking.tables import TABLES

Found = tuple[np.ndarray, np.ndarray, np.ndarray]  # keys, values (measure, list), counts


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
    """Metrics of every ranked list: the values whose means the functions of lists and `evaluate` give.

    What a metric string means is told by the function of that metric; docs/definitions.md has them all.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_rows)
        Relevance of every row, none below zero.
    y_score : array-like of the shape of y_true
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    groups : array-like of shape (n,), or None
        Keys of lists (queries, users): integers or strings, in any order. Without them lists are those of `offsets`, or
        the rows of two-dimensional arrays.
    metrics : str or sequence of str
        Metrics of ranked lists: "ndcg@10", "map(normalize=relevant)", "mrr" ... What a string spells out comes before
        the options below.
    offsets : array-like of shape (n_lists + 1,), optional
        List i has the rows offsets[i] to offsets[i + 1].
    relevance_level : float
        A row is relevant where its y_true is at least this; above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        What equal scores mean: the expected value over all orders of the tied rows; the greater item first, as
        trec_eval; the earlier row first; the more (less) relevant row first.
    empty : {"zero", "skip", "one", "nan", "raise"}
        What a list without a relevant row has: 0; NaN ("skip" and "nan"); 1; or it is an error.
    items : array-like of shape (n,), optional
        Ids of rows, each once in a list: integers (compared as numbers) or strings (by their bytes), for ties="docid".
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    RankingTable
        Columns group (without groups: list, numbered from 0), n (rows), n_judged (the same), n_relevant, and one for
        every metric; sorted by group.

    Raises
    ------
    ValueError
        NaN or null in any column, relevance below zero, unknown metrics, bad options, shapes that differ, no rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> users = ["bob", "ann", "bob", "ann", "ann"]
    >>> fm.ranking_by_group([1, 0, 0, 1, 2], [0.9, 0.3, 0.8, 0.2, 0.7], users, ["ndcg@2", "mrr"])
    group  n  n_judged  n_relevant  ndcg@2     mrr
    ann    3         3           2  0.7602  1.0000
    bob    2         2           1  1.0000  1.0000
    """
    options = lists.check_options(ties, empty, n_threads, items)
    level = measures.check_level(relevance_level)
    shared = results.Options(ties, empty, level)
    resolved = results.resolve(metrics, shared)
    wanted = {name: results.measures_of(*entry, shared) for name, entry in resolved.items()}
    relevant = Measure.of("n_relevant", relevance_level=level)
    given = lists.Given(y_true, y_score, groups, offsets, None)
    columns: dict[str, np.ndarray] = {}
    of_ties: dict[str, list[str]] = {ties: []}
    for name, (_, arguments) in resolved.items():
        of_ties.setdefault(arguments.get("ties", ties), []).append(name)
    values_of = {}
    for rule, names in of_ties.items():
        own = list(dict.fromkeys([relevant, *(measure for name in names for measure in wanted[name])]))
        keys, values, counts = measure_given(given, table_of(tuple(own)), options._replace(ties=rule))
        if not columns:
            columns["list" if groups is None else "group"] = keys
            columns["n"] = counts[:, measures.ROWS].copy()
            columns["n_judged"] = counts[:, measures.ROWS].copy()
            columns["n_relevant"] = values[0].astype(np.int64)
        for name in names:
            parts = [values[own.index(measure)] for measure in wanted[name]]
            policy = resolved[name][1].get("empty", empty)
            values_of[name] = settle(parts, policy, keys, "list" if groups is None else "group")
    return RankingTable(columns | {name: values_of[name] for name in resolved})


def measure_given(given: lists.Given, table: MeasureTable, options: lists.Options) -> Found:
    """The measures of every list, in the order of their keys."""
    y_true, y_score, groups, offsets, _ = given
    if groups is not None and offsets is not None:
        raise inputs.OptionError(f"groups= and offsets= both say which rows are a list; {lists.FORMS}")
    grades = lists.as_grades(y_true)
    scores = inputs.as_floats(y_score, "y_score")
    if groups is not None and options.ties in TABLES and options.items is None:
        for array, name in ((grades, "y_true"), (scores, "y_score")):
            inputs.check_column(array, name)
        inputs.check_lengths(grades.shape[0], scores.shape[0], "y_true", "y_score")
        return lists.exchange_table(grades, scores, groups, table, options)
    found = lists.read_lists(grades, scores, groups, offsets, None, options)
    try:
        measured = lists.measure(found, table, options)
    except measures.BadListsError:
        lists.check_rows(grades, scores, table)
        raise
    keys = np.arange(found.lists.n_lists) if found.groups is None else found.groups
    return (keys.astype(object) if keys.dtype.kind == "U" else keys), measured.values, measured.counts


def settle(parts: list[np.ndarray], empty: str, keys: np.ndarray, what: str) -> np.ndarray:
    """A metric's value for every list, as the policy for lists without a relevant row says."""
    if len(parts) == 2:  # hits over relevant rows
        return parts[0] / np.where(parts[1] > 0, parts[1], np.nan)
    (values,) = parts
    is_empty = np.isnan(values)
    if empty == "raise" and is_empty.any():
        (key,) = keys[is_empty][:1].tolist()
        raise ValueError(f"{what} {key!r} has no relevant row, and empty='raise'")
    fill = {"zero": 0.0, "one": 1.0}.get(empty, np.nan)
    return np.where(is_empty, fill, values)
