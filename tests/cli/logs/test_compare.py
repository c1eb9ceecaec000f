"""``fastmetrics compare``: real files, exit codes, streams, gates."""

import json
import math
from typing import NamedTuple

import numpy as np
import pytest

from support.cases import each_case

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import fastmetrics as fm  # noqa: E402
from fastmetrics._core.comparison.comparison import Comparison  # noqa: E402
from fastmetrics._core.comparison.difference import Difference  # noqa: E402
from fastmetrics.cli import main  # noqa: E402
from support.command_line import run, run_in_terminal  # noqa: E402

COLUMNS = ["--label", "click", "--score", "a", "--score", "b", "--group", "user"]
FEW = ["--replicates", "100"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("compare")
    generator = np.random.default_rng(0)
    rows = 3_000
    truth = generator.random(rows)
    log = {
        "user": generator.integers(0, 200, rows),
        "click": (generator.random(rows) < truth).astype(np.int8),
        "a": truth,
        "b": np.clip(truth + generator.normal(0, 0.3, rows), 0.01, 0.99),
        "country": generator.choice(["NL", "DE"], rows),
    }
    pq.write_table(pa.table(log), path / "log.parquet")
    pq.write_table(pa.table(log | {"b": log["a"]}), path / "equal.parquet")
    pq.write_table(pa.table({"reference": ["a b c d", "b c"] * 5, "a": ["a b", "b"] * 5, "b": ["a b c d", "b c"] * 5}),
                   path / "texts.parquet")  # fmt: skip
    return path


class Done(NamedTuple):
    """Exit code and streams of a command."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def compare(folder, capsys, monkeypatch):
    """Runs the command in this process, which is faster than a subprocess."""
    monkeypatch.chdir(folder)
    # Wide enough for every line.
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments, log="log.parquet", columns=(*COLUMNS, *FEW)):
        return Done(main(["compare", log, *columns, *arguments]), *capsys.readouterr())

    return call


def test_the_table_is_that_of_the_comparison(folder):
    done = run("compare", "log.parquet", *COLUMNS, *FEW, "-m", "gauc", "--metric", "auc,logloss", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    expected = fm.compare(
        folder / "log.parquet", ["gauc", "auc", "logloss"], label="click", score=["a", "b"], group="user",
        replicates=100,
    )  # fmt: skip
    shown = done.stdout.splitlines()
    without_time = [line for line in shown if not line.startswith("fastmetrics")]
    assert without_time == [line for line in str(expected).splitlines() if not line.startswith("fastmetrics")]
    assert shown[0].startswith("b is worse: gauc −0.")


def test_json_is_the_comparison(compare, folder):
    done = compare("-m", "auc", "--by", "country", "--ci", "90%", "--correction", "none", "--json")
    assert done.returncode == 0, done.stderr
    expected = fm.compare(
        folder / "log.parquet", ["auc"], label="click", score=["a", "b"], group="user", replicates=100, by="country",
        ci=0.9, correction=None,
    )  # fmt: skip
    assert json.loads(done.stdout) == json.loads(expected.to_json())
    done = compare("-m", "gauc", "-o", "out.json", "--unit", "country", "--seed", "3")
    assert done.returncode == 1  # users are in both countries
    assert "unit column 'country'" in done.stderr
    assert not list(folder.glob("*.json*"))


def test_a_page(compare, folder):
    done = compare("-m", "auc", "-o", "out.html", "-o", "out.json")
    assert done.returncode == 0, done.stderr
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "auc" in page
    assert json.loads((folder / "out.json").read_text())["differences"][0]["metric"] == "auc"


def test_default_metrics_can_be_better_or_worse(compare):
    done = compare("--json")
    assert done.returncode == 0, done.stderr
    metrics = {one["metric"] for one in json.loads(done.stdout)["differences"]}
    assert {"auc", "gauc", "logloss"} <= metrics
    assert "ctr" not in metrics


def test_failed_gates_have_their_own_exit_code(folder):
    gates = ["--fail-if", "auc drops 0.001", "--fail-if", "auc rises 0.001"]
    done = run("compare", "log.parquet", *COLUMNS, *FEW, "-m", "auc", *gates, folder=folder)
    assert done.returncode == 3
    line, passed = done.stderr.splitlines()
    assert line.startswith("failed: --fail-if 'auc drops 0.001': auc dropped by 0.")
    assert passed == "passed: --fail-if 'auc rises 0.001'"
    assert "(a) to" in line
    assert "auc" in done.stdout  # the table is there all the same


def test_gates_add_their_metrics_and_test_the_value_itself(compare):
    done = compare("--fail-if", "logloss rises 1% significantly", "--fail-if", "gauc drops 50%", "--json")
    assert done.returncode == 3
    assert [one["metric"] for one in json.loads(done.stdout)["differences"]] == ["logloss", "gauc"]
    line, passed = done.stderr.splitlines()
    assert "logloss rose by" in line
    assert passed.startswith("passed: ")
    assert "%" in line
    assert ", worse), from" in line
    gates = ["logloss drops 0.0001", "gauc rises"]
    done = compare("--fail-if", gates[0], "--fail-if", gates[1])
    assert (done.returncode, done.stderr) == (0, "".join(f"passed: --fail-if {gate!r}\n" for gate in gates))


def test_equal_models_pass(compare):
    done = compare("-m", "auc", "--fail-if", "auc drops", "--fail-if", "auc rises", log="equal.parquet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("b has the same values as a in all rows: auc\n")


@each_case(
    ("arguments", "message"),
    [
        (["--fail-if", "gaux drops 0.1"], "did you mean 'gauc'"),
        (["--fail-if", "auc falls 0.1"], "cannot read"),
        (["--fail-if", "auc drops -0.1"], "cannot read"),
        (["--fail-if", "drops 0.1"], "cannot read"),
        (["-m", "gaux"], "did you mean 'gauc'"),
        (["--ci", "0"], "found 0"),
        (["--ci", "wide"], "found wide"),
        (["--ci", "100"], "found 100"),
        (["-o", "-"], "name a file"),
        (["--baseline", "c"], "c is not one of the scores"),
        (["--correction", "bonferroni"], "bonferroni"),
    ],
)
def test_wrong_usage_is_found_before_anything_is_read(compare, arguments, message):
    done = compare(*arguments, log="absent.parquet")
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_two_scores_are_needed(compare):
    done = compare(log="absent.parquet", columns=["--label", "click", "--score", "a"])
    assert done.returncode == 2
    assert "at least two models" in done.stderr
    done = compare(log="absent.parquet", columns=["--score", "a", "--score", "b"])
    assert done.returncode == 2
    assert "--label" in done.stderr
    done = compare(columns=["--label", "click", "--score", "a", "--score", "bb"])
    assert done.returncode == 1
    assert "bb" in done.stderr


def test_texts(compare):
    done = compare("-m", "bleu,ter", log="texts.parquet", columns=["--score", "a", "--score", "b", *FEW])
    assert done.returncode == 0, done.stderr
    assert "bleu" in done.stdout


def test_help_has_examples_and_the_grammar_of_gates(compare):
    done = compare(log="--help", columns=[])
    assert done.returncode == 0
    text = " ".join(done.stdout.split())
    assert "--fail-if" in text
    assert "drops|rises" in text
    assert "significantly" in text
    assert "in any slice" in text
    assert "fastmetrics compare" in text


def test_a_terminal_shows_colors(folder):
    code, shown = run_in_terminal("compare", "log.parquet", *COLUMNS, *FEW, "-m", "auc", folder=folder, columns=120)
    assert code == 0
    assert "\x1b[1;31m" in shown  # worse, and significantly so
    code, narrow = run_in_terminal("compare", "log.parquet", *COLUMNS, *FEW, "-m", "auc", folder=folder, columns=60)
    assert code == 0
    assert narrow.count("metric") > 1  # columns that do not fit are in another table
    assert "verdict" in shown


# --------------------------------------------------------------------------------------------- gates by themselves


def make_comparison(*differences, **options):
    return Comparison(differences, **{"level": 0.95, "correction": "holm"} | options)


def failures(text, comparison):
    from fastmetrics.cli.logs.gates import read_gate

    return list(read_gate(text).failures(comparison))


def test_texts_of_gates():
    one = Difference("auc", "a", "b", 0.75, 0.5, pvalue=0.01, adjusted_pvalue=0.04, verdict="worse")
    comparison = make_comparison(one)
    for text in (
        "auc drops", "auc drops 0.25", "auc drops by 0.25", "auc  drops 1e-3", "auc drops 33%", "auc drops 33 %",
        "auc drops significantly", "auc drops .2 significantly", "auc drops 0.1 in any slice", "auc worsens",
        "auc worsens by 0.25", "anything worsens 33% significantly in any slice",
    ):  # fmt: skip
        assert len(failures(text, comparison)) == 1, text
    for text in ("auc rises", "auc drops 0.26", "auc drops 34%", "gauc drops", "auc rises 0.1 significantly"):
        assert failures(text, comparison) == [], text
    for verdict in ("cannot tell", "worse within the margin", "equal within the margin"):
        doubtful = make_comparison(one.replace(verdict=verdict))
        assert failures("auc drops significantly", doubtful) == []
        assert failures("anything worsens significantly", doubtful) == []
        assert failures("auc drops 0.1", doubtful)
    assert failures("auc drops 0.25", comparison) == [
        "'auc drops 0.25': auc dropped by 0.25 (p 0.01, worse), from 0.75 (a) to 0.5 (b)"
    ]
    assert "auc dropped by 0.25, 33.3% (p 0.01, worse), from" in failures("auc drops 30%", comparison)[0]


@each_case(
    ("metric", "a", "b", "worsens"),
    [
        ("logloss", 0.3, 0.4, True), ("logloss", 0.4, 0.3, False), ("copc", 1.1, 0.95, False), ("copc", 1.1, 0.8, True),
        ("bias", -0.1, 0.2, True), ("bias", -0.2, 0.1, False), ("auc", 0.5, 0.5, False),
    ],
)  # fmt: skip
def test_gates_follow_the_direction_of_a_metric(metric, a, b, worsens):
    comparison = make_comparison(Difference(metric, "a", "b", a, b))
    assert bool(failures(f"{metric} worsens", comparison)) is worsens
    assert bool(failures("anything worsens", comparison)) is worsens
    assert failures("anything worsens", make_comparison(Difference("ctr", "a", "b", a, b))) == []


def test_a_metric_without_direction_cannot_worsen():
    with pytest.raises(Exception, match="no value of ctr is better than another"):
        failures("ctr worsens", make_comparison())


def test_gates_and_slices():
    whole = Difference("auc", "a", "b", 0.5, 0.5)
    part = whole.replace(slice={"country": "NL"}, difference=-0.25)
    assert failures("auc drops", make_comparison(whole, part)) == []
    (line,) = failures("auc drops in any slice", make_comparison(whole, part))
    assert "auc [country=NL] dropped by 0.25" in line
    (line,) = failures("auc drops in any slice", make_comparison(whole, part.replace(label="click")))
    assert "auc [country=NL, label click] dropped by 0.25" in line


def test_differences_that_cannot_be_tested_fail():
    undefined = make_comparison(Difference("auc", "a", "b", math.nan, 0.5, reason="a: one class only"))
    assert failures("auc drops 0.1", undefined) == ["'auc drops 0.1': auc cannot be tested: a: one class only"]
    untested = Difference("auc", "a", "b", 0.75, 0.5, reason="one unit alone")
    assert failures("auc drops 0.1", make_comparison(untested))
    assert "one unit alone" in failures("auc drops significantly", make_comparison(untested))[0]


def test_too_few_replicates_fail_gates_of_significance():
    few = "50 replicates show no difference at this level: ask for more"
    one = Difference("auc", "a", "b", 0.75, 0.5, pvalue=1 / 51, adjusted_pvalue=6 / 51, reason=few)
    assert f"cannot be tested: {few}" in failures("auc drops significantly", make_comparison(one))[0]
    assert failures("auc rises significantly", make_comparison(one)) == []
    assert few in str(make_comparison(one))
    enough = one.replace(pvalue=2 / 51, adjusted_pvalue=12 / 51, verdict_interval=(-0.5, 0.1), reason=None)
    assert failures("auc drops significantly", make_comparison(enough)) == []


def test_a_gate_names_a_metric_in_any_spelling():
    one = Difference("gauc(weight=pairs)", "a", "b", 0.75, 0.5)
    assert failures("gauc( weight='pairs' ) drops 0.1", make_comparison(one))
    assert failures("gauc drops 0.1", make_comparison(one)) == []


def test_slices_beside_the_rest_of_the_rows(compare, folder):
    one = ["--label", "click", "--score", "b", "--group", "user"]
    asked = ["--by", "country", "-m", "auc", "--baseline", "rest"]
    done = compare(*asked, "--json", columns=one)
    expected = fm.compare(
        folder / "log.parquet", "auc", label="click", score=["b"], group="user", by="country", baseline="rest"
    )
    assert done.returncode == 0
    lines = json.loads(done.stdout)["differences"]
    assert [(one["baseline"], one["other"], one["difference"]) for one in lines] == [
        ("rest", "b", own.difference) for own in expected
    ]
    gate = "auc worsens 0.9"
    for text, code, said in ((gate, 2, f"write '{gate} in any slice'"), (f"{gate} in any slice", 0, "")):
        done = compare(*asked, "--fail-if", text, columns=one)
        assert (done.returncode, said in done.stderr) == (code, True)
    done = compare(*asked, "--fail-if", "auc drops 0 in any slice", columns=one)
    assert (done.returncode, "(rest) to" in done.stderr) == (3, True)


def test_two_logs_are_compared(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    table = pq.read_table("log.parquet")
    pq.write_table(table.slice(0, 1_500), "monday.parquet")
    pq.write_table(table.slice(1_500), "tuesday.parquet")
    columns = ["--label", "click", "--score", "a", "--group", "user", "-m", "auc"]
    called = ["compare", "tuesday.parquet", "--against", "monday.parquet", *columns]
    assert main([*called, "--by", "country", "--json"]) == 0
    found = Comparison.from_json(capsys.readouterr().out)
    expected = fm.compare(
        "tuesday.parquet", "auc", against="monday.parquet", label="click", score="a", group="user", by="country"
    )
    assert list(found) == list(expected)
    assert (found["auc"].baseline, found["auc"].other) == ("monday", "tuesday")
    assert main([*called, "--fail-if", "auc drops 0.9"]) == 0
    capsys.readouterr()
    assert main(["compare", "tuesday.parquet", "--against", "tuesday.parquet", *columns]) == 1
    assert "data and against are the same log" in capsys.readouterr().err
    assert main(["compare", "tuesday.parquet", "--against", "monday.parquet", "--label", "click", "-m", "auc"]) == 2
    assert "--score: name the column" in capsys.readouterr().err
