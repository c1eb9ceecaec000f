"""Logs in stores: S3 on loopback by pyarrow, memory by fsspec; requests, bytes, and errors that end in seconds."""

import gzip
import io
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import fastmetrics as fm
from fastmetrics.engine.input.files import file_source, parquet_reading
from fastmetrics.engine.input.files.block_cache import BLOCK_BYTES, CachedBlocks
from fastmetrics.engine.input.files.file_systems import locate_paths
from fastmetrics.engine.input.files.store_paths import _component
from fastmetrics.engine.input.sources import open_source
from support.cases import assert_raises, each_case
from support.files.log_files import log, read, write_csv, write_ipc, write_parquet
from support.files.stores import KEYS
from support.subprocesses import PATIENCE, posix_only

OPTIONS = {"metrics": "auc,logloss", "label": "click", "score": "score"}
ROWS = 4000


def write_folder(folder):
    """A folder as Spark writes it: hive folders, names with codecs, markers, files of an unfinished job."""
    table = log(ROWS)
    write_parquet(table.slice(0, 2000), folder / "day=1" / "part-00000-a.c000.snappy.parquet", row_group_size=500)
    write_parquet(table.slice(2000), folder / "_day=2" / "part-00001-a.gz.parquet", compression="gzip")
    (folder / "_SUCCESS").touch()
    (folder / "day=1" / ".part-00000-a.c000.snappy.parquet.crc").write_bytes(b"crc")
    write_parquet(table, folder / "_temporary" / "0" / "part-00000.parquet")
    write_parquet(table, folder / "day=1" / "_part-00000.parquet")
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folder")
    write_folder(folder)
    return folder


@pytest.fixture(scope="module")
def stored(store, folder):
    store.bucket("logs")
    store.upload(folder, "s3://logs/main")
    return "s3://logs/main"


@pytest.fixture
def memory(folder):
    """The same folder in fsspec's memory."""
    fsspec = pytest.importorskip("fsspec")
    filesystem = fsspec.filesystem("memory")
    filesystem.put(str(folder), "/main", recursive=True)
    yield filesystem
    filesystem.rm("/main", recursive=True)


@pytest.fixture(scope="module")
def expected(folder):
    return fm.evaluate(folder, **OPTIONS).to_dict()["results"]


def evaluated(data, **options):
    return fm.evaluate(data, **OPTIONS, **options).to_dict()["results"]


def files_of(uri):
    return [file.data_file.address for file in open_source(uri).files]


# ------------------------------------------------------------------------------------------------------ what is read

NAMES = ["", "/", "/*", "/**", "/*day=*", "/**/*.parquet", "/*/part-0000[01]*", "/*/part-0000[!2-9]-?.*"]


def test_a_folder_as_spark_writes_it(folder):
    assert open_source(folder).rows == ROWS
    assert read(folder, ["day", "_day", "click"][2:]).num_rows == ROWS
    assert evaluated(folder) == evaluated(log(ROWS))


def test_globs_lists_and_folders_of_s3(stored, expected):
    assert evaluated(stored) == expected
    files = files_of(stored)
    for name in NAMES[::2]:  # a listing is many requests, and so are rows: file systems of fsspec get all names
        assert files_of(stored + name) == files, name
    first, second = f"{stored}/day=1", f"{stored}/_day=2/part-00001-a.gz.parquet"
    assert evaluated([first, second]) == expected
    assert evaluated([second, first], n_threads=1) == expected
    assert open_source(stored).column_names == open_source(f"{stored}/*").column_names
    assert read(first, ["day"])["day"].to_pylist() == [1] * 2000
    assert open_source(f"{stored}/day=1/_part*").rows == ROWS
    assert open_source(f"{stored}/_temporary/**").rows == ROWS


