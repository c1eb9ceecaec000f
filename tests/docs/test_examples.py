"""The examples run in real processes, from another folder, with warnings as errors."""

import subprocess
import sys
from pathlib import Path

import pytest

import fastmetrics as fm

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason=f"no examples to run: {EXAMPLES} is not a directory")


def run(folder, name, *arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_example_has_a_test():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"batch_scoring.py"}


def test_batch_scoring(tmp_path):
    done = run(tmp_path, "batch_scoring.py", "--workers", "2", "--batches", "5", "--rows", "700", "--check")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    text = done.stdout
    assert text.startswith(f"fastmetrics {fm.__version__}: 3,500 rows read")
    for word in ("auc", "gauc", "logloss", "ne", "copc", "ctr", "(all)", "de", "fr", "jp", "by 2 workers"):
        assert word in text, word
    assert text.endswith("one process gives the same report\n")
    assert list(tmp_path.iterdir()) == []


def test_batch_scoring_without_batches_is_an_error(tmp_path):
    done = run(tmp_path, "batch_scoring.py", "--workers", "1", "--batches", "0")
    assert done.returncode == 1
    assert "data has no rows" in done.stderr


def test_batch_scoring_help(tmp_path):
    done = run(tmp_path, "batch_scoring.py", "--help")
    assert done.returncode == 0
    for option in ("--workers", "--batches", "--rows", "--check"):
        assert option in done.stdout
