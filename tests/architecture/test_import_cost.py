"""What `import fastmetrics` may do: load nothing but itself, start no thread, change no environment variable.

A function loads NumPy and little else at its first use.
"""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

EXPENSIVE_MODULES = {
    "concurrent.futures", "duckdb", "logging", "matplotlib", "numpy", "pandas", "polars", "pyarrow", "pyspark", "rich",
    "scipy", "sklearn", "typer",
}  # fmt: skip

IMPORT_PROBE = """
import json, os, sys, _thread
LOADED

def state():
    # Threads of native libraries are counted too where the system tells.
    native = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
    return {"modules": sorted(sys.modules), "threads": [_thread._count(), native], "environment": dict(os.environ)}

before = state()
STATEMENT
print(json.dumps([before, state()]))
"""


def effects_of(statement: str, folder: Path, loaded: str = "import numpy") -> list[str]:
    """What the statement does to a fresh process that has run `loaded`, as complaints."""
    import fastmetrics

    # The fresh process sees the package that this one tests, installed or not.
    here = str(Path(fastmetrics.__file__).resolve().parents[1])
    program = IMPORT_PROBE.replace("STATEMENT", statement).replace("LOADED", loaded)
    probe = f"import sys; sys.path.append({here!r})\n{program}"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", probe], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    before, after = json.loads(run.stdout)
    added = set(after["modules"]) - set(before["modules"])
    complaints = [f"imports {name}" for name in sorted(added & EXPENSIVE_MODULES)]
    complaints += [f"changes {what}" for what in ("threads", "environment") if before[what] != after[what]]
    return complaints


def test_import_is_light_and_starts_nothing(tmp_path):
    assert not effects_of("import fastmetrics", tmp_path, loaded="")


def test_a_function_loads_numpy_and_little_else(tmp_path):
    assert not effects_of("from fastmetrics import roc_auc_score", tmp_path)


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("import concurrent.futures", "imports concurrent.futures"),
        ("import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()", "changes threads"),
        ("os.environ['OMP_NUM_THREADS'] = '1'", "changes environment"),
    ],
)
def test_heavy_import_is_found(tmp_path, statement, complaint):
    assert complaint in effects_of(statement, tmp_path)


def test_evaluate_leaves_pandas_alone(tmp_path):
    """Arrow's own conversion of a column to NumPy imports pandas, which takes a quarter of a second."""
    log = pa.table({"click": [0, 1, 0], "score": [0.1, 0.7, 0.4], "user": ["a", "b", "a"], "day": ["x", "y", "y"]})
    pq.write_table(log, tmp_path / "log.parquet")
    call = "evaluate('log.parquet', 'auc,gauc', label='click', score='score', group='user', by='day')"
    complaints = effects_of(call, tmp_path, loaded="from fastmetrics import evaluate")
    assert "imports pyarrow" in complaints
    assert "imports pandas" not in complaints
