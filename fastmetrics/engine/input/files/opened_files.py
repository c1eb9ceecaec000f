"""Open files and streams as data: handles that can seek, and pipes and standard input, which are read once.

A stream of text is read front to back: what was read to find the columns is read again from memory. Formats that are
read at any place are stored first, in memory or in a temporary file without a name. All reads of a stream are made by
the thread that asks for them, in Python, so that an interrupt ends a read that waits for data.
"""

from __future__ import annotations

import io
import os
import select
import socket
import stat
import tempfile
import weakref
from contextlib import suppress
from pathlib import PurePath
from threading import Lock
from typing import Any

from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.arrow_sources import READ_ONCE
from fastmetrics.engine.input.files.block_cache import PlacedReader
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.temporary_copy import TemporaryCopy

FIRST_BYTES = 1 << 16  # of a file, from which its format is recognized
MOST_IN_MEMORY = 64 << 20  # of a stream that is stored
COPIED_AT_ONCE = 1 << 20
WAIT_MILLISECONDS = 200
STORE_REMEDY = "give a file, or set TMPDIR to a folder with more space"
DECOMPRESSING_MODULES = ("gzip", "bz2", "lzma", "zipfile")


class OpenedFile(DataFile):
    """A handle that can seek, from the place where it stands. It stays open, and is read by several threads."""

    def __init__(self, handle: Any, label: str, start: int, size: int) -> None:
        super().__init__(label, None, file_name(handle))
        self.opened = handle
        self.start = start
        self.size = size
        self.lock = Lock()

    @property
    def name(self) -> str:
        return PurePath(self.address).name

    @classmethod
    def of(cls, handle: Any, label: str) -> OpenedFile:
        start = handle.tell()
        size = handle.seek(0, os.SEEK_END)
        size = handle.tell() if size is None else size
        handle.seek(start)
        if size <= start:
            advice = "it is at its end; type handle.seek(0) first" if start else "it is empty"
            raise ValueError(f"data: {label} has nothing to read: {advice}")
        return cls(handle, label, start, size - start)

    def status(self) -> os.stat_result | None:
        try:
            found = os.fstat(self.opened.fileno())
        except (AttributeError, OSError, ValueError):  # not a file of the disk
            return None
        return found if stat.S_ISREG(found.st_mode) else None

    def open_file(self) -> pa.NativeFile:
        if isinstance(self.opened, io.BytesIO):
            return pa.BufferReader(pa.py_buffer(self.opened.getbuffer()[self.start :]))
        return pa.PythonFile(SharedReader(self), "r")

    def open_stream(self, compression: str | None = None) -> Any:
        opened = self.open_file()
        return opened if compression is None else pa.CompressedInputStream(opened, compression)

    def first_bytes(self) -> bytes:
        with self.open_file() as opened:
            return bytes(opened.read(FIRST_BYTES))


class SharedReader(PlacedReader):
    """Reads of a handle that other readers use too: each has a place of its own."""

    def __init__(self, file: OpenedFile) -> None:
        super().__init__(file, file.size)

    def read(self, size: int | None = -1) -> bytes:
        file = self._file
        left = max(0, file.size - self._place)
        wanted = left if size is None or size < 0 else min(size, left)
        with file.lock:
            before = file.opened.tell()
            file.opened.seek(file.start + self._place)
            data = read_fully(file.opened, wanted)
            file.opened.seek(before)
        self._place += len(data)
        return data


class StreamFile(DataFile):
    """A stream that cannot seek. It is opened twice: to find the columns, and to read the rows."""

    def __init__(self, handle: Any, label: str) -> None:
        super().__init__(label, None, file_name(handle))
        self.opened = handle
        self.seen = bytearray()
        self.times_opened = 0
        self.stored: OpenedFile | None = None

    @property
    def name(self) -> str:
        return PurePath(self.address).name

    def status(self) -> None:
        """What was read is kept here."""

    def first_bytes(self) -> bytes:
        if len(self.seen) < FIRST_BYTES:
            while len(self.seen) < FIRST_BYTES and (data := read_available(self.opened, FIRST_BYTES)):
                self.seen += data
        return bytes(self.seen[:FIRST_BYTES])

    def open_stream(self, compression: str | None = None) -> Any:
        if self.stored is not None:
            return self.stored.open_stream(compression)
        self.times_opened += 1
        if self.times_opened > 2:
            raise ValueError(f"data: {self.path} {READ_ONCE}")
        reader = StreamReader(self, keeps=self.times_opened == 1)
        return reader if compression is None else pa.CompressedInputStream(pa.PythonFile(reader, "r"), compression)

    def open_file(self) -> pa.NativeFile:
        if self.stored is None:
            stored = store_stream(self)
            self.stored = OpenedFile.of(stored, self.path)
            weakref.finalize(self.stored, stored.close)
        return self.stored.open_file()


