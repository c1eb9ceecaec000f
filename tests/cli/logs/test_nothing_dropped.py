"""No option of a log is dropped in silence: it has an effect, or it is wrong usage."""

import warnings

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics.cli.logs.log_evaluation import call_on_log
from support.cases import assert_raises, each_case
from support.command_line import plain, run
from support.files.log_files import write_csv, write_ipc, write_parquet

ROWS = 50
CHANCE = np.random.default_rng(3)
LOG = pa.table({"y": np.arange(ROWS) % 2, "a": CHANCE.random(ROWS), "b": CHANCE.random(ROWS), "u": np.arange(ROWS) % 9})
SCORES = {"evaluate": ["--score", "a"], "compare": ["--score", "a", "--score", "b", "--replicates", "5"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    write_csv(LOG, folder / "log.csv")
    write_parquet(LOG, folder / "log.parquet")
    write_ipc(LOG, folder / "log.arrow")
    return folder


def refused(folder, command, log, words, code=2):
    done = run(command, log, "--label", "y", *SCORES[command], "-m", "auc", *words, folder=folder)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    return " ".join(plain(done.stderr).replace("│", " ").split())


@each_case("command", ["evaluate", "compare"])
@each_case(("words", "message"), [
    (["--where", "a > 0.1", "--where", "a > 0.9"], "Invalid value for '--where': it is given twice, and has one value"),
    (["--weight", "a", "--weight", "b"], "Invalid value for '--weight': it is given twice"),
    (["--min-rows", "1", "--min-rows", "2"], "Invalid value for '--min-rows': it is given twice"),
    (["--column-type", "u=string", "--column-type", "u=int64"], "column u is given two types, string and int64"),
    (["--task", "t: label=u"], "Invalid value for --label: every --task names its own, so it has no effect"),
    (["--task", "t: metrics=ctr", "--task", "s: metrics=auc"], "Invalid value for --metrics: every --task names"),
])  # fmt: skip
def test_what_would_be_dropped_is_wrong_usage(folder, command, words, message):
    assert message in refused(folder, command, "log.csv", words)


@each_case("command", ["evaluate", "compare"])
def test_a_role_that_is_named_twice(folder, command):
    assert "role 'label' is named twice: label='y' and 'u' in roles" in refused(
        folder, command, "log.csv", ["--role", "label=u"], code=1
    )
    both = {"label": "y", "score": "a", "roles": {"score": "b"}}
    message = "role 'score' is named twice: score='a' and 'b' in roles"
    assert_raises(ValueError, message, fm.evaluate, LOG, "auc", **both)


def test_a_gate_on_a_metric_that_no_task_computes(folder):
    """It would pass whatever the log says."""
    words = ["compare", "log.csv", "--label", "y", *SCORES["compare"], "--fail-if", "logloss drops 0.1"]
    done = run(*words, "--task", "t: metrics=auc", folder=folder)
    assert done.returncode == 2
    assert "no --task computes logloss, only auc" in plain(done.stderr)
    for task in ("t: where=a > 0.1", "t: metrics=logloss"):
        assert run(*words, "--task", task, folder=folder).returncode in (0, 3)


@each_case("log", ["log.csv", "log.parquet", "log.arrow"])
@each_case("words", [
    ["--delimiter", ";"], ["--quote", "'"], ["--no-header"], ["--column-type", "nowhere=string"],
    ["--table-version", "1"], ["--timestamp", "2026-11-01"], ["--storage-option", "region=x"],
    ["--role", "item=u"], ["--prediction", "u", "--unit", "u"],
])  # fmt: skip
def test_options_of_input_have_an_effect_or_are_refused(folder, log, words):
    code = 2 if "--unit" in words else 1
    assert refused(folder, "evaluate", log, words, code).startswith(("error: ", "Usage: "))


def test_warnings_are_shown_whatever_python_is_told(folder, capsys):
    def function(log, metrics, **options):
        warnings.warn("the rows of probabilities were not checked", UserWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call_on_log(function, [str(folder / "log.csv")], "auc", quiet=True, group=None)
    assert capsys.readouterr().err == "warning: the rows of probabilities were not checked\n"
