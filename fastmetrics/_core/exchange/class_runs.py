"""A base for statistics of the range exchange that are written in plain NumPy, once for rows with and without weights.

A range of scores becomes two arrays: the mass of negatives and of positives, run by run, from the greatest score down.
A run has the rows of one score, or the rows of neighbouring scores if all of them are of one class. So the arrays hold
all that the order of scores says about the classes. A mass is a number of rows, or with weights an integer multiple of
2**-EXPONENT.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.exchange.threshold_sweep import NO_ROWS, ClassTotals, RangePosition, ThresholdSweep
from fastmetrics._core.exchange.weighted_ranges import WeightedRows
from fastmetrics._core.exchange.weighted_sweep import sweep_weighted
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.statistic import Statistic

INT64_PRODUCTS = 1 << 62  # up to this product of the classes, int64 holds the products of masses

Masses = tuple[int, int]  # of negatives, of positives


class RangeState(NamedTuple):
    """The state of a range: rows and masses of both classes, and what the statistic found in it."""

    rows: Masses
    masses: Masses
    found: Any


class RunStatistic(Statistic):
    """Base of a statistic that reads runs: a subclass writes `find` and `join`."""

    __slots__ = ()
    needs_position = True
    pivots_on_positives = False
    bounds = None  # no approximate states

    def find(self, negatives: np.ndarray, positives: np.ndarray, totals: Masses) -> Any:
        """What to know of a range, from its runs and the masses of all rows. The arrays may be empty.

        They are int64, or Python integers in an object array if int64 would overflow: use operations of NumPy that
        work with both, such as `np.cumsum` and `max`.
        """
        raise NotImplementedError

    def find_below(self, negatives: np.ndarray, positives: np.ndarray, totals: Masses, above: Masses) -> Any:
        """`find`, for a statistic that also needs the masses of the rows with greater scores than the range."""
        return self.find(negatives, positives, totals)

    def join(self, low: RangeState, high: RangeState, totals: Masses) -> Any:
        """What to know of two neighbouring ranges together; all scores of `high` are greater than those of `low`."""
        raise NotImplementedError

    def empty(self) -> RangeState:
        nothing: np.ndarray = np.empty(0, np.int64)
        return self.state(nothing, nothing, NO_ROWS, RangePosition(NO_ROWS, NO_ROWS))

    def state(
        self, negatives: np.ndarray, positives: np.ndarray, own: ClassTotals, position: RangePosition
    ) -> RangeState:
        totals = masses(position.totals)
        if totals[0] * totals[1] > INT64_PRODUCTS:
            negatives, positives = negatives.astype(object), positives.astype(object)
        return RangeState(own[:2], masses(own), self.find_below(negatives, positives, totals, masses(position.above)))

    def from_sweep(self, sweep: ThresholdSweep, position: RangePosition) -> RangeState:
        n = sweep.pivot_counts.shape[0]
        pivots, others = np.zeros((2, 2 * n + 1), np.int64)
        pivots[1::2], others[1::2], others[::2] = sweep.pivot_counts, sweep.tied_counts, sweep.between_counts
        negatives, positives = (others, pivots) if sweep.pivot else (pivots, others)
        return self.state(negatives, positives, sweep.class_totals, position)

    def from_weighted_rows(self, rows: WeightedRows, position: RangePosition) -> RangeState:
        sweep = sweep_weighted(rows)
        negatives, positives = (own.astype(object) << sweep.shift for own in (sweep.negatives, sweep.positives))
        own = ClassTotals(*rows.counts, int(negatives.sum()), int(positives.sum()))
        return self.state(negatives, positives, own, position)

    def from_weighted_tie(self, score: float, tied: ClassTotals, position: RangePosition) -> RangeState:
        negatives, positives = np.array([[mass] for mass in tied[2:]], object)
        return self.state(negatives, positives, tied, position)

    def merge(self, low: RangeState, high: RangeState, totals: ClassTotals) -> RangeState:
        rows, both = ((one[0] + two[0], one[1] + two[1]) for one, two in zip(low[:2], high[:2], strict=True))
        return RangeState(rows, both, self.join(low, high, masses(totals)))


def masses(totals: ClassTotals) -> Masses:
    """The weights of both classes, or their rows if rows have no weights."""
    return totals[2:] if any(totals[2:]) else totals[:2]
