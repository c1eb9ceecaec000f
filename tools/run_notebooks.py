"""Run the notebooks of docs/notebooks/ and write their outputs: python tools/run_notebooks.py [--check] [NAME ...]

Each runs in a new folder and a new kernel. With --check nothing is written: the exit code is 1 if a cell fails or if an
output is another than the stored one. Seconds, rates and versions may differ.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "notebooks"
SECONDS_PER_CELL = 300
# What differs from run to run.
VARIES = re.compile(r"\d[\d.,]*k?(?= s\b| rows/s)|(?<=fastmetrics )\d+\.\d+\.\d+\w*")


def run_notebook(notebook: Any) -> None:
    """Fill in the outputs. The kernel and its settings leave nothing behind."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {"NO_COLOR": "1", "PATH": programs}
    with tempfile.TemporaryDirectory(prefix="fastmetrics-notebook-") as folder:
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "work"):
            Path(folder, name).mkdir()
            environment[name] = str(Path(folder, name))
        work = environment.pop("work")
        client = NotebookClient(
            notebook, timeout=SECONDS_PER_CELL, kernel_name="python3", resources={"metadata": {"path": work}}
        )
        before = dict(os.environ)
        os.environ.update(environment)
        try:
            client.execute()
        finally:
            os.environ.clear()
            os.environ.update(before)


def tidy(notebook: Any) -> None:
    """Keep nothing that names a machine or a moment."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", []):
            output.pop("metadata", None)
            if output.output_type in ("display_data", "execute_result"):
                output.metadata = {}


def shown(notebook: Any) -> Iterator[str]:
    """The lines of all outputs, pictures in pixels left out."""
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            texts = output.get("data", {"text": output.get("text", "")})
            for kind, text in sorted(texts.items()):
                if not kind.startswith("image/png"):
                    yield from (f"cell {number} {kind}: {line}" for line in VARIES.sub("#", str(text)).splitlines())


def differences(stored: Any, run: Any) -> list[str]:
    return list(difflib.unified_diff(list(shown(stored)), list(shown(run)), "stored", "this run", lineterm="", n=0))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as ctr; all by default")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    arguments = parser.parse_args()
    paths = [FOLDER / f"{name}.ipynb" for name in arguments.names] or sorted(FOLDER.glob("*.ipynb"))
    failed = 0
    for path in paths:
        stored, notebook = (nbformat.read(path, as_version=4) for _ in range(2))
        try:
            run_notebook(notebook)
        except CellExecutionError as error:
            print(f"{path.name}: {error}")
            failed = 1
            continue
        tidy(notebook)
        if not arguments.check:
            nbformat.write(notebook, path)
        elif found := differences(stored, notebook):
            print(f"{path.name} shows something else: run python tools/run_notebooks.py {path.stem}", *found, sep="\n")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
