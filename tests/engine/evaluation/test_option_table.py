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
import fastmetrics.dask
import fastmetrics.ray
import fastmetrics.spark
from fastmetrics.distributed import processes
from fastmetrics.distributed.plan import DistributedPlan
from fastmetrics.engine.evaluation.options import OPTIONS, RUN_OPTIONS, options_of
from fastmetrics.engine.evaluation.options.option import (
    ACCUMULATOR,
    COMPARE,
    DASK,
    DASK_COMPARE,
    EVALUATE,
    FROM_BYTES,
    LOAD,
    PARTIAL,
    PROCESSES,
    RAY,
    RAY_COMPARE,
    SPARK,
    SPARK_COMPARE,
    TRAINING,
    UPDATE,
)
from support.cases import each_case

ROOT = Path(__file__).resolve().parents[3]
IN_A_CHECKOUT = Path(fm.__file__).parents[1] == ROOT and (ROOT / "tools").is_dir()
# An option of a question, and one of a run, by the module that has the others.
ENTRIES = {
    "question.py": 'Option("sampled", "flag", "bool", "Is the log a sample? It changes nothing.", default=False, '
    "of_tasks=True),",
    "run.py": 'Option("hurried", "flag", "bool", "Is there a hurry? It changes nothing.", default=False, '
    "entry_points=(*OF_MEMORY, *OF_LOGS)),",
}
# Each entry point, a file, a schema and a command have the new options; the numbers are as before.
USE = """
import inspect, json, pathlib, sys
import fastmetrics as fm
import fastmetrics.dask, fastmetrics.ray, fastmetrics.spark

log = {"y": [1, 0, 1, 0], "p": [0.9, 0.2, 0.4, 0.6], "q": [0.9, 0.2, 0.7, 0.6]}
columns = {"label": "y", "score": "p"}
own = fm.Evaluation("auc", **columns, sampled=True, tasks={"a": fm.Task(sampled=True), "b": fm.Task()})
assert own != own.replace(sampled=False)
assert "sampled = true" in own.to_toml() and fm.Evaluation.from_toml(own.to_toml()) == own
report = fm.evaluate(log, "auc", **columns, sampled=True)
assert report == fm.evaluate(log, "auc", **columns) and report.evaluation.sampled
assert fm.compare(log, "auc", label="y", score=["p", "q"], sampled=True, replicates=5).evaluation.sampled
assert fm.Accumulator("auc", **columns, sampled=True).evaluation.sampled
clusters = (fastmetrics.spark, fastmetrics.ray, fastmetrics.dask)
of_clusters = [function for own in clusters for function in (own.evaluate, own.compare)]
for function in (fm.evaluate, fm.compare, fm.Accumulator, fm.Evaluation, fm.Task, *of_clusters):
    assert "sampled" in inspect.signature(function).parameters, function
    assert "Is the log a sample?" in function.__doc__, function
schema = json.loads(pathlib.Path("docs/evaluation.schema.json").read_text())
assert "sampled" in schema["properties"] and "hurried" not in schema["properties"]
assert fm.evaluate(log, "auc", **columns, hurried=True) == report
fm.Accumulator("auc", **columns, hurried=True).update(log, hurried=True)
fm.TrainingMetrics("auc", hurried=True)
for function in (fm.evaluate, fm.compare, fm.Accumulator, fm.Accumulator.update, fm.TrainingMetrics):
    assert "Is there a hurry?" in function.__doc__, function
page = pathlib.Path("docs/options.md").read_text()
assert "| `sampled` |" in page and "| `hurried` |" in page
"""
FUNCTIONS = {
    EVALUATE: fm.evaluate, COMPARE: fm.compare, ACCUMULATOR: fm.Accumulator, UPDATE: fm.Accumulator.update,
    FROM_BYTES: fm.Accumulator.from_bytes, LOAD: fm.Accumulator.load, TRAINING: fm.TrainingMetrics,
    PARTIAL: DistributedPlan.partial, PROCESSES: processes.evaluate,
    SPARK: fastmetrics.spark.evaluate, SPARK_COMPARE: fastmetrics.spark.compare,
    RAY: fastmetrics.ray.evaluate, RAY_COMPARE: fastmetrics.ray.compare,
    DASK: fastmetrics.dask.evaluate, DASK_COMPARE: fastmetrics.dask.compare,
}  # fmt: skip
# These refer to `evaluate` and to their class.
WITHOUT_TEXTS = (UPDATE, FROM_BYTES, LOAD)
# Data and questions; what a comparison has in place of intervals that are asked for; how an engine runs.
NO_OPTIONS = {
    "self", "data", "batch", "table", "path", "sources", "evaluation", "metrics",
    "ci", "ci_method",
    "source", "attempt", "processes", "pool", "summary_only", "input_options",
}  # fmt: skip
ALL_OPTIONS = (*OPTIONS, *RUN_OPTIONS)


