"""Placements as a score statistic, and what DeLong, DeLong and Clarke-Pearson (1988) make of their sums.

A placement is twice the rows of the other class that a row beats, plus those it ties with. The variance of an AUC needs
the sums of placements and of their squares in each class; of ranges of scores these merge by shifting, for all
positives of a higher range beat all negatives of a lower one. Everything is a whole number, so the variance is a
quotient that is rounded once, for any order and any cut of the rows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core.exact import divide, divide_root
from fastmetrics._core.normal import deviations
from fastmetrics._core.pairs import why_undefined
from fastmetrics._core.statistic import Statistic
from fastmetrics._core.steps import ClassTotals, Place, Steps
from fastmetrics._core.weighted import WeightedRows
from fastmetrics._kernels import placements as kernels

NO_WEIGHTS = "DeLong's variance is that of rows that count once: it takes no weights; ci_method='bootstrap' does"
ONE_POSITIVE = "there is only one positive row, so the variance is unknown"
ONE_NEGATIVE = "there is only one negative row, so the variance is unknown"


class PlacementSums(NamedTuple):
    """Rows of each class, their placements' sum (the same for either), and the squares' sum of each class."""

    negatives: int
    positives: int
    wins: int
    positive_squares: int
    negative_squares: int


class Placements(Statistic):
    """Sums of placements inside a range of scores."""

    __slots__ = ()
    needs_place = False
    needs_positives = False
    bounds = None  # a variance has none

    def empty(self) -> PlacementSums:
        return PlacementSums(0, 0, 0, 0, 0)

    def of_steps(self, steps: Steps, place: Place) -> PlacementSums:
        own = steps.counts
        sums = np.empty((3, 2), np.uint64)
        kernels.steps_squares(
            steps.own, steps.ties, steps.gaps, steps.own.shape[0], steps.pivot, own.negatives, sums
        )
        return PlacementSums(own.negatives, own.positives, *(wide(words) for words in sums.tolist()))

    def of_weighted(self, rows: WeightedRows, place: Place) -> NoReturn:
        raise ValueError(NO_WEIGHTS)

    def of_weighted_tie(self, score: float, own: ClassTotals, place: Place) -> NoReturn:
        raise ValueError(NO_WEIGHTS)

    def merge(self, low: PlacementSums, high: PlacementSums, totals: ClassTotals) -> PlacementSums:
        # Of (a + o)^2 = a^2 + 2 o a + o^2 for every a, with o twice the rows of the other range.
        below, above = 2 * low.negatives, 2 * high.positives
        return PlacementSums(
            low.negatives + high.negatives,
            low.positives + high.positives,
            low.wins + high.wins + below * high.positives,
            low.positive_squares + high.positive_squares + 2 * below * high.wins + below * below * high.positives,
            low.negative_squares + high.negative_squares + 2 * above * low.wins + above * above * low.negatives,
        )


def wide(words: list[int]) -> int:
    """An integer of two words, low first."""
    return words[0] + (words[1] << 64)


class Variance(NamedTuple):
    """A variance as a quotient of whole numbers; `reason` says why there is none."""

    numerator: int
    denominator: int
    reason: str | None = None

    @property
    def root(self) -> float:
        return float("nan") if self.reason else divide_root(self.numerator, self.denominator)


def placement_variance(sums: PlacementSums) -> Variance:
    """Of an AUC or, where placements are differences, of the difference of two.

    The variance of placements over the positives (divisor m - 1) by m, plus that over the negatives (n - 1) by n, each
    placement as a share of the other class: half of it over n, or over m.
    """
    n, m = sums.negatives, sums.positives
    reason = why_unknown(n, m)
    if reason:
        return Variance(0, 1, reason)
    of_positives = m * sums.positive_squares - sums.wins**2
    of_negatives = n * sums.negative_squares - sums.wins**2
    return Variance(of_positives * (n - 1) + of_negatives * (m - 1), 4 * m * m * n * n * (m - 1) * (n - 1))


def why_unknown(negatives: int, positives: int) -> str | None:
    """Why classes of so many rows have no variance."""
    if not negatives or not positives:
        return why_undefined(negatives, positives)
    if positives == 1:
        return ONE_POSITIVE
    return ONE_NEGATIVE if negatives == 1 else None


def area_interval(area: float, root: float, level: float, method: str) -> tuple[float, float, str | None]:
    """The interval of an AUC with this standard error, and why it is NaN if it is."""
    reach = deviations(level) * root
    if method == "delong":
        return max(0.0, area - reach), min(1.0, area + reach), None
    if area in (0.0, 1.0):
        return float("nan"), float("nan"), "the classes are perfectly separated, which has no logit"
    centre = math.log(area / (1 - area))
    reach /= area * (1 - area)
    return expit(centre - reach), expit(centre + reach), None


def expit(x: float) -> float:
    """1 / (1 + exp(-x)) without overflow."""
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    small = math.exp(x)
    return small / (1 + small)


class AreaEstimate(NamedTuple):
    """An AUC, its standard error and interval; `reason` says what of it is undefined."""

    area: float
    root: float
    low: float
    high: float
    reason: str | None


def estimate_area(sums: PlacementSums, variance: Variance, level: float, method: str = "delong") -> AreaEstimate:
    """What is known of an AUC."""
    pairs = 2 * sums.negatives * sums.positives
    area = divide(sums.wins, pairs) if pairs else float("nan")
    if variance.reason:
        return AreaEstimate(area, float("nan"), float("nan"), float("nan"), variance.reason)
    low, high, reason = area_interval(area, variance.root, level, method)
    return AreaEstimate(area, variance.root, low, high, reason)


def find_interval(
    parameters: dict[str, Any], level: float, sums: PlacementSums
) -> tuple[float, float, float] | str:
    """The interval of a log's AUC and its standard error, or why there is none."""
    found = estimate_area(sums, placement_variance(sums), level)
    return found.reason or (found.low, found.high, found.root)
