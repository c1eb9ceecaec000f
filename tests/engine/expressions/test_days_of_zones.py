"""Days and hours of a zone: of columns with a zone, and of all times with `time_zone=`."""

import io
import json
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from engine.expressions.test_time_zones import duckdb_values
from engine.expressions.test_truth_table import values_of

import fastmetrics as fm
from fastmetrics.engine.expressions.errors import ExpressionError
from support.cases import assert_raises, each_case
from support.command_line import run
from support.expression_cases import ZONES, comparable, times_table

UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
EXTRACTED = ("hour", "minute", "second", "day", "dow", "isodow", "doy", "week", "month", "quarter", "year")
TEXTS = [
    *(f"date_trunc('{unit}', z)" for unit in UNITS), *(f"extract({unit} from z)" for unit in EXTRACTED),
    "cast(z as date)", "cast(z as timestamp)", "z >= '2026-10-25'", "z < '2026-10-25 02:30:00'",
    "z = '2026-03-29 02:30:00'", "z between '2026-03-29' and '2026-03-30'", "z >= '2026-10-25 02:30:00+00:00'",
]  # fmt: skip
# A day of 25 hours and one of 23, in UTC from the beginning of the day before.
STARTS = (datetime(2026, 10, 24), datetime(2026, 3, 28))
QUARTERS = [start + timedelta(minutes=15 * step) for start in STARTS for step in range(300)]
DAYS = "date_trunc('day', t)"


def in_session(text, table, zone):
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"set timezone = '{zone}'")
    connection.register("log", table)
    return [row[0] for row in connection.execute(f"select {text} from log").fetchall()]


