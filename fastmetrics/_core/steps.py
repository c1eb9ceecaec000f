"""Ranges of scores as steps: what every statistic of a threshold sweep reads, made once for all of them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from fastmetrics._core.by_score import ScoreBuckets, scores_of_keys
from fastmetrics._kernels import ranksum, steps

UNIT_BUCKETS = 4  # buckets whose steps are made together, so that Python's part is small


class ClassTotals(NamedTuple):
    """Rows of each class, and their weights times 2**EXPONENT where rows have weights."""

    negatives: int
    positives: int
    negative_weight: int = 0
    positive_weight: int = 0

    def plus(self, other: ClassTotals) -> ClassTotals:
        return ClassTotals(*(one + two for one, two in zip(self, other, strict=True)))


NOTHING = ClassTotals(0, 0)


class Place(NamedTuple):
    """Where a range of scores stands: among how many rows, and how many of them have greater scores."""

    totals: ClassTotals
    above: ClassTotals


class StepRows(Protocol):
    """The rows that steps were made of, for who wants to know more than counts."""

    def others_between(self, low: int, high: int) -> np.ndarray:
        """The keys of the class that is not the pivot, strictly between two keys."""
        ...

    def lowest_key(self) -> int:
        """The key of the least score of either class."""
        ...


class Steps(NamedTuple):
    """The sweep of a range, from its greatest score down; arrays are good until the next steps are made.

    Step k is at the score of `keys[k]` (`by_score.ordered_keys`), descending and distinct. `own[k]` rows of class
    `pivot` have it, and `ties[k]` of the other class; `gaps[k]` others lie above it and below step k - 1, the last of
    `gaps` below all steps. `counts` are the rows of each class.
    """

    pivot: int
    keys: np.ndarray
    own: np.ndarray
    ties: np.ndarray
    gaps: np.ndarray
    counts: ClassTotals
    rows: StepRows

    def scores(self) -> np.ndarray:
        return scores_of_keys(self.keys)

    def score_of(self, key: int) -> float:
        return float(scores_of_keys(np.array([key], self.keys.dtype))[0])


class TiedRows(NamedTuple):
    """Rows that all have one score."""

    keys: np.ndarray

    def others_between(self, low: int, high: int) -> np.ndarray:
        return self.keys[:0]

    def lowest_key(self) -> int:
        return int(self.keys[0])


class SortedRows(NamedTuple):
    """Rows whose classes are sorted: those of the pivot, and the others, ascending."""

    pivots: np.ndarray
    others: np.ndarray

    def others_between(self, low: int, high: int) -> np.ndarray:
        return self.others[(self.others > low) & (self.others < high)]

    def lowest_key(self) -> int:
        return min(int(own[0]) for own in self if len(own))


class BucketRows(NamedTuple):
    """The rows of a run of buckets."""

    buckets: ScoreBuckets
    start: int
    stop: int
    pivot: int

    def others_between(self, low: int, high: int) -> np.ndarray:
        buckets = self.buckets
        keys = [buckets.of_class(buckets.keys, bucket, 1 - self.pivot) for bucket in range(self.start, self.stop)]
        together = np.concatenate(keys)
        return together[(together > low) & (together < high)]

    def lowest_key(self) -> int:
        kernel = steps.lowest_key_u64 if self.buckets.double_scores else steps.lowest_key_u32
        return kernel(self.buckets.addresses, self.buckets.offsets, self.start, self.stop)


def steps_of_tie(keys: np.ndarray, own: ClassTotals) -> Steps:
    """Rows that all have the score of one key: those of either class may be none."""
    counts = np.array([[own.positives], [own.negatives]], np.int64)
    return Steps(1, keys, counts[0], counts[1], np.zeros(2, np.int64), own, TiedRows(keys))


class StepMaker:
    """One thread's way from a run of buckets to its steps.

    Parameters
    ----------
    buckets : ScoreBuckets
        Rows by score.
    pivot : {0, 1}
        The class at whose scores steps are.
    units : list of (int, int)
        The runs of buckets that will be asked for.
    """

    def __init__(self, buckets: ScoreBuckets, pivot: int, units: list[tuple[int, int]]) -> None:
        self.buckets = buckets
        self.pivot = pivot
        counts = buckets.class_counts()
        most = max(1, int(counts[:, pivot].max(initial=0)))
        self.below: list[list[int]] = np.concatenate((np.zeros((1, 2), np.int64), counts.cumsum(0))).tolist()
        of_unit = max(1, max((self.below[stop][pivot] - self.below[start][pivot] for start, stop in units), default=1))
        others = max((self.below[stop][1 - pivot] - self.below[start][1 - pivot] for start, stop in units), default=0)
        if most >= steps.MOST_PIVOTS or max(of_unit, others) >= steps.MOST_ROWS:
            raise OverflowError(f"{most} rows of one class have neighbouring scores: more than a range can hold")
        key_type = buckets.key_type
        self.kernel = steps.bucket_steps_u64 if buckets.double_scores else steps.bucket_steps_u32
        self.pivots, self.scratch = np.empty((2, most), key_type)
        self.cells = np.empty(ranksum.MOST_CELLS + 2, np.uint32)
        self.conflicts = np.empty(ranksum.MOST_CONFLICTS, key_type)
        self.slots = np.empty(2 * most + 1, np.uint32)
        self.keys = np.empty(of_unit, key_type)
        self.own, self.ties, self.gaps = np.empty((3, of_unit + 1), np.int64)

    def make(self, start: int, stop: int) -> Steps:
        """The steps of buckets start up to stop, of which one has rows at least."""
        buckets = self.buckets
        n = self.kernel(
            buckets.addresses, buckets.offsets, start, stop, self.pivot, self.pivots, self.scratch, self.cells,
            self.conflicts, self.slots, self.keys, self.own, self.ties, self.gaps,
        )  # fmt: skip

        counts = ClassTotals(*(high - low for low, high in zip(self.below[start], self.below[stop], strict=True)))
        rows = BucketRows(buckets, start, stop, self.pivot)
        return Steps(self.pivot, self.keys[:n], self.own[:n], self.ties[:n], self.gaps[: n + 1], counts, rows)


def cut_units(ranges: list[range], size: int) -> list[tuple[int, int]]:
    """Runs of a few neighbouring buckets, none of which reaches from one of the ranges into another."""
    return [(start, min(start + size, own.stop)) for own in ranges for start in range(own.start, own.stop, size)]
