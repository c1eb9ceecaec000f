"""Quantiles, also with weights (Hyndman and Fan, Am. Stat. 50, 1996, definition 2): of arrays, and of ranges of values.

A quantile is found by the weight at or below each value. Weights are added exactly, so the ranges of a long column give
the same number as the column: a range knows the weight below it, and whether it holds a middle value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS, Rows
from fastmetrics._core.exchange.row_ranges import RANGES, RowRange, RowRangeStatistic
from fastmetrics._core.kinds import LABEL_ROLE, SCORE_ROLE
from fastmetrics._core.parallel import for_each

EPSILON = 2.0**-52
VALUES_AT_ONCE = 1 << 17  # of several columns; a thread finds their quantiles together


class Mass(NamedTuple):
    """How much there is of some values: rows, and with weights their exact sum and the largest of them.

    The sum is in units of 2**-EXPONENT.
    """

    rows: int
    weight: int | None = None
    largest: float = 0.0

    @classmethod
    def of(cls, rows: int, weights: np.ndarray | None) -> Mass:
        if weights is None:
            return cls(rows)
        return cls(rows, exact.integer_sum(weights), float(weights.max()))

    def __add__(self, other: Any) -> Mass:
        weight = None if self.weight is None or other.weight is None else self.weight + other.weight
        return Mass(self.rows + other.rows, weight, max(self.largest, other.largest))

    @property
    def size(self) -> int:
        """The weight, or the number of rows."""
        return self.rows if self.weight is None else self.weight

    def bounds(self, level: float) -> tuple[int, int]:
        """How much lies at or below the quantile of a level: reached at `low`, and reached exactly up to `high`."""
        # As in scikit-learn, the level is converted to per cent and back. This rounds in the same way.
        share = level * 100 / 100
        if self.weight is None:
            target_rank = share * self.rows
            rank = min(max(math.ceil(target_rank), 1), self.rows)
            is_between = math.ceil(target_rank) - target_rank <= EPSILON and target_rank > 0
            return rank, rank if is_between else rank - 1
        numerator, denominator = share.as_integer_ratio()
        target = numerator * self.weight // denominator
        if target == 0:
            return 1, 0
        # Half of 0.1 + 0.2 + 0.3 is reached by 0.1 + 0.2, whatever the last bits of these decimals.
        tolerance = exact.to_fixed(math.ldexp(EPSILON, math.frexp(self.largest)[1]))
        return max(1, target - tolerance), target + tolerance


def quantiles(columns: np.ndarray, weights: np.ndarray | None, level: float, n_threads: int) -> np.ndarray:
    """Return `quantile` of every row of an array of shape (n_columns, n), which is reordered."""
    n_columns, rows = columns.shape
    out = np.empty(n_columns)
    if weights is not None:
        work = [slice(number, number + 1) for number in range(n_columns)]
    else:
        step = max(1, VALUES_AT_ONCE // rows)
        work = [slice(start, start + step) for start in range(0, n_columns, step)]

    def find(unit: int) -> None:
        own = columns[work[unit]]
        out[work[unit]] = quantile(own[0], weights, level) if len(own) == 1 else plain_quantiles(own, level)

    for_each(len(work), lambda: find, n_threads if columns.size > SERIAL_ROWS else 1)
    return out


def plain_quantiles(columns: np.ndarray, level: float) -> np.ndarray:
    """Return `quantile` of every row of an array of several, without weights."""
    rank, last = Mass(columns.shape[1]).bounds(level)
    ranks = sorted({rank - 1, max(rank - 1, min(last, columns.shape[1] - 1))})
    columns.partition(ranks, axis=1)
    return np.array(list(map(midpoint, columns[:, ranks].tolist())))


def quantile(values: np.ndarray, weights: np.ndarray | None, level: float) -> float:
    """Return the quantile of a level in [0, 1]. At least one weight must be positive.

    It is the first value with at least this level of the weight at or below it. If the level is reached exactly, it is
    the mean of this value and the next. The array is reordered.
    """
    if weights is not None:
        present = weights > 0
        if not present.all():
            values, weights = values[present], weights[present]
    mass = Mass.of(values.shape[0], weights)
    return midpoint(middle_values(values, weights, 0, *mass.bounds(level)))


def middle_values(values: np.ndarray, weights: np.ndarray | None, below: int, low: int, high: int) -> list[float]:
    """The values, at most two, at which the mass reaches `low`, and from which on it is more than `high`.

    `below` is the mass of smaller values that are not in the array, which is reordered.
    """
    if weights is not None:
        return middle_of_weighted(values, weights, below, low, high)
    first, last = max(low - 1 - below, 0), min(high - below, values.shape[0] - 1)
    if first > last:
        return []
    ranks = sorted({first, min(first + 1, last)})
    values.partition(ranks)
    return [float(values[rank]) for rank in ranks]


def middle_of_weighted(values: np.ndarray, weights: np.ndarray, below: int, low: int, high: int) -> list[float]:
    """The same with weights. Float sums find about where the mass is reached; exact sums decide."""
    order = np.argsort(values)  # equal values stay together, and only their sums are used
    values, weights = values[order], weights[order]
    exponent = math.frexp(float(weights.max()))[1]
    reached = np.cumsum(weights * 2.0**-exponent if abs(exponent) < 1000 else np.ldexp(weights, -exponent))
    rounding = values.shape[0] * EPSILON * float(reached[-1])
    wanted = exact.divide(low - below, 1 << (exact.EXPONENT + exponent))
    start = min(int(np.searchsorted(reached, wanted - rounding)), values.shape[0] - 1)
    start = int(np.searchsorted(values, values[start]))
    found: list[float] = []
    mass = below + (exact.integer_sum(weights[:start]) if start else 0)
    while start < values.shape[0] and mass <= high and len(found) < 2:
        stop = int(np.searchsorted(values, values[start], "right"))
        mass += exact.integer_sum(weights[start:stop])
        if mass >= low:
            found.append(float(values[start]))
        start = stop
    return found


def midpoint(middle: list[float]) -> float:
    """Return the mean of one or two values. Equal values are returned unchanged, so that their sum cannot overflow."""
    if not middle:
        validation.raise_changed()
    low, high = middle[0], middle[-1]
    middle_value = low if low == high else (low + high) / 2
    return middle_value if math.isfinite(middle_value) else low / 2 + high / 2


class MiddleValues(NamedTuple):
    """State of ranges: how much there is in all ranges, and the lowest values that may be the quantile."""

    mass: Mass
    values: list[float]

    @property
    def quantile(self) -> float:
        return midpoint(self.values[:2])


NO_VALUES = MiddleValues(Mass(0), [])


class RangeQuantile(RowRangeStatistic):
    """A quantile of a value of the rows. The rows of the ranges that hold it are read, those of the others counted."""

    __slots__ = ("level",)
    order = RANGES

    def __init__(self, level: float) -> None:
        self.level = float(level)

    def values_of(self, rows: RowRange) -> np.ndarray:
        """The values of rows, those that order the ranges; a new array."""
        raise NotImplementedError

    def total(self, rows: RowRange) -> Mass:
        return Mass.of(rows.scores.shape[0], rows.weights)

    def holds(self, own: Mass, above: Mass | None, total: Mass) -> bool:
        low, high = total.bounds(self.level)
        reached = total.size - (above.size if above is not None else 0)
        return reached >= low and reached - own.size <= high

    def reduce(self, rows: RowRange, above: Mass | None, total: Mass) -> MiddleValues:
        own = self.total(rows)
        below = total.size - own.size - (above.size if above is not None else 0)
        low, high = total.bounds(self.level)
        return MiddleValues(total, middle_values(self.values_of(rows), rows.weights, below, low, high))

    def merge(self, high: MiddleValues, low: MiddleValues) -> MiddleValues:
        return MiddleValues(low.mass, [*low.values, *high.values])

    def empty(self) -> MiddleValues:
        return NO_VALUES


def absolute_error(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """|y - p| of rows, in float64."""
    with np.errstate(over="ignore"):
        errors: np.ndarray = np.abs(columns[LABEL_ROLE].astype(np.float64) - columns[SCORE_ROLE])
    return errors


def label_values(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """The labels in float64."""
    return columns[LABEL_ROLE].astype(np.float64)


class ErrorQuantile(RangeQuantile):
    """A quantile of absolute errors."""

    __slots__ = ()
    ordered_by = staticmethod(absolute_error)

    def check(self, rows: Rows) -> None:
        if not np.isfinite(rows.scores).all():
            rows.raise_bad_score()

    def values_of(self, rows: RowRange) -> np.ndarray:
        return absolute_error({LABEL_ROLE: rows.labels, SCORE_ROLE: rows.scores})


class LabelQuantile(RangeQuantile):
    """A quantile of the labels."""

    __slots__ = ()
    ordered_by = staticmethod(label_values)

    def values_of(self, rows: RowRange) -> np.ndarray:
        return label_values({LABEL_ROLE: rows.labels})
