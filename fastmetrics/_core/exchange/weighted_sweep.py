"""The threshold sweep of a range with weights: exact sums at every distinct score, from the greatest down.

A weight is an integer multiple of 2**unit (`weighted_ranges.WeightScale`). Curves and sums of precisions take kernels
with sums of 128 bits, if twice the sum of all weights fits them: so it is if weights differ by a factor of less than
about 2**50. Otherwise, and for statistics that need integers, the sums are int64 or Python integers: slower, and as
exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import ALIGNED_BYTES, SERIAL_ROWS, LargePages
from fastmetrics._core.exact import EXPONENT, divide, new_states, to_integer
from fastmetrics._core.exchange.range_exchange import scores_of_keys
from fastmetrics._core.exchange.threshold_sweep import ClassTotals, RangePosition
from fastmetrics._core.exchange.weighted_ranges import MOST_LIMBS, WORD, WeightedRows, WeightScale
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.statistic import Statistic
from fastmetrics._kernels.sweep import weighted_sweep

MOST_UNCERTAIN = 256  # quotients of a range that a kernel may leave to Python's integers
INT64_BITS = 62  # of a sum; one bit is spare because the sum is estimated in floats


class WeightedPoints(NamedTuple):
    """The columns of the points of a range of scores, or of all, in descending order of score.

    `fps` and `tps` are the weights of the negatives and of the positives down to each score, `below` that of the
    positives below it; it is empty if nobody asked for it. `has_positive` says whether a positive row has the score: a
    rounded sum may not show it.
    """

    scores: np.ndarray
    fps: np.ndarray
    tps: np.ndarray
    below: np.ndarray
    has_positive: np.ndarray

    def part(self, start: int, stop: int) -> WeightedPoints:
        return WeightedPoints(*(column[start:stop] for column in self))


class RatePoints(NamedTuple):
    """The columns of the points of a range of scores, or of all, in ascending order of score."""

    scores: np.ndarray
    x: np.ndarray
    y: np.ndarray
    has_positive: np.ndarray

    def part(self, start: int, stop: int) -> RatePoints:
        return RatePoints(*(column[start:stop] for column in self))


def new_points(n: int, with_below: bool) -> WeightedPoints:
    scores, fps, tps = new_columns(n, 3)
    return WeightedPoints(scores, fps, tps, np.empty(n if with_below else 0), np.empty(n, bool))


def new_columns(n: int, n_columns: int) -> list[np.ndarray]:
    """Columns of float64, of many rows in large pages: results keep no more memory than they need."""
    if n <= SERIAL_ROWS:
        return [np.empty(n) for _ in range(n_columns)]
    pages = LargePages(n_columns * (8 * n + ALIGNED_BYTES))
    return [pages.array(np.float64, n) for _ in range(n_columns)]


def totals_of(rows: WeightedRows) -> ClassTotals:
    """Rows and weights of both classes."""
    return ClassTotals(*rows.counts, *rows.class_weights())


def points_of_range(
    rows: WeightedRows, position: RangePosition, columns: WeightedPoints | None = None
) -> WeightedPoints:
    """The points of the rows of a range, written to the start of `columns`, which are as long as the rows."""
    if columns is None:
        columns = new_points(rows.keys.shape[0], with_below=True)
    if rows.scale.n_limbs <= MOST_LIMBS:
        above = position.above
        sums = to_wide(rows.scale, above.negative_weight, above.positive_weight, position.totals.positive_weight)
        has_positive = columns.has_positive.view(np.uint8)
        n = weighted_sweep.write_points(
            rows.ordered(), rows.keys.itemsize == 8, rows.scale.unit, sums, *columns[:4], has_positive
        )
        return columns.part(0, n)
    sweep = sweep_weighted(rows)
    return points_of_sums(sweep.scores, *sweep.cumulative(), position, sweep.positives != 0, columns)


class WeightedCurve(Statistic):
    """The statistic of the range exchange whose state are the points of the curve, one item for each range.

    All points are written into the same columns, which are as long as the rows. `longer` are the columns of scores and
    sums with room for `n_more` points before the first.
    """

    __slots__ = ("columns", "longer")
    needs_position = True
    pivots_on_positives = False

    def __init__(self, n_rows: int, with_below: bool, n_more: int = 0) -> None:
        scores, fps, tps, *others = new_points(n_more + n_rows, with_below)
        self.longer = scores, fps, tps
        self.columns = WeightedPoints(*(column[n_more:] for column in (*self.longer, *others)))

    def attributes(self) -> tuple[Any, ...]:
        """Two statistics never share their columns."""
        return (id(self.columns),)

    def empty(self) -> list[WeightedPoints]:
        return []

    def columns_of_range(self, n: int, position: RangePosition) -> WeightedPoints:
        """The columns of a range of n rows: they follow those of the rows with greater scores."""
        first = position.above.negatives + position.above.positives
        return self.columns.part(first, first + n)

    def from_weighted_rows(self, rows: WeightedRows, position: RangePosition) -> list[WeightedPoints]:
        return [points_of_range(rows, position, self.columns_of_range(rows.keys.shape[0], position))]

    def from_weighted_tie(self, score: float, tied: ClassTotals, position: RangePosition) -> list[WeightedPoints]:
        return [points_of_tie(score, tied, position, self.columns_of_range(1, position))]

    def merge(
        self, low: list[WeightedPoints], high: list[WeightedPoints], totals: ClassTotals
    ) -> list[WeightedPoints]:
        return high + low

    def join(self, ranges: list[WeightedPoints]) -> WeightedPoints:
        """The points of all ranges, which are in descending order."""
        if sum(points.scores.shape[0] for points in ranges) == self.columns.scores.shape[0]:  # no score occurs twice
            return self.columns
        return WeightedPoints(*(np.concatenate(parts) for parts in zip(*ranges, strict=True)))


class WeightedRates(Statistic):
    """The statistic of the range exchange whose state are rates at points, one item for each range, ascending.

    All points are written into the same columns, which are as long as the rows. `longer` are the columns of scores and
    rates with room for `n_more` points behind the last. The rates are the false positive rate and the false negative
    rate if `error_rates`, otherwise precision and recall.
    """

    __slots__ = ("columns", "error_rates", "longer", "n_rows")
    needs_position = True
    pivots_on_positives = False

    def __init__(self, n_rows: int, error_rates: bool, n_more: int) -> None:
        self.n_rows = n_rows
        self.error_rates = error_rates
        scores, x, y = self.longer = tuple(new_columns(n_rows + n_more, 3))
        self.columns = RatePoints(scores[:n_rows], x[:n_rows], y[:n_rows], np.empty(n_rows, bool))

    def attributes(self) -> tuple[Any, ...]:
        """Two statistics never share their columns."""
        return (id(self.columns),)

    def empty(self) -> list[RatePoints]:
        return []

    def from_weighted_rows(self, rows: WeightedRows, position: RangePosition) -> list[RatePoints]:
        above, totals = position.above, position.totals
        stop = self.n_rows - above.negatives - above.positives
        start = stop - rows.keys.shape[0]
        if rows.scale.n_limbs > MOST_LIMBS:
            return self.add_points(points_of_range(rows, position), stop, position)
        sums = to_wide(rows.scale, above.negative_weight, above.positive_weight, totals.positive_weight)
        own = self.columns.part(start, stop)
        n = weighted_sweep.write_rates(
            rows.ordered(), rows.keys.itemsize == 8, rows.scale.unit, sums, *rounded_totals(totals), self.error_rates,
            *own[:3], own.has_positive.view(np.uint8),
        )  # fmt: skip
        return [self.columns.part(stop - n, stop)]

    def from_weighted_tie(self, score: float, tied: ClassTotals, position: RangePosition) -> list[RatePoints]:
        points = points_of_tie(score, tied, position, new_points(1, with_below=True))
        return self.add_points(points, self.n_rows - position.above.negatives - position.above.positives, position)

    def add_points(self, points: WeightedPoints, stop: int, position: RangePosition) -> list[RatePoints]:
        """Write the rates at some points to the columns before `stop`."""
        own = self.columns.part(stop - points.scores.shape[0], stop)
        write_rates(points, self.error_rates, *rounded_totals(position.totals), own[:3])
        own.has_positive[:] = points.has_positive[::-1]
        return [own]

    def merge(self, low: list[RatePoints], high: list[RatePoints], totals: ClassTotals) -> list[RatePoints]:
        return low + high

    def join(self, ranges: list[RatePoints]) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """The scores and rates of all ranges with room for further points, and where a positive has the score."""
        if sum(points.scores.shape[0] for points in ranges) == self.n_rows:  # no score occurs twice
            return self.longer, self.columns.has_positive
        *columns, has_positive = (np.concatenate(parts) for parts in zip(*ranges, strict=True))
        more = np.empty(self.longer[0].shape[0] - self.n_rows)
        return tuple(np.concatenate((column, more)) for column in columns), has_positive


def rounded_totals(totals: ClassTotals) -> tuple[float, float]:
    """The weights of all negatives and of all positives, rounded once."""
    return divide(totals.negative_weight, 1 << EXPONENT), divide(totals.positive_weight, 1 << EXPONENT)


def write_rates(
    points: WeightedPoints, error_rates: bool, all_negatives: float, all_positives: float, columns: Sequence[np.ndarray]
) -> None:
    """Write the scores of some points in ascending order, and the rates there: see `WeightedRates`."""
    thresholds, x, y = columns
    scores, fps, tps, below = (column[::-1] for column in points[:4])
    thresholds[:] = scores
    with np.errstate(invalid="ignore", divide="ignore"):  # no positive row: recall is NaN
        if error_rates:
            np.divide(fps, all_negatives, out=x)
            np.divide(below, all_positives, out=y)
        else:
            np.divide(tps, np.add(tps, fps, out=x), out=x)
            np.divide(tps, all_positives, out=y)


def to_wide(scale: WeightScale, *weights: int) -> np.ndarray:
    """Weights in the fixed unit as multiples of the scale's unit: pairs of a low and a high word."""
    units = [weight >> scale.shift for weight in weights]
    return np.array([(number & WORD, number >> 64) for number in units], np.uint64)


