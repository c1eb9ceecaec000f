"""Joins a run and its qrels that are dicts of dicts, {query: {item: number}}, into the same lists as two tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._kernels.ranking import run_qrels_dicts
from fastmetrics.metrics.ranking.lists.ids import DictKeys, ids_from_objects
from fastmetrics.metrics.ranking.runs.join import JoinCoverage, JoinedLists, raise_missing

NUMBERS_WANTED = "a number is needed"
NO_ITEMS: dict[Any, Any] = {}


def is_nested(data: Any) -> bool:
    """Whether the data is a dict of dicts. An empty dict counts as one."""
    return isinstance(data, Mapping) and isinstance(next(iter(data.values()), {}), Mapping)


def join_dicts(run: Mapping[Any, Any], qrels: Mapping[Any, Any], *, missing: str = "zero") -> JoinedLists:
    """Join two dicts of dicts; see `join.join_run`.

    A query whose dict in the qrels is empty is unjudged. A query whose dict in the run is empty is an empty list; it is
    not missing.
    """
    check_nested(run, "run")
    check_nested(qrels, "qrels")
    check_id_kinds(run, qrels, "queries")
    run_items, judged_items, queries, unjudged = [], [], [], []
    for query, items in run.items():
        truth = check_item_dict(qrels.get(query, NO_ITEMS), "qrels", query)
        if truth:
            queries.append(query)
            run_items.append(check_item_dict(items, "run", query))
            judged_items.append(truth)
        else:
            unjudged.append(query)
    n_matched = len(run_items)
    not_in_run = []
    if n_matched < len(qrels):
        others = ((query, truth) for query, truth in qrels.items() if query not in run)
        not_in_run = [query for query, truth in others if check_item_dict(truth, "qrels", query)]
    if missing == "raise" and not_in_run:
        raise_missing("run", "qrels", DictKeys(not_in_run))
    if missing == "zero" and not_in_run:
        queries += not_in_run
        run_items += [{}] * len(not_in_run)
        judged_items += [check_item_dict(qrels[query], "qrels", query) for query in not_in_run]
    first, second = next(filter(None, run_items), None), next(filter(None, judged_items), None)
    if first and second:
        check_id_kinds(first, second, "items")
    lists = read_lists(run_items, judged_items, queries)
    coverage = JoinCoverage(n_matched, DictKeys(unjudged), DictKeys(not_in_run))
    return JoinedLists(
        *lists, DictKeys(queries), lambda: ids_from_objects(list(chain.from_iterable(run_items)), "items of run"),
        coverage,
    )  # fmt: skip


def check_nested(data: Any, name: str) -> None:
    if not isinstance(data, Mapping):
        raise TypeError(f"{name} must be a dict of dicts, as the other is; found {type(data).__name__}")
    if not data:
        raise ValueError(f"{name} is empty: at least one query is needed")


def check_item_dict(items: Any, name: str, query: Any) -> dict[Any, Any]:
    if isinstance(items, dict):
        return items
    if isinstance(items, Mapping):
        return dict(items)
    raise TypeError(f"{name}[{query!r}] must be a dict of items; found {type(items).__name__}")


def kind_of_id(key: Any) -> str:
    if isinstance(key, str):
        return "strings"
    return "integers" if isinstance(key, (int, np.integer)) else type(key).__name__


def check_id_kinds(first: Mapping[Any, Any], second: Mapping[Any, Any], what: str) -> None:
    """Raise if the first keys are of two kinds: an integer never equals a string, so no key would match."""
    kinds = [kind_of_id(next(iter(keys))) for keys in (first, second)]
    if kinds[0] != kinds[1]:
        raise TypeError(f"{what} of run and qrels are {kinds[0]} and {kinds[1]}: make both of one type")


def check_number_type(value: Any) -> bool:
    """Whether the type of a number is a floating type. Raises TypeError if the value is not a number."""
    if not validation.is_number(value):
        raise TypeError(NUMBERS_WANTED)
    return isinstance(value, (float, np.floating))


def read_lists(
    run_items: list[dict[Any, Any]], judged_items: list[dict[Any, Any]], queries: list[Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scores, grades and offsets of the lists; grades and offsets of the judged items that were not retrieved."""
    n_lists = len(run_items)
    sizes = np.fromiter(map(len, run_items), np.int64, n_lists)
    offsets = np.append(0, np.cumsum(sizes))
    rows = int(offsets[-1])
    scores, grades = np.empty(max(rows, 1))[:rows], np.empty(max(rows, 1))[:rows]
    unretrieved = np.empty(sum(map(len, judged_items)))
    unretrieved_offsets = np.zeros(n_lists + 1, np.int64)
    bad = run_qrels_dicts.join_dicts(
        run_items, judged_items, offsets, check_number_type, scores, grades, unretrieved, unretrieved_offsets
    )
    if bad is not None:
        raise_bad_number(queries, *bad)
    return scores, grades, offsets, unretrieved[: int(unretrieved_offsets[-1])], unretrieved_offsets


def raise_bad_number(queries: list[Any], index: int, side: int, item: Any, value: Any, error: Exception) -> NoReturn:
    column, name = (("score", "run"), ("relevance", "qrels"))[side]
    reason = "" if str(error) == "NaN" else f": {error}"
    found = "NaN" if value != value else repr(value)
    kind = validation.InputError if isinstance(error, TypeError) else ValueError
    raise kind(f"{name} has {column} {found} for item {item!r} of query {queries[index]!r}{reason}") from None
