"""`fastmetrics evaluate --ci 95 --html FILE`: the page, the intervals, and wrong usage."""

import json

import numpy as np
import pytest

from support import html_pages
from support.cases import each_case

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from typer.testing import CliRunner  # noqa: E402

import fastmetrics as fm  # noqa: E402
from fastmetrics.cli.app import app  # noqa: E402

COLUMNS = ["--label", "click", "--score", "a", "--score", "b", "--group", "user"]
METRICS = ["--metrics", "gauc,logloss"]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    generator = np.random.default_rng(5)
    rows = 2000
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    chance = generator.random(rows)
    table = {
        "click": (generator.random(rows) < chance).astype(int),
        "a": chance,
        "b": generator.random(rows),
        "user": generator.integers(0, 60, rows),
        "day": generator.integers(0, 3, rows),
    }
    pq.write_table(pa.table(table), path)
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)])


def test_a_page_with_intervals(log, tmp_path):
    path = tmp_path / "out.html"
    asked = ["--ci", "95", "--replicates", "50", "--seed", "3", "--by", "day", "-o", path]
    done = run(log, *COLUMNS, *METRICS, *asked)
    assert done.exit_code == 0, done.output
    assert f"wrote {path}" in done.stderr
    assert "wrote" not in done.stdout
    html = path.read_text(encoding="utf-8")
    assert html_pages.complaints(html) == []
    assert "95%, bootstrap of 50 replicates over user, seed 3" in html
    page = html_pages.Page(html)
    assert [own.text() for own in page.all("h2")] == ["Summary", "Curves", "Slices", "Coverage", "Signatures"]
    report = fm.evaluate(
        log, ["gauc", "logloss"], label="click", score=["a", "b"], group="user", ci=0.95, replicates=50, seed=3
    )
    drawn = {float(own["value"]) for own in page.identified("summary").all("data")}
    assert drawn == {own.value for own in report}
    low, high = report.result("gauc", score="a").interval
    assert f"{low:.5f} to {high:.5f}" in html


@each_case("level", ["95", "95%", "0.95", "95.0"])
def test_levels(log, level):
    done = run(log, *COLUMNS, *METRICS, "--ci", level, "--replicates", "20", "--json")
    assert done.exit_code == 0, done.output
    results = json.loads(done.stdout)["results"]
    assert all("|ci:0.95|" in own["signature"] and own["ci_low"] < own["ci_high"] for own in results)


@each_case("level", ["0", "1", "100", "-5", "high", "nan", "100%", ""])
def test_bad_levels_say_what_to_type(log, level):
    done = run(log, *COLUMNS, *METRICS, "--ci", level)
    assert done.exit_code == 2
    assert "--ci 95" in done.stderr


@each_case(
    ("arguments", "said"),
    [
        (["--unit", "day"], "--ci 95"),
        (["--replicates", "50"], "--ci 95"),
        (["--seed", "3"], "--ci 95"),
        (["--ci-method", "delong"], "--ci 95"),
        (["--ci", "95", "--replicates", "0"], "--replicates"),
        (["--ci", "95", "--seed", "-1"], "--seed"),
        (["--ci", "95", "--ci-method", "magic"], "bootstrap"),
        (["-o", "-"], "name a file"),
    ],
)
def test_wrong_usage(log, arguments, said):
    done = run(log, *COLUMNS, *METRICS, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_another_unit_and_method(log):
    arguments = ["--ci", "90", "--unit", "day", "--ci-method", "normal", "--replicates", "20", "--json"]
    done = run(log, "--label", "click", "--score", "a", "--metrics", "logloss", *arguments)
    assert done.exit_code == 0, done.output
    assert "|ci:0.9|method:normal|replicates:20|seed:0|unit:day" in done.stdout


def test_an_error_leaves_no_file(log, tmp_path):
    path = tmp_path / "out.html"
    path.write_text("before", encoding="utf-8")
    done = run(log, "--label", "nowhere", "--score", "a", *METRICS[:1], "logloss", "-o", path)
    assert done.exit_code != 0
    assert path.read_text(encoding="utf-8") == "before"
    assert [own.name for own in tmp_path.iterdir()] == ["out.html"]


def test_a_missing_folder_is_an_error_before_reading(log, tmp_path):
    done = run(log, *COLUMNS, *METRICS, "-o", tmp_path / "no" / "out.html")
    assert done.exit_code != 0
    assert isinstance(done.exception, FileNotFoundError)


def test_metrics_without_curves(tmp_path):
    path, page = tmp_path / "texts.parquet", tmp_path / "texts.html"
    pq.write_table(pa.table({"reference": ["a cat sat"], "hypothesis": ["a cat sits"]}), path)
    done = run(path, "--metrics", "bleu,ter", "-o", page)
    assert done.exit_code == 0, done.output
    html = page.read_text(encoding="utf-8")
    assert html_pages.complaints(html) == []
    assert "no metric of classes was asked for" in html


def test_a_comparison_as_a_page(log, tmp_path):
    path = tmp_path / "out.html"
    arguments = [log, *COLUMNS, "--metrics", "gauc", "--replicates", "50", "-o", path]
    done = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    html = path.read_text(encoding="utf-8")
    assert html_pages.complaints(html) == []
    page = html_pages.Page(html)
    assert page.one("h1").text() == "b compared with a"
    assert [own.text() for own in page.all("h2")] == ["Differences", "Methods"]
