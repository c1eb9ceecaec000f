"""Quantiles, also with weights (Hyndman and Fan, Am. Stat. 50, 1996, definition 2): of arrays, and of ranges of values.

A quantile is found by the weight at or below each value. Weights are added exactly, so the ranges of a long column give
the same number as the column: a range knows the weight below it, and whether it holds a middle value.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS, Rows, block_bounds
from fastmetrics._core.exchange.row_ranges import Allocate, RowRange, RowRangeStatistic
from fastmetrics._core.kinds import LABEL_ROLE, SCORE_ROLE
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._core.statistic import Positioned, TakesTies
from fastmetrics._kernels.regression import selection

EPSILON = 2.0**-52
VALUES_AT_ONCE = 1 << 17  # of several columns; a thread finds their quantiles together
SHARED_VALUES = 1 << 19  # of several long columns; fewer take less time than threads take to start
MANY_ROWS = 1 << 15  # of a column; a sample then finds what is ordered
SAMPLE_ROWS = 1 << 12
LEAST_STEP = 8  # between sampled rows
FEW_VALUES = 4
SAMPLE_MARGIN = 2.0  # four standard deviations of the mass of a random sample below a value


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
    """Return the quantile of a level in [0, 1] for each row of a matrix (n_columns, n), which may be reordered.

    It is the first value with at least this level of the weight at or below it. If the level is reached exactly, it is
    the mean of this value and the next. At least one weight must be positive.
    """
    if weights is not None and not (present := weights > 0).all():
        columns, weights = np.ascontiguousarray(columns[:, present]), weights[present]
    n_columns, rows = columns.shape
    mass = Mass.of(rows, weights)
    bounds = mass.bounds(level)
    if rows > MANY_ROWS:
        threads = n_threads if n_columns < n_threads else 1

        def find_long(number: int) -> float:
            return long_quantile(columns[number], weights, mass, bounds, threads)

        is_shared = threads == 1 and columns.size >= SHARED_VALUES
        return np.array(for_each(n_columns, lambda: find_long, n_threads if is_shared else 1))
    out = np.empty((n_columns, 2))
    step = max(1, VALUES_AT_ONCE // rows)
    work = [slice(start, start + step) for start in range(0, n_columns, step)]

    def find(number: int) -> None:
        find_middles(columns[work[number]], weights, bounds, out[work[number]])

    for_each(len(work), lambda: find, n_threads if columns.size > SERIAL_ROWS else 1)
    return midpoints(out)


def find_middles(columns: np.ndarray, weights: np.ndarray | None, bounds: tuple[int, int], out: np.ndarray) -> None:
    """Write the first and the last of the middle values of every row of `columns`, whose masses have these bounds."""
    rows = columns.shape[1]
    scratch = np.empty((2, rows))
    if weights is None:
        rank, last = bounds
        selection.middles(columns, rank - 1, last >= rank, scratch, out)
    else:
        (low, low_rest, _), (high, high_rest, _) = map(exact.double_double, bounds)
        error = rows * high * 2.0**-96
        selection.weighted_middles(columns, weights, low, low_rest, high, high_rest, error, scratch, out)
    for number in np.flatnonzero(np.isnan(out[:, 0])).tolist():
        middle = middle_values(columns[number].copy(), weights, 0, *bounds)
        if not middle:
            validation.raise_changed()
        out[number] = middle[0], middle[-1]


def quantile(values: np.ndarray, weights: np.ndarray | None, level: float) -> float:
    """`quantiles` of one column."""
    return float(quantiles(values[None], weights, level, 1)[0])


def long_quantile(
    values: np.ndarray, weights: np.ndarray | None, mass: Mass, bounds: tuple[int, int], n_threads: int
) -> float:
    """The quantile of a long column. A sample finds two values about it, and only rows between them are ordered."""
    for low, high in sampled_limits(values, weights, mass, bounds):
        taken, taken_weights, own, below = take_between(values, weights, low, high, n_threads)
        if not below < bounds[0] <= below + own:
            continue
        if below + own > bounds[1]:
            return low if low == high else midpoint(middle_values(taken, taken_weights, below, *bounds))
        if low == high:
            above = float(np.min(values, initial=math.inf, where=values > low))
            return midpoint([low, above if above < math.inf else low])
    return midpoint(middle_values(values, weights, 0, *bounds))


def take_between(
    values: np.ndarray, weights: np.ndarray | None, low: float, high: float, n_threads: int
) -> tuple[np.ndarray, np.ndarray | None, int, int]:
    """The rows with low <= value <= high, their mass, and that of lower rows. Equal values are only counted."""
    blocks = list(block_bounds(values.shape[0]))

    def make_worker() -> Callable[[int], tuple[np.ndarray, np.ndarray, int, int]]:
        scratch = np.empty((1 if weights is None else 3, blocks[0][1]))

        def take(block: int) -> tuple[np.ndarray, np.ndarray, int, int]:
            n, n_below = selection.take_between(values, weights, *blocks[block], low, high, scratch)
            kept = 0 if low == high else n
            if weights is None:
                return scratch[0, :kept].copy(), scratch[0, :0], n, n_below
            own, below = exact.integer_sum(scratch[1, :n]), exact.integer_sum(scratch[2, :n_below])
            return scratch[0, :kept].copy(), scratch[1, :kept].copy(), own, below

        return take

    parts = for_each(len(blocks), make_worker, n_threads)
    taken, taken_weights = (np.concatenate([part[number] for part in parts]) for number in range(2))
    own, below = sum(part[2] for part in parts), sum(part[3] for part in parts)
    return taken, None if weights is None else taken_weights, own, below


def sampled_limits(
    values: np.ndarray, weights: np.ndarray | None, mass: Mass, bounds: tuple[int, int]
) -> list[tuple[float, float]]:
    """Values with the middle values between them, most likely (R. W. Floyd and R. L. Rivest, 1975).

    If the sample has only a few different values there, each of them alone: rows with a value in common are counted.
    """
    step = max(LEAST_STEP, values.shape[0] // SAMPLE_ROWS)
    sample = values[::step]
    if weights is None:
        sample = np.sort(sample)
        reached, squares = np.arange(1.0, sample.shape[0] + 1), float(sample.shape[0])
    else:
        order = np.argsort(sample)
        sample, shares = sample[order], weights[::step][order] / mass.largest
        reached, squares = np.cumsum(shares), math.fsum((shares * shares).tolist())
    low, high = (exact.divide(bound, mass.size) * float(reached[-1]) for bound in bounds)
    first = int(np.searchsorted(reached, low - SAMPLE_MARGIN * math.sqrt(squares)))
    last = int(np.searchsorted(reached, high + SAMPLE_MARGIN * math.sqrt(squares)))
    different = np.unique(sample[first : last + 1])
    if different.shape[0] <= FEW_VALUES:
        return [(value, value) for value in different.tolist()]
    return [
        (
            float(sample[first]) if 0 < first < sample.shape[0] else -math.inf,
            float(sample[last]) if last < sample.shape[0] else math.inf,
        )
    ]


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
    reached = np.cumsum(np.ldexp(weights, -exponent))
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


def midpoints(middles: np.ndarray) -> np.ndarray:
    """The midpoint of every row: its mean, or its value where both are equal."""
    low, high = middles[:, 0], middles[:, 1]
    with np.errstate(over="ignore"):
        means = (low + high) / 2
    means = np.where(np.isfinite(means), means, low / 2 + high / 2)
    return np.where(low == high, low, means)


class MiddleValues(NamedTuple):
    """State of ranges: how much there is in all ranges, and the lowest values that may be the quantile."""

    mass: Mass
    values: list[float]

    @property
    def quantile(self) -> float:
        return midpoint(self.values[:2])


NO_VALUES = MiddleValues(Mass(0), [])


class RangeQuantile(TakesTies, Positioned, RowRangeStatistic):
    """A quantile of a value of the rows. The rows of the ranges that hold it are read, those of the others counted."""

    __slots__ = ("level",)
    needs_sorted_rows = False

    def __init__(self, level: float) -> None:
        self.level = float(level)

    @abstractmethod
    def values_of(self, rows: RowRange) -> np.ndarray:
        """The values of rows, those that order the ranges; a new array."""

    def total_of_range(self, rows: RowRange) -> Mass:
        return Mass.of(rows.scores.shape[0], rows.weights)

    def holds(self, own: Mass, above: Mass | None, total: Mass) -> bool:
        low, high = total.bounds(self.level)
        reached = total.size - (above.size if above is not None else 0)
        return reached >= low and reached - own.size <= high

    def reduce(self, rows: RowRange, above: Mass | None, total: Mass) -> MiddleValues:
        own = self.total_of_range(rows)
        below = total.size - own.size - (above.size if above is not None else 0)
        low, high = total.bounds(self.level)
        return MiddleValues(total, middle_values(self.values_of(rows), rows.weights, below, low, high))

    def merge(self, higher: MiddleValues, lower: MiddleValues) -> MiddleValues:
        return MiddleValues(lower.mass, [*lower.values, *higher.values])

    def merge_tie(self, one: MiddleValues, other: MiddleValues, allocate: Allocate) -> MiddleValues:
        return one if one.values else other

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
