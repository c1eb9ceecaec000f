"""Files that are replaced, rewritten, cut or deleted while they are read are errors that say so, in every format."""

import os
import shutil

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import each_case
from support.command_line import assert_is_a_message, run

pa = pytest.importorskip("pyarrow")
orc = pytest.importorskip("pyarrow.orc")
pq = pytest.importorskip("pyarrow.parquet")
from fastmetrics.engine.input.files import file_source, formats  # noqa: E402

N_ROWS = 3000
COLUMNS = {"label": "y", "score": "s"}


def table(seed, rows=N_ROWS):
    generator = np.random.default_rng(seed)
    return pa.table({"y": generator.integers(0, 2, rows), "s": generator.integers(100, 999, rows)})


def write_arrow(data, path):
    with pa.ipc.new_file(path, data.schema) as writer:
        writer.write_table(data, max_chunksize=1000)


def write_csv(data, path):
    rows = zip(*(data[name].to_pylist() for name in ("y", "s")), strict=True)
    path.write_text("y,s\n" + "".join(f"{y},{s}\n" for y, s in rows))


def write_json(data, path):
    path.write_text("".join(f'{{"y": {row["y"]}, "s": {row["s"]}}}\n' for row in data.to_pylist()))


WRITERS = {
    "parquet": lambda data, path: pq.write_table(data, path, row_group_size=1000, compression="none"),
    "arrow": write_arrow,
    "orc": lambda data, path: orc.write_table(data, str(path)),
    "csv": write_csv,
    "jsonl": write_json,
}


def replace(path, write):
    """As jobs do that write a file beside the old one."""
    write(table(2), path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)


def replace_by_a_shorter(path, write):
    write(table(2, 10), path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)


def rewrite(path, write):
    write(table(2), path)


def cut(path, write):
    os.truncate(path, os.path.getsize(path) // 2)


def empty(path, write):
    os.truncate(path, 0)


def append(path, write):
    with path.open("ab") as file:
        file.write(b"\n")


def delete(path, write):
    path.unlink()


def rename(path, write):
    path.rename(path.with_name("other"))


CHANGES = [replace, replace_by_a_shorter, rewrite, cut, empty, append, delete, rename]


@pytest.fixture
def changing(monkeypatch):
    """`changing(change, when)`: do that once, after the files were inspected, or after the first batch was read."""

    def start(change, when):
        module, name = (file_source, "inspect_files") if when == "inspected" else (file_source, "_conform_batch")
        real = getattr(module, name)
        done = []

        def then_change(*arguments, **options):
            found = real(*arguments, **options)
            if not done:
                done.append(True)
                change()
            return found

        monkeypatch.setattr(module, name, then_change)

    return start


@each_case("suffix", WRITERS)
@each_case("change", CHANGES)
@each_case("when", ["inspected", "first batch"])
def test_a_changed_file_is_an_error_that_names_it(tmp_path, changing, suffix, change, when):
    path = tmp_path / f"log.{suffix}"
    WRITERS[suffix](table(1), path)
    os.utime(path, ns=(1, 1))
    changing(lambda: change(path, WRITERS[suffix]), when)
    wanted = "was (changed or replaced|deleted or renamed) while it was read"
    with pytest.raises(ValueError, match=rf"^{path} {wanted}; evaluate it when"):
        fm.evaluate(path, "auc", **COLUMNS)


@each_case("change", [replace_by_a_shorter, cut, delete])
def test_one_file_of_a_folder(tmp_path, changing, change):
    folder = tmp_path / "log"
    folder.mkdir()
    for number in range(3):
        WRITERS["parquet"](table(number), folder / f"{number}.parquet")
    os.utime(folder / "1.parquet", ns=(1, 1))
    changing(lambda: change(folder / "1.parquet", WRITERS["parquet"]), "inspected")
    with pytest.raises(ValueError, match=r"1.parquet was .* while it was read"):
        fm.evaluate(folder, "auc", **COLUMNS)


def test_a_file_that_is_open(tmp_path, changing):
    path = tmp_path / "log.parquet"
    WRITERS["parquet"](table(1), path)
    changing(lambda: cut(path, None), "inspected")
    with path.open("rb") as opened, pytest.raises(ValueError, match=r"log.parquet.* was changed or replaced while"):
        fm.evaluate(opened, "auc", **COLUMNS)


def test_the_command_line(tmp_path, changing):
    path = tmp_path / "log.parquet"
    WRITERS["parquet"](table(1), path)
    os.utime(path, ns=(1, 1))
    changing(lambda: replace_by_a_shorter(path, WRITERS["parquet"]), "inspected")
    done = run("evaluate", "log.parquet", "--label", "y", "--score", "s", "-m", "auc", folder=tmp_path)
    assert_is_a_message(done, "log.parquet was changed or replaced while it was read")


def test_a_new_link_is_no_change(tmp_path, changing):
    path = tmp_path / "log.csv"
    write_csv(table(1), path)
    wanted = fm.evaluate(path, "auc", **COLUMNS)["auc"]
    changing(lambda: os.link(path, tmp_path / "link"), "inspected")
    assert fm.evaluate(path, "auc", **COLUMNS)["auc"] == wanted
    changing(lambda: shutil.copy(path, tmp_path / "copy"), "first batch")
    assert fm.evaluate(path, "auc", **COLUMNS)["auc"] == wanted


def test_an_error_without_a_change_stays(tmp_path, monkeypatch):
    path = tmp_path / "log.csv"
    write_csv(table(1), path)
    data_file = formats.DataFile.local(path)
    with pytest.raises(IndexError, match="7"), formats.name_file_in_errors(data_file, formats.PARQUET):
        raise IndexError(7)
