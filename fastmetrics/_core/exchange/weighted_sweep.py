"""The runs of a range of weighted rows: exact sums at every distinct score, from the greatest down.

A weight is an integer multiple of 2**unit (`weighted_ranges.WeightScale`). Kernels sum in 128 bits, if twice the sum of
all weights fits them: so it is if weights differ by a factor of less than about 2**50. Otherwise the sums are int64 or
Python integers: slower, and as exact.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import ALIGNED_BYTES, SERIAL_ROWS, LargePages
from fastmetrics._core.exact import new_states, tiny_total_shift, to_integer
from fastmetrics._core.exchange.range_exchange import scores_of_keys
from fastmetrics._core.exchange.runs import (
    NO_ROWS,
    ClassTotals,
    Cut,
    Made,
    MadeRuns,
    Masses,
    Points,
    RangePosition,
    RangeStatistic,
    Runs,
    to_weight,
    to_words,
    weighted_precision,
    wide_extremes,
)
from fastmetrics._core.exchange.weighted_ranges import LIMB_BITS, MOST_LIMBS, WeightedRows, WeightScale, weighted_pairs
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import computed_once
from fastmetrics._kernels.sweep import runs as run_kernels
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


class IntegerRuns(Runs):
    """The runs of weighted rows, whose masses are Python's integers.

    Attributes
    ----------
    shift : int
        The unit of the masses that `make` returns is 2**shift times the fixed unit.
    """

    shift = 0

    @abstractmethod
    def make(self) -> Made:
        """The scores of the runs, and their negatives and positives: int64 or Python's integers."""

    @computed_once
    def made(self) -> Made:
        return self.make()

    @property
    def negatives(self) -> np.ndarray:
        return self.made[1].astype(object) << self.shift

    @property
    def positives(self) -> np.ndarray:
        return self.made[2].astype(object) << self.shift

    @property
    def scores(self) -> np.ndarray:
        return self.made[0]

    def lowest_score(self) -> float:
        return float(self.made[0][-1])

    def cumulate(self, above: ClassTotals) -> tuple[np.ndarray, np.ndarray]:
        fps, tps = (np.cumsum(masses).astype(object) << self.shift for masses in self.made[1:])
        return fps + above.negative_weight, tps + above.positive_weight

    def points(self, position: RangePosition) -> Points:
        fps, tps = (np.array([to_weight(mass) for mass in sums]) for sums in self.cumulate(position.above))
        if self.cut is not Cut.POSITIVES:
            return Points(self.scores, fps, tps)
        kept = self.made[2] != 0
        return Points(self.scores[kept], fps[kept], tps[kept])

    def extremes(self, totals: Masses) -> tuple[int, int]:
        fps, tps = self.cumulate(NO_ROWS)
        difference = tps * totals[0] - fps * totals[1]
        return max([0, *difference]), min([0, *difference])

    def precisions(self, position: RangePosition) -> int:
        shift = tiny_total_shift(position.totals.positive_weight)
        fps, tps = self.cumulate(position.above)
        runs = np.flatnonzero(self.made[2]).tolist()
        tied = self.positives
        return sum(weighted_precision(*(mass[run] << shift for mass in (tied, tps, fps))) for run in runs)

    def pairs(self) -> int:
        fps, _ = self.cumulate(NO_ROWS)
        negatives, positives = self.negatives, self.positives
        return int((positives * (2 * (fps[-1] - fps) + negatives)).sum())


class WeightedTie(IntegerRuns):
    """The only run of weighted rows that all have one score."""

    def __init__(self, score: float, totals: ClassTotals, cut: Cut) -> None:
        self.score = score
        self.own_totals = totals
        self.cut = cut

    @property
    def totals(self) -> ClassTotals:
        return self.own_totals

    def make(self) -> Made:
        negatives, positives = (np.array([mass], object) for mass in self.totals[2:])
        return np.array([self.score]), negatives, positives


def runs_of_tie(key: np.ndarray, totals: ClassTotals, position: RangePosition, cut: Cut, is_weighted: bool) -> Runs:
    """The only run of rows that all have one key."""
    if is_weighted:
        return WeightedTie(float(scores_of_keys(key)[0]), totals, cut)
    negatives, positives = (np.array([rows], np.int64) for rows in totals.rows)
    return MadeRuns(totals, position, cut, (key, negatives, positives))


