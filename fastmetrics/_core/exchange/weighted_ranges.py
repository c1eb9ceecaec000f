"""The weighted rows of a score range, and their pairs: integers inside a range, integers between ranges.

A range has all rows whose scores lie between two cuts. Equal scores are never in different ranges. The state of a
range consists of Python integers in one fixed unit, that of `exact.py`: a weight is multiplied by 2**EXPONENT, a
product of two weights by 2**(2 * EXPONENT). So states merge whatever the scale they were counted at, and a value is
one division of integers, rounded once:

    AUC = wins / (2 * all_negative * all_positive)

Inside a range, a kernel counts with sums of 128 bits, or with as many limbs as the weights need (`WeightScale`). The
number of limbs follows from the weights' span: the lowest bit set in any of them, the greatest exponent, and the number
of rows.
"""

from __future__ import annotations

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import Scratch, UnpooledScratch
from fastmetrics._core.exact import EXPONENT, divide, integer_sum
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.sweep import runs, weighted_sweep

LIMB_BITS = 32
MOST_LIMBS = (weighted_sweep.SUM_BITS + 1) // LIMB_BITS  # of sums of 128 bits: they hold twice the sum of all weights


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


class WeightedRows:
    """The weighted rows of a range, those of negatives first, and the scale of all weights.

    Keys are uint32 or uint64, in the order of the scores (`range_exchange.ordered_keys`). Weights are float64, positive
    and finite. Both are contiguous.
    """

    def __init__(
        self,
        keys: np.ndarray,
        weights: np.ndarray,
        n_negatives: int,
        scale: WeightScale,
        scratch: Scratch | None = None,
    ) -> None:
        self.keys = keys
        self.weights = weights
        self.n_negatives = n_negatives
        self.scale = scale
        self.scratch = UnpooledScratch() if scratch is None else scratch
        self._ordered: np.ndarray | None = None
        self.known_weights: tuple[int, int] | None = None

    @property
    def counts(self) -> tuple[int, int]:
        """The rows of both classes."""
        return self.n_negatives, self.keys.shape[0] - self.n_negatives

    @property
    def classes(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Keys and weights of the negatives, and of the positives."""
        n = self.n_negatives
        return (self.keys[:n], self.weights[:n]), (self.keys[n:], self.weights[n:])

    def class_weights(self) -> tuple[int, int]:
        """The weights of both classes, in the fixed unit."""
        if self.known_weights is None:
            negatives, positives = (integer_sum(weights) for _, weights in self.classes)
            self.known_weights = negatives, positives
        return self.known_weights

    def ordered(self) -> np.ndarray:
        """The rows in ascending order of keys, as kernels read them: a key, and a weight that is negative of positives.

        All statistics of the range share the order.
        """
        if self._ordered is None:
            self._ordered = order_rows(self.keys, self.weights, self.n_negatives, self.scratch)
        return self._ordered


def order_rows(keys: np.ndarray, weights: np.ndarray, n_negatives: int, scratch: Scratch) -> np.ndarray:
    """Rows of two words in ascending order of keys."""
    n = keys.shape[0]
    ordered = scratch.array("ordered rows", np.uint64, 2 * n).reshape(n, 2)
    if n == 0:
        return ordered
    cells = scratch.array("cells", np.int32, 1 << n.bit_length())
    if not weighted_sweep.order_by_cells(keys, weights, n_negatives, cells, ordered):
        order = np.argsort(keys)
        ordered[:, 0] = keys[order]
        ordered[:, 1].view(np.float64)[:] = np.where(order < n_negatives, weights[order], -weights[order])
    return ordered


def split_classes(positive: np.ndarray, keys: np.ndarray, weights: np.ndarray) -> WeightedRows:
    """The rows of one range, with the scale of their weights."""
    negatives = np.flatnonzero(~positive)
    order = np.concatenate((negatives, np.flatnonzero(positive)))
    return WeightedRows(keys[order], weights[order], negatives.shape[0], scale_of(span_of(weights)))


class WeightedPairs(NamedTuple):
    """The AUC state of a range: rows and weights as (negative, positive), and twice the weight of the pairs won.

    The weight of a pair is the product of its rows' weights. The positive row wins if its score is greater. A tie
    counts once.
    """

    rows: tuple[int, int]
    weights: tuple[int, int]
    wins: int


def span_of(weights: np.ndarray) -> WeightSpan:
    """The span of a block's weights, a contiguous float64 array of positive finite numbers."""
    span = np.array(WeightSpan(), np.int64)
    runs.widen_exponent_range(weights, span)
    return WeightSpan(*span.tolist())


def merge_spans(one: WeightSpan, other: WeightSpan) -> WeightSpan:
    return WeightSpan(min(one.lowest, other.lowest), max(one.highest, other.highest), one.rows + other.rows)


def scale_of(span: WeightSpan) -> WeightScale:
    """The smallest scale that can represent twice the sum of all weights of the span."""
    if span.rows == 0:
        return WeightScale(0, 1)
    bits = span.highest - span.lowest + span.rows.bit_length() + 1
    return WeightScale(span.lowest, -(-bits // LIMB_BITS))


def from_words(words: np.ndarray) -> int:
    """The integer of a kernel's number: one limb per word, each below 2**32 except the last, which has the sign."""
    above: int = int(words[-1]) << LIMB_BITS * (words.shape[0] - 1)
    return above + int.from_bytes(words[:-1].astype("<u4").tobytes(), "little")


def weighted_pairs(rows: WeightedRows) -> WeightedPairs:
    """The AUC state of one range. The scale is that of these rows' span, or of a merged span."""
    scale, counts = rows.scale, rows.counts
    if 0 in counts:
        return WeightedPairs(counts, rows.class_weights(), 0)
    if scale.n_limbs <= MOST_LIMBS:
        sums, words = np.empty((2, 2), np.uint64), np.empty(4, np.uint64)
        weighted_sweep.sum_pairs(rows.ordered(), scale.unit, sums, words)
        weights = [low + (high << 64) for low, high in sums.tolist()]
        wins = int.from_bytes(words.astype("<u8").tobytes(), "little")
    else:
        totals = np.zeros((4, scale.n_limbs + runs.SPARE_WORDS), np.uint64)
        win_words = np.zeros(2 * scale.n_limbs + 1, np.int64)
        runs.range_pairs(rows.ordered(), scale.unit, totals, win_words)
        weights = [from_words(words) for words in totals[:2]]
        wins = from_words(win_words)
    rows.known_weights = weights[0] << scale.shift, weights[1] << scale.shift
    return WeightedPairs(counts, rows.known_weights, wins << 2 * scale.shift)


def merge_pairs(higher: WeightedPairs, lower: WeightedPairs) -> WeightedPairs:
    """The state of two neighboring ranges. Positives of the higher range beat all negatives of the lower one."""
    wins = higher.wins + lower.wins + 2 * lower.weights[0] * higher.weights[1]
    return WeightedPairs(add_by_class(higher.rows, lower.rows), add_by_class(higher.weights, lower.weights), wins)


def weighted_auc(state: WeightedPairs) -> float:
    """The AUC, rounded once. Both classes have rows."""
    negative, positive = state.weights
    if not (negative and positive):
        validation.raise_changed()  # rows of weight zero are left out
    return divide(state.wins, 2 * negative * positive)


def add_by_class(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]
