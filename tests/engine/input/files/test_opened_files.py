"""Open files, BytesIO, pipes, FIFOs and devices as data: the same rows, nothing that hangs."""

import gzip
import io
import os
import shutil
import socket
import sys
import tempfile
import threading

import pyarrow as pa
import pyarrow.csv
import pyarrow.orc
import pyarrow.parquet
import pytest

import fastmetrics as fm
from fastmetrics._core.exchange.spill import SpillError
from fastmetrics.engine.input.files import opened_files, text_blocks
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.input.sources import open_source
from support.cases import assert_raises, each_case
from support.files.log_files import COLUMNS, log, write_ipc

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="FIFOs of Unix")


def json_lines(table, path):
    import json

    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return path


def csv_file(table, path, **options):
    pa.csv.write_csv(table, path, pa.csv.WriteOptions(**options))
    return path


def zipped(path):
    path.write_bytes(gzip.compress(path.read_bytes()))
    return path


def zstd(path):
    content = path.read_bytes()
    with pa.output_stream(str(path), compression="zstd") as stream:
        stream.write(content)
    return path


def write_orc(table, path):
    pa.orc.write_table(table, path, stripe_size=1 << 12)
    return path


FORMATS = {
    "parquet": lambda table, path: pa.parquet.write_table(table, path, row_group_size=300) or path,
    "orc": write_orc,
    "arrow file": write_ipc,
    "arrow stream": lambda table, path: write_ipc(table, path, stream=True),
    "csv": csv_file,
    "csv.gz": lambda table, path: zipped(csv_file(table, path)),
    "csv.zst": lambda table, path: zstd(csv_file(table, path)),
    "tsv": lambda table, path: csv_file(table, path, delimiter="\t"),
    "jsonl": json_lines,
    "jsonl.gz": lambda table, path: zipped(json_lines(table, path)),
}


class Pipe(io.RawIOBase):
    """Bytes that come in pieces and cannot be read again, as from a pipe."""

    def __init__(self, content):
        super().__init__()
        self.content = io.BytesIO(content)

    def readable(self):
        return True

    def read(self, size=-1):
        return self.content.read(min(size, 1000) if size >= 0 else 1000)


HANDLES = {
    "BytesIO": lambda path: io.BytesIO(path.read_bytes()),
    "file": lambda path: path.open("rb"),
    "file without a buffer": lambda path: path.open("rb", buffering=0),
    "pipe": lambda path: Pipe(path.read_bytes()),
    "pyarrow file": lambda path: pa.OSFile(str(path)),
    "pyarrow buffer": lambda path: pa.BufferReader(path.read_bytes()),
}


@each_case("name", FORMATS)
@each_case("handle", HANDLES)
def test_open_files_give_the_same_rows(name, handle, tmp_path):
    """Their format is recognized from the first bytes: the file has no suffix."""
    table = log()
    opened = HANDLES[handle](FORMATS[name](table, tmp_path / "log"))
    try:
        for use_threads in (False, True) if handle != "pipe" else (True,):
            source = open_source(opened)
            found = pa.Table.from_batches(source.batches(COLUMNS, use_threads=use_threads))
            assert found.to_pydict() == table.select(COLUMNS).to_pydict()
        assert source.reads_once == (handle == "pipe")
        assert not opened.closed
    finally:
        opened.close()


def test_a_large_handle_is_read_by_several_threads(tmp_path):
    table = log(400_000)
    pa.parquet.write_table(table, tmp_path / "log.parquet", row_group_size=50_000)
    expected = fm.evaluate(table, ["auc", "gauc"], label="click", score="score", group="user")
    with open(tmp_path / "log.parquet", "rb") as opened:
        found = fm.evaluate(opened, ["auc", "gauc"], label="click", score="score", group="user", n_threads=4)
        assert opened.tell() == 0
    assert [result.value for result in found] == [result.value for result in expected]