def log_of(times, kind):
    rows = len(times)
    moments = pa.array(times, pa.timestamp("us")).cast(kind)
    return pa.table({"y": [0.0, 1.0] * (rows // 2), "p": [0.5] * rows, "t": moments})


def rows_of(report):
    return {next(iter(result.slice.values())): result.rows for result in report if result.slice}


def days_of(times, zone):
    """The same counts by Python's zones."""
    from zoneinfo import ZoneInfo

    found = {}
    for time in times:
        local = time.replace(tzinfo=UTC).astimezone(ZoneInfo(zone))
        start = local.replace(hour=0, minute=0, fold=0).astimezone(UTC)
        found[start] = found.get(start, 0) + 1
    return found


@pytest.mark.parametrize(
    ("zone", "unit"),
    [*((zone, "us") for zone in [*ZONES, "Etc/GMT+3"]), ("Europe/Berlin", "s"), ("Europe/Berlin", "ns")],
)
@each_case("text", TEXTS)
def test_duckdb(text, zone, unit):
    """DuckDB counts in the zone of the session. Hours that come twice are the later ones there, here each is one."""
    table = times_table("s").select(["z"]).cast(pa.schema([("z", pa.timestamp(unit, zone))]))
    found = list(map(comparable, values_of(text, table)[1].to_pylist()))
    wanted = list(map(comparable, in_session(text, table.cast(pa.schema([("z", pa.timestamp("us", zone))])), zone)))
    if text == "date_trunc('hour', z)":
        differing = [n for n, pair in enumerate(zip(found, wanted, strict=True)) if pair[0] != pair[1]]
        assert len(differing) in (0, 4)
        times = table["z"].cast(pa.timestamp("us")).to_pylist()
        assert all(timedelta() <= times[n] - found[n] < timedelta(hours=1) for n in differing)
    else:
        assert found == wanted


@each_case("zone", ["Europe/Berlin", "Asia/Tokyo", "America/New_York", "Atlantic/Azores", "Australia/Lord_Howe"])
class TestDays:
    def test_of_a_column_with_a_zone(self, zone):
        for unit in ("s", "ms", "us", "ns"):
            report = fm.evaluate(log_of(QUARTERS, pa.timestamp(unit, zone)), "rmse", label="y", score="p", by=DAYS)
            assert rows_of(report) == days_of(QUARTERS, zone)

    def test_of_every_input_with_the_option(self, zone, tmp_path):
        wanted = days_of(QUARTERS, zone)
        plain, utc = log_of(QUARTERS, pa.timestamp("us")), log_of(QUARTERS, pa.timestamp("us", "UTC"))
        pq.write_table(plain, tmp_path / "plain.parquet")
        pq.write_table(utc, tmp_path / "utc.parquet")
        pa.csv.write_csv(plain, tmp_path / "plain.csv")
        pa.csv.write_csv(utc, tmp_path / "utc.csv")
        lines = [json.dumps({**row, "t": str(row["t"])}) for row in plain.to_pylist()]
        (tmp_path / "plain.jsonl").write_text("\n".join(lines))
        inputs = [plain, utc, plain.to_pandas(), utc.to_pandas(), [plain, plain.slice(0, 0)], *tmp_path.iterdir()]
        for data in inputs:
            report = fm.evaluate(data, "rmse", label="y", score="p", by=DAYS, time_zone=zone)
            assert rows_of(report) == wanted, data
            start = max(wanted).astimezone(UTC)
            accumulator = fm.Accumulator("rmse", label="y", score="p", by=DAYS, time_zone=zone)
            accumulator.update(data)
            assert rows_of(accumulator.result()) == wanted
            report = fm.evaluate(data, "rmse", label="y", score="p", where=f"t >= '{start}'", time_zone=zone)
            assert report.rows - report.filtered == wanted[start]
            local = days_local(start, zone)
            report = fm.evaluate(data, "rmse", label="y", score="p", where=f"t >= '{local}'", time_zone=zone)
            assert report.rows - report.filtered == wanted[start]

    def test_quantiles_and_comparisons(self, zone):
        log = log_of(QUARTERS, pa.timestamp("us")).append_column("q", pa.array([0.25] * len(QUARTERS)))
        options = {"label": "y", "by": [DAYS, "qcut(p, 2)"], "time_zone": zone}
        report = fm.evaluate(iter([log]), "rmse", score="p", **options)
        assert {result.slice[DAYS] for result in report if result.slice} == set(days_of(QUARTERS, zone))
        compared = fm.compare(log, "rmse", score=["p", "q"], label="y", by=DAYS, replicates=10, time_zone=zone)
        assert {own.slice[DAYS] for own in compared if own.slice} == set(days_of(QUARTERS, zone))


def days_local(start, zone):
    from zoneinfo import ZoneInfo

    return start.astimezone(ZoneInfo(zone)).date()


def test_the_command_line_has_the_option(tmp_path):
    pq.write_table(log_of(QUARTERS, pa.timestamp("us")), tmp_path / "log.parquet")
    words = ["evaluate", "log.parquet", "--label", "y", "--score", "p", "-m", "rmse", "--by", DAYS, "--json"]
    done = run(*words, "--time-zone", "Asia/Tokyo", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [result["rows"] for result in json.loads(done.stdout)["results"]]
    assert sorted(rows) == sorted([600, *days_of(QUARTERS, "Asia/Tokyo").values()])
    done = run(*words, "--time-zone", "Asia/Tokio", folder=tmp_path)
    assert done.returncode != 0
    assert "did you mean Asia/Tokyo" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@each_case("zone", ["Tokyo/Asia", "", "EST", 9, "+25:00", "asia/tokyo"])
def test_unknown_zones(zone):
    log = log_of(QUARTERS, pa.timestamp("us"))
    error = f"time_zone: there is no time zone {zone!r}"
    assert_raises(ValueError, error.replace("+", "[+]"), fm.evaluate, log, "rmse", label="y", score="p", time_zone=zone)


@each_case("offset", ["+09:00", "-03:30", "+00:00"])
def test_fixed_offsets(offset):
    """Columns with an offset for a zone, and offsets as names."""
    hours = int(offset[:3]) + (int(offset[4:]) / 60 if offset[0] == "+" else -int(offset[4:]) / 60)
    days = [(time + timedelta(hours=hours)).date() for time in QUARTERS]
    log = log_of(QUARTERS, pa.timestamp("us", offset))
    assert values_of("cast(t as date)", log)[1].to_pylist() == days
    assert values_of(f"cast(t at time zone '{offset}' as date)", log)[1].to_pylist() == days
    back = f"(t at time zone '{offset}') at time zone '{offset}' = t"
    assert set(values_of(back, log)[1].to_pylist()) == {True}
    log, by = log_of(QUARTERS, pa.timestamp("us")), "cast(t as date)"
    report = fm.evaluate(log, "rmse", label="y", score="p", by=by, time_zone=offset)
    assert rows_of(report) == {day: days.count(day) for day in days}


def test_csv_with_offsets():
    """Arrow reads times with an offset as instants in UTC."""
    rows = ["1,0.9,2026-11-01T23:30:00+09:00", "0,0.1,2026-11-02T00:30:00+09:00", "1,0.8,2026-11-01T15:30:00Z"]
    for zone, counts in (("Asia/Tokyo", [1, 2]), ("UTC", [3])):
        data = io.BytesIO("\n".join(["y,p,t", *rows]).encode())
        report = fm.evaluate(data, "ctr", label="y", score="p", by=DAYS, time_zone=zone, format="csv")
        assert list(rows_of(report).values()) == counts


@each_case("unit", ["s", "ms", "us", "ns"])
def test_times_near_the_limits_are_an_error(unit):
    numbers = [0, 2**63 - 1, -(2**63) + 1]
    for bad in numbers[1:]:
        for kind in (pa.timestamp(unit, "UTC"), pa.timestamp(unit)):
            log = pa.table({"y": [0.0, 1.0], "p": [0.5, 0.5], "t": pa.array([0, bad]).cast(kind)})
            for zone in ("Asia/Tokyo", "+09:00"):
                error = "has .* since 1970, which is out of the years 1 to 9999, or of 64 bits, for .*, at row 1"
                options = {"label": "y", "score": "p", "by": f"t at time zone '{zone}'"}
                assert_raises(ValueError, error, fm.evaluate, log, "rmse", **options)


@each_case("zone", ["Foo/Bar", "Asia/Tokio"])
def test_columns_of_unknown_zones(zone):
    log = log_of(QUARTERS, pa.timestamp("us", zone))
    error = f"the column has a zone that is not known: there is no time zone '{zone}'"
    with pytest.raises(ExpressionError, match=error):
        fm.evaluate(log, "rmse", label="y", score="p", by=DAYS)
    assert fm.evaluate(log, "rmse", label="y", score="p", by=DAYS, time_zone="UTC").rows == 600
    assert fm.evaluate(log, "rmse", label="y", score="p").rows == 600


def test_batches_of_several_zones_are_an_error_where_days_are_counted():
    batches = [log_of(QUARTERS, pa.timestamp("us", zone)) for zone in ("Asia/Tokyo", "UTC")]
    options = {"label": "y", "score": "p"}
    error = "batch 1 of the list of batches has column 't' in zone UTC, but those before it are in Asia/Tokyo"
    assert_raises(ValueError, error, fm.evaluate, batches, "rmse", by=DAYS, **options)
    report = fm.evaluate(batches, "rmse", by=DAYS, time_zone="Asia/Tokyo", **options)
    assert sum(rows_of(report).values()) == 1200
    assert fm.evaluate(batches, "rmse", **options).rows == 1200


def test_values_of_several_zones_are_in_utc(tmp_path):
    columns = [log_of(QUARTERS, pa.timestamp("us", zone))["t"] for zone in ("Asia/Tokyo", "Europe/Berlin")]
    table = pa.table({"a": columns[0], "b": columns[1]})
    days = values_of("cast(coalesce(a, b) as date)", table)[1].to_pylist()
    assert days == [time.date() for time in QUARTERS]
    for number, column in enumerate(columns):
        log = log_of(QUARTERS, pa.timestamp("us")).set_column(2, "t", column)
        pq.write_table(log, tmp_path / f"{number}.parquet")
    report = fm.evaluate(tmp_path, "rmse", label="y", score="p", by="cast(t as date)")
    assert set(rows_of(report)) == set(days)
    assert isinstance(next(iter(rows_of(report))), date)


def test_duckdb_has_the_instants_of_local_times():
    table = pa.table({"ts": QUARTERS})
    for zone in ("Europe/Berlin", "America/New_York"):
        text = f"ts at time zone '{zone}'"
        found = values_of(text, table)[1].to_pylist()
        assert list(map(comparable, found)) == list(map(comparable, duckdb_values(text, table)))