@each_case("option", ALL_OPTIONS, ids=[f"{own.name} of {own.entry_points[0]}" for own in ALL_OPTIONS])
def test_keywords_and_docstrings_are_those_of_the_table(option):
    """Every entry point that has the keyword has its default, and describes it in the words of the table."""
    for name in FUNCTIONS.keys() & set(option.entry_points):
        function = FUNCTIONS[name]
        own = inspect.signature(function).parameters[option.name]
        assert option.name == "metrics" or own.default == option.default
        if name not in WITHOUT_TEXTS:
            assert " ".join(option.text.split()) in " ".join(function.__doc__.split())
    if option in OPTIONS:
        assert inspect.signature(fm.Evaluation).parameters[option.name].default == option.default


@each_case("name", FUNCTIONS)
def test_every_keyword_is_in_the_table(name):
    assert inspect.signature(FUNCTIONS[name]).parameters.keys() - options_of(name).keys() <= NO_OPTIONS


def test_commands_have_the_options_of_the_table():
    """Those of both commands for logs stand in their shared record, with the flags and defaults of the table."""
    pytest.importorskip("typer")
    from fastmetrics.cli.logs.log_options import FIELDS
    from fastmetrics.cli.question_options import OF_LOGS, flags_of

    for option in OF_LOGS.values():
        if flags_of(option):
            hint, default = FIELDS[option.name]
            (given,) = hint.__metadata__
            assert {given.default, *given.param_decls} == set(flags_of(option))  # typer takes the first for a default
            assert default == option.default


@pytest.mark.skipif(not IN_A_CHECKOUT, reason="not a checkout with docs")
def test_the_page_and_the_schema_have_the_options_of_the_table():
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    schema = json.loads((ROOT / "docs" / "evaluation.schema.json").read_text(encoding="utf-8"))
    assert [line.split("`")[1] for line in page.splitlines() if line.startswith("| `") and line.count("|") == 7] == [
        option.name for option in ALL_OPTIONS
    ]
    assert schema["properties"].keys() == {option.name for option in OPTIONS} | {"schema", "plugins"}


@pytest.mark.slow
@pytest.mark.skipif(not IN_A_CHECKOUT, reason="not a checkout with kernels")
def test_a_new_option_is_one_entry(tmp_path):
    for folder in ("fastmetrics", "tools", "docs", "tests/oracles"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.c", "*.pyc"))
    for name, entry in ENTRIES.items():
        table = tmp_path / "fastmetrics" / "engine" / "evaluation" / "options" / name
        text = table.read_text(encoding="utf-8")
        assert text.endswith("\n)\n")
        table.write_text(f"{text[:-2]}    {entry}\n)\n", encoding="utf-8")
    assert run([sys.executable, "tools/generate.py"], tmp_path).returncode == 0
    done = run([sys.executable, "-c", USE], tmp_path)
    assert done.returncode == 0, done.stderr
    again = run([sys.executable, "tools/generate.py", "--check"], tmp_path)
    assert again.returncode == 0, again.stdout
    (tmp_path / "log.csv").write_text("y,p\n1,0.9\n0,0.2\n", encoding="utf-8")
    question = 'schema = 1\nmetrics = ["auc"]\nlabel = "y"\nscore = "p"\nsampled = true\n'
    (tmp_path / "question.toml").write_text(question, encoding="utf-8")
    words = ["evaluate", "log.csv", "--label", "y", "--score", "p", "-m", "auc", "--json", "--hurried"]
    for further in (["--sampled"], ["--config", "question.toml"]):
        command = run([sys.executable, "-m", "fastmetrics", *words, *further], tmp_path)
        assert json.loads(command.stdout)["evaluation"]["sampled"] is True, command.stderr


def run(words, folder):
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment, check=False)
