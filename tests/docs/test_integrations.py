"""The code of docs/integrations.md: each section after the rows that all share, where its tool is installed."""

import re
import tempfile
from contextlib import chdir
from pathlib import Path

import pytest

from support import pages

PAGE = Path(__file__).resolve().parents[2] / "docs" / "integrations.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="no docs beside the tests")

# The modules that the code of a section imports.
TOOLS = {
    "scikit-learn": ("sklearn",), "pandas": ("pandas",), "polars": ("polars",), "DuckDB": ("duckdb",),
    "LightGBM": ("lightgbm", "sklearn"), "XGBoost": ("xgboost",), "CatBoost": ("catboost",),
    "Keras": ("torch", "keras"), "PyTorch": ("torch",), "JAX": ("jax",),
    "MLflow": ("mlflow", "pandas", "sklearn", "matplotlib"), "Hugging Face": ("torch", "transformers", "accelerate"),
    "Ray Data": ("ray", "ray.data"), "Dask": ("dask", "dask.dataframe", "distributed", "pandas"),
}  # fmt: skip


def sections():
    """The text before the first heading of a section, and the sections by their headings."""
    shared, *parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return shared, {part.partition("\n")[0]: part for part in parts}


@pytest.fixture
def small_ray(monkeypatch):
    """A cluster of one process for the section that needs one; it is stopped at the end."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    started = []

    def start(folder):
        ray = pytest.importorskip("ray")
        options = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
        ray.init(num_cpus=1, object_store_memory=80 << 20, _temp_dir=folder, _node_ip_address="127.0.0.1", **options)
        ray.data.DataContext.get_current().enable_progress_bars = False
        started.append(ray)

    with tempfile.TemporaryDirectory(prefix="ray-") as folder:  # the names of sockets have at most 107 characters
        yield lambda: start(folder)
        for ray in started:
            ray.shutdown()


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")  # of its own options
@pytest.mark.parametrize("tool", TOOLS)
def test_code_runs(tool, tmp_path, monkeypatch, small_ray):
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file:{tmp_path}/runs")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # its other stores need a database
    for module in TOOLS[tool]:
        pytest.importorskip(module)
    if tool == "Ray Data":
        small_ray()
    shared, found = sections()
    with chdir(tmp_path):
        counts = pages.run_page(shared + "## " + found[tool], PAGE.name, may_warn=True)
    assert counts["blocks"] > 1


def test_every_section_has_a_row_and_runs():
    shared, found = sections()
    linked = re.findall(r"^\| \[([^\]]+)\]\(#([\w-]+)\)", shared, flags=re.MULTILINE)
    assert [name for name, _ in linked] == list(found) == list(TOOLS)
    assert [link for _, link in linked] == [name.lower().replace(" ", "-") for name in found]
