"""Weighted AUC and weighted KS by score range, exactly: whole numbers inside a range, whole numbers between ranges.

A range holds all rows whose scores lie between two cuts; equal scores are never cut apart. Its state is made of Python
integers in one fixed unit, that of `exact.py`: a weight is multiplied by 2**EXPONENT, a product of two weights by
2**(2 * EXPONENT). So states merge whatever the scale they were counted at, and a value is one division of integers,
rounded once:

    AUC = wins / (2 * all_negative * all_positive)
    KS = max(greatest, -least) / (all_negative * all_positive)

Inside a range a kernel counts in as few limbs as the weights need (`WeightScale`). What they need is known from their
span: the lowest bit set in any of them, the greatest exponent, how many rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastmetrics._core.exact import EXPONENT, divide, new_states, to_integer
from fastmetrics._kernels import sums, weightedranges

LIMB_BITS = 32


class WeightSpan(NamedTuple):
    """Weights of `rows` rows: multiples of 2**lowest, below 2**highest. Spans of blocks merge to those of all rows."""

    lowest: int = 1024
    highest: int = -1074
    rows: int = 0


class WeightScale(NamedTuple):
    """What a kernel counts with: multiples of 2**unit, sums of n_limbs limbs."""

    unit: int
    n_limbs: int

    @property
    def shift(self) -> int:
        """From this unit to the fixed one of the states."""
        return self.unit + EXPONENT


class WeightedRows(NamedTuple):
    """A range's rows with weights: (keys, weights) of each class, rows in any order, and the scale of all weights."""

    negatives: tuple[np.ndarray, np.ndarray]
    positives: tuple[np.ndarray, np.ndarray]
    scale: WeightScale


def split_classes(positive: np.ndarray, keys: np.ndarray, weights: np.ndarray) -> WeightedRows:
    """Rows that are one range, by class."""
    scale = scale_of(span_of(weights))
    return WeightedRows((keys[~positive], weights[~positive]), (keys[positive], weights[positive]), scale)


class WeightedPairs(NamedTuple):
    """One range's AUC state, classes as (negative, positive): rows, weights, and twice the weighted pairs won.

    A pair weighs the product of its rows' weights; the positive won if its score is greater; ties count once.
    """

    rows: tuple[int, int]
    weights: tuple[int, int]
    wins: int


class WeightedExtremes(NamedTuple):
    """One range's KS state, classes as (negative, positive): rows, weights, and the extremes of a difference D.

    D = (positive weight so far) * all_negative - (negative weight so far) * all_positive, in ascending order of score
    and from 0 at the range's beginning; greatest and least are over the ends of ties and that 0.
    """

    rows: tuple[int, int]
    weights: tuple[int, int]
    greatest: int
    least: int


def span_of(weights: np.ndarray) -> WeightSpan:
    """The span of a block's weights: a contiguous float64 array of any length, all positive and finite."""
    span = np.array(WeightSpan(), np.int64)
    weightedranges.weight_span(weights, span)
    return WeightSpan(*span.tolist())


def merge_spans(one: WeightSpan, other: WeightSpan) -> WeightSpan:
    return WeightSpan(min(one.lowest, other.lowest), max(one.highest, other.highest), one.rows + other.rows)


