"""Plots of a log: which of them the plan and the columns allow, what they add to the plan, and their confidence bands.

Plots are of all rows; slices have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fastmetrics._core.exchange.group_reduction import reduce_groups
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.plot import Plot
from fastmetrics._core.registry.plot_registry import ModelStates, NoPlotError, PlotSpec, known_plots
from fastmetrics._core.resampling.additive_replicates import AdditiveReplicates, ReplicateAccumulators
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.row_replicates import RowReduction, replicate_rows
from fastmetrics._core.statistic import GroupedStatistic
from fastmetrics.engine.plan.column_names import ColumnNames, Key
from fastmetrics.engine.plan.metric_plan import Plan, list_metric_names
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.plan.tasks import PlannedTask
from fastmetrics.engine.results.report import Report, attach_plots
from fastmetrics.engine.results.result import Result
from fastmetrics.engine.scan.final_report import ResolvedPart
from fastmetrics.engine.scan.intervals import AnalyticIntervals
from fastmetrics.engine.scan.resolve import group_reduction

# Counts of the replicates, by the plot's name and the number of the output.
Bands = dict[tuple[str, int], np.ndarray]


class PlotPlan(NamedTuple):
    """The plots to make, of which part of the plan, and the reasons why the others are not made."""

    selected: tuple[PlotSpec, ...]
    missing: dict[str, str]
    part: int
    group: Key | None

    def add_statistics(self, parts: Sequence[PlanPart]) -> tuple[PlanPart, ...]:
        """The parts with the statistics of the plots."""
        plan, names = self.add_to_plan(parts[self.part].plan), parts[self.part].names
        if plan.needs("hash") and names.group is None:
            names = replace(names, group=self.group)
        return (*parts[: self.part], PlanPart(plan, names), *parts[self.part + 1 :])

    def add_to_plan(self, plan: Plan) -> Plan:
        """A plan with the statistics of the plots."""
        by_group = [statistic for spec in self.selected if spec.exchange == "hash" for statistic in spec.statistics]
        by_row = [statistic for spec in self.selected if spec.exchange == "none" for statistic in spec.statistics]
        plan = plan.with_statistics(hash=tuple(dict.fromkeys([*plan.statistics["hash"], *by_group])))
        return replace(plan, unsliced=tuple(dict.fromkeys(by_row)))

    def sample_bands(self, resolved: ResolvedPart, n_threads: int) -> Bands:
        """The counts of all replicates of the band statistics, if there are intervals by replicates, or by default.

        The resampling units are those of the intervals. Curves have no linearized bands.
        """
        part, states, intervals = resolved.part, resolved.states, resolved.intervals
        unit_exchange, bands = part.unit_exchange, Bands()
        if intervals is None or isinstance(intervals, AnalyticIntervals) or intervals.unit_buckets.n_units < 2:
            return bands
        resampling = intervals.resampling
        if resampling.is_linearized and not resampling.falls_back:
            return bands
        weights = ReplicateWeights(intervals.unit_buckets, resampling.seed, resampling.replicates)

        def new_states(statistics: Sequence[Any]) -> ReplicateAccumulators:
            return ReplicateAccumulators(statistics, weights, intervals.units_of)

        units_are_groups = part.group_exchange is unit_exchange
        group_exchange = part.group_exchange if units_are_groups or intervals.units_of is not None else None
        replicates: dict[Any, AdditiveReplicates] = {}
        band_statistics: dict[tuple[str, int], Any] = {}
        for number, output in enumerate(part.outputs):
            by_row: dict[Any, None] = {}
            for spec in self.selected:
                if spec.exchange == "none" and part.names.weight is not None:
                    continue  # counts of rows ignore row weights
                statistic = spec.band_statistic(*states.select(spec.statistics, number, None))
                band_statistics[spec.name, number] = statistic
                if spec.exchange == "none":
                    by_row[statistic] = None
            if by_row and unit_exchange is not None:
                # The thresholds differ between outputs, so each output is resampled separately.
                reduction = RowReduction(list(by_row), [output], 0)
                of_output = replicate_rows(unit_exchange.store, reduction, weights, n_threads)
                replicates |= {(statistic, number, None): counts for (statistic, _, _), counts in of_output.items()}
        by_group = list(dict.fromkeys(own for own in band_statistics.values() if isinstance(own, GroupedStatistic)))
        if by_group and group_exchange is not None:
            of_groups = group_reduction(part, by_group, new_states, ())
            replicates |= reduce_groups(group_exchange, of_groups, n_threads)
        for (name, number), statistic in band_statistics.items():
            if (statistic, number, None) in replicates:
                bands[name, number] = replicates[statistic, number, None].counts()
        return bands


class TaskPlots(NamedTuple):
    """The plots of a task, the resolved part that they are made of, and the counts of its replicates."""

    plan: PlotPlan
    resolved: ResolvedPart
    bands: Bands
    task: str | None

    def models(self, spec: PlotSpec, report: Report, level: float) -> list[ModelStates]:
        """What a plot draws of every output; nothing if the columns do not allow the plot."""
        if spec not in self.plan.selected:
            return []
        results = [result for result in report.results if result.task == self.task]
        names, states = self.resolved.part.names, self.resolved.states
        models = []
        for number, output in enumerate(self.resolved.part.outputs):
            score, label = names.score_of(output), names.label_of(output)
            name = score if len(names.labels) == 1 else f"{score}, {label}"
            title = name if self.task is None else f"{self.task}: {name}"
            note = legend_note(spec, results, score, label)
            plot_states = tuple(states.select(spec.statistics, number, None))
            models.append(ModelStates(title, plot_states, note, self.bands.get((spec.name, number)), level))
        return models


def add_plots(report: Report, tasks: Sequence[TaskPlots], level: float) -> Report:
    """The report with all plots that can be made, and the reasons why the others are missing.

    A plot has the models of all tasks that allow it. The reasons are those of the first task.
    """
    made: dict[str, Plot] = {}
    missing: dict[str, str] = {}
    for name, spec in known_plots().items():
        models = [model for task in tasks for model in task.models(spec, report, level)]
        if not models:
            missing[name] = tasks[0].plan.missing[name]
            continue
        try:
            made[name] = spec.make(models)
        except NoPlotError as error:
            missing[name] = str(error)
    return attach_plots(report, made, missing)


def plan_plots(task: PlannedTask) -> PlotPlan:
    """Select the plots of the registry that labels, groups and weights allow, of the first part with two classes.

    Plots may be made of the caller's groups though no metric is.
    """
    parts, names = task.parts, task.names
    number = next((number for number, part in enumerate(parts) if part.plan.label_kinds.binary), 0)
    group = parts[number].names.group or names.group
    own_names = replace(parts[number].names, group=group)
    selected, missing = [], {}
    for name, spec in known_plots().items():
        reason = missing_reason(spec, parts[number].plan, own_names)
        if reason is None:
            selected.append(spec)
        else:
            missing[name] = reason
    return PlotPlan(tuple(selected), missing, number, group)


def missing_reason(spec: PlotSpec, plan: Plan, names: ColumnNames) -> str | None:
    """Why the plot cannot be made; None if it can."""
    if not plan.label_kinds.binary:
        return f"no metric of classes was asked for, but {list_metric_names(plan.metrics)}"
    if spec.exchange == "hash" and names.group is None:
        return "it is made of groups: say which column has their keys, group=..."
    if names.weight is not None and not spec.weighted:
        return f"it counts rows, and these have weights ({names.weight!r})"
    return None


def legend_note(spec: PlotSpec, results: Sequence[Result], score: str, label: str) -> str:
    """The values of the plot's legend metrics, if the report has them: "AUC 0.7312 [0.7209, 0.7411]"."""
    notes = []
    for metric, legend_name in spec.legend_metrics:
        variants = [
            result
            for result in results
            if not result.slice
            and result.score == score
            and result.label == label
            and (result.metric == metric or result.metric.startswith((f"{metric}(", f"{metric}@")))
        ]
        if variants:
            result = min(variants, key=lambda variant: (variant.metric != metric, variant.metric))
            parameters = result.metric.removeprefix(metric)
            interval = "" if result.interval is None else " [{:.4f}, {:.4f}]".format(*result.interval)
            notes.append(f"{legend_name}{parameters} {result.value:.4f}{interval}")
    return ", ".join(notes)
