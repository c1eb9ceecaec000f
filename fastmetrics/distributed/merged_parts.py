"""Summaries of sources and of targets, merged into the states of all rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from fastmetrics._core.columns.row_blocks import Output
from fastmetrics._core.exchange.class_ranges import OfClasses, join_replicates, join_states
from fastmetrics._core.exchange.range_exchange import merge_neighbors
from fastmetrics._core.exchange.row_ranges import StoredRowsStatistic
from fastmetrics._core.group_accumulators import StateKey, merge_states
from fastmetrics._core.grouping import grouped
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.additive_replicates import ALL_SLICES, JackknifeUnits
from fastmetrics._core.resampling.contributions import Contributions
from fastmetrics._core.resampling.resampling_units import UnitBuckets, UnitCounter
from fastmetrics._core.resampling.sparse_entries import SparseEntries
from fastmetrics.distributed.decisions import PartDecision, RangeTotals, Sample, no_totals
from fastmetrics.distributed.score_columns import score_columns
from fastmetrics.distributed.summaries import PartSummary, RangeStates, SliceStateKey
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.part_types import PartTypes
from fastmetrics.engine.partial.slice_counts import SliceCounts
from fastmetrics.engine.partial.slice_passes import SlicePass
from fastmetrics.engine.partial.slices_and_rests import SlicesAndRests
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.plan.resampling_options import Resampling
from fastmetrics.engine.scan.contributions_by_score import join_classes
from fastmetrics.engine.scan.final_report import ResolvedPart
from fastmetrics.engine.scan.intervals import (
    AnalyticIntervals,
    MetricReplicates,
    ReplicateStates,
    finalize_replicates,
)
from fastmetrics.engine.scan.linearized import (
    ErrorsOfValues,
    LinearizedIntervals,
    add_additive,
    divide_metrics,
)
from fastmetrics.engine.scan.paired_models import merged_wins
from fastmetrics.engine.scan.resolve import FinalStates
from fastmetrics.engine.scan.resolve_intervals import Intervals, intervals_without_rows
from fastmetrics.engine.scan.slice_entries import EntryStates


def of_output(states: dict[StateKey, Any], output: int) -> dict[tuple[Any, int | None], Any]:
    """The states of an output of columns, by statistic and slice."""
    return {(statistic, number): state for (statistic, own, number), state in states.items() if own == output}


class MergedEntries(EntryStates):
    """The states of entries that were sent without those that have no rows."""

    def find_one(self, key: StateKey) -> Any:
        found = super().find_one(key)
        return found.states() if isinstance(found, SparseEntries) else found


class MergedPart:
    """What all rows leave for a part of a task's plan. Its summaries are added in any order."""

    def __init__(self, plan_part: PlanPart, part: PartState) -> None:
        self.plan_part = plan_part
        self.part = part
        self.states = FinalStates({})
        self.totals = no_totals()
        self.replicates_by_key: dict[StateKey, Any] = {}
        self.entries: dict[StateKey, Any] = {}
        self.samples: list[Sequence[Sample]] = []
        self.units = UnitCounter()
        self.ranges: list[RangeStates] = []
        self.statistics = {statistic for by_exchange in part.plan.statistics.values() for statistic in by_exchange}

    def add(self, summary: PartSummary) -> None:
        """Merge a summary."""
        self.part.slices.number_slices(list(summary.slices))
        self.add_counts(summary)
        if summary.totals is not None:
            self.totals = self.totals.add(summary.totals)
        if summary.units is not None:
            self.units.merge(summary.units)
        self.samples += [summary.samples] if summary.samples else []
        self.ranges += summary.ranges
        for slice_key, state in summary.states.items():
            if slice_key[0] not in self.statistics:
                # Statistics may depend on resources, such as a word list, that differ from machine to machine.
                here = ", ".join(map(repr, self.statistics))
                raise ValueError(f"a partition was counted by {slice_key[0]!r}; here there are {here}")
            key = self.state_key(slice_key)
            if key not in self.states.by_key:
                self.states.by_key[key] = slice_key[0].empty()
            self.states.by_key[key].merge(state)
        replicates = summary.replicates.items()
        merge_states(self.replicates_by_key, {self.state_key(key): own for key, own in replicates})
        merge_states(self.entries, {self.state_key(key): own for key, own in summary.entries.items()})

    def add_counts(self, summary: PartSummary) -> None:
        """Add the counts of rows of a source, which have to fit each other."""
        part = self.part
        types = PartTypes(part.plan, part.names)
        types.found = summary.types
        part.types.check_mergeable(types)
        part.types.merge(types)
        part.reader.float_keys |= summary.float_keys
        part.reader.class_forms |= summary.class_forms
        if summary.counts is not None:
            part.counts.check_mergeable(summary.counts)
            part.counts.merge(summary.counts)
        if summary.slice_counts:
            if part.slice_counts is None:
                part.slice_counts = SliceCounts(len(summary.slice_counts[None].positives))
            part.slice_counts.add_values(summary.slice_counts, part.slices.numbers)

    def resolve(
        self, decided: PartDecision, resampling: Resampling | None, buckets: UnitBuckets | None
    ) -> ResolvedPart:
        """The final states, after all summaries were added."""
        self.add_rests()
        columns = score_columns(self.plan_part, decided.n_classes)
        for column, ranges in grouped((own.column, own) for own in self.ranges).items():
            self.add_range_states(ranges, column, columns[column].model, decided.totals or no_totals())
        self.join_classes(0 if resampling is None else resampling.replicates)
        intervals: Intervals | None = None
        if resampling is not None:
            intervals = AnalyticIntervals(self.states, resampling)
            if buckets is not None:
                intervals = self.intervals(resampling, buckets)
        return ResolvedPart(self.part, self.states, intervals)

    def add_rests(self) -> None:
        """Add the counts and the sums of rests; what is no sum was sent."""
        slices, additive = self.part.slices, self.part.plan.statistics["none"]
        if isinstance(slices, SlicesAndRests):
            sums = {key: own for key, own in self.states.by_key.items() if key[0] in additive}
            slices.add_states(sums)
            self.states.by_key.update(sums)
            if self.part.slice_counts is not None:
                self.part.slice_counts = slices.with_counts(self.part.slice_counts)

    def add_range_states(self, ranges: Iterable[RangeStates], column: int, model: int, totals: RangeTotals) -> None:
        """Merge the states of all ranges of a score column."""
        in_order = sorted(ranges, key=lambda score_range: score_range.number)
        for score_range in in_order:
            for own, into in ((score_range.replicates, self.replicates_by_key), (score_range.entries, self.entries)):
                for (what, label, values), found in own.items():
                    output = self.part.outputs.index(Output(label, model))
                    into[self.state_key((what, output, values))] = found
        states_in_order = grouped(item for score_range in in_order for item in score_range.states.items())
        for (statistic, label, values), states in states_in_order.items():
            output = self.part.outputs.index(Output(label, model))
            merge = statistic.merge
            if not isinstance(statistic, StoredRowsStatistic):
                merge = partial(merge, totals=totals.position((label, column, values), 0).totals)
            self.states.by_key[self.state_key((statistic, output, values))] = merge_neighbors(states[::-1], merge)

    def join_classes(self, replicates: int) -> None:
        """Join the states of problems of two classes, after all ranges were added."""
        statistics, n_classes = self.part.plan.statistics["range"], self.part.counts.n_classes or 0
        if not self.part.plan.has_vectors:
            return
        for output in range(len(self.part.outputs)):
            states = of_output(self.states.by_key, output)
            for (statistic, number), state in join_states(statistics, n_classes, states).items():
                self.states.by_key[statistic, output, number] = state
            found = {
                key: list(own.states())
                for key, own in of_output(self.replicates_by_key, output).items()
                if isinstance(key[0], OfClasses)
            }
            for (statistic, number), by_replicate in join_replicates(statistics, n_classes, found, replicates).items():
                self.replicates_by_key[statistic, output, number] = ReplicateStates(by_replicate)

    def intervals(self, resampling: Resampling, buckets: UnitBuckets) -> Intervals:
        """The intervals of all metrics, after all summaries were added."""
        if not self.part.counts.rows_kept:
            return intervals_without_rows(resampling)
        self.part.slice_pass = SlicePass(len(self.part.slices))  # the slices of all sets have their own numbers
        linearized, resampled = divide_metrics(self.part.plan.metrics, resampling)
        values = finalize_replicates(self.part, self.replicates_by_key, resampling.replicates, resampled)
        wins = merged_wins(self.part, self.replicates_by_key, buckets) if resampling.in_pairs else None
        if not resampling.is_linearized:
            return MetricReplicates(values, buckets, resampling, wins=wins)
        bootstrap = resampling.bootstrapped()._replace(in_pairs=False)
        others = MetricReplicates(values, buckets, bootstrap) if resampled else None
        units = JackknifeUnits(buckets, len(self.part.slices))
        return LinearizedIntervals(self.errors(linearized, resampling, units), units, resampling, others, wins)

    def errors(self, metrics: Sequence[Metric], resampling: Resampling, units: JackknifeUnits) -> ErrorsOfValues:
        """The errors of metrics with linearized intervals."""
        errors = ErrorsOfValues.empty(resampling.level, self.part.slices)
        n_models = len(self.part.names.scores) if resampling.in_pairs else 0
        additive = [metric for metric in metrics if metric.spec.exchange != "range"]
        entries = MergedEntries(self.entries)
        add_additive(errors, additive, self.part, self.states, entries, units, ALL_SLICES, n_models)
        by_score = {key: own for key, own in self.entries.items() if isinstance(own, Contributions)}
        errors.add_all(join_classes(metrics, self.states, by_score, self.part.counts.n_classes or 0), n_models)
        return errors

    def state_key(self, slice_key: SliceStateKey) -> StateKey:
        """The key of a state with the number of its slice instead of the slice's values."""
        statistic, output, values = slice_key
        return statistic, output, None if values is None else self.part.slices.numbers[values]
