"""The tasks that Spark runs on executors: rows in, outcomes out. `dataframe.py` on the driver starts them.

Spark pickles the functions by name, so they have to stay functions of this module. An outcome is a row of an Arrow
batch: its kind, a key for the shuffle of shards, and its pickled content.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fastmetrics._core.columns.validation import InputError
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics.engine.input.batches import BATCH_ROWS, TEXT_BATCH_ROWS, resize_batches
from fastmetrics.engine.partitions.partition_scan import PartitionScan, PartitionUnits, PartPass
from fastmetrics.engine.partitions.partition_state import PartitionState
from fastmetrics.engine.partitions.range_rows import ScoreRangeShard
from fastmetrics.engine.partitions.range_shards import RangeShards
from fastmetrics.engine.plan.column_names import ColumnNames
from fastmetrics.engine.plan.metric_plan import make_plan
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.plan.resampling_options import Resampling, add_interval_statistics
from fastmetrics.engine.plan.tasks import name_task_in_errors
from fastmetrics.engine.scan.read_log import make_memory_budget
from fastmetrics.spark.plugins import NO_PLUGINS, Plugins, dumps

SHUFFLE_KEY = "shuffle_key"
OUTCOME_SCHEMA = f"kind string, {SHUFFLE_KEY} long, payload binary"
PARTITION, SHARD, RANGE, UNITS, ERROR = "partition", "shard", "range", "units", "error"
N_RANGES = 64  # of a score column
MOST_PARTS, MOST_SCORES = 1 << 16, 1 << 20  # of a task, and of a part: for shuffle keys that differ
# Errors of the data are returned as outcomes: Spark would retry a task that raises, which does not help.
DATA_ERRORS = (InputError, ValueError, TypeError, OverflowError, OSError)

PartId = tuple[int, int]  # the numbers of a task, and of a part of its plan


class TaskOptions(NamedTuple):
    """What a pass computes of a task of the caller, as executors receive it.

    Attributes
    ----------
    number : int
        That of the task among all tasks.
    name : str or None
    parts : list of (metric strings, columns)
        All parts of the task's plan: rows are selected by the columns of all.
    passes : list of PartPass
        What the pass computes, part by part.
    positions : dict
        The task's columns by name: their places in the batches.
    resampling : Resampling or None
    """

    number: int
    name: str | None
    parts: list[tuple[list[str], ColumnNames]]
    passes: list[PartPass]
    positions: dict[str, int]
    resampling: Resampling | None = None

    def plan_parts(self) -> list[PlanPart]:
        """All parts, with the statistics of intervals that do not resample."""
        return [
            PlanPart(add_interval_statistics(make_plan(metrics, (names.model_role,)), self.resampling), names)
            for metrics, names in self.parts
        ]

    def own_columns(self, batch: Any) -> Any:
        """The columns of the task, with their original names."""
        columns = [batch.column(place) for place in self.positions.values()]
        return pyarrow.RecordBatch.from_arrays(columns, names=list(self.positions))


class PassOptions(NamedTuple):
    """The parameters of a pass over the rows, as executors receive them."""

    tasks: list[TaskOptions]
    on_invalid: str
    memory_limit: int | None = None
    spill_dir: str | None = None
    plugins: Plugins = NO_PLUGINS

    def memory_budget(self) -> MemoryBudget:
        import os

        return make_memory_budget(self.memory_limit, self.spill_dir, 1, os.cpu_count() or 1)

    def batch_rows(self) -> int:
        """The greatest number of rows of a batch that is concatenated from small batches."""
        plans = [make_plan(metrics) for task in self.tasks for metrics, _ in task.parts]
        return TEXT_BATCH_ROWS if any(plan.has_long_values for plan in plans) else BATCH_ROWS

    def sends_shards(self) -> bool:
        """Does the pass shuffle shards of score ranges?"""
        passes = [own for task in self.tasks for own in task.passes]
        return any(own.sends_ranges or (own.cuts and own.resampling is not None) for own in passes)

    def encode(self, kind: str, content: Any, shuffle_key: int = 0) -> Any:
        """An outcome."""
        return outcome_batch(kind, shuffle_key, dumps(content, self.plugins))

    def add_batches(self, batches: Iterable[Any], scans: Sequence[Any]) -> None:
        """Add the rows of a partition to the scans of all tasks."""
        first_row = 0
        for batch in resize_batches(batches, self.batch_rows()):
            for task, scan in zip(self.tasks, scans, strict=True):
                with name_task_in_errors(task.name):
                    scan.add(task.own_columns(batch), first_row)
            first_row += batch.num_rows

    def results(self, scans: Sequence[PartitionScan]) -> Iterator[tuple[PartId, PartitionState | ScoreRangeShard]]:
        """The states of a partition and its shards, part by part."""
        for task, scan in zip(self.tasks, scans, strict=True):
            with name_task_in_errors(task.name):
                for number, found in scan.results():
                    yield (task.number, number), found


def count_partition_units(options: PassOptions, batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of a partition in; the resampling units of every task out."""
    options.plugins.load()
    try:
        units = [PartitionUnits(task.plan_parts(), options.on_invalid) for task in options.tasks]
        options.add_batches(batches, units)
        for task, own in zip(options.tasks, units, strict=True):
            yield options.encode(UNITS, (task.number, own.counter))
    except DATA_ERRORS as error:
        yield encode_error(error)


