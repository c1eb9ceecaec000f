"""Tests and intervals of a difference of two values, from its error.

A claim is that the difference is above a bound, or below it. Its p-value is two-sided, twice a tail of Student's
distribution: then all claims with p < alpha, and no others, are read off the one interval at level 1 - alpha. It holds
for a difference from 0, for one beyond a margin, for one within a margin (two one-sided tests: D. Schuirmann, 1987),
and for one that is not worse than a margin, as the European regulator advises (CPMP/EWP/482/99, "Points to consider on
switching between superiority and non-inferiority", 2000).

A p-value is never below 2^(1 - U) of U effective units: that of the sign test if all of them agree. It is the p-value
of a difference whose error is 0, too. p-values have logarithms: those of whole logs may be below the least double.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from fastmetrics._core.distributions.student import LEAST_TAIL, LOG_TWO, log_upper_tail, student_pvalue
from fastmetrics._core.elementary import exp, log
from fastmetrics._core.inference.anytime import anytime_log_pvalue, find_anytime_interval
from fastmetrics._core.inference.errors import ErrorEstimate
from fastmetrics._core.inference.intervals import ConfidenceInterval, find_interval, why_no_error
from fastmetrics._core.named_tuples import NamedTuple

IntervalAt: TypeAlias = Callable[[float], tuple[float, float] | None]
BEST_VALUES = {"closest_to_one": 1.0, "closest_to_zero": 0.0}


class PValue(NamedTuple):
    """A p-value; a lesser one is a lesser tuple. Both numbers are NaN if there is none."""

    logarithm: float
    probability: float  # 0 where doubles end

    @property
    def is_missing(self) -> bool:
        return math.isnan(self.logarithm)


NO_ERROR = ErrorEstimate(math.nan, math.nan, 0, 0)
NO_PVALUE = PValue(math.nan, math.nan)
CERTAIN = PValue(0.0, 1.0)


class Change(NamedTuple):
    """The difference b - a of two values, and its error.

    tightest_at: as of `anytime.py`, for a growing sample that is looked at again and again; None for one look.
    """

    value: float
    error: ErrorEstimate
    tightest_at: float | None = None

    def above(self, bound: float) -> PValue:
        """The p-value of the claim that the difference is above the bound."""
        return pvalue_beyond(self.value - bound, self.error, self.tightest_at)

    def below(self, bound: float) -> PValue:
        return pvalue_beyond(bound - self.value, self.error, self.tightest_at)

    def interval(self, level: float) -> ConfidenceInterval:
        """The interval at a level; none if so few units cannot show any difference at it."""
        error = self.error
        if why_no_error(error) is None and least_pvalue(error.n_effective).probability >= 1 - level:
            return ConfidenceInterval(None, f"too few units: {error.n_effective} show no difference at this level")
        if self.tightest_at is not None:
            return find_anytime_interval(self.value, error, "real", level, self.tightest_at)
        return find_interval(self.value, error, "real", level)

    def negative(self) -> Change:
        return self._replace(value=-self.value)


class ReplicatedChange(NamedTuple):
    """A difference and its replicates, whose p-value counts those that are as far from their mean as a bound is.

    distances: of the replicates from their mean, ascending.
    """

    value: float
    error: ErrorEstimate
    distances: np.ndarray
    tightest_at: None = None

    def above(self, bound: float) -> PValue:
        return self.pvalue_beyond(self.value - bound)

    def below(self, bound: float) -> PValue:
        return self.pvalue_beyond(bound - self.value)

    def pvalue_beyond(self, distance: float) -> PValue:
        """(1 + #{|d_r - mean(d_r)| >= distance}) / (B + 1)."""
        if distance <= 0:
            return CERTAIN
        n = self.distances.shape[0]
        probability = (1 + n - int(np.searchsorted(self.distances, distance))) / (1 + n)
        return PValue(log(probability), probability)

    def interval(self, level: float) -> ConfidenceInterval:
        """The bounds that the test does not reject."""
        n = self.distances.shape[0]
        n_beyond = math.ceil(round((1 - level) * (n + 1), 9)) - 2  # replicates beyond a bound that is just rejected
        if n_beyond < 0:
            return ConfidenceInterval(None, f"{n:,} replicates show no difference at this level: ask for more")
        reach = float(self.distances[n - 1 - n_beyond]) if n_beyond < n else 0.0
        return ConfidenceInterval((self.value - reach, self.value + reach))


class DistanceChange(NamedTuple):
    """The difference of two values' distances from the best one t, |b - t| - |a - t|.

    With D = b - a and S = (b - t) + (a - t) it is sign(D S) min(|D|, |S|), so it is above a bound c >= 0 if D and S are
    both above c, or both below -c. Every p-value is the greater where both claims must hold (R. Berger,
    "Multiparameter hypothesis testing and acceptance sampling", 1982), and the smaller where one is enough: p-values
    are those of both sides, so two claims of one side have a level of alpha together. The slope of |b - t|, which a
    linear approximation would use, is wrong where the sign of b - t is in doubt.
    """

    value: float
    difference: Change
    total: Change

    @property
    def error(self) -> ErrorEstimate:
        return self.difference.error

    @property
    def tightest_at(self) -> float | None:
        return self.difference.tightest_at

    def above(self, bound: float) -> PValue:
        return pvalue_of_lesser(self.difference, self.total, bound)

    def below(self, bound: float) -> PValue:
        return pvalue_of_lesser(self.difference, self.total.negative(), -bound)

    def interval(self, level: float) -> ConfidenceInterval:
        """The values for all D and S in their intervals."""
        intervals = [self.difference.interval(level), self.total.interval(level)]
        missing = next((one for one in intervals if one.ends is None), None)
        if missing is not None:
            return missing
        (low, high), (least, greatest) = (one.ends for one in intervals if one.ends is not None)
        lower = -max(min(high, -least), min(-low, greatest))
        return ConfidenceInterval((lower, max(min(high, greatest), min(-low, -least))))


class TestedChange(NamedTuple):
    """A difference with the p-value of a test of no difference, and perhaps intervals that were made in another way.

    interval_at: the interval at a level, or None.
    """

    value: float
    pvalue: float
    interval_at: IntervalAt | None = None
    error: ErrorEstimate = NO_ERROR
    tightest_at: None = None

    def above(self, bound: float) -> PValue:
        return NO_PVALUE if bound else self.pvalue_of(self.value)

    def below(self, bound: float) -> PValue:
        return NO_PVALUE if bound else self.pvalue_of(-self.value)

    def pvalue_of(self, distance: float) -> PValue:
        if math.isnan(self.pvalue) or math.isnan(distance):
            return NO_PVALUE
        return PValue(log(self.pvalue) if self.pvalue else -math.inf, self.pvalue) if distance >= 0 else CERTAIN

    def interval(self, level: float) -> ConfidenceInterval:
        """The interval at a level, if it says of 0 what the test says."""
        ends = None if self.interval_at is None else self.interval_at(level)
        if ends is None:
            return ConfidenceInterval(None, "the test has no intervals")
        if (ends[0] <= 0 <= ends[1]) == (self.pvalue < 1 - level):
            return ConfidenceInterval(None, f"interval and test disagree at {100 * level:.4g}%: the test decides")
        return ConfidenceInterval(ends)


ValueChange: TypeAlias = Change | DistanceChange | ReplicatedChange | TestedChange


def change_between(
    direction: str,
    values: tuple[float, float],
    error: ErrorEstimate,
    error_of_sum: ErrorEstimate | None = None,
    tightest_at: float | None = None,
) -> ValueChange:
    """What is compared of two values a and b of a metric of this direction: b - a, or the distances from the best.

    The errors are those of b - a and, for distances, of a + b.
    """
    a, b = values
    difference = Change(b - a, error, tightest_at)
    if error_of_sum is None:
        return difference
    from_best = a - BEST_VALUES[direction], b - BEST_VALUES[direction]
    total = Change(from_best[0] + from_best[1], error_of_sum, tightest_at)
    return DistanceChange(compared_change(direction, a, b), difference, total)


def compared_change(direction: str, a: Any, b: Any) -> Any:
    """What is compared of values, or of arrays of them: b - a, or |b - t| - |a - t| for the best value t."""
    best = BEST_VALUES.get(direction)
    return b - a if best is None else abs(b - best) - abs(a - best)


def two_sided_pvalue(change: ValueChange) -> PValue:
    """The p-value of a change from 0."""
    return min(change.above(0.0), change.below(0.0))


def pvalue_of_lesser(difference: Change, total: Change, bound: float) -> PValue:
    """The p-value of the claim that sign(D S) min(|D|, |S|) is above the bound."""
    size = abs(bound)
    first, second = (difference.above(size), difference.below(-size)), (total.above(size), total.below(-size))
    if first[0].is_missing or second[0].is_missing:
        return NO_PVALUE
    if bound >= 0:
        return min(map(max, first, second))
    first, second = (difference.below(size), difference.above(-size)), (total.above(-size), total.below(size))
    return max(map(min, first, second))


def pvalue_beyond(distance: float, error: ErrorEstimate, tightest_at: float | None = None) -> PValue:
    """The two-sided p-value of a difference that lies so far beyond a bound."""
    if why_no_error(error) is not None or math.isnan(distance):
        return NO_PVALUE
    if distance <= 0:
        return CERTAIN
    least = least_pvalue(error.n_effective)
    t = distance / error.standard_error if error.standard_error else math.inf
    if math.isinf(t):
        return least
    probability = student_pvalue(t, error.df, "two-sided")
    if tightest_at is not None:
        logarithm = anytime_log_pvalue(probability, error.n_units, tightest_at)
        return max(PValue(logarithm, exp(logarithm)), least)
    logarithm = log(probability) if probability > LEAST_TAIL else LOG_TWO + log_upper_tail(t, error.df)
    return min(max(PValue(logarithm, probability), least), CERTAIN)


def least_pvalue(n_effective: int) -> PValue:
    """2^(1 - n)."""
    return PValue((1 - n_effective) * LOG_TWO, math.ldexp(1.0, 1 - n_effective))
