"""Columns of every type on Spark: fields of structs, decimals, bytes, dates; and Spark DataFrames where none belong."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case

pytestmark = pytest.mark.spark
ROWS = 2000
METRICS = ["auc", "gauc", "logloss"]


def make_table():
    rng = np.random.default_rng(2)
    score = np.round(rng.random(ROWS), 4)
    user = rng.integers(0, 40, ROWS)
    decimals = [Decimal(str(value)) for value in score.tolist()]
    return pa.table(
        {
            "click": rng.integers(0, 2, ROWS),
            "p": score,
            "user": user,
            "d": pa.array(decimals, pa.decimal128(10, 4)),
            "n": pa.array([Decimal(own) for own in user.tolist()], pa.decimal128(20, 2)),
            "b": pa.array([bytes([own]) for own in user.tolist()]),
            "day": pa.array(user.astype(np.int32)).cast(pa.date32()),
            "model": pa.StructArray.from_arrays([pa.array(score), pa.array(user)], ["score", "user.id"]),
        }
    )


@pytest.fixture(scope="module")
def table():
    return make_table()


@pytest.fixture(scope="module")
def frame(spark, table, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "table.parquet"
    pa.parquet.write_table(table, path)
    return spark.read.parquet(str(path)).cache()


@each_case(
    "columns",
    [
        {"score": "d", "group": "n"},
        {"score": "model.score", "group": "b"},
        {"score": "p", "group": "day"},
    ],
)
def test_the_bits_are_those_of_plain_columns(columns, frame, table):
    import fastmetrics.spark

    expected = fm.evaluate(table, METRICS, label="click", score="p", group="user")
    found = fastmetrics.spark.evaluate(frame, METRICS, label="click", **columns)
    assert [result.value for result in found] == [result.value for result in expected]
    local = fm.evaluate(table, METRICS, label="click", **columns)
    assert [result.value for result in local] == [result.value for result in expected]


def test_a_spark_frame_is_refused_by_evaluate(frame):
    columns = {"label": "click", "score": "p"}
    words = r"data is a Spark DataFrame: its rows stay on the cluster; type fastmetrics.spark.evaluate\(data, \.\.\.\)"
    assert_raises(TypeError, words, fm.evaluate, frame, ["auc"], **columns)
    assert_raises(TypeError, words, fm.compare, frame, ["auc"], label="click", score=["p", "d"])
    assert_raises(TypeError, words, fm.Accumulator(["auc"], **columns).update, frame)


def test_the_folder_has_a_column_that_files_have_too(spark, table, tmp_path):
    """Spark takes the folder's value, and so does a log of files."""
    import fastmetrics.spark

    days = {"1": 100, "2": 200, "3": 300}
    for number, (day, in_file) in enumerate(days.items()):
        part = table.slice(number * 500, 500).set_column(6, "day", pa.array([in_file] * 500))
        (tmp_path / f"day={day}").mkdir()
        pa.parquet.write_table(part, tmp_path / f"day={day}" / "part.parquet")
    options = {"label": "click", "score": "p", "group": "user", "by": ["day"]}
    local = fm.evaluate(tmp_path, METRICS, **options)
    found = fastmetrics.spark.evaluate(spark.read.parquet(str(tmp_path)), METRICS, **options)
    assert {own.slice["day"] for own in local if own.slice} == {1, 2, 3}
    assert [(own.slice, own.value) for own in found] == [(own.slice, own.value) for own in local]


@pytest.mark.parametrize("role", ["group", "by"])
def test_float_keys_have_their_note(spark, role):
    from fastmetrics.spark import evaluate

    table = pa.table({"y": [1, 0, 1, 0], "s": [0.4, 0.3, 0.2, 0.1], "id": [2.0**53, 2.0**53, 5.0, 5.0]})
    metrics = {"group": "gauc", "by": "ctr"}[role]
    report = evaluate(spark.createDataFrame(table), metrics, label="y", score="s", **{role: "id"})
    assert report.results[-1].coverage["float_keys"] == "id"
    assert "id: keys are floats from 2**53 on" in str(report)


def test_texts_without_words_have_their_note(spark):
    from fastmetrics.spark import evaluate

    table = pa.table({"reference": ["a cat", "แมว"], "hypothesis": ["a cat", "แมว"]})
    report = evaluate(spark.createDataFrame(table), "rouge1", label="reference", score="hypothesis")
    assert report.result("rouge1").coverage["rows_without_words"] == 1
    assert any("finds no word" in note for note in report.notes)
