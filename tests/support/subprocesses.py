"""Evaluations in child processes, to watch, kill, interrupt and measure them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc")
PATIENCE = 120  # seconds; generous, for a busy machine

PRELUDE = """
import os, sys, threading
import numpy as np
import pyarrow as pa
import fastmetrics as fm

COLUMNS = {"label": "label", "score": "prob", "group": "group"}

def say(*words):
    print(*words, flush=True)

def log_of(rows):
    generator = np.random.default_rng(0)
    prob = generator.random(rows)
    return {
        "label": (generator.random(rows) < prob).astype(np.int8), "prob": prob,
        "group": generator.integers(0, rows // 10, rows), "weight": generator.random(rows) + 0.1,
        "hour": generator.integers(0, 5, rows),
    }

def left_open():
    links = []
    for name in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{name}"))
        except FileNotFoundError:  # the descriptor that listed them
            pass
    return sorted(link for link in links if link.endswith(("(deleted)", ".parquet")))

def running():
    return sorted(thread.name for thread in threading.enumerate() if thread is not threading.main_thread())
"""


def start(code: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PRELUDE + code, *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, **pipes, **options)


def run(code: str, *arguments: object) -> list[str]:
    """The lines that a child printed. It has to exit with code 0."""
    with start(code, *arguments) as child:
        out, errors = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, errors
    return out.splitlines()


def open_files(child: subprocess.Popen[str], folder: Path) -> list[str]:
    """The files that the child has open in a folder, also those without a name."""
    links = [os.readlink(link) for link in Path(f"/proc/{child.pid}/fd").iterdir()]
    return [link for link in links if link.startswith(str(folder))]
