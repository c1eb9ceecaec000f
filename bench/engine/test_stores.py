"""Where logs are: a Delta table, hive folders and a store beside the same Parquet files, read as a list.

Of the store, bytes and requests are counted: a file system on the local disk, of another kind, records every read.
"""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import fastmetrics as fm

COLUMNS = {"label": "click", "score": "pctr", "group": "user_id"}
METRICS = {"logloss": ["logloss"], "auc and gauc": ["auc", "gauc"]}
FILES = 8


@pytest.fixture(scope="module")
def folders(clicks, tmp_path_factory):
    """The same rows and row groups as plain files, as hive folders and as a Delta table partitioned by day."""
    deltalake = pytest.importorskip("deltalake")
    folder = tmp_path_factory.mktemp("stores")
    users = np.arange(clicks.labels.shape[0]) * 7919 % 100_003
    table = pa.table({"click": clicks.labels, "pctr": clicks.probabilities, "user_id": users})
    rows = -(-table.num_rows // FILES)
    deltalake.write_deltalake(folder / "delta", with_day(table.slice(0, rows), 0), partition_by="day")
    for number in range(FILES):
        part = table.slice(number * rows, rows)
        if number:
            deltalake.write_deltalake(folder / "delta", with_day(part, number), mode="append")
    for place in sorted((folder / "delta").glob("day=*/*.parquet")):
        for kind, name in (("plain", place.parent.name.replace("=", "-")), ("hive", f"{place.parent.name}/part-0")):
            target = folder / kind / f"{name}.parquet"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(place.read_bytes())
    return folder


def with_day(table, number):
    return table.append_column("day", pa.array([number] * table.num_rows, pa.int32()))


@pytest.mark.parametrize("kind", ["delta", "hive"])
@pytest.mark.parametrize("name", METRICS)
def test_tables_and_folders(timing, folders, kind, name):
    files = sorted((folders / "plain").glob("*.parquet"))

    def value(data):
        return fm.evaluate(data, METRICS[name], **COLUMNS)[METRICS[name][-1]]

    timing.compare(
        f"`evaluate` of {name}: {kind}, {timing.rows:,} rows in {FILES} files", lambda: value(folders / kind),
        "the same Parquet files, as a list", lambda: value(files), within=0.0, rounds=5,
    )  # fmt: skip


class RecordedFiles(fs.FileSystemHandler):
    """A local folder as a file system of another kind, which records the bytes of every read."""

    def __init__(self, folder):
        self.inner = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
        self.reads = []

    def open_input_file(self, path):
        inner, reads = self.inner.open_input_file(path), self.reads

        class Recorded(io.RawIOBase):
            def readable(self):
                return True

            def read(self, size=-1):
                reads.append(size)
                return inner.read(size)

            def seek(self, *place):
                return inner.seek(*place)

            def tell(self):
                return inner.tell()

        return pa.PythonFile(Recorded(), mode="r")

    def get_file_info(self, paths):
        return self.inner.get_file_info(paths)

    def get_file_info_selector(self, selector):
        return self.inner.get_file_info(selector)

    def get_type_name(self):
        return "recorded"

    def normalize_path(self, path):
        return path

    def _unused(self, *arguments):
        raise NotImplementedError

    copy_file = create_dir = delete_dir = delete_dir_contents = delete_file = delete_root_dir_contents = _unused
    move = open_append_stream = open_input_stream = open_output_stream = _unused


def test_requests_and_bytes_of_a_store(folders):
    recorded = RecordedFiles(folders)
    fm.evaluate("plain", ["auc", "gauc"], **COLUMNS, filesystem=fs.PyFileSystem(recorded))
    held = groups = 0
    footers = FILES  # one read each
    for path in (folders / "plain").glob("*.parquet"):
        metadata = pq.read_metadata(path)
        groups += metadata.num_row_groups
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            held += sum(group.column(number).total_compressed_size for number in range(3))
    of_columns = sum(recorded.reads) - footers * (1 << 16)
    print(f"{len(recorded.reads) / groups:.2f} reads a row group, {of_columns / held:.4f} of the bytes of its columns")
    assert len(recorded.reads) <= groups * (3 + 2)
    assert of_columns <= 1.05 * held
