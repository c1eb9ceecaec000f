"""A log without named columns: its columns and their types are listed, with a line to type that works."""

import shlex
import subprocess
import sys

import numpy as np
import pytest

from support.cases import each_case
from support.command_line import environment, plain, run, run_in_terminal

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
pq = pytest.importorskip("pyarrow.parquet")

LOG = {
    "user_id": [1, 1, 2, 2], "the channel": pa.array(["a", "b", "a", "b"]).dictionary_encode(),
    "clicked": np.array([0, 1, 1, 0], np.int8), "old score": [0.1, 0.5, 0.4, 0.6], "new": [0.2, 0.6, 0.7, 0.1],
}  # fmt: skip
TYPES = ["int64", "string", "int8", "double", "double"]


@pytest.fixture
def folder(tmp_path):
    pq.write_table(pa.table(LOG), tmp_path / "log.parquet")
    csv.write_csv(pa.table(LOG), tmp_path / "log.csv")
    return tmp_path


def listed(errors):
    rows = [row for row in errors.splitlines() if row.startswith("  ")]
    return [row[2:].rsplit(maxsplit=1) for row in rows[:-1]], rows[-1].strip()


@each_case("command", ["evaluate", "compare"])
@each_case("words", [[], ["-m", "auc"], ["--group", "user_id"]])
def test_columns_and_a_line_to_type(folder, command, words):
    done = run(command, "log.parquet", *words, folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    _, line = done.stderr.split("name the column; type, with the columns that you mean: ")
    code, screen = run_in_terminal(command, "log.parquet", *words, folder=folder, columns=200)
    assert (code, screen.startswith("log.parquet has these columns:")) == (2, True)
    rows, typed = listed(plain(screen).partition("Usage:")[0])
    assert typed == line.strip()
    assert [[name.strip(), kind] for name, kind in rows] == [list(row) for row in zip(LOG, TYPES, strict=True)]
    again = subprocess.run(
        [sys.executable, "-m", "fastmetrics", *shlex.split(line)[shlex.split(line).index(command) :]],
        cwd=folder, env=environment(), capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert "auc" in again.stdout


def test_what_was_named_is_in_the_line(folder):
    done = run("evaluate", "log.csv", "--label", "user_id", folder=folder)
    assert done.returncode == 2
    assert "--label user_id --score 'old score'" in done.stderr
    assert done.stderr.startswith("error: Invalid value for --score: name the column")
    done = run("evaluate", "log.csv", "--score", "new", "--score", "user_id", folder=folder)
    assert "--label clicked --score new --score user_id\n" in done.stderr.replace("--label user_id", "--label clicked")
    done = run("compare", "log.csv", "--label", "clicked", "--score", "new", folder=folder)
    assert "found only new" in done.stderr
    done = run("evaluate", "log.parquet", "--label", "clicked", "--score", "new", "--format", "csv", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_log_without_columns_that_fit(tmp_path):
    (tmp_path / "log.csv").write_text("name\nann\n")
    assert "--label LABEL --score SCORE1\n" in run("evaluate", "log.csv", folder=tmp_path).stderr
    pq.write_table(pa.table({f"c{number}": [1.0] for number in range(60)}), tmp_path / "wide.parquet")
    assert "  and 20 more\n" in plain(run_in_terminal("evaluate", "wide.parquet", folder=tmp_path)[1])


def test_files_that_do_not_exist_and_pipes(folder):
    done = run("evaluate", "nowhere.parquet", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "name the column; its columns cannot be listed: there is no file nowhere.parquet" in done.stderr
    done = run("evaluate", "-", folder=folder, standard_input=b"y,s\n0,1\n")
    assert done.returncode == 2
    assert done.stderr == "error: Invalid value for --label: name the column\n"
