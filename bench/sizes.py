"""Time, memory and disk of `evaluate` by rows, models and slices: the tables of docs/sizes.md.

    python -m bench.sizes                          measure all cells, then write bench/sizes.json and docs/sizes.md
    python -m bench.sizes --rows 100000 --print    a small run that writes nothing
    python -m bench.sizes --render                 write the tables of docs/sizes.md from bench/sizes.json

Each cell is a new process that evaluates a log which was written for it. Memory is the peak of that process. The disk
is that of the spill file, which has no name: its size is read from the open files of the process, so this runs on
Linux. Cells that take less than three seconds are measured three times; the median time counts, and the largest peak.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.machine import OtherWork, describe_machine
from bench.memory import peak_of_this_process

ROOT = Path(__file__).resolve().parents[1]
RESULTS, PAGE = Path(__file__).with_name("sizes.json"), ROOT / "docs" / "sizes.md"
ROWS = (1_000_000, 10_000_000, 100_000_000)
MODELS, SLICES = (1, 5, 20), (0, 28, 1_000, 10_000)
MIXED, SUMS, ORDER, GROUPS = "auc,gauc,ne", "logloss,ne,copc", "auc", "gauc"
GREATEST_WITH_MODELS = 10_000_000  # rows of logs that have all models
MOST_SLICES = 20_000  # of all models together
ROW_GROUP = 1_000_000
SHORT, TURNS = 3.0, 3
POLL_SECONDS = 0.01


@dataclass(frozen=True)
class Cell:
    """One evaluation. `slices` is the number of values of the column that divides the rows, 0 without one."""

    rows: int
    models: int = 1
    slices: int = 0
    metrics: str = MIXED
    intervals: bool = False
    limit: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        scores = [f"model_{number}" for number in range(self.models)]
        options: dict[str, Any] = {"label": "click", "score": scores, "group": "user_id", "memory_limit": self.limit}
        if self.slices:
            options["by"] = f"slice_{self.slices}"
        if self.intervals:
            options["ci"] = 0.95
        return options


def cells_of(rows: int) -> Iterator[Cell]:
    """The cells of a log: a grid of models and slices, kinds of metrics, intervals, and limits of memory."""
    wide = rows <= GREATEST_WITH_MODELS
    for models in MODELS if wide else MODELS[:1]:
        for slices in SLICES if wide else SLICES[:-1]:
            if models * slices <= MOST_SLICES:
                yield Cell(rows, models, slices)
    for metrics in (SUMS, ORDER, GROUPS) if wide else (SUMS,):
        yield Cell(rows, metrics=metrics)
    for slices in SLICES[:3] if wide else SLICES[:1]:
        yield Cell(rows, slices=slices, intervals=True)
    limit = f"{max(64, rows // 100_000)}MiB"
    for slices in SLICES[:2]:
        yield Cell(rows, slices=slices, limit=limit)
    yield Cell(rows, intervals=True, limit=limit)


def write_log(path: Path, rows: int, models: int) -> None:
    """A click log: users by a power law, ten rows each on average; a column for each number of slices."""
    rng = np.random.default_rng(2_026)
    writer = None
    for start in range(0, rows, ROW_GROUP):
        n = min(ROW_GROUP, rows - start)
        truth = rng.beta(0.6, 11.0, n)
        columns: dict[str, Any] = {
            "user_id": (rows // 10 * rng.random(n) ** 2).astype(np.int64),
            "click": (rng.random(n) < truth).astype(np.int8),
        }
        for slices in SLICES[1:]:
            columns[f"slice_{slices}"] = rng.integers(0, slices, n, dtype=np.int32)
        for number in range(models):
            noise = rng.normal(0.0, 0.2 + 0.02 * number, n)
            columns[f"model_{number}"] = np.clip(truth * np.exp(noise), 1e-6, 1 - 1e-6).astype(np.float32)
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


# ------------------------------------------------------------------------------------------------------- measuring


def measure(path: Path, cell: Cell) -> dict[str, Any]:
    """The cell with its time, peak memory and peak of the spill file."""
    runs = [run_once(path, cell)]
    while len(runs) < TURNS and runs[0]["seconds"] < SHORT:
        runs.append(run_once(path, cell))
    peaks = {name: max(run[name] for run in runs) for name in ("peak", "disk")}
    seconds = statistics.median(run["seconds"] for run in runs)
    return asdict(cell) | {"seconds": round(seconds, 3), "start": runs[0]["start"]} | peaks


def run_once(path: Path, cell: Cell) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=path.parent) as spill_dir:
        command = [sys.executable, "-m", "bench.sizes", "--cell", json.dumps(asdict(cell)), "--log", str(path)]
        own = subprocess.Popen([*command, "--spill", spill_dir], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        disk = 0
        while own.poll() is None:
            disk = max(disk, bytes_of_unnamed_files(own.pid, spill_dir))
            time.sleep(POLL_SECONDS)
        output, _ = own.communicate()
    if own.returncode:
        raise RuntimeError(f"{cell} failed")
    return json.loads(output) | {"disk": disk}


def bytes_of_unnamed_files(pid: int, folder: str) -> int:
    """The bytes on disk of files of a folder that a process has open and that have no name any more."""
    total = 0
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            descriptor = f"/proc/{pid}/fd/{number}"
            if os.readlink(descriptor).startswith(f"{folder}/"):
                total += 512 * os.stat(descriptor).st_blocks
    except OSError:
        return total  # the process or the file is gone
    return total


def evaluate_cell(path: Path, cell: Cell, spill_dir: str) -> dict[str, Any]:
    """In a process of its own: a tiny log first, which imports all modules and starts the threads."""
    import fastmetrics

    tiny = pq.ParquetFile(path).iter_batches(1_000)
    fastmetrics.evaluate(pa.table(pa.Table.from_batches([next(tiny)])), cell.metrics, **cell.options)
    start = peak_of_this_process()
    begin = time.perf_counter()
    fastmetrics.evaluate(path, cell.metrics, spill_dir=spill_dir, **cell.options)
    return {"seconds": time.perf_counter() - begin, "start": start, "peak": peak_of_this_process()}


def measure_all(sizes: Iterable[int], folder: Path) -> dict[str, Any]:
    """Every cell of logs of these sizes, on the disk of a folder."""
    cells, logs = [], {}
    other = OtherWork()
    for rows in sizes:
        path = folder / "log.parquet"
        write_log(path, rows, max(MODELS) if rows <= GREATEST_WITH_MODELS else 1)
        logs[str(rows)] = path.stat().st_size
        for cell in cells_of(rows):
            cells.append(measure(path, cell))
            print(sentence(cells[-1]), file=sys.stderr)
        path.unlink()
    import fastmetrics

    day = datetime.date.today().isoformat()
    machine = describe_machine() | {"other_cores": other.cores()}
    return {"date": day, "version": fastmetrics.__version__, "machine": machine, "logs": logs, "cells": cells}


def sentence(found: dict[str, Any]) -> str:
    what = f"{found['rows']:,} rows, {found['models']} models, {found['slices']} slices, {found['metrics']}"
    more = f"{', intervals' if found['intervals'] else ''}{', limit ' + found['limit'] if found['limit'] else ''}"
    return f"{what}{more}: {found['seconds']:.2f} s, {size_text(found['peak'])}, disk {size_text(found['disk'])}"


# ------------------------------------------------------------------------------------------------------- the page


def size_text(number: float) -> str:
    """Bytes with two digits or more, in units of 1,024."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20)):
        if number >= size:
            return f"{number / size:.1f} {unit}" if number < 10 * size else f"{number / size:.0f} {unit}"
    return "–" if not number else f"{number / 1024:.0f} KiB"


