"""What a partition, or a range of scores, sends to the driver: states by slice values, counts of rows, totals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastmetrics._core.exchange.row_ranges import Position, add_totals
from fastmetrics._core.exchange.runs import NO_ROWS, ClassTotals, RangePosition
from fastmetrics._core.exchange.weighted_ranges import WeightSpan, merge_spans
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics.engine.input.slice_values import SliceValues
from fastmetrics.engine.partial.slice_counts import RowCount
from fastmetrics.engine.plan.resampling_options import Resampling

WHOLE_COLUMN = -1  # the range number of a shard that belongs to a whole score column

# A statistic, the number of an output (in a range: of a label), and the values of a slice (None: all rows).
SliceStateKey = tuple[Any, int, SliceValues | None]
# The numbers of a label and a score column, and the values of a slice (None: all rows).
RangeKey = tuple[int, int, SliceValues | None]
# A statistic that reads rows, the numbers of a label and a score column, and the values of a slice (None: all rows).
RowTotalKey = tuple[Any, int, int, SliceValues | None]


class PartitionResampling(NamedTuple):
    """What every partition needs for resampling: the options, and the buckets of the units of all partitions."""

    options: Resampling
    unit_buckets: UnitBuckets


class RangeTotals(NamedTuple):
    """Rows and weights of each class, by range number (no entry without rows); `span` is that of all weights.

    `row_totals` are those of statistics that read rows.
    """

    ranges: dict[RangeKey, dict[int, ClassTotals]]
    span: WeightSpan
    row_totals: dict[RowTotalKey, dict[int, Any]]

    @property
    def known(self) -> bool:
        """Were ranges counted?"""
        return bool(self.ranges or self.row_totals)

    def row_position(self, key: RowTotalKey, range_number: int) -> Position:
        """The total of a slice, and of its rows above a range, for a statistic that reads rows."""
        total = above = None
        for number, in_range in self.row_totals.get(key, {}).items():
            total = add_totals(total, in_range)
            above = add_totals(above, in_range) if number > range_number else above
        return Position(total, above)

    def merge(self, other: RangeTotals) -> RangeTotals:
        ranges = {key: dict(by_number) for key, by_number in self.ranges.items()}
        for key, by_number in other.ranges.items():
            merged = ranges.setdefault(key, {})
            for number, totals in by_number.items():
                merged[number] = merged[number].plus(totals) if number in merged else totals
        row_totals = {key: dict(by_number) for key, by_number in self.row_totals.items()}
        for row_key, totals_by_number in other.row_totals.items():
            own = row_totals.setdefault(row_key, {})
            for number, total in totals_by_number.items():
                own[number] = add_totals(own.get(number), total)
        return RangeTotals(ranges, merge_spans(self.span, other.span), row_totals)

    def position(self, key: RangeKey, range_number: int) -> RangePosition:
        """The totals of a slice, and of its rows above a range."""
        totals = above = NO_ROWS
        for number, in_range in self.ranges.get(key, {}).items():
            totals = totals.plus(in_range)
            above = above.plus(in_range) if number > range_number else above
        return RangePosition(totals, above)


EMPTY_COUNTS: dict[SliceValues | None, RowCount] = {}
NO_TOTALS = RangeTotals({}, WeightSpan(), {})


class PartitionState(NamedTuple):
    """The state of a partition, or of a range of scores: counts of rows, and states by slice values.

    `range_number` is the number of the range; `replicates` are present if units are resampled; `n_classes` is the
    number of probabilities of a row, if metrics read them. `counts` are the rows of slices, of a partition; `filtered`
    are the rows that the filter left out, `sum_distances` those of a `ValidatedBatch`, `float_keys` the columns of keys
    that have floats from 2**53 on.
    """

    rows: int
    dropped: dict[str, int]
    label_kinds_seen: tuple[int, ...]
    slices: list[SliceValues]
    states: dict[SliceStateKey, Any]
    totals: RangeTotals
    range_number: int = 0
    replicates: dict[SliceStateKey, Any] | None = None
    n_classes: int | None = None
    counts: Mapping[SliceValues | None, RowCount] = EMPTY_COUNTS
    filtered: int = 0
    sum_distances: tuple[float, ...] = ()
    float_keys: frozenset[str] = frozenset()
