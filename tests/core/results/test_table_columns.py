"""Tables of reports and comparisons: the same rows, columns and types in Arrow, pandas, polars, CSV and Parquet."""

import csv
import datetime
import io
import math
import os
import stat
import sys
from decimal import Decimal

import pytest

import fastmetrics as fm
from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.difference import Difference
from fastmetrics._core.results import output_files
from fastmetrics._core.results.table_columns import csv_cell
from fastmetrics.engine.results.report import Report
from fastmetrics.engine.results.result import Result
from support.cases import assert_raises, each_case
from support.peers import pandas, polars

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

GROUPS = {"rows": 90, "groups": 7, "groups_used": 4, "groups_left_out": {"no positive": 2, "no negative": 1},
          "rows_left_out": {"no positive": 20, "no negative": 3}, "rows_per_group": 3.5}  # fmt: skip
FIXED = [
    "sliced_by", "value", "ci_low", "ci_high", "standard_error", "rows", "positives", "groups",
    "groups_used", "groups_left_out", "rows_left_out",
]  # fmt: skip
DAY = datetime.date(2026, 5, 1)


def report(some: list[Result] | None = None) -> Report:
    made = [
        Result("auc", "p", {}, 0.1 + 0.2, "auc|v", {"rows": 100, "positives": 30}, label="y", interval=(0.25, 0.5),
               standard_error=0.0625),
        Result("gauc", "p", {}, 0.5, "gauc|v", GROUPS, label="y"),
        Result("auc", "p", {"channel": "a,b", "day": DAY}, math.nan, "auc|v", {"rows": 4, "positives": 0}, "one class",
               label="y"),
        Result("logloss", "p", {"channel": None}, math.inf, "logloss|v", {"rows": 9, "rows_clipped": 2},
               label="y"),
    ]  # fmt: skip
    return Report(made if some is None else some, rows=100, version="0")


def comparison() -> Comparison:
    first = Difference("auc", "a", "b", 0.5, 0.75, pvalue=0.01, interval=(0.2, 0.3), won=3, lost=1, tied=0, n_units=4)
    return Comparison([first, first.replace(slice={"won": 1}, interval=None, pvalue=math.nan, won=None)])


def test_columns_of_a_report():
    table = report().to_arrow()
    more = ["rows_per_group", "rows_clipped", "signature", "reason"]
    assert table.column_names == ["metric", "label", "score", "channel", "day", *FIXED, *more]
    assert table.select(["channel", "day", "sliced_by"]).to_pylist() == [
        {"channel": None, "day": None, "sliced_by": ""},
        {"channel": None, "day": None, "sliced_by": ""},
        {"channel": "a,b", "day": DAY, "sliced_by": "channel, day"},
        {"channel": None, "day": None, "sliced_by": "channel"},
    ]
    assert table["rows"].to_pylist() == [100, 90, 4, 9]
    assert table["positives"].to_pylist() == [30, None, 0, None]
    assert table["groups"].to_pylist() == [None, 7, None, None]
    assert table["groups_left_out"].to_pylist() == [None, 3, None, None]
    assert table["rows_left_out"].to_pylist() == [None, 23, None, None]
    assert table["rows_per_group"].to_pylist() == [None, 3.5, None, None]
    assert table["reason"].to_pylist() == [None, None, "one class", "the value is inf"]
    types = {name: str(table.schema.field(name).type) for name in ("value", "rows", "rows_per_group", "day", "reason")}
    assert types == {"value": "double", "rows": "int64", "rows_per_group": "double", "day": "date32[day]",
                     "reason": "string"}  # fmt: skip


def test_rows_and_positives_are_those_of_the_slice():
    """Where they are known; otherwise those of the value."""
    made = report([Result("gauc", "p", {}, 0.5, "s", GROUPS, rows=113, positives=9), *report()])
    assert made.to_arrow()["rows"].to_pylist() == [113, 100, 90, 4, 9]
    assert made.to_arrow()["positives"].to_pylist() == [9, 30, None, 0, None]
    log = {"y": [0, 1, 1, 0, 1], "p": [0.1, 0.9, 0.4, 0.6, 0.5], "u": [1, 1, 2, 2, 3], "c": ["a", "a", "b", "b", None]}
    table = fm.evaluate(log, ["auc", "gauc"], label="y", score="p", group="u", by="c").to_arrow()
    assert table.select(["metric", "c", "sliced_by", "rows", "positives", "groups"]).to_pylist()[1::2] == [
        {"metric": "gauc", "c": None, "sliced_by": "", "rows": 5, "positives": 3, "groups": 3},
        {"metric": "gauc", "c": "a", "sliced_by": "c", "rows": 2, "positives": 1, "groups": 1},
        {"metric": "gauc", "c": "b", "sliced_by": "c", "rows": 2, "positives": 1, "groups": 1},
        {"metric": "gauc", "c": None, "sliced_by": "c", "rows": 1, "positives": 1, "groups": 1},
    ]


def test_every_report_has_the_columns_of_counts():
    assert report([Result("auc", "p", {}, 0.5, "s", {})]).to_arrow().column_names[3:-2] == FIXED
    assert report([]).to_arrow().column_names[3:-2] == FIXED
    assert (report([]).to_arrow().num_rows, len(report([]).to_pandas()), report([]).to_polars().height) == (0, 0, 0)


