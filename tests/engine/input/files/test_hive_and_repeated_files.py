"""Columns of hive folders that files have too, files that are given twice, and paths that are empty."""

import datetime as dt
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics.engine.input.sources import open_source
from support.cases import assert_raises, each_case
from support.command_line import run

COLUMNS = {"label": "y", "score": "s"}


def write(folder, table, name="a.parquet"):
    folder.mkdir(parents=True, exist_ok=True)
    if name.endswith(".csv"):
        pyarrow.csv.write_csv(table, folder / name)
    else:
        pq.write_table(table, folder / name)
    return folder / name


def read(data, columns):
    return pa.Table.from_batches(list(open_source(data).batches(columns)))


def log(**columns):
    return pa.table({"y": [1, 0, 1, 0], "s": [0.9, 0.2, 0.3, 0.4]} | columns)


# ---------------------------------------------------------------------------------------------------- hive folders


@each_case("name", ["a.parquet", "a.csv"])
@each_case(
    "texts, in_file, expected",
    [
        (["1", "2"], [5, 6, 7, 8], [1, 2]),
        (["1", "2"], ["5", "6", "7", "8"], [1, 2]),
        (["01", "2"], [5, 6, 7, 8], [1, 2]),
        (["a", "b"], ["c", "d", "e", "f"], ["a", "b"]),
        (["a", "b"], [5, 6, 7, 8], ["a", "b"]),
        (["0.5", "1.5"], [0.25] * 4, [0.5, 1.5]),
        (["2026-11-01", "2026-11-02"], [dt.date(2000, 1, 1)] * 4, [dt.date(2026, 11, 1), dt.date(2026, 11, 2)]),
        (["__HIVE_DEFAULT_PARTITION__", "1"], [5, 6, 7, 8], [None, 1]),
    ],
)
def test_the_folder_has_a_column_that_files_have_too(name, texts, in_file, expected, tmp_path):
    """As in Spark, DuckDB and polars. Where texts are no integers, the file says what they are."""
    for text in texts:
        write(tmp_path / f"key={text}", log(key=in_file), name)
    source = open_source(tmp_path)
    assert source.column_names == ["y", "s", "key"]
    for columns in (["key"], ["key", "y"], ["s", "key"]):
        found = read(tmp_path, columns)["key"].to_pylist()
        assert sorted(found, key=str) == sorted([value for value in expected for _ in range(4)], key=str)
    report = fm.evaluate(tmp_path, ["auc"], **COLUMNS, by=["key"])
    assert {own.slice["key"] for own in report if own.slice} == set(expected)
    first = next(value for value in expected if value is not None)
    literal = f"date '{first}'" if isinstance(first, dt.date) else repr(first)
    assert fm.evaluate(tmp_path, ["auc"], **COLUMNS, where=f"key = {literal}").rows == 8
    accumulator = fm.Accumulator(["auc"], **COLUMNS, by=["key"])
    accumulator.update(tmp_path)
    assert [own.value for own in accumulator.result()] == [own.value for own in report]


def test_statistics_of_files_skip_no_rows_of_a_folder(tmp_path):
    """The file's row groups say 5 where the folder says 1."""
    pq.write_table(log(day=[5] * 4), write(tmp_path / "day=1", log()), row_group_size=2)
    assert fm.evaluate(tmp_path, ["ctr"], **COLUMNS, where="day = 1")["ctr"] == 0.5
    assert_raises(ValueError, "no row", fm.evaluate, tmp_path, ["ctr"], **COLUMNS, where="day = 5")


def test_other_files_may_lack_the_folder(tmp_path):
    files = [write(tmp_path / "day=1", log(day=[5] * 4)), write(tmp_path, log(day=[7] * 4))]
    assert read(files, ["day"])["day"].to_pylist() == [1] * 4 + [7] * 4


