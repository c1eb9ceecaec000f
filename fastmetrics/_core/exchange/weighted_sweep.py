"""The threshold sweep of a range with weights: exact sums at every distinct score, from the greatest down.

A weight is an integer multiple of 2**unit (`weighted_ranges.WeightScale`). Curves and sums of precisions take kernels
with sums of 128 bits, if twice the sum of all weights fits them: so it is if weights differ by a factor of less than
about 2**50. Otherwise, and for statistics that need integers, the sums are int64 or Python integers: slower, and as
exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.exact import EXPONENT, divide, integer_sum, new_states, to_integer
from fastmetrics._core.exchange.range_exchange import scores_of_keys
from fastmetrics._core.exchange.threshold_sweep import ClassTotals, RangePosition
from fastmetrics._core.exchange.weighted_ranges import LIMB_BITS, WeightedRows, WeightScale
from fastmetrics._core.statistic import Statistic
from fastmetrics._kernels.sweep import weighted_points

MOST_LIMBS = (weighted_points.SUM_BITS + 1) // LIMB_BITS  # the scale's limbs hold twice the sum of all weights
WORD = (1 << 64) - 1
MOST_UNCERTAIN = 256  # quotients of a range that a kernel may leave to Python's integers
INT64_BITS = 62  # of a sum; one bit is spare because the sum is estimated in floats


class WeightedPoints(NamedTuple):
    """The points of a range of scores, or of all, in descending order of score.

    `weights` are those of the negatives and of the positives down to each score, and of the positives below it.
    `has_positive` says whether a positive row has the score: a rounded sum may not show it.
    """

    scores: np.ndarray
    weights: np.ndarray
    has_positive: np.ndarray


def totals_of(rows: WeightedRows) -> ClassTotals:
    """Rows and weights of both classes."""
    classes = rows.negatives, rows.positives
    return ClassTotals(*(keys.shape[0] for keys, _ in classes), *(integer_sum(weights) for _, weights in classes))


def points_of_range(rows: WeightedRows, position: RangePosition) -> WeightedPoints:
    """The points of the rows of a range."""
    if rows.scale.n_limbs <= MOST_LIMBS:
        return points_of_rows(rows, position)
    sweep = sweep_weighted(rows)
    return points_of_sums(sweep.scores, *sweep.cumulative(), position, sweep.positives != 0)


class WeightedCurve(Statistic):
    """The statistic of the range exchange whose state are the points of the curve, one item for each range."""

    __slots__ = ()
    needs_position = True
    pivots_on_positives = False

    def empty(self) -> list[WeightedPoints]:
        return []

    def from_weighted_rows(self, rows: WeightedRows, position: RangePosition) -> list[WeightedPoints]:
        return [points_of_range(rows, position)]

    def from_weighted_tie(self, score: float, tied: ClassTotals, position: RangePosition) -> list[WeightedPoints]:
        sums = [tied.negative_weight], [tied.positive_weight]
        return [points_of_sums(np.array([score]), *sums, position, np.array([tied.positives > 0]))]

    def merge(
        self, low: list[WeightedPoints], high: list[WeightedPoints], totals: ClassTotals
    ) -> list[WeightedPoints]:
        return high + low


def join_points(ranges: list[WeightedPoints]) -> WeightedPoints:
    """The points of all ranges, which are in descending order."""
    if len(ranges) == 1:
        return ranges[0]
    scores, weights, has_positive = zip(*ranges, strict=True)
    return WeightedPoints(np.concatenate(scores), np.concatenate(weights, axis=1), np.concatenate(has_positive))


def points_of_rows(rows: WeightedRows, position: RangePosition) -> WeightedPoints:
    """The points of a range, by sums of 128 bits."""
    keys, weights = order_rows(rows)
    above = position.above
    sums = to_wide(rows.scale, above.negative_weight, above.positive_weight, position.totals.positive_weight)
    n = keys.shape[0]
    point_keys, points, has_positive = np.empty_like(keys), np.empty((3, n)), np.empty(n, np.uint8)
    n_points = weighted_points.write_points(
        keys, weights, rows.scale.unit, sums, point_keys, points, has_positive
    )
    return WeightedPoints(
        scores_of_keys(point_keys[:n_points]), points[:, :n_points], has_positive[:n_points].view(bool)
    )


def to_wide(scale: WeightScale, *weights: int) -> np.ndarray:
    """Weights in the fixed unit as multiples of the scale's unit: pairs of a low and a high word."""
    units = [weight >> scale.shift for weight in weights]
    return np.array([(number & WORD, number >> 64) for number in units], np.uint64)


