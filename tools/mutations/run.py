"""Mutation check: break the code in known ways, one at a time, and ask whether the tests notice.

kernels.toml and python.toml hold the mutations: what each breaks, the file, the text that is replaced, and the test
files that are expected to fail. The check works in copies of the repository in a temporary folder; nothing is written
to the repository itself. It wants the kernels built in place (`pip install -e '.[test]'`).

A mutation is `killed` when a test fails, the interpreter crashes in a test, or the tests take too long; `survived`
when all tests pass; `broken` when it does not build, cannot be imported, or no test runs. Exit status: 0 if all are
killed, 1 if not, 2 if a mutation does not fit the repository: its text does not occur exactly once, or a test file is
missing.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mutation_list import KINDS, ROOT, Mutation, misfits, read_mutations
from working_copies import BROKEN, KILLED, SURVIVED, Copy, Outcome, verdict_of

EXAMPLES = """examples:
  python tools/mutations/run.py                                    all mutations, two at a time
  python tools/mutations/run.py --list --only python               what there is
  python tools/mutations/run.py minus-zero-ties carry-dropped      some of them, by name
  python tools/mutations/run.py --workers 1 --json results.json    one at a time, results kept
  python tools/mutations/run.py --check-clean                      do the listed tests pass without a mutation?
"""


class Check:
    """Workers with a copy each, and what they found so far."""

    def __init__(self, folder: Path, workers: int, timeout: float) -> None:
        self.folder = folder
        self.workers = workers
        self.timeout = timeout
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.errors: list[str] = []

    def copies(self) -> list[Copy]:
        n_compilers = max(1, (os.cpu_count() or 1) // self.workers)
        first = Copy(self.folder / "worker-0", max(1, os.cpu_count() or 1), self.stop)
        first.fill(ROOT)
        try:
            stale = first.make_current()
        except RuntimeError as error:
            raise SystemExit(f"the repository does not build without a mutation:\n{error}") from error
        if stale:
            say(f"built for the copies, for they were older than their sources: {', '.join(stale)}")
        first.n_compilers = n_compilers
        copies = [first]
        for number in range(1, self.workers):
            own = Copy(self.folder / f"worker-{number}", n_compilers, self.stop)
            shutil.copytree(first.root, own.root)
            own.add_plugin()
            copies.append(own)
        return copies

    def for_each(self, tasks: Sequence[Any], work: Callable[[Copy, Any], None]) -> None:
        """work(copy, task) for all tasks, by as many threads as there are copies."""
        waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for task in tasks:
            waiting.put(task)

        def take(copy: Copy) -> None:
            while not self.stop.is_set():
                try:
                    task = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    work(copy, task)
                except BaseException as error:  # noqa: BLE001 - told by the main thread
                    self.errors.append(str(error) or repr(error))
                    self.stop.set()

        threads = [threading.Thread(target=take, args=(copy,)) for copy in self.copies()]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            self.stop.set()
            for thread in threads:
                thread.join()
            raise
        if self.errors:
            raise SystemExit(self.errors[0])

    def judge_all(self, mutations: Sequence[Mutation]) -> list[Outcome]:
        outcomes: list[Outcome] = []

        def work(copy: Copy, own: Mutation) -> None:
            outcome = copy.judge(own, self.timeout)
            if self.stop.is_set():
                return
            with self.lock:
                outcomes.append(outcome)
                seconds = f"{outcome.build_seconds:5.1f} s build {outcome.test_seconds:5.1f} s tests"
                say(f"{outcome.verdict:8} {seconds}  {own.name}  {outcome.why}")

        self.for_each(mutations, work)
        order = [own.name for own in mutations]
        return sorted(outcomes, key=lambda own: order.index(own.name))

    def check_clean(self, mutations: Sequence[Mutation]) -> bool:
        """Do all test files that mutations name pass as they are?"""
        tests = sorted({test for own in mutations for test in own.tests})
        failed: list[str] = []

        def work(copy: Copy, test: str) -> None:
            started = time.monotonic()
            status, output, notes = copy.test([test], self.timeout)
            verdict, why = verdict_of(status, output, notes, self.timeout)
            with self.lock:
                if verdict != SURVIVED:
                    failed.append(test)
                word = "passes" if verdict == SURVIVED else "FAILS"
                say(f"{word:6} {time.monotonic() - started:5.1f} s  {test}  {why}")

        self.for_each(tests, work)
        say(f"{len(tests) - len(failed)} of {len(tests)} test files pass without a mutation")
        return not failed


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def list_mutations(mutations: Sequence[Mutation]) -> None:
    for own in mutations:
        say(f"{own.name} ({own.kind}): {own.breaks}\n    {own.path}; {', '.join(own.tests)}")
    say(f"{len(mutations)} mutations")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutations to try; default: all")
    parser.add_argument("--only", choices=KINDS, help="those of kernels, or those of Python code")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="how many at a time (default: 2)")
    parser.add_argument(
        "--timeout", type=float, default=300.0, metavar="SECONDS",
        help="for the tests of one mutation; longer counts as killed (default: 300)",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there, too")
    parser.add_argument("--list", action="store_true", help="list the mutations and end")
    parser.add_argument("--check-clean", action="store_true", help="run the listed test files without a mutation")
    arguments = parser.parse_args()
    if arguments.workers < 1 or not arguments.timeout > 0:
        parser.error("--workers and --timeout must be above 0")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    # An end by a time limit, too, stops the tests that run and removes the copies.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    known = read_mutations()
    unknown = sorted(set(arguments.names) - {own.name for own in known})
    if unknown:
        say(f"no such mutation: {', '.join(unknown)}; --list names them all")
        return 2
    names = arguments.names or [own.name for own in known]
    chosen = [own for own in known if own.name in names and arguments.only in (None, own.kind)]
    if arguments.list:
        list_mutations(chosen)
        return 0
    problems = misfits(chosen, ROOT)
    if problems:
        say("\n".join(problems))
        return 2
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fastmetrics-mutations-") as folder:
        check = Check(Path(folder), arguments.workers, arguments.timeout)
        if arguments.check_clean:
            return 0 if check.check_clean(chosen) else 1
        outcomes = check.judge_all(chosen)
    counts = {verdict: sum(own.verdict == verdict for own in outcomes) for verdict in (KILLED, SURVIVED, BROKEN)}
    say(
        f"{', '.join(f'{n} {verdict}' for verdict, n in counts.items())} of {len(chosen)} mutations, "
        f"{time.monotonic() - started:.0f} s"
    )
    for own in outcomes:
        if own.verdict != KILLED:
            say(f"  {own.verdict}: {own.name} ({own.path})")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps([own._asdict() for own in outcomes], indent=2) + "\n", encoding="utf-8")
    return 0 if counts[KILLED] == len(chosen) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
