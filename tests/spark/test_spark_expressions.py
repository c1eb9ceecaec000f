"""Expressions and filters on Spark: the truth table in both modes of SQL, and reports equal to those of one machine."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics.engine.expressions.arrow_values import compute, value_type
from fastmetrics.engine.expressions.parser import parse_expression
from fastmetrics.engine.expressions.primitives import in_zone
from fastmetrics.engine.expressions.type_check import check_types
from support.expression_cases import TABLE, TRUTH_TABLE, ZONES, comparable, times_table

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def table(spark, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "table.parquet"
    pq.write_table(TABLE, path)
    return spark.read.parquet(str(path)).cache()


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_truth_table(spark, table, ansi):
    found = spark_values(spark, table, [text for text, _ in TRUTH_TABLE], ansi)
    for (text, expected), column in zip(TRUTH_TABLE, found.columns, strict=True):
        assert list(map(comparable, column.to_pylist())) == list(map(comparable, expected)), text


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_times_in_zones(spark, tmp_path):
    """Around the changes of clocks, whatever the zone of the session."""
    times = times_table("us")
    pq.write_table(times, tmp_path / "times.parquet")
    texts = [
        text.format(zone) for zone in ZONES
        for text in ("z at time zone '{}'", "ts at time zone '{}'", "date_trunc('day', z at time zone '{}')")
    ]  # fmt: skip
    found = spark_values(spark, spark.read.parquet(str(tmp_path / "times.parquet")), texts, "true")
    for text, column in zip(texts, found.columns, strict=True):
        value = check_types(parse_expression(text), lambda name: value_type(times.schema.field(name).type))
        expected = compute(value, {name: times[name].combine_chunks() for name in times.column_names}, len(times))
        assert list(map(comparable, column.to_pylist())) == list(map(comparable, expected.to_pylist())), text


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_days_and_hours_of_a_zone(spark, tmp_path):
    """With time_zone=, times of Spark and of one machine have the same days, whatever the zone of the session."""
    times = times_table("us")
    pq.write_table(times, tmp_path / "times.parquet")
    frame = spark.read.parquet(str(tmp_path / "times.parquet"))
    calls = ("date_trunc('{}', {})", "extract({} from {})")
    units = ("minute", "hour", "day", "week")
    texts = [call.format(unit, name) for call in calls for unit in units for name in times.column_names]
    texts += [text.format(name) for text in ("cast({} as date)", "{} >= '2026-10-25'") for name in times.column_names]
    for zone in ("Europe/Berlin", "Atlantic/Azores", "Australia/Lord_Howe", "+09:00", "UTC"):
        found = spark_values(spark, frame, texts, "true", zone)
        for text, column in zip(texts, found.columns, strict=True):
            types = {field.name: in_zone(value_type(field.type), zone) for field in times.schema}
            value = check_types(parse_expression(text), types.__getitem__)
            expected = compute(value, {name: times[name].combine_chunks() for name in times.column_names}, len(times))
            values = [list(map(comparable, own.to_pylist())) for own in (column, expected)]
            assert values[0] == values[1], (zone, text)


def test_reports_by_days_of_a_zone(spark, tmp_path):
    import fastmetrics.spark

    times = times_table("us").slice(0, 900)
    log = times.append_column("y", pa.array([0, 1, 1] * 300)).append_column("p", pa.array([0.5, 0.25, 0.75] * 300))
    pq.write_table(log, tmp_path / "log.parquet")
    frame = spark.read.parquet(str(tmp_path / "log.parquet"))
    for name in ("z", "ts"):
        options = {"label": "y", "score": "p", "by": f"date_trunc('day', {name})", "time_zone": "Asia/Tokyo"}
        options["where"] = f"{name} >= '2026-03-29' and extract(hour from {name}) > 3"
        found = fastmetrics.spark.evaluate(frame, "rmse,auc", **options)
        here = fm.evaluate(log, "rmse,auc", **options)
        assert found.filtered == here.filtered
        assert [(own.metric, own.slice, own.value, own.rows) for own in found if own.slice] == [
            (own.metric, own.slice, own.value, own.rows) for own in here if own.slice
        ]
    with pytest.raises(ValueError, match="time_zone: there is no time zone 'Asia/Tokio'; did you mean Asia/Tokyo"):
        fastmetrics.spark.evaluate(frame, "rmse", label="y", score="p", time_zone="Asia/Tokio")


def spark_values(spark, table, texts, ansi, time_zone=None):
    """The values of expressions in a session with a zone of its own, as an Arrow table."""
    from pyspark.sql import functions

    from fastmetrics.engine.expressions.spark_sql import to_spark_sql
    from fastmetrics.spark.expressions import quote_path, type_of_column

    settings = {"spark.sql.ansi.enabled": ansi, "spark.sql.session.timeZone": "America/New_York"}
    before = {name: spark.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        columns = []
        for number, text in enumerate(texts):
            value = check_types(parse_expression(text), lambda name: type_of_column(table, name, time_zone))
            sql = to_spark_sql(value, "column", lambda name: quote_path(table, name))
            columns.append(functions.expr(sql).alias(f"c{number}"))
        return table.select(*columns).toArrow()
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(7)
    return pa.table({
        "buys": random.integers(0, 4, 1500),
        "p_ctr": random.random(1500).astype(np.float32),
        "p_cvr": random.random(1500),
        "user": random.integers(0, 30, 1500),
        "my country": random.choice(["DE", "FR", "US"], 1500),
        "text": random.choice(["1", "2", "x"], 1500),
    })


@pytest.fixture(scope="module")
def df(spark, log, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pq.write_table(log, path)
    return spark.read.parquet(str(path)).repartition(3).cache()


QUESTION = {
    "label": "buys > 2", "score": "p_ctr * p_cvr", "group": "user % 20", "by": "lower(`my country`)",
    "where": "\"my country\" in ('DE', 'FR') and p_ctr > 0.25",
}  # fmt: skip


def test_reports_are_those_of_one_machine(df, log):
    import fastmetrics.spark

    metrics = ["auc", "gauc", "logloss"]
    expected = fm.evaluate(log, metrics, **QUESTION)
    assert fastmetrics.spark.evaluate(df, metrics, **QUESTION) == expected
    tasks = {
        "few": fm.Task(where="user < 9"),
        "all": fm.Task(),
        "text": fm.Task(score="cast(text as int)", where="text <> 'x'"),
    }
    options = {"label": "buys > 2", "score": "p_ctr", "tasks": tasks}
    assert fastmetrics.spark.evaluate(df, "auc", **options) == fm.evaluate(log, "auc", **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"score": "p_ctr * p_cv"}, r"score: no column 'p_cv' in the DataFrame; did you mean 'p_cvr'"),
        ({"score": "cast(text as int)"}, r"^score column 'cast\(text as int\)' has a value that is no integer"),
        ({"label": "buys + 9223372036854775807 > 0"}, r"label column .* has a number that no 64-bit integer holds"),
        ({"where": "cast(text as int) > 0"}, r"^where 'cast\(text as int\) > 0' has a value that is no integer"),
        ({"where": "user > 99"}, "no row is left of 1500 read: where='user > 99' leaves out 1500"),
        ({"where": "user"}, "where: a condition is wanted; this is an integer"),
        ({"where": "user >"}, "where: the expression has a syntax error"),
    ],
)
def test_errors(df, options, words):
    import fastmetrics.spark

    with pytest.raises(ValueError, match=words):
        fastmetrics.spark.evaluate(df, "auc", **{"label": "buys > 2", "score": "p_ctr"} | options)


def test_expressions_of_other_libraries_are_refused(df):
    import fastmetrics.spark

    with pytest.raises(TypeError, match=r"spark\.evaluate cannot run an expression of pyarrow, .*: write it in SQL"):
        fastmetrics.spark.evaluate(df, "auc", label="buys > 2", score="p_ctr", where=pc.field("user") > 3)
