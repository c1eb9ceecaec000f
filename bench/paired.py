"""Two checkouts of the project beside each other: the main rows of the benchmarks, timed in pairs on one machine.

A worker process runs each checkout, for all rows. Both make the same data. Before a row is timed, both sides must give
the same answer, to the last bit. Then they take turns: before, after; after, before; ... Only one works at a time, and
both make the same number of calls. The ratio of a pair is the time of `before` over that of `after`: above 1 the new
code is faster. The ratio of a row is the median of its pairs.

Another program at work slows both sides, so it changes a ratio little. What differs between two processes, such as
where their memory lies, can change it: compare a checkout with itself to see how far ratios are from 1 on this machine.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Protocol

from bench.machine import OtherWork, describe_machine, load_average

SCHEMA = 1
DEFAULT_ROWS = 10_000_000
DEFAULT_PAIRS = 7
TURN_SECONDS = 0.06  # at least, of the faster side
LONG_TURN_SECONDS = 0.5  # of the slower side, unless one call takes longer
LOW_RATIO = 0.93  # a row below it is measured again
SMALL_LOG_ROWS = 1000
WORKER = Path(__file__).resolve().with_name("paired_worker.py")
NAME_WIDTH = 48
EXAMPLES = """\
examples:
  python -m bench.paired --before ../released --after .
  python -m bench.paired --before ../released --after . --json paired.json
  python -m bench.paired --before ../released --after . --only gauc --only evaluate --pairs 15
  python -m bench.paired --before . --after . --rows 200_000 --pairs 3      how far apart two runs of one checkout are

Extension modules must be built in both checkouts (python setup.py build_ext --inplace). The exit status is 1 if answers
differ or a row fails in one of them, whatever the times are.
"""


class RowError(Exception):
    """A row cannot be timed: it raised, or both sides do not give the same answer."""


@dataclass(frozen=True)
class Measurement:
    """Seconds are medians of one call."""

    name: str
    before: float
    after: float
    ratio: float
    min: float
    max: float
    calls: int
    pairs: int
    first_ratio: float | None = None  # of the first measurement, where it was low and the row measured again


class Answer(NamedTuple):
    digest: str
    shown: str


class Side(Protocol):
    """One checkout at work on one kind of rows."""

    def start_preparing(self, name: str) -> None: ...

    def prepared(self) -> Answer: ...

    def seconds(self, calls: int) -> float: ...


# --- rows in a worker process -----------------------------------------------------------------------------------------


class WorkerSide:
    """Rows of `bench.paired_rows`, in a process that lives as long as the benchmark."""

    def __init__(self, checkout: Path, n_rows: int, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER), str(checkout), str(n_rows), str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(checkout, folder), cwd=folder,
        )  # fmt: skip

    def send(self, **request: Any) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.stop()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.stop()
        reply = json.loads(line)
        if "error" in reply:
            raise RowError(reply["error"])
        return reply

    def stop(self) -> NoReturn:
        raise SystemExit(f"a worker ended with status {self.process.wait()}; its error is above")

    def description(self) -> dict[str, Any]:
        """Names of the rows, and versions."""
        self.send(do="describe")
        return self.receive()

    def start_preparing(self, name: str) -> None:
        self.send(do="prepare", row=name)

    def prepared(self) -> Answer:
        return Answer(**self.receive())

    def seconds(self, calls: int) -> float:
        self.send(do="time", calls=calls)
        return self.receive()["seconds"]

    def peak_memory(self) -> int:
        self.send(do="memory")
        return self.receive()["bytes"]

    def close(self) -> None:
        """The worker ends when nothing more can come."""
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        self.process.wait()


def environment(checkout: Path, folder: Path) -> dict[str, str]:
    """The checkout is first on the path. Bytecode is written, as installers do, but not into the checkout."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {
        "PYTHONPATH": str(checkout), "PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "NO_COLOR": "1", "COLUMNS": "120"
    }  # fmt: skip


# --- rows that are whole processes ------------------------------------------------------------------------------------


