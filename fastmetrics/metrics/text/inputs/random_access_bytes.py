"""Random access to the bytes of a file, a compressed file or a pipe.

A regular file is read in place. The content of a compressed file or a pipe is read once and copied: up to
MAX_BYTES_IN_MEMORY bytes to memory, more to an anonymous temporary file.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any

from fastmetrics._core.calls.missing_files import open_to_read
from fastmetrics._core.exchange.memory_size import format_size
from fastmetrics._core.named_tuples import NamedTuple

CHUNK_BYTES = 1 << 20
MAX_BYTES_IN_MEMORY = 1 << 26
GZIP_MAGIC = b"\x1f\x8b"


class RandomAccessBytes(NamedTuple):
    """`read(start, stop)` returns bytes, fewer only at the end of the file; `close` closes the file."""

    read: Callable[[int, int], bytes]
    close: Callable[[], Any]


def open_path(path: str) -> RandomAccessBytes:
    """Return the bytes of a file, decompressed if it begins like gzip, whatever its name."""
    file = open_to_read(path, buffering=0)  # the result reads it until it is closed
    try:
        return open_file(file, path, file.close)
    except BaseException:
        file.close()
        raise


def open_stream(stream: Any, name: str) -> RandomAccessBytes:
    """Return the bytes of a binary file object, such as sys.stdin.buffer, from its position on. It is not closed."""
    return open_file(stream, name, lambda: stream)  # nothing is closed; this keeps a reference to the stream


def open_file(file: Any, name: str, close: Callable[[], Any]) -> RandomAccessBytes:
    """Return the bytes of a plain regular file in place, or a copy of any other; `close` is called after the copy."""
    if is_regular_file(file):
        content = read_in_place(file.fileno(), file.tell(), close)
        if content.read(0, len(GZIP_MAGIC)) != GZIP_MAGIC:
            return content
    reader = io.BufferedReader(file) if isinstance(file, io.RawIOBase) else file
    content = buffer_stream(decompress(reader, name), name)
    if reader is not file:
        reader.detach()
    close()
    return content


def is_regular_file(file: Any) -> bool:
    """Whether reading returns the bytes of a regular file, unchanged."""
    if not isinstance(getattr(file, "raw", file), io.FileIO):
        return False
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def read_in_place(descriptor: int, begin: int, close: Callable[[], Any]) -> RandomAccessBytes:
    """Return the bytes of a regular file from `begin` on.

    Threads read at the same time. If the system has no pread, they take turns.
    """
    if hasattr(os, "pread"):

        def read_at(start: int, count: int) -> bytes:
            return os.pread(descriptor, count, start)

    else:
        lock = Lock()

        def read_at(start: int, count: int) -> bytes:
            with lock:
                os.lseek(descriptor, start, os.SEEK_SET)
                return os.read(descriptor, count)

    def read(start: int, stop: int) -> bytes:
        data = b""
        while len(data) < stop - start and (
            more := read_at(begin + start + len(data), stop - start - len(data))
        ):
            data += more
        return data

    return RandomAccessBytes(read, close)


def decompress(file: Any, name: str) -> Iterator[bytes]:
    """Yield the chunks of a stream, decompressed if it begins like gzip."""
    first = b""
    while len(first) < len(GZIP_MAGIC) and (more := file.read(len(GZIP_MAGIC) - len(first))):
        first += more
    if first != GZIP_MAGIC:
        yield first
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
        return
    import gzip
    import zlib

    compressed: Any = PrefixedStream(first, file)
    try:
        with gzip.GzipFile(fileobj=compressed) as decompressed:
            while chunk := decompressed.read(CHUNK_BYTES):
                yield chunk
    except EOFError:
        raise ValueError(f"{name} ends too early: its gzip data is truncated") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name} has damaged gzip data: {error}") from None


class PrefixedStream:
    """A stream whose first bytes were read already: a pipe cannot seek back."""

    def __init__(self, first: bytes, rest: Any) -> None:
        self.first = first
        self.rest = rest

    def read(self, count: int) -> bytes:
        data, self.first = self.first[:count], self.first[count:]
        return data or bytes(self.rest.read(count))


def buffer_stream(chunks: Iterator[bytes], name: str) -> RandomAccessBytes:
    """Copy all of a stream's bytes to memory, or to a temporary file if they are many."""
    buffer = bytearray()
    for chunk in chunks:
        buffer += chunk
        if len(buffer) > MAX_BYTES_IN_MEMORY:
            return spill_to_file(buffer, chunks, name)
    data = bytes(buffer)
    return RandomAccessBytes(lambda start, stop: data[start:stop], lambda: None)


def spill_to_file(first: bytearray, chunks: Iterator[bytes], name: str) -> RandomAccessBytes:
    """Copy `first` and the chunks after it to an anonymous temporary file; `first` is emptied.

    The file takes at most half of the space that is free: a small compressed file may expand to more than a disk.
    """
    import shutil
    import tempfile

    folder = tempfile.gettempdir()
    limit = shutil.disk_usage(folder).free // 2
    n_bytes = len(first)
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - the result reads it until it is closed
    try:
        write_all(file, first)
        first.clear()
        for chunk in chunks:
            n_bytes += len(chunk)
            if n_bytes > limit:
                raise ValueError(
                    f"{name} has more than {format_size(limit)}, half of the space that is free in {folder}; set TMPDIR"
                    " to a folder with more space, or decompress the file"
                )
            write_all(file, chunk)
    except BaseException:
        file.close()
        raise
    return read_in_place(file.fileno(), 0, file.close)


def write_all(file: Any, data: bytes | bytearray) -> None:
    """Write all bytes to an unbuffered file, whose `write` may write fewer."""
    with memoryview(data) as view:
        n_written = 0
        while n_written < len(view):
            n_written += file.write(view[n_written:])
