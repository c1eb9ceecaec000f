"""How a source's rows reach a scan: in the calling thread, batch by batch through a pool, or part by part.

However they come, every batch carries its place in the log, so results and errors do not depend on the way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from threading import Lock
from typing import Any

from fastmetrics.engine.batches import Part, Source
from fastmetrics.engine.columns import Block
from fastmetrics.engine.scan import Scan

Progress = Callable[[str, int, int | None], None]

RELEASE_ROWS = 1 << 23  # how often Arrow is asked to give freed batches back to the system


def run_scan(scan: Scan, source: Source, columns: list[str], n_threads: int, progress: Progress | None) -> None:
    """Feed all rows to the scan, in the way that suits the source and the number of threads."""
    parts = source.parts(columns) if n_threads > 1 else []
    if parts:
        Lanes(scan, parts).run(source.rows, n_threads, progress)
        return
    batches = source.batches(columns, use_threads=n_threads > 1)
    try:
        if n_threads == 1:
            scan_alone(scan, batches, source.rows, progress)
        else:
            scan_batches(scan, batches, source.rows, n_threads, progress)
    finally:
        # An error on its way out still knows the batches: files are to be closed and threads to end all the same.
        if isinstance(batches, Generator):
            batches.close()


def scan_alone(scan: Scan, batches: Iterator[Any], total: int | None, progress: Progress | None) -> None:
    """Everything in the calling thread."""
    first_row = 0
    for batch in batches:
        scan.prepare(batch)
        scan.note(scan.consume(batch, first_row))
        first_row += batch.num_rows
        if progress is not None:
            progress("scan", scan.rows, total)
        if first_row % RELEASE_ROWS < batch.num_rows:
            release_batches()


def scan_batches(
    scan: Scan, batches: Iterator[Any], total: int | None, n_threads: int, progress: Progress | None
) -> None:
    """One stream of batches: reading goes on while earlier batches are worked on; only a few wait in memory."""
    from concurrent.futures import ThreadPoolExecutor

    first_row = 0
    pending: deque[Any] = deque()

    def finish_one() -> None:
        scan.note(pending.popleft().result())
        if progress is not None:
            progress("scan", scan.rows, total)

    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for batch in batches:
                scan.prepare(batch)
                pending.append(pool.submit(scan.consume, batch, first_row))
                first_row += batch.num_rows
                while len(pending) > n_threads:
                    finish_one()
                if first_row % RELEASE_ROWS < batch.num_rows:
                    release_batches()
            while pending:
                finish_one()
        finally:
            for future in pending:
                future.cancel()


class FirstError:
    """The error at the lowest row so far. Rows behind it need not be looked at any more."""

    def __init__(self) -> None:
        self.row: float = float("inf")
        self.error: BaseException | None = None
        self.lock = Lock()

    def note(self, row: int, error: BaseException | None) -> None:
        """`error` may be None: stop, whatever the rows."""
        with self.lock:
            if row < self.row:
                self.row, self.error = row, error


class Lanes:
    """Parts at the same time, a thread each: the one that decodes a batch also works on it, while it is in cache.

    Parts are taken in row order. After an error, rows before it are still looked at, those behind it no more, so that
    the error raised is the first of the log, whatever the threads did.
    """

    def __init__(self, scan: Scan, parts: list[Part]) -> None:
        from queue import SimpleQueue

        self.scan = scan
        self.waiting = deque(parts)
        self.done: SimpleQueue[Block | None] = SimpleQueue()
        self.first_error = FirstError()
        self.preparing = Lock()

    def run(self, total: int | None, n_threads: int, progress: Progress | None) -> None:
        """Let the threads work, and note in this one what they have done."""
        from concurrent.futures import ThreadPoolExecutor

        running = n_threads
        with ThreadPoolExecutor(n_threads) as pool:
            futures = []
            try:
                futures += [pool.submit(self.work) for _ in range(n_threads)]
                while running:
                    block = self.done.get()
                    if block is None:
                        running -= 1
                        continue
                    self.scan.note(block)
                    if progress is not None:
                        progress("scan", self.scan.rows, total)
            finally:
                if running:
                    # An interrupt, or an error in here: nobody is to go on.
                    self.first_error.note(-1, None)
        for future in futures:
            future.result()
        if self.first_error.error is not None:
            raise self.first_error.error

    def work(self) -> None:
        """One thread: part after part."""
        rows = 0
        try:
            while True:
                try:
                    part = self.waiting.popleft()
                except IndexError:
                    break
                if part.first_row > self.first_error.row:
                    break
                self.work_on(part)
                rows += part.rows
                if rows >= RELEASE_ROWS:
                    release_batches()
                    rows = 0
            # What Arrow allocated in this thread, only this thread can give back.
            release_batches()
        finally:
            self.done.put(None)

    def work_on(self, part: Part) -> None:
        row = part.first_row
        try:
            for batch in part.read():
                if row > self.first_error.row:
                    return
                with self.preparing:
                    self.scan.prepare(batch)
                self.done.put(self.scan.consume(batch, row))
                row += batch.num_rows
        except Exception as error:  # noqa: BLE001 - raised by run, once it is known to be the first
            self.first_error.note(row, error)


def release_batches() -> None:
    """Give the memory of finished batches back to the system; Arrow would keep it for later, beside what we keep."""
    import pyarrow

    pyarrow.default_memory_pool().release_unused()
