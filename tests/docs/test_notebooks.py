"""The notebooks of docs/notebooks/ run, and show what is stored in them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(path.stem for path in (ROOT / "docs" / "notebooks").glob("*.ipynb"))

pytestmark = pytest.mark.skipif(not NOTEBOOKS, reason="no docs beside the tests")


@pytest.mark.slow
def test_notebooks_show_what_is_stored():
    for package in ("nbclient", "ipykernel", "typer", "pandas"):
        pytest.importorskip(package)
    command = [sys.executable, ROOT / "tools" / "run_notebooks.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(NOTEBOOKS) == 3


def test_another_output_is_shown_with_the_line_to_type():
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from run_notebooks import differences
    finally:
        sys.path.remove(str(ROOT / "tools"))
    notebooks = []
    for text in ("0.5, fastmetrics 0.1.0: 3 rows read, 0.02 s", "0.5, fastmetrics 0.2.0: 3 rows read, 1.5 s", "0.6"):
        cell = nbformat.v4.new_code_cell("x", outputs=[nbformat.v4.new_output("stream", text=text)])
        notebooks.append(nbformat.v4.new_notebook(cells=[cell]))
    stored, same, other = notebooks
    assert differences(stored, same) == []
    assert any(line.endswith("text: 0.6") for line in differences(stored, other))
