"""The tasks that Spark runs on executors: steps of `fastmetrics.distributed`. `passes.py` on the driver starts them.

Spark pickles the functions by name, so they have to stay functions of this module.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics.distributed import Decision, DistributedPlan, SourceState
from fastmetrics.distributed.pieces import NUMBERS
from fastmetrics.engine.input.batches import BATCH_ROWS, TEXT_BATCH_ROWS, resize_batches
from fastmetrics.spark.plugins import Plugins

SUMMARY_SCHEMA = "payload binary"
PIECE_SCHEMA = ", ".join([*(f"{name} long" for name in NUMBERS), SUMMARY_SCHEMA])


class Job(NamedTuple):
    """What all tasks of a call receive.

    Attributes
    ----------
    plan : bytes
        The pickled plan, whose metrics need the plugins.
    plugins : Plugins
    positions : list of dict
        Every task's columns by name: their places in the batches.
    memory_limit, spill_dir
        Those of a task of Spark.
    """

    plan: bytes
    plugins: Plugins
    positions: list[dict[str, int]]
    memory_limit: int | None = None
    spill_dir: str | None = None

    def open_plan(self) -> DistributedPlan:
        self.plugins.load()
        plan: DistributedPlan = pickle.loads(self.plan)
        return plan

    def read_rows(self, batches: Iterable[Any]) -> SourceState:
        """The state of the rows of a partition."""
        from pyspark import TaskContext

        plan, context = self.open_plan(), TaskContext.get()
        source, attempt = (0, 0) if context is None else (context.partitionId(), context.attemptNumber())
        state = plan.partial(source, attempt, self.memory_limit, self.spill_dir, os.cpu_count() or 1)
        has_long_values = any(part.plan.has_long_values for _, part in plan.parts())
        batches = resize_batches(batches, TEXT_BATCH_ROWS if has_long_values else BATCH_ROWS)
        state.add_batches([select(batch, places) for places in self.positions] for batch in batches)
        return state


def select(batch: Any, places: dict[str, int]) -> Any:
    """The columns of a task, with their original names."""
    return pyarrow.RecordBatch.from_arrays([batch.column(place) for place in places.values()], names=list(places))


def summarize_rows(job: Job, decision: Decision, batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of a partition in; its summary out."""
    state = job.read_rows(batches)
    yield summary_batch(state.summary(decision))
    state.close()


def cut_rows(job: Job, decision: Decision, batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of a partition in; their pieces for all targets out."""
    state = job.read_rows(batches)
    yield from state.pieces(decision)
    state.close()


def summarize_targets(job: Job, cut_by: Decision, decision: Decision, pieces: Iterator[Any]) -> Iterator[Any]:
    """All pieces of some targets in; their summaries out. `cut_by` is the decision by which the pieces were cut."""
    processes = os.cpu_count() or 1
    for state in job.open_plan().combine_targets(pieces, cut_by, job.memory_limit, job.spill_dir, processes):
        yield summary_batch(state.summary(decision))
        state.close()


def summary_batch(summary: bytes) -> Any:
    return pyarrow.RecordBatch.from_arrays([pyarrow.array([summary], pyarrow.binary())], names=["payload"])
