"""A truth table beside a log, on the command line."""

import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support.command_line import assert_refused, run
from support.ranking.truth_tables import COLUMNS, METRICS, random_tables

NAMES = [*(part for name in METRICS for part in ("-m", name)), "--score", "score", "--group", "user"]
ITEM = ["--role", "item=item"]
OF_LOG = ["--label", "grade"]


@pytest.fixture
def folder(tmp_path):
    log, truth = random_tables(1)
    pa.parquet.write_table(log, tmp_path / "log.parquet")
    pa.csv.write_csv(truth, tmp_path / "truth.csv")
    return tmp_path


@pytest.fixture
def expected():
    log, truth = random_tables(1)
    report = fm.evaluate(log, METRICS, label="grade", truth=truth, by="country", **COLUMNS)
    return [result.value for result in report]


def values_of(done):
    assert done.returncode == 0, done.stderr
    return [own["value"] for own in json.loads(done.stdout)["results"]]


@pytest.mark.parametrize("columns", [OF_LOG, ["--truth-column", "label=grade", "--truth-column", "group=user"]])
def test_values_are_those_of_python(folder, expected, columns):
    options = [*NAMES, *ITEM, *columns, "--by", "country", "--truth", "truth.csv", "--json"]
    assert values_of(run("evaluate", "log.parquet", *options, folder=folder)) == expected


def test_a_question_in_a_file(folder, expected):
    question = fm.Evaluation(METRICS, truth_columns={"label": "grade"}, by="country", **COLUMNS)
    question.to_toml(folder / "question.toml")
    options = ["--config", "question.toml", "--truth", "truth.csv", "--json"]
    assert values_of(run("evaluate", "log.parquet", *options, folder=folder)) == expected
    done = run("evaluate", "log.parquet", *options, "--truth-column", "label=rating", folder=folder)
    assert_refused(done, 1, "truth: label: no column 'rating'")
    assert_refused(run("evaluate", "log.parquet", *options[:2], folder=folder), 1, "truth is missing")


def test_models_are_compared(folder):
    log, truth = random_tables(1)
    options = {"label": "grade", "score": ["score", "weight"], "group": "user", "item": "item"}
    expected = fm.compare(log, ["hr@3"], truth=truth, **options)["hr@3"]
    given = ["-m", "hr@3", "--score", "score", "--score", "weight", "--group", "user", *ITEM, *OF_LOG]
    done = run("compare", "log.parquet", *given, "--truth", "truth.csv", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["differences"]
    assert (found["difference"], found["pvalue"]) == (expected.difference, expected.pvalue)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([*OF_LOG, "--truth", "truth.csv"], 1, "name the column of items"),
        ([*ITEM, *OF_LOG, "--truth", "trth.csv"], 1, "there is no file trth.csv; did you mean truth.csv?"),
        ([*ITEM, "--truth-column", "label=grade"], 1, "truth is missing"),
        ([*ITEM, "--truth-column", "grade", "--truth", "truth.csv"], 2, "type ROLE=COLUMN, such as label=rating"),
        ([*ITEM, "--truth-column", "labels=grade", "--truth", "truth.csv"], 1, "has no role 'labels'; did you mean"),
        ([*ITEM, "--truth", "truth.csv", "-m", "auc", *OF_LOG], 1, "metric auc reads labels of single rows"),
    ],
)
def test_errors_say_what_to_type(folder, options, code, message):
    assert_refused(run("evaluate", "log.parquet", *NAMES, *options, folder=folder), code, message)
