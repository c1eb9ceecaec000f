"""A run and its ground truth as dicts of dicts, {query: {item: number}}: the same lists as of two tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._kernels import dictlists
from fastmetrics.metrics.ranking.ids import Ids, Names, of_objects
from fastmetrics.metrics.ranking.joined import (
    MISSING,
    JoinCoverage,
    Joined,
    refuse_missing,
    table_size,
)

NUMBERS_WANTED = "a number is needed"
NO_ITEMS: dict[Any, Any] = {}


def is_nested(data: Any) -> bool:
    """Is it a dict of dicts? A dict without anything in it may be one."""
    return isinstance(data, Mapping) and isinstance(next(iter(data.values()), {}), Mapping)


def join_dicts(run: Mapping[Any, Any], qrels: Mapping[Any, Any], *, missing: str = "zero") -> Joined:
    """Join two dicts of dicts; see `joined.join_run`.

    A query without a judged item has no judgement; one whose dict in the run is empty is an empty list, not missing.
    """
    inputs.check_option(missing, "missing", MISSING)
    check_nested(run, "run")
    check_nested(qrels, "qrels")
    check_kinds(run, qrels, "queries")
    own, judged, queries, unjudged = [], [], [], []
    for query, items in run.items():
        truth = as_dict(qrels.get(query, NO_ITEMS), "qrels", query)
        if truth:
            queries.append(query)
            own.append(as_dict(items, "run", query))
            judged.append(truth)
        else:
            unjudged.append(query)
    n_matched = len(own)
    absent = []
    if n_matched < len(qrels):
        absent = [query for query, truth in qrels.items() if query not in run and as_dict(truth, "qrels", query)]
    if missing == "raise" and absent:
        refuse_missing("run", "qrels", Names(absent))
    if missing == "zero" and absent:
        queries += absent
        own += [{}] * len(absent)
        judged += [as_dict(qrels[query], "qrels", query) for query in absent]
    check_item_kinds(own, judged)
    lists = read_lists(own, judged, queries)
    coverage = JoinCoverage(n_matched, Names(unjudged), Names(absent))
    return Joined(*lists, Names(queries), lambda: item_ids(own), coverage)


def check_nested(data: Any, name: str) -> None:
    if not isinstance(data, Mapping):
        raise TypeError(f"{name} must be a dict of dicts, as the other is; found {type(data).__name__}")
    if not data:
        raise ValueError(f"{name} is empty: at least one query is needed")


def as_dict(items: Any, name: str, query: Any) -> dict[Any, Any]:
    if isinstance(items, dict):
        return items
    if isinstance(items, Mapping):
        return dict(items)
    raise TypeError(f"{name}[{query!r}] must be a dict of items; found {type(items).__name__}")


def kind_of_id(key: Any) -> str:
    if isinstance(key, str):
        return "strings"
    return "integers" if isinstance(key, (int, np.integer)) else type(key).__name__


def check_kinds(first: Mapping[Any, Any], second: Mapping[Any, Any], what: str) -> None:
    """An integer never equals a string: where the first keys are of two kinds, nothing could meet."""
    kinds = [kind_of_id(next(iter(keys))) for keys in (first, second)]
    if kinds[0] != kinds[1]:
        raise TypeError(f"{what} of run and qrels are {kinds[0]} and {kinds[1]}: make both of one type")


def check_item_kinds(own: list[dict[Any, Any]], judged: list[dict[Any, Any]]) -> None:
    first, second = next(filter(None, own), None), next(filter(None, judged), None)
    if first and second:
        check_kinds(first, second, "items")


def accepts(value: Any) -> bool:
    """Is a number's type a floating one? Raises for what is no number."""
    if not inputs.is_number(value):
        raise TypeError(NUMBERS_WANTED)
    return isinstance(value, (float, np.floating))


def read_lists(
    own: list[dict[Any, Any]], judged: list[dict[Any, Any]], queries: list[Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scores, grades and offsets of the lists; grades and offsets of judged items not retrieved."""
    n_lists = len(own)
    sizes = np.fromiter(map(len, own), np.int64, n_lists)
    offsets = np.zeros(n_lists + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    rows, longest = int(offsets[-1]), int(sizes.max(initial=1))
    scores, grades = np.empty(max(rows, 1))[:rows], np.empty(max(rows, 1))[:rows]
    unretrieved = np.empty(sum(map(len, judged)))
    unretrieved_offsets = np.zeros(n_lists + 1, np.int64)
    bad = dictlists.join_dicts(
        own, judged, offsets, accepts, np.empty(longest, np.uint64), np.empty(longest, np.uint8),
        np.empty(table_size(longest), np.uint32), scores, grades, unretrieved, unretrieved_offsets,
    )  # fmt: skip
    if bad is not None:
        refuse_number(queries, *bad)
    return scores, grades, offsets, unretrieved[: int(unretrieved_offsets[-1])], unretrieved_offsets


def refuse_number(queries: list[Any], place: int, side: int, item: Any, value: Any, error: Exception) -> NoReturn:
    what, name = (("score", "run"), ("relevance", "qrels"))[side]
    reason = "" if str(error) == "NaN" else f": {error}"
    found = "NaN" if value != value else repr(value)
    kind = inputs.InputError if isinstance(error, TypeError) else ValueError
    raise kind(f"{name} has {what} {found} for item {item!r} of query {queries[place]!r}{reason}") from None


def item_ids(own: list[dict[Any, Any]]) -> Ids:
    """The items of all lists, one after the other."""
    return of_objects(list(chain.from_iterable(own)), "items of run")
