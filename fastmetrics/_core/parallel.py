"""Range kernels over threads: the GIL is released in kernels, so plain threads do.

Threads live for one call. Nothing is kept between calls, so a fork finds nothing to break and no setting leaks.
"""

from __future__ import annotations

import operator
import os
from collections import deque
from collections.abc import Callable
from operator import itemgetter


def count_threads(n_threads: int | None) -> int:
    """The number of threads to use: as given, or as many as this process may run on."""
    if n_threads is None:
        try:
            return len(os.sched_getaffinity(0))
        except AttributeError:
            return os.cpu_count() or 1
    try:
        count = 0 if isinstance(n_threads, bool) else operator.index(n_threads)
    except TypeError:
        count = 0
    if count < 1:
        raise ValueError(f"n_threads must be None or an integer of at least 1; found {n_threads!r}")
    return count


def for_each(n_units: int, make_worker: Callable[[], Callable[[int], None]], n_threads: int) -> None:
    """Call a worker once for every unit 0..n_units-1.

    Every thread makes a worker of its own (its scratch memory) and takes units in order, as they come. After an error
    no further unit is taken; those before it were, so that the error of the lowest unit is the one raised, whatever the
    threads did.
    """
    units = deque(range(n_units))
    errors: list[tuple[int, Exception]] = []
    n_threads = min(n_threads, n_units)

    def run() -> None:
        worker = make_worker()
        while True:
            try:
                unit = units.popleft()
            except IndexError:
                return
            try:
                worker(unit)
            except Exception as error:  # noqa: BLE001 - raised below, once it is known to be the first
                errors.append((unit, error))
                units.clear()

    if n_threads <= 1:
        run()
    else:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(n_threads - 1) as pool:
            futures = []
            try:
                futures += [pool.submit(run) for _ in range(n_threads - 1)]
                run()
                for future in futures:
                    future.result()
            finally:
                units.clear()
    if errors:
        raise min(errors, key=itemgetter(0))[1]
