"""What `evaluate` and `compare` write: files and standard output. An output never replaces an input."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import fastmetrics as fm
from support.cases import each_case
from support.command_line import (
    assert_is_a_message,
    environment,
    plain,
    run,
    run_in_terminal,
    run_subprocess_in_terminal,
)

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

LOG = {
    "y": [0, 1, 1, 0, 1, 0, 1, 0], "a": [0.1, 0.7, 0.4, 0.35, 0.8, 0.5, 0.6, 0.3],
    "b": [0.2, 0.6, 0.5, 0.4, 0.9, 0.1, 0.3, 0.7], "c": ["u", "v"] * 4,
}  # fmt: skip
WORDS = ["--label", "y", "--score", "a", "--score", "b", "-m", "auc", "-m", "logloss"]
COMMANDS = ["evaluate", "compare"]
REPLICATES = ["--replicates", "20"]


def with_log(folder):
    pq.write_table(pa.table(LOG), folder / "log.parquet")
    return folder


def call(command, *words, folder, log="log.parquet"):
    more = REPLICATES if command == "compare" else []
    return run(command, log, *WORDS, *more, *words, folder=folder)


def made(command):
    """What the command computes, from Python."""
    if command == "evaluate":
        return fm.evaluate(LOG, ["auc", "logloss"], label="y", score=["a", "b"])
    return fm.compare(LOG, ["auc", "logloss"], label="y", score=["a", "b"], replicates=20)


def without_time(text):
    return re.sub(r"[\d.]+ s\b", "* s", text)


def test_a_group_without_effect_is_said(tmp_path):
    folder = with_log(tmp_path)
    words = [*WORDS, "--group", "c", "--format", "csv"]
    done = run("evaluate", "log.parquet", *words, folder=folder)
    assert (done.returncode, done.stdout) == (0, made("evaluate").to_csv())
    assert done.stderr.startswith("warning: --group has no effect")
    for more in (["-m", "gauc"], ["--ci", "90", "--replicates", "5"]):
        assert "--group" not in run("evaluate", "log.parquet", *words, *more, folder=folder).stderr


def test_a_label_without_effect_is_said(tmp_path):
    folder = with_log(tmp_path)
    own = ["-m", "auc(label=y)", "-m", "logloss(label=y)"]
    done = run("evaluate", "log.parquet", "--label", "zz", "--score", "a", *own, folder=folder)
    assert done.returncode == 0
    assert done.stderr == "warning: --label has no effect: every metric names its own column\n"
    done = run("evaluate", "log.parquet", "--label", "y", "--score", "zz", "-m", "auc(score=a)", folder=folder)
    assert done.stderr == "warning: --score has no effect: every metric names its own column\n"
    for used in (["-m", "auc(label=y)", "-m", "logloss"], ["-m", "auc"]):
        done = run("evaluate", "log.parquet", "--label", "y", "--score", "a", *used, folder=folder)
        assert (done.returncode, done.stderr) == (0, "")


# ---------------------------------------------------------------------------------------------------- what is written


@each_case("command", COMMANDS)
def test_every_kind_of_file(tmp_path, command):
    folder = with_log(tmp_path)
    names = ["out.csv", "out.md", "out.parquet", "out.json", "out.HTML"]
    done = call(command, *(word for name in names for word in ("--output", name)), folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [f"wrote {name}" for name in names]
    expected = made(command)
    assert (folder / "out.csv").read_text() == expected.to_csv()
    assert without_time((folder / "out.md").read_text()) == without_time(expected.to_markdown())
    assert repr(pq.read_table(folder / "out.parquet").to_pylist()) == repr(expected.to_arrow().to_pylist())
    written = json.loads((folder / "out.json").read_text())
    assert written["evaluation"].pop("curves", False) == (command == "evaluate"), "a page has plots"
    assert written == expected.to_dict()
    assert (folder / "out.HTML").read_text().startswith("<!DOCTYPE html>")
    assert sorted(os.listdir(folder)) == sorted(["log.parquet", *names])


@each_case("command", COMMANDS)
def test_layouts_of_standard_output(tmp_path, command):
    folder = with_log(tmp_path)
    expected = made(command)
    assert call(command, "--format", "csv", folder=folder).stdout == expected.to_csv()
    markdown = call(command, "--format", "markdown", folder=folder).stdout
    assert without_time(markdown) == without_time(expected.to_markdown())
    printed = call(command, "--format", "json", folder=folder).stdout
    assert printed == call(command, "--json", folder=folder).stdout
    assert json.loads(printed) == expected.to_dict()
    table = call(command, "--format", "table", folder=folder).stdout
    assert without_time(table) == without_time(call(command, folder=folder).stdout)
    assert without_time(table) == f"{without_time(str(expected))}\n"


@each_case("command", COMMANDS)
def test_digits(tmp_path, command):
    folder = with_log(tmp_path)
    assert "0.812500" not in call(command, folder=folder).stdout
    value = fm.evaluate(LOG, "logloss", label="y", score="a")["logloss"]
    assert f" {value:.3f} " in call(command, "--digits", 3, folder=folder).stdout.replace("\n", " ")
    assert f" {value!r} " in call(command, "--digits", 17, folder=folder).stdout.replace("\n", " ")
    assert f" {value:.3f} " in call(command, "--digits", 3, "--format", "markdown", folder=folder).stdout
    words = [command, "log.parquet", *WORDS, *(REPLICATES if command == "compare" else [])]
    code, screen = run_in_terminal(*words, folder=folder, columns=160)
    assert code == 0
    assert re.search(rf"(?<!\S){value:.5f}(?!\d)", plain(screen))
    assert repr(value) not in plain(screen)


@each_case("command", COMMANDS)
def test_quiet(tmp_path, command):
    folder = with_log(tmp_path)
    done = call(command, "--quiet", "--output", "out.csv", folder=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (folder / "out.csv").read_text() == made(command).to_csv()


def test_quiet_in_a_terminal(tmp_path):
    """No progress either."""
    folder = with_log(tmp_path)
    words = ["evaluate", "log.parquet", *WORDS, "--quiet", "--output", "out.csv"]
    assert run_subprocess_in_terminal(*words, folder=folder) == (0, "")


def test_a_quiet_gate_tells_by_its_exit_code(tmp_path):
    folder = with_log(tmp_path)
    done = call("compare", "--quiet", "--fail-if", "auc drops", folder=folder)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("failed: --fail-if 'auc drops'")
    assert call("compare", "--quiet", "--fail-if", "auc rises", folder=folder).returncode == 0


def test_an_html_output_has_plots(tmp_path):
    folder = with_log(tmp_path)
    assert call("evaluate", "-o", "out.html", folder=folder).returncode == 0
    assert "<h2>Curves</h2>" in re.sub(r"<h2[^>]*>", "<h2>", (folder / "out.html").read_text())


@each_case("command", COMMANDS)
def test_exit_codes_are_in_the_help(tmp_path, command):
    text = " ".join(run(command, "--help", folder=tmp_path).stdout.split())
    codes = "Exit codes: 0 done, 1 error, 2 wrong usage, 3 a gate of --fail-if failed, 130 interrupted"
    assert codes in text


# --------------------------------------------------------------------------------------------------- what is refused


def message(done):
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", done.stderr).split())


@each_case("command", COMMANDS)
@each_case(("words", "option"), [
    ("--output out.txt", "--output"), ("--output out", "--output"), ("--output -", "--output"),
    ("--no-clobber", "--no-clobber"),
    ("--quiet --output a.csv --digits 3", "--digits"), ("--json --digits 3", "--digits"),
    ("--format csv --digits 3", "--digits"), ("--format json --digits 3", "--digits"), ("--digits 0", "--digits"),
    ("--json --format csv", "--json"), ("--format xml", "--format"),
    ("--output a.json -o a.json", "--output"), ("--output a.csv --output ./a.csv", "--output"),
    ("-o a.html -o sub/../a.html", "--output"), ("--json a.json", "--json"), ("--min-rows 5", "--min-rows"),
    ("--ci 95 --ci-method delong --replicates 5", "--replicates"),
    ("--ci 95 --ci-method delong --seed 5", "--seed"),
])  # fmt: skip
def test_options_without_effect_are_wrong_usage(tmp_path, command, words, option):
    folder = with_log(tmp_path)
    (folder / "sub").mkdir(exist_ok=True)
    metrics = ["-m", "auc"]  # delong is for AUC
    done = run(command, "log.parquet", *WORDS[:6], *metrics, *words.split(), folder=folder)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert re.search(rf"Invalid value for (?:'-\w' / )?'?{option}\b", message(done))
    assert sorted(os.listdir(folder)) == ["log.parquet", "sub"]


@each_case("command", COMMANDS)
def test_no_clobber(tmp_path, command):
    folder = with_log(tmp_path)
    (folder / "out.csv").write_text("mine")
    (folder / "dangling.csv").symlink_to(folder / "nowhere.csv")
    for name in ("out.csv", "dangling.csv"):
        done = run(command, "nothing.parquet", *WORDS, "--no-clobber", "-o", "new.csv", "-o", name, folder=folder)
        assert_is_a_message(done)
        assert f"{name} exists" in done.stderr
    assert (folder / "out.csv").read_text() == "mine"
    assert not (folder / "new.csv").exists()
    assert call(command, "--no-clobber", "-o", "new.csv", folder=folder).returncode == 0


@each_case("command", COMMANDS)
def test_a_missing_folder_is_found_before_the_log_is_read(tmp_path, command):
    folder = with_log(tmp_path)
    done = run(command, "nothing.parquet", *WORDS, "--output", "no/out.csv", folder=folder)
    assert_is_a_message(done)
    assert "there is no folder" in done.stderr
    assert "nothing.parquet" not in done.stderr


def linked(folder):
    (folder / "link.parquet").symlink_to(folder / "log.parquet")
    os.link(folder / "log.parquet", folder / "hard.parquet")
    (folder / "logs").mkdir()
    os.link(folder / "log.parquet", folder / "logs" / "part.parquet")
    (folder / "logs" / "day=1").mkdir()
    os.link(folder / "log.parquet", folder / "logs" / "day=1" / "part.parquet")
    (folder / "other").symlink_to(folder / "logs")


@each_case(("log", "output"), [
    ("log.parquet", "log.parquet"), ("log.parquet", "./log.parquet"), ("log.parquet", "link.parquet"),
    ("link.parquet", "log.parquet"), ("log.parquet", "hard.parquet"), ("log.parquet", "other/part.parquet"),
    ("l*.parquet", "log.parquet"), ("l*.parquet", "hard.parquet"), ("*.parquet", "new.parquet"),
    ("*/*.parquet", "logs/new.parquet"), ("**/*.parquet", "new.parquet"), ("**/*.parquet", "logs/day=1/new.parquet"),
    ("logs/**", "logs/new.parquet"), ("log?", "logs/new.parquet"), ("logs", "logs/part.parquet"),
    ("logs", "logs/new.csv"), ("logs", "logs/report.html"), ("logs", "logs/day=1/new.csv"), ("logs", "other/new.csv"),
    ("logs", "log.parquet"), ("other", "logs/new.csv"), (".", "report.json"),
])  # fmt: skip
def test_an_output_that_is_an_input_is_refused(tmp_path, log, output):
    folder = with_log(tmp_path)
    linked(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for command in COMMANDS if log == output else ["evaluate"]:
        done = call(command, "--output", output, folder=folder, log=log)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert "Invalid value for --output" in message(done)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@each_case(("log", "output"), [
    ("log.parquet", "new.parquet"), ("log.parquet", "logs/new.csv"), ("l*.parquet", "new.csv"),
    ("l*.parquet", "new.parquet"), ("logs/*.parquet", "logs/new.csv"), ("logs", "new.csv"),
    ("logs/day=*", "logs/new.csv"),
])  # fmt: skip
def test_outputs_beside_the_inputs_are_written(tmp_path, log, output):
    folder = with_log(tmp_path)
    linked(folder)
    done = call("evaluate", "--output", output, folder=folder, log=log)
    assert done.returncode == 0, done.stderr
    assert (folder / output).exists()


def test_standard_output_that_is_an_input_is_refused(tmp_path):
    path = tmp_path / "log.csv"
    text = "y,a\n0,0.1\n1,0.9\n"
    path.write_text(text)
    words = ["evaluate", "log.csv", "--label", "y", "--score", "a", "-m", "auc"]
    with path.open("a") as log:
        done = subprocess.run(
            [sys.executable, "-m", "fastmetrics", *words], cwd=tmp_path, env=environment(), stdout=log,
            stderr=subprocess.PIPE, text=True, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert "standard output is the input log.csv" in message(done)
    assert path.read_text() == text


def test_an_interrupt_leaves_the_old_files(tmp_path):
    """Nothing is half-written: the old file stays, and no temporary file is left."""
    done = run("sample-log", "log.parquet", "--rows", 300_000, folder=tmp_path)
    assert done.returncode == 0
    (tmp_path / "out.csv").write_text("before")
    words = ["evaluate", "log.parquet", "--label", "click", "--score", "pctr", "--group", "user_id", "--ci", "95",
             "--replicates", "5000", "-o", "out.csv"]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "fastmetrics", *words], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while len(os.listdir(tmp_path)) < 3 and time.monotonic() < deadline:
        os.sched_yield()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert sorted(os.listdir(tmp_path)) == ["log.parquet", "out.csv"]
    assert (tmp_path / "out.csv").read_text() == "before"


@each_case("command", ["coco", "voc"])
def test_json_contradicts_another_format(tmp_path, command):
    done = run(command, "a", "b", "--json", "--format", "csv", folder=tmp_path)
    assert done.returncode == 2
    assert "short for --format json" in message(done)


# --------------------------------------------------------------------------------------- files that would be replaced


def logs_of_all_kinds(folder):
    table = pa.table(LOG)
    pq.write_table(table, folder / "day.parquet")
    with pa.OSFile(str(folder / "day.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    rows = table.to_pylist()
    (folder / "day.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "one.json").write_text(json.dumps(rows[0]))
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    (folder / "day.csv").write_text("\n".join(lines))
    (folder / "day.csv.gz").write_bytes(gzip.compress((folder / "day.csv").read_bytes()))
    for name in ("day.csv", "day.jsonl", "day.parquet", "day.arrow", "day.csv.gz"):
        for suffix in (".json", ".csv", ".html", ".md", ".parquet"):
            (folder / f"{name}{suffix}").write_bytes((folder / name).read_bytes())


@each_case("command", COMMANDS)
@each_case("option", ["-o", "--output"])
def test_a_log_behind_an_option_is_not_replaced(tmp_path, command, option):
    """`-o day.parquet log.parquet` takes the first log for an output."""
    folder = with_log(tmp_path)
    logs_of_all_kinds(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    texts = {"day.csv.html", "day.csv.md", "day.jsonl.html", "day.jsonl.md", "day.jsonl.csv", "day.csv.json"}
    texts |= {"day.csv.parquet", "day.jsonl.parquet"}  # of the kind that the suffix says, or no table at all
    for name in sorted(before.keys() - texts - {"log.parquet"}):
        done = run(command, *WORDS, option, name, "log.parquet", folder=folder)
        assert (done.returncode, done.stdout) == (2, ""), (name, done.stderr)
        assert "Invalid value for --output" in message(done)
        assert name in message(done).replace(" ", "")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@each_case("command", COMMANDS)
def test_results_are_replaced(tmp_path, command):
    """By those of either command, and so are empty files and files of another purpose."""
    folder = with_log(tmp_path)
    names = ["out.csv", "out.md", "out.parquet", "out.json", "out.html"]
    words = [word for name in names for word in ("--output", name)]
    for other in (*COMMANDS, command):
        assert call(other, *words, folder=folder).returncode == 0
    assert (folder / "out.csv").read_text() == made(command).to_csv()
    for content in ("", "before", "# Notes\nsome words\n", made(command).to_json()):
        for name in names:
            (folder / name).write_text(content)
        assert call(command, *words, folder=folder).returncode == 0
    assert (folder / "out.csv").read_text() == made(command).to_csv()


@each_case("command", COMMANDS)
def test_outputs_may_be_no_files(tmp_path, command):
    folder = with_log(tmp_path)
    (folder / "report.json").symlink_to(os.devnull)
    (folder / "report.html").symlink_to(os.devnull)
    assert call(command, "-o", "report.json", "-o", "report.html", folder=folder).returncode == 2  # one file
    assert call(command, "-o", "report.json", folder=folder).returncode == 0
    assert os.stat(os.devnull).st_rdev == os.stat(folder / "report.json").st_rdev


def test_quiet_without_a_file_or_a_gate_leaves_the_result(tmp_path):
    folder = with_log(tmp_path)
    for command in COMMANDS:
        kept = call(command, "-q", "--format", "csv", "-o", "out.csv", folder=folder)
        done = call(command, "-q", "--format", "csv", folder=folder)
        assert (kept.returncode, kept.stdout, kept.stderr) == (0, done.stdout, "")
        assert (done.returncode, done.stdout, done.stderr) == (0, made(command).to_csv(), "")
