"""mypy over a few files, with the project's settings and one cache for all tests."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

SETTINGS = Path(__file__).resolve().parents[2] / "pyproject.toml"


def run_mypy(
    paths: Sequence[Path], folder: Path, cache: Path, search: Sequence[Path] = ()
) -> subprocess.CompletedProcess[str]:
    """Run mypy in a folder; only the errors of these files are shown.

    The cache knows files by their content: those of a copy of the package are not checked again. Its entries are those
    of one set of options, so all tests have the same.
    """
    pytest.importorskip("mypy", reason="mypy has no wheel for every platform")
    environment = {name: value for name, value in os.environ.items() if name not in {"MYPYPATH", "MYPY_CACHE_DIR"}}
    environment["MYPYPATH"] = os.pathsep.join(map(str, search))
    options = ["--config-file", str(SETTINGS), "--cache-dir", str(cache)]
    options += ["--no-error-summary", "--hide-error-context"]
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, *map(str, paths)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
