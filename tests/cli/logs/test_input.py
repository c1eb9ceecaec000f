"""Standard input, formats and their options, FIFOs and interrupts on the command line."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support.cases import each_case
from support.command_line import environment, run, run_subprocess
from support.subprocesses import PATIENCE, linux_only

AT_ONCE = 2.0  # seconds from the signal to the end of the process
COLUMNS = ["--label", "click", "--score", "p", "-m", "auc,logloss"]


def log():
    rng = np.random.default_rng(1)
    return pa.table({"click": rng.integers(0, 2, 2000), "p": rng.random(2000)})


def as_csv(table):
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(table, sink)
    return sink.getvalue().to_pybytes()


def as_parquet(table):
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink)
    return sink.getvalue().to_pybytes()


CONTENTS = {
    "csv": as_csv,
    "csv, gzip": lambda table: gzip.compress(as_csv(table)),
    "tsv": lambda table: as_csv(table).replace(b",", b"\t"),
    "parquet": as_parquet,
    "json lines": lambda table: "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode(),
}


def values_of(output):
    return [row["value"] for row in json.loads(output)["results"]]


@each_case("content", CONTENTS)
def test_standard_input_is_recognized(content, tmp_path):
    expected = [result.value for result in fm.evaluate(log(), ["auc", "logloss"], label="click", score="p")]
    done = run("evaluate", "-", *COLUMNS, "--json", folder=tmp_path, standard_input=CONTENTS[content](log()))
    assert done.returncode == 0, done.stderr
    assert values_of(done.stdout) == expected


def test_a_pipe_into_the_command(tmp_path):
    """In a real process, where standard input cannot seek."""
    arguments = ("compare", "-", "--label", "click", "--score", "p", "--score", "q", "-m", "auc", "--replicates", "10")
    table = log().append_column("q", log()["p"])
    done = run_subprocess(*arguments, folder=tmp_path, standard_input=as_parquet(table))
    assert done.returncode == 0, done.stderr
    assert "2,000 rows" in done.stdout


@each_case(
    "arguments, standard_input, message",
    [
        (["-", "-"], b"", "standard input is the whole log: name it alone"),
        (["-"], None, "standard input is a terminal: pipe a log"),
        (["-", "--column-type", "user"], b"", "type COLUMN=TYPE, such as user_id=string; found 'user'"),
    ],
)
def test_wrong_usage(arguments, standard_input, message, tmp_path):
    done = run("evaluate", *arguments, *COLUMNS, folder=tmp_path, standard_input=standard_input)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


@each_case(
    "content, arguments, slices",
    [
        ("click;p;user\n1;0.5;007\n0;0.25;7\n", ["--delimiter", ";", "--column-type", "user=string"], ["007", "7"]),
        ("click\tp\tuser\n1\t0.5\tx\n0\t0.25\ty\n", ["--delimiter", "\\t"], ["x", "y"]),
        ("click,p,user\n1,0.5,'a,b'\n0,0.25,c\n", ["--quote", "'"], ["a,b", "c"]),
        ('click,p,user\n1,0.5,"a\n0,0.25,c\n', ["--quote", ""], ['"a', "c"]),
        ("click,p,user\n1,0.5,a\n0,0.25,b\n-,0.5,b\n", ["--null-value", "-", "--on-invalid", "drop"], ["a", "b"]),
    ],
)
def test_options_of_csv(content, arguments, slices, tmp_path):
    (tmp_path / "log.txt").write_text(content)
    options = ["--by", "user", "--input-format", "csv", "--json"]
    done = run("evaluate", "log.txt", *COLUMNS[:4], "-m", "logloss", *options, *arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["results"]
    assert [row["slice"]["user"] for row in rows if row["slice"]] == slices


def test_a_file_without_a_header(tmp_path):
    (tmp_path / "log.csv").write_text("1,0.5\n0,0.25\n")
    arguments = ["--label", "f0", "--score", "f1", "-m", "auc", "--no-header", "--json"]
    done = run("evaluate", "log.csv", *arguments, folder=tmp_path)
    assert values_of(done.stdout) == [1.0]


def test_errors_of_formats(tmp_path):
    (tmp_path / "log.csv").write_text("click,p\n1,0.5\n")
    done = run("evaluate", "log.csv", *COLUMNS, "--input-format", "exel", folder=tmp_path)
    assert done.returncode == 1
    assert "format must be one of csv, tsv, jsonl, parquet, orc, arrow; found 'exel'" in done.stderr
    done = run("evaluate", "log.csv", *COLUMNS, "--column-type", "clik=string", folder=tmp_path)
    assert "no column 'clik'" in done.stderr


# ----------------------------------------------------------------------------------------------------- interrupts


@linux_only
@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("rows", [0, 1_000_000])
def test_control_c_while_a_fifo_gives_nothing(rows, threads, tmp_path):
    path = tmp_path / "log"
    os.mkfifo(path)
    command = [sys.executable, "-m", "fastmetrics", "evaluate", str(path), *COLUMNS, "--input-format", "csv"]
    own = environment(PYTHONWARNINGS="")  # an interrupt may come between the opening of a file and its first use
    child = subprocess.Popen([*command, "--threads", threads], env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with child, open(path, "wb") as opened:  # it opens when the command has opened it
        opened.write(b"click,p\n" * bool(rows) + b"1,0.5\n" * rows)
        opened.flush()
        child.send_signal(signal.SIGINT)
        began = time.monotonic()
        try:
            code = child.wait(timeout=PATIENCE)
            assert time.monotonic() - began < AT_ONCE
        finally:
            child.kill()
        assert code == 130
        assert child.stdout.read() == b""
        assert b"Traceback" not in child.stderr.read()


@linux_only
def test_control_c_while_nobody_opens_a_fifo(tmp_path):
    os.mkfifo(tmp_path / "log")
    code = (
        "import sys; from fastmetrics.cli import main; import fastmetrics.engine.input.sources, pyarrow, signal\n"
        "import builtins; own = builtins.open\n"
        "def waiting(path, *rest, **options):\n"
        "    if str(path).endswith('log'): print('now', flush=True)\n"
        "    return own(path, *rest, **options)\n"
        "builtins.open = waiting\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["evaluate", str(tmp_path / "log"), *COLUMNS, "--input-format", "csv"]
    child = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with child:
        assert child.stdout.readline() == b"now\n"
        child.send_signal(signal.SIGINT)
        began = time.monotonic()
        try:
            assert child.wait(timeout=PATIENCE) == 130
            assert time.monotonic() - began < AT_ONCE
        finally:
            child.kill()
