"""Placements as a score statistic, and DeLong's variance of an AUC from their sums.

A placement is twice the number of rows of the other class that a row beats, plus the number that it ties with. The
variance of an AUC (E. DeLong, D. DeLong and D. Clarke-Pearson, 1988) needs the sums of placements and of their squares
in each class. The sums of two ranges of scores merge by a shift, because all positives of the higher range beat all
negatives of the lower one. All sums are integers, so the variance is a quotient that is rounded once, for any order and
any partitioning of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.distributions.normal import two_sided_quantile
from fastmetrics._core.elementary import exp, log
from fastmetrics._core.exact import divide, divide_root
from fastmetrics._core.exchange.runs import ClassTotals, RangePosition, RangeStatistic, Runs
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.score_statistics.pair_counts import undefined_reason
from fastmetrics._kernels.significance import delong_placements as kernels

NO_WEIGHTS = "DeLong's variance is defined for rows without weights; with weights, give ci_method='bootstrap'"


class PlacementSums(NamedTuple):
    """Rows of each class, the sum of placements (equal for both classes), and the sums of their squares by class."""

    negatives: int
    positives: int
    wins: int
    positive_squares: int
    negative_squares: int


class Placements(RangeStatistic):
    """Sums of placements inside a range of scores."""

    __slots__ = ()
    needs_position = False

    def find(self, runs: Runs, position: RangePosition) -> PlacementSums:
        negatives, positives = runs.totals.rows
        if any(runs.totals[2:]):
            raise ValueError(NO_WEIGHTS)
        sums = np.empty((3, 2), np.uint64)
        kernels.sweep_squares(runs.negatives, runs.positives, negatives, sums)
        return PlacementSums(negatives, positives, *map(two_word_integer, sums.tolist()))

    def merge(self, higher: PlacementSums, lower: PlacementSums, totals: ClassTotals) -> PlacementSums:
        # A placement a grows by o, twice the opposite rows of the other range: (a + o)^2 = a^2 + 2 o a + o^2.
        below, above = 2 * lower.negatives, 2 * higher.positives
        return PlacementSums(
            higher.negatives + lower.negatives,
            higher.positives + lower.positives,
            higher.wins + lower.wins + below * higher.positives,
            higher.positive_squares + lower.positive_squares + below * (2 * higher.wins + below * higher.positives),
            higher.negative_squares + lower.negative_squares + above * (2 * lower.wins + above * lower.negatives),
        )


def two_word_integer(words: list[int]) -> int:
    """The integer of two 64-bit words, the low one first."""
    return words[0] + (words[1] << 64)


class Variance(NamedTuple):
    """A variance as a quotient of integers; `reason` says why it is undefined."""

    numerator: int
    denominator: int
    reason: str | None = None

    @property
    def square_root(self) -> float:
        return float("nan") if self.reason else divide_root(self.numerator, self.denominator)


def placement_variance(sums: PlacementSums) -> Variance:
    """The variance of an AUC or, if placements are differences, of the difference of two AUCs.

    It is the variance of the positives' placements (divisor m - 1) divided by m, plus the variance of the negatives'
    placements (divisor n - 1) divided by n. Here a placement is a share of the other class: it is divided by 2 n for a
    positive row, by 2 m for a negative row.
    """
    n, m = sums.negatives, sums.positives
    reason = variance_reason(n, m)
    if reason:
        return Variance(0, 1, reason)
    of_positives = m * sums.positive_squares - sums.wins**2
    of_negatives = n * sums.negative_squares - sums.wins**2
    return Variance(of_positives * (n - 1) + of_negatives * (m - 1), 4 * m * m * n * n * (m - 1) * (n - 1))


def variance_reason(negatives: int, positives: int) -> str | None:
    """Why the variance is undefined for so many rows; None if it is defined."""
    if not negatives or not positives:
        return undefined_reason(negatives, positives)
    if positives == 1:
        return "there is only one positive row, so the variance is unknown"
    return "there is only one negative row, so the variance is unknown" if negatives == 1 else None


def area_interval(area: float, standard_error: float, level: float, method: str) -> tuple[float, float, str | None]:
    """The interval of an AUC with this standard error, and the reason if it is NaN."""
    reach = two_sided_quantile(level) * standard_error
    if method == "delong":
        return max(0.0, area - reach), min(1.0, area + reach), None
    if area in (0.0, 1.0):
        return float("nan"), float("nan"), "the classes are perfectly separated, which has no logit"
    center = log(area / (1 - area))
    reach /= area * (1 - area)
    return expit(center - reach), expit(center + reach), None


def expit(x: float) -> float:
    """1 / (1 + exp(-x)) without overflow."""
    if x >= 0:
        return 1 / (1 + exp(-x))
    small = exp(x)
    return small / (1 + small)


class AreaEstimate(NamedTuple):
    """An AUC, its standard error and its interval; `reason` says which of them is undefined, and why."""

    area: float
    standard_error: float
    low: float
    high: float
    reason: str | None


def estimate_area(sums: PlacementSums, variance: Variance, level: float, method: str = "delong") -> AreaEstimate:
    """The AUC, its standard error and its interval from sums of placements."""
    pairs = 2 * sums.negatives * sums.positives
    area = divide(sums.wins, pairs) if pairs else float("nan")
    if variance.reason:
        return AreaEstimate(area, float("nan"), float("nan"), float("nan"), variance.reason)
    low, high, reason = area_interval(area, variance.square_root, level, method)
    return AreaEstimate(area, variance.square_root, low, high, reason)


def find_interval(parameters: dict[str, Any], level: float, sums: PlacementSums) -> tuple[float, float, float] | str:
    """The interval of a log's AUC and its standard error, or the reason if it is undefined."""
    estimate = estimate_area(sums, placement_variance(sums), level)
    return estimate.reason or (estimate.low, estimate.high, estimate.standard_error)
