"""The passes over a DataFrame, started by the driver: the rounds of `fastmetrics.distributed`, which Spark carries out.

The first pass summarizes the rows of every partition. If rows have to meet others, a second one reads them again and
cuts them into pieces, which Spark shuffles to their targets. Nothing else is kept between the passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.distributed import DistributedPlan
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.plan.tasks import PlannedTask
from fastmetrics.engine.scan.final_report import ResolvedTask
from fastmetrics.spark.expressions import translated_errors
from fastmetrics.spark.plugins import Plugins, dumps
from fastmetrics.spark.shared_frame import FramePass, SharedFrame
from fastmetrics.spark.tasks import (
    PIECE_SCHEMA,
    SUMMARY_SCHEMA,
    Job,
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

    def __init__(self, df: Any, tasks: Sequence[PlannedTask], settings: PassSettings) -> None:
        self.frame = SharedFrame(df, tasks, settings.question.time_zone)
        self.tasks = tasks
        self.settings = settings

    def new_plan(self, tasks: Sequence[PlannedTask], filtered: int | None = None) -> DistributedPlan:
        settings = self.settings
        serialize = partial(dumps, plugins=settings.plugins)
        targets = settings.n_partitions or TARGETS
        return DistributedPlan(settings.question, tasks, targets, "Spark partition {}", filtered, serialize)

    def resolve(self) -> list[ResolvedTask]:
        """Run all passes; the final states of all tasks."""
        with translated_errors():
            own = self.frame.open_pass()
            counted = self.frame.count(own)
            plan = self.new_plan(self.tasks, None if counted is None else counted[1])
            resolved = plan.resolve(self.run(plan, own))
        n_rows = resolved[0].state.counts.rows
        if counted is not None and n_rows != counted[0]:
            raise ValueError(explain_changed_rows(counted[0], n_rows))
        return resolved

    def run(self, plan: DistributedPlan, own: FramePass) -> list[bytes]:
        """The summaries of the last round."""
        settings = self.settings
        to_send = dumps(self.new_plan(unfiltered_tasks(self.tasks, own)), settings.plugins)
        job = Job(to_send, settings.plugins, own.positions, settings.memory_limit, settings.spill_dir)
        summaries = collect(own.rows, partial(summarize_rows, job, plan.first))
        decision = plan.decide(summaries)
        if decision.is_final:
            return summaries
        with ignored_pandas_warning():
            cut_by = decision
            pieces = settings.shuffle(own.rows.mapInArrow(partial(cut_rows, job, cut_by), PIECE_SCHEMA))
            if plan.n_rounds > decision.round:
                pieces = pieces.persist()
        try:
            for _ in range(plan.n_rounds - 1):
                summaries = collect(pieces, partial(summarize_targets, job, cut_by, decision))
                decision = plan.decide(summaries)
            return summaries
        finally:
            pieces.unpersist()


def unfiltered_tasks(tasks: Sequence[PlannedTask], own: FramePass) -> list[PlannedTask]:
    """The tasks as executors see them: Spark has filtered the rows, unless there is a mask."""
    return [
        task if number in own.masks
        else task._replace(parts=tuple(replace(part, names=replace(part.names, where=None)) for part in task.parts))
        for number, task in enumerate(tasks)
    ]  # fmt: skip


def collect(rows: Any, step: Callable[[Iterator[Any]], Iterator[Any]]) -> list[bytes]:
    """The summaries of all partitions."""
    with ignored_pandas_warning():
        found: list[bytes] = rows.mapInArrow(step, SUMMARY_SCHEMA).toArrow()["payload"].to_pylist()
    return found


def explain_changed_rows(first: int, second: int) -> str:
    return (
        f"df had {first:,} rows when it was first computed and {second:,} the second time: "
        "it is not the same each time. Cache it first: df = df.cache()"
    )


@contextmanager
def ignored_pandas_warning() -> Iterator[None]:
    """Ignore the warning about the version of pandas that pyspark gives at every call."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield
