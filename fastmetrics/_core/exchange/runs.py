"""Runs of a range of scores, which every statistic of the order of scores reads, and what such a statistic declares.

A range has all rows whose scores lie between two cuts; rows of one score are never in different ranges. Its runs are
two arrays, the mass of the negatives and that of the positives, from the greatest score down. A run has the rows of one
score, or of neighboring scores as far as the statistic's cut allows. A mass is a number of rows, or with weights an
integer multiple of 2**-EXPONENT. Runs are made when they are first read. Besides their arrays they offer what NumPy
lacks, each by the kernel for the form that their masses have:

    `CountedRuns`    rows: int64
    `WeightedRuns`   weights: two words of 128 bits (weighted_sweep.py)
    `IntegerRuns`    weights that differ by a factor of more than about 2**50: Python's integers (weighted_sweep.py)

So a statistic is one class with `find` and `merge`, which has weights, slices, memory limits and replicates.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np

from fastmetrics._core.exact import EXPONENT, divide, new_states, to_integer
from fastmetrics._core.exchange.range_exchange import ScoreBuckets, scores_of_keys
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import computed_once
from fastmetrics._core.statistic import RangeExchangeStatistic
from fastmetrics._kernels.sweep import runs as kernels

INT64_PRODUCTS = 1 << 62  # up to this product of the classes, int64 holds the products of masses
WORD = (1 << 64) - 1

Masses = tuple[int, int]  # of negatives, of positives
Made = tuple[np.ndarray, np.ndarray, np.ndarray]  # keys of runs, the masses of negatives, and those of positives


class ClassTotals(NamedTuple):
    """Rows of each class, and the weights of each class times 2**EXPONENT (0 without weights)."""

    negatives: int
    positives: int
    negative_weight: int = 0
    positive_weight: int = 0

    @property
    def rows(self) -> Masses:
        return self[:2]

    @property
    def masses(self) -> Masses:
        """The weights of both classes, or their rows if rows have no weights."""
        return self[2:] if any(self[2:]) else self[:2]

    def plus(self, other: ClassTotals) -> ClassTotals:
        # Written out: replicates add many.
        return ClassTotals(self[0] + other[0], self[1] + other[1], self[2] + other[2], self[3] + other[3])

    def as_floats(self) -> tuple[float, float]:
        """The masses of both classes, each rounded once."""
        if not any(self[2:]):
            return float(self.negatives), float(self.positives)
        return to_weight(self.negative_weight), to_weight(self.positive_weight)


NO_ROWS = ClassTotals(0, 0)


class RangePosition(NamedTuple):
    """Where a range lies: the totals of all rows, and the totals of the rows with greater scores."""

    totals: ClassTotals
    above: ClassTotals


NO_POSITION = RangePosition(NO_ROWS, NO_ROWS)


class RangeState(NamedTuple):
    """A state that most statistics can use: the totals of a range, and what the statistic found in it."""

    totals: ClassTotals
    found: Any


class Cut(IntEnum):
    """Where runs end. Runs may be shorter than they have to be, but one score never has two."""

    CLASSES = kernels.CUT_CLASSES  # a run has one score, or the rows of one class of several
    POSITIVES = kernels.CUT_POSITIVES  # a run has one score, or the negatives of several
    SCORES = kernels.CUT_SCORES  # a run has one score


class CurvePoint(NamedTuple):
    """A point of the ROC curve: the masses down to a score, and the score (None if it is not known)."""

    fps: int
    tps: int
    score: float | None


class Points(NamedTuple):
    """Points of the ROC curve from the greatest score down; the masses are rounded once."""

    scores: np.ndarray
    fps: np.ndarray
    tps: np.ndarray


def to_weight(mass: int) -> float:
    """The weight that a mass stands for, rounded once."""
    return divide(mass, 1 << EXPONENT)


def rate_gap(fps: int, tps: int, totals: Masses) -> int:
    """(FPR - FNR) * negatives * positives: it never falls from a score to the next lower one."""
    return fps * totals[1] + (tps - totals[1]) * totals[0]


def weighted_precision(tied: int, positives: int, negatives: int) -> int:
    """The weight of the positives of one score times the precision there, both in the fixed unit.

    Weight and precision are rounded once each, and so is their product: kernels do the same.
    """
    numerator, denominator = (to_weight(tied) * divide(positives, positives + negatives)).as_integer_ratio()
    return (numerator << EXPONENT) // denominator


class Runs(ABC):
    """The runs of a range. Masses are in the fixed unit, with which a weight is an integer (2**-EXPONENT)."""

    cut: Cut

    @property
    @abstractmethod
    def totals(self) -> ClassTotals:
        """Rows and weights of the range by class."""

    @property
    @abstractmethod
    def negatives(self) -> np.ndarray:
        """The mass of the negatives of every run.

        Without weights int64; with weights, or where products of the masses of both classes would overflow, Python's
        integers in an object array. Operations of NumPy such as `np.cumsum` and `max` work with both.
        """

    @property
    @abstractmethod
    def positives(self) -> np.ndarray:
        """The mass of the positives of every run, as that of the negatives."""

    @property
    @abstractmethod
    def scores(self) -> np.ndarray:
        """The score of every run; NaN where it may have several."""

    @abstractmethod
    def lowest_score(self) -> float:
        """The least score of the range, which has rows."""

    def cumulate(self, above: ClassTotals) -> tuple[np.ndarray, np.ndarray]:
        """The masses of the negatives and of the positives down to every run, with those above the range."""
        fps, tps = above.masses
        return np.cumsum(self.negatives) + fps, np.cumsum(self.positives) + tps

    @abstractmethod
    def points(self, position: RangePosition) -> Points:
        """The point at every run; with `Cut.POSITIVES` at those that have positives."""

    @abstractmethod
    def extremes(self, totals: Masses) -> tuple[int, int]:
        """The greatest and the least of (positives so far) * totals[0] - (negatives so far) * totals[1].

        It is 0 above the range, and counts at the end of every run.
        """

    @abstractmethod
    def precisions(self, position: RangePosition) -> int:
        """The sum, over scores with positives, of their mass times the precision at the score: `weighted_precision`.

        All masses are multiplied by 2**`tiny_total_shift` of the positives of all ranges before.
        """

    @abstractmethod
    def pairs(self) -> int:
        """Twice the mass of the pairs of a positive and a negative that the positive wins; a tie counts once."""

    def upper_hull(self) -> list[CurvePoint]:
        """The corners of the least concave curve above the range's ROC curve, counted from the top of the range."""
        columns = (column.tolist() for column in (*self.cumulate(NO_ROWS), self.scores))
        points = (CurvePoint(*own) for own in zip(*columns, strict=True))
        return upper_corners([CurvePoint(0, 0, math.inf), *points])

    def crossing(self, position: RangePosition) -> tuple[CurvePoint, CurvePoint]:
        """The points before and after the crossing of the error rates, which lies in this range, with `Cut.SCORES`.

        The score before is not known if it is that of a higher range.
        """
        totals = position.totals.masses
        fps, tps = self.cumulate(position.above)
        runs = range(len(fps))
        crossed = bisect_left(runs, True, key=lambda run: rate_gap(int(fps[run]), int(tps[run]), totals) >= 0)
        scores = self.scores
        after = CurvePoint(int(fps[crossed]), int(tps[crossed]), float(scores[crossed]))
        if not crossed:
            return CurvePoint(*position.above.masses, None), after
        return CurvePoint(int(fps[crossed - 1]), int(tps[crossed - 1]), float(scores[crossed - 1])), after


class CountedRuns(Runs):
    """The runs of rows without weights.

    Parameters
    ----------
    totals, position
        Rows of the range, and its position.
    cut : Cut
        Where runs end.
    """

    def __init__(self, totals: ClassTotals, position: RangePosition, cut: Cut) -> None:
        self.own_totals = totals
        self.cut = cut
        self.is_large = position.totals.negatives * position.totals.positives > INT64_PRODUCTS

    @abstractmethod
    def make(self) -> Made:
        """The keys of the runs (`range_exchange.ordered_keys`), and their negatives and positives (int64)."""

    @abstractmethod
    def lowest_key(self) -> np.ndarray:
        """The least key of the range."""

    @property
    def totals(self) -> ClassTotals:
        return self.own_totals

    @computed_once
    def made(self) -> Made:
        return self.make()

    @property
    def negatives(self) -> np.ndarray:
        return self.made[1].astype(object) if self.is_large else self.made[1]

    @property
    def positives(self) -> np.ndarray:
        return self.made[2].astype(object) if self.is_large else self.made[2]

    @property
    def scores(self) -> np.ndarray:
        return scores_of_keys(self.made[0])

    def lowest_score(self) -> float:
        return float(scores_of_keys(self.lowest_key())[0])

    def points(self, position: RangePosition) -> Points:
        keys, *masses = self.made
        sums = [np.cumsum(of_class) for of_class in masses]
        if self.cut is Cut.POSITIVES:
            kept = np.flatnonzero(masses[1])
            keys, sums = keys[kept], [of_class[kept] for of_class in sums]
        fps, tps = (own.astype(np.float64) + above for own, above in zip(sums, position.above.rows, strict=True))
        return Points(scores_of_keys(keys), fps, tps)

    def extremes(self, totals: Masses) -> tuple[int, int]:
        _, negatives, positives = self.made
        if not self.is_large:
            return kernels.extremes(negatives, positives, *totals)
        masses = np.zeros((negatives.shape[0], kernels.RUN_WORDS), np.uint64)
        masses[:, 0], masses[:, 2] = negatives, positives
        return wide_extremes(masses, totals)

    def precisions(self, position: RangePosition) -> int:
        state = new_states()
        kernels.precisions(*self.made[1:], *position.above.rows, state)
        return to_integer(state)

    def pairs(self) -> int:
        low, high = kernels.pairs(*self.made[1:], self.totals.negatives)
        return int(low + (high << 64))

    def upper_hull(self) -> list[CurvePoint]:
        if self.is_large:
            corners = super().upper_hull()
        else:
            _, negatives, positives = self.made
            runs, fps, tps = np.empty((3, negatives.shape[0] + 1), np.int64)
            n = kernels.upper_hull(negatives, positives, runs, fps, tps)
            scores = math.inf, *self.scores[runs[1:n]].tolist()
            corners = [CurvePoint(*own) for own in zip(fps[:n].tolist(), tps[:n].tolist(), scores, strict=True)]
        last = corners[-1]
        if last.score is not None and math.isnan(last.score):  # the end of the range
            corners[-1] = last._replace(score=self.lowest_score())
        return corners


class MadeRuns(CountedRuns):
    """Runs whose keys and masses are known."""

    def __init__(self, totals: ClassTotals, position: RangePosition, cut: Cut, made: Made) -> None:
        super().__init__(totals, position, cut)
        self.known = made

    def make(self) -> Made:
        return self.known

    def lowest_key(self) -> np.ndarray:
        return self.known[0][-1:]


class SortedRuns(CountedRuns):
    """The runs of sorted keys: those of the negatives, then those of the positives, each ascending."""

    def __init__(self, keys: np.ndarray, totals: ClassTotals, position: RangePosition, cut: Cut) -> None:
        super().__init__(totals, position, cut)
        self.keys = keys

    def make(self) -> Made:
        run_keys, masses = np.empty_like(self.keys), np.empty((2, self.keys.shape[0]), np.int64)
        n = kernels.runs_of_sorted(self.keys, self.totals.negatives, self.cut, run_keys, *masses)
        return run_keys[:n], masses[0, :n], masses[1, :n]

    def lowest_key(self) -> np.ndarray:
        firsts = [start for start, rows in zip((0, self.totals.negatives), self.totals.rows, strict=True) if rows]
        least: np.ndarray = self.keys[firsts].min(keepdims=True)
        return least


def upper_corners(curve: Sequence[Any]) -> list[Any]:
    """The corners of the least concave curve above points that begin with false and true positives."""
    hull: list[Any] = []
    for point in curve:
        while len(hull) > 1 and is_below(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def is_below(left: Any, middle: Any, right: Any) -> bool:
    """Is the middle point on or below the line between its neighbors?"""
    run, rise = right[0] - left[0], right[1] - left[1]
    return bool((middle[0] - left[0]) * rise >= (middle[1] - left[1]) * run)


def wide_extremes(masses: np.ndarray, totals: tuple[int, ...]) -> tuple[int, int]:
    """`Runs.extremes` of masses of two words each; totals have the same unit."""
    found = np.zeros((3, 4), np.uint64)
    kernels.wide_extremes(masses, to_words(*totals), found)
    return signed_integer(found[1]), signed_integer(found[2])


def signed_integer(words: np.ndarray) -> int:
    """An integer of words of 64 bits, the lowest first; the last has the sign."""
    return int.from_bytes(words.astype("<u8").tobytes(), "little", signed=True)


def to_words(*numbers: int) -> np.ndarray:
    """Numbers below 2**128 as pairs of a low and a high word."""
    return np.array([(number & WORD, number >> 64) for number in numbers], np.uint64)


NO_KEYS: np.ndarray = np.empty(0, np.uint64)
NO_MASSES: np.ndarray = np.empty(0, np.int64)
NO_RUNS = MadeRuns(NO_ROWS, NO_POSITION, Cut.SCORES, (NO_KEYS, NO_MASSES, NO_MASSES))


# ---- What a statistic declares ----


class RangeStatistic(RangeExchangeStatistic):
    """A statistic of the order of scores: the state of a range, and the state of two neighboring ranges together.

    Attributes
    ----------
    cut : Cut
        The runs that `find` reads.
    needs_position : bool
        Does it read the position? If no statistic does, ranges need not be counted before.
    """

    __slots__ = ()
    cut: ClassVar[Cut] = Cut.CLASSES

    @property
    def needs_position(self) -> bool:
        return True

    def empty(self) -> Any:
        """The state of no rows."""
        return self.find(NO_RUNS, NO_POSITION)

    @abstractmethod
    def find(self, runs: Runs, position: RangePosition) -> Any:
        """The state of a range."""

    @abstractmethod
    def merge(self, higher: Any, lower: Any, totals: ClassTotals) -> Any:
        """The state of two ranges together; all scores of `higher` are greater. `totals` are those of all ranges."""


class SlicedStatistic(ABC):
    """A statistic of all slices at once: it reads the rows of buckets, which have columns beside the scores."""

    needs_position: ClassVar[bool] = False

    @property
    @abstractmethod
    def kept_columns(self) -> tuple[str, ...]:
        """The columns (uint16) that buckets have beside the scores."""

    @abstractmethod
    def empty(self) -> Any:
        """The state of no rows."""

    @abstractmethod
    def merge(self, higher: Any, lower: Any, totals: ClassTotals) -> Any:
        """The state of two neighboring ranges together."""

    @abstractmethod
    def range_counter(self, buckets: ScoreBuckets) -> Callable[[int, int], Any]:
        """A thread's function from a range of buckets to its state."""

    @abstractmethod
    def from_tied_blocks(self, blocks: Sequence[Any]) -> Any:
        """The state of rows that all have one score."""

    @abstractmethod
    def by_slice(self, state: Any) -> Iterator[tuple[int | None, Any]]:
        """What every slice that has rows is called, and its state."""
