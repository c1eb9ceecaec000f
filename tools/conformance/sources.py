"""Fetches a library's tests, and makes an environment that can run them. Nothing is kept."""

from __future__ import annotations

import importlib
import os
import site
import subprocess
import sys
import venv
from pathlib import Path

from tools.conformance.suite import Suite

ROOT = Path(__file__).resolve().parents[2]


def find_tests(suite: Suite, temporary: Path) -> Path:
    """The folder that `suite.files` are below."""
    if suite.source == "installed":
        return Path(importlib.import_module(suite.files[0].partition("/")[0]).__file__ or "").parents[1]
    return unpack_sdist(suite, temporary) if suite.source == "sdist" else clone(suite, temporary)


def unpack_sdist(suite: Suite, temporary: Path) -> Path:
    """pip unpacks the source distribution into its temporary folder, whether or not the package can then be built."""
    requirement = suite.requirements[0]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-clean", "--no-deps", "--no-build-isolation"]
    command += ["--no-binary", ":all:", "--dest", str(temporary), requirement]
    done = subprocess.run(command, env={**os.environ, "TMPDIR": str(temporary)}, capture_output=True, text=True)
    for file in sorted(temporary.glob(f"pip-*/*/{suite.files[0]}")):
        return Path(str(file)[: -len(suite.files[0]) - 1])
    raise SystemExit(f"pip found no source distribution of {requirement} with {suite.files[0]}:\n{done.stderr}")


def clone(suite: Suite, temporary: Path) -> Path:
    folder = temporary / "repository"
    command = ["git", "clone", "--quiet", "--depth", "1", "--recurse-submodules", suite.repository, str(folder)]
    if subprocess.run(command).returncode:
        raise SystemExit(f"git cannot reach {suite.repository}; name a checkout of yours: --source PATH")
    return folder


def make_environment(suite: Suite, temporary: Path) -> Path:
    """A virtual environment that has what the running one has, and what the tests need; its interpreter."""
    folder = temporary / "environment"
    venv.create(folder, symlinks=os.name != "nt", with_pip=False)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    show = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = subprocess.run([python, "-c", show], check=True, capture_output=True, text=True).stdout.strip()
    Path(own, "running_environment.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", *suite.requirements]
    subprocess.run(command, check=True)
    return python