def sum_precisions(
    rows: WeightedRows, above: ClassTotals, weighted_precision: Callable[[int, int, int], int], shift: int = 0
) -> int:
    """The sum over scores with positives of `weighted_precision(weight, positives, negatives)` in the fixed unit.

    The arguments are the weights of the positives of the score, and of the positives and negatives down to it. All
    weights are multiplied by 2**shift (`tiny_total_shift` of the positives of all ranges).
    """
    if rows.scale.n_limbs <= MOST_LIMBS:
        ordered = rows.ordered()
        if shift:  # no weight overflows: those of all rows are close enough together for 128 bits
            ordered = ordered.copy()
            ordered[:, 1].view(np.float64)[:] = np.ldexp(ordered[:, 1].view(np.float64), shift)
        state, uncertain = new_states(), np.empty((MOST_UNCERTAIN, 6), np.uint64)
        sums = to_wide(rows.scale, above.negative_weight, above.positive_weight)
        n = weighted_sweep.sum_precisions(ordered, rows.scale.unit + shift, sums, state, uncertain)
        if n >= 0:
            numbers = [[low + (high << 64) for low, high in pairwise_words(row)] for row in uncertain[:n].tolist()]
            terms = (weighted_precision(*(number << rows.scale.shift + shift for number in own)) for own in numbers)
            return to_integer(state) + sum(terms)
    sweep = sweep_weighted(rows)
    negatives, positives = sweep.cumulative()
    return sum(
        weighted_precision(
            int(sweep.positives[tie]) << sweep.shift + shift, above.positive_weight + positives[tie] << shift,
            above.negative_weight + negatives[tie] << shift,
        )
        for tie in np.flatnonzero(sweep.positives).tolist()
    )  # fmt: skip


