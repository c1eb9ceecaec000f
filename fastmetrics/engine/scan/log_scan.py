"""One pass over a log, from anything that `evaluate` reads to scans with its rows.

Rows reach the scan in the calling thread, through a pool of threads, or by partitions. Every batch carries its first
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
from fastmetrics.engine.plan.plan_parts import distinct_columns
from fastmetrics.engine.plan.tasks import PlannedTask, name_task_in_errors
from fastmetrics.engine.scan.log_pass import LogPass, PassBatch
from fastmetrics.engine.scan.plan_scan import LogScan

Progress = Callable[[str, int, int | None], None]

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
) -> Iterator[LogPass]:
    """Read a log; yield the pass, which holds its rows until the context ends. `by_unit` is that of `Scan`."""
    # Imported here because it takes milliseconds, which `import fastmetrics` should not take.
    from fastmetrics.engine.input.computed_columns import open_columns
    from fastmetrics.engine.input.sources import open_source

    opened = source = open_source(data, input_options)
    source.memory_limit, source.n_threads = budget.explicit_limit, n_threads
    with ExitStack() as copies:
        if any(own.edges is None for task in tasks for own in task.names.bins):
            from fastmetrics.engine.scan.quantile_slices import find_edges

            source, tasks = copies.enter_context(find_edges(source, tasks, budget, n_threads))
        parts = [part for task in tasks for part in task.parts]
        columns = open_columns(source, parts, [task.where for task in tasks])
        columns.expect(find_column_uses(tuple(parts)))
        log_pass = LogPass(tasks, on_invalid, columns, budget, by_unit)
        if columns.rows is not None and on_invalid == "raise" and not any(task.where for task in tasks):
            # Nothing is read yet. How many rows would be left out is not known, and how many rows a stream has.
            scans = [scan for own in log_pass.log_scans for scan in own.scans]
            budget.check_disk_space(columns.rows * sum(scan.least_row_bytes() for scan in scans))
        try:
            while True:
                try:
                    run_scan(log_pass, columns, n_threads, progress)
                    break
                except MixedKeysError as found:
                    columns.expect_mixed_keys(found.column)
                    log_pass.close()
                    log_pass = LogPass(tasks, on_invalid, columns, budget, by_unit)
            for task, log_scan in zip(tasks, log_pass.log_scans, strict=True):
                with name_task_in_errors(task.name):
                    check_rows(log_scan)
            log_pass.notes = opened.notes()
            if progress is not None:
                progress("scan", log_pass.rows, log_pass.rows)
            if log_pass.has_memory_limit:
                release_arrow_memory()
            yield log_pass
        finally:
            log_pass.close()


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


def check_rows(scan: LogScan) -> None:
    """Check that labels are of one kind, and that there are rows to evaluate."""
    for part in scan.scans:
        part.check_labels()
    if scan.rows_kept == 0 and ZERO_WEIGHT not in scan.dropped:
        raise ValueError(explain_no_rows(scan))


def explain_no_rows(scan: LogScan) -> str:
    if scan.rows == 0:
        return "data has no rows: at least one is needed"
    reasons = ", ".join(f"{count} with {reason}" for reason, count in scan.dropped.items())
    if scan.filtered:
        where = "where" if scan.selector.where is None else f"where={scan.selector.where!r}"
        left_out = f"{where} leaves out {scan.filtered}"
        reasons = f"{left_out}, then {reasons}" if reasons else left_out
    return f"no row is left of {scan.rows} read: {reasons}"


def run_scan(log_pass: LogPass, source: Source, n_threads: int, progress: Progress | None) -> None:
    """Feed all rows to the pass, in the way that suits the source and the number of threads."""
    columns = distinct_columns(part for task in log_pass.tasks for part in task.parts)
    partitions = source.partitions(columns) if n_threads > 1 else []
    if partitions:
        PartitionWorkers(log_pass, partitions).run(source.rows, n_threads, progress)
        return
    one_batch = source.rows is not None and source.rows <= source.batch_rows
    batches = source.batches(columns, use_threads=n_threads > 1 and not one_batch)
    try:
        if n_threads == 1 or one_batch:  # threads would cost more than they save
            scan_in_calling_thread(log_pass, batches, source.rows, progress)
        else:
            scan_in_pool(log_pass, batches, source.rows, n_threads, progress)
    finally:
        # The traceback of an error would keep the batches: files have to be closed and threads to end nevertheless.
        if isinstance(batches, Generator):
            batches.close()


def scan_in_calling_thread(
    log_pass: LogPass, batches: Iterator[Any], total: int | None, progress: Progress | None
) -> None:
    """Process all batches in the calling thread, each before the next one is read."""
    first_row = 0
    for batch in batches:
        log_pass.record_batch(log_pass.process_batch(batch, first_row))
        first_row += batch.num_rows
        if progress is not None:
            progress("scan", log_pass.rows, total)
        if first_row % RELEASE_ROWS < batch.num_rows:
            release_arrow_memory()


def scan_in_pool(
    log_pass: LogPass, batches: Iterator[Any], total: int | None, n_threads: int, progress: Progress | None
) -> None:
    """Read one stream of batches while earlier ones are processed by a pool; only a few wait in memory."""
    from concurrent.futures import ThreadPoolExecutor

    first_row = 0
    pending: deque[Any] = deque()

    def finish_one() -> None:
        log_pass.record_batch(pending.popleft().result())
        if progress is not None:
            progress("scan", log_pass.rows, total)

    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for batch in batches:
                pending.append(submit(pool, log_pass.process_batch, batch, first_row))
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

    def __init__(self, log_pass: LogPass, partitions: list[SourcePartition]) -> None:
        from queue import SimpleQueue

        self.log_pass = log_pass
        self.waiting = deque(partitions)
        self.done: SimpleQueue[PassBatch | None] = SimpleQueue()
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
                    self.log_pass.record_batch(batch)
                    if progress is not None:
                        progress("scan", self.log_pass.rows, total)
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
            if self.log_pass.has_memory_limit:
                release_arrow_memory()
        finally:
            self.done.put(None)

    def process(self, partition: SourcePartition) -> None:
        row = partition.first_row
        try:
            for batch in partition.read():
                if row > self.first_error.row:
                    return
                self.done.put(self.log_pass.process_batch(batch, row))
                row += batch.num_rows
        except Exception as error:  # noqa: BLE001 - raised by run, once it is known to be the first
            self.first_error.record(row, error)


def release_arrow_memory() -> None:
    """Return the memory of processed batches to the system. Arrow would keep it for later batches."""
    pyarrow.default_memory_pool().release_unused()
