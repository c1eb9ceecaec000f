"""The command line with slices, several models and labels, and little memory: processes, pipes and terminals."""

import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import each_case

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from support.command_line import (  # noqa: E402
    ESCAPE,
    assert_is_a_message,
    environment,
    plain,
    run,
    run_in_terminal,
    run_python,
    write_log,
)

CHANNELS = ["ads", "email", "feed", "push"]
MODELS = ["--score", "a", "--score", "b", "--score", "c"]
EVALUATE = ["evaluate", "log.parquet", "--label", "click"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models and two labels on four channels; the last channel has no clicks."""
    random = np.random.default_rng(5)
    n = 4_000
    channel = np.arange(n) % 4
    a, b, c = random.random((3, n)).round(3)
    click = ((random.random(n) < a) & (channel != 3)).astype(np.int8)
    path = tmp_path_factory.mktemp("slices")
    write_log(
        path / "log.parquet",
        click=click, buy=click & (random.random(n) < 0.5), a=a, b=b, c=c, user=np.arange(n) % 300,
        channel=np.array(CHANNELS)[channel], country=np.array(["de", "fr"])[np.arange(n) // 7 % 2],
    )  # fmt: skip
    return path


def table_of(text: str) -> list[list[str]]:
    """The words of the lines between the first two empty lines of a report's plain text."""
    return [line.split() for line in text.split("\n\n")[1].splitlines()]


# ------------------------------------------------------------------------------------------------------------ tables


def test_slices_are_rows_and_metrics_columns_of_plain_text(folder):
    arguments = [*EVALUATE, *MODELS, "--group", "user", "--by", "channel", "--metrics", "auc,gauc,ctr"]
    done = run(*arguments, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert ESCAPE not in done.stdout
    header, *rows = table_of(done.stdout)
    assert header == ["score", "channel", "rows", "positives", "auc", "gauc", "ctr"]
    assert [row[:3] for row in rows] == [
        [score, channel, "4,000" if channel == "(all)" else "1,000"]
        for channel in ("(all)", *CHANNELS)
        for score in "abc"
    ]
    document = json.loads(run(*arguments, "--json", folder=folder).stdout)
    assert document["columns"] == {"label": "click", "score": ["a", "b", "c"], "group": "user", "by": "channel"}
    values = [result["value"] for result in document["results"]]
    shown = [None if text == "undefined" else float(text) for row in rows for text in row[4:]]
    assert shown == [None if value is None else pytest.approx(value, abs=5e-6) for value in values]
    assert "auc: undefined in 3 of 15 rows of the table, " in done.stdout
    assert done.stdout.count("undefined in") == 2


def test_labels_and_combinations_of_slices(folder):
    arguments = [*EVALUATE, "--label", "buy", "--score", "a", "--by", "channel", "--by", "country", "--metrics", "auc"]
    done = run(*arguments, "-o", "report.json", folder=folder)
    assert (done.returncode, done.stderr) == (0, "wrote report.json\n")
    header, *rows = table_of(done.stdout)
    assert header == ["label", "channel", "country", "rows", "positives", "auc"]
    assert [row[:3] for row in rows[:4]] == [
        ["click", "(all)", "(all)"], ["buy", "(all)", "(all)"], ["click", "ads", "de"], ["buy", "ads", "de"],
    ]  # fmt: skip
    assert len(rows) == 2 * (1 + 4 * 2)
    assert "label click, buy; score a; by channel, country" in done.stdout
    document = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert (document["columns"]["by"], document["results"][1]["label"]) == (["channel", "country"], "buy")
    assert document["results"][2]["slice"] == {"channel": "ads", "country": "de"}


def test_a_group_of_several_columns(folder):
    command = [*EVALUATE, "--score", "a", "--group", "user", "--group", "channel", "--metrics", "gauc", "--ci", "90"]
    report = json.loads(run(*command, "--unit", "user", "--json", folder=folder).stdout)
    assert report["columns"]["group"] == ["user", "channel"]
    log = pq.read_table(folder / "log.parquet")
    expected = fm.evaluate(
        log, "gauc", label="click", score="a", group=["user", "channel"], ci=0.9, unit="user"
    ).result("gauc")
    assert report["results"][0]["value"] == expected.value
    assert (report["results"][0]["ci_low"], report["results"][0]["ci_high"]) == expected.interval


def test_a_statistic_of_groups(folder):
    names = ["gauc(stat=p10, rule=lower)", "gauc(stat=below, at=0.5)"]
    command = [*EVALUATE, "--score", "a", "--group", "user", "--metrics", ",".join(names), "--memory-limit", "1MiB"]
    results = json.loads(run(*command, "--json", folder=folder).stdout)["results"]
    log = pq.read_table(folder / "log.parquet")
    expected = fm.evaluate(log, names, label="click", score="a", group="user")
    assert [(own["metric"], own["value"]) for own in results] == [(name, expected[name]) for name in names]


def test_a_slice_has_the_values_of_its_rows(folder):
    table = pq.read_table(folder / "log.parquet")
    pq.write_table(table.filter(pa.compute.equal(table["channel"], "feed")), folder / "feed.parquet")
    options = ["--score", "b", "--group", "user", "--json"]
    whole = json.loads(run(*EVALUATE, *options, "--by", "channel", folder=folder).stdout)["results"]
    alone = json.loads(run("evaluate", "feed.parquet", *EVALUATE[2:], *options, folder=folder).stdout)["results"]
    found = {result["metric"]: result["value"] for result in whole if result["slice"] == {"channel": "feed"}}
    assert found == {result["metric"]: result["value"] for result in alone}


def drawn_tables(screen: str) -> list[list[str]]:
    """The lines of every table on a screen, from the line below its header to its last row."""
    lines = plain(screen).splitlines()
    rules = [place for place, line in enumerate(lines) if line.strip() and set(line.strip()) == {"─"}]
    tables = []
    for rule in rules:
        end = rule + 1
        while lines[end].strip() or (end + 1 < len(lines) and lines[end + 1].startswith((" a ", " b ", " c "))):
            end += 1
        tables.append([line for line in lines[rule - 1 : end] if line.strip()])
    return tables


@pytest.mark.parametrize("columns", [100, 80])
def test_three_models_and_five_slices_in_a_terminal(folder, columns):
    arguments = [*EVALUATE, *MODELS, "--group", "user", "--by", "channel"]
    code, screen = run_in_terminal(*arguments, folder=folder, columns=columns)
    assert code == 0
    assert f"{ESCAPE}[1;33mundefined" in screen
    result = plain(screen)[plain(screen).rindex("label click  score a, b, c") :]
    assert all(len(line) <= columns for line in result.splitlines())
    tables = drawn_tables(screen)
    assert 2 <= len(tables) <= 3
    for table in tables:
        assert [line.split()[:2] for line in table[2:]] == [[s, c] for c in ("(all)", *CHANNELS) for s in "abc"]
        assert all(line.split()[2] == ("4,000" if "(all)" in line else "1,000") for line in table[2:])
        points = [{place for place, mark in enumerate(line) if mark == "."} for line in table[2:]]
        assert set.union(*points) == points[0]
    shown = [name for table in tables for name in table[0].split()[3:]]
    metrics = json.loads(run(*arguments, "--json", folder=folder).stdout)["results"]
    assert shown == list(dict.fromkeys(result["metric"] for result in metrics))
    assert "5 digits; all of them are in --json" in " ".join(result.split())
    assert result.count("undefined in") <= 6


def test_digits_on_a_terminal(folder):
    """Five by default, the same in every row of a column; as many as are asked for."""
    arguments = [*EVALUATE, *MODELS[:4], "--by", "channel", "--metrics", "auc,ks"]
    values = [result["value"] for result in json.loads(run(*arguments, "--json", folder=folder).stdout)["results"]]
    usual = plain(run_in_terminal(*arguments, folder=folder)[1])
    assert all(re.search(rf"(?<=\s){value:.5f}(?=\s)", usual) for value in values if value is not None)
    few = plain(run_in_terminal(*arguments, "--digits", 3, folder=folder)[1])
    assert all(re.search(rf"(?<=\s){value:.3f}(?=\s)", few) for value in values if value is not None)
    exact = plain(run_in_terminal(*arguments, "--digits", 17, folder=folder)[1])
    assert all(repr(value) in exact for value in values if value is not None)
    assert "digits;" not in exact


def test_names_are_shown_as_they_are(tmp_path):
    """Brackets are not markup, parameters are below the name, long values are folded."""
    slices = ["[red]", "[/x]", "x" * 70]
    write_log(tmp_path / "log.parquet", click=[0, 1] * 3, a=[0.25, 0.5] * 3, s=[s for s in slices for _ in "01"])
    arguments = [*EVALUATE, "--score", "a", "--by", "s", "--metrics", "auc,ece(n_bins=5),ece(n_bins=3,norm=max)"]
    code, screen = run_in_terminal(*arguments, folder=tmp_path, columns=80)
    assert code == 0, screen
    text = plain(screen)
    assert "[red]" in text
    assert "[/x]" in text
    assert "x" * 30 in text
    assert "x" * 41 not in text
    assert "(n_bins=5)" in text
    assert all(len(line) <= 80 for line in text[text.rindex("label click") :].splitlines())


def test_rows_beyond_a_thousand_are_counted_not_drawn(tmp_path):
    n = 2_400
    write_log(tmp_path / "log.parquet", click=np.arange(n) % 2, a=np.linspace(0, 1, n), s=np.arange(n) // 2)
    arguments = [*EVALUATE, "--score", "a", "--by", "s", "--metrics", "auc"]
    code, screen = run_in_terminal(*arguments, folder=tmp_path)
    assert code == 0
    assert "201 more rows are in a pipe and in --json" in plain(screen)
    assert len(table_of(run(*arguments, folder=tmp_path).stdout)) == 1 + 1201


def test_drawn_table():
    """Every character: aligned decimal points, a blank line between slices, parameters below a metric's name."""
    from rich.console import Console

    from fastmetrics.engine.results.report import Report
    from fastmetrics.engine.results.result import Result
    from fastmetrics.reporting.report_table import report_table
    from fastmetrics.reporting.terminal.drawn_tables import print_wide_table

    values = {"a": [12.25, 0.0000123456789, None], "b": [0.5, math.nan, 7.0]}
    results = [
        Result(metric, score, part, value, "s", {"rows": 1200 - 900 * len(part)})
        for part in ({}, {"day": 1})
        for score in "ab"
        for metric, value in zip(["x", "y(k=5,m=2)", "z"], values[score], strict=True)
        if value is not None
    ]

    def drawn(width: int, digits: int = 17) -> list[str]:
        console = Console(file=io.StringIO(), width=width)
        print_wide_table(console, report_table(Report(results, rows=1200, version="0"), digits))
        return [line.rstrip() for line in console.file.getvalue().splitlines()]

    assert drawn(49) == [
        "                             y",
        "                             (k=5,",
        " score  day     rows  x       m=2)           z",
        f" {'─' * 48}",
        " a      (all)  1,200  12.25  1.23456789e-05",
        " b      (all)  1,200   0.5   undefined       7.0",
        "",
        " a      1        300  12.25  1.23456789e-05",
        " b      1        300   0.5   undefined       7.0",
    ]

    assert max(map(len, drawn(40))) <= 40
    rounded = [line.split()[3:] for line in drawn(60, 5)[4:6]]
    assert rounded == [["12.250", "1.2346e-05"], ["0.500", "undefined", "7.0000"]]


def test_one_score_without_slices_has_a_row_for_each_metric(folder):
    arguments = [*EVALUATE, "--score", "a", "--metrics", "auc"]
    assert [line.split()[0] for line in run(*arguments, folder=folder).stdout.splitlines()[-2:]] == ["metric", "auc"]
    assert "computed from" in plain(run_in_terminal(*arguments, folder=folder)[1])


def test_an_interval_is_beside_its_value(tmp_path):
    code = (
        "import sys, fastmetrics\n"
        "from fastmetrics import Report, Result\n"
        "from fastmetrics.reporting.terminal.report import print_report\n"
        "result = Result('auc', 'a', {}, 0.76315, 's', {'rows': 5}, interval=(0.7631, 0.7632))\n"
        "sys.stdout.isatty = lambda: True\n"
        "print_report(Report([result], rows=5, version='0'))\n"
    )
    done = run_python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "between 0.7631 and 0.7632; 5 rows" in plain(done.stdout)


# ------------------------------------------------------------------------------------------------------------ memory


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of many times 1 MiB."""
    path = tmp_path_factory.mktemp("long")
    assert run("sample-log", "log.parquet", "--rows", 300_000, folder=path).returncode == 0
    return path


SPILLING = [*EVALUATE, "--score", "pctr", "--group", "user_id", "--memory-limit", "1MiB"]


def test_little_memory_gives_the_same_digits_and_leaves_nothing(long_log, tmp_path):
    spilled = run(*SPILLING, "--spill-dir", tmp_path, "--json", folder=long_log)
    assert (spilled.returncode, spilled.stderr) == (0, "")
    assert spilled.stdout == run(*SPILLING[:-2], "--json", folder=long_log).stdout
    assert list(tmp_path.iterdir()) == []


@each_case("size", ["2gigs", "", "-1", "12", "1e9", "0.5KiB"])
def test_memory_limit_that_cannot_be_read_is_wrong_usage_found_before_reading(tmp_path, size):
    done = run("evaluate", "nowhere.parquet", *EVALUATE[2:], "--score", "a", f"--memory-limit={size}", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--memory-limit must be" in done.stderr
    assert "'2GiB'" in done.stderr
    assert "Traceback" not in done.stderr


TASKS = ["--task", "ctr: label=click; score=a,b", "--task", "sales: label=buy; score=c; metrics=auc"]


def test_tasks_are_those_of_python(folder):
    done = run("evaluate", "log.parquet", "-m", "auc,logloss", *TASKS, "--by", "channel", "--json", folder=folder)
    tasks = {"ctr": fm.Task(label="click", score=["a", "b"]), "sales": fm.Task(label="buy", score="c", metrics="auc")}
    expected = fm.evaluate(folder / "log.parquet", "auc,logloss", tasks=tasks, by="channel")
    assert json.loads(done.stdout) == expected.to_dict()
    compared = [*TASKS[:2], "--task", "sales: label=buy; score=c,a"]
    done = run("compare", "log.parquet", "-m", "auc", *compared, "--replicates", "20", "--json", folder=folder)
    assert {own["task"] for own in json.loads(done.stdout)["differences"]} == {"ctr", "sales"}


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        (["ctr"], "type NAME: label=COLUMN; score=COLUMN"),
        (["ctr: label"], "cannot read 'label'"),
        (["ctr: lable=click"], "a task has no 'lable'"),
        (["ctr: label=click; label=buy"], "label is given twice"),
        (["ctr: label=click", "ctr: label=buy"], "task ctr is given twice"),
    ],
    ids=["no colon", "no value", "unknown key", "key twice", "name twice"],
)
def test_bad_tasks(folder, tasks, message):
    options = [text for task in tasks for text in ("--task", task)]
    done = run("evaluate", "log.parquet", *options, folder=folder)
    assert done.returncode == 2
    assert message in plain(done.stderr)


@pytest.mark.parametrize(("place", "reason"), [("nowhere", "no such folder"), ("log.parquet", "not a folder")])
def test_spill_folder_that_cannot_be_used(folder, place, reason):
    done = run(*EVALUATE, "--score", "a", "--spill-dir", place, folder=folder)
    assert_is_a_message(done, f"'{place}': ", reason, "--spill-dir", "--memory-limit")
    assert len(done.stderr.splitlines()) == 1
    assert "spill_dir" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files")
def test_full_disk_is_one_line(long_log, tmp_path):
    """A limit of the file size simulates a full disk."""
    code = (
        "import resource, sys; from fastmetrics.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        f"sys.exit(main({[*SPILLING, '--spill-dir', str(tmp_path)]!r}))"
    )
    done = run_python(code, long_log)
    assert_is_a_message(done, str(tmp_path), "may not grow larger", "more were needed", "--spill-dir")
    assert len(done.stderr.splitlines()) == 1
    assert "spill_dir" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_interrupted_evaluate_leaves_nothing(long_log, tmp_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("copies")
    copies = [folder / f"{number}.parquet" for number in range(150)]
    for copy in copies:
        os.link(long_log / "log.parquet", copy)
    arguments = ["evaluate", *copies, *SPILLING[2:], "--spill-dir", tmp_path, "-o", tmp_path / "report.json"]
    command = [sys.executable, "-m", "fastmetrics", *map(str, arguments)]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 60
        while not spill_files(process.pid, tmp_path) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        output, message = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert (output, message) == ("", "")
    assert list(tmp_path.iterdir()) == []


def spill_files(process: int, folder: Path) -> list[str]:
    """The unnamed files of a folder that a process has open; empty if the system does not list them."""
    descriptors = Path(f"/proc/{process}/fd")
    if not descriptors.is_dir():
        time.sleep(2)
        return ["unknown"]
    found = []
    for descriptor in descriptors.iterdir():
        try:
            target = os.readlink(descriptor)
        except OSError:
            continue
        if target.startswith(str(folder)) and target.endswith("(deleted)"):
            found.append(target)
    return found


def test_grouping_sets_least_rows_and_order(folder):
    arguments = [*EVALUATE, "--score", "a", "--metrics", "auc,ctr", "--grouping-set", "channel"]
    arguments += ["--grouping-set", "channel, country", "--min-rows", "600", "--sort", "auc"]
    done = run(*arguments, "-o", "report.json", folder=folder)
    assert (done.returncode, done.stderr) == (0, "wrote report.json\n")
    log = pq.read_table(folder / "log.parquet")
    by = [["channel"], ["channel", "country"]]
    expected = fm.evaluate(log, "auc,ctr", label="click", score="a", by=by, min_rows=600)
    document = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert document["columns"]["by"] == by
    assert document["small_slices"] == dict(expected.small_slices)
    assert document["results"] == [own.to_dict() for own in expected.sorted_by("auc")]
    assert "by (channel), (channel, country)" in done.stdout


def test_intervals_of_numbers(folder):
    done = run(*EVALUATE, "--score", "a", "--metrics", "auc", "--by", "qcut(a, 4)", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "found in a first read of the log" in done.stdout
    assert "(-inf, " in done.stdout


def test_wrong_usage_of_slices(folder):
    arguments = [*EVALUATE, "--score", "a", "--metrics", "auc,ctr"]
    for more, message in (
        (["--by", "channel", "--sort", "gauc"], "gauc is not computed"),
        (["--by", "channel", "--sort", "ctr"], "no value of 'ctr' is better"),
        (["--sort", "auc"], "it is for slices"),
        (["--by", "channel", "--grouping-set", "channel"], "leave out --by"),
        (["--by", "channel", "--min-rows", "-1"], "min-rows"),
    ):
        done = run(*arguments, *more, folder=folder)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.replace("│", " ").split())
