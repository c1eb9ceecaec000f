"""The options that `evaluate` and `compare` share: declared once, the same in both, and those of `--config`."""

import inspect
import json
import re

import pytest

import fastmetrics as fm
from support.cases import each_case
from support.command_line import run

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from fastmetrics.cli.logs.compare import compare  # noqa: E402
from fastmetrics.cli.logs.evaluate import evaluate  # noqa: E402
from fastmetrics.cli.logs.log_options import FIELDS, MORE, PANELS, LogOptions, shared_options  # noqa: E402

COMMANDS = {"evaluate": evaluate, "compare": compare}
MODELS = ["--label", "y", "--score", "a", "--score", "b"]
# Options of one command, or with another default there.
OWN = {
    "evaluate": {"context", "ci", "fail_if"},
    "compare": {"context", "against", "baseline", "ci", "correction", "fail_if", "margin"},
}


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
        more = [MORE] if FIELDS.keys() - set(LogOptions._fields) else []  # options of the table that have no field
        assert panels == ["Arguments", "Options", *PANELS.values(), *more]
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
    more = {name: default for name, (_, default) in FIELDS.items() if name not in LogOptions._fields}
    assert received == [(1, LogOptions(seed=7, more=more), 2)]


@each_case("command", COMMANDS)
@each_case("words", ["-m auc -m logloss", "--metrics auc,logloss", "--metric auc -m logloss"])
def test_metrics_add_up(log, command, words):
    done = run(command, log, *MODELS, *words.split(), "--json", folder=log.parent)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    results = document["results" if command == "evaluate" else "differences"]
    assert list(dict.fromkeys(own["metric"] for own in results)) == ["auc", "logloss"]


# ------------------------------------------------------------------------------------------------- stored questions

ROWS = 60
LOG = {
    "y": [row % 2 for row in range(ROWS)], "z": [row % 3 == 0 for row in range(ROWS)],
    "a": [row * 7 % 11 / 11 for row in range(ROWS)], "b": [row * 5 % 13 / 13 for row in range(ROWS)],
    "user": [row // 4 for row in range(ROWS)], "channel": ["app", "web", "tv"] * 20, "day": [1, 2] * 30,
    "w": [float(row // 4 % 3) for row in range(ROWS)], "kind": ["ant", "bee"] * 30, "guess": ["ant", "bee", "bee"] * 20,
    "p": [[0.25, 0.75], [0.5, 0.5]] * 30, "c": [0.25, 0.5] * 30, "d": [0.75, 0.5] * 30,
}  # fmt: skip
COLUMNS = {"label": "y", "score": ["a", "b"], "group": "user"}
SCORES = {"label": "y", "score": "a"}


@pytest.fixture
def folder(tmp_path):
    pq.write_table(pa.table(LOG), tmp_path / "log.parquet")
    return tmp_path


def ask(command, folder, question, *words):
    (folder / "question.toml").write_text(question if isinstance(question, str) else question.to_toml())
    return run(command, "log.parquet", "--config", "question.toml", "--json", *words, folder=folder)


def answer(*asked):
    done = ask(*asked)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@each_case(
    ("metrics", "options"),
    [
        ("auc,gauc", COLUMNS),
        ("auc,logloss", {**COLUMNS, "by": ["channel", "day"], "min_rows": 12, "weight": "w", "where": "day < 2"}),
        ("auc", {**COLUMNS, "by": [["channel"], ["channel", "day"]], "on_invalid": "drop", "time_zone": "Asia/Tokyo"}),
        ("auc", {**COLUMNS, "ci": 0.9, "ci_method": "normal", "replicates": 7, "seed": 2**64 - 1, "unit": "day"}),
        ("accuracy", {"label": "kind", "prediction": "guess"}),
        ("brier", {"label": "y", "probabilities": "p"}),
        ("brier", {"label": "y", "probabilities": [["c", "d"]]}),
        ("auc", {**SCORES, "tasks": {"first": fm.Task(), "second": fm.Task(label="z", where="day = 1")}}),
        ("auc", {**COLUMNS, "baseline": "b", "correction": "none"}),
        ("ndcg(group=[user,day])@5", {**SCORES, "group": "user"}),
    ],
)
def test_a_stored_question_is_asked(folder, metrics, options):
    question = fm.Evaluation(metrics, **options)
    found = answer("evaluate", folder, question)
    assert found["evaluation"] == question.to_dict()
    assert found == json.loads(fm.evaluate(folder / "log.parquet", question).to_json())


def test_a_stored_comparison_is_asked(folder):
    options = {"ci": 0.9, "replicates": 9, "unit": "user", "baseline": "b", "correction": "benjamini-hochberg"}
    question = fm.Evaluation("auc,gauc", **COLUMNS, by="channel", **options)
    found = answer("compare", folder, question)
    assert found["evaluation"] == question.to_dict()
    assert found == json.loads(fm.compare(folder / "log.parquet", question).to_json())


@each_case(
    ("words", "changes"),
    [
        (["--metrics", "logloss"], {"metrics": "logloss"}),
        (["--score", "b"], {"score": "b"}),
        (["--label", "z", "--seed", "3"], {"label": "z", "seed": 3}),
        (["--grouping-set", "day"], {"by": [["day"]]}),
        (["--by", "day"], {"by": "day"}),
        (["--ci", "80"], {"ci": 0.8}),
        (["--where", "day = 2", "--on-invalid", "raise"], {"where": "day = 2", "on_invalid": "raise"}),
        (["--task", "t: label=z"], {"tasks": {"t": fm.Task(label="z")}}),
    ],
)
def test_an_option_that_is_typed_replaces_its_key(folder, words, changes):
    options = {"by": ["channel", "day"], "ci": 0.9, "replicates": 5, "seed": 2, "on_invalid": "drop", "where": "a > 0"}
    question = fm.Evaluation("auc", **COLUMNS, **options)
    assert answer("evaluate", folder, question, *words)["evaluation"] == question.replace(**changes).to_dict()


@each_case(
    ("command", "text", "words"),
    [
        ("evaluate", "schema = 1\nlable = 'y'\n", "question.toml: line 2: there is no option 'lable'; did you mean"),
        ("evaluate", "metrics = ['auc']\n", "the question has no schema"),
        ("evaluate", fm.Evaluation("auc", **SCORES, approximate=True), "evaluate has no approximate=True"),
        ("compare", fm.Evaluation("auc", **COLUMNS, curves=True), "compare has no curves=True"),
    ],
)
def test_wrong_questions(folder, command, text, words):
    done = ask(command, folder, text)
    assert done.returncode != 0
    assert words in " ".join(done.stderr.replace("│", " ").split())


def test_a_file_that_is_not_there(folder):
    done = run("evaluate", "log.parquet", "--config", "none.toml", folder=folder)
    assert done.returncode == 2
    assert "none.toml" in done.stderr
