"""The weights of every bucket, and its position among the rows of its slice: the totals, and what lies above."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import WEIGHT
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.runs import NO_ROWS, ClassTotals, RangePosition
from fastmetrics._core.exchange.threshold_sweep import BUCKETS_PER_RANGE
from fastmetrics._core.exchange.weighted_ranges import WeightScale, WeightSpan, merge_spans, span_of
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.numeric import sums


class GlobalTotals(NamedTuple):
    """Totals of all rows, slice by slice, where the rows at hand are only a range of them.

    `above` are the totals of the rows with greater scores than those at hand. `scale` is the scale of all weights.
    """

    totals: list[ClassTotals]
    above: list[ClassTotals]
    scale: WeightScale | None


class BucketWeights:
    """The span of the weights of some blocks and, if a statistic needs them, the weights of every bucket by class.

    Weights are read from the blocks in the order of the buckets: their last copy, which no other thread changes.
    """

    def __init__(self, n_buckets: int, needs_sums: bool) -> None:
        self.span = WeightSpan()
        self.states = exact.new_states(2 * n_buckets) if needs_sums else None

    def add_block(self, block: Block) -> None:
        weights = block.columns[WEIGHT]
        self.span = merge_spans(self.span, span_of(weights))
        if self.states is not None:
            sums.sum_segments(weights, block.offsets.astype(np.int64), self.states)

    def add(self, other: BucketWeights) -> None:
        self.span = merge_spans(self.span, other.span)
        if self.states is not None and other.states is not None:
            exact.merge_states(self.states, other.states)

    def totals(self) -> list[tuple[int, int]] | None:
        """The weights of every bucket as (negative, positive), times 2**EXPONENT."""
        if self.states is None:
            return None
        totals = [exact.to_integer(state) for state in self.states]
        return list(zip(totals[::2], totals[1::2], strict=True))


def totals_of_slices(
    rows: np.ndarray, weights: list[tuple[int, int]] | None, ranges: list[range], scale: WeightScale | None
) -> GlobalTotals:
    """The totals of slices of which all rows are at hand, from the rows and weights of their buckets."""
    totals = []
    for buckets in ranges:
        of_slice = slice(buckets.start, buckets.stop)
        by_class = [] if weights is None else [sum(by_bucket) for by_bucket in zip(*weights[of_slice], strict=True)]
        totals.append(ClassTotals(*rows[of_slice].sum(0).tolist(), *by_class))
    return GlobalTotals(totals, [NO_ROWS] * len(ranges), scale)


class BucketPositions:
    """Finds the position of buckets.

    Parameters
    ----------
    rows : ndarray of shape (n_buckets, 2)
        Rows of each bucket by class.
    weights : list of (int, int), or None
        The weights of each bucket by class, times 2**EXPONENT. None if no statistic needs them.
    ranges : list of range
        The buckets of every slice.
    global_totals : GlobalTotals
        The totals of slices, and what lies above all these buckets.
    """

    def __init__(
        self,
        rows: np.ndarray,
        weights: list[tuple[int, int]] | None,
        ranges: list[range],
        global_totals: GlobalTotals,
    ) -> None:
        self.rows = rows
        self.global_totals = global_totals
        self.ranges = ranges
        self.slice_of = np.repeat(np.arange(len(ranges)), [len(buckets) for buckets in ranges])
        self.rows_above = np.zeros((rows.shape[0], 2), np.int64)
        self.weights_above = [(0, 0)] * rows.shape[0]
        for buckets in ranges:
            of_slice = slice(buckets.start, buckets.stop)
            self.rows_above[of_slice] = rows[of_slice][::-1].cumsum(0)[::-1] - rows[of_slice]
            if weights is not None:
                above = (0, 0)
                for bucket in reversed(buckets):
                    self.weights_above[bucket] = above
                    above = above[0] + weights[bucket][0], above[1] + weights[bucket][1]

    def position_of(self, start: int, stop: int) -> RangePosition:
        """The position of the buckets start to stop, which belong to one slice."""
        number = int(self.slice_of[start])
        negatives, positives = self.rows_above[stop - 1].tolist()
        above = ClassTotals(negatives, positives, *self.weights_above[stop - 1])
        return RangePosition(self.global_totals.totals[number], above.plus(self.global_totals.above[number]))

    def bucket_ranges(
        self, without: Collection[int] = (), size: int = BUCKETS_PER_RANGE, within: range | None = None
    ) -> list[tuple[int, int]]:
        """Ranges of at most `size` neighboring buckets that have rows; none crosses the border of a slice.

        Buckets of `without` are left out. `within` limits the buckets.
        """
        pieces = []
        limits = within or range(self.rows.shape[0])
        for of_slice in self.ranges:
            buckets = range(max(of_slice.start, limits.start), min(of_slice.stop, limits.stop))
            start = buckets.start
            for bucket in sorted(bucket for bucket in without if bucket in buckets):
                pieces.append(range(start, bucket))
                start = bucket + 1
            pieces.append(range(start, buckets.stop))
        cut = [
            (start, min(start + size, piece.stop)) for piece in pieces for start in range(piece.start, piece.stop, size)
        ]
        return [(start, stop) for start, stop in cut if self.rows[start:stop].any()]
