"""Measures of trec_eval that need the grade of every rank, also of items without a judgment.

`_kernels/ranking/list_measures.pxd` ranks only rows with a gain, which most measures need. Here all rows of all lists
are in the order of rank, as one array, and a measure is a few passes over it.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np

from fastmetrics._core.elementary import log, log2
from fastmetrics._kernels.ranking import list_means
from fastmetrics.metrics.ranking.lists.ids import TextIds
from fastmetrics.metrics.ranking.lists.list_measures import Lists

# Grades of items that have no relevance: without a judgment, and with a negative one.
NOT_IN_POOL, UNJUDGED = -1.0, -2.0
INFERRED_EPSILON = 0.00001  # of infAP's expected precision
GREATEST_DIGIT = 9  # greater grades have one character in a relstring

Gains = tuple[tuple[int, float], ...]  # pairs of a grade and its gain, for grades whose gain is not the grade


def id_bytes(texts: TextIds, row: int) -> bytes:
    return bytes(texts.data[texts.starts[row] : texts.stops[row]])


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """numerator / denominator, and 0 if the denominator is 0."""
    out = np.zeros(numerator.shape)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


class RowsOfLists:
    """Rows of lists, one list after the other: the list and the place (0, 1, ...) of each."""

    def __init__(self, list_of_row: np.ndarray, n_lists: int) -> None:
        self.list_of_row = list_of_row
        self.sizes = np.bincount(list_of_row, minlength=n_lists)
        self.offsets = np.append(0, np.cumsum(self.sizes))
        self.places = np.arange(list_of_row.shape[0]) - self.offsets[list_of_row]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """The sum of the values of every list, added in the order of rows."""
        return np.bincount(self.list_of_row, values, minlength=self.sizes.shape[0])

    def running_sums(self, values: np.ndarray) -> np.ndarray:
        """For every row the sum of the values up to it, in its list."""
        out = np.empty(values.shape[0])
        list_means.running_sums(values.astype(np.float64, copy=False), self.offsets, out)
        return out

    def first_sums(self, running: np.ndarray, counts: np.ndarray, lists: np.ndarray) -> np.ndarray:
        """The sums of the first `counts` rows of these lists, from running sums; a list may be shorter."""
        counts = np.minimum(counts, self.sizes[lists])
        return np.append(0.0, running)[np.where(counts > 0, self.offsets[lists] + counts, 0)]


class IdealGains:
    """The positive gains of all judged items of every list, the greatest first, and their DCG up to each."""

    def __init__(self, gains: np.ndarray, lists: np.ndarray, n_lists: int) -> None:
        is_positive = gains > 0
        gains, lists = gains[is_positive], lists[is_positive]
        order = np.lexsort((-gains, lists))
        self.gains = gains[order]
        self.rows = RowsOfLists(lists[order], n_lists)
        self.dcg = self.rows.running_sums(self.gains / log2(self.rows.places + 2.0))

    def dcg_of_first(self, counts: np.ndarray, lists: np.ndarray) -> np.ndarray:
        """The DCG of the first `counts` ideal gains of these lists."""
        return self.rows.first_sums(self.dcg, counts, lists)


class GradedRankings:
    """The grades of all lists in the order of rank: by score, then by item, both descending.

    A grade is NOT_IN_POOL without a judgment, and UNJUDGED with a negative one. `level` is the least grade of a
    relevant item. A measure is an array with a value for every list.
    """

    def __init__(self, lists: Lists, level: float) -> None:
        self.level = level
        self.n_lists = lists.n_lists
        self.rows = RowsOfLists(np.repeat(np.arange(lists.n_lists), np.diff(lists.offsets)), lists.n_lists)
        self.grades = lists.grades[order_by_rank(lists, self.rows)].astype(np.float64)
        self._by_gains: dict[Gains, GainedRankings] = {}
        is_judged = self.grades >= 0
        list_of_unretrieved = np.repeat(np.arange(lists.n_lists), np.diff(lists.unretrieved_offsets))
        kept = lists.unretrieved >= 0
        self.judged_grades = np.concatenate((self.grades[is_judged], lists.unretrieved[kept]))
        self.list_of_judged = np.concatenate((self.rows.list_of_row[is_judged], list_of_unretrieved[kept]))

    @cached_property
    def is_relevant(self) -> np.ndarray:
        found: np.ndarray = self.grades >= self.level
        return found

    @cached_property
    def hits(self) -> np.ndarray:
        """The number of relevant items up to every rank."""
        return self.rows.running_sums(self.is_relevant)

    @cached_property
    def n_relevant(self) -> np.ndarray:
        """R: relevant items of every list, retrieved or not."""
        return np.bincount(self.list_of_judged[self.judged_grades >= self.level], minlength=self.n_lists)

    def relevance_strings(self, length: int) -> np.ndarray:
        """A character for each of the first items: its grade, > above 9, - without judgment, . if that is negative."""
        is_shown = self.rows.places < length
        grades = self.grades[is_shown]
        digits = ord("0") + np.clip(grades, 0, GREATEST_DIGIT)
        others = [grades > GREATEST_DIGIT, grades == NOT_IN_POOL, grades == UNJUDGED]
        characters = np.select(others, [ord(">"), ord("-"), ord(".")], digits).astype(np.uint8).tobytes().decode()
        ends = np.append(0, np.cumsum(np.minimum(self.rows.sizes, length))).tolist()
        return np.array([characters[start:end] for start, end in pairwise(ends)], object)

    def precision_at_multiple(self, multiple: float) -> np.ndarray:
        """Precision at floor(multiple R + 0.9) items."""
        cuts = np.floor(multiple * self.n_relevant + 0.9).astype(np.int64)
        return ratio(self.rows.first_sums(self.hits, cuts, np.arange(self.n_lists)), cuts)

    def inferred_average_precision(self) -> np.ndarray:
        """The precision at a relevant item is estimated from the items above it that were judged."""
        relevant = self.is_relevant
        places = self.rows.places[relevant].astype(np.float64)
        pooled = (self.rows.running_sums(self.grades != NOT_IN_POOL) - 1)[relevant]
        judged = (self.rows.running_sums(self.grades >= 0) - 1)[relevant]
        expected = (self.hits[relevant] - 1 + INFERRED_EPSILON) / (judged + 2 * INFERRED_EPSILON)
        precisions = 1 / (places + 1) + places / (places + 1) * ratio(pooled, places) * expected
        return ratio(self.rows_where(relevant).sums(precisions), self.n_relevant)

    def binary_g(self) -> np.ndarray:
        """The mean over relevant items of 1 / log2(2 + other items above)."""
        relevant = self.is_relevant
        others_above = (self.rows.places + 1 - self.hits)[relevant]
        return ratio(self.rows_where(relevant).sums(1 / log2(2 + others_above)), self.n_relevant)

    def smoothed_average_precision(self) -> np.ndarray:
        """log((1 + s) / (1 + R - s)) of the sum s of precisions at relevant items."""
        precisions = self.hits / (self.rows.places + 1)
        total = self.rows.sums(np.where(self.is_relevant, precisions, 0.0))
        logits: np.ndarray = log((1 + total) / (1 + self.n_relevant - total))
        return logits

    def unjudged_share(self, k: int) -> np.ndarray:
        """Items without a judgment among the first k, divided by k."""
        return self.rows.sums((self.grades < 0) & (self.rows.places < k)) / k

    def rank_biased_precision(self, p: float) -> np.ndarray:
        """(1 - p) times the sum of gain p^(rank - 1). If the greatest grade is above 1, gains are divided by it."""
        greatest = np.ones(self.n_lists)
        np.maximum.at(greatest, self.list_of_judged, self.judged_grades)
        gains = np.maximum(self.grades, 0) / greatest[self.rows.list_of_row]
        return (1 - p) * self.rows.sums(gains * self.powers(p)[self.rows.places])

    def rank_biased_residual(self, p: float) -> np.ndarray:
        """How much rbp can grow by items without a judgment and items not retrieved; 0 if all retrieved are judged."""
        powers = self.powers(p)
        unjudged = self.rows.sums(np.where(self.grades < 0, powers[self.rows.places], 0.0))
        return np.where(unjudged > 0, powers[self.rows.sizes] + (1 - p) * unjudged, 0.0)

    def powers(self, p: float) -> np.ndarray:
        """Powers of p up to the length of the longest list, multiplied one after the other as in trec_eval."""
        return np.cumprod(np.append(1.0, np.full(self.rows.sizes.max(initial=0), p)))

    def gained(self, gains: Gains) -> GainedRankings:
        """The gains of all rows and their running DCG, computed once for all measures of the same gains."""
        if gains not in self._by_gains:
            self._by_gains[gains] = GainedRankings(self, gains)
        return self._by_gains[gains]

    def rows_where(self, mask: np.ndarray) -> RowsOfLists:
        return RowsOfLists(self.rows.list_of_row[mask], self.n_lists)


class GainedRankings:
    """The gains of all rows in the order of rank, and those of the ideal lists."""

    def __init__(self, rankings: GradedRankings, gains: Gains) -> None:
        self.rankings = rankings
        self.rows = rankings.rows
        self.gains = gains_of(rankings.grades, gains)
        self.ideal = IdealGains(gains_of(rankings.judged_grades, gains), rankings.list_of_judged, rankings.n_lists)
        self.running_dcg = self.rows.running_sums(self.gains / log2(self.rows.places + 2.0))
        self.every_list = np.arange(rankings.n_lists)

    def dcg(self) -> np.ndarray:
        return self.rows.first_sums(self.running_dcg, self.rows.sizes, self.every_list)

    def ideal_dcg(self) -> np.ndarray:
        return self.ideal.dcg_of_first(self.ideal.rows.sizes, self.every_list)

    def ndcg(self) -> np.ndarray:
        return ratio(self.dcg(), self.ideal_dcg())

    def normalized_g(self) -> np.ndarray:
        """Gains, divided by log2(2 + ideal gain so far - gain so far), over the sum of ideal gains.

        The ideal gain of a rank is at least 1 in the logarithm.
        """
        own, ideal, lists = self.gains, self.ideal, self.rows.list_of_row
        has_ideal = self.rows.places < ideal.rows.sizes[lists]
        costs = np.ones(own.shape[0])
        costs[has_ideal] = np.maximum(ideal.gains[(ideal.rows.offsets[lists] + self.rows.places)[has_ideal]], 1.0)
        behind = self.rows.running_sums(costs) - self.rows.running_sums(own)
        terms = np.divide(own, log2(2 + behind), out=np.zeros(own.shape[0]), where=own != 0)
        return ratio(self.rows.sums(terms), ideal.rows.sums(ideal.gains))

    def ndcg_at_relevant(self) -> np.ndarray:
        """NDCG at the rank of each item with a gain, averaged over all of them; at the end for those not retrieved."""
        ideal = self.ideal
        gained = self.gains > 0
        lists = self.rows.list_of_row[gained]
        values = self.running_dcg[gained] / ideal.dcg_of_first(self.rows.places[gained] + 1, lists)
        retrieved = self.rankings.rows_where(gained)
        n_ideal = ideal.rows.sizes
        total = retrieved.sums(values) + (n_ideal - retrieved.sizes) * self.ndcg()
        means: np.ndarray = np.maximum(ratio(total, n_ideal), 0.0)
        return means

    def ndcg_at_levels(self) -> np.ndarray:
        """NDCG at the ranks where the ideal gain falls, and at the end if more than one row lies beyond the last."""
        ideal, n_lists = self.ideal, self.rankings.n_lists
        n_ideal = ideal.rows.sizes
        falls = (ideal.rows.places[1:] > 0) & (ideal.gains[1:] != ideal.gains[:-1])
        goes_on = self.rows.sizes > n_ideal + 1
        lists = np.concatenate((ideal.rows.list_of_row[1:][falls], self.every_list, self.every_list[goes_on]))
        ranks = np.concatenate((ideal.rows.places[1:][falls], n_ideal, self.rows.sizes[goes_on]))
        values = ratio(self.rows.first_sums(self.running_dcg, ranks, lists), ideal.dcg_of_first(ranks, lists))
        means = np.bincount(lists, values, minlength=n_lists) / np.bincount(lists, minlength=n_lists)
        return np.where((self.rankings.n_relevant > 0) & (n_ideal > 0), means, 0.0)


def gains_of(grades: np.ndarray, gains: Gains) -> np.ndarray:
    """The gain of every grade: itself, or what `gains` says; 0 of a negative grade."""
    found: np.ndarray = np.maximum(grades, 0.0)
    for grade, gain in reversed(gains):  # the first gain of a grade counts
        found[grades == grade] = gain
    return found


def order_by_rank(lists: Lists, rows: RowsOfLists) -> np.ndarray:
    """The rows of every list by score, descending, and those of one score by the bytes of their items, descending."""
    order = np.arange(lists.scores.shape[0])
    rises = np.flatnonzero((lists.scores[1:] > lists.scores[:-1]) & (rows.places[1:] > 0)) + 1
    if rises.shape[0]:  # most files are sorted already: only the lists that are not are sorted
        unsorted = np.isin(rows.list_of_row, rows.list_of_row[rises])
        order[unsorted] = order[unsorted][np.lexsort((-lists.scores[unsorted], rows.list_of_row[unsorted]))]
    scores = lists.scores[order]
    is_tied = np.append(False, (scores[1:] == scores[:-1]) & (rows.places[1:] > 0))
    starts = np.flatnonzero(is_tied[1:] & ~is_tied[:-1])
    stops = np.flatnonzero(np.append(is_tied, False)[1:] < is_tied) + 1
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        tied = order[start:stop].tolist()
        order[start:stop] = sorted(tied, key=lambda row: id_bytes(lists.order, row), reverse=True)
    return order
