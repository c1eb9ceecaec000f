"""Measure everything on this machine, in one go: python -m bench

    python -m bench                     all files, then docs/benchmarks.md, docs/speed.svg and the README's table
    python -m bench --resume            go on where a run was cut: files that were measured are not measured again
    python -m bench --only ranking      some files; the pages are not written
    python -m bench --rows 100000 --results /tmp/quick.json      a quick try, elsewhere

bench/text/test_rouge.py reads texts of WMT17: FASTMETRICS_DATA names the folder that has wmt17_ende/.

After each file, bench/results.json has what was measured so far, with machine, versions, commit and rows: they are the
same for all files of a run. The pages are written once every file was measured and no peer's value differed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import render

# What has to be the same for all files of a run.
SAME = ("machine", "versions", "commit", "rows")
Run = dict[str, Any]


def bench_files(only: Sequence[str] = ()) -> list[str]:
    """All files, or those whose path has one of the words."""
    paths = sorted(path.relative_to(render.ROOT).as_posix() for path in (render.ROOT / "bench").rglob("test_*.py"))
    return [path for path in paths if not only or any(word in path for word in only)]


def measure_file(file: str, options: Sequence[str]) -> tuple[Run | None, str]:
    """The run of one file in a process of its own, and what it printed; None if a test failed or a peer is missing."""
    with tempfile.TemporaryDirectory(prefix="fastmetrics-bench-") as folder:
        output = Path(folder) / "run.json"
        command = [sys.executable, "-m", "pytest", file, "-q", "-rs", "-p", "no:cacheprovider"]
        command += [f"--benchmark-json={output}", *options]
        done = subprocess.run(command, cwd=render.ROOT, capture_output=True, text=True)
        found = json.loads(output.read_text(encoding="utf-8")) if output.is_file() else None
        whole = done.returncode == 0 and "\nSKIPPED [" not in done.stdout
        return (found if whole else None), done.stdout + done.stderr


def difference(one: Run, other: Run) -> str | None:
    """What two runs do not have in common, in words; None if they may be one."""
    for name in SAME:
        # The file of results makes the checkout dirty after the first file.
        same = one[name]["id"] == other[name]["id"] if name == "commit" else one[name] == other[name]
        if not same:
            return f"{name}: {one[name]} and {other[name]}"
    return None


def join(run: Run | None, found: Run, file: str, seconds: float) -> Run:
    """The run with one more file."""
    if run is None:
        run = {name: found[name] for name in ("schema", "date", *SAME)} | {"files": {}, "benchmarks": []}
    elif (words := difference(run, found)) is not None:
        raise SystemExit(f"{file} was measured with another {words}; begin again without --resume")
    run["benchmarks"] += found["benchmarks"]
    run["files"][file] = {"seconds": round(seconds, 1), "load_average": found["load_average"]}
    return run


def write(path: Path, run: Run) -> None:
    """Replace the file at once: a run that is cut leaves what was measured before."""
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps({"runs": [run]}, indent=1) + "\n", encoding="utf-8")
    os.replace(temporary, path)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--resume", action="store_true", help="keep the files that were measured already")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="files whose path has one of these words")
    parser.add_argument("--rows", type=int, help="rows of the large workloads (default: 10 million)")
    parser.add_argument("--results", type=Path, default=render.RESULTS, help="the file to write")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    files = bench_files(options.only)
    run: Run | None = None
    if options.resume and options.results.is_file():
        runs = render.read_runs(options.results)
        if len(runs) != 1 or "files" not in runs[0]:
            raise SystemExit(f"{options.results} has several runs, none of which can be resumed")
        run = runs[0]
    started = time.perf_counter()
    failed = []
    for number, file in enumerate(files, 1):
        if run is not None and file in run["files"]:
            continue
        print(f"[{number}/{len(files)}] {file} ...", end="", flush=True)
        before = time.perf_counter()
        found, printed = measure_file(file, [f"--rows={options.rows}"] if options.rows else [])
        seconds = time.perf_counter() - before
        if found is None:
            failed.append(file)
            print(f" FAILED after {seconds:.0f} s\n{printed[-6000:]}", flush=True)
            continue
        run = join(run, found, file, seconds)
        write(options.results, run)
        print(f" {len(found['benchmarks'])} rows, {seconds:.0f} s", flush=True)
    print(f"{time.perf_counter() - started:.0f} s in all")
    missing = [] if run is None else render.missing_files([run])
    if failed or missing or run is None:
        print(f"The pages are not written: not measured are {', '.join(sorted({*failed, *missing}) or ['all files'])}")
        print("python -m bench --resume measures what is missing")
        return 1 if failed or not options.only else 0
    if options.results == render.RESULTS:
        render.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
