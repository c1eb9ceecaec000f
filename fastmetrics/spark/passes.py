"""The passes over a DataFrame, started by the driver: which parts of all tasks share one, and what they send back.

Parts share a pass if they need the same shuffle by group; parts without a group join any pass. One more pass at the
start counts resampling units, and one at the end has the rows of ranges whose totals had to be known first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from fastmetrics._core.grouping import grouped
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.resampling_units import UnitCounter
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partitions.partition_merger import PartitionMerger
from fastmetrics.engine.partitions.partition_scan import PartPass
from fastmetrics.engine.partitions.partition_state import WHOLE_COLUMN, PartitionResampling, PartitionState
from fastmetrics.engine.partitions.range_shards import needs_range_totals, needs_whole_columns
from fastmetrics.engine.partitions.score_columns import ScoreColumn, score_columns
from fastmetrics.engine.plan.column_names import key_columns
from fastmetrics.engine.plan.resampling_options import Resampling
from fastmetrics.engine.plan.tasks import PlannedTask, name_task_in_errors
from fastmetrics.engine.scan.final_report import ResolvedPart, ResolvedTask
from fastmetrics.engine.scan.intervals import AnalyticIntervals, MetricReplicates
from fastmetrics.engine.scan.read_log import check_task_rows
from fastmetrics.spark.expressions import translated_errors
from fastmetrics.spark.plugins import Plugins
from fastmetrics.spark.shared_frame import FramePass, SharedFrame, alias_of
from fastmetrics.spark.tasks import (
    N_RANGES,
    OUTCOME_SCHEMA,
    PARTITION,
    RANGE,
    SHUFFLE_KEY,
    UNITS,
    PartId,
    PassOptions,
    TaskOptions,
    count_partition_units,
    read_outcomes,
    resolve_shards,
    scan_partition_rows,
)

SAMPLE_FRACTION = 0.01
QUANTILE_ACCURACY = 1000


class PassSettings(NamedTuple):
    """What all passes of a call have in common."""

    on_invalid: str
    memory_limit: int | None
    spill_dir: str | None
    n_partitions: int | None
    plugins: Plugins
    time_zone: str | None = None

    def shuffle(self, repartition: Callable[..., Any], *keys: str) -> Any:
        return repartition(*keys) if self.n_partitions is None else repartition(self.n_partitions, *keys)


class PartRun:
    """A part of a task's plan while the passes run.

    Attributes
    ----------
    part_id : (int, int)
        The numbers of the task and of the part.
    merger : PartitionMerger
    columns : list of ScoreColumn
        The score columns whose rows are sent as ranges.
    own_pass : PartPass
        What a pass computes of it.
    ranges : list of (int, PartitionState)
        The number of a score column, and the state of a range or of the whole column.
    """

    def __init__(
        self, part_id: PartId, task: PlannedTask, resampling: Resampling | None, on_invalid: str, slices: GroupingSets
    ) -> None:
        self.part_id = part_id
        self.part = task.parts[part_id[1]]
        self.resampling = resampling
        self.merger = PartitionMerger(self.part, on_invalid, slices)
        self.columns: list[ScoreColumn] = []
        self.own_pass = PartPass(part_id[1], in_one_pass=not needs_range_totals(self.part.plan))
        self.ranges: list[tuple[int, PartitionState]] = []

    @property
    def needs_second_pass(self) -> bool:
        return not self.own_pass.in_one_pass and bool(self.merger.scan.counts.rows_kept)

    def second_pass(self) -> PartPass:
        """What the second pass computes: the ranges, whose totals are known by now."""
        return self.own_pass._replace(totals=self.merger.totals, resampling=None)

    def resolve(self) -> ResolvedPart:
        """The final states, after all passes."""
        for score, column in enumerate(self.columns):
            of_column = [state for number, state in self.ranges if number == score]
            self.merger.add_range_states(of_column, score, column.model)
        self.merger.join_classes(0 if self.resampling is None else self.resampling.replicates)
        intervals: MetricReplicates | AnalyticIntervals | None = None
        if self.own_pass.resampling is not None:
            intervals = self.merger.replicates(self.own_pass.resampling)
        elif self.resampling is not None:
            intervals = AnalyticIntervals(self.merger.states, self.resampling)
        return ResolvedPart(self.merger.scan, self.merger.states, intervals)


class SparkRun:
    """All passes over a DataFrame for the tasks of a call."""

    def __init__(self, df: Any, tasks: Sequence[PlannedTask], settings: PassSettings) -> None:
        self.frame = SharedFrame(df, tasks, settings.time_zone)
        self.tasks = tasks
        self.settings = settings
        self.runs: dict[PartId, PartRun] = {}
        for number, task in enumerate(tasks):
            slices = GroupingSets(task.names.by, task.names.slice_sets)
            for part in range(len(task.parts)):
                part_id = (number, part)
                self.runs[part_id] = PartRun(part_id, task, task.resampling, settings.on_invalid, slices)

    def resolve(self) -> list[ResolvedTask]:
        """Run all passes; the final states of all tasks."""
        with translated_errors():
            self.find_score_columns()
            self.find_cuts()
            self.count_units()
            shared = divide_runs(self.frame, list(self.runs.values()))
            opened = [self.frame.open_pass(run.part_id[0] for run in runs) for runs in shared]
            rows, kept = self.frame.count(opened)
            for own, runs, rows_of_pass in zip(opened, shared, kept, strict=True):
                self.run_first_pass(own, runs, rows, rows_of_pass)
            self.check_rows_read()
            self.run_second_pass()
        resolved = []
        for number, task in enumerate(self.tasks):
            runs = self.runs_of(number)
            with name_task_in_errors(task.name):
                parts = [run.resolve() for run in runs]
            resolved.append(ResolvedTask(task, runs[0].merger.log_scan, parts))
        return resolved

    def runs_of(self, task: int) -> list[PartRun]:
        return [run for (number, _), run in self.runs.items() if number == task]

    # -------------------------------------------------------------------------------------- before the first pass

    def find_score_columns(self) -> None:
        """Find the score columns of every part, and how many probabilities a row has."""
        for (task, _), run in self.runs.items():
            plan = run.part.plan
            if plan.needs("range") and plan.has_vectors:
                columns = key_columns(run.part.names.scores[0])
                run.own_pass = run.own_pass._replace(n_classes=self.count_classes(task, columns))
            run.columns = score_columns(run.part, run.own_pass.n_classes)

    def count_classes(self, task: int, columns: Sequence[str]) -> int:
        """How many probabilities a row has: as many as there are columns, or as the first list has entries."""
        from pyspark.sql import functions

        if len(columns) > 1:
            return len(columns)
        own = self.frame.open_pass([task])
        column = own.column(task, columns[0])
        first = own.rows.where(column.isNotNull()).select(functions.size(column)).first()
        return 0 if first is None else int(first[0])

    def find_cuts(self) -> None:
        """Cut each score column into ranges of about equal rows, by a sample. The result is the same for any cuts.

        All classes together are cut where the first one is.
        """
        from pyspark.sql import functions

        wanted = [(run, column) for run in self.runs.values() for column in run.columns]
        to_sample = [(run, column) for run, column in wanted if not needs_whole_columns(run.part.plan)]
        found: Iterator[Any] = iter(())
        if to_sample:
            own = self.frame.open_pass(run.part_id[0] for run, _ in to_sample)
            scores = [self.first_scores(own, run, column).cast("double") for run, column in to_sample]
            sample = own.rows.select(*(score.alias(alias_of(number)) for number, score in enumerate(scores)))
            shares = functions.array(*(functions.lit(number / N_RANGES) for number in range(1, N_RANGES)))
            quantiles = [
                functions.percentile_approx(alias_of(number), shares, QUANTILE_ACCURACY)
                for number in range(len(scores))
            ]
            found = iter(sample.sample(SAMPLE_FRACTION).agg(*quantiles).first())
        for run in self.runs.values():
            is_whole = needs_whole_columns(run.part.plan)
            cuts = [[] if is_whole else sorted({cut for cut in next(found) or [] if cut == cut}) for _ in run.columns]
            run.own_pass = run.own_pass._replace(cuts=cuts)

    def first_scores(self, own: FramePass, run: PartRun, column: ScoreColumn) -> Any:
        """The scores of a model, or the probabilities of the first class of a column; null in rows of other tasks."""
        from pyspark.sql import functions

        task = run.part_id[0]
        names = key_columns(run.part.names.scores[column.model])
        if not column.classes:
            scores = own.column(task, names[0])
        elif len(names) > 1:
            scores = own.column(task, names[column.classes[0]])
        else:
            scores = own.column(task, names[0])[column.classes[0]]
        mask = own.mask(task)
        return scores if mask is None else functions.when(mask, scores)

    def count_units(self) -> None:
        """Find the buckets of the resampling units of every task, from the units of every partition."""
        tasks = [
            number for number, task in enumerate(self.tasks)
            if task.resampling is not None and task.resampling.unit_to_read is not None
        ]  # fmt: skip
        if not tasks:
            return
        own = self.frame.open_pass(tasks)
        counters = {number: UnitCounter() for number in tasks}
        options = self.options(own, [])
        with ignored_pandas_warning():
            outcomes = own.rows.mapInArrow(partial(count_partition_units, options), OUTCOME_SCHEMA)
        for kind, content in collect(outcomes):
            if kind == UNITS:
                number, counter = content
                counters[number].merge(counter)
        for number in tasks:
            resampling = self.tasks[number].resampling
            buckets = counters[number].unit_buckets()
            for run in self.runs_of(number):
                if resampling is not None:
                    run.own_pass = run.own_pass._replace(resampling=PartitionResampling(resampling, buckets))

    # ------------------------------------------------------------------------------------------------- the passes

    def options(self, own: FramePass, passes: Sequence[tuple[int, PartPass]]) -> PassOptions:
        """What executors receive for a pass: the columns of its tasks, and what it computes of which part."""
        of_task = grouped(passes)
        tasks = []
        for number, positions in own.positions.items():
            task = self.tasks[number]
            parts = [([repr(metric) for metric in part.plan.metrics], part.names) for part in task.parts]
            if number not in own.masks:  # Spark has filtered the rows, or there is no filter
                parts = [(metrics, replace(names, where=None)) for metrics, names in parts]
            tasks.append(TaskOptions(number, task.name, parts, of_task.get(number, []), positions, task.resampling))
        settings = self.settings
        return PassOptions(tasks, settings.on_invalid, settings.memory_limit, settings.spill_dir, settings.plugins)

    def run_first_pass(
        self, own: FramePass, runs: Sequence[PartRun], all_rows: int | None, rows_of_pass: int | None
    ) -> None:
        """Run a pass over whole groups, and merge the states of partitions."""
        key = key_of(self.frame, runs)
        rows = own.rows
        if key:
            task, columns = key
            rows = self.settings.shuffle(rows.repartition, *(own.alias(task, name) for name in columns))
        found = self.run_pass(rows, self.options(own, [(run.part_id[0], run.own_pass) for run in runs]))
        for run in runs:
            with name_task_in_errors(self.tasks[run.part_id[0]].name):
                run.merger.add_partitions([state for part_id, state in found if part_id == run.part_id])
                scan = run.merger.log_scan
                if all_rows is not None and rows_of_pass is not None:
                    if scan.counts.rows != rows_of_pass:
                        raise ValueError(explain_changed_rows(rows_of_pass, scan.counts.rows))
                    scan.record_filtered(all_rows - rows_of_pass)
                check_task_rows(scan)

    def run_second_pass(self) -> None:
        """Run the pass for ranges whose totals were not known in the first one."""
        runs = [run for run in self.runs.values() if run.needs_second_pass]
        if not runs:
            return
        own = self.frame.open_pass(run.part_id[0] for run in runs)
        before = {run.part_id: [one for one in run.ranges if one[1].range_number == WHOLE_COLUMN] for run in runs}
        for run in runs:
            run.ranges = []
        self.run_pass(own.rows, self.options(own, [(run.part_id[0], run.second_pass()) for run in runs]))
        for run in runs:
            check_same_rows(run)
            run.ranges += before[run.part_id]

    def run_pass(self, rows: Any, options: PassOptions) -> list[tuple[PartId, PartitionState]]:
        """Run a pass: the states of all partitions. Those of ranges go to their parts."""
        with ignored_pandas_warning():
            outcomes = rows.mapInArrow(partial(scan_partition_rows, options), OUTCOME_SCHEMA)
            if options.sends_shards():
                outcomes = self.settings.shuffle(outcomes.repartition, SHUFFLE_KEY)
                outcomes = outcomes.mapInArrow(partial(resolve_shards, options), OUTCOME_SCHEMA)
        contents = collect(outcomes)
        for kind, content in contents:
            if kind == RANGE:
                part_id, score, state = content
                self.runs[part_id].ranges.append((score, state))
        return [content for kind, content in contents if kind == PARTITION]

    def check_rows_read(self) -> None:
        """Check that the passes of all parts read the same rows."""
        scans = [run.merger.log_scan for run in self.runs.values()]
        for scan in scans[1:]:
            if scan.counts.rows != scans[0].counts.rows:
                raise ValueError(explain_changed_rows(scans[0].counts.rows, scan.counts.rows))
        for number in range(len(self.tasks)):
            first, *others = [run.merger.log_scan for run in self.runs_of(number)]
            for scan in others:
                if scan.counts.dropped != first.counts.dropped or scan.counts.rows_kept != first.counts.rows_kept:
                    raise ValueError(explain_changed_rows(first.counts.rows_kept, scan.counts.rows_kept))


def divide_runs(frame: SharedFrame, runs: Sequence[PartRun]) -> list[list[PartRun]]:
    """The parts of every pass: those that need the same shuffle, and those that need none.

    Keys that are computed for the rows of a filter only are null elsewhere: other tasks do not join such a shuffle,
    which would bring all of their rows to one partition.
    """
    by_key: dict[Any, list[PartRun]] = {}
    for run in runs:
        if run.part.names.group is not None:
            key = frame.columns_of_key(run.part_id[0], run.part.names.group)
            by_key.setdefault(key, []).append(run)
    shared = [own for own in by_key.values() if not has_masked_key(frame, own)]
    without: list[PartRun] = []
    for run in runs:
        if run.part.names.group is None:
            of_task = [own for own in by_key.values() if any(other.part_id[0] == run.part_id[0] for other in own)]
            next(iter(of_task or shared), without).append(run)
    return [*by_key.values(), *([without] if without else [])]


def has_masked_key(frame: SharedFrame, runs: Sequence[PartRun]) -> bool:
    """Is the key of a pass computed for the rows of a filter only?"""
    key = key_of(frame, runs)
    return key is not None and frame.is_masked(*key)


def key_of(frame: SharedFrame, runs: Sequence[PartRun]) -> tuple[int, tuple[str, ...]] | None:
    """The task and the columns by whose values a pass shuffles the rows; None if it does not."""
    for run in runs:
        if run.part.names.group is not None:
            return run.part_id[0], key_columns(run.part.names.group)
    return None


def collect(outcomes: Any) -> list[tuple[str, Any]]:
    """Kind and content of all outcomes. Raises the first error that a task returned."""
    with ignored_pandas_warning():
        table = outcomes.toArrow()
    return read_outcomes(table)


def check_same_rows(run: PartRun) -> None:
    """Check that the second pass read as many rows as the first."""
    rows_kept, copies = run.merger.scan.counts.rows_kept, sum(column.copies for column in run.columns)
    n_rows = sum(state.rows for _, state in run.ranges)
    if n_rows != rows_kept * copies:
        raise ValueError(explain_changed_rows(rows_kept, n_rows // copies))


def explain_changed_rows(first: int, second: int) -> str:
    return (
        f"df had {first:,} valid rows when it was first computed and {second:,} the second time: "
        "it is not the same each time. Cache it first: df = df.cache()"
    )


@contextmanager
def ignored_pandas_warning() -> Iterator[None]:
    """Ignore the warning about the version of pandas that pyspark gives at every call."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield
