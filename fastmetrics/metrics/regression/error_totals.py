"""Sums of the terms of every output, in two doubles or exact, and what is divided out of them."""

from __future__ import annotations

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.numeric import sums


class DoubleDoubleTotals(NamedTuple):
    """The sum of the terms of every output in two doubles. Results are NaN where their rounding is not certain."""

    totals: np.ndarray
    rows: int
    weight: int  # of all rows, times 2**EXPONENT

    @property
    def bound(self) -> float:
        """The relative error of the sums."""
        return 2.0**-84 + self.rows * 2.0**-110

    def means(self) -> np.ndarray:
        """The mean term of every output, rounded once."""
        return self.divide(self.totals, self.weight)

    def mean_of_outputs(self) -> float:
        """The mean of the means, rounded once."""
        total = np.zeros((1, 2))
        sums.total_of_double_doubles(self.totals, total)
        return float(self.divide(total, self.weight * len(self.totals))[0])

    def divide(self, totals: np.ndarray, weight: int) -> np.ndarray:
        quotients = np.full(len(totals), np.nan)
        high, low, error = exact.double_double(weight)
        if 1e-100 < high < 1e100:
            sums.divide_totals(totals, self.bound, high, low, error, quotients)
        return quotients

    def explained_fractions(self, of_constant: DoubleDoubleTotals) -> np.ndarray:
        """1 - sum / (sum for a constant prediction) of every output, rounded once."""
        fractions = np.empty(len(self.totals))
        sums.one_minus_quotients(self.totals, of_constant.totals, self.bound, fractions)
        return fractions


class ErrorTotals(NamedTuple):
    """The exact sum of the terms of every output, and the weight of all rows, both times 2**(EXPONENT + shift)."""

    states: np.ndarray  # of the sums, all finite, if the shift is 0
    wide_totals: list[int]  # the sums themselves, if terms or their products with weights are no doubles
    weight: int
    shift: int  # not 0 for wide totals

    @property
    def totals(self) -> list[int]:
        if self.shift:
            return self.wide_totals
        return [exact.to_integer(state) for state in self.states]

    def means(self) -> np.ndarray:
        """The mean term of every output, rounded once."""
        if self.shift or len(self.states) == 1:
            return np.array([exact.divide(total, self.weight) for total in self.totals])
        return exact.divide_states(self.states, self.weight)

    def roots(self) -> np.ndarray:
        """The root of the mean term of every output."""
        if self.shift:  # the mean of the squares may be no double where its root is one
            return np.array([exact.divide_root(total, self.weight) for total in self.totals])
        roots: np.ndarray = np.sqrt(self.means())
        return roots

    def mean_of_outputs(self) -> float:
        """The mean of the means, rounded once."""
        if self.shift or len(self.states) == 1:
            totals = self.totals
            return exact.divide(sum(totals), self.weight * len(totals))
        state = self.states.sum(axis=0)
        exact.normalize(state)
        return exact.divide(exact.to_integer(state), self.weight * len(self.states))

    def explained_fractions(self, of_constant: ErrorTotals) -> np.ndarray:
        """1 - sum / (sum for a constant prediction) of every output, rounded once; see `explained_fraction`."""
        totals = zip(self.totals, of_constant.totals, strict=True)
        return np.array(
            [
                explained_fraction(lost << of_constant.shift, whole << self.shift, force_finite=True)
                for lost, whole in totals
            ]
        )

    def ratio(self, other: ErrorTotals) -> float:
        """The quotient of both means of one output. They are rounded before unless that may lose all bits."""
        if self.shift or other.shift:
            return exact.divide(self.totals[0] << other.shift, other.totals[0] << self.shift)
        return float(self.means()[0]) / float(other.means()[0])


def explained_fraction(numerator: int | None, denominator: int, force_finite: bool) -> float:
    """Return 1 - numerator / denominator, rounded once; see `average_explained` for a denominator of zero."""
    if denominator:
        return float("-inf") if numerator is None else exact.divide(denominator - numerator, denominator)
    if force_finite:
        return 0.0 if numerator is None or numerator else 1.0
    return float("-inf") if numerator is None or numerator else float("nan")
