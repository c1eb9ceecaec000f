"""States of partitions, merged into those of all rows."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastmetrics._core.columns.row_blocks import Output
from fastmetrics._core.exchange.class_ranges import OfClasses, join_replicates, join_states
from fastmetrics._core.exchange.range_exchange import merge_neighbours
from fastmetrics._core.exchange.row_ranges import StoredRowsStatistic
from fastmetrics._core.group_accumulators import StateKey, merge_states
from fastmetrics._core.grouping import grouped
from fastmetrics.engine.input.batch_validation import ValidatedBatch
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.slice_counts import SliceCounts
from fastmetrics.engine.partial.slice_passes import SlicePass
from fastmetrics.engine.partial.state_options import StateOptions
from fastmetrics.engine.partial.task_state import TaskState
from fastmetrics.engine.partitions.partition_state import (
    NO_TOTALS,
    WHOLE_COLUMN,
    PartitionResampling,
    PartitionState,
    SliceStateKey,
)
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.scan.intervals import MetricReplicates, ReplicateStates, finalise_replicates
from fastmetrics.engine.scan.paired_models import merged_wins
from fastmetrics.engine.scan.resolve import FinalStates


def of_output(states: dict[StateKey, Any], output: int) -> dict[tuple[Any, int | None], Any]:
    """The states of an output of columns, by statistic and slice."""
    return {(statistic, number): state for (statistic, own, number), state in states.items() if own == output}


class PartitionMerger:
    """Merges partitions into the states of a scan of all their rows."""

    def __init__(self, part: PlanPart, on_invalid: str, slices: GroupingSets | None = None) -> None:
        """`slices` are shared with the mergers of other parts of the plan."""
        plan = part.plan
        self.log_scan = TaskState([part], StateOptions(on_invalid), slices=slices)
        (self.scan,) = self.log_scan.parts
        self.states = FinalStates({})
        self.totals = NO_TOTALS
        self.replicates_by_key: dict[StateKey, Any] = {}
        self.statistics = {statistic for by_exchange in plan.statistics.values() for statistic in by_exchange}

    def add_partitions(self, partitions: list[PartitionState]) -> None:
        """Merge the states of partitions, in any order. Together they have all rows."""
        self.count_rows(partitions)
        for partition in partitions:
            self.totals = self.totals.merge(partition.totals)
            for slice_key, state in partition.states.items():
                if slice_key[0] not in self.statistics:
                    # Statistics may depend on resources, such as a word list, that differ from machine to machine.
                    raise ValueError(
                        f"a partition was counted by {slice_key[0]!r}; here there are "
                        f"{', '.join(map(repr, self.statistics))}"
                    )
                key = self.state_key(slice_key)
                if key not in self.states.by_key:
                    self.states.by_key[key] = slice_key[0].empty()
                self.states.by_key[key].merge(state)
            replicates = (partition.replicates or {}).items()
            merge_states(self.replicates_by_key, {self.state_key(key): own for key, own in replicates})

    def count_rows(self, partitions: list[PartitionState]) -> None:
        """Add the counts of partitions that together have all rows."""
        for partition in partitions:
            self.scan.slices.number_slices(partition.slices)
            kinds = partition.label_kinds_seen
            no_rows = (None,) * len(kinds)
            batch = ValidatedBatch(
                None, None, partition.rows, partition.dropped, kinds, no_rows, n_classes=partition.n_classes,
                filtered=partition.filtered, sum_distances=partition.sum_distances,
            )  # fmt: skip
            self.scan.counts.record(batch)
            self.scan.reader.float_keys |= partition.float_keys
            if partition.counts:
                if self.scan.slice_counts is None:
                    self.scan.slice_counts = SliceCounts(len(partition.counts[None].positives))
                self.scan.slice_counts.add_values(partition.counts, self.scan.slices.numbers)

    def add_range_states(self, ranges: list[PartitionState], score: int, model: int | None = None) -> None:
        """Merge the states of all ranges of score column number `score`, by default that of model number `score`."""
        model = score if model is None else model
        for score_range in ranges:
            for (statistic, label, values), replicates in (score_range.replicates or {}).items():
                output = self.scan.outputs.index(Output(label, model))
                self.replicates_by_key[self.state_key((statistic, output, values))] = replicates
        in_order = sorted(
            (score_range for score_range in ranges if score_range.range_number != WHOLE_COLUMN),
            key=lambda score_range: score_range.range_number,
        )
        states_in_order = grouped(item for score_range in in_order for item in score_range.states.items())
        for (statistic, label, values), states in states_in_order.items():
            output = self.scan.outputs.index(Output(label, model))
            key = self.state_key((statistic, output, values))
            merge = statistic.merge
            if not isinstance(statistic, StoredRowsStatistic):
                merge = partial(merge, totals=self.totals.position((label, score, values), 0).totals)
            self.states.by_key[key] = merge_neighbours(states[::-1], merge)

    def join_classes(self, replicates: int) -> None:
        """Join the states of problems of two classes, after all ranges were added."""
        statistics, n_classes = self.scan.plan.statistics["range"], self.scan.counts.n_classes or 0
        if not self.scan.plan.has_vectors:
            return
        for output in range(len(self.scan.outputs)):
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

    def replicates(self, resampling: PartitionResampling) -> MetricReplicates:
        """The replicates of all metrics, after all partitions and ranges were added."""
        options = resampling.options
        if not self.scan.counts.rows_kept:
            return MetricReplicates({}, resampling.unit_buckets, options)
        self.scan.slice_pass = SlicePass(len(self.scan.slices))  # the slices of all sets have their own numbers
        values = finalise_replicates(self.scan, self.replicates_by_key, options.replicates)
        found = MetricReplicates(values, resampling.unit_buckets, options)
        if not options.in_pairs:
            return found
        return found._replace(wins=merged_wins(self.scan, self.replicates_by_key, resampling.unit_buckets))

    def state_key(self, slice_key: SliceStateKey) -> StateKey:
        """The key of a state with the number of its slice instead of the slice's values."""
        statistic, output, values = slice_key
        return statistic, output, None if values is None else self.scan.slices.numbers[values]
