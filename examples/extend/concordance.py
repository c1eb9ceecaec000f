"""Harrell's concordance index of censored survival times: does the higher score belong to the earlier event?

Two rows can be compared if the row with the earlier time had the event (at equal times: if exactly one of them had it).
The pair is concordant if that row has the higher score; a tie in score counts half.

Harrell, F. E., Califf, R. M., Pryor, D. B., Lee, K. L. and Rosati, R. A. (1982). Evaluating the yield of medical tests.
JAMA 247.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastmetrics.extend import Binary, Columns, NonNegative, Real, ScoreRangeStatistic, divide, metric


class Pairs(NamedTuple):
    """The state of a range: comparable pairs, concordant pairs (doubled), and the times of its events and of others.

    Times are ascending and distinct, each with a number of rows.
    """

    comparable: int
    doubled: int
    events: tuple[np.ndarray, np.ndarray]
    censored: tuple[np.ndarray, np.ndarray]


NONE = (np.empty(0), np.empty(0, np.int64))


def count_times(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(times, return_counts=True)


def join_times(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> Any:
    times, places = np.unique(np.concatenate((one[0], other[0])), return_inverse=True)
    counts = np.zeros(times.shape[0], np.int64)
    np.add.at(counts, places, np.concatenate((one[1], other[1])))
    return times, counts


def later_rows(events: Any, others: Pairs) -> int:
    """Pairs of an event and another row that was observed longer."""
    total = 0
    for (times, counts), side in ((others.events, "right"), (others.censored, "left")):
        beyond = np.append(np.cumsum(counts[::-1])[::-1], 0)
        total += int((events[1] * beyond[np.searchsorted(times, events[0], side)]).sum())
    return total


class ConcordantPairs(ScoreRangeStatistic):
    """Pairs inside a range, and the times of its rows. The state grows with the number of different times."""

    __slots__ = ()

    def state(self, columns: Columns, above: Any, total: Any) -> Pairs:
        if columns.weights is not None and (columns.weights != np.floor(columns.weights)).any():
            raise ValueError("the concordance index counts pairs of rows: weights have to be whole numbers")
        repeats = np.ones(columns.rows, np.int64) if columns.weights is None else columns.weights.astype(np.int64)
        edges = [*columns.starts.tolist(), columns.rows]
        return self.state_of(columns.time, columns.event == 1, repeats, edges)

    def state_of(self, times: np.ndarray, events: np.ndarray, repeats: np.ndarray, edges: list[int]) -> Pairs:
        """Halves of the distinct scores are merged, down to single ones."""
        if len(edges) > 2:
            middle = len(edges) // 2
            high, low = (
                self.state_of(times, events, repeats, part) for part in (edges[: middle + 1], edges[middle:])
            )
            return self.merge(high, low)
        where = slice(edges[0], edges[1])
        own, had_event = np.repeat(times[where], repeats[where]), np.repeat(events[where], repeats[where])
        tie = Pairs(0, 0, count_times(own[had_event]), count_times(own[~had_event]))
        pairs = later_rows(tie.events, tie)
        return tie._replace(comparable=pairs, doubled=pairs)

    def merge(self, higher: Pairs, lower: Pairs) -> Pairs:
        concordant, discordant = later_rows(higher.events, lower), later_rows(lower.events, higher)
        return Pairs(
            higher.comparable + lower.comparable + concordant + discordant,
            higher.doubled + lower.doubled + 2 * concordant,
            join_times(higher.events, lower.events),
            join_times(higher.censored, lower.censored),
        )

    def empty(self) -> Pairs:
        return Pairs(0, 0, NONE, NONE)


@metric(
    "concordance",
    exchange="range",
    statistics=ConcordantPairs(),
    roles={"time": NonNegative(), "event": Binary(), "score": Real()},
    undefined="no two rows can be compared",
)
def concordance(parameters: dict[str, Any], pairs: Pairs) -> float:
    """Concordance index: the share of comparable pairs whose earlier event has the higher score."""
    return divide(pairs.doubled, 2 * pairs.comparable)
