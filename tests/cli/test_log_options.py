"""The options that `evaluate` and `compare` share are declared once, and mean the same in both."""

import inspect
import json
import re

import pytest

from support.cases import each_case
from support.command_line import run

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from fastmetrics.cli.compare import compare  # noqa: E402
from fastmetrics.cli.evaluate import evaluate  # noqa: E402
from fastmetrics.cli.log_options import FIELDS, PANELS, LogOptions, shared_options  # noqa: E402

COMMANDS = {"evaluate": evaluate, "compare": compare}
MODELS = ["--label", "y", "--score", "a", "--score", "b"]
# Options of one command, or with another default there.
OWN = {"evaluate": {"context", "ci"}, "compare": {"context", "baseline", "ci", "correction", "fail_if"}}


@pytest.fixture
def log(tmp_path):
    columns = {"y": [0, 1, 1, 0, 1, 0], "a": [0.1, 0.7, 0.4, 0.3, 0.8, 0.5], "b": [0.2, 0.6, 0.5, 0.4, 0.9, 0.1]}
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_both_commands_have_the_same_options():
    shared = {}
    for name, command in COMMANDS.items():
        parameters = dict(inspect.signature(command).parameters)
        assert set(parameters) == {"paths", *FIELDS, *OWN[name]}
        shared[name] = [(own.name, own.annotation, own.default) for own in parameters.values() if own.name != "ci"]
        shared[name] = [own for own in shared[name] if own[0] not in OWN[name]]
    assert shared["evaluate"] == shared["compare"]


def test_the_help_has_panels(tmp_path):
    for command in COMMANDS:
        text = run(command, "--help", folder=tmp_path).stdout
        panels = re.findall(r"^╭─ ([\w ]+) ─", text, flags=re.MULTILINE)
        assert panels == ["Arguments", "Options", *PANELS.values()]
        assert "--output" in text.partition("─ Output ─")[2]
        assert "--ci " in text.partition("─ Intervals ─")[2].partition("─ Input ─")[0]


def test_a_command_gets_the_record():
    received = []

    @shared_options
    def command(first: int, log: LogOptions, last: int = 3) -> None:
        """What it does."""
        received.append((first, log, last))

    assert command.__doc__ == "What it does."
    assert list(inspect.signature(command).parameters) == ["first", *FIELDS, "last"]
    command(first=1, last=2, **{name: default for name, (_, default) in FIELDS.items()} | {"seed": 7})
    assert received == [(1, LogOptions(seed=7), 2)]


@each_case("command", COMMANDS)
@each_case("words", ["-m auc -m logloss", "--metrics auc,logloss", "--metric auc -m logloss"])
def test_metrics_add_up(log, command, words):
    done = run(command, log, *MODELS, *words.split(), "--json", "-", folder=log.parent)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    results = document["results" if command == "evaluate" else "differences"]
    assert list(dict.fromkeys(own["metric"] for own in results)) == ["auc", "logloss"]
