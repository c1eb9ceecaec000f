"""Filters skip files by their folders, and row groups by Parquet's statistics: what is read, and the same report."""

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics.engine.expressions.arrow_values import value_type
from fastmetrics.engine.expressions.column_tests import ColumnTest
from fastmetrics.engine.input.batches import SMALL_BATCH_ROWS
from fastmetrics.engine.input.files import file_source, skipped_rows
from fastmetrics.engine.input.sources import open_source

N_GROUPS, GROUP_ROWS = 8, 250
N_ROWS = N_GROUPS * GROUP_ROWS


@pytest.fixture(scope="module")
def log():
    """Every column grows from row group to row group; the last group of `gap` is null."""
    random = np.random.default_rng(11)
    number = np.repeat(np.arange(N_GROUPS), GROUP_ROWS)
    return pa.table({
        "click": random.integers(0, 2, N_ROWS),
        "p": random.random(N_ROWS),
        "whole": pa.array(number * 10 + random.integers(0, 10, N_ROWS)),
        "real": pa.array(number + random.random(N_ROWS) * 0.9),
        "single": pa.array(number + random.random(N_ROWS) * 0.9, pa.float32()),
        "hidden": np.where((number == 2) & (np.arange(N_ROWS) % 250 == 7), np.nan, number),
        "text": pa.array([f"{'abcdefgh'[own]}-{row:04}" for row, own in enumerate(number)]),
        "long": pa.array([f"{'abcdefgh'[own] * 90}" for own in number]),
        "day": pa.array([date(2026, 11, 1 + own) for own in number.tolist()]),
        "ts": pa.array([datetime(2026, 11, 1 + own, 12) for own in number.tolist()], pa.timestamp("ns")),
        "zoned": pa.array(
            [datetime(2026, 11, 1 + own, tzinfo=UTC) for own in number.tolist()], pa.timestamp("ms", "UTC")
        ),
        "money": pa.array([Decimal(own) / 4 for own in number.tolist()], pa.decimal128(9, 2)),
        "flag": number >= 4,
        "gap": pa.array(np.where(number == 7, 0, number), mask=number == 7),
    })  # fmt: skip


