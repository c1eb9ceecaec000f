"""What the driver decides after a round, for all workers: where rows move, and what is known of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.exchange.range_exchange import MAX_BUCKETS, ROWS_PER_BUCKET, ScoreCuts, cut_scores
from fastmetrics._core.exchange.row_ranges import Position, add_totals, split_statistics
from fastmetrics._core.exchange.runs import NO_ROWS, ClassTotals, RangePosition
from fastmetrics._core.exchange.weighted_ranges import WeightSpan, merge_spans
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics._core.statistic import Positioned
from fastmetrics.engine.input.slice_values import SliceValues
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.plan.resampling_options import Resampling

MOST_BUCKETS = 2 * MAX_BUCKETS  # of all targets together

# The numbers of a label and a score column, and the values of a slice (None: all rows).
RangeKey = tuple[int, int, SliceValues | None]
# A statistic that reads rows, the numbers of a label and a score column, and the values of a slice (None: all rows).
RowTotalKey = tuple[Any, int, int, SliceValues | None]
# Where the scores of a column are cut into buckets; None: the column goes to one target.
Cuts = ScoreCuts | None
# Some scores of a column, and of how many rows they are.
Sample = tuple[np.ndarray, int]


class RangeTotals(NamedTuple):
    """Rows and weights of each class, by range number (no entry without rows); `span` is that of all weights.

    `row_totals` are those of statistics that read rows.
    """

    ranges: dict[RangeKey, dict[int, ClassTotals]]
    span: WeightSpan
    row_totals: dict[RowTotalKey, dict[int, Any]]

    def row_position(self, key: RowTotalKey, range_number: int) -> Position:
        """The total of a slice, and of its rows above a range, for a statistic that reads rows."""
        total = above = None
        for number, in_range in self.row_totals.get(key, {}).items():
            total = add_totals(total, in_range)
            above = add_totals(above, in_range) if number > range_number else above
        return Position(total, above)

    def add(self, other: RangeTotals) -> RangeTotals:
        """The totals of other ranges too."""
        for key, by_number in other.ranges.items():
            self.ranges.setdefault(key, {}).update(by_number)
        for row_key, totals_by_number in other.row_totals.items():
            self.row_totals.setdefault(row_key, {}).update(totals_by_number)
        return self._replace(span=merge_spans(self.span, other.span))

    def position(self, key: RangeKey, range_number: int) -> RangePosition:
        """The totals of a slice, and of its rows above a range."""
        totals = above = NO_ROWS
        for number, in_range in self.ranges.get(key, {}).items():
            totals = totals.plus(in_range)
            above = above.plus(in_range) if number > range_number else above
        return RangePosition(totals, above)


def no_totals() -> RangeTotals:
    return RangeTotals({}, WeightSpan(), {})


class PartDecision(NamedTuple):
    """What is decided for a part of a task's plan.

    Attributes
    ----------
    n_classes : int
        The number of probabilities of a row; 0 if metrics read none.
    cuts : tuple of Cuts
        Those of every score column.
    totals : RangeTotals or None
        Those of all ranges, once they are known.
    n_slices : int
        The number of slices of all rows.
    """

    n_classes: int = 0
    cuts: tuple[Cuts, ...] = ()
    totals: RangeTotals | None = None
    n_slices: int = 0


NO_SOURCES: Mapping[int, tuple[int, ...]] = {}


class Decision(NamedTuple):
    """What all workers do next; it is small, and can be pickled.

    Attributes
    ----------
    round : int
        The number of the round, from 1.
    is_final : bool
        Nothing is left to do: the summaries of the round are all that `finalize` needs.
    moves_rows : bool
        The pieces of all states move to their targets, where `combine` makes states of them; otherwise states stay.
    sources : dict
        For every source, how many rows it has read, and kept for each task.
    parts : tuple of tuple of PartDecision
        For every task, and part of its plan.
    targets : int
        Those of the plan.
    units : tuple of UnitBuckets or None
        The buckets of the resampling units of each task.
    slices : tuple of SliceValues or None
        The slices of all rows, of each task whose slices are compared with the rest of the rows.
    """

    round: int = 1
    is_final: bool = False
    moves_rows: bool = False
    sources: Mapping[int, tuple[int, ...]] = NO_SOURCES
    parts: tuple[tuple[PartDecision, ...], ...] = ()
    targets: int = 0
    units: tuple[UnitBuckets | None, ...] = ()
    slices: tuple[Sequence[SliceValues] | None, ...] = ()


def is_resampled(resampling: Resampling | None) -> bool:
    """Are intervals made of what is known of units?"""
    return resampling is not None and resampling.unit_to_read is not None


def moves_whole_columns(plan: Plan, resampling: Resampling | None) -> bool:
    """Are scores not divided into ranges? Another order is needed, or intervals of units; all metrics agree."""
    return is_resampled(resampling) or any(own.needs_whole_column for own in plan.statistics["range"])


def needs_range_totals(plan: Plan, resampling: Resampling | None) -> bool:
    """Do ranges have to be counted before a statistic can make the state of one?"""
    if moves_whole_columns(plan, resampling):
        return False
    statistics, row_statistics = split_statistics(plan.statistics["range"])
    needs_position = any(statistic.needs_position for statistic in statistics)
    return needs_position or any(isinstance(own, Positioned) for own in row_statistics)


def moves_buckets(part: PlanPart) -> bool:
    """Do the scores of a part move as buckets that can be reduced as they are: keys, by bucket and class?

    That is all that metrics of one label and no slices read of a row, beside its weight.
    """
    _, row_statistics = split_statistics(part.plan.statistics["range"])
    names = part.names
    return not (row_statistics or part.plan.has_vectors or names.by) and len(names.labels) == 1


def find_cuts(samples: Iterable[Sample], targets: int) -> ScoreCuts:
    """The cuts of a score column into buckets of about equal rows, at least one for each target.

    The result is the same for any cuts.
    """
    found = [own for own in samples if own[0].shape[0]]
    if not found:
        return ScoreCuts()
    rows = max(rows / scores.shape[0] for scores, rows in found)  # that a score stands for
    thinned = [scores[:: max(1, round(rows * scores.shape[0] / own))] for scores, own in found]
    wanted = min(MOST_BUCKETS, sum(own for _, own in found) // ROWS_PER_BUCKET)
    return cut_scores(np.concatenate(thinned), max(targets, wanted))


def first_buckets(n_buckets: int, targets: int) -> list[int]:
    """The first bucket of every target, or the first partition, and their number."""
    return [n_buckets * target // targets for target in range(targets + 1)]