def scale_of(span: WeightSpan) -> WeightScale:
    """The least scale that holds twice the sum of all weights of the span."""
    if span.rows == 0:
        return WeightScale(0, 1)
    bits = span.highest - span.lowest + span.rows.bit_length() + 1
    return WeightScale(span.lowest, -(-bits // LIMB_BITS))


class RangeOrder(NamedTuple):
    """A range's weights in the order of the keys of the rarer class; see weightedranges.order_range."""

    few_weights: np.ndarray
    few_starts: np.ndarray
    many_weights: np.ndarray
    many_starts: np.ndarray
    n_ties: int


def order_range(
    few_keys: np.ndarray, few_weights: np.ndarray, many_keys: np.ndarray, many_weights: np.ndarray
) -> RangeOrder:
    """Both classes have rows."""
    n_few, n_many = few_keys.shape[0], many_keys.shape[0]
    work = np.empty(weightedranges.order_words(n_few, n_many), np.uint64)
    few_starts, many_starts = np.empty((2, 2 * n_few + 2), np.int64)
    few_ordered, many_ordered = np.empty(n_few), np.empty(n_many)
    n_ties = weightedranges.order_range(
        few_keys, few_weights, many_keys, many_weights, work, few_starts, few_ordered, many_starts, many_ordered
    )
    return RangeOrder(few_ordered, few_starts, many_ordered, many_starts, n_ties)


def from_words(words: np.ndarray) -> int:
    """A kernel's number as an integer: limbs in words, all below 2**32 but the last, which has the sign."""
    above: int = int(words[-1]) << LIMB_BITS * (words.shape[0] - 1)
    return above + int.from_bytes(words[:-1].astype("<u4").tobytes(), "little")


def to_words(number: int, scale: WeightScale) -> np.ndarray:
    """An integer in the fixed unit as a kernel's number; ValueError where the scale does not hold it."""
    scaled = number >> scale.shift
    if scaled << scale.shift != number or scaled.bit_length() > LIMB_BITS * scale.n_limbs:
        raise ValueError("the scale is not that of all weights")
    return np.frombuffer(scaled.to_bytes(4 * scale.n_limbs, "little"), "<u4").astype(np.uint64)


def sum_weights(weights: np.ndarray) -> int:
    state = new_states()
    sums.sum_values(weights, None, state)
    return to_integer(state)


def count_weighted(
    negative_keys: np.ndarray,
    negative_weights: np.ndarray,
    positive_keys: np.ndarray,
    positive_weights: np.ndarray,
    scale: WeightScale,
) -> WeightedPairs:
    """The AUC state of one range.

    Keys are uint32 or uint64, in the order of the scores (`by_score.ordered_keys`); weights float64, positive and
    finite; all contiguous, rows in any order. The scale is that of these rows' span, or of a span merged from it.
    """
    rows = negative_keys.shape[0], positive_keys.shape[0]
    if 0 in rows:
        return WeightedPairs(rows, (sum_weights(negative_weights), sum_weights(positive_weights)), 0)
    few_positive = rows[1] <= rows[0]
    negative, positive = (negative_keys, negative_weights), (positive_keys, positive_weights)
    order = order_range(*positive, *negative) if few_positive else order_range(*negative, *positive)
    totals = np.zeros((4, scale.n_limbs + weightedranges.SPARE_WORDS), np.uint64)
    won = np.zeros(2 * scale.n_limbs + 1, np.int64)
    weightedranges.range_pairs(*order, scale.unit, totals, won)
    many, few = from_words(totals[0]) >> 1, from_words(totals[1])
    wins = from_words(won)
    if few_positive:
        weights = many, few
    else:
        # The kernel counted the pairs the negatives won.
        weights = few, many
        wins = 2 * few * many - wins
    return WeightedPairs(rows, (weights[0] << scale.shift, weights[1] << scale.shift), wins << 2 * scale.shift)


def empty() -> WeightedPairs:
    return WeightedPairs((0, 0), (0, 0), 0)


def merge(low: WeightedPairs, high: WeightedPairs) -> WeightedPairs:
    """Two neighbouring ranges as one: every positive of the higher won against every negative of the lower."""
    wins = low.wins + high.wins + 2 * low.weights[0] * high.weights[1]
    return WeightedPairs(add(low.rows, high.rows), add(low.weights, high.weights), wins)


def pair_share(state: WeightedPairs) -> float:
    """AUC, rounded once. Both classes have rows."""
    negative, positive = state.weights
    return divide(state.wins, 2 * negative * positive)


def extremes_weighted(
    negative_keys: np.ndarray,
    negative_weights: np.ndarray,
    positive_keys: np.ndarray,
    positive_weights: np.ndarray,
    scale: WeightScale,
    all_negative: int,
    all_positive: int,
) -> WeightedExtremes:
    """The KS state of one range; rows as for `count_weighted`.

    `all_negative` and `all_positive` are the weights of all ranges' rows, in the fixed unit. The scale is that of the
    span of all ranges' rows.
    """
    rows = negative_keys.shape[0], positive_keys.shape[0]
    if 0 in rows:
        negative, positive = sum_weights(negative_weights), sum_weights(positive_weights)
        return WeightedExtremes(rows, (negative, positive), positive * all_negative, -negative * all_positive)
    few_positive = rows[1] <= rows[0]
    negatives, positives = (negative_keys, negative_weights), (positive_keys, positive_weights)
    order = order_range(*positives, *negatives) if few_positive else order_range(*negatives, *positives)
    all_words = to_words(all_negative, scale), to_words(all_positive, scale)
    all_many, all_few = all_words if few_positive else all_words[::-1]
    totals = np.zeros((4, scale.n_limbs + weightedranges.SPARE_WORDS), np.uint64)
    extremes = np.zeros((3, 2 * scale.n_limbs + 1), np.int64)
    weightedranges.range_extremes(*order, scale.unit, all_few, all_many, totals, extremes)
    many, few = (from_words(words) << scale.shift for words in totals[:2])
    greatest, least = (from_words(words) << 2 * scale.shift for words in extremes[:2])
    if few_positive:
        return WeightedExtremes(rows, (many, few), greatest, least)
    # The kernel's difference is that of negatives to positives.
    return WeightedExtremes(rows, (few, many), -least, -greatest)


def empty_extremes() -> WeightedExtremes:
    return WeightedExtremes((0, 0), (0, 0), 0, 0)


def merge_extremes(
    low: WeightedExtremes, high: WeightedExtremes, all_negative: int, all_positive: int
) -> WeightedExtremes:
    """Two neighbouring ranges as one; the higher begins where the lower ended."""
    step = low.weights[1] * all_negative - low.weights[0] * all_positive
    return WeightedExtremes(
        add(low.rows, high.rows),
        add(low.weights, high.weights),
        max(low.greatest, step + high.greatest),
        min(low.least, step + high.least),
    )


def greatest_distance(state: WeightedExtremes) -> float:
    """KS, rounded once, of the state of all ranges. Both classes have rows."""
    negative, positive = state.weights
    return divide(max(state.greatest, -state.least), negative * positive)


def add(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]