def pairwise_words(words: list[int]) -> Iterator[tuple[int, int]]:
    return zip(words[::2], words[1::2], strict=True)


def points_of_sums(
    scores: np.ndarray,
    negatives: list[int],
    positives: list[int],
    position: RangePosition,
    has_positive: np.ndarray,
    columns: WeightedPoints,
) -> WeightedPoints:
    """The points of a range, from the sums of weights down to every score as Python integers."""
    above, totals = position.above, position.totals
    points = columns.part(0, len(scores))
    points.scores[:], points.has_positive[:] = scores, has_positive
    points.fps[:] = [divide(above.negative_weight + weight, 1 << EXPONENT) for weight in negatives]
    points.tps[:] = [divide(above.positive_weight + weight, 1 << EXPONENT) for weight in positives]
    if points.below.shape[0]:
        left = totals.positive_weight - above.positive_weight
        points.below[:] = [divide(left - weight, 1 << EXPONENT) for weight in positives]
    return points


def points_of_tie(
    score: float, tied: ClassTotals, position: RangePosition, columns: WeightedPoints
) -> WeightedPoints:
    """The point of rows that all have one score."""
    sums = [tied.negative_weight], [tied.positive_weight]
    return points_of_sums(np.array([score]), *sums, position, np.array([tied.positives > 0]), columns)


# --------------------------------------------------------------------------------------------------- integers


class WeightedSweep(NamedTuple):
    """Weights of either class at each distinct score, descending, in multiples of 2**(shift - EXPONENT)."""

    scores: np.ndarray
    negatives: np.ndarray
    positives: np.ndarray
    shift: int

    def cumulative(self) -> tuple[list[int], list[int]]:
        """Cumulative weights of negatives and positives down to each score, times 2**EXPONENT."""
        negatives, positives = np.cumsum(self.negatives).tolist(), np.cumsum(self.positives).tolist()
        return [total << self.shift for total in negatives], [total << self.shift for total in positives]


def to_multiples(weights: np.ndarray, unit: int) -> np.ndarray:
    """Weights as multiples of 2**unit."""
    with np.errstate(over="ignore"):
        scaled: np.ndarray = np.ldexp(weights, -unit)
    if float(scaled.sum()) < float(1 << INT64_BITS):
        return scaled.astype(np.int64)
    multiples = np.empty(weights.shape[0], object)
    multiples[:] = [to_multiple(value, unit) for value in weights.tolist()]
    return multiples


def to_multiple(value: float, unit: int) -> int:
    """value / 2**unit, which is an integer."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator << -unit) // denominator if unit < 0 else numerator // (denominator << unit)


def sweep_weighted(rows: WeightedRows) -> WeightedSweep:
    """Both classes' weights at every distinct score of a range."""
    order = np.argsort(rows.keys)[::-1]
    keys, multiples = rows.keys[order], to_multiples(rows.weights, rows.scale.unit)[order]
    is_positive = order >= rows.n_negatives
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    zeros: Any = np.zeros_like(multiples)
    positives = np.add.reduceat(np.where(is_positive, multiples, zeros), first)
    negatives = np.add.reduceat(np.where(is_positive, zeros, multiples), first)
    return WeightedSweep(scores_of_keys(keys[first]), negatives, positives, rows.scale.shift)
