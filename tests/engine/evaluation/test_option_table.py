"""The table of options: a new entry stands in every place after `python tools/generate.py`, without another edit."""

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fastmetrics as fm
import fastmetrics.spark
from fastmetrics.engine.evaluation.options import ACCUMULATOR, COMPARE, EVALUATE, OPTIONS, SPARK, SPARK_COMPARE
from support.cases import each_case

ROOT = Path(__file__).resolve().parents[3]
IN_A_CHECKOUT = Path(fm.__file__).parents[1] == ROOT and (ROOT / "tools").is_dir()
ENTRY = (
    'Option(\n        "sampled", FLAG, "bool", "Is the log a sample? It changes nothing.", '
    "default=False, of_tasks=True\n    ),\n"
)
# Each entry point, a file, a schema and a command have the new option; the numbers are as before.
USE = """
import inspect, json, pathlib, sys
import fastmetrics as fm
import fastmetrics.spark

log = {"y": [1, 0, 1, 0], "p": [0.9, 0.2, 0.4, 0.6], "q": [0.9, 0.2, 0.7, 0.6]}
columns = {"label": "y", "score": "p"}
own = fm.Evaluation("auc", **columns, sampled=True, tasks={"a": fm.Task(sampled=True), "b": fm.Task()})
assert own != own.replace(sampled=False)
assert "sampled = true" in own.to_toml() and fm.Evaluation.from_toml(own.to_toml()) == own
report = fm.evaluate(log, "auc", **columns, sampled=True)
assert report == fm.evaluate(log, "auc", **columns) and report.evaluation.sampled
assert fm.compare(log, "auc", label="y", scores=["p", "q"], sampled=True, replicates=5).evaluation.sampled
assert fm.Accumulator("auc", **columns, sampled=True).evaluation.sampled
of_spark = (fastmetrics.spark.evaluate, fastmetrics.spark.compare)
for function in (fm.evaluate, fm.compare, fm.Accumulator, fm.Evaluation, fm.Task, *of_spark):
    assert "sampled" in inspect.signature(function).parameters, function
    assert "Is the log a sample?" in function.__doc__, function
assert "sampled" in json.loads(pathlib.Path("docs/evaluation.schema.json").read_text())["properties"]
assert "| `sampled` |" in pathlib.Path("docs/options.md").read_text()
"""


FUNCTIONS = {
    EVALUATE: fm.evaluate, COMPARE: fm.compare, ACCUMULATOR: fm.Accumulator,
    SPARK: fastmetrics.spark.evaluate, SPARK_COMPARE: fastmetrics.spark.compare,
}  # fmt: skip


@each_case("option", OPTIONS, ids=[option.name for option in OPTIONS])
def test_keywords_and_docstrings_are_those_of_the_table(option):
    """Every entry point that has the keyword has its default, and describes it in the words of the table."""
    for name, function in FUNCTIONS.items():
        parameters = inspect.signature(function).parameters
        if name in option.entry_points:
            own = parameters[option.name]
            assert option.name == "metrics" or own.default == option.default
            assert " ".join(option.text.split()) in " ".join(function.__doc__.split())
    assert inspect.signature(fm.Evaluation).parameters[option.name].default == option.default


@pytest.mark.slow
@pytest.mark.skipif(not IN_A_CHECKOUT, reason="not a checkout with kernels")
def test_a_new_option_is_one_entry(tmp_path):
    for folder in ("fastmetrics", "tools", "docs", "tests/oracles"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.c", "*.pyc"))
    table = tmp_path / "fastmetrics" / "engine" / "evaluation" / "options.py"
    text = table.read_text(encoding="utf-8")
    before, after = text.split(")\nBY_NAME = ", 1)
    table.write_text(f"{before}    {ENTRY})\nBY_NAME = {after}", encoding="utf-8")
    assert run([sys.executable, "tools/generate.py"], tmp_path).returncode == 0
    done = run([sys.executable, "-c", USE], tmp_path)
    assert done.returncode == 0, done.stderr
    again = run([sys.executable, "tools/generate.py", "--check"], tmp_path)
    assert again.returncode == 0, again.stdout
    (tmp_path / "log.csv").write_text("y,p\n1,0.9\n0,0.2\n", encoding="utf-8")
    words = ["evaluate", "log.csv", "--label", "y", "--score", "p", "-m", "auc", "--sampled", "--json", "-"]
    command = run([sys.executable, "-m", "fastmetrics", *words], tmp_path)
    assert json.loads(command.stdout)["evaluation"]["sampled"] is True, command.stderr


def run(words, folder):
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment, check=False)
