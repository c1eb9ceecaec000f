"""The same question on a pool of processes of this machine: an engine of the standard library, to use and to read.

This process is one of them. Each holds the state of its part of the sources, then that of one target. Pieces for other
processes move in files of a folder that is deleted at the end.
"""

from __future__ import annotations

import atexit
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from functools import partial
from mmap import ACCESS_READ, mmap
from multiprocessing import get_context, parent_process
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from threading import Lock, Thread
from typing import Any, BinaryIO, Self
from uuid import uuid4

from fastmetrics._core.exchange.memory_size import parse_size
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.suggestions import list_public
from fastmetrics.distributed.decisions import Decision
from fastmetrics.distributed.pieces import RowPiece, read_pieces
from fastmetrics.distributed.plan import DistributedPlan
from fastmetrics.distributed.runner import Runner
from fastmetrics.distributed.source_state import SourceState
from fastmetrics.distributed.target_state import TargetState
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.evaluation.options.option import DISTRIBUTED
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.input.truth_rows import truth_tasks
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
    truth: Any = None,
    **input_options: Any,
) -> Report:
    """The report of all sources, equal to that of `fastmetrics.evaluate` over their rows.

    This process is one of them and begins at once; others start meanwhile, and every one takes the next source when it
    has read one. Rows that have to meet move through files: where the threads of `evaluate` can share the work, they
    are faster. A script that calls it needs ``if __name__ == "__main__":``, as every use of processes does.

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
    truth : path, table or frame, optional
        The relevant items of every group, a second table beside the log: a row for each item, perhaps with its grade.
        Anything that `data` may be. Its columns are `truth_columns`; without these, `label` is a column of this table,
        and groups and items have the names that they have in the log. A list of the log gets the grades of its items, 0
        for those that the table lacks; relevant items that it does not show count as not found. A group without a row
        of the log has no list.
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
    n = min(len(sources), count_processes(n_processes) if pool is None else 1 + len(pool.workers))
    plan = DistributedPlan(evaluation, evaluation.plan_for(DISTRIBUTED), n, PLACE)
    limit = parse_size(memory_limit, "memory_limit")
    make_memory_budget(limit, spill_dir, 1)  # a folder that cannot be used is an error now
    InputOptions.of_keywords(input_options, evaluation.time_zone)
    of_truth = truth_tasks(plan.tasks, truth)
    with ExitStack() as stack:
        own = stack.enter_context(ProcessPool(n, spill_dir)) if pool is None else pool
        runner = ProcessRunner(own.workers[: n - 1], own.folder)
        stack.callback(shutil.rmtree, own.folder, ignore_errors=True)
        stack.callback(runner.close)
        runner.read(plan, Memory(None if limit is None else limit // n, spill_dir, n), sources, input_options)
        if of_truth:
            runner.own.source.update(truth, "truth")
        if n > 1:
            own.folder.mkdir(0o700)  # not earlier: there are workers now, which remove it if this process is killed
        return plan.finalize(runner.run(plan), time.perf_counter() - started)


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
        self.workers = [ProcessPoolExecutor(1, *start) for _ in range(count_processes(n_processes) - 1)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self.workers:
            worker.shutdown()


class ProcessRunner(Runner):
    """The steps as functions in every process: in this one, and in the workers of a pool."""

    def __init__(self, workers: Sequence[ProcessPoolExecutor], folder: Path) -> None:
        self.own = Process()
        self.workers = workers
        self.folder = folder

    def on_all(self, step: Any, *arguments: Any) -> list[Any]:
        """The results of a step, whose first argument after its process is the number of that."""
        futures = [worker.submit(call, step, number, *arguments) for number, worker in enumerate(self.workers, 1)]
        return [step(self.own, 0, *arguments), *(future.result() for future in futures)]

    def read(self, plan: DistributedPlan, memory: Memory, sources: Sequence[Any], options: dict[str, Any]) -> None:
        """Let every process read the source of its number, then the next one that is left, and so on."""
        left, lock = iter(range(1 + len(self.workers), len(sources))), Lock()

        def read_rest(run: Callable[..., Any], number: int | None) -> None:
            nonlocal left
            try:
                run(Process.start, number, plan, memory)
                while number is not None:
                    run(Process.read, number, sources[number], options)
                    with lock:
                        number = next(left, None)
            except BaseException:
                left = iter(())
                raise

        def run_there(worker: ProcessPoolExecutor, *step: Any) -> None:
            worker.submit(call, *step).result()

        with ThreadPoolExecutor(1 + len(self.workers)) as threads:
            of_workers = [
                threads.submit(read_rest, partial(run_there, worker), number)
                for number, worker in enumerate(self.workers, 1)
            ]
            read_rest(lambda step, *arguments: step(self.own, *arguments), 0)
            for own in of_workers:
                own.result()

    def summarize_sources(self, decision: Decision) -> list[bytes]:
        return self.on_all(Process.summarize, decision)

    def move_pieces(self, decision: Decision) -> None:
        self.on_all(Process.cut, decision, self.folder)
        self.on_all(Process.combine, decision, self.folder)

    def summarize_targets(self, decision: Decision) -> list[bytes]:
        return self.on_all(Process.summarize, decision)

    def close(self) -> None:
        """Release the rows of all processes."""
        self.own.close(0)
        with suppress(BrokenProcessPool):
            self.on_all(Process.close)


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
    atexit.register(os._exit, 0)  # there is nothing to clean up: taking modules apart takes 50 ms


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
    """What a process holds, and the steps that it runs."""

    plan: DistributedPlan
    memory: Memory
    source: SourceState
    state: SourceState | TargetState  # that of the current round

    def start(self, number: int, plan: DistributedPlan, memory: Memory) -> None:
        """Begin with a state that has no rows."""
        self.plan, self.memory = plan, memory
        self.source = self.state = plan.partial(number, 0, *memory)
        self.kept: list[RowPiece] = []  # pieces for its own target; those of rows that spilled are in a file
        self.file = TemporaryFile(dir=memory.spill_dir)  # noqa: SIM115 - until the rows are released

    def read(self, number: int, source: Any, options: dict[str, Any]) -> None:
        """Read a source, of which this is the number."""
        self.source.reads = number
        self.source.update(source, **options)

    def summarize(self, number: int, decision: Decision) -> bytes:
        return self.state.summary(decision)

    def cut(self, number: int, decision: Decision, folder: Path) -> None:
        """Write the pieces for other processes, a file for each."""
        in_memory = self.source.in_memory
        with ExitStack() as stack:
            others = {target for target in range(decision.targets) if target != number}
            files = {other: stack.enter_context(open(folder / f"{number}-{other}", "wb")) for other in others}
            for piece in self.source.cut(decision):
                if piece.target == number and in_memory:
                    self.kept.append(piece)
                else:
                    piece.write(files.get(piece.target, self.file))
        self.source.close()

    def combine(self, number: int, decision: Decision, folder: Path) -> None:
        """Make the state of the target of the same number from its pieces."""
        self.state = self.plan.combine(self.take_pieces(folder, number), decision, *self.memory)

    def take_pieces(self, folder: Path, number: int) -> Iterator[RowPiece]:
        while self.kept:
            yield self.kept.pop()
        yield from read_file(self.file)
        for path in folder.glob(f"*-{number}"):
            with open(path, "rb") as file:
                yield from read_file(file)

    def close(self, number: int) -> None:
        """Release the rows."""
        for name in ("source", "state", "file"):
            if hasattr(self, name):
                getattr(self, name).close()
        self.__dict__.clear()


def read_file(file: BinaryIO) -> Iterator[RowPiece]:
    """The pieces in a file, whose rows are not copied."""
    file.flush()
    if os.fstat(file.fileno()).st_size:
        yield from read_pieces(mmap(file.fileno(), 0, access=ACCESS_READ))


WORKER = Process()  # that of a worker


def call(step: Any, *arguments: Any) -> Any:
    return step(WORKER, *arguments)
