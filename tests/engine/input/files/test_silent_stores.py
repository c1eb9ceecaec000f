"""Stores that accept a connection and never answer: every read ends in an error after the limit of a request."""

import gzip
import socket
import time
from functools import partial
from threading import Event

import pytest
from pyarrow import orc

import fastmetrics as fm
from fastmetrics._core.optional_imports import fs
from fastmetrics.engine.input.files.request_limits import limit_requests
from support.cases import assert_raises, each_case
from support.files.log_files import log, write_csv, write_ipc, write_parquet

OPTIONS = {"metrics": "auc", "label": "click", "score": "score"}
PATIENCE = 10
LIMIT = 0.2


def evaluated(data, **options):
    return fm.evaluate(data, **OPTIONS, **options).to_dict()["results"]


@pytest.fixture
def silent():
    """The address of a server that accepts connections, by its backlog, and never reads from them."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def options_of(scheme, address):
    if scheme == "gs":
        return {"endpoint_override": address, "scheme": "http", "anonymous": "true"}
    if scheme == "s3":
        return {"endpoint_url": f"http://{address}", "access_key": "a", "secret_key": "b", "region": "us-east-1"}
    authorities = {"blob_storage_authority": address, "dfs_storage_authority": address}
    schemes = {"blob_storage_scheme": "http", "dfs_storage_scheme": "http"}
    return {"account_name": "a", "account_key": "aGVsbG8=", **authorities, **schemes}


@pytest.mark.parametrize("path", ["box/a.parquet", "box/logs", "box/*.csv"])
@pytest.mark.parametrize("scheme", ["gs", "abfs"])
def test_the_limit_ends_the_wait(silent, scheme, path):
    options = {**options_of(scheme, silent), "request_timeout": str(LIMIT)}
    started = time.monotonic()
    message = rf"^{scheme}://box.* cannot be read: the store has not answered for 0\.2 seconds; .*request_timeout"
    assert_raises(OSError, message, evaluated, f"{scheme}://{path}", storage_options=options)
    assert time.monotonic() - started < PATIENCE


def test_s3_has_a_limit_of_its_own(silent, monkeypatch):
    once = fs.AwsStandardS3RetryStrategy(max_attempts=1)  # by default the wait is repeated
    monkeypatch.setattr(fs, "S3FileSystem", partial(fs.S3FileSystem, retry_strategy=once))
    options = {**options_of("s3", silent), "request_timeout": "0.5"}
    message = r"^s3://box/a\.parquet cannot be read: .*[Tt]imeout"
    assert_raises(OSError, message, evaluated, "s3://box/a.parquet", storage_options=options)


@each_case(("value", "message"), [
    ("0", "request_timeout of Google Cloud Storage cannot be read: type seconds, more than 0 and at most 86400"),
    (-1, "request_timeout .* cannot be read"), (True, "request_timeout .* cannot be read"),
    ("nan", "request_timeout .* cannot be read"), ("1e9", "request_timeout .* cannot be read"),
    ("soon", "request_timeout .* cannot be read"),
])  # fmt: skip
def test_limits_that_are_wrong(value, message):
    options = {"request_timeout": value, "anonymous": "true"}
    assert_raises(ValueError, message, evaluated, "gs://box/a.parquet", storage_options=options)


def test_files_within_limits_are_read_as_before(tmp_path):
    table = log(2000)
    write_parquet(table, tmp_path / "parquet" / "day=1" / "a.parquet", row_group_size=300)
    write_csv(table, tmp_path / "a.csv")
    write_ipc(table, tmp_path / "a.arrow")
    write_ipc(table, tmp_path / "a.arrows", stream=True)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    orc.write_table(table, tmp_path / "a.orc")
    limited = limit_requests(fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()), PATIENCE)
    for name in ("parquet", "parquet/*/*.parquet", "a.csv", "a.arrow", "a.arrows", "a.csv.gz", "a.orc"):
        assert evaluated(name, filesystem=limited, n_threads=2) == evaluated(table), name
    assert_raises(FileNotFoundError, "nowhere", evaluated, "nowhere.csv", filesystem=limited)


class Stalled:
    """A local folder as a file system in which some requests are not answered before `end`."""

    type_name = "stalled"

    def __init__(self, folder, stalls):
        self.inner = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
        self.end = Event()
        self.stalls = stalls

    def answer(self, request, function, *arguments):
        if request in self.stalls:
            assert self.end.wait(PATIENCE)
        return function(*arguments)

    def normalize_path(self, path):
        return path

    def get_file_info(self, what):
        if isinstance(what, fs.FileSelector):
            return self.answer("list", self.inner.get_file_info, what)
        if what == "" and "probe" not in self.stalls:
            self.end.set()  # the listing has no end before the small request
        return self.answer("probe" if what == "" else "info", self.inner.get_file_info, what)

    def open_input_stream(self, path, compression):
        return self.open_input_file(path)

    def open_input_file(self, path):
        opened, answer = self.inner.open_input_file(path), self.answer

        class File:
            def read(self, size):
                return answer("read", opened.read, size)

            def read_at(self, size, place):
                return answer("read", opened.read_at, size, place)

        return File()


@each_case(("stalls", "message"), [
    ({"read"}, "^a.parquet cannot be read: the store has not answered for"),
    ({"info"}, "^a.parquet cannot be read: the store has not answered for"),
])  # fmt: skip
def test_a_store_that_falls_silent(tmp_path, stalls, message):
    write_parquet(log(100), tmp_path / "a.parquet")
    stalled = Stalled(tmp_path, stalls)
    assert_raises(OSError, message, evaluated, "a.parquet", filesystem=limit_requests(stalled, LIMIT))
    stalled.end.set()


def test_a_long_listing_goes_on_while_the_store_answers(tmp_path):
    write_parquet(log(100), tmp_path / "a.parquet")
    everything = fs.FileSelector("", recursive=True)
    stalled = Stalled(tmp_path, {"list"})
    assert [info.path for info in limit_requests(stalled, LIMIT).get_file_info(everything)] == ["a.parquet"]
    stalled = Stalled(tmp_path, {"list", "probe"})
    assert_raises(TimeoutError, "has not answered", limit_requests(stalled, LIMIT).get_file_info, everything)
    stalled.end.set()


def test_it_only_reads(tmp_path):
    limited = limit_requests(fs.LocalFileSystem(), PATIENCE)
    assert_raises(NotImplementedError, "stores are only read", limited.delete_file, str(tmp_path / "a"))