def scan_partition_rows(options: PassOptions, batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of a partition in; its states and its shards of score ranges out."""
    options.plugins.load()
    scans: list[PartitionScan] = []
    try:
        budget = options.memory_budget()
        scans.extend(
            PartitionScan(task.plan_parts(), task.passes, options.on_invalid, budget) for task in options.tasks
        )
        options.add_batches(batches, scans)
        for part, result in options.results(scans):
            if isinstance(result, ScoreRangeShard):
                yield options.encode(SHARD, (part, tuple(result)), shuffle_key_of(part, result))
            else:
                yield options.encode(PARTITION, (part, result))
    except DATA_ERRORS as error:
        yield encode_error(error)
    finally:
        for scan in scans:
            scan.close()


def shuffle_key_of(part: PartId, shard: ScoreRangeShard) -> int:
    """A number for every range of a score column of a part: shards of a range meet in one task."""
    task, number = part
    return ((task * MOST_PARTS + number) * MOST_SCORES + shard.score) * (N_RANGES + 1) + shard.range_number


def resolve_shards(options: PassOptions, batches: Iterator[Any]) -> Iterator[Any]:
    """All shards of some ranges in; the states of these ranges out. Other outcomes are passed on."""
    options.plugins.load()
    try:
        budget, shards = options.memory_budget(), {}
        for task in options.tasks:
            parts = task.plan_parts()
            for own in task.passes:
                shards[task.number, own.number] = RangeShards(
                    parts[own.number], budget, own.totals, own.resampling, own.n_classes
                )
        for batch in batches:
            for kind, _, payload in zip(*batch.to_pydict().values(), strict=True):
                if kind == SHARD:
                    part, shard = pickle.loads(payload)
                    shards[part].add(ScoreRangeShard(*shard))
                else:
                    yield outcome_batch(kind, 0, payload)
        for task in options.tasks:
            with name_task_in_errors(task.name):
                for own in task.passes:
                    part = task.number, own.number
                    for score, state in shards[part].resolve():
                        yield options.encode(RANGE, (part, score, state))
    except DATA_ERRORS as error:
        yield encode_error(error)


def encode_error(error: Exception) -> Any:
    """An outcome for an error of the data. The message names the partition in which rows are counted."""
    from pyspark import TaskContext

    context = TaskContext.get()
    place = "" if context is None else f" (rows are counted within Spark partition {context.partitionId()})"
    number = next(number for number, error_class in enumerate(DATA_ERRORS) if isinstance(error, error_class))
    return outcome_batch(ERROR, 0, pickle.dumps((number, f"{error}{place}")))


def outcome_batch(kind: str, shuffle_key: int, payload: bytes) -> Any:
    columns = [pyarrow.array([kind]), pyarrow.array([shuffle_key]), pyarrow.array([payload], pyarrow.binary())]
    return pyarrow.RecordBatch.from_arrays(columns, names=["kind", SHUFFLE_KEY, "payload"])


def read_outcomes(table: Any) -> list[tuple[str, Any]]:
    """Kind and content of all outcomes, on the driver. Raises the first error."""
    contents = [(kind, pickle.loads(payload)) for kind, _, payload in zip(*table.to_pydict().values(), strict=True)]
    for kind, content in contents:
        if kind == ERROR:
            number, text = content
            raise DATA_ERRORS[number](text)
    return contents