def test_every_entry_point_reads_stores(stored, store, expected, folder):
    options = {"endpoint_url": store.address, "region": "us-east-1"}
    assert evaluated(stored, storage_options=options) == expected
    assert evaluated("logs/main", filesystem=store.filesystem) == expected
    assert evaluated(stored, filesystem=store.filesystem) == expected
    accumulator = fm.Accumulator(**OPTIONS)
    accumulator.update(stored, storage_options=options)
    assert accumulator.result().to_dict()["results"] == expected
    models = {"metrics": "auc", "label": "click", "score": ["score", "user"], "replicates": 10}
    found = fm.compare("logs/main", filesystem=store.filesystem, **models)
    assert found.to_json().split('"seconds"')[0] == fm.compare(folder, **models).to_json().split('"seconds"')[0]
    query = f"{stored}?endpoint_override={store.address}&region=us-east-1"
    assert evaluated(query) == expected


def test_file_systems_of_fsspec(memory, stored, store, expected):
    for name in NAMES:
        assert evaluated("memory://main" + name) == expected, name
        assert evaluated("/main" + name, filesystem=memory) == expected, name
    s3fs = pytest.importorskip("s3fs").S3FileSystem(endpoint_url=store.address, skip_instance_cache=True)
    assert evaluated("logs/main/*", filesystem=s3fs) == expected


def test_new_files_are_seen_by_file_systems_that_keep_listings(store, tmp_path):
    s3fs = pytest.importorskip("s3fs").S3FileSystem(endpoint_url=store.address, skip_instance_cache=True)
    store.bucket("growing")
    for n_files in (1, 2):
        store.upload(write_parquet(log(10), tmp_path / str(n_files) / "log.parquet").parent, f"s3://growing/a/{n_files}")
        assert open_source("growing/a", _options(filesystem=s3fs)).rows == 10 * n_files


def _options(**options):
    from fastmetrics.engine.input.input_options import InputOptions

    return InputOptions(**options)


def test_local_files_by_uri_and_by_file_system(folder, expected):
    fsspec = pytest.importorskip("fsspec")
    for data, filesystem in [
        (folder.as_uri(), None), (folder, fs.LocalFileSystem()), (str(folder), fsspec.filesystem("file")),
        (folder.as_uri(), fs.LocalFileSystem()), ("day=1", fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())),
    ]:  # fmt: skip
        found = evaluated(data, filesystem=filesystem)
        assert (found == expected) == (data != "day=1")
    assert_raises(ValueError, "three slashes", evaluated, "file://server/log.parquet")


def test_other_formats_in_stores(store, tmp_path):
    table = log(ROWS)
    uri = store.bucket("formats")
    write_csv(table, tmp_path / "a.csv")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    write_ipc(table, tmp_path / "c.arrow")
    write_ipc(table, tmp_path / "d.arrows", stream=True)
    store.upload(tmp_path, uri)
    for name in ("a.csv", "b.csv.gz", "c.arrow", "d.arrows"):
        with store.recorded() as requests:
            assert evaluated(f"{uri}/{name}") == evaluated(table), name
        gets = [request for request in requests if request.method == "GET" and name in request.path.split("?")[0]]
        assert len(gets) <= 4, name


def test_files_without_a_suffix(tmp_path, store):
    table = log(100)
    write_parquet(table, tmp_path / "parquet" / "part-00000")
    write_parquet(table, tmp_path / "parquet" / "part-00001-x.c000")
    write_parquet(table, tmp_path / "parquet" / "part-00002.parquet")
    (tmp_path / "arrow").mkdir()
    write_ipc(table, tmp_path / "arrow" / "part-00000")
    uri = store.upload(tmp_path, f"{store.bucket('suffix')}/a")
    for place in (tmp_path, uri):
        assert read(f"{place}/parquet").num_rows == 300
        assert read(f"{place}/arrow").num_rows == read(f"{place}/arrow/part-00000").num_rows == 100
        assert_raises(ValueError, r"several formats, Arrow IPC \(.*part-00000\) and Parquet", open_source, place)


# ------------------------------------------------------------------------------------------------- requests and bytes


