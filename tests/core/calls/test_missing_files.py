"""The one answer to a path at which nothing can be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.calls.missing_files import explain_missing, open_to_read, similar_files, split_name


@pytest.mark.parametrize(
    ("name", "names", "near"),
    [
        ("log.parquet", ["other.parquet"], []),  # the suffix says nothing
        ("a.parquet", ["b.parquet", "c.parquet"], []),
        ("log.parquet", ["lag.parquet"], []),  # three letters, one of them another: another name
        ("logs.parquet", ["log.parquet", "other.parquet"], ["log.parquet"]),
        ("clik.parquet", ["clicks.parquet", "clack.parquet", "notes.txt"], ["clicks.parquet"]),
        ("clicks", ["clicks.parquet"], ["clicks.parquet"]),  # the suffix was left out
        ("log.csv", ["log.parquet", "log.csv.gz", "other.csv"], ["log.csv.gz", "log.parquet"]),
        ("log.parqet", ["log.csv", "log.parquet"], ["log.parquet", "log.csv"]),
        ("Clicks.Parquet", ["clicks.parquet"], ["clicks.parquet"]),
        ("today-log.parquet", ["today_log.parquet"], ["today_log.parquet"]),
        ("day=2024-01-01.csv", ["day=2024-01-02.csv", "none.csv"], ["day=2024-01-02.csv"]),
        (".log.csv", [".logs.csv", "log.csv"], [".logs.csv"]),  # hidden files are proposed for hidden ones alone
        ("log.csv", [".log.csv"], []),
    ],
)
def test_stems_are_compared_before_suffixes(name, names, near):
    assert similar_files(name, names) == near


@given(st.text(), st.lists(st.text(min_size=1), unique=True))
def test_any_names_are_compared(name, names):
    near = similar_files(name, names)
    assert len(set(near)) == len(near)
    assert set(near) <= set(names)
    for other in names:
        if split_name(other)[0] == split_name(name)[0] and other.startswith(".") == name.startswith("."):
            assert other in near or len(near) > 9


def test_a_folder_that_is_missing_is_named_with_its_neighbors(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "file").touch()
    for path, end in {
        "log/a.csv": f"there is no folder {tmp_path / 'log'} either; did you mean logs?",
        "none/a.csv": f"there is no folder {tmp_path / 'none'} either",
        "none/of/them/a.csv": f"there is no folder {tmp_path / 'none/of/them'} either",
        "file/a.csv": f"{tmp_path / 'file'} is no folder",
    }.items():
        assert explain_missing(tmp_path / path) == f"there is no file {tmp_path / path}: {end}"


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        open_to_read(tmp_path)


def test_names_that_are_not_utf_8_are_escaped(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        open_to_read(bytes(tmp_path) + b"/l\xffg.csv")
    assert str(caught.value).encode()
    assert "l\\udcffg.csv" in str(caught.value)
