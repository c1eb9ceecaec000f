"""The passes over a DataFrame, started by the driver: the rounds of `fastmetrics.distributed`, which Spark carries out.

The first pass summarizes the rows of every partition. If rows have to meet others, a second one reads them again and
cuts them into pieces, which Spark shuffles to their targets. Nothing else is kept between the passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.distributed import Decision, DistributedPlan
from fastmetrics.distributed.plugins import Plugins
from fastmetrics.distributed.runner import Runner
from fastmetrics.distributed.tasks import Job
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.input.truth_rows import truth_tasks
from fastmetrics.engine.plan.tasks import PlannedTask
from fastmetrics.engine.scan.final_report import ResolvedTask
from fastmetrics.spark.expressions import translated_errors
from fastmetrics.spark.shared_frame import FramePass, SharedFrame
from fastmetrics.spark.tasks import (
    PIECE_SCHEMA,
    SUMMARY_SCHEMA,
    cut_rows,
    summarize_rows,
    summarize_targets,
)

TARGETS = 64  # by default


class PassSettings(NamedTuple):
    """What all passes of a call have in common."""

    question: Evaluation
    memory_limit: int | None
    spill_dir: str | None
    n_partitions: int | None
    plugins: Plugins

    def shuffle(self, pieces: Any) -> Any:
        if self.n_partitions is None:
            return pieces.repartition("target")
        return pieces.repartition(self.n_partitions, "target")


class SparkRun:
    """All passes over a DataFrame for the tasks of a call."""

    def __init__(self, df: Any, tasks: Sequence[PlannedTask], settings: PassSettings, truth: Any = None) -> None:
        self.frame = SharedFrame(df, tasks, settings.question.time_zone)
        of_truth = truth_tasks(tasks, truth)
        self.truth = SharedFrame(truth, of_truth, settings.question.time_zone) if of_truth else None
        self.tasks = tasks
        self.settings = settings

    def new_plan(self, tasks: Sequence[PlannedTask], filtered: int | None = None) -> DistributedPlan:
        question, plugins = self.settings.question, self.settings.plugins
        targets = self.settings.n_partitions or TARGETS
        return DistributedPlan(question, tasks, targets, "Spark partition {}", filtered, plugins.dumps)

    def resolve(self) -> list[ResolvedTask]:
        """Run all passes; the final states of all tasks."""
        with translated_errors():
            own = self.frame.open_pass()
            counted = self.frame.count(own)
            plan = self.new_plan(self.tasks, None if counted is None else counted[1])
            with closing(self.new_runner(plan, own)) as runner:
                resolved = plan.resolve(runner.run(plan))
        n_rows = resolved[0].state.counts.rows
        if counted is not None and n_rows != counted[0]:
            raise ValueError(explain_changed_rows(counted[0], n_rows))
        return resolved

    def new_runner(self, plan: DistributedPlan, own: FramePass) -> SparkRunner:
        settings = self.settings
        to_send = self.new_plan(unfiltered_tasks(self.tasks, own))
        job = Job(settings.plugins.dumps(to_send), settings.plugins, settings.memory_limit, settings.spill_dir)
        truth = None if self.truth is None else self.truth.open_pass()
        return SparkRunner(job, own, truth, settings, plan.n_rounds)


class SparkRunner(Runner):
    """The steps as functions over the partitions of a pass, and of one over the truth table."""

    def __init__(
        self, job: Job, own: FramePass, truth: FramePass | None, settings: PassSettings, n_rounds: int
    ) -> None:
        self.job, self.own, self.truth, self.settings, self.n_rounds = job, own, truth, settings, n_rounds
        self.pieces: Any = None
        self.cut_by = Decision()

    def summarize_sources(self, decision: Decision) -> list[bytes]:
        return collect(self.map_rows(summarize_rows, decision, SUMMARY_SCHEMA))

    def move_pieces(self, decision: Decision) -> None:
        self.cut_by = decision
        self.pieces = self.settings.shuffle(self.map_rows(cut_rows, decision, PIECE_SCHEMA))
        if self.n_rounds > decision.round:
            self.pieces = self.pieces.persist()

    def summarize_targets(self, decision: Decision) -> list[bytes]:
        step = partial(summarize_targets, self.job, self.cut_by, decision)
        return collect(map_in_arrow(self.pieces, step, SUMMARY_SCHEMA))

    def map_rows(self, step: Callable[..., Iterator[Any]], decision: Decision, schema: str) -> Any:
        """What a step makes of the partitions: those of the log, then those of the truth table."""
        own, truth = self.own, self.truth
        found = map_in_arrow(own.rows, partial(step, self.job, own.positions, "log", decision), schema)
        if truth is None:
            return found
        of_truth = partial(step, self.job, truth.positions, "truth", decision)
        return found.union(map_in_arrow(truth.rows, of_truth, schema))

    def close(self) -> None:
        """Release the pieces."""
        if self.pieces is not None:
            self.pieces.unpersist()


def unfiltered_tasks(tasks: Sequence[PlannedTask], own: FramePass) -> list[PlannedTask]:
    """The tasks as executors see them: Spark has filtered the rows, unless there is a mask."""
    return [
        task if number in own.masks
        else task._replace(parts=tuple(replace(part, names=replace(part.names, where=None)) for part in task.parts))
        for number, task in enumerate(tasks)
    ]  # fmt: skip


def map_in_arrow(rows: Any, step: Callable[[Iterator[Any]], Iterator[Any]], schema: str) -> Any:
    """What a step makes of every partition."""
    with ignored_pandas_warning():
        return rows.mapInArrow(step, schema)


def collect(summaries: Any) -> list[bytes]:
    """The summaries of all partitions."""
    with ignored_pandas_warning():
        found: list[bytes] = summaries.toArrow()["payload"].to_pylist()
    return found


def explain_changed_rows(first: int, second: int) -> str:
    return (
        f"data had {first:,} rows when it was first computed and {second:,} the second time: "
        "it is not the same each time. Cache it first: df = df.cache()"
    )


@contextmanager
def ignored_pandas_warning() -> Iterator[None]:
    """Ignore the warning about the version of pandas that pyspark gives at every call."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield
