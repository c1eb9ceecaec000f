"""Two logs that are compared: one state of the rows of both, and whether units are in both."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE
from fastmetrics._core.exchange.hash_exchange import HASH, UNIT
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.resampling.resampling_units import HASH_BITS, LeastHashes
from fastmetrics.engine.input.batches import MixedKeysError, Source
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.slice_passes import passes_of, within_pass
from fastmetrics.engine.partial.slices_of_logs import AFTER, BEFORE, SlicesOfLogs
from fastmetrics.engine.partial.state_options import StateOptions
from fastmetrics.engine.plan.column_names import ROW_UNITS, format_key
from fastmetrics.engine.plan.plan_parts import distinct_columns
from fastmetrics.engine.plan.row_filters import RowMask
from fastmetrics.engine.plan.tasks import PlannedTask, add_to_errors
from fastmetrics.engine.scan.read_log import (
    Progress,
    check_rows,
    open_log,
    open_task_columns,
    read_source,
    read_truth,
    release_arrow_memory,
)

ARGUMENTS = ("against", "data")  # in the order in which they are read
NAMES = ("before", "after")


def names_of_logs(before: Any, after: Any) -> tuple[str, str]:
    """What the logs are called: the names of their files without what follows a point, if these are two."""
    found = [PurePosixPath(own[0].replace(os.sep, "/")).name for own in map(paths_of, (before, after)) if len(own) == 1]
    stems = tuple(dict.fromkeys(name.partition(".")[0] or name for name in found))
    return (stems[0], stems[1]) if len(stems) == len(NAMES) else NAMES


def paths_of(data: Any) -> list[str]:
    """The paths of a log; none if it is something else."""
    items = data if isinstance(data, list | tuple) else [data]
    return [os.fsdecode(item) for item in items] if all(isinstance(item, str | os.PathLike) for item in items) else []


def check_two_logs(before: Any, after: Any, planned: Sequence[PlannedTask]) -> None:
    """Refuse one log in both places, and what only one log can have."""
    paths, others = (
        sorted(own if "://" in own else os.path.realpath(own) for own in paths_of(data)) for data in (before, after)
    )
    if before is after or (paths and paths == others):
        raise ValueError("data and against are the same log: name two")
    for task in planned:
        if task.where is not None and isinstance(task.where.native, RowMask):
            raise ValueError("where is a mask of the rows of one log: filter two logs by a condition of their columns")
        for own in task.names.bins:
            if own.edges is None:
                raise ValueError(f"by={own.title!r} has other edges in each log: name them, as in cut(price, [0, 10])")


@contextmanager
def scan_logs(
    logs: tuple[Any, Any],
    input_options: InputOptions,
    tasks: Sequence[PlannedTask],
    on_invalid: str,
    budget: MemoryBudget,
    n_threads: int,
    progress: Progress | None,
    truth: Any = None,
) -> Iterator[PartialState]:
    """Read two logs; yield the state of the rows of both, as `scan_log` does of one."""
    opened: list[Source] = []
    columns: list[Source] = []
    for number, (argument, data) in enumerate(zip(ARGUMENTS, logs, strict=True)):
        with add_to_errors(f"{argument}: "):
            opened.append(open_log(data, input_options, budget, n_threads))
            columns.append(open_task_columns(opened[-1], tasks, number))
    for column in distinct_columns(part for task in tasks for part in task.parts):
        if any(own.reads_numerals(column) for own in columns):  # keys that are texts in one text file are in the other
            for own in columns:
                own.expect_mixed_keys(column)
    counts = [own.rows for own in columns]
    rows = None if None in counts else sum(own or 0 for own in counts)
    options = StateOptions(on_invalid, budget, rows, is_merged=True)
    with ExitStack() as states:
        while True:
            state = PartialState(tasks, options)
            states.callback(state.close)
            try:
                read_logs(state, columns, rows, n_threads, progress)
                break
            except MixedKeysError as found:
                state.close()
                for own in columns:
                    own.expect_mixed_keys(found.column)
        read_truth(state, truth, input_options, n_threads)
        check_rows(state)
        state.flush(n_threads)
        notes = (f"{argument}: {note}" for argument, own in zip(ARGUMENTS, opened, strict=True) for note in own.notes())
        state.notes = [*notes, *input_options.notes()]
        if state.has_memory_limit:
            release_arrow_memory()
        yield state


def read_logs(
    state: PartialState, columns: Sequence[Source], rows: int | None, n_threads: int, progress: Progress | None
) -> None:
    """Take in the rows of both logs."""

    def of_both(stage: str, done: int, total: int | None) -> None:
        if progress is not None:
            progress(stage, done, rows)

    for argument, own in zip(ARGUMENTS, columns, strict=True):
        before = state.rows
        if before:
            for part in state.parts:
                part.types.earlier = f"in {ARGUMENTS[0]}"
        with add_to_errors(f"{argument}: "):
            read_source(state, own, n_threads, of_both)
            if state.rows == before:
                raise ValueError("the log has no rows: at least one is needed")
    of_both("scan", state.rows, rows)


def pair_logs(state: Any, names: tuple[str, str]) -> None:
    """Let every slice of a `TaskState` have that of the other log beside it."""
    slices = SlicesOfLogs(state.slices, names)
    for argument, number in zip(ARGUMENTS, (BEFORE, AFTER), strict=True):
        if number not in slices.whole:
            raise ValueError(f"{argument}: no row is left of the log: all are dropped or left out")
    state.pair_slices(slices)
    slices.relation, slices.is_paired = describe_relation(state.parts[0], slices)


def describe_relation(part: PartState, slices: SlicesOfLogs) -> tuple[str, bool]:
    """Whether the units of both logs are paired, in words and as it is."""
    unit = part.names.unit
    if unit is None or unit == ROW_UNITS:
        return "independent: each row is a unit", False
    least = least_units(part, slices)
    limit = min(own.limit for own in least)
    before, after = (own.hashes[own.hashes <= np.uint64(limit)] for own in least)
    n_both = int(np.intersect1d(before, after, assume_unique=True).shape[0])
    share = 1 << HASH_BITS if limit == (1 << HASH_BITS) - 1 else limit
    sizes = [round(n * (1 << HASH_BITS) / share) for n in (n_both, before.shape[0], after.shape[0])]
    about = "" if share == 1 << HASH_BITS else "about "
    key = format_key(unit)
    if not n_both:
        looked_at = "" if not about else f" of {before.shape[0] + after.shape[0]:,} that were looked at"
        return f"independent: no {key}{looked_at} is in both logs", False
    return f"paired by {key}: {about}{sizes[0]:,} of {sizes[1]:,} and {sizes[2]:,} are in both logs", True


def least_units(part: PartState, slices: SlicesOfLogs) -> tuple[LeastHashes, LeastHashes]:
    """The units of each log that have the least hashes."""
    found = LeastHashes(), LeastHashes()
    logs = np.array([slices.log_of_set(local) for local in range(len(slices.sets[0]))])
    if part.counted_rows is not None:
        for block in next(iter(part.counted_rows.blocks.values()), []):
            for number, own in enumerate(found):
                own.add(block.hashes[logs[block.slices[:, 0]] == number])
        return found
    exchange = part.unit_exchange or part.group_exchange
    if exchange is None:
        return found
    name = UNIT if UNIT in exchange.store.types else HASH
    with within_pass(part, passes_of(slices)[0]):
        for columns in exchange.columns_of_log([name, SLICE]):
            of_rows = logs[columns[SLICE]]
            for number, own in enumerate(found):
                own.add(columns[name][of_rows == number])
    return found
