"""Slices by quantiles: the log is read once for their edges, and then as any other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.binned_columns import find_quantiles, read_twice
from fastmetrics.engine.input.computed_columns import BatchColumns, ComputedColumns, open_columns
from fastmetrics.engine.plan.column_names import ColumnNames, filter_column
from fastmetrics.engine.plan.plan_parts import distinct_columns
from fastmetrics.engine.plan.slice_bins import SliceBins
from fastmetrics.engine.plan.tasks import PlannedTask, name_task_in_errors


@contextmanager
def find_edges(
    source: Source, tasks: Sequence[PlannedTask], budget: MemoryBudget, n_threads: int
) -> Iterator[tuple[Source, list[PlannedTask]]]:
    """The source, which can be read again, and the tasks with the edges of their quantiles.

    A stream is copied to a file, as far as columns are read, which is deleted at the end of the context.
    """
    parts = [part for task in tasks for part in task.parts]
    filters = [task.where for task in tasks]
    columns = open_columns(source, parts, filters)
    wanted = distinct_columns(parts)
    if isinstance(columns, ComputedColumns):
        wanted = BatchColumns(columns, wanted).inputs
    with read_twice(source, wanted, budget) as again:
        again.memory_limit, again.n_threads, again.time_zone = budget.explicit_limit, n_threads, source.time_zone
        columns = open_columns(again, parts, filters)
        found = []
        for task in tasks:
            with name_task_in_errors(task.name):
                found.append(with_edges(task, find_task_edges(columns, task.names, budget, n_threads)))
        yield again, found


def find_task_edges(
    source: Source, names: ColumnNames, budget: MemoryBudget, n_threads: int
) -> tuple[SliceBins, ...]:
    """The bins of a task with all edges. Rows that its filter leaves out are in no quantile."""
    unknown = [own for own in names.bins if own.edges is None]
    if not unknown:
        return names.bins
    mask = None if names.where is None else filter_column(names.where)
    known = {own.title: own for own in find_quantiles(source, unknown, mask, budget, n_threads > 1)}
    return tuple(known.get(own.title, own) for own in names.bins)


def with_edges(task: PlannedTask, bins: tuple[SliceBins, ...]) -> PlannedTask:
    """The task with these bins, in all of its parts."""
    parts = tuple(replace(part, names=replace(part.names, bins=bins)) for part in task.parts)
    return task._replace(names=replace(task.names, bins=bins), parts=parts)
