"""Exact weighted AUC and weighted KS by score range: integers inside a range, integers between ranges.

A range has all rows whose scores lie between two cuts. Equal scores are never in different ranges. The state of a
range consists of Python integers in one fixed unit, that of `exact.py`: a weight is multiplied by 2**EXPONENT, a
product of two weights by 2**(2 * EXPONENT). So states merge whatever the scale they were counted at, and a value is
one division of integers, rounded once:

    AUC = wins / (2 * all_negative * all_positive)
    KS = max(greatest, -least) / (all_negative * all_positive)

Inside a range, a kernel counts with as few limbs as the weights need (`WeightScale`). The number of limbs follows from
the weights' span: the lowest bit set in any of them, the greatest exponent, and the number of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastmetrics._core.exact import EXPONENT, divide, integer_sum
from fastmetrics._kernels.sweep import weighted_ranges

LIMB_BITS = 32


class WeightSpan(NamedTuple):
    """The span of the weights of `rows` rows: multiples of 2**lowest, below 2**highest. Spans of blocks merge."""

    lowest: int = 1024
    highest: int = -1074
    rows: int = 0


class WeightScale(NamedTuple):
    """The number format of a kernel: multiples of 2**unit, sums of n_limbs limbs."""

    unit: int
    n_limbs: int

    @property
    def shift(self) -> int:
        """The shift from this unit to the fixed unit of the states."""
        return self.unit + EXPONENT


class WeightedRows(NamedTuple):
    """The weighted rows of a range: (keys, weights) of each class, in any order, and the scale of all weights."""

    negatives: tuple[np.ndarray, np.ndarray]
    positives: tuple[np.ndarray, np.ndarray]
    scale: WeightScale


def split_classes(positive: np.ndarray, keys: np.ndarray, weights: np.ndarray) -> WeightedRows:
    """The rows of one range, by class."""
    scale = scale_of(span_of(weights))
    return WeightedRows((keys[~positive], weights[~positive]), (keys[positive], weights[positive]), scale)


class WeightedPairs(NamedTuple):
    """The AUC state of a range: rows and weights as (negative, positive), and twice the weight of the pairs won.

    The weight of a pair is the product of its rows' weights. The positive row wins if its score is greater. A tie
    counts once.
    """

    rows: tuple[int, int]
    weights: tuple[int, int]
    wins: int


class WeightedExtremes(NamedTuple):
    """The KS state of a range: rows and weights as (negative, positive), and the extremes of a difference D.

    D = (positive weight so far) * all_negative - (negative weight so far) * all_positive, in ascending order of score.
    It is 0 at the lower end of the range. The extremes are taken over that 0 and the ends of ties.
    """

    rows: tuple[int, int]
    weights: tuple[int, int]
    greatest: int
    least: int


def span_of(weights: np.ndarray) -> WeightSpan:
    """The span of a block's weights, a contiguous float64 array of positive finite numbers."""
    span = np.array(WeightSpan(), np.int64)
    weighted_ranges.widen_exponent_range(weights, span)
    return WeightSpan(*span.tolist())


def merge_spans(one: WeightSpan, other: WeightSpan) -> WeightSpan:
    return WeightSpan(min(one.lowest, other.lowest), max(one.highest, other.highest), one.rows + other.rows)


