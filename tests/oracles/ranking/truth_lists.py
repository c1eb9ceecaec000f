"""Lists of a log whose relevant items stand in a second table: an outer join of one user after the other.

The definition is that of runs and qrels: a list has the grades that the second table has of its items, 0 for others,
and the judged items that it does not show count as not retrieved (E. M. Voorhees, D. K. Harman, TREC: experiment and
evaluation in information retrieval, MIT Press, 2005, chapter 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from oracles.ranking import ranking_lists

Rows = Sequence[Mapping[str, Any]]


class JoinedList(NamedTuple):
    """The rows of a group with their grades, and the grades of its items that are not among them."""

    scores: list[float]
    grades: list[float]
    unretrieved: list[float]
    weight: float


def join(log: Rows, truth: Rows, unjudged: float = 0) -> dict[Any, JoinedList]:
    """The lists of the groups of the log, in the order in which groups appear."""
    lists: dict[Any, JoinedList] = {}
    for key in dict.fromkeys(row["user"] for row in log):
        shown = [row for row in log if row["user"] == key]
        judged = {row["item"]: row["grade"] for row in truth if row["user"] == key}
        items = {row["item"] for row in shown}
        lists[key] = JoinedList(
            [row["score"] for row in shown],
            [judged.get(row["item"], unjudged) for row in shown],
            [grade for item, grade in judged.items() if item not in items],
            shown[0].get("weight", 1.0),
        )
    return lists


def value(name: str, lists: Sequence[JoinedList], weighted: bool = False, **options: Any) -> float:
    """The mean of a measure over lists; one without a relevant item counts as 0."""
    values = [
        ranking_lists.measure(name, own.scores, own.grades, own.unretrieved, **options) for own in lists
    ]
    return float(ranking_lists.mean(values, [own.weight for own in lists] if weighted else None) or 0)
