"""The report of a state: every metric of every model, label and slice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastmetrics._core.columns.arrow_columns import EXACT_INTEGER
from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.immutable import freeze
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric
from fastmetrics._core.results.result_set import TaskRows
from fastmetrics._core.statistic import ClassTables, Value
from fastmetrics._version import __version__
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.task_state import TaskState
from fastmetrics.engine.plan.tasks import PlannedTask
from fastmetrics.engine.results.report import Report, attach_matrices
from fastmetrics.engine.results.result import Result
from fastmetrics.engine.scan.found_interval import NO_INTERVAL, Interval
from fastmetrics.engine.scan.read_log import Progress
from fastmetrics.engine.scan.resolve import FinalStates, resolve
from fastmetrics.engine.scan.small_slices import SmallSlices

if TYPE_CHECKING:
    from fastmetrics.engine.plan.resampling_options import Resampling
    from fastmetrics.engine.scan.resolve_intervals import Intervals

# States between which the exact state of a key lies.
SliceValues = Mapping[str, Any]
StateBounds = dict[StateKey, tuple[Any, Any]]


def value_between(
    metric: Metric, bounds: StateBounds, output: int, slice_number: int | None
) -> tuple[Value, tuple[float, float] | None]:
    """The midpoint of the values of the two bounding states, and these values as an interval."""
    states = [bounds[statistic, output, slice_number] for statistic in metric.statistics()]
    ends = [metric.finalize(*(low_and_high[side] for low_and_high in states)) for side in (0, 1)]
    if ends[0].reason is not None:
        return ends[0], None
    low, high = sorted(end.value for end in ends)
    return ends[0]._replace(value=low + (high - low) / 2), (low, high)


class ResolvedPart(NamedTuple):
    """The final states of a part of the plan.

    `intervals` are those that were asked for; `bounds` are those of an approximate state's range statistics.
    """

    part: PartState
    states: FinalStates
    intervals: Intervals | None = None
    bounds: StateBounds | None = None

    def results(
        self,
        metrics: Sequence[Metric],
        slice_number: int | None,
        slice_values: SliceValues,
        bins_signatures: Mapping[str, str],
        task: str | None,
    ) -> list[Result]:
        """The results of a slice: these metrics for every output. `bins_signatures` are those of all bins."""
        names = self.part.names
        count = self.part.row_count(slice_number)
        # Without slices, rows are not counted by class: a metric says its positives in its coverage.
        positives = count.positives or None
        suffix = "".join(text for title, text in bins_signatures.items() if title in slice_values)
        found = []
        float_keys = self.float_keys(slice_values)
        for number, output in enumerate(self.part.outputs):
            label, score = names.label_of(output), names.score_of(output)
            of_columns = float_keys | self.sum_distance(output.score)
            for metric in metrics:
                value, found_interval = self.value(metric, number, slice_number)
                bounds, error = found_interval.bounds, found_interval.error
                approximate = self.bounds is not None and bounds is not None
                coverage = {**value.coverage, **of_columns}
                if names.truth is not None and slice_number is None:
                    coverage |= self.part.counts.truth_left_out(coverage.get("truth_rows", 0))
                method = "" if self.intervals is None else self.intervals.signature_suffix(metric)
                found.append(Result(
                    repr(metric), score, slice_values, value.value,
                    metric.signature(coverage, names.weight, approximate) + suffix + method, coverage, value.reason,
                    label=label, interval=bounds, standard_error=found_interval.standard_error, task=task,
                    df=None if error is None else error.df,
                    n_units=None if error is None else error.n_units,
                    n_effective=None if error is None else error.n_effective,
                    rows=count.rows,
                    positives=coverage.get("positives") if positives is None else positives[output.label],
                ))  # fmt: skip
        return found

    def sum_distance(self, model: int) -> dict[str, float]:
        """How far the probabilities of a row of a model are from the sum 1, for the coverage; empty if not noted."""
        distance = self.part.counts.sum_distances[model] if self.part.counts.sum_distances else 0.0
        return {"sum_distance": distance} if distance else {}

    def float_keys(self, slice_values: SliceValues) -> dict[str, str]:
        """The columns of keys with floats from 2**53 on, for the coverage; empty if there is none."""
        found = self.part.reader.float_keys.union(
            name for name, value in slice_values.items() if isinstance(value, float) and abs(value) >= EXACT_INTEGER
        )
        return {"float_keys": ", ".join(sorted(found))} if found else {}

    def value(self, metric: Metric, output_number: int, slice_number: int | None) -> tuple[Value, Interval]:
        """A value and its interval."""
        if self.bounds is not None and metric.spec.exchange == "range":
            value, bounds = value_between(metric, self.bounds, output_number, slice_number)
            return value, Interval(bounds, None, {})
        value = metric.finalize(*self.states.select(metric.statistics(), output_number, slice_number))
        if self.intervals is None:
            return value, NO_INTERVAL
        found = self.intervals.interval(metric, output_number, slice_number, value)
        found = with_units_at_most(found, self.part.row_count(slice_number).rows)
        return value._replace(coverage=value.coverage | found.coverage), found

    def tables_of_classes(self, find: Callable[[ClassTables, Any], Any]) -> Iterator[tuple[Any, ...]]:
        """The label, the score and what `find(statistic, state)` returns, of all rows of every output."""
        names = self.part.names
        for number, output in enumerate(self.part.outputs):
            for statistic in self.part.plan.with_class_tables:
                (state,) = self.states.select((statistic,), number, None)
                found = find(statistic, state)
                if found is not None:
                    yield names.label_of(output), names.score_of(output), *found


def with_units_at_most(interval: Interval, n_rows: int | None) -> Interval:
    """The interval with at most as many units as rows: beyond the number of unit buckets they are estimated."""
    if n_rows is None or interval.coverage.get("units", 0) <= n_rows:
        return interval
    error = interval.error
    return interval._replace(
        coverage={**interval.coverage, "units": n_rows},
        error=None if error is None else error._replace(n_units=n_rows),
    )


def notes_on_words(part: PartState, states: FinalStates) -> list[str]:
    """A note for every model of which texts of some rows have words for another tokenizer only, with the metrics."""
    metrics: dict[tuple[str, str], list[str]] = {}
    for metric, statistic in part.plan.with_notes:
        for number, output in enumerate(part.outputs):
            note = statistic.note_on_words(*states.select((statistic,), number, None))
            if note is not None:
                metrics.setdefault((part.names.score_of(output), note), []).append(repr(metric))
    return [f"{', '.join(own)}, {score}: {note}" for (score, note), own in metrics.items()]


def resolve_part(
    part: PartState, resampling: Resampling | None, n_threads: int, progress: Progress | None, last: bool = True
) -> ResolvedPart:
    """Resolve a part: the states of all statistics, and the intervals of all metrics if they are asked for.

    `last` is that of `resolve`.
    """
    if resampling is None:
        return ResolvedPart(part, resolve(part, n_threads, progress, last))
    from fastmetrics.engine.scan.resolve_intervals import resolve_intervals  # it imports all of resampling

    return ResolvedPart(part, *resolve_intervals(part, resampling, n_threads, progress, last))


class ResolvedTask(NamedTuple):
    """A task whose parts are resolved: the final states of all parts of its plan."""

    task: PlannedTask
    state: TaskState
    parts: Sequence[ResolvedPart]

    def results(self, small: SmallSlices) -> Iterator[Result]:
        """All rows first, then slices in the order of their values; in each, every metric of every output.

        Metrics stand in the order in which they were asked for, as far as they read the same columns.
        """
        of_parts = []
        for resolved in self.parts:
            own = set(resolved.part.plan.metrics)
            signatures = {
                bins.title: f"|edges:{bins.title}={','.join(map(repr, bins.edges or ()))}"
                for bins in resolved.part.names.bins
            }
            of_parts.append((resolved, [metric for metric in self.task.plan.metrics if metric in own], signatures))
        for slice_number, values in small.keep_large(self.state):
            slice_values = freeze(values)
            for resolved, metrics, signatures in of_parts:
                yield from resolved.results(metrics, slice_number, slice_values, signatures, self.task.name)


def rows_of_task(task: PlannedTask, state: TaskState) -> TaskRows:
    """Which rows and columns a task reads."""
    dropped = dict(sorted(state.counts.dropped.items()))
    return TaskRows(state.counts.rows_kept, freeze(dropped), freeze(task.names.by_role()), state.filtered)


def edges_of_tasks(tasks: Sequence[tuple[str | None, TaskState]]) -> dict[str, tuple[int | float, ...]]:
    """The edges of all slices that are intervals; those of a task begin with its name."""
    return {
        own.title if name is None else f"{name}: {own.title}": own.edges or ()
        for name, state in tasks
        for own in state.names.bins
    }


def make_report(
    resolved: Sequence[ResolvedTask], seconds: float | None, question: Evaluation, notes: Sequence[str] = ()
) -> Report:
    """The report of all tasks, one after the other. Slices of too few rows are counted, and left out."""
    small = SmallSlices(question.min_rows)
    parts = [part for one in resolved for part in one.parts]
    rows = {one.task.name: rows_of_task(one.task, one.state) for one in resolved}
    only = rows.pop(None, None)
    report = Report(
        [result for one in resolved for result in one.results(small)],
        rows=resolved[0].state.counts.rows,
        filtered=None if only is None else only.filtered,
        dropped={} if only is None else only.dropped,
        columns={} if only is None else only.columns,
        version=__version__,
        seconds=seconds,
        evaluation=question,
        tasks={name: of_task for name, of_task in rows.items() if name is not None},
        small_slices=small.as_dict(),
        bins=edges_of_tasks([(one.task.name, one.state) for one in resolved]),
        notes=[*notes, *(note for part in parts for note in notes_on_words(part.part, part.states))],
    )
    matrices = [own for part in parts for own in part.tables_of_classes(lambda own, state: own.confusion_matrix(state))]
    tables = [own for part in parts for own in part.tables_of_classes(lambda own, state: own.label_table(state))]
    if not matrices and not tables:
        return report
    from fastmetrics._core.results.class_matrix import ClassMatrix, LabelTable

    return attach_matrices(report, [ClassMatrix(*own) for own in matrices], [LabelTable(*own) for own in tables])