def order_rows(rows: WeightedRows) -> tuple[np.ndarray, np.ndarray]:
    """The keys of both classes in ascending order, and the weights, those of positives negated."""
    keys = np.concatenate((rows.negatives[0], rows.positives[0]))
    weights = np.concatenate((rows.negatives[1], rows.positives[1]))
    ordered_keys, ordered_weights = np.empty_like(keys), np.empty_like(weights)
    n_negatives = rows.negatives[0].shape[0]
    cells = np.empty(1 << keys.shape[0].bit_length(), np.int32)
    if weighted_points.order_by_cells(keys, weights, n_negatives, cells, ordered_keys, ordered_weights):
        return ordered_keys, ordered_weights
    weights[n_negatives:] *= -1
    order = np.argsort(keys)
    return keys[order], weights[order]


def sum_precisions(
    rows: WeightedRows, above: ClassTotals, weighted_precision: Callable[[int, int, int], int]
) -> int:
    """The sum over scores with positives of `weighted_precision(weight, positives, negatives)` in the fixed unit.

    The arguments are the weights of the positives of the score, and of the positives and negatives down to it.
    """
    if rows.scale.n_limbs <= MOST_LIMBS:
        keys, weights = order_rows(rows)
        state, uncertain = new_states(), np.empty((MOST_UNCERTAIN, 6), np.uint64)
        sums = to_wide(rows.scale, above.negative_weight, above.positive_weight)
        n = weighted_points.sum_precisions(keys, weights, rows.scale.unit, sums, state, uncertain)
        if n >= 0:
            numbers = [[low + (high << 64) for low, high in pairwise_words(row)] for row in uncertain[:n].tolist()]
            terms = (weighted_precision(*(number << rows.scale.shift for number in own)) for own in numbers)
            return to_integer(state) + sum(terms)
    sweep = sweep_weighted(rows)
    negatives, positives = sweep.cumulative()
    return sum(
        weighted_precision(
            int(sweep.positives[tie]) << sweep.shift, above.positive_weight + positives[tie],
            above.negative_weight + negatives[tie],
        )
        for tie in np.flatnonzero(sweep.positives).tolist()
    )  # fmt: skip


def pairwise_words(words: list[int]) -> Iterator[tuple[int, int]]:
    return zip(words[::2], words[1::2], strict=True)


def points_of_sums(
    scores: np.ndarray, negatives: list[int], positives: list[int], position: RangePosition, has_positive: np.ndarray
) -> WeightedPoints:
    """The points of a range, from the sums of weights down to every score as Python integers."""
    above, totals = position.above, position.totals
    by_point = [
        [above.negative_weight + weight for weight in negatives],
        [above.positive_weight + weight for weight in positives],
        [totals.positive_weight - above.positive_weight - weight for weight in positives],
    ]
    weights = np.array([[divide(weight, 1 << EXPONENT) for weight in sums] for sums in by_point])
    return WeightedPoints(scores, weights, has_positive)


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
    if float(scaled.sum()) < 2.0**INT64_BITS:
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
    keys = np.concatenate((rows.negatives[0], rows.positives[0]))
    multiples = to_multiples(np.concatenate((rows.negatives[1], rows.positives[1])), rows.scale.unit)
    is_positive = np.arange(len(keys)) >= len(rows.negatives[0])
    order = np.argsort(keys)[::-1]
    keys, multiples, is_positive = keys[order], multiples[order], is_positive[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    zeros: Any = np.zeros_like(multiples)
    positives = np.add.reduceat(np.where(is_positive, multiples, zeros), first)
    negatives = np.add.reduceat(np.where(is_positive, zeros, multiples), first)
    return WeightedSweep(scores_of_keys(keys[first]), negatives, positives, rows.scale.shift)
