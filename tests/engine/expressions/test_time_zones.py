"""`at time zone`: local times around changes of the clock, on pyarrow as on DuckDB."""

from datetime import datetime, timedelta

import pyarrow as pa
import pytest
from engine.expressions.test_truth_table import values_of

import fastmetrics as fm
from fastmetrics.engine.expressions.errors import ExpressionError
from support.cases import each_case
from support.expression_cases import ZONES, comparable, times_table


def duckdb_values(text, table):
    import duckdb

    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    connection.register("log", table)
    return [row[0] for row in connection.execute(f"select {text} from log").fetchall()]


@pytest.mark.parametrize("unit", ["s", "us"])
@pytest.mark.parametrize("zone", ZONES)
@each_case(
    "text",
    [
        "z at time zone '{}'", "ts at time zone '{}'", "(ts at time zone '{}') at time zone 'Asia/Tokyo'",
        "date_trunc('day', z at time zone '{0}') at time zone '{0}'", "extract(hour from z at time zone '{}')",
        "extract(dow from z at time zone '{}')", "cast(z at time zone '{}' as date)",
        "timestamp '2026-10-25 02:30:00' at time zone '{}'",
        "timestamptz '2026-10-25 00:30:00+00:00' at time zone '{}'",
    ],
)  # fmt: skip
def test_duckdb(text, zone, unit):
    table, text = times_table(unit), text.format(zone)
    found = values_of(text, table)[1].to_pylist()
    assert list(map(comparable, found)) == list(map(comparable, duckdb_values(text, table)))


@each_case(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", "2026-03-29", 23), ("Europe/Berlin", "2026-10-25", 25), ("Asia/Tokyo", "2026-03-29", 24),
        ("America/New_York", "2026-03-08", 23), ("America/New_York", "2026-11-01", 25),
        ("Australia/Lord_Howe", "2026-10-04", 23.5), ("Australia/Lord_Howe", "2026-04-05", 24.5),
    ],
)  # fmt: skip
def test_days_have_their_own_length(zone, day, hours):
    """Quarters of an hour of a local day, kept by a filter of an evaluation."""
    start = datetime.fromisoformat(f"{day}T00:00:00+00:00") - timedelta(days=1)
    times = [start + timedelta(minutes=15 * step) for step in range(300)]
    log = pa.table({"t": times, "y": [0.0, 1.0] * 150, "p": [0.5] * 300})
    where = f"cast(t at time zone '{zone}' as date) = '{day}'"
    report = fm.evaluate(log, "rmse", label="y", score="p", where=where)
    assert report.rows - report.filtered == 4 * hours


@each_case(
    ("text", "message"),
    [
        ("z at time zone 'Asia/Tokio'", "no time zone 'Asia/Tokio'; did you mean Asia/Tokyo"),
        ("z at time zone 'asia/tokyo'", "no time zone 'asia/tokyo'; did you mean Asia/Tokyo"),
        ("z at time zone 'EST'", "no time zone 'EST'"), ("z at time zone '../x'", "no time zone"),
        ("z at time zone ts", "AT TIME ZONE is followed by a name between quotes"),
        ("cast(ts as date) at time zone 'UTC'", "a date has no hour in a zone: cast it to timestamp first"),
        ("1 at time zone 'UTC'", "a timestamp is wanted here"),
    ],
)  # fmt: skip
def test_errors(text, message):
    with pytest.raises(ExpressionError, match=message):
        values_of(text, times_table("us"))