@pytest.fixture(scope="module")
def wide(store, tmp_path_factory):
    """Six columns in eight row groups, and one row group a file."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("wide")
    table = pa.table({"click": rng.integers(0, 2, 80_000), **{f"score_{i}": rng.random(80_000) for i in range(5)}})
    pq.write_table(table, folder / "groups.parquet", row_group_size=10_000, use_dictionary=False)
    for number in range(4):
        write_parquet(table.slice(number * 20_000, 20_000), folder / "files" / f"{number}.parquet")
    return folder, store.upload(folder, f"{store.bucket('wide')}/a")


@each_case(("name", "row_groups"), [("groups.parquet", 8), ("files", 4)])
def test_a_row_group_is_a_request_per_column(wide, store, name, row_groups, monkeypatch):
    from fastmetrics.engine.input.files import file_source

    monkeypatch.setattr(file_source, "PARTITION_ROWS", 10_000)
    folder, uri = wide
    options = {"metrics": "auc", "label": "click", "score": ["score_1", "score_4"]}
    paths = sorted((folder / name).glob("*")) if name == "files" else [folder / name]
    column_bytes = 0
    for metadata in map(pq.read_metadata, paths):
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            columns = [group.column(number) for number in (0, 2, 5)]
            column_bytes += sum(column.total_compressed_size for column in columns)
    for n_threads in (1, 2):
        with store.recorded() as requests:
            found = fm.evaluate(f"{uri}/{name}", **options, n_threads=n_threads)
        assert found == fm.evaluate(folder / name, **options)
        of_data = [request for request in requests if ".parquet" in request.path.split("?")[0] and request.status < 300]
        assert len(of_data) <= row_groups * (3 + 2)
        footers = [request for request in of_data if request.method == "GET" and request.n_bytes == 1 << 16]
        reads = [request for request in of_data if request.method == "GET" and request not in footers]
        assert len(footers) <= len(paths)
        assert 0 < sum(request.n_bytes for request in reads) <= 1.05 * column_bytes


class CountedFiles(fs.FileSystemHandler):
    """A local folder as a file system of another kind, which counts reads."""

    def __init__(self, folder):
        self.inner = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
        self.reads = []

    def open_input_file(self, path):
        inner, reads = self.inner.open_input_file(path), self.reads

        class Counted(io.RawIOBase):
            def readable(self):
                return True

            def read(self, size=-1):
                reads.append((path, inner.tell(), size))
                return inner.read(size)

            def seek(self, *place):
                return inner.seek(*place)

            def tell(self):
                return inner.tell()

        return pa.PythonFile(Counted(), mode="r")

    def open_input_stream(self, path):
        return self.inner.open_input_stream(path)

    def get_file_info(self, paths):
        return self.inner.get_file_info(paths)

    def get_file_info_selector(self, selector):
        return self.inner.get_file_info(selector)

    def get_type_name(self):
        return "counted"

    def normalize_path(self, path):
        return path

    def _unused(self, *arguments):
        raise NotImplementedError

    copy_file = create_dir = delete_dir = delete_dir_contents = delete_file = delete_root_dir_contents = _unused
    move = open_append_stream = open_output_stream = _unused


def test_reads_of_any_file_system_are_counted(wide, monkeypatch):
    folder, _ = wide
    counted = CountedFiles(folder)
    options = {"metrics": "auc", "label": "click", "score": "score_2"}
    found = fm.evaluate("groups.parquet", **options, filesystem=fs.PyFileSystem(counted), n_threads=1)
    assert found == fm.evaluate(folder / "groups.parquet", **options)
    assert len(counted.reads) <= 1 + 8 * 2
    # Row groups that are too large are read through a window.
    monkeypatch.setattr(parquet_reading, "STORED_GROUP_BYTES", 1000)
    monkeypatch.setitem(parquet_reading.LARGE_STORED_OPTIONS, "buffer_size", 10_000)
    counted.reads.clear()
    found = fm.evaluate("groups.parquet", **options, filesystem=fs.PyFileSystem(counted), n_threads=1)
    assert found == fm.evaluate(folder / "groups.parquet", **options)
    assert max(size for path, place, size in counted.reads if size != 1 << 16) < 100_000


def test_footers_of_many_files_are_not_kept(wide, monkeypatch):
    folder, uri = wide
    size = pq.read_metadata(folder / "files" / "0.parquet").serialized_size
    monkeypatch.setattr(file_source, "KEPT_FOOTER_BYTES", 5 * size // 2)
    source = open_source(f"{uri}/files")
    assert [file.data_file.footer is not None for file in source.files] == [True, True, False, False]
    assert read(f"{uri}/files", ["click"]) == read(folder / "files", ["click"])


def test_blocks_of_a_stored_file():
    content = np.random.default_rng(1).bytes(3 * BLOCK_BYTES + 17)
    reads = []

    class File:
        def size(self):
            return len(content)

        def read_at(self, size, place):
            reads.append(size)
            return content[place : place + size]

    file = CachedBlocks(File())
    for start in range(0, BLOCK_BYTES, BLOCK_BYTES // 64):
        file.seek(start)
        assert file.read(10) == content[start : start + 10]
    assert reads == [BLOCK_BYTES]
    file.seek(BLOCK_BYTES - 5)
    assert file.read(10) == content[BLOCK_BYTES - 5 : BLOCK_BYTES + 5]
    file.seek(-17, io.SEEK_END)
    assert (file.read(), file.tell(), file.read(5)) == (content[-17:], len(content), b"")
    file.seek(0)
    assert file.read(2 * BLOCK_BYTES) == content[: 2 * BLOCK_BYTES]
    assert_raises(OSError, "before the beginning", file.seek, -1)


# -------------------------------------------------------------------------------------------------------------- errors


def test_what_is_missing_is_named(stored, store, memory):
    for path, message in [
        (f"{stored}/nowhere.parquet", r"there is no file s3://logs/main/nowhere\.parquet"),
        ("s3://nobucket/log.parquet", r"there is no file s3://nobucket/log\.parquet"),
        (f"{stored}/*.csv", r"no file matches s3://logs/main/\*\.csv"),
        (f"{stored}/_temporary/1", "there is no file"), ("memory://nowhere/a", "there is no file memory://nowhere/a"),
    ]:  # fmt: skip
        assert_raises(FileNotFoundError, message, evaluated, path)
    store.filesystem.open_output_stream("logs/markers/_SUCCESS").close()
    assert_raises(FileNotFoundError, "s3://logs/markers holds no data file", evaluated, "s3://logs/markers")


def test_stores_that_do_not_answer_end_in_seconds(stored):
    started = time.monotonic()
    google = {"endpoint_override": "127.0.0.1:1", "scheme": "http", "anonymous": "true", "retry_time_limit": "1"}
    for path, options in [(stored, {"endpoint_url": "http://127.0.0.1:1"}), ("gs://logs/main", google)]:
        assert_raises(OSError, rf"{path} cannot be read: ", evaluated, path, storage_options=options)
    assert time.monotonic() - started < 15


@posix_only
@pytest.mark.parametrize("entry_point", ["evaluate", "command line"])
def test_an_interrupt_ends_the_wait_for_a_store(entry_point):
    """A server that accepts a connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        options = {"endpoint_url": f"http://127.0.0.1:{server.getsockname()[1]}", "access_key": "a", "secret_key": "b"}
        code = (
            "import os, fastmetrics as fm\n"
            f"try: fm.evaluate('s3://box/a', 'auc', label='a', score='b', storage_options={options})\n"
            "except KeyboardInterrupt: os._exit(130)"
        )
        arguments = ["-c", code]
        if entry_point == "command line":
            arguments = ["-m", "fastmetrics", "evaluate", "s3://box/a", "--label", "a", "--score", "b"]
            for key, value in options.items():
                arguments += ["--storage-option", f"{key}={value}"]
        process = subprocess.Popen([sys.executable, *arguments])
        connection, _ = server.accept()
        with connection:
            connection.recv(1)
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 130
        assert time.monotonic() - started < 2