class WeightedRuns(IntegerRuns):
    """The runs of weighted rows: by kernels, if 128 bits hold the sums of their weights.

    Parameters
    ----------
    scale : WeightScale
        The scale of the weights of all rows.
    cut : Cut
        Where runs end.
    gather : callable
        Returns the rows.
    """

    def __init__(self, scale: WeightScale, cut: Cut, gather: Callable[[], WeightedRows]) -> None:
        self.scale = scale
        self.cut = cut
        self.gather = gather
        self.shift = scale.shift
        self.is_wide = scale.n_limbs <= MOST_LIMBS

    @computed_once
    def rows(self) -> WeightedRows:
        return self.gather()

    @property
    def totals(self) -> ClassTotals:
        return ClassTotals(*self.rows.counts, *self.rows.class_weights())

    @computed_once
    def wide(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys of the runs, and their masses as words, in units of the scale."""
        rows = self.rows
        keys, masses = np.empty(rows.keys.shape[0], np.uint64), np.empty((rows.keys.shape[0], 4), np.uint64)
        n = run_kernels.runs_of_weights(rows.ordered(), rows.scale.unit, self.cut, keys, masses)
        return keys[:n].astype(rows.keys.dtype, copy=False), masses[:n]

    def make(self) -> Made:
        if not self.is_wide:
            return sums_by_score(self.rows)
        keys, masses = self.wide
        if not masses[:, 1::2].any() and masses.sum(dtype=np.float64) < float(1 << INT64_BITS):
            return scores_of_keys(keys), masses[:, 0].astype(np.int64), masses[:, 2].astype(np.int64)
        words = masses.astype(object)
        return scores_of_keys(keys), words[:, 0] + (words[:, 1] << 64), words[:, 2] + (words[:, 3] << 64)

    def lowest_score(self) -> float:
        return float(scores_of_keys(self.rows.keys.min(keepdims=True))[0])

    def points(self, position: RangePosition) -> Points:
        points = self.weighted_points(position)
        kept: Any = points.has_positive if self.cut is Cut.POSITIVES else slice(None)
        return Points(*(column[kept] for column in points[:3]))

    def weighted_points(self, position: RangePosition, columns: WeightedPoints | None = None) -> WeightedPoints:
        """The points at all scores, written to the start of `columns`, which are as long as the rows."""
        rows = self.rows
        if columns is None:
            columns = new_points(rows.keys.shape[0], with_below=True)
        if not self.is_wide:
            return points_of_sums(self, position, columns)
        sums = to_wide(rows.scale, *position.above[2:], position.totals.positive_weight)
        has_positive = columns.has_positive.view(np.uint8)
        n = weighted_sweep.write_points(
            rows.ordered(), rows.keys.itemsize == 8, rows.scale.unit, sums, *columns[:4], has_positive
        )
        return columns.part(0, n)

    def extremes(self, totals: Masses) -> tuple[int, int]:
        if not self.is_wide:
            return super().extremes(totals)
        greatest, least = wide_extremes(self.wide[1], in_units(self.scale, *totals))
        return greatest << 2 * self.shift, least << 2 * self.shift

    def precisions(self, position: RangePosition) -> int:
        if self.is_wide:
            shift = tiny_total_shift(position.totals.positive_weight)
            found = wide_precisions(self.rows, position.above, shift)
            if found is not None:
                return found
        return super().precisions(position)

    def pairs(self) -> int:
        return weighted_pairs(self.rows).wins


def weighted_runs(rows: WeightedRows, cuts: Iterable[Cut]) -> dict[Cut, Runs]:
    """The runs of the rows of a range for some cuts."""
    return {cut: WeightedRuns(rows.scale, cut, lambda: rows) for cut in cuts}


class WeightedCurve(RangeStatistic):
    """The statistic of the range exchange whose state are the points of the curve, one item for each range.

    All points are written into the same columns, which are as long as the rows. `longer` are the columns of scores and
    sums with room for `n_more` points before the first.
    """

    __slots__ = ("columns", "longer")
    cut = Cut.SCORES

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

    def find(self, runs: Runs, position: RangePosition) -> list[WeightedPoints]:
        if isinstance(runs, WeightedRuns):
            return [runs.weighted_points(position, self.columns_of_range(runs.rows.keys.shape[0], position))]
        return [points_of_sums(runs, position, self.columns_of_range(1, position))]

    def merge(
        self, higher: list[WeightedPoints], lower: list[WeightedPoints], totals: ClassTotals
    ) -> list[WeightedPoints]:
        return higher + lower

    def join(self, ranges: list[WeightedPoints]) -> WeightedPoints:
        """The points of all ranges, which are in descending order."""
        if sum(points.scores.shape[0] for points in ranges) == self.columns.scores.shape[0]:  # no score occurs twice
            return self.columns
        return WeightedPoints(*(np.concatenate(parts) for parts in zip(*ranges, strict=True)))


class WeightedRates(RangeStatistic):
    """The statistic of the range exchange whose state are rates at points, one item for each range, ascending.

    All points are written into the same columns, which are as long as the rows. `longer` are the columns of scores and
    rates with room for `n_more` points behind the last. The rates are the false positive rate and the false negative
    rate if `error_rates`, otherwise precision and recall.
    """

    __slots__ = ("columns", "error_rates", "longer", "n_rows")
    cut = Cut.SCORES

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

    def find(self, runs: Runs, position: RangePosition) -> list[RatePoints]:
        totals, above = position
        stop = self.n_rows - sum(above.rows)
        if not isinstance(runs, WeightedRuns):
            return self.add_points(points_of_sums(runs, position, new_points(1, with_below=True)), stop, position)
        rows = runs.rows
        if not runs.is_wide:
            return self.add_points(runs.weighted_points(position), stop, position)
        sums = to_wide(rows.scale, *above[2:], totals.positive_weight)
        own = self.columns.part(stop - rows.keys.shape[0], stop)
        n = weighted_sweep.write_rates(
            rows.ordered(), rows.keys.itemsize == 8, rows.scale.unit, sums, *totals.as_floats(), self.error_rates,
            *own[:3], own.has_positive.view(np.uint8),
        )  # fmt: skip
        return [self.columns.part(stop - n, stop)]

    def add_points(self, points: WeightedPoints, stop: int, position: RangePosition) -> list[RatePoints]:
        """Write the rates at some points to the columns before `stop`."""
        own = self.columns.part(stop - points.scores.shape[0], stop)
        write_rates(points, self.error_rates, *position.totals.as_floats(), own[:3])
        own.has_positive[:] = points.has_positive[::-1]
        return [own]

    def merge(self, higher: list[RatePoints], lower: list[RatePoints], totals: ClassTotals) -> list[RatePoints]:
        return lower + higher

    def join(self, ranges: list[RatePoints]) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """The scores and rates of all ranges with room for further points, and where a positive has the score."""
        if sum(points.scores.shape[0] for points in ranges) == self.n_rows:  # no score occurs twice
            return self.longer, self.columns.has_positive
        *columns, has_positive = (np.concatenate(parts) for parts in zip(*ranges, strict=True))
        more = np.empty(self.longer[0].shape[0] - self.n_rows)
        return tuple(np.concatenate((column, more)) for column in columns), has_positive


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


def in_units(scale: WeightScale, *masses: int) -> tuple[int, ...]:
    """Masses as multiples of the scale's unit. Raises ValueError if the scale cannot represent one."""
    units = tuple(mass >> scale.shift for mass in masses)
    bits = LIMB_BITS * scale.n_limbs
    if any(own << scale.shift != mass or own >> bits for own, mass in zip(units, masses, strict=True)):
        raise ValueError("the scale is not that of all weights")
    return units


def to_wide(scale: WeightScale, *masses: int) -> np.ndarray:
    """Masses as multiples of the scale's unit: pairs of a low and a high word."""
    return to_words(*in_units(scale, *masses))


def wide_precisions(rows: WeightedRows, above: ClassTotals, shift: int) -> int | None:
    """`Runs.precisions` by the kernel. All weights are multiplied by 2**shift.

    None if the kernel leaves too many quotients to Python's integers.
    """
    ordered = rows.ordered()
    if shift:  # no weight overflows: those of all rows are close enough together for 128 bits
        ordered = ordered.copy()
        ordered[:, 1].view(np.float64)[:] = np.ldexp(ordered[:, 1].view(np.float64), shift)
    state, uncertain = new_states(), np.empty((MOST_UNCERTAIN, 6), np.uint64)
    sums = to_wide(rows.scale, *above[2:])
    n = weighted_sweep.sum_precisions(ordered, rows.scale.unit + shift, sums, state, uncertain)
    if n < 0:
        return None
    numbers = [[low + (high << 64) for low, high in row] for row in uncertain[:n].reshape(n, 3, 2).tolist()]
    terms = (weighted_precision(*(number << rows.scale.shift + shift for number in own)) for own in numbers)
    return to_integer(state) + sum(terms)


def points_of_sums(runs: Runs, position: RangePosition, columns: WeightedPoints) -> WeightedPoints:
    """The points at all scores of a range, from Python's integers, written to the start of `columns`."""
    fps, tps = runs.cumulate(position.above)
    points = columns.part(0, len(fps))
    points.scores[:], points.has_positive[:] = runs.scores, runs.positives != 0
    points.fps[:] = list(map(to_weight, fps))
    points.tps[:] = list(map(to_weight, tps))
    if points.below.shape[0]:
        points.below[:] = [to_weight(position.totals.positive_weight - mass) for mass in tps]
    return points


# --------------------------------------------------------------------------------------------------- integers


def to_multiples(weights: np.ndarray, unit: int) -> np.ndarray:
    """Weights as multiples of 2**unit."""
    with np.errstate(over="ignore"):
        scaled: np.ndarray = np.ldexp(weights, -unit)
        total = float(scaled.sum())
    if total < float(1 << INT64_BITS):
        return scaled.astype(np.int64)
    multiples = np.empty(weights.shape[0], object)
    multiples[:] = [to_multiple(value, unit) for value in weights.tolist()]
    return multiples


def to_multiple(value: float, unit: int) -> int:
    """value / 2**unit, which is an integer."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator << -unit) // denominator if unit < 0 else numerator // (denominator << unit)


def sums_by_score(rows: WeightedRows) -> Made:
    """The scores of a range, descending, and the weights of both classes at each as multiples of the scale's unit."""
    order = np.argsort(rows.keys)[::-1]
    keys, multiples = rows.keys[order], to_multiples(rows.weights, rows.scale.unit)[order]
    is_positive = order >= rows.n_negatives
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: keys.shape[0]])
    zeros: Any = np.zeros_like(multiples)
    positives = np.add.reduceat(np.where(is_positive, multiples, zeros), first)
    negatives = np.add.reduceat(np.where(is_positive, zeros, multiples), first)
    return scores_of_keys(keys[first]), negatives, positives
