"""Several files as one log: folders, globs, different columns and types, and errors that name a damaged file."""

import gzip
import sys

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pytest

from fastmetrics.engine.input.files import parquet_reading
from fastmetrics.engine.input.sources import open_source
from support.cases import assert_raises, each_case
from support.files.log_files import COLUMNS, corrupt_column, log, read, truncate, write_csv, write_ipc, write_parquet

# ------------------------------------------------------------------------------------------ directories and globs


def test_hive_folders_are_columns(tmp_path):
    for day in (2, 10):
        for channel in ("ads%2Fsearch", "__HIVE_DEFAULT_PARTITION__"):
            write_parquet(log(3, seed=day), tmp_path / f"day={day}" / f"channel={channel}" / "part-0.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "day=2" / ".part-0.parquet.crc").touch()
    source = open_source(tmp_path)
    assert (source.column_names, source.rows) == ([*log(1).column_names, "day", "channel"], 12)
    found = read(tmp_path, ["day", "click", "channel"])
    assert found.schema.types == [pa.int64(), pa.int8(), pa.string()]
    assert found["day"].to_pylist() == [10] * 6 + [2] * 6
    assert found["channel"].to_pylist() == ([None] * 3 + ["ads/search"] * 3) * 2
    assert read(tmp_path, ["day"])["day"].to_pylist() == [10] * 6 + [2] * 6
    assert read(str(tmp_path / "day=1*"), ["day"])["day"].to_pylist() == [10] * 6


def test_hive_values_that_are_not_plain_integers_stay_text(tmp_path):
    for code in ("7", "07"):
        write_parquet(log(1), tmp_path / f"code={code}" / "a.parquet")
    assert read(tmp_path, ["code"])["code"].to_pylist() == ["07", "7"]


def test_globs_are_sorted_and_each_file_comes_once(tmp_path):
    for name in ("b/2", "a/1", "a/deep/0", "_temporary/9", "b/_9"):
        write_parquet(pa.table({"name": [name]}), tmp_path / f"{name}.parquet")
    (tmp_path / "empty").mkdir()
    for pattern in ("**", "**/*.parquet", "*"):
        assert read(str(tmp_path / pattern), ["name"])["name"].to_pylist() == ["a/1", "a/deep/0", "b/2"], pattern
    assert read(str(tmp_path / "b" / "_*.parquet"), ["name"])["name"].to_pylist() == ["b/_9"]
    assert read(tmp_path, ["name"])["name"].to_pylist() == ["a/1", "a/deep/0", "b/2"]


def test_a_name_that_looks_like_a_glob(tmp_path):
    assert read(str(write_parquet(log(4), tmp_path / "log[1].parquet"))).num_rows == 4


def test_a_link_to_a_folder_above_is_not_followed_again(tmp_path):
    write_parquet(log(4), tmp_path / "a" / "log.parquet")
    try:
        (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    except OSError as error:
        pytest.skip(f"no symbolic links here: {error}")
    assert read(tmp_path).num_rows == 4


def test_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write_parquet(log(4), tmp_path / "log.parquet")
    assert read("~/log.parquet").num_rows == 4


def test_missing_file_names_the_near_ones(tmp_path):
    write_parquet(log(1), tmp_path / "clicks.parquet")
    assert_raises(
        FileNotFoundError, r"no file .*clik\.parquet; did you mean clicks\.parquet\?",
        open_source, tmp_path / "clik.parquet",
    )
    assert_raises(
        FileNotFoundError, r"there is no folder .*nowhere either", open_source, tmp_path / "nowhere" / "clicks.parquet"
    )


def test_nothing_to_read(tmp_path):
    assert_raises(FileNotFoundError, r"no file matches .*\*\.parquet", open_source, str(tmp_path / "*.parquet"))
    (tmp_path / "_SUCCESS").touch()
    assert_raises(FileNotFoundError, "holds no data file", open_source, tmp_path)
    assert_raises(ValueError, "empty list", open_source, [])


def test_unknown_suffix(tmp_path):
    path = tmp_path / "log.xlsx"
    path.touch()
    assert_raises(
        ValueError, r"xlsx has no known suffix; known are .*\.parquet, .*\.feather, .*\.csv\.gz", open_source, path
    )
    write_parquet(log(1), tmp_path / "log.parquet")
    assert_raises(
        ValueError, r"log\.xlsx has no known suffix; known are .*give a glob: '.*/\*\.parquet'", open_source, tmp_path
    )


def test_two_formats_in_one_directory(tmp_path):
    write_parquet(log(1), tmp_path / "log.parquet")
    write_csv(log(1), tmp_path / "log.csv")
    assert_raises(
        ValueError, r"several formats, CSV \(.*log\.csv\) and Parquet \(.*log\.parquet\)", open_source, tmp_path
    )
    assert read(str(tmp_path / "*")).num_rows == 2


# ------------------------------------------------------------------------------------------------ several files


def two_files(folder, first, second):
    return [
        write_parquet(pa.table(columns), folder / f"{name}.parquet") for name, columns in (("a", first), ("b", second))
    ]


def test_columns_are_matched_by_name(tmp_path):
    paths = two_files(tmp_path, {"click": [0], "score": [0.5]}, {"score": [0.25], "extra": ["x"], "click": [1]})
    assert open_source(paths).column_names == ["click", "score", "extra"]
    assert read(paths, ["score", "click"]).to_pydict() == {"score": [0.5, 0.25], "click": [0, 1]}


def test_rows_are_located_in_their_file(tmp_path):
    paths = [write_parquet(log(n), tmp_path / f"{n}.parquet") for n in (10, 20)]
    source = open_source(paths)
    assert source.locate(9) == f"row 9 of {paths[0]}"
    assert source.locate(10) == f"row 0 of {paths[1]}"
    assert open_source(paths[0]).locate(9) == "row 9"
    assert open_source([write_csv(log(3), tmp_path / "a.csv"), *paths]).locate(2) == "row 2"


STRINGS = ["u1", "u2"]


@each_case(
    ("first", "second", "unified"),
    [
        (pa.array([1, 2], pa.int8()), pa.array([3, 4], pa.int64()), pa.int64()),
        (pa.array([1, 2], pa.int32()), pa.array([3, 4], pa.uint32()), pa.int64()),
        (pa.array([1, 2], pa.float32()), pa.array([3, 4], pa.float64()), pa.float64()),
        (pa.array([1, 2], pa.int64()), pa.array([0.5, 4]), pa.float64()),
        (pa.nulls(2), pa.array([3, 4]), pa.int64()),
        (pa.array(STRINGS), pa.array(STRINGS, pa.large_string()), pa.large_string()),
        (pa.array(STRINGS).dictionary_encode(), pa.array(STRINGS), pa.string()),
        (pa.array(STRINGS, pa.string_view()), pa.array(STRINGS), pa.large_string()),
    ],
    ids=lambda value: str(value) if isinstance(value, pa.DataType) else str(value.type),
)
def test_types_are_unified_if_no_value_changes(first, second, unified, tmp_path):
    paths = []
    for name, column in (("a", first), ("b", second), ("c", first)):
        paths.append(write_ipc(pa.table({"column": column}), tmp_path / f"{name}.arrow"))
    found = read(paths, ["column"])
    assert found.schema.types == [unified]
    assert found["column"].to_pylist() == [*first.to_pylist(), *second.to_pylist(), *first.to_pylist()]


def test_a_value_that_would_change_is_an_error(tmp_path):
    paths = two_files(tmp_path, {"user": [2**53 + 1]}, {"user": [0.5]})
    assert_raises(
        ValueError, r"'user' of .*a\.parquet is int64 and does not fit double.*9007199254740993", read, paths, ["user"]
    )
    paths = two_files(tmp_path, {"user": pa.array([2**64 - 1], pa.uint64())}, {"user": [1]})
    assert_raises(ValueError, r"'user' of .*a\.parquet is uint64 and does not fit int64", read, paths, ["user"])


@pytest.mark.parametrize("second", [["1"], [True]])
def test_incompatible_types_name_both_files(second, tmp_path):
    paths = two_files(tmp_path, {"user": [1]}, {"user": second})
    assert_raises(
        ValueError, r"'user' is (string|bool) in .*b\.parquet but int64 .* such as .*a\.parquet", read, paths, ["user"]
    )


def test_a_column_that_one_file_lacks(tmp_path):
    paths = two_files(tmp_path, {"click": [1], "score": [0.5]}, {"clicks": [1], "score": [0.5]})
    assert_raises(ValueError, r"no column 'click' in .*b\.parquet; did you mean 'clicks'\?", read, paths, ["click"])


# ------------------------------------------------------------------------------------------------- damaged files


@pytest.mark.parametrize("damage", [lambda path: truncate(path, 50), lambda path: path.write_bytes(b"")])
def test_truncated_parquet(damage, tmp_path):
    good = write_parquet(log(), tmp_path / "good.parquet")
    bad = write_parquet(log(), tmp_path / "bad.parquet")
    damage(bad)
    for data in (bad, [good, bad], tmp_path):
        assert_raises(
            ValueError, r"bad\.parquet cannot be read as Parquet; is it damaged or cut short\?", open_source, data
        )


@pytest.mark.parametrize("use_threads", [False, True])
def test_one_damaged_file_of_many_is_named_when_it_is_read(use_threads, tmp_path):
    for number in range(8):
        write_parquet(log(), tmp_path / f"{number}.parquet")
    corrupt_column(tmp_path / "5.parquet", log().column_names.index("score"))
    for data in (tmp_path, pa.dataset.dataset(tmp_path)):
        assert_raises(ValueError, r"5\.parquet", read, data, use_threads=use_threads)


def test_a_file_cut_after_it_was_opened(tmp_path):
    path = write_parquet(log(), tmp_path / "log.parquet")
    source = open_source(path)
    truncate(path, 50)
    with pytest.raises(ValueError, match=r"log\.parquet was changed or replaced while it was read"):
        list(source.batches(COLUMNS))


@pytest.mark.parametrize(("stream", "n_bytes"), [(False, 60), (True, 600)])
def test_truncated_ipc(stream, n_bytes, tmp_path):
    path = truncate(write_ipc(log(), tmp_path / "log.arrow", stream=stream), n_bytes)
    assert_raises(ValueError, r"log\.arrow cannot be read as Arrow IPC; is it damaged or cut short\?", read, path)


@pytest.mark.parametrize("stream", [False, True])
def test_offsets_and_codes_beyond_their_bytes(stream, tmp_path):
    """Arrow reads them as they are, and kernels would read beyond the texts."""
    offsets = pa.py_buffer(np.array([0, 1, 1 << 30, 2], np.int32))
    texts = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"abc"))
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 9, 1]), pa.array(["a", "b"]), safe=False)
    message = r"log\.arrow cannot be read as Arrow IPC; is it damaged or cut short\?"
    for column in (texts, codes):
        path = write_ipc(pa.table({"user": column}), tmp_path / "log.arrow", stream=stream)
        assert_raises(ValueError, message, read, path, ["user"])
    for bad in (codes, pa.ListArray.from_arrays([0, 1, 1, 3], codes)):
        batch = pa.record_batch([bad], ["user"])
        assert_raises(pa.ArrowInvalid, "A dictionary lacks a code", parquet_reading.check_codes, batch)
        parquet_reading.check_codes(batch.slice(0, 0))