def test_columns_of_a_comparison():
    table = comparison().to_arrow()
    assert table.column_names[:6] == ["metric", "baseline", "other", "slice_won", "sliced_by", "label"]
    assert table.select(["slice_won", "sliced_by", "won", "ci_low"]).to_pylist() == [
        {"slice_won": None, "sliced_by": "", "won": 3, "ci_low": 0.2},
        {"slice_won": 1, "sliced_by": "slice_won", "won": None, "ci_low": None},
    ]


def without_nan(value: object) -> object:
    return None if value is pandas().NA or value != value else value


@each_case("made", [report, comparison])
def test_the_libraries_agree(made):
    table, frame = made().to_arrow(), made().to_pandas()
    assert type(frame) is pandas().DataFrame
    assert list(frame.columns) == table.column_names
    for name in table.column_names:
        expected = list(map(without_nan, table[name].to_pylist()))
        assert list(map(without_nan, frame[name].tolist())) == expected, name
    own = made().to_polars()
    assert type(own) is polars().DataFrame
    assert repr(own.to_dicts()) == repr(table.to_pylist())


def test_types_of_pandas():
    frame = report([Result("auc", "s", {"n": 1, "ok": True}, 0.5, "s", {"rows": 3}), *report()]).to_pandas()
    assert {name: str(frame[name].dtype) for name in ("n", "ok", "rows", "groups", "value", "standard_error")} == {
        "n": "Int64", "ok": "boolean", "rows": "Int64", "groups": "Int64", "value": "float64",
        "standard_error": "float64",
    }  # fmt: skip


def test_slices_of_several_types_are_texts():
    values = ["a", 7, Decimal("1.5")]
    slices = [{"x": value, "value": number} for number, value in enumerate(values)]
    table = report([Result("auc", "s", own, 0.5, "s", {}) for own in slices]).to_arrow()
    assert table["x"].to_pylist() == ["a", "7", "1.5"]
    assert table["slice_value"].to_pylist() == [0, 1, 2]
    assert table["sliced_by"].to_pylist() == ["x, slice_value"] * 3
    nothing = report([Result("auc", "s", {"x": None}, 0.5, "s", {})]).to_arrow()
    assert (str(nothing["x"].type), nothing["x"].to_pylist()) == ("string", [None])


# ------------------------------------------------------------------------------------------------------------ CSV


def test_csv_has_every_digit():
    text = report().to_csv()
    header, *rows = csv.reader(io.StringIO(text))
    assert header == report().to_arrow().column_names
    assert len({len(row) for row in (header, *rows)}) == 1
    assert [row[header.index("value")] for row in rows] == ["0.30000000000000004", "0.5", "", "inf"]
    assert rows[2][3:6] == ["a,b", "2026-05-01", "channel, day"]
    assert text.endswith("\n")
    frame = pandas().read_csv(io.StringIO(text))
    assert frame["value"][0] == 0.1 + 0.2
    assert frame["rows"].tolist() == [100, 90, 4, 9]


@each_case(("value", "cell"), [
    (None, ""), (math.nan, ""), ("", '""'), (" a", '" a"'), ('say "no", no', '"say ""no"", no"'), ("a\nb", '"a\nb"'),
    (True, "true"), (False, "false"), (-math.inf, "-inf"), (1e-7, "1e-07"), (b"\xff", "\\xff"), ("ü", "ü"), (7, "7"),
    (datetime.datetime(2026, 5, 1, 12, 30), "2026-05-01T12:30:00"),
])  # fmt: skip
def test_cells_of_csv(value, cell):
    assert csv_cell(value) == cell


# ---------------------------------------------------------------------------------------------------------- files


@each_case("made", [report, comparison])
def test_files(made, tmp_path):
    result = made()
    assert result.to_csv(tmp_path / "out.csv") == result.to_csv()
    assert (tmp_path / "out.csv").read_bytes() == result.to_csv().encode()
    result.to_parquet(str(tmp_path / "out.parquet"))
    written = pq.read_table(tmp_path / "out.parquet")
    assert written.schema.equals(result.to_arrow().schema)
    assert repr(written.to_pylist()) == repr(result.to_arrow().to_pylist())
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "out.parquet"]


def test_a_file_is_replaced_completely_or_not_at_all(tmp_path, monkeypatch):
    target, link = tmp_path / "real.csv", tmp_path / "link.csv"
    target.write_text("before")
    target.chmod(0o640)
    link.symlink_to(target)
    report().to_csv(link)
    assert link.is_symlink()
    assert target.read_text() == report().to_csv()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    monkeypatch.setattr(output_files.parquet, "write_table", lambda *_: 1 / 0)
    (tmp_path / "old.parquet").write_text("before")
    with pytest.raises(ZeroDivisionError):
        report().to_parquet(tmp_path / "old.parquet")
    assert (tmp_path / "old.parquet").read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["link.csv", "old.parquet", "real.csv"]


@each_case("method", ["to_csv", "to_parquet", "to_html"])
def test_a_folder_that_is_missing_is_named(method, tmp_path):
    assert_raises(FileNotFoundError, "create it first", getattr(report(), method), tmp_path / "no" / "file")
    assert_raises(IsADirectoryError, "name a file in it", getattr(report(), method), tmp_path)


@each_case(("package", "extra", "method"), [
    ("pyarrow", "arrow", "to_arrow"), ("pandas", "pandas", "to_pandas"), ("polars", "polars", "to_polars"),
    ("pyarrow", "arrow", "to_polars"),
])  # fmt: skip
def test_a_missing_library_is_an_error_with_the_command_to_type(package, extra, method, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    message = rf"Report.{method} needs {package}: pip install 'fastmetrics-engine\[{extra}\]'"
    assert_raises(ImportError, message, getattr(report(), method))
