"""The same question on a pool of processes of this machine: an engine of the standard library, to use and to read.

Every process holds the state of its part of the sources, then that of one target. Pieces move as Arrow files in a
folder that is deleted at the end.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from multiprocessing import get_context, parent_process
from pathlib import Path
from tempfile import gettempdir
from threading import Thread
from typing import Any, Self
from uuid import uuid4

from fastmetrics._core.exchange.memory_size import parse_size
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.suggestions import list_public
from fastmetrics.distributed.decisions import Decision
from fastmetrics.distributed.plan import DistributedPlan
from fastmetrics.distributed.runner import Runner
from fastmetrics.distributed.source_state import SourceState
from fastmetrics.distributed.target_state import TargetState
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.evaluation.options.option import DISTRIBUTED
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.results.report import Report
from fastmetrics.engine.scan.read_log import make_memory_budget

PLACE = "sources[{}]"  # of a process that has several, the first one

__all__ = ["ProcessPool", "evaluate"]
__dir__ = list_public(globals())


def evaluate(
    sources: Sequence[Any],
    evaluation: Evaluation,
    *,
    pool: ProcessPool | None = None,
    n_processes: int | None = None,
    memory_limit: int | str | None = None,
    spill_dir: str | None = None,
    **input_options: Any,
) -> Report:
    """The report of all sources, equal to that of `fastmetrics.evaluate` over their rows.

    Processes start in about a second, and rows that have to meet move through files: where the threads of `evaluate`
    can share the work, they are faster. A script that calls it needs ``if __name__ == "__main__":``, as every use of
    processes does.

    Parameters
    ----------
    sources : sequence of paths or tables
        Anything that `evaluate` reads and that can be pickled, such as the files of a log.
    evaluation : Evaluation
    pool : ProcessPool, optional
        Processes that have started, in place of `n_processes` and `spill_dir`.
    n_processes : int, optional
        By default and with -1 one for every CPU that this process may use.
    memory_limit : int or str, optional
        Memory of rows in all processes together; those that do not fit spill to files.
    spill_dir : str, optional
        The folder for spill files and pieces.
    **input_options : object
        Options of reading that `evaluate` has, such as `format`.

    Returns
    -------
    Report

    Raises
    ------
    ValueError, TypeError, OverflowError, OSError
        As `evaluate`; the message names the path, or the position in `sources`, in which rows are counted.
    concurrent.futures.process.BrokenProcessPool
        A process was killed.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> from fastmetrics.distributed import processes
    >>> question = fm.Evaluation("auc", label="click", score="pctr")
    >>> processes.evaluate(["monday.parquet", "tuesday.parquet"], question)                  # doctest: +SKIP
    """
    started = time.perf_counter()
    if not isinstance(evaluation, Evaluation):
        raise TypeError(f"evaluation must be an Evaluation; found {type(evaluation).__name__}")
    check_sources(sources)
    if pool is not None and (n_processes is not None or spill_dir is not None):
        raise ValueError("n_processes and spill_dir are those of the pool, which is given: leave them out")
    spill_dir = spill_dir if pool is None else pool.spill_dir
    n = min(len(sources), count_processes(n_processes) if pool is None else len(pool.processes))
    plan = DistributedPlan(evaluation, evaluation.plan_for(DISTRIBUTED), n, PLACE)
    limit = parse_size(memory_limit, "memory_limit")
    make_memory_budget(limit, spill_dir, 1)  # a folder that cannot be used is an error now
    InputOptions.of_keywords(input_options, evaluation.time_zone)
    with ExitStack() as stack:
        own = stack.enter_context(ProcessPool(n, spill_dir)) if pool is None else pool
        memory = Memory(None if limit is None else limit // n, spill_dir, n)
        runner = ProcessRunner(own.processes[:n], own.folder)
        stack.callback(shutil.rmtree, own.folder, ignore_errors=True)
        try:
            runner.on_all(read, plan, memory, [sources[number::n] for number in range(n)], input_options)
            own.folder.mkdir(0o700)  # not earlier: there are workers now, which remove it if this process is killed
            summaries = runner.run(plan)
        finally:
            with suppress(BrokenProcessPool):
                runner.on_all(forget)
        return plan.finalize(summaries, time.perf_counter() - started)


def count_processes(n_processes: int | None) -> int:
    return count_threads(n_processes, "n_processes")


class ProcessPool:
    """Processes for several calls of `evaluate`, which start once. They end with the context, or with this process.

    Parameters
    ----------
    n_processes : int, optional
        By default and with -1 one for every CPU that this process may use.
    spill_dir : str, optional
        The folder for spill files and pieces.

    Examples
    --------
    >>> from fastmetrics.distributed import processes
    >>> with processes.ProcessPool() as pool:                                                # doctest: +SKIP
    ...     reports = [processes.evaluate(files, question, pool=pool) for files in days]
    """

    def __init__(self, n_processes: int | None = None, spill_dir: str | None = None) -> None:
        self.spill_dir = spill_dir
        self.folder = Path(spill_dir or gettempdir(), f"fastmetrics-{uuid4().hex}")  # of the pieces of a call
        start = get_context("spawn"), end_with_parent, (self.folder,)
        self.processes = [ProcessPoolExecutor(1, *start) for _ in range(count_processes(n_processes))]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self.processes:
            process.shutdown()


class ProcessRunner(Runner):
    """The steps as functions in every process of a pool."""

    def __init__(self, pool: Sequence[ProcessPoolExecutor], folder: Path) -> None:
        self.pool, self.folder = pool, folder

    def on_all(self, step: Any, *arguments: Any) -> list[Any]:
        futures = [process.submit(step, number, *arguments) for number, process in enumerate(self.pool)]
        return [future.result() for future in futures]

    def summarize_sources(self, decision: Decision) -> list[bytes]:
        return self.on_all(summarize, decision)

    def move_pieces(self, decision: Decision) -> None:
        self.on_all(cut, decision, self.folder)
        self.on_all(combine, decision, self.folder)

    def summarize_targets(self, decision: Decision) -> list[bytes]:
        return self.on_all(summarize, decision)


def end_with_parent(folder: Path) -> None:
    """Let a worker end when the process that started it has ended, however that was, and remove the folder of pieces.

    One of the workers removes it, under another name, so that none of them writes to it any more.
    """

    def wait() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            with suppress(OSError):
                shutil.rmtree(folder.rename(folder.with_name(f"{folder.name}-ended")))
            os._exit(1)

    Thread(target=wait, daemon=True).start()


def check_sources(sources: Any) -> None:
    """Check that sources are a list, and that no file is in it twice."""
    if not isinstance(sources, (list, tuple)) or not sources:
        found = f"an empty {type(sources).__name__}" if isinstance(sources, (list, tuple)) else type(sources).__name__
        raise ValueError(f"sources must be a list of paths or tables, at least one; found {found}")
    paths = [os.path.realpath(own) if isinstance(own, (str, os.PathLike)) else None for own in sources]
    for number, path in enumerate(paths):
        if path is not None and (first := paths.index(path)) < number:
            raise ValueError(
                f"sources[{first}] and sources[{number}]: {os.fsdecode(sources[number])} is given twice, and its rows "
                "would count twice"
            )


class Memory(NamedTuple):
    """The memory options of a process."""

    limit: int | None
    spill_dir: str | None
    processes: int


class Process:
    """What a process of the pool holds; nothing outside of one."""

    plan: DistributedPlan
    memory: Memory
    source: SourceState
    state: SourceState | TargetState  # that of the current round


def read(
    number: int, plan: DistributedPlan, memory: Memory, sources: Sequence[Sequence[Any]], options: dict[str, Any]
) -> None:
    """Read the sources of a process."""
    Process.plan, Process.memory = plan, memory
    Process.source = Process.state = plan.partial(number, 0, *memory)
    for turn, source in enumerate(sources[number]):
        Process.source.place = f" (rows are counted within {PLACE.format(number + turn * len(sources))})"
        Process.source.update(source, **options)


def forget(number: int) -> None:
    """Release the rows of a process."""
    for name in ("source", "state"):
        if hasattr(Process, name):
            getattr(Process, name).close()
            delattr(Process, name)


def summarize(number: int, decision: Decision) -> bytes:
    return Process.state.summary(decision)


def cut(number: int, decision: Decision, folder: Path) -> None:
    """Write the pieces of a process, a file for every target."""
    with ExitStack() as files:
        writers: dict[int, Any] = {}
        for piece in Process.source.pieces(decision):
            target = piece["target"][0].as_py()
            if target not in writers:
                sink = files.enter_context(pyarrow.OSFile(str(folder / f"{number}-{target}"), "wb"))
                writers[target] = files.enter_context(pyarrow.ipc.new_stream(sink, piece.schema))
            writers[target].write_batch(piece)
    Process.source.close()


def combine(number: int, decision: Decision, folder: Path) -> None:
    """Make the state of a target of its pieces."""
    Process.state = Process.plan.combine(read_pieces(folder, number), decision, *Process.memory)


def read_pieces(folder: Path, target: int) -> Iterator[Any]:
    for path in sorted(folder.glob(f"*-{target}")):
        with pyarrow.memory_map(str(path)) as source:
            yield from pyarrow.ipc.open_stream(source)