def test_a_handle_is_read_from_where_it_stands(tmp_path):
    handle = io.BytesIO(b"a header of another program\nclick,p\n1,0.5\n")
    handle.readline()
    source = open_source(handle)
    assert pa.Table.from_batches(source.batches(["p"])).to_pydict() == {"p": [0.5]}
    handle.seek(0, io.SEEK_END)
    assert_raises(ValueError, r"nothing to read: it is at its end; type handle.seek\(0\) first", open_source, handle)
    assert_raises(ValueError, "nothing to read: it is empty", open_source, io.BytesIO())


def test_files_that_decompress_are_read_from_front_to_back(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1 << 12)
    path = zipped(csv_file(log(5000), tmp_path / "log.csv"))
    monkeypatch.setattr(gzip.GzipFile, "seek", lambda *arguments: pytest.fail("it began again"))
    with gzip.open(path) as opened:
        found = pa.Table.from_batches(open_source(opened).batches(COLUMNS))
    assert found.to_pydict() == log(5000).select(COLUMNS).to_pydict()


def test_a_pipe_is_read_once():
    source = open_source(Pipe(b"click,p\n1,0.5\n"))
    assert source.reads_once
    assert pa.Table.from_batches(source.batches(["p"])).to_pydict() == {"p": [0.5]}
    assert_raises(ValueError, "can be read only once", lambda: list(source.batches(["p"])))


def test_pipes_of_formats_that_seek_are_stored(tmp_path, monkeypatch):
    """Beyond some size in a temporary file."""
    table = log(20_000)
    pa.parquet.write_table(table, tmp_path / "log")
    content = (tmp_path / "log").read_bytes()
    monkeypatch.setattr(opened_files, "MOST_IN_MEMORY", 1000)
    found = pa.Table.from_batches(open_source(Pipe(content)).batches(COLUMNS))
    assert found.to_pydict() == table.select(COLUMNS).to_pydict()


class TestFullDisk:
    @pytest.fixture
    def content(self, tmp_path, monkeypatch):
        """A Parquet file whose stream is stored on a disk on which 100 KiB are free."""
        pa.parquet.write_table(log(20_000), tmp_path / "log")
        monkeypatch.setattr(opened_files, "MOST_IN_MEMORY", 1000)
        monkeypatch.setattr(opened_files, "COPIED_AT_ONCE", 1 << 14)
        monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(1 << 30, 1 << 29, 100 << 10))
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
        (tmp_path / "temporary").mkdir()
        yield (tmp_path / "log").read_bytes()
        assert list((tmp_path / "temporary").iterdir()) == []

    def test_while_a_stream_is_stored(self, content, monkeypatch):
        free = [*[0] * 9, 100 << 10]
        usage = lambda folder: shutil._ntuple_diskusage(1, 0, free.pop())  # noqa: E731
        monkeypatch.setattr(shutil, "disk_usage", usage)
        message = (
            "^storing the Pipe, whose format is read at any place, in folder '.*temporary': not enough space after "
            r".* KiB; .* more are needed there, and 0.* are free \(give a file, or set TMPDIR"
        )
        assert_raises(SpillError, message, open_source, Pipe(content))

    def test_before_a_stream_of_known_length_is_read(self, content):
        class Response(Pipe):
            """A response of HTTP knows how many bytes are left."""

            def __init__(self):
                super().__init__(content)
                self.length = 1 << 30

            def read(self, size=-1):
                self.length -= len(data := super().read(size))
                return data

        response = Response()
        message = "not enough space; 1 GiB are needed there, and 100 KiB are free"
        assert_raises(SpillError, message, open_source, response)
        assert response.length > (1 << 30) - (1 << 17)

    def test_a_write_that_fails(self, content, monkeypatch):
        class Full(io.BytesIO):
            def write(self, data):
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(1 << 30, 0, 1 << 30))
        monkeypatch.setattr(opened_files.tempfile, "SpooledTemporaryFile", lambda *arguments, **options: Full())
        words = "^storing the Pipe, .*: no space is left; .* KiB are needed there, and 1 GiB are free .*set TMPDIR"
        assert_raises(SpillError, words, open_source, Pipe(content))