@pytest.mark.peers
def test_other_engines_take_the_folder(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    for day in (1, 2):
        write(tmp_path / f"day={day}", log(day=[day + 4] * 4))
    found = read(tmp_path, ["day"])["day"].to_pylist()
    assert found == [1] * 4 + [2] * 4
    pattern = f"{tmp_path}/*/*.parquet"
    rows = duckdb.sql(f"select day from read_parquet('{pattern}', hive_partitioning=true) order by day").fetchall()
    assert [row[0] for row in rows] == found
    polars = pytest.importorskip("polars")
    assert polars.scan_parquet(tmp_path, hive_partitioning=True).collect()["day"].sort().to_list() == found


# ------------------------------------------------------------------------------------------------- repeated files


def repeated(folder):
    """Ways to give one file twice."""
    path = write(folder / "logs", log())
    (folder / "logs" / "deep").mkdir()
    write(folder / "logs" / "deep", log(), "b.parquet")
    (folder / "link.parquet").symlink_to(path)
    (folder / "folder").symlink_to(folder / "logs")
    logs = str(folder / "logs")
    return {
        "the same path": [str(path), str(path)],
        "two spellings": [str(path), f"{logs}/./a.parquet"],
        "a text and a path": [str(path), path],
        "a URI": [str(path), path.as_uri()],
        "a link": [str(path), str(folder / "link.parquet")],
        "a folder and its file": [logs, str(path)],
        "a folder and its folder": [logs, f"{logs}/deep"],
        "two globs": [f"{logs}/*.parquet", f"{logs}/a.*"],
        "a glob and a file": [f"{logs}/*.parquet", str(path)],
        "a link to a folder": [logs, str(folder / "folder")],
    }


def test_a_file_that_is_given_twice_is_an_error(tmp_path):
    for name, data in repeated(tmp_path).items():
        for function in (fm.evaluate, fm.Accumulator(["auc"], **COLUMNS).update):
            arguments, options = ((["auc"],), COLUMNS) if function is fm.evaluate else ((), {})
            message = r"parquet (is given twice|and .*parquet are one file), and its rows would count twice"
            with pytest.raises(ValueError, match=message):
                function(data, *arguments, **options)
        if isinstance(data, list) and name != "a text and a path":
            done = run("evaluate", *data, "--label", "y", "--score", "s", folder=tmp_path)
            assert (done.returncode, done.stdout) == (1, "")
            assert "its rows would count twice" in " ".join(done.stderr.split())


def test_files_that_are_alike_are_two(tmp_path):
    files = [write(tmp_path, log(), name) for name in ("a.parquet", "b.parquet")]
    for data in (tmp_path, str(tmp_path / "*.parquet"), files):
        assert fm.evaluate(data, ["auc"], **COLUMNS).rows == 8


def test_a_file_with_two_names_counts_twice_and_is_noted(tmp_path):
    """A hard link: each of its names is as good as the other."""
    path = write(tmp_path, log())
    os.link(path, tmp_path / "b.parquet")
    for data in (tmp_path, str(tmp_path / "*.parquet"), sorted(tmp_path.iterdir())):
        report = fm.evaluate(data, ["auc"], **COLUMNS)
        assert report.rows == 8
        both = f"{path} and {tmp_path / 'b.parquet'} are one file (hard links)"
        assert report.notes == (f"{both}, and its rows count 2 times",)
    assert fm.evaluate(path, ["auc"], **COLUMNS).notes == ()


def test_a_folder_with_links_to_its_own_files_has_them_once(tmp_path):
    """Under their own names, whose folders are columns; a link to a file elsewhere is that file."""
    for day in (1, 2):
        write(tmp_path / "logs" / f"day={day}", log())
    (tmp_path / "logs" / "current").symlink_to(tmp_path / "logs" / "day=2")
    (tmp_path / "logs" / "day=1" / "again.parquet").symlink_to(tmp_path / "logs" / "day=2" / "a.parquet")
    (tmp_path / "logs" / "day=1" / "other.parquet").symlink_to(write(tmp_path / "elsewhere", log()))
    for data in (tmp_path / "logs", str(tmp_path / "logs" / "**"), str(tmp_path / "logs" / "*" / "*.parquet")):
        assert sorted(read(data, ["day"])["day"].to_pylist()) == [1] * 8 + [2] * 4


# --------------------------------------------------------------------------------------------------- empty paths


@each_case("data", ["", b"", Path(), [""], ["log.parquet", ""], [Path(), "log.parquet"], "file://"], ids=repr)
def test_an_empty_path_is_an_error(data, tmp_path, monkeypatch):
    """It would be the folder that the process is in."""
    write(tmp_path, log(), "log.parquet")
    monkeypatch.chdir(tmp_path)
    message = "an empty path.*is a variable not set"
    if data != b"":
        assert_raises(ValueError, message, fm.evaluate, data, ["auc"], **COLUMNS)
        assert_raises(ValueError, message, fm.Accumulator(["auc"], **COLUMNS).update, data)
        assert_raises(ValueError, message, fm.compare, data, ["auc"], label="y", score=["s", "y"])
    for folder in (".", "./", Path.cwd(), [os.curdir]):
        assert fm.evaluate(folder, ["auc"], **COLUMNS).rows == 4


def test_an_empty_path_on_the_command_line(tmp_path):
    write(tmp_path, log(), "log.parquet")
    for paths in ([""], ["log.parquet", ""]):
        done = run("evaluate", *paths, "--label", "y", "--score", "s", folder=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert "an empty path" in done.stderr
    assert run("evaluate", ".", "--label", "y", "--score", "s", folder=tmp_path).returncode == 0
