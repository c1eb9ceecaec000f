"""`python -m bench`: one run of all files, kept after each, and pages that say where they are not one whole run."""

import ast
import copy
import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "bench/__main__.py").is_file(), reason="no benchmarks beside the tests")


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("bench.__main__")


def record(file):
    times = {"median": 1.0, "min": 1.0, "max": 1.0, "rounds": 3}
    return {
        "file": file, "test": "test", "work": f"work of {file}", "contestant": "peer", "ours": times, "peer": times,
        "unit": None, "note": None, "cores_of_others": 0.0,
    }  # fmt: skip


def run_of(file, **changes):
    machine = {"cpu": "one", "cores": 2, "memory_gb": 8.0, "system": "Linux"}
    versions = {"fastmetrics": "0.2.0", "python": "3.11"}
    return {
        "schema": 2, "date": "2026-11-28T00:00:00+00:00", "commit": {"id": "a", "dirty": False}, "rows": 10_000_000,
        "machine": machine, "load_average": {}, "versions": versions, "benchmarks": [record(file)],
    } | changes  # fmt: skip


@pytest.fixture
def measured(bench, monkeypatch):
    """What `measure_file` is called with; files of `bad` fail, and one of `cut` ends the process."""
    calls, bad, cut, changes = [], set(), set(), {}

    def measure_file(file, options):
        calls.append((file, tuple(options)))
        if file in cut:
            raise KeyboardInterrupt
        # What was written after the first file makes the checkout dirty.
        dirty = {"commit": {"id": "a", "dirty": len(calls) > 1}}
        found = run_of(file, **dirty, **changes)
        return (None, "AssertionError: the peer's value differs") if file in bad else (found, "")

    monkeypatch.setattr(bench, "measure_file", measure_file)
    return calls, bad, cut, changes


def test_a_run_has_all_files(bench, measured, tmp_path, capsys):
    path = tmp_path / "results.json"
    assert bench.main(["--results", str(path), "--rows", "500"]) == 0
    calls, *_ = measured
    assert calls == [(file, ("--rows=500",)) for file in bench.bench_files()]
    (run,) = bench.render.read_runs(path)
    assert list(run["files"]) == bench.bench_files()
    assert bench.render.missing_files([run]) == bench.render.warnings_of([run]) == []
    assert f"[{len(calls)}/{len(calls)}]" in capsys.readouterr().out


def test_a_run_that_is_cut_goes_on(bench, measured, tmp_path):
    path = tmp_path / "results.json"
    calls, _, cut, changes = measured
    files = bench.bench_files()
    cut.add(files[3])
    with pytest.raises(KeyboardInterrupt):
        bench.main(["--results", str(path)])
    assert list(bench.render.read_runs(path)[0]["files"]) == files[:3]
    cut.clear()
    calls.clear()
    changes["machine"] = {"cpu": "another"}
    with pytest.raises(SystemExit, match=r"measured with another machine: .*one.* and .*another"):
        bench.main(["--results", str(path), "--resume"])
    assert list(bench.render.read_runs(path)[0]["files"]) == files[:3]
    changes.clear()
    calls.clear()
    assert bench.main(["--results", str(path), "--resume"]) == 0
    assert [file for file, _ in calls] == files[3:]


def test_a_value_that_differs_fails_and_is_shown(bench, measured, tmp_path, capsys, monkeypatch):
    path = tmp_path / "results.json"
    calls, bad, *_ = measured
    bad.add(bench.bench_files()[1])
    monkeypatch.setattr(bench.render, "RESULTS", path)
    monkeypatch.setattr(bench.render, "main", lambda: pytest.fail("the pages are written"))
    assert bench.main(["--results", str(path)]) == 1
    printed = capsys.readouterr().out
    assert "the peer's value differs" in printed
    assert f"The pages are not written: not measured are {bench.bench_files()[1]}" in printed
    assert len(calls) == len(bench.bench_files())


def test_some_files_write_no_page(bench, measured, tmp_path, monkeypatch):
    monkeypatch.setattr(bench.render, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(bench.render, "main", lambda: pytest.fail("the pages are written"))
    assert bench.main(["--results", str(tmp_path / "results.json"), "--only", "test_auc.py"]) == 0
    assert [file for file, _ in measured[0]] == ["bench/curves/test_auc.py"]


def test_the_page_says_what_it_is_made_of(bench):
    whole = run_of("x") | {"benchmarks": [record(file) for file in bench.bench_files()]}
    assert bench.render.warnings_of([whole]) == []
    older = copy.deepcopy(whole) | {"date": "2026-11-20T00:00:00+00:00"}
    first, _ = bench.render.warnings_of([older, whole])
    assert first.startswith("**These are 2 runs** from 2026-11-20 to 2026-11-28")
    assert bench.render.warnings_of([whole | {"rows": 1000}])[0].startswith("**This is a quick run**: ")
    whole["benchmarks"].pop()
    assert bench.render.warnings_of([whole])[0] == f"**Not measured**: `{bench.bench_files()[-1]}`."


def test_a_file_is_measured_in_a_process_of_its_own(bench, monkeypatch):
    def run(command, **options):
        assert command[1:4] == ["-m", "pytest", "bench/x.py"]
        assert command[-1] == "--rows=5"
        output = Path(next(word for word in command if word.startswith("--benchmark-json=")).partition("=")[2])
        output.write_text(json.dumps({"benchmarks": []}))
        return bench.subprocess.CompletedProcess(command, code, printed, "err")

    monkeypatch.setattr(bench.subprocess, "run", run)
    code, printed = 0, "out"
    assert bench.measure_file("bench/x.py", ["--rows=5"]) == ({"benchmarks": []}, "outerr")
    code = 1
    assert bench.measure_file("bench/x.py", ["--rows=5"]) == (None, "outerr")
    code, printed = 0, "1 skipped\nSKIPPED [1] x.py: could not import 'ranx'\n"
    assert bench.measure_file("bench/x.py", ["--rows=5"]) == (None, printed + "err")


def test_what_benchmarks_import_from_the_package_is_there():
    """They run too rarely to notice it."""
    for path in sorted((ROOT / "bench").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "fastmetrics":
                module = importlib.import_module(node.module)
                for name in (alias.name for alias in node.names if not hasattr(module, alias.name)):
                    importlib.import_module(f"{node.module}.{name}")