@pytest.fixture(scope="module")
def path(log, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pq.write_table(log, path, row_group_size=GROUP_ROWS)
    return path


@pytest.fixture
def rows_read(monkeypatch):
    """The numbers of rows that were decoded."""
    read: list[int] = []

    def counted(batch, *arguments):
        read.append(batch.num_rows)
        return conform(batch, *arguments)

    conform = file_source._conform_batch
    monkeypatch.setattr(file_source, "_conform_batch", counted)
    return read


CASES = [
    ("whole < 20", 2), ("whole <= 20", 3), ("whole >= 70", 1), ("70 <= whole", 1), ("whole > 69", 1),
    ("whole between 30 and 45", 2), ("whole in (5, 77)", 2), ("whole = 33", 1), ("whole < 20.5", 3),
    ("whole <> 3", 8), ("not whole in (3, 4)", 8), ("real < 2", 2), ("real = 100", 0), ("real > 5.95", 8),
    ("single <= 0.5", 1), ("hidden < 2", 2), ("hidden > 6", 8), ("text < 'c'", 2), ("text >= 'h-'", 1),
    ("text in ('a-0001', 'zz')", 1), ("long = 'x'", 0), ("long <> 'x'", 8), ("day >= '2026-11-07'", 2),
    ("day = date '2026-11-03'", 1), ("ts < '2026-11-02'", 1), ("ts >= '2026-11-08 12:00'", 1),
    ("zoned >= '2026-11-07'", 2), ("zoned < timestamptz '2026-11-02 01:00+01:00'", 1), ("money <= 0.5", 3),
    ("money > 1.6", 1), ("flag", 4), ("not flag", 4), ("flag = 0", 4), ("gap >= 0", 7), ("gap is not null", 7),
    ("gap is null", 8), ("gap + 1 > 6", 8), ("whole < 20 and p < 0.5", 2),
    ("whole < 20 or whole > 69", 8), ("whole < 30 and whole >= 20", 1), ("coalesce(gap, 9) = 9", 8),
    ("case when whole < 20 then true end", 8), ("whole > 500", 0),
]  # fmt: skip


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(("where", "groups"), CASES, ids=str)
def test_row_groups(log, path, rows_read, where, groups, n_threads, monkeypatch):
    monkeypatch.setattr(file_source, "PARTITION_ROWS", 3 * GROUP_ROWS)
    options = {"label": "click", "score": "p", "where": where, "n_threads": n_threads}
    if groups == 0:
        with pytest.raises(ValueError, match=f"leaves out {N_ROWS}"):
            fm.evaluate(path, ["auc", "ctr"], **options)
    else:
        expected = fm.evaluate(log, ["auc", "ctr"], **options)
        assert fm.evaluate(path, ["auc", "ctr"], **options) == expected
        assert expected.rows == N_ROWS
    assert sum(rows_read) == groups * GROUP_ROWS


def test_errors_of_rows_behind_skipped_ones_name_their_row(log, path):
    with pytest.raises(ValueError, match=r"score column .* has 'h-1750', which is no number, at row 1750"):
        fm.evaluate(path, "auc", label="click", score="cast(text as double)", where="whole >= 70")


def test_tasks_read_what_any_of_them_keeps(log, path, rows_read):
    tasks = {"low": fm.Task(where="whole < 10"), "high": fm.Task(where="day >= '2026-11-08'")}
    options = {"label": "click", "score": "p", "tasks": tasks}
    assert fm.evaluate(path, "auc", **options) == fm.evaluate(log, "auc", **options)
    assert sum(rows_read) == 2 * GROUP_ROWS
    rows_read.clear()
    tasks["all"] = fm.Task()
    assert fm.evaluate(path, "auc", **options) == fm.evaluate(log, "auc", **options)
    assert sum(rows_read) == N_ROWS


@pytest.fixture(scope="module")
def folder(log, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hive")
    for number, country in enumerate(["DE", "FR", "US", "__HIVE_DEFAULT_PARTITION__"]):
        for suffix in ("parquet", "arrow"):
            inside = folder / suffix / f"country={country}" / f"week={number}"
            inside.mkdir(parents=True)
            rows = log.select(["click", "p", "whole"]).slice(number * 500, 500)
            if suffix == "parquet":
                pq.write_table(rows, inside / "a.parquet", row_group_size=GROUP_ROWS)
            else:
                with pa.ipc.new_file(inside / "a.arrow", rows.schema) as writer:
                    writer.write_table(rows)
    return folder


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("country = 'DE'", 500), ("country in ('FR', 'US')", 1000), ("week >= 2", 1000), ("country is not null", 1500),
        ("country < 'E' and week = 0 and p >= 0", 500), ("week = 1 or country = 'DE'", 2000),
        ("coalesce(country, 'FR') = 'FR'", 2000),
    ],
)  # fmt: skip
def test_folders(folder, rows_read, suffix, where, rows):
    if suffix == "arrow" and not hasattr(pa.RecordBatchFileReader, "count_rows"):
        pytest.skip("this pyarrow does not count the rows of Arrow files without reading them")
    report = fm.evaluate(folder / suffix, "auc", label="click", score="p", where=where, n_threads=2)
    assert report.rows == N_ROWS
    assert sum(rows_read) == rows
    rows_read.clear()
    # A filter whose conditions cannot be pushed down.
    expected = fm.evaluate(folder / suffix, "auc", label="click", score="p", where=f"not not ({where})", by="week")
    assert report["auc"] == expected.value("auc", slice={})
    assert report.filtered == expected.filtered
    assert sum(rows_read) == N_ROWS


def test_a_folder_and_statistics_together(folder, rows_read):
    where = "country = 'FR' and whole < 30"
    report = fm.evaluate(folder / "parquet", "auc", label="click", score="p", where=where)
    assert (report.rows, report.filtered, sum(rows_read)) == (N_ROWS, N_ROWS - 250, 250)


