"""Columns that older files of a log lack: an error that names the file, or null with missing_columns="null"."""

import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics.engine.input.files import text_blocks
from support.cases import assert_raises, each_case
from support.command_line import run

OLD = {"y": [1, 0, 1, 0], "s": [0.9, 0.1, 0.8, 0.3]}
NEW = {**OLD, "x": [2**63 + 1, 2, 3, 3], "d": ["a", "b", "a", "b"], "m": [0.9, 0.1, 0.8, 0.3]}
SUFFIXES = [".parquet", ".arrow", ".csv", ".tsv", ".jsonl"]
NULL = {"missing_columns": "null"}


def write(path, columns):
    table = pa.table({name: pa.array(own, pa.uint64()) if name == "x" else own for name, own in columns.items()})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=2)
    elif path.suffix == ".arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        pa.csv.write_csv(table, path, pa.csv.WriteOptions(delimiter=delimiter))
    return path


@pytest.fixture
def logs(tmp_path):
    """A function that writes an older file, which lacks columns, and a newer one."""

    def write_logs(suffix):
        return [write(tmp_path / f"old{suffix}", OLD), write(tmp_path / f"new{suffix}", NEW)]

    return write_logs


def rows_of(report):
    (name,) = {name for result in report for name in result.slice}
    return {result.slice[name]: result.rows for result in report if result.slice}