class StreamReader(io.RawIOBase):
    """The stream from its beginning: first what was read before, then what comes. `keeps` that for the next reader."""

    def __init__(self, stream: StreamFile, keeps: bool) -> None:
        super().__init__()
        self._stream = stream
        self._keeps = keeps
        self._place = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        stream = self._stream
        if self._place < len(stream.seen):
            end = len(stream.seen) if size is None or size < 0 else self._place + size
            data = bytes(stream.seen[self._place : end])
            self._place += len(data)
            if not self._keeps and self._place == len(stream.seen):
                stream.seen, self._place = bytearray(), 0
            return data
        data = read_available(stream.opened, size)
        if self._keeps:
            stream.seen += data
            self._place += len(data)
        return data


def read_fully(handle: Any, size: int) -> bytes:
    """Exactly so many bytes, or all that are left: a pipe gives what it has."""
    parts: list[bytes] = []
    while size > 0 and (data := handle.read(size)):
        parts.append(bytes(data))
        size -= len(data)
    return b"".join(parts)


def read_available(handle: Any, size: int | None) -> bytes:
    """What a stream has, at most `size` bytes; nothing at its end.

    A read of many bytes in C would wait for all of them, and an interrupt between two of its system calls would wait
    too. So Python waits, for a short time again and again, and reads what is there.
    """
    size = COPIED_AT_ONCE if size is None or size < 0 else size
    raw = handle.raw if isinstance(handle, io.BufferedReader) else handle
    waits = isinstance(raw, io.FileIO | socket.SocketIO) and hasattr(select, "poll")
    if not waits:
        return handle.read(size) or b""
    poll = select.poll()
    poll.register(raw.fileno(), select.POLLIN)
    read = handle.read if handle is raw else handle.read1
    while True:
        while not poll.poll(WAIT_MILLISECONDS):
            pass
        if (data := read(size)) is not None:
            return bytes(data)


def store_stream(stream: StreamFile) -> Any:
    """All of a stream in memory, or in a temporary file without a name if it is large."""
    copy = TemporaryCopy(f"storing {stream.path}, whose format is read at any place, in", None, STORE_REMEDY)
    left = getattr(stream.opened, "length", None)  # a response of HTTP may know it
    if isinstance(left, int) and len(stream.seen) + left > MOST_IN_MEMORY:
        copy.check_space(len(stream.seen) + left)
    stored: Any = tempfile.SpooledTemporaryFile(MOST_IN_MEMORY, dir=copy.folder)  # noqa: SIM115 - the result
    size = 0
    try:
        data = bytes(stream.seen)
        while data:
            before, size = size, size + len(data)
            # The file is made with the first write that does not fit the memory, and then takes all so far.
            to_disk = 0 if size <= MOST_IN_MEMORY else size if before <= MOST_IN_MEMORY else len(data)
            with copy.writing(to_disk):
                stored.write(data)
            data = read_available(stream.opened, COPIED_AT_ONCE)
        with copy.writing(0):
            stored.flush()
        stored.seek(0)
    except BaseException:
        with suppress(OSError):  # bytes that are left in its buffer are written again
            stored.close()
        raise
    return stored


def file_name(handle: Any) -> str:
    """The name of a handle's file, whose suffix may tell the format; empty if it has none."""
    name = getattr(handle, "name", "")
    return name if isinstance(name, str) and not name.startswith("<") else ""


def open_handle(handle: Any, label: str | None = None) -> DataFile:
    """A binary file that is open, or a stream."""
    if getattr(handle, "closed", False):
        raise ValueError("data is a file that is closed: open it again")
    if isinstance(handle, io.TextIOBase):
        advice = "io.BytesIO(text.encode())" if isinstance(handle, io.StringIO) else "open(path, 'rb')"
        raise TypeError(f"data is a file of text: give bytes, {advice}")
    is_standard_input = getattr(handle, "name", None) in ("<stdin>", "/dev/stdin")
    label = label or ("standard input" if is_standard_input else file_name(handle)) or f"the {type(handle).__name__}"
    seekable = getattr(handle, "seekable", None)
    # To seek back in one that decompresses is to begin again.
    if seekable is None or not seekable() or type(handle).__module__ in DECOMPRESSING_MODULES:
        return StreamFile(handle, label)
    return OpenedFile.of(handle, label)


def open_special_file(path: str, is_stream: bool) -> DataFile | None:
    """A FIFO or a device as a stream, if `is_stream`, otherwise an error; None for other files."""
    mode = os.stat(path).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    if stat.S_ISSOCK(mode):
        raise ValueError(f"{path} is a socket: connect to it, and give the file of the connection, makefile('rb')")
    kind = "FIFO" if stat.S_ISFIFO(mode) else "device"
    if not is_stream:
        raise ValueError(
            f"{path} is a {kind}, which is read once and may wait for data: name its format to read it as a stream, "
            "format='csv' or --input-format csv"
        )
    handle = open(path, "rb", buffering=0)  # noqa: SIM115 - it is closed with the last reader
    if handle.isatty():
        handle.close()
        raise ValueError(f"{path} is a terminal: give a file, or a pipe")
    stream = StreamFile(handle, path)
    weakref.finalize(stream, handle.close)
    return stream