def test_columns_of_other_types_in_a_file_are_not_trusted(tmp_path, rows_read):
    """The column is a float: statistics of the file that has integers are not used."""
    integers = pa.table({"click": [0, 1], "p": [0.5, 0.25], "x": pa.array([1, 2], pa.int32())})
    pq.write_table(integers, tmp_path / "a.parquet")
    pq.write_table(pa.table({"click": [0, 1], "p": [0.5, 0.75], "x": [5.5, 6.5]}), tmp_path / "b.parquet")
    report = fm.evaluate(tmp_path, "auc", label="click", score="p", where="x < 3")
    assert (report["auc"], report.filtered) == (0.0, 2)
    assert sum(rows_read) == 2


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("where", ["whole >= 20 and whole < 30", "whole < 10 or whole > 25", "whole in (4, 31)"])
def test_kept_rows_between_skipped_ones(tmp_path, where, n_threads):
    """Row groups of one size, too large to be joined: skipped ones share a batch, kept ones have their own rows."""
    rows = 4 * SMALL_BATCH_ROWS
    random = np.random.default_rng(3)
    log = pa.table({
        "click": random.integers(0, 2, rows), "p": random.random(rows),
        "whole": np.repeat(np.arange(4), SMALL_BATCH_ROWS) * 10 + random.integers(0, 10, rows),
    })  # fmt: skip
    for number in range(4):
        inside = tmp_path / f"part={number}"
        inside.mkdir()
        pq.write_table(log.slice(number * SMALL_BATCH_ROWS, SMALL_BATCH_ROWS), inside / "log.parquet")
    columns = {"label": "click", "score": "p", "where": where}
    report = fm.evaluate(tmp_path, ["auc", "logloss"], **columns, n_threads=n_threads)
    expected = fm.evaluate(log, ["auc", "logloss"], **columns)
    assert [own.value for own in report] == [own.value for own in expected]
    assert (report.rows, report.filtered) == (rows, expected.filtered)


def test_partitions_know_their_first_row(path, monkeypatch):
    """Rows in errors are counted from there."""
    monkeypatch.setattr(file_source, "PARTITION_ROWS", 3 * GROUP_ROWS)
    found = [(own.first_row, own.rows) for own in open_source(path).partitions(["click"])]
    assert found == [(0, 3 * GROUP_ROWS), (3 * GROUP_ROWS, 3 * GROUP_ROWS), (6 * GROUP_ROWS, 2 * GROUP_ROWS)]


def test_a_source_takes_other_filters(folder):
    """What the folders of a file say is asked again."""
    source = open_source(folder / "parquet")
    for column, values in (("country", ["DE"]), ("week", [3])):
        type_of_column = value_type(source.type_of(column))
        source.expect_filters([[ColumnTest(column, type_of_column, "equal", tuple(values))]])
        read = pa.Table.from_batches(source.batches(["click", column]))
        assert set(read[column].to_pylist()) == {None, *values}
        assert read.num_rows == N_ROWS


@pytest.mark.parametrize("n_threads", [1, 2])
def test_many_files(tmp_path, n_threads, monkeypatch):
    """The type of a column is found once, not once for each file; skipped rows of many files share a batch."""
    for day in range(30):
        inside = tmp_path / f"day={day}"
        inside.mkdir()
        pq.write_table(pa.table({"click": [0, 1], "p": [0.25, 0.5 + day / 100]}), inside / "log.parquet")
    asked: list[str] = []
    batches: list[int] = []

    def unify_type(source, column):
        asked.append(column)
        return unify(source, column)

    def null_batches(schema, rows):
        batches.append(rows)
        return nulls(schema, rows)

    unify, nulls = file_source.FileSource._unify_type, skipped_rows.null_batches
    monkeypatch.setattr(file_source.FileSource, "_unify_type", unify_type)
    monkeypatch.setattr(skipped_rows, "null_batches", null_batches)
    columns = {"label": "click", "score": "p", "where": "day between 12 and 13"}
    report = fm.evaluate(tmp_path, "logloss", **columns, n_threads=n_threads)
    assert sorted(asked) == ["click", "day", "p"]
    assert sum(batches) == 56
    assert [rows for rows in batches if rows] == [8, 48]  # files are sorted by their paths
    assert (report.rows, report.filtered) == (60, 56)