@pytest.mark.parametrize("content", [b"", b"FEA1....", b"these are words, not Arrow"])
def test_files_that_are_not_ipc(content, tmp_path):
    path = tmp_path / "log.feather"
    path.write_bytes(content)
    assert_raises(ValueError, r"log\.feather cannot be read as Arrow IPC", open_source, path)


def test_csv_with_a_word_in_a_later_block(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"click,score\n" + b"1,0.5\n" * 1_500_000 + b"yes,0.5\n")
    message = r"log\.csv cannot be read as CSV; column types are taken from the first 4 MiB.*'yes' at row #1,500,002"
    for use_threads in (False, True):
        batches = open_source(path).batches(["click", "score"], use_threads=use_threads)
        assert_raises(ValueError, message, list, batches)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "Empty CSV file"),
        ("ragged.csv", b"a,b\n1,2\n3\n", "Expected 2 columns, got 1"),
        ("cut.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-6], "Truncated compressed stream"),
        ("plain.csv.gz", b"a,b\n1,2\n", ""),
    ],
)
def test_csv_that_cannot_be_read(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    assert_raises(ValueError, rf"{name} cannot be read as CSV.*{message}", read, path, ["a"])


def test_csv_values_with_newlines_are_not_split(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"click,text\n" + b'1,"two\nlines"\n' * 1_000_000)
    found = read(path, ["text", "click"])
    assert found.num_rows == pa.compute.sum(found["click"]).as_py() == 1_000_000
    assert found["text"].unique().to_pylist() == ["two\nlines"]


def test_csv_types(tmp_path):
    (tmp_path / "1.csv").write_text('click,user,text\n1,a,"two\nlines"\n,,""\n')
    (tmp_path / "2.csv").write_text("text,user,click\nx,NA,0.5\n")
    (tmp_path / "3.csv").write_text("click,user,text\n")
    found = read(tmp_path, ["click", "user", "text"])
    assert found.to_pydict() == {"click": [1, None, 0.5], "user": ["a", "", "NA"], "text": ["two\nlines", "", "x"]}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permission bits")
def test_a_file_that_may_not_be_read(tmp_path):
    path = write_parquet(log(1), tmp_path / "log.parquet")
    path.chmod(0)
    try:
        path.open("rb").close()
    except PermissionError:
        assert_raises(PermissionError, r"log\.parquet", open_source, path)
    else:
        pytest.skip("this user may read everything")


@each_case("options", [{}, {"compression": "none", "use_dictionary": False}, {"data_page_version": "2.0"}], ids=str)
@each_case("use_threads", [False, True])
def test_pages_with_checksums_are_verified(options, use_threads, tmp_path):
    """One bit that is wrong would be another score. Columns that are not read do not matter."""
    path = write_parquet(log(), tmp_path / "log.parquet", row_group_size=100, write_page_checksum=True, **options)
    column = pa.parquet.read_metadata(path).row_group(1).column(log().column_names.index("score"))
    content = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    content[start + column.total_compressed_size * 3 // 4] ^= 1
    path.write_bytes(content)
    message = r"log\.parquet cannot be read as Parquet; .*checksum"
    assert_raises(ValueError, message, read, path, ["score"], use_threads=use_threads)
    assert_raises(ValueError, message, read, tmp_path, ["score"], use_threads=use_threads)
    assert read(path, ["click"], use_threads=use_threads).num_rows == log().num_rows