def seconds_text(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def tables(results: dict[str, Any]) -> str:
    """What stands between the marks of the page."""
    cells, machine = results["cells"], results["machine"]
    sizes = sorted({one["rows"] for one in cells})
    start = size_text(statistics.median(one["start"] for one in cells))
    busy = machine["other_cores"]
    lines = [
        f"Measured on {results['date']} with version {results['version']}: {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_gb']:.0f} GB{busy_text(busy)}. The process takes {start} for a thousand rows: Python, "
        "NumPy, pyarrow and a batch of the file. It is part of every peak.",
        "",
        "Time and peak memory of `auc`, `gauc` and `ne`, without a memory limit:",
        "",
        f"| rows | models | {' | '.join(slices_text(slices) for slices in SLICES)} |",
        f"| --: | --: |{' --: |' * len(SLICES)}",
    ]
    plain = {(one["rows"], one["models"], one["slices"]): one for one in cells if is_plain(one)}
    for rows in sizes:
        for models in MODELS:
            own = [plain.get((rows, models, slices)) for slices in SLICES]
            if any(own):
                texts = [f"{seconds_text(one['seconds'])}, {size_text(one['peak'])}" if one else "–" for one in own]
                lines.append(f"| {rows:,} | {models} | {' | '.join(texts)} |")
    lines += ["", "One model; intervals are 95% by user:", ""]
    lines += ["| rows | metrics | slices | memory limit | time | peak memory | spill file |"]
    lines += ["| --: | --- | --: | --: | --: | --: | --: |"]
    for one in cells:
        if not is_plain(one):
            metrics = ", ".join(f"`{name}`" for name in one["metrics"].split(","))
            metrics += ", intervals" if one["intervals"] else ""
            limit = (one["limit"] or "–").replace("MiB", " MiB")
            lines.append(
                f"| {one['rows']:,} | {metrics} | {one['slices']:,} | {limit} | {seconds_text(one['seconds'])} | "
                f"{size_text(one['peak'])} | {size_text(one['disk'])} |"
            )
    return "\n".join(lines)


def is_plain(one: dict[str, Any]) -> bool:
    return one["metrics"] == MIXED and not one["intervals"] and one["limit"] is None


def slices_text(slices: int) -> str:
    return f"{slices:,} slices" if slices else "no slices"


def busy_text(cores: float | None) -> str:
    return f", other work on {cores:.1f} of them" if cores and cores >= 0.1 else ""


def rendered(page: str, results: dict[str, Any]) -> str:
    """The page with the tables of these results."""
    before, _, rest = page.partition("<!-- sizes -->\n")
    _, _, after = rest.partition("<!-- /sizes -->\n")
    return f"{before}<!-- sizes -->\n{tables(results)}\n<!-- /sizes -->\n{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="sizes of logs")
    parser.add_argument("--folder", type=Path, help="a folder for logs and spill files: a disk, no memory")
    parser.add_argument("--print", action="store_true", help="print the tables and write nothing")
    parser.add_argument("--render", action="store_true", help="measure nothing")
    for name in ("--cell", "--log", "--spill"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        found = evaluate_cell(Path(arguments.log), Cell(**json.loads(arguments.cell)), arguments.spill)
        print(json.dumps(found))
        return
    if arguments.render:
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
    else:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            results = measure_all(arguments.rows, Path(folder))
    if arguments.print:
        print(tables(results))
        return
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()