def scale_of(span: WeightSpan) -> WeightScale:
    """The smallest scale that can represent twice the sum of all weights of the span."""
    if span.rows == 0:
        return WeightScale(0, 1)
    bits = span.highest - span.lowest + span.rows.bit_length() + 1
    return WeightScale(span.lowest, -(-bits // LIMB_BITS))


class RangeOrder(NamedTuple):
    """The weights of a range in the order of the rarer class's keys; see `order_range` in weighted_ranges.pyx."""

    rare_weights: np.ndarray
    rare_starts: np.ndarray
    common_weights: np.ndarray
    common_starts: np.ndarray
    n_ties: int


def order_range(
    rare_keys: np.ndarray, rare_weights: np.ndarray, common_keys: np.ndarray, common_weights: np.ndarray
) -> RangeOrder:
    """Order the rows of a range. Both classes have rows; the first has at most as many as the second."""
    n_rare, n_common = rare_keys.shape[0], common_keys.shape[0]
    work = np.empty(weighted_ranges.n_scratch_words(n_rare, n_common), np.uint64)
    rare_starts, common_starts = np.empty((2, 2 * n_rare + 2), np.int64)
    rare_ordered, common_ordered = np.empty(n_rare), np.empty(n_common)
    n_ties = weighted_ranges.order_by_ties(
        rare_keys, rare_weights, common_keys, common_weights, work, rare_starts, rare_ordered, common_starts,
        common_ordered,
    )  # fmt: skip
    return RangeOrder(rare_ordered, rare_starts, common_ordered, common_starts, n_ties)


def order_classes(
    negative_keys: np.ndarray, negative_weights: np.ndarray, positive_keys: np.ndarray, positive_weights: np.ndarray
) -> tuple[RangeOrder, bool]:
    """Order the rows of a range in which both classes have rows; are the positives the rarer class?"""
    negatives, positives = (negative_keys, negative_weights), (positive_keys, positive_weights)
    if positive_keys.shape[0] <= negative_keys.shape[0]:
        return order_range(*positives, *negatives), True
    return order_range(*negatives, *positives), False


def from_words(words: np.ndarray) -> int:
    """The integer of a kernel's number: one limb per word, each below 2**32 except the last, which has the sign."""
    above: int = int(words[-1]) << LIMB_BITS * (words.shape[0] - 1)
    return above + int.from_bytes(words[:-1].astype("<u4").tobytes(), "little")


def to_words(number: int, scale: WeightScale) -> np.ndarray:
    """An integer in the fixed unit as a kernel's number. Raises ValueError if the scale cannot represent it."""
    scaled = number >> scale.shift
    if scaled << scale.shift != number or scaled.bit_length() > LIMB_BITS * scale.n_limbs:
        raise ValueError("the scale is not that of all weights")
    return np.frombuffer(scaled.to_bytes(4 * scale.n_limbs, "little"), "<u4").astype(np.uint64)


def weighted_pairs(
    negative_keys: np.ndarray,
    negative_weights: np.ndarray,
    positive_keys: np.ndarray,
    positive_weights: np.ndarray,
    scale: WeightScale,
) -> WeightedPairs:
    """The AUC state of one range.

    Keys are uint32 or uint64, in the order of the scores (`range_exchange.ordered_keys`). Weights are float64, positive
    and finite. Arrays are contiguous, rows in any order. The scale is that of these rows' span, or of a merged span.
    """
    rows = negative_keys.shape[0], positive_keys.shape[0]
    if 0 in rows:
        return WeightedPairs(rows, (integer_sum(negative_weights), integer_sum(positive_weights)), 0)
    order, rare_positive = order_classes(negative_keys, negative_weights, positive_keys, positive_weights)
    totals = np.zeros((4, scale.n_limbs + weighted_ranges.SPARE_WORDS), np.uint64)
    win_words = np.zeros(2 * scale.n_limbs + 1, np.int64)
    weighted_ranges.range_pairs(*order, scale.unit, totals, win_words)
    common, rare = from_words(totals[0]) >> 1, from_words(totals[1])
    wins = from_words(win_words)
    if rare_positive:
        weights = common, rare
    else:
        # The kernel counted the pairs that the negatives won.
        weights = rare, common
        wins = 2 * rare * common - wins
    return WeightedPairs(rows, (weights[0] << scale.shift, weights[1] << scale.shift), wins << 2 * scale.shift)


def merge_pairs(low: WeightedPairs, high: WeightedPairs) -> WeightedPairs:
    """The state of two neighbouring ranges. Positives of the higher range beat all negatives of the lower one."""
    wins = low.wins + high.wins + 2 * low.weights[0] * high.weights[1]
    return WeightedPairs(add_by_class(low.rows, high.rows), add_by_class(low.weights, high.weights), wins)


def weighted_auc(state: WeightedPairs) -> float:
    """The AUC, rounded once. Both classes have rows."""
    negative, positive = state.weights
    return divide(state.wins, 2 * negative * positive)


def weighted_extremes(
    negative_keys: np.ndarray,
    negative_weights: np.ndarray,
    positive_keys: np.ndarray,
    positive_weights: np.ndarray,
    scale: WeightScale,
    all_negative: int,
    all_positive: int,
) -> WeightedExtremes:
    """The KS state of one range; rows as for `weighted_pairs`.

    `all_negative` and `all_positive` are the weights of the rows of all ranges, in the fixed unit. The scale is that of
    the span of all rows.
    """
    rows = negative_keys.shape[0], positive_keys.shape[0]
    if 0 in rows:
        negative, positive = integer_sum(negative_weights), integer_sum(positive_weights)
        return WeightedExtremes(rows, (negative, positive), positive * all_negative, -negative * all_positive)
    order, rare_positive = order_classes(negative_keys, negative_weights, positive_keys, positive_weights)
    all_words = to_words(all_negative, scale), to_words(all_positive, scale)
    all_common, all_rare = all_words if rare_positive else all_words[::-1]
    totals = np.zeros((4, scale.n_limbs + weighted_ranges.SPARE_WORDS), np.uint64)
    extremes = np.zeros((3, 2 * scale.n_limbs + 1), np.int64)
    weighted_ranges.range_extremes(*order, scale.unit, all_rare, all_common, totals, extremes)
    common, rare = (from_words(words) << scale.shift for words in totals[:2])
    greatest, least = (from_words(words) << 2 * scale.shift for words in extremes[:2])
    if rare_positive:
        return WeightedExtremes(rows, (common, rare), greatest, least)
    # The kernel computed the difference with the classes exchanged.
    return WeightedExtremes(rows, (rare, common), -least, -greatest)


def merge_extremes(
    low: WeightedExtremes, high: WeightedExtremes, all_negative: int, all_positive: int
) -> WeightedExtremes:
    """The state of two neighbouring ranges. The higher one begins where the lower one ended."""
    end_of_low = low.weights[1] * all_negative - low.weights[0] * all_positive
    return WeightedExtremes(
        add_by_class(low.rows, high.rows),
        add_by_class(low.weights, high.weights),
        max(low.greatest, end_of_low + high.greatest),
        min(low.least, end_of_low + high.least),
    )


def weighted_ks(state: WeightedExtremes) -> float:
    """The KS distance, rounded once, from the state of all ranges. Both classes have rows."""
    negative, positive = state.weights
    return divide(max(state.greatest, -state.least), negative * positive)


def add_by_class(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]
