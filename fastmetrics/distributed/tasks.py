"""The steps as functions that an engine calls on workers, for engines that keep nothing between two calls.

Decisions are bytes: they name metrics of plugins, which a call loads first.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastmetrics._core.exchange.memory_size import parse_size
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.distributed.decisions import Decision
from fastmetrics.distributed.pieces import RowPiece
from fastmetrics.distributed.plan import DistributedPlan
from fastmetrics.distributed.plugins import Plugins, pack_plugins
from fastmetrics.distributed.source_state import SourceState
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.input.batches import split_path
from fastmetrics.engine.input.computed_columns import BatchColumns, ComputedColumns
from fastmetrics.engine.input.sources import open_source
from fastmetrics.engine.plan.plan_parts import distinct_columns
from fastmetrics.engine.plan.tasks import PlannedTask
from fastmetrics.engine.scan.read_log import open_task_columns

MOST_TARGETS = 64  # by default: a piece goes from every source to every target


class Job(NamedTuple):
    """What all calls receive.

    Attributes
    ----------
    plan : bytes
        The pickled plan, whose metrics need the plugins.
    plugins : Plugins
    memory_limit, spill_dir
        Those of a call.
    n_of_log : int or None
        So many sources, the first ones, have rows of the log, and the others rows of truth. None: all.
    """

    plan: bytes
    plugins: Plugins
    memory_limit: int | None = None
    spill_dir: str | None = None
    n_of_log: int | None = None

    def open_plan(self) -> DistributedPlan:
        self.plugins.load()
        plan: DistributedPlan = pickle.loads(self.plan)
        return plan

    def dumps(self, decision: Decision) -> bytes:
        return self.plugins.dumps(decision)

    @property
    def memory(self) -> tuple[int | None, str | None, int]:
        """The memory options of a state; by default the CPUs of a machine share its memory."""
        return self.memory_limit, self.spill_dir, os.cpu_count() or 1


def plan_job(
    tasks: Sequence[PlannedTask],
    question: Evaluation,
    arguments: Mapping[str, Any],
    n_cpus: int,
    place: str,
    cloudpickle: str,
) -> tuple[DistributedPlan, Job]:
    """The plan of a call of an entry point, whose arguments are given, and what calls on workers receive."""
    plugins = pack_plugins([metric for task in tasks for metric in task.plan.metrics], cloudpickle)
    targets = arguments["n_partitions"]
    targets = min(max(1, n_cpus), MOST_TARGETS) if targets is None else targets
    plan = DistributedPlan(question, tasks, targets, place, None, plugins.dumps)
    limit = parse_size(arguments["memory_limit"], "memory_limit")
    return plan, Job(plugins.dumps(plan), plugins, limit, arguments["spill_dir"])


def columns_to_read(no_rows: Any, tasks: Sequence[PlannedTask]) -> list[str]:
    """The stored columns that tasks read, of a log of which `no_rows` has the columns."""
    source = open_source(no_rows)
    opened = open_task_columns(source, tasks)
    names = distinct_columns(part for task in tasks for part in task.parts)
    if isinstance(opened, ComputedColumns):
        names = BatchColumns(opened, names).inputs
    return list(dict.fromkeys(split_path(name, source.column_names)[0] for name in names))


def read_source(job: Job, number: int, rows: Any, summary_only: bool = False) -> SourceState:
    """The state of a source; `rows` is anything that `evaluate` reads."""
    plan, table = job.open_plan(), "log"
    state = plan.partial(number, 0, *job.memory, summary_only)
    if job.n_of_log is not None and number >= job.n_of_log:
        table, state.reads = "truth", number - job.n_of_log
    if len(rows):  # engines also have sources without rows, and then without types
        state.update(rows, table)
    return state


def summarize_source(job: Job, decision: bytes, number: int, rows: Any) -> bytes:
    """The rows of a source in; its summary out."""
    state = read_source(job, number, rows, summary_only=True)
    summary = state.summary(pickle.loads(decision))
    state.close()
    return summary


def cut_source(job: Job, decision: bytes, number: int, rows: Any) -> list[list[RowPiece]]:
    """The rows of a source in; its pieces for every target out."""
    state = read_source(job, number, rows)
    decided: Decision = pickle.loads(decision)
    pieces: list[list[RowPiece]] = [[] for _ in range(decided.targets)]
    for piece in state.cut(decided):
        pieces[piece.target].append(piece)
    state.close()
    return pieces


def summarize_target(job: Job, cut_by: bytes, decision: bytes, *pieces: Iterable[RowPiece]) -> bytes:
    """The pieces of all sources for a target in; its summary out. `cut_by` is the decision by which they were cut."""
    plan = job.open_plan()
    own = (piece for of_source in pieces for piece in of_source)
    state = plan.combine(own, pickle.loads(cut_by), *job.memory)
    summary = state.summary(pickle.loads(decision))
    state.close()
    return summary
