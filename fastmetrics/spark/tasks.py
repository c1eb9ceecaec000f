"""The tasks that Spark runs on executors: steps of `fastmetrics.distributed`. `passes.py` on the driver starts them.

Spark pickles the functions by name, so they have to stay functions of this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fastmetrics._core.optional_imports import pyarrow
from fastmetrics.distributed import Decision, SourceState
from fastmetrics.distributed.pieces import NUMBERS
from fastmetrics.distributed.tasks import Job
from fastmetrics.engine.input.batches import BATCH_ROWS, TEXT_BATCH_ROWS, resize_batches

SUMMARY_SCHEMA = "payload binary"
PIECE_SCHEMA = ", ".join([*(f"{name} long" for name in NUMBERS), SUMMARY_SCHEMA])


Places = Sequence[Mapping[str, int]]  # of every task, its columns by name: their places in the batches


def read_rows(
    job: Job, places: Places, table: str, batches: Iterable[Any], summary_only: bool = False
) -> SourceState:
    """The state of the rows of a partition of the log or of truth, which have different numbers."""
    from pyspark import TaskContext

    plan, context = job.open_plan(), TaskContext.get()
    source, attempt = (0, 0) if context is None else (context.partitionId(), context.attemptNumber())
    state = plan.partial(source, attempt, *job.memory, summary_only)
    has_long_values = any(part.plan.has_long_values for _, part in plan.parts())
    batches = resize_batches(batches, TEXT_BATCH_ROWS if has_long_values else BATCH_ROWS)
    state.add_batches(([select(batch, of_task) for of_task in places] for batch in batches), table)
    return state


def select(batch: Any, places: Mapping[str, int]) -> Any:
    """The columns of a task, with their original names."""
    return pyarrow.RecordBatch.from_arrays([batch.column(place) for place in places.values()], names=list(places))


def summarize_rows(
    job: Job, places: Places, table: str, decision: Decision, batches: Iterator[Any]
) -> Iterator[Any]:
    """The rows of a partition in; its summary out."""
    state = read_rows(job, places, table, batches, summary_only=True)
    yield summary_batch(state.summary(decision))
    state.close()


def cut_rows(job: Job, places: Places, table: str, decision: Decision, batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of a partition in; their pieces for all targets out."""
    state = read_rows(job, places, table, batches)
    yield from state.pieces(decision)
    state.close()


def summarize_targets(job: Job, cut_by: Decision, decision: Decision, pieces: Iterator[Any]) -> Iterator[Any]:
    """All pieces of some targets in; their summaries out. `cut_by` is the decision by which the pieces were cut."""
    for state in job.open_plan().combine_targets(pieces, cut_by, *job.memory):
        yield summary_batch(state.summary(decision))
        state.close()


def summary_batch(summary: bytes) -> Any:
    return pyarrow.RecordBatch.from_arrays([pyarrow.array([summary], pyarrow.binary())], names=["payload"])