def test_no_permission_is_an_error_of_its_own(stored, store):
    class Denied(CountedFiles):
        def get_file_info(self, paths):
            raise OSError(
                "When getting information for key 'a': AWS Error ACCESS_DENIED during HeadObject operation: No response"
            )

    filesystem = fs.PyFileSystem(Denied("/"))
    assert_raises(PermissionError, "a may not be read: .*ACCESS_DENIED", evaluated, "a", filesystem=filesystem)


@each_case(
    ("path", "options", "message"),
    [
        ("s3://logs/a", {"acess_key": "x"}, "S3 has no option 'acess_key'; known are access_key, secret_key"),
        ("gs://logs/a", {"key": "x"}, "storage_options: Google Cloud Storage has no option 'key'; known are anonymous"),
        ("s3://logs/a", {"anonymous": "maybe"}, "storage_options: anonymous of S3 cannot be read: type true or false"),
        ("s3:///a", {}, "names no bucket; type s3://BUCKET/PATH"),
        ("abfs://container/a", {}, "name the storage account"),
        ("log.parquet", {"region": "x"}, "log.parquet is a path of the local disk, which has no options"),
        ("zzz://user:word@logs/a", {}, "zzz://logs/a cannot be opened by fsspec: Protocol not known: zzz"),
        ({"click": [1]}, {"region": "x"}, "storage_options: it is for paths, and data is of type dict"),
    ],
)  # fmt: skip
def test_options_that_are_wrong(path, options, message):
    assert_raises(ValueError, message, evaluated, path, storage_options=options)


