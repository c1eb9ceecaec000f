"""One pass over a log, from anything that `evaluate` reads to a state of its rows.

Rows reach the state in the calling thread, through a pool of threads, or by partitions. Every batch carries its first
row's number in the log, so results and errors are the same in all three cases.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Any

from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.memory_size import parse_size
from fastmetrics._core.exchange.spill import SpillFile, as_path
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._core.parallel import submit
from fastmetrics.engine.input.batches import MixedKeysError, Source, SourcePartition
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.input.row_selection import ZERO_WEIGHT, find_column_uses
from fastmetrics.engine.input.truth_rows import truth_tasks
from fastmetrics.engine.partial.partial_state import BatchCounts, PartialState
from fastmetrics.engine.partial.state_options import StateOptions
from fastmetrics.engine.partial.task_state import TaskState
from fastmetrics.engine.plan.plan_parts import distinct_columns
from fastmetrics.engine.plan.tasks import PlannedTask, add_to_errors, name_task_in_errors

Progress = Callable[[str, int, int | None], None]

TABLES = ("log", "truth")
RELEASE_ROWS = 1 << 23  # how often Arrow is asked to give freed batches back to the system


@contextmanager
def scan_log(
    data: Any,
    input_options: InputOptions,
    tasks: Sequence[PlannedTask],
    on_invalid: str,
    budget: MemoryBudget,
    n_threads: int,
    progress: Progress | None,
    by_unit: bool = False,
    keeps_sample: bool = False,
    truth: Any = None,
) -> Iterator[PartialState]:
    """Read a log, and the truth table if there is one; yield the state of the rows, until the context ends.

    `by_unit` and `keeps_sample` are those of `StateOptions`.
    """
    opened = source = open_log(data, input_options, budget, n_threads)
    with ExitStack() as copies:
        if any(own.edges is None for task in tasks for own in task.names.bins):
            from fastmetrics.engine.scan.quantile_slices import find_edges

            source, tasks = copies.enter_context(find_edges(source, tasks, budget, n_threads))
        columns = open_task_columns(source, tasks)
        options = StateOptions(on_invalid, budget, columns.rows, by_unit, keeps_sample=keeps_sample)
        state = PartialState(tasks, options)
        if columns.rows is not None and on_invalid == "raise" and not any(task.where for task in tasks):
            # Nothing is read yet. How many rows would be left out is not known, and how many rows a stream has.
            budget.check_disk_space(columns.rows * sum(part.least_row_bytes() for part in state.parts))
        try:
            while True:
                try:
                    read_source(state, columns, n_threads, progress)
                    break
                except MixedKeysError as found:
                    columns.expect_mixed_keys(found.column)
                    state.close()
                    state = PartialState(tasks, options)
            read_truth(state, truth, input_options, n_threads)
            check_rows(state)
            state.notes = [*opened.notes(), *input_options.notes()]
            if progress is not None:
                progress("scan", state.rows, state.rows)
            if state.has_memory_limit:
                release_arrow_memory()
            yield state
        finally:
            state.close()


def update_state(state: PartialState, data: Any, input_options: InputOptions, n_threads: int) -> None:
    """Take in the rows of a log. After an error the state is as before."""
    if state.gather(data, input_options, n_threads):
        return
    columns, known = state.source, state.input_options
    # Of many small batches with the same columns, these are looked up once.
    if columns is None or data is None or known != input_options or not columns.replace_data(data):
        columns = open_task_columns(open_log(data, input_options, state.options.budget, n_threads), state.tasks)
        state.source = None
    try:
        while True:
            try:
                with state.update(n_threads):
                    read_source(state, columns, n_threads)
                state.gathered.learn(data, input_options)
                return
            except MixedKeysError as found:
                columns.expect_mixed_keys(found.column)
    finally:
        state.source, state.input_options = (columns if columns.replace_data(None) else None), input_options


class TruthRows:
    """The rows of a truth table on their way into a state: what `read_source` asks of one."""

    waits = False

    def __init__(self, state: PartialState, truth: Any) -> None:
        self.tasks = truth_tasks(state.tasks, truth)
        self.states = [own for own in state.states if any(part.truth for part in own.parts)]
        self.has_memory_limit = state.has_memory_limit
        self.rows = 0

    def open_source(self, source: Source) -> None:
        """All columns are keys and numbers: they are read as they come."""

    def process_batch(self, batch: Any, first_row: int) -> BatchCounts:
        return [state.process_truth(batch, first_row) for state in self.states]

    def record_batch(self, processed: BatchCounts) -> None:
        for state, own in zip(self.states, processed, strict=True):
            state.record_truth(own)
        self.rows += processed[0][0].rows_read


def open_truth(
    state: PartialState, truth: Any, input_options: InputOptions, n_threads: int
) -> tuple[TruthRows, Source]:
    """The rows of a truth table for the parts that read it, and its source."""
    rows = TruthRows(state, truth)
    source = open_task_columns(open_log(truth, input_options, state.options.budget, n_threads), rows.tasks)
    for part in state.parts:
        exchange = part.group_exchange
        for column in part.truth.text_keys(None if exchange is None else exchange.key_dtype) if part.truth else ():
            source.expect_mixed_keys(column)  # numbers in a text file are texts, as they are in the log
    return rows, source


def read_truth(state: PartialState, truth: Any, input_options: InputOptions, n_threads: int) -> None:
    """Take in the truth table of a log, which is there if and only if the question has columns of it."""
    if not truth_tasks(state.tasks, truth):
        return
    parts = [part for part in state.parts if part.truth]
    marks = [(store, store.mark()) for part in parts for store in part.stores()]
    with add_to_errors("truth: "):
        rows, source = open_truth(state, truth, input_options.of_truth(), n_threads)
        while True:
            try:
                read_source(rows, source, n_threads)
                break
            except MixedKeysError as found:
                source.expect_mixed_keys(found.column)
                for store, mark in marks:
                    store.restore(mark)
                for part in parts:
                    part.counts.truth_rows = part.counts.truth_dropped = 0


def update_truth(state: PartialState, truth: Any, input_options: InputOptions, n_threads: int) -> None:
    """Take in rows of the truth table. After an error the state is as before."""
    state.settle(n_threads)
    with add_to_errors("truth: "):
        rows, source = open_truth(state, truth, input_options, n_threads)
        while True:
            try:
                with state.update(n_threads):
                    read_source(rows, source, n_threads)
                return
            except MixedKeysError as found:
                source.expect_mixed_keys(found.column)


def open_log(data: Any, input_options: InputOptions, budget: MemoryBudget | None, n_threads: int) -> Source:
    """The source of a log."""
    # Imported here because it takes milliseconds, which `import fastmetrics` should not take.
    from fastmetrics.engine.input.sources import open_source

    source = open_source(data, input_options)
    source.memory_limit, source.n_threads = None if budget is None else budget.explicit_limit, n_threads
    return source


def open_task_columns(source: Source, tasks: Sequence[PlannedTask], log_number: int | None = None) -> Source:
    """A source with the computed columns and filters of tasks; see `open_columns`."""
    from fastmetrics.engine.input.computed_columns import open_columns

    parts = [part for task in tasks for part in task.parts]
    columns = open_columns(source, parts, [task.where for task in tasks], log_number)
    columns.expect(find_column_uses(tuple(parts)))
    return columns


def make_memory_budget(
    memory_limit: int | str | None, spill_dir: str | os.PathLike[str] | None, n_threads: int, processes: int = 1
) -> MemoryBudget:
    """The memory budget of rows. A default limit is divided by the number of processes.

    A spill folder that cannot be used is an error now, before anything is read.
    """
    limit = parse_size(memory_limit, "memory_limit")
    folder = None if spill_dir is None else as_path(spill_dir)
    if folder is not None:
        SpillFile(folder).check_folder()
    return MemoryBudget(limit, folder, n_threads, processes)


def check_rows(state: PartialState) -> None:
    """Check that labels are of one kind, and that every task has rows to evaluate."""
    state.check_whole()
    for task, own in zip(state.tasks, state.states, strict=True):
        with name_task_in_errors(task.name):
            check_task_rows(own)


def check_task_rows(state: TaskState) -> None:
    for part in state.parts:
        part.check_labels()
        if part.truth and not part.counts.truth_rows:
            raise ValueError("truth has no rows: at least one is needed, of the table whose columns are truth_columns")
    if state.counts.rows_kept == 0 and ZERO_WEIGHT not in state.counts.dropped:
        raise ValueError(explain_no_rows(state))


def explain_no_rows(state: TaskState) -> str:
    counts = state.counts
    if counts.rows == 0:
        return "data has no rows: at least one is needed"
    reasons = ", ".join(f"{count} with {reason}" for reason, count in counts.dropped.items())
    if counts.filtered:
        where = "where" if state.selector.where is None else f"where={state.selector.where!r}"
        left_out = f"{where} leaves out {counts.filtered}"
        reasons = f"{left_out}, then {reasons}" if reasons else left_out
    return f"no row is left of {counts.rows} read: {reasons}"


def read_source(
    state: PartialState | TruthRows, source: Source, n_threads: int, progress: Progress | None = None
) -> None:
    """Take in all rows of a source, in the way that suits it and the number of threads."""
    state.open_source(source)
    columns = distinct_columns(part for task in state.tasks for part in task.parts)
    partitions = source.partitions(columns) if n_threads > 1 and not state.waits else []
    if partitions:
        PartitionWorkers(state, partitions).run(source.rows, n_threads, progress)
        return
    one_batch = source.rows is not None and source.rows <= source.batch_rows
    batches = source.batches(columns, use_threads=n_threads > 1 and not one_batch)
    try:
        if n_threads == 1 or one_batch:  # threads would cost more than they save
            scan_in_calling_thread(state, batches, source.rows, progress)
        else:
            scan_in_pool(state, batches, source.rows, n_threads, progress)
    finally:
        # The traceback of an error would keep the batches: files have to be closed and threads to end nevertheless.
        if isinstance(batches, Generator):
            batches.close()


def scan_in_calling_thread(
    state: PartialState | TruthRows, batches: Iterator[Any], total: int | None, progress: Progress | None
) -> None:
    """Process all batches in the calling thread, each before the next one is read."""
    first_row = 0
    for batch in batches:
        state.record_batch(state.process_batch(batch, first_row))
        first_row += batch.num_rows
        if progress is not None:
            progress("scan", state.rows, total)
        if first_row % RELEASE_ROWS < batch.num_rows:
            release_arrow_memory()


def scan_in_pool(
    state: PartialState | TruthRows,
    batches: Iterator[Any],
    total: int | None,
    n_threads: int,
    progress: Progress | None,
) -> None:
    """Read one stream of batches while earlier ones are processed by a pool; only a few wait in memory."""
    from concurrent.futures import ThreadPoolExecutor

    first_row = 0
    pending: deque[Any] = deque()

    def finish_one() -> None:
        state.record_batch(pending.popleft().result())
        if progress is not None:
            progress("scan", state.rows, total)

    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for batch in batches:
                pending.append(submit(pool, state.process_batch, batch, first_row))
                first_row += batch.num_rows
                while len(pending) > n_threads:
                    finish_one()
                if first_row % RELEASE_ROWS < batch.num_rows:
                    release_arrow_memory()
            while pending:
                finish_one()
        finally:
            for future in pending:
                future.cancel()


class FirstError:
    """The error at the lowest row so far. Later rows need not be processed any more."""

    def __init__(self) -> None:
        self.row: float = float("inf")
        self.error: BaseException | None = None
        self.lock = Lock()

    def record(self, row: int, error: BaseException | None) -> None:
        """Keep the error of the lowest row. Without an `error`, threads stop at that row."""
        with self.lock:
            if row < self.row:
                self.row, self.error = row, error


class PartitionWorkers:
    """Threads that each read and process one partition after the other; a batch is processed while it is in cache.

    Partitions are started in row order. After an error, earlier rows are still processed, later rows are not: the error
    that is raised is the first of the log, whatever the order of the threads.
    """

    def __init__(self, state: PartialState | TruthRows, partitions: list[SourcePartition]) -> None:
        from queue import SimpleQueue

        self.state = state
        self.waiting = deque(partitions)
        self.done: SimpleQueue[BatchCounts | None] = SimpleQueue()
        self.first_error = FirstError()

    def run(self, total: int | None, n_threads: int, progress: Progress | None) -> None:
        """Start the threads; record their batches in the calling thread."""
        from concurrent.futures import ThreadPoolExecutor

        running = n_threads
        with ThreadPoolExecutor(n_threads) as pool:
            futures = []
            try:
                futures += [submit(pool, self.work) for _ in range(n_threads)]
                while running:
                    batch = self.done.get()
                    if batch is None:
                        running -= 1
                        continue
                    self.state.record_batch(batch)
                    if progress is not None:
                        progress("scan", self.state.rows, total)
            finally:
                if running:
                    # An interrupt, or an error in this thread: all threads have to stop.
                    self.first_error.record(-1, None)
        for future in futures:
            future.result()
        if self.first_error.error is not None:
            raise self.first_error.error

    def work(self) -> None:
        """The work of one thread."""
        rows = 0
        try:
            while True:
                try:
                    partition = self.waiting.popleft()
                except IndexError:
                    break
                if partition.first_row > self.first_error.row:
                    break
                self.process(partition)
                rows += partition.rows
                if rows >= RELEASE_ROWS:
                    release_arrow_memory()
                    rows = 0
            # Only the thread that allocated Arrow memory can release it. Without a limit, the next scan uses it again.
            if self.state.has_memory_limit:
                release_arrow_memory()
        finally:
            self.done.put(None)

    def process(self, partition: SourcePartition) -> None:
        row = partition.first_row
        try:
            for batch in partition.read():
                if row > self.first_error.row:
                    return
                self.done.put(self.state.process_batch(batch, row))
                row += batch.num_rows
        except Exception as error:  # noqa: BLE001 - raised by run, once it is known to be the first
            self.first_error.record(row, error)


def release_arrow_memory() -> None:
    """Return the memory of processed batches to the system. Arrow would keep it for later batches."""
    pyarrow.default_memory_pool().release_unused()