class ProcessRow(NamedTuple):
    """A command of the interpreter. `reported`: it prints the seconds itself; else the whole process is timed."""

    arguments: list[str]
    reported: bool = False
    answer: Callable[[str], str] | None = None  # what is compared of the output, which may name a version


def import_code(statement: str) -> str:
    return f"import time\nstart = time.perf_counter()\n{statement}\nprint(time.perf_counter() - start)"


def json_values(output: str) -> str:
    return json.dumps([[one["metric"], one["value"]] for one in json.loads(output)["results"]])


PROCESS_ROWS = {
    "process: import fastmetrics": ProcessRow(["-c", import_code("import fastmetrics")], reported=True),
    "process: import of all public names": ProcessRow(["-c", import_code("from fastmetrics import *")], reported=True),
    "process: import of evaluate": ProcessRow(["-c", import_code("from fastmetrics import evaluate")], reported=True),
    "process: fastmetrics --help": ProcessRow(["-m", "fastmetrics", "--help"]),
    "process: fastmetrics evaluate of a small file": ProcessRow(
        [
            *("-m", "fastmetrics", "evaluate", "../small.parquet"),
            *("--label", "click", "--score", "pctr", "--format", "json"),
        ],
        answer=json_values,
    ),
}


class ProcessSide:
    """Rows that start a new process for every call."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        self.environment = environment(checkout, folder)
        self.folder = folder
        self.row: ProcessRow | None = None
        found = Path(self.run(["-c", "import fastmetrics; print(fastmetrics.__file__)"]).strip()).resolve()
        assert found.is_relative_to(checkout), f"fastmetrics is {found}, outside of {checkout}"

    def run(self, arguments: list[str]) -> str:
        run = subprocess.run(
            [sys.executable, *arguments], env=self.environment, cwd=self.folder, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if run.returncode != 0:
            raise RowError(f"exit status {run.returncode}: {run.stderr.strip()[-500:]}")
        return run.stdout

    def start_preparing(self, name: str) -> None:
        self.row = PROCESS_ROWS[name]

    def prepared(self) -> Answer:
        """The first run also compiles bytecode."""
        assert self.row is not None
        output = self.run(self.row.arguments)
        assert output
        answer = "" if self.row.answer is None else self.row.answer(output)
        return Answer(answer, answer)

    def seconds(self, calls: int) -> float:
        assert self.row is not None
        seconds = 0.0
        for _ in range(calls):
            start = time.perf_counter()
            output = self.run(self.row.arguments)
            seconds += float(output) if self.row.reported else time.perf_counter() - start
        return seconds


def write_small_log(path: Path) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet

    from bench.workloads import clicks

    data = clicks(SMALL_LOG_ROWS)
    columns = {"click": data.labels.astype(np.int8), "pctr": data.probabilities}
    pyarrow.parquet.write_table(pa.table(columns), path)


# --- measuring --------------------------------------------------------------------------------------------------------


def prepare(name: str, sides: tuple[Side, Side]) -> None:
    """Both sides give the same answer, or nothing is timed. Making data is not timed, so both do it at once."""
    for side in sides:
        side.start_preparing(name)
    answers, errors = [], []
    for label, side in zip(("before", "after"), sides, strict=True):
        try:
            answers.append(side.prepared())
        except RowError as error:
            errors.append(f"{label}: {error}")
    if errors:
        raise RowError("\n".join(errors))
    before, after = answers
    if before.digest != after.digest:
        raise RowError(f"answers differ\nbefore: {before.shown}\nafter: {after.shown}")


def calibrate(sides: tuple[Side, Side]) -> int:
    """How many calls last a turn on the faster side; fewer where the slower side would take too long for them."""
    calls = 1
    while True:
        seconds = [side.seconds(calls) for side in sides]
        fast, slow = min(seconds), max(seconds)
        if fast >= TURN_SECONDS / 2 or slow >= LONG_TURN_SECONDS:
            return max(1, min(math.ceil(calls * TURN_SECONDS / fast), math.floor(calls * LONG_TURN_SECONDS / slow)))
        calls *= 10 if slow < TURN_SECONDS / 20 else 2


def measure(name: str, sides: tuple[Side, Side], calls: int, n_pairs: int) -> Measurement:
    before, after = sides
    pairs: list[tuple[float, float]] = []
    for number in range(n_pairs):
        if number % 2 == 0:
            old = before.seconds(calls)
            new = after.seconds(calls)
        else:
            new = after.seconds(calls)
            old = before.seconds(calls)
        pairs.append((old / calls, new / calls))
    ratios = [old / new for old, new in pairs]
    old_seconds, new_seconds = zip(*pairs, strict=True)
    return Measurement(
        name, statistics.median(old_seconds), statistics.median(new_seconds), statistics.median(ratios), min(ratios),
        max(ratios), calls, n_pairs,
    )  # fmt: skip


def measure_row(name: str, sides: tuple[Side, Side], n_pairs: int) -> Measurement:
    """A low ratio may be chance: then the row is measured once more, by more pairs, which are what is reported."""
    prepare(name, sides)
    calls = calibrate(sides)
    first = measure(name, sides, calls, n_pairs)
    if first.ratio >= LOW_RATIO:
        return first
    again = measure(name, sides, calls, 2 * n_pairs + 1)
    return Measurement(**(asdict(again) | {"first_ratio": first.ratio}))


# --- what is printed and written --------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def line_of(row: Measurement) -> str:
    again = "" if row.first_ratio is None else f"  measured again with {row.pairs} pairs, first {row.first_ratio:.3f}"
    spread = f"{row.min:.3f} to {row.max:.3f}"
    return (
        f"{row.name:{NAME_WIDTH}} {duration(row.before):>9} {duration(row.after):>9}  {row.ratio:.3f}  {spread}{again}"
    )


def summary_of(rows: list[Measurement]) -> dict[str, Any]:
    if not rows:
        return {"geometric_mean": None, "lowest": None, "low_rows": []}
    lowest = min(rows, key=lambda row: row.ratio)
    return {
        "geometric_mean": statistics.geometric_mean(row.ratio for row in rows),
        "lowest": {"name": lowest.name, "ratio": lowest.ratio},
        "low_rows": [row.name for row in rows if row.ratio < LOW_RATIO],
    }


def git(checkout: Path, *arguments: str) -> str | None:
    command = ["git", "--no-optional-locks", "-C", str(checkout), *arguments]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return run.stdout.strip() if run.returncode == 0 else None


def commit_of(checkout: Path) -> dict[str, Any]:
    changes = git(checkout, "status", "--porcelain", "--untracked-files=no")
    return {"id": git(checkout, "rev-parse", "HEAD"), "dirty": None if changes is None else bool(changes)}


def print_summary(record: dict[str, Any], n_rows: int) -> None:
    summary = record["summary"]
    print()
    if summary["lowest"] is not None:
        lowest = summary["lowest"]
        print(f"geometric mean of {n_rows} ratios: {summary['geometric_mean']:.3f}")
        print(f"lowest: {lowest['ratio']:.3f}, {lowest['name']}")
        print(f"below {LOW_RATIO} after a second measurement: {', '.join(summary['low_rows']) or 'none'}")
    if record["failures"]:
        print(f"not timed: {', '.join(one['name'] for one in record['failures'])}")
    memory = [f"{name} {found / 2**20:,.0f} MiB" for name, found in record["peak_memory"].items()]
    print(f"peak memory of the workers: {', '.join(memory)}")
    load = record["load_average"]
    print(f"load average: {load['before']} before, {load['after']} after; cores of others: {record['cores_of_others']}")
    print(f"seconds: {record['seconds']:.0f}")


# --- the run ----------------------------------------------------------------------------------------------------------


@contextmanager
def workers(checkouts: list[Path], n_rows: int, folder: Path) -> Iterator[tuple[WorkerSide, WorkerSide]]:
    started: list[WorkerSide] = []
    try:
        for checkout, name in zip(checkouts, ("before", "after"), strict=True):
            started.append(WorkerSide(checkout, n_rows, folder / name))
        yield started[0], started[1]
    finally:
        for worker in started:
            worker.close()


def chosen(names: list[str], wanted: list[str]) -> list[str]:
    return [name for name in names if not wanted or any(text.lower() in name.lower() for text in wanted)]


def run_rows(checkouts: list[Path], options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    measured: list[Measurement] = []
    failures: list[dict[str, str]] = []

    def run(names: list[str], sides: tuple[Side, Side]) -> None:
        for name in names:
            try:
                measured.append(measure_row(name, sides, options.pairs))
                print(line_of(measured[-1]), flush=True)
            except RowError as error:
                failures.append({"name": name, "error": str(error)})
                print(f"{name:{NAME_WIDTH}} not timed\n{error}", flush=True)

    for name in ("before", "after"):
        (folder / name).mkdir()
    write_small_log(folder / "small.parquet")
    processes = ProcessSide(checkouts[0], folder / "before"), ProcessSide(checkouts[1], folder / "after")
    with workers(checkouts, options.rows, folder) as sides:
        descriptions = {name: side.description() for name, side in zip(("before", "after"), sides, strict=True)}
        names = chosen([*descriptions["before"]["rows"], *PROCESS_ROWS], options.only)
        if not names:
            raise SystemExit(f"no row has {' or '.join(map(repr, options.only))} in its name")
        print(f"{'row':{NAME_WIDTH}} {'before':>9} {'after':>9}  ratio  of the pairs")
        run([name for name in names if name not in PROCESS_ROWS], sides)
        memory = {name: side.peak_memory() for name, side in zip(("before", "after"), sides, strict=True)}
    run([name for name in names if name in PROCESS_ROWS], processes)
    return {
        "versions": {name: found["versions"] for name, found in descriptions.items()},
        "summary": summary_of(measured), "peak_memory": memory, "rows": list(map(asdict, measured)),
        "failures": failures,
    }  # fmt: skip


def arguments_of(command: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.paired", description=__doc__, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--before", type=Path, required=True, metavar="DIR", help="the checkout to compare with, built")
    parser.add_argument("--after", type=Path, required=True, metavar="DIR", help="the checkout to judge, built")
    parser.add_argument(
        "--rows", type=int, default=DEFAULT_ROWS, metavar="N",
        help="size of the large data; other data are in proportion (default: 10_000_000)",
    )  # fmt: skip
    parser.add_argument(
        "--only", action="append", default=[], metavar="TEXT", help="only rows with this text in their name; repeatable"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON too")
    parser.add_argument(
        "--pairs", type=int, default=DEFAULT_PAIRS, metavar="N", help=f"pairs of turns a row (default: {DEFAULT_PAIRS})"
    )
    options = parser.parse_args(command)
    for name in ("before", "after"):
        if not (getattr(options, name) / "fastmetrics" / "__init__.py").is_file():
            parser.error(f"--{name} {getattr(options, name)} has no package fastmetrics")
    if options.rows < 10_000:
        parser.error("--rows must be at least 10000")
    if options.pairs < 1:
        parser.error("--pairs must be at least 1")
    return options


def main(command: list[str] | None = None) -> int:
    options = arguments_of(command)
    checkouts = [options.before.resolve(), options.after.resolve()]
    start, load, others = time.perf_counter(), load_average(), OtherWork()
    machine = describe_machine()
    commits = {name: commit_of(checkout) for name, checkout in zip(("before", "after"), checkouts, strict=True)}
    for name, commit in commits.items():
        print(f"{name}: commit {commit['id']}{', with changes' if commit['dirty'] else ''}")
    print(f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB; {options.rows:,} rows\n")
    with tempfile.TemporaryDirectory(prefix="paired-") as folder:
        found = run_rows(checkouts, options, Path(folder))
    record = {
        "schema": SCHEMA, "date": datetime.now(UTC).isoformat(timespec="seconds"), **commits, "size": options.rows,
        "pairs": options.pairs,
        "machine": machine, "load_average": {"before": load, "after": load_average()},
        "cores_of_others": others.cores(), "seconds": time.perf_counter() - start, **found,
    }  # fmt: skip
    print_summary(record, len(found["rows"]))
    if options.json is not None:
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