def test_a_stream_keeps_only_what_was_inspected(monkeypatch):
    """Memory does not grow with the stream."""
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(opened_files, "FIRST_BYTES", 1 << 10)
    source = open_source(Pipe(b"a\n" + b"1\n" * 100_000))
    stream = source.files[0].data_file
    assert len(stream.seen) <= 1 << 13
    assert sum(batch.num_rows for batch in source.batches(["a"], use_threads=False)) == 100_000
    assert not stream.seen


@each_case(
    "data, words",
    [
        (io.StringIO("a,b"), r"file of text: give bytes, io.BytesIO\(text.encode\(\)\)"),
        (b"a,b\n1,2\n", "data must be .* got bytes"),
    ],
)
def test_texts_are_refused(data, words):
    assert_raises(TypeError, words, open_source, data)


def test_files_that_are_no_data(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"a,b\n1,2\n")
    with open(path) as opened:
        assert_raises(TypeError, r"file of text: give bytes, open\(path, 'rb'\)", open_source, opened)
    assert_raises(ValueError, "a file that is closed", open_source, opened)
    assert_raises(ValueError, r"log has no known suffix; .* or name it: format='csv'", open_source, path)
    assert open_source(path, InputOptions(format="csv")).column_names == ["a", "b"]
    words = r"the BytesIO is of no known format: its first bytes are b'\\x00"
    assert_raises(ValueError, words, open_source, io.BytesIO(bytes(100)))


@each_case("option", [{"format": "csv"}, {"format_options": {"delimiter": ";"}}])
def test_options_of_files_are_refused_for_other_data(option):
    name = next(iter(option))
    words = f"{name}: it is for files, and data is of type dict"
    assert_raises(ValueError, words, open_source, {"a": [1]}, InputOptions(**option))


# ------------------------------------------------------------------------------------------- FIFOs, devices, sockets


@unix_only
def test_a_fifo_is_an_error_or_a_stream(tmp_path):
    path = tmp_path / "log.csv"
    os.mkfifo(path)
    words = "log.csv is a FIFO, .*format='csv' or --input-format csv"
    assert_raises(ValueError, words, open_source, path)

    def write():
        with open(path, "wb") as opened:
            opened.write(b"click,p\n" + b"1,0.5\n0,0.25\n" * 50_000)

    writer = threading.Thread(target=write)
    writer.start()
    report = fm.evaluate(path, ["logloss"], label="click", score="p", format="csv")
    writer.join()
    assert report.rows == 100_000


@unix_only
def test_sockets_devices_and_terminals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("log.csv")
        assert_raises(ValueError, r"log.csv is a socket: connect to it, .* makefile\('rb'\)", open_source, "log.csv")
    assert_raises(ValueError, "/dev/null is a device, .*name its format", open_source, "/dev/null")
    assert_raises(ValueError, "/dev/null .*Empty CSV file", open_source, "/dev/null", InputOptions(format="csv"))
    assert_raises(ValueError, "/dev/zero .*longer than", open_source, "/dev/zero", InputOptions(format="csv"))
    leader, terminal = os.openpty()
    words = f"{os.ttyname(terminal)} is a terminal: give a file, or a pipe"
    assert_raises(ValueError, words, open_source, os.ttyname(terminal), InputOptions(format="csv"))
    for end in (leader, terminal):
        os.close(end)


@unix_only
def test_a_socket_as_a_file():
    first, second = socket.socketpair()
    with first, second:
        first.sendall(b"click,p\n1,0.5\n")
        first.shutdown(socket.SHUT_WR)
        with second.makefile("rb") as opened:
            assert pa.Table.from_batches(open_source(opened).batches(["p"])).to_pydict() == {"p": [0.5]}
