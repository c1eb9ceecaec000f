"""docs/sizes.md shows the measured cells of bench/sizes.json, and a cell is measured as it says."""

import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

sizes = pytest.importorskip("bench.sizes")

pytestmark = pytest.mark.skipif(not sizes.PAGE.is_file(), reason="no docs beside the tests")


def test_the_page_shows_the_measured_cells():
    page = sizes.PAGE.read_text(encoding="utf-8")
    results = json.loads(sizes.RESULTS.read_text(encoding="utf-8"))
    assert sizes.rendered(page, results) == page
    assert {cell["slices"] for cell in results["cells"]} == set(sizes.SLICES)


@pytest.mark.skipif(sys.platform != "linux", reason="the size of the spill file is read from /proc")
def test_a_cell_is_measured(tmp_path):
    path = tmp_path / "log.parquet"
    sizes.write_log(path, 20_000, 2)
    found = sizes.run_once(path, sizes.Cell(20_000, models=2, slices=28, limit="64MiB"))
    assert found["seconds"] > 0
    assert 0 < found["start"] <= found["peak"]
    assert found["disk"] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="the size of the spill file is read from /proc")
def test_unnamed_files_are_counted(tmp_path):
    with tempfile.TemporaryFile(dir=tmp_path) as file:
        file.write(b"x" * 100_000)
        file.flush()
        os.fsync(file.fileno())
        assert 100_000 <= sizes.bytes_of_unnamed_files(os.getpid(), str(tmp_path)) < 200_000
        assert sizes.bytes_of_unnamed_files(os.getpid(), "/nowhere") == 0


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "–"), (5e5, "488 KiB"), (2**20 * 3.25, "3.2 MiB"), (2**20 * 300, "300 MiB"), (2**31, "2.0 GiB")],
)
def test_sizes_in_words(number, text):
    assert sizes.size_text(number) == text
