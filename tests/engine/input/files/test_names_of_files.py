"""Names of files that are not UTF-8: they are read, and every message and result about them can be printed."""

import gzip
import os

import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support.cases import each_case
from support.command_line import run_subprocess

COLUMNS = {"label": "y", "score": "s"}
WORDS = ["--label", "y", "--score", "s", "-m", "auc"]
ROWS = b"y,s\n1,0.75\n0,0.25\n1,0.5\n"


@pytest.fixture
def folder(tmp_path):
    """A folder with such files, if its file system has such names."""
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.csv")).write_bytes(ROWS)
    except (OSError, UnicodeError):
        pytest.skip("the file system has names of UTF-8 alone")
    (tmp_path / os.fsdecode(b"caf\xe9.csv.gz")).write_bytes(gzip.compress(ROWS))
    table = pa.table({"y": [1, 0, 1], "s": [0.75, 0.25, 0.5]})
    for name in (b"caf\xe9.parquet", b"caf\xe9.arrow", b"caf\xe9.orc"):
        with (tmp_path / os.fsdecode(name)).open("wb") as sink:
            if name.endswith(b"parquet"):
                pa.parquet.write_table(table, sink)
            elif name.endswith(b"arrow"):
                with pa.ipc.new_file(sink, table.schema) as writer:
                    writer.write_table(table)
            else:
                pytest.importorskip("pyarrow.orc").write_table(table, sink)
    (tmp_path / os.fsdecode(b"bad\xff.csv")).write_bytes(b"y,s\n1,0.75\n0,'x\n")
    for day in (b"\xe91", b"\xe92"):
        part = tmp_path / os.fsdecode(b"d\xe9pot") / os.fsdecode(b"day=" + day)
        part.mkdir(parents=True)
        (part / "part.csv").write_bytes(ROWS)
    return tmp_path


def test_files_are_read(folder):
    for name in (b"caf\xe9.csv", b"caf\xe9.csv.gz", b"caf\xe9.parquet", b"caf\xe9.arrow", b"caf\xe9.orc"):
        path = folder / os.fsdecode(name)
        for data in (path, str(path), [path], str(folder / name.decode("ascii", "ignore").replace("caf", "caf*"))):
            assert fm.evaluate(data, ["auc"], **COLUMNS)["auc"] == 1.0
    report = fm.evaluate(folder / os.fsdecode(b"d\xe9pot"), ["auc"], **COLUMNS, by=["day"])
    assert len({own.slice["day"] for own in report if own.slice}) == 2
    for text in (str(report), report.to_json(), report.to_csv(), report.to_markdown(), report.to_html()):
        text.encode()
    report.to_arrow()


def test_errors_can_be_printed(folder):
    missing = [b"c\xe9.csv", b"c\xe9/*.csv", b"no\xff/day.csv"]
    for name in (b"bad\xff.csv", *missing):
        with pytest.raises((ValueError, OSError, TypeError)) as raised:
            fm.evaluate(folder / os.fsdecode(name), ["auc"], **COLUMNS)
        str(raised.value).encode()
        assert "\\udc" in str(raised.value)
    with pytest.raises(ValueError, match="several formats") as raised:
        fm.evaluate(folder, ["auc"], **COLUMNS)
    str(raised.value).encode()


@each_case("layout", ["table", "csv"])
def test_the_command_line(layout, folder):
    good, bad, depot = (os.fsdecode(own) for own in (b"caf\xe9.csv", b"bad\xff.csv", b"d\xe9pot"))
    done = run_subprocess("evaluate", good, *WORDS, "--format", layout, folder=folder)
    assert done.returncode == 0, done.stderr
    done = run_subprocess("evaluate", depot, *WORDS, "--by", "day", "--format", layout, folder=folder)
    assert done.returncode == 0, done.stderr
    done = run_subprocess("evaluate", bad, *WORDS, "--format", layout, folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    assert "bad\\udcff.csv" in done.stderr
    if layout != "table":
        return
    outputs = [word for suffix in ("csv", "json", "md", "html", "parquet") for word in ("-o", f"{depot[:2]}.{suffix}")]
    done = run_subprocess("evaluate", depot, *WORDS, "--by", "day", *outputs, folder=folder)
    assert done.returncode == 0, done.stderr
    assert len(list(folder.glob("d?.*"))) == 5
