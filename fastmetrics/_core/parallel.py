"""Run tasks on threads. Kernels release the GIL, so plain threads are enough.

Threads live for one call. Nothing is kept between calls: a fork is safe, and no setting outlives a call.
"""

from __future__ import annotations

import _thread
import os
from collections import deque
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from fastmetrics._core.option_numbers import integer_value

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

PARALLEL_VALUES = 1 << 20  # fewer are checked in less time than threads take to start

Result = TypeVar("Result")
State = TypeVar("State")


if TYPE_CHECKING:
    from functools import cached_property

    computed_once = cached_property
else:

    class computed_once:  # noqa: N801
        """A property that is computed when it is first read.

        Up to Python 3.11 `functools.cached_property` has one lock for all objects: threads would wait for each other.
        """

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute = compute

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, own: Any, owner: type | None = None) -> Any:
            if own is None:
                return self
            value = own.__dict__[self.name] = self.compute(own)
            return value


ALL_CPUS = -1  # as scikit-learn's n_jobs
ALLOWED = "must be an integer of at least 1, or -1 or None for all CPUs"


def count_threads(n_threads: int | None, name: str = "n_threads") -> int:
    """The number of threads to use: `n_threads`; None and -1 are the number of CPUs that this process may use."""
    count = ALL_CPUS if n_threads is None else integer_value(n_threads)
    if count == ALL_CPUS:
        try:
            return len(os.sched_getaffinity(0))
        except AttributeError:
            return os.cpu_count() or 1
    if count is None or count < 1:
        raise ValueError(f"{name} {ALLOWED}; found {n_threads!r}")
    return count


def for_each(n_tasks: int, make_worker: Callable[[], Callable[[int], Result]], n_threads: int) -> list[Result]:
    """Call a worker once for every task 0 to n_tasks - 1. Return the results in the order of the tasks.

    Every thread makes its own worker, with its own scratch memory, and takes the tasks in order. After an error no
    further task is started. All tasks before the failed one were started, so the error of the lowest task is raised,
    whatever the number of threads. A single task starts no threads.
    """
    if n_tasks == 1:
        return [make_worker()(0)]
    tasks = deque(range(n_tasks))
    results: list[Any] = [None] * n_tasks
    errors: list[tuple[int, Exception]] = []
    n_threads = min(n_threads, n_tasks)

    def run() -> None:
        worker = make_worker()
        while True:
            try:
                task = tasks.popleft()
            except IndexError:
                return
            try:
                results[task] = worker(task)
            except Exception as error:  # noqa: BLE001 - the error of the lowest task is raised below
                errors.append((task, error))
                tasks.clear()

    threads = Threads(run)
    try:
        threads.start(n_threads - 1)
        run()
    finally:
        tasks.clear()
        threads.end()
    if threads.failures:
        raise threads.failures[0]
    if errors:
        raise min(errors, key=itemgetter(0))[1]
    return results


class Threads:
    """Threads that call one function each.

    `threading.Thread` waits until its thread runs, and a pool does more: both take two to four times as long. A thread
    that does not run yet when the others have ended does nothing. No thread outlives `end`.
    """

    def __init__(self, function: Callable[[], object]) -> None:
        self.function = function
        self.failures: list[BaseException] = []
        self.guard = _thread.allocate_lock()
        self.has_ended = False
        self.n_started = self.n_running = 0
        self.running: list[_thread.LockType] = []  # a thread that runs holds its lock
        self.some_are_late = _thread.allocate_lock()  # held while `end` waits for threads that do not run yet

    def start(self, n: int) -> None:
        """Start n threads. If the interpreter exits and starts no thread any more, others do their work."""
        try:
            for _ in range(n):
                _thread.start_new_thread(self.run, ())
                self.n_started += 1
        except RuntimeError as error:
            if "interpreter shutdown" not in str(error):
                raise

    def run(self) -> None:
        is_running = _thread.allocate_lock()
        with is_running:
            with self.guard:
                self.n_running += 1
                if self.has_ended:
                    if self.n_running == self.n_started and self.some_are_late.locked():
                        self.some_are_late.release()
                    return
                self.running.append(is_running)
            try:
                self.function()
            except BaseException as error:  # noqa: BLE001 - the caller raises it
                self.failures.append(error)

    def end(self) -> None:
        """Wait for all threads."""
        with self.guard:
            self.has_ended = True
            if self.n_running < self.n_started:
                self.some_are_late.acquire()
        for lock in (*self.running, self.some_are_late):
            with lock:
                pass


def submit(pool: ThreadPoolExecutor, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
    """Call a function on a thread of the pool; here and now if the interpreter exits and starts no thread any more."""
    try:
        return pool.submit(function, *arguments)
    except RuntimeError as error:
        if "interpreter shutdown" not in str(error):
            raise
    from concurrent.futures import Future

    future: Future[Result] = Future()
    try:
        future.set_result(function(*arguments))
    except Exception as error:  # noqa: BLE001 - result() raises it
        future.set_exception(error)
    return future


def for_each_part(rows: int, check: Callable[[int, int], Result], n_threads: int | None) -> list[Result]:
    """The results of check(start, stop) for one part of the rows, or for a part for each thread if there are many."""
    if n_threads == 1 or rows < PARALLEL_VALUES:
        return [check(0, rows)]
    threads = count_threads(n_threads)
    size = -(-rows // threads)
    return for_each(threads, lambda: lambda part: check(part * size, min(rows, (part + 1) * size)), threads)


def accumulate(
    n_tasks: int, make_state: Callable[[], State], add: Callable[[State, int], object], n_threads: int
) -> list[State]:
    """Call add(state, task) for every task, as `for_each` does. Return the states: every thread has its own."""
    states: list[State] = []

    def make_worker() -> Callable[[int], object]:
        state = make_state()
        states.append(state)
        return partial(add, state)

    for_each(n_tasks, make_worker, n_threads)
    return states