def test_file_systems_that_are_wrong(store):
    assert_raises(TypeError, "filesystem must be a pyarrow.fs.FileSystem .* got str", evaluated, "a", filesystem="s3")
    assert_raises(ValueError, "filesystem: it is for paths", evaluated, log(5), filesystem=store.filesystem)
    both = {"filesystem": store.filesystem, "storage_options": {}}
    assert_raises(ValueError, "filesystem is given too", evaluated, "a", **both)
    for name in ("version", "timestamp"):
        message = f"{name}: it is for tables of Delta Lake and Iceberg"
        assert_raises(ValueError, message, evaluated, log(5), **{name: "1"})


def test_credentials_stand_in_no_message(store):
    message = r"^there is no file s3://logs/nowhere$"
    secret = KEYS["AWS_SECRET_ACCESS_KEY"]
    assert_raises(FileNotFoundError, message, evaluated, f"s3://name:{secret}@logs/nowhere")
    options = {"access_key": "name", "secret_key": secret, "proxy_options": f"nonsense://{secret}"}
    with pytest.raises(ValueError, match="cannot be opened") as caught:
        evaluated("s3://logs/a", storage_options=options)
    assert secret not in str(caught.value)


def test_without_fsspec_the_message_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    message = "^sftp://host/a.parquet needs fsspec, and what fsspec needs for it: pip install fsspec"
    assert_raises(ImportError, message, evaluated, "sftp://user:word@host/a.parquet")


@each_case(("pattern", "name", "matches"), [
    ("*", "a.b", True), ("a?", "ab", True), ("a?", "a", False), ("[a-c]x", "bx", True), ("[!a]x", "ax", False),
    ("[]x", "[]x", True), ("a[", "a[", True), ("a.b", "axb", False), ("[]]", "]", True),
])  # fmt: skip
def test_parts_of_globs(pattern, name, matches):
    assert bool(_component(pattern).fullmatch(name)) == matches


def test_azure_and_hdfs_addresses():
    (location,) = locate_paths(
        ["abfs://box@account.dfs.core.windows.net/a/b"], storage_options={"account_key": "aGVsbG8="}
    )
    assert (location.address, str(location)) == ("box/a/b", "abfs://box@account.dfs.core.windows.net/a/b")