@each_case("suffix", SUFFIXES)
class TestFormats:
    def test_an_error_names_the_column_the_file_and_what_to_type(self, suffix, logs):
        error = rf"no column 'x' in .*old\{suffix}\. Its columns: y, s\. .*missing_columns='null'"
        for paths in (logs(suffix), logs(suffix)[::-1]):
            assert_raises(ValueError, error, fm.evaluate, paths, "auc", label="y", score="s", by="x")
            assert_raises(ValueError, error, fm.evaluate, paths, "auc", label="y", score="s", where="x > 1")
            assert fm.evaluate(paths, "auc", label="y", score="s")["auc"] == 1.0

    def test_files_that_lack_a_column_have_nulls_of_its_type(self, suffix, logs):
        for paths in (logs(suffix), logs(suffix)[::-1]):
            for threads in (1, 2):
                report = fm.evaluate(paths, "auc", label="y", score="s", by="x", n_threads=threads, **NULL)
                assert rows_of(report) == {2: 1, 3: 2, 2**63 + 1: 1, None: 4}
                report = fm.evaluate(paths, "auc", label="y", score="s", by="d", n_threads=threads, **NULL)
                assert rows_of(report) == {"a": 2, "b": 2, None: 4}
                assert report["auc"] == 1.0

    def test_filters_take_them_as_null(self, suffix, logs):
        for threads in (1, 2):
            for where, kept in [("x < 5", 3), ("x is null", 4), ("d = 'a' or x is null", 6), ("d <> 'a'", 2)]:
                options = {"label": "y", "score": "s", "where": where, "n_threads": threads, **NULL}
                report = fm.evaluate(logs(suffix), "ctr", **options)
                assert (report.rows, report.filtered) == (8, 8 - kept)

    def test_null_labels_and_scores_are_what_they_always_are(self, suffix, logs):
        for role, other in (("label", "y"), ("score", "m")):
            columns = {"label": "y", "score": "s", role: other if role == "score" else "m"}
            error = f"{role} column 'm' has a null at row 0"
            assert_raises(ValueError, error, fm.evaluate, logs(suffix), "rmse", **columns, **NULL)
            report = fm.evaluate(logs(suffix), "rmse", on_invalid="drop", **columns, **NULL)
            assert (report.rows, dict(report.dropped)) == (8, {f"null or NaN {role}": 4})

    def test_a_column_that_no_file_has_stays_an_error(self, suffix, logs):
        error = "by: no column 'xx' in the list of files .*did you mean 'x'"
        assert_raises(ValueError, error, fm.evaluate, logs(suffix), "auc", label="y", score="s", by="xx", **NULL)

    def test_notes_say_which_files_lack_what(self, suffix, logs, tmp_path):
        paths = logs(suffix)
        note = f"column 'd' is null in 1 file that lacks it: {paths[0]}"
        report = fm.evaluate(paths, "auc", label="y", score="s", by="d", **NULL)
        assert report.notes == (note,)
        assert report.to_dict()["notes"] == [note]
        assert note in str(report)
        assert note.partition("' ")[2] in report.to_html()
        compared = fm.compare(paths, "auc", label="y", score=["s", "m"], on_invalid="drop", **NULL)
        assert compared.notes[0] == f"column 'm' is null in 1 file that lacks it: {paths[0]}"
        assert fm.evaluate(paths, "auc", label="y", score="s", **NULL).notes == ()

    def test_a_batch_of_an_accumulator_may_have_several_files(self, suffix, logs):
        paths = logs(suffix)
        accumulator = fm.Accumulator("auc", label="y", score="s", by="d")
        accumulator.update(paths, **NULL)
        assert rows_of(accumulator.result()) == {"a": 2, "b": 2, None: 4}
        assert_raises(ValueError, "no column 'd'.*old.*missing_columns='null'", accumulator.update, paths)
        assert_raises(ValueError, "no column 'd' in .*old", accumulator.update, paths[0], **NULL)
        assert accumulator.rows == 8

    def test_the_command_line_has_the_option(self, suffix, logs, tmp_path):
        words = ["evaluate", *logs(suffix), "--label", "y", "--score", "s", "-m", "auc", "--by", "d"]
        done = run(*words, folder=tmp_path)
        assert done.returncode != 0
        assert "--missing-columns null" in " ".join(done.stderr.split())
        done = run(*words, "--missing-columns", "null", "--json", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert [own["slice"].get("d") for own in document["results"]] == [None, "a", "b", None]
        assert "column 'd' is null in 1 file that lacks it" in document["notes"][0]
        done = run(*words, "--missing-columns", "null", folder=tmp_path)
        assert "is null in 1 file" in " ".join(done.stdout.split())
        done = run(*words, "--missing-columns", "zero", folder=tmp_path)
        assert done.returncode == 2


def test_many_files_are_counted(tmp_path):
    paths = [write(tmp_path / f"{day:02}.parquet", OLD) for day in range(30)]
    report = fm.evaluate([*paths, write(tmp_path / "new.parquet", NEW)], "auc", label="y", score="s", by="d", **NULL)
    assert rows_of(report) == {"a": 2, "b": 2, None: 120}
    assert report.notes[0].startswith("column 'd' is null in 30 files that lack it: ")
    assert report.notes[0].endswith("09.parquet and 20 more")


def test_files_of_several_formats(tmp_path):
    paths = [write(tmp_path / f"old{suffix}", OLD) for suffix in SUFFIXES]
    paths.append(write(tmp_path / "new.csv", NEW))
    assert rows_of(fm.evaluate(paths, "auc", label="y", score="s", by="d", **NULL)) == {"a": 2, "b": 2, None: 20}


def test_folders_that_lack_a_hive_key(tmp_path):
    for folder in ("log/day=1", "log/day=2", "log"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        write(tmp_path / folder / "part.parquet", OLD)
    options = {"label": "y", "score": "s", "by": "day"}
    error = r"no column 'day' in .*log.part\.parquet.*missing_columns='null'"
    assert_raises(ValueError, error, fm.evaluate, tmp_path / "log", "auc", **options)
    assert rows_of(fm.evaluate(tmp_path / "log", "auc", **options, **NULL)) == {1: 4, 2: 4, None: 4}
    report = fm.evaluate(tmp_path / "log", "auc", label="y", score="s", where="day = 2", **NULL)
    assert (report.rows, report.filtered) == (12, 8)


@each_case("suffix", [".parquet", ".jsonl"])
def test_fields_of_structs(suffix, tmp_path):
    fields = [{"p": 0.9, "v": "a"}, {"p": 0.1, "v": "b"}, {"p": 0.8, "v": "a"}, {"p": 0.3, "v": "b"}]
    olds = [{**OLD, "model": [{"p": own["p"]} for own in fields]}, OLD]
    paths = [write(tmp_path / f"{number}{suffix}", own) for number, own in enumerate([*olds, {**OLD, "model": fields}])]
    error = rf"no column 'model.*' in .*[01]\{suffix}.*missing_columns='null'"
    assert_raises(ValueError, error, fm.evaluate, paths, "auc", label="y", score="s", by="model.v")
    report = fm.evaluate(paths, "auc", label="y", score="s", by="model.v", **NULL)
    assert rows_of(report) == {"a": 2, "b": 2, None: 8}
    error = "by: no column 'w' in the fields of column 'model'"
    assert_raises(ValueError, error, fm.evaluate, paths, "auc", label="y", score="s", by="model.w", **NULL)


def test_keys_of_json_lines_that_come_late_in_a_file_are_no_nulls(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1 << 12)
    rows = [{"y": number % 2, "s": 0.5, "model": {"p": 1}} for number in range(1000)]
    late = [{**row, "x": 2**63 + 1, "d": "b", "model": {"p": 1, "v": "late"}} for row in rows[:10]]
    paths = [tmp_path / "old.jsonl", write(tmp_path / "new.jsonl", {**NEW, "model": [{"p": 1, "v": "n"}] * 4})]
    paths[0].write_text("".join(json.dumps(row) + "\n" for row in [*rows, *late]))
    found = {}
    for column in ("x", "d", "model.v"):
        report = fm.evaluate(paths, "ctr", label="y", score="s", by=column, **NULL)
        found[column] = rows_of(report)
        assert report.notes == ()
    assert found["x"] == {2: 1, 3: 2, 2**63 + 1: 11, None: 1000}
    assert found["d"] == {"a": 2, "b": 12, None: 1000}
    assert found["model.v"] == {"n": 4, "late": 10, None: 1000}


@each_case("suffix", [".csv", ".jsonl"])
def test_types_of_columns_that_files_lack(suffix, logs):
    options = {"label": "y", "score": "s", "by": "x", "format_options": {"column_types": {"d": "string"}}}
    error = r"format_options: column_types: no column 'd' in .*old.*missing_columns='null'"
    assert_raises(ValueError, error, fm.evaluate, logs(suffix)[::-1], "auc", **options)
    if suffix == ".csv":  # numbers of JSON are no texts
        options["format_options"] = {"column_types": {"x": "string"}}
        report = fm.evaluate(logs(suffix), "auc", **options, **NULL)
        assert rows_of(report) == {"2": 1, "3": 2, str(2**63 + 1): 1, None: 4}
    options["format_options"] = {"column_types": {"d": "string"}}
    assert rows_of(fm.evaluate(logs(suffix), "auc", **options, **NULL)) == {2: 1, 3: 2, 2**63 + 1: 1, None: 4}
    options["format_options"] = {"column_types": {"e": "string"}}
    error = "format_options: column_types: no column 'e' in .*Its columns: [^.]*$"
    assert_raises(ValueError, error, fm.evaluate, logs(suffix), "auc", **options, **NULL)


def test_long_ids_stay_what_they_are(tmp_path):
    for suffix in (".csv", ".jsonl"):
        old = write(tmp_path / f"old{suffix}", OLD)
        new = tmp_path / f"new{suffix}"
        ids = ["1700000000123456789012", "1700000000123456789013", "7", "7"]
        if suffix == ".csv":
            lines = [f"{y},{s},{own}\n" for y, s, own in zip(*OLD.values(), ids, strict=True)]
            new.write_text("y,s,x\n" + "".join(lines))
        else:
            lines = [f'{{"y": {y}, "s": {s}, "x": {own}}}\n' for y, s, own in zip(*OLD.values(), ids, strict=True)]
            new.write_text("".join(lines))
        for paths in ([old, new], [new, old]):
            report = fm.evaluate(paths, "auc", label="y", score="s", by="x", **NULL)
            assert sorted(rows_of(report).values()) == [1, 1, 2, 4]


@each_case("data", [OLD, pa.table(OLD), [pa.table(OLD)]])
def test_data_that_are_no_files_refuse_the_option(data):
    error = "missing_columns: it is for files, and data is of type"
    assert_raises(ValueError, error, fm.evaluate, data, "auc", label="y", score="s", **NULL)


@each_case("value", ["nulls", None, True, 0])
def test_other_values_are_an_error(value, logs):
    error = f"missing_columns must be 'raise' or 'null'; found {value!r}"
    options = {"label": "y", "score": "s", "missing_columns": value}
    assert_raises(ValueError, error, fm.evaluate, logs(".csv"), "auc", **options)


def test_orc(tmp_path):
    """It has no unsigned integers, so it is not among the formats above."""
    orc = pytest.importorskip("pyarrow.orc")
    new = {name: own for name, own in NEW.items() if name != "x"}
    for name, columns in (("old", OLD), ("new", new)):
        orc.write_table(pa.table(columns), tmp_path / f"{name}.orc")
    columns = {"label": "y", "score": "s", "by": "d"}
    assert_raises(ValueError, r"no column 'd' in .*old\.orc", fm.evaluate, tmp_path, "ctr", **columns)
    report = fm.evaluate(tmp_path, "ctr", **columns, **NULL)
    assert [(own.slice.get("d"), own.rows) for own in report] == [(None, 8), ("a", 2), ("b", 2), (None, 4)]
