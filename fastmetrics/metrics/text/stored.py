"""The bytes of a file, of which parts are read when they are needed: in place, or kept where they cannot be.

A regular file is read by a handle of its own and stays where it is. What is compressed, or comes through a pipe, is
gone through once and kept: up to KEPT_BYTES in memory, beyond in a temporary file without a name.
"""

from __future__ import annotations

import io
import os
import stat
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

PIECE_BYTES = 1 << 20
KEPT_BYTES = 1 << 26
GZIP_MAGIC = b"\x1f\x8b"


class Stored(NamedTuple):
    """`read(start, stop)` gives bytes, fewer only where the file ends; `close` lets go of the file."""

    read: Callable[[int, int], bytes]
    close: Callable[[], Any]


def open_path(path: str) -> Stored:
    """The bytes of a file that is named; decompressed if it is compressed by gzip, whatever its name says."""
    file = open(path, "rb", buffering=0)  # noqa: SIM115 - it stays open for as long as it is read
    try:
        return opened(file, path, file.close)
    except BaseException:
        file.close()
        raise


def open_stream(stream: Any, name: str) -> Stored:
    """The bytes of a binary file object from where it stands, such as sys.stdin.buffer; it is not closed."""
    return opened(stream, name, partial(leave_open, stream))


def leave_open(stream: Any) -> None:
    """Whoever opened it closes it; until then it must not go away."""


def opened(file: Any, name: str, close: Callable[[], Any]) -> Stored:
    if is_regular(file):
        begin = file.tell()
        stored = in_place(file.fileno(), begin, close)
        if stored.read(0, len(GZIP_MAGIC)) != GZIP_MAGIC:
            return stored
    if isinstance(file, io.RawIOBase):
        file = io.BufferedReader(file)
        kept = keep(decompressed(file, name))
        file.detach()
    else:
        kept = keep(decompressed(file, name))
    close()
    return kept


def is_regular(file: Any) -> bool:
    """Does it give the bytes of a regular file as they are?"""
    if not isinstance(getattr(file, "raw", file), io.FileIO):
        return False
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def in_place(descriptor: int, begin: int, close: Callable[[], Any]) -> Stored:
    """A regular file. Threads read side by side; where the system cannot read at a place, one after the other."""
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
        data = read_at(begin + start, stop - start)
        while data and len(data) < stop - start:
            more = read_at(begin + start + len(data), stop - start - len(data))
            if not more:
                break
            data += more
        return data

    return Stored(read, close)


def decompressed(file: Any, name: str) -> Iterator[bytes]:
    """The pieces of a stream, decompressed if it begins as gzip does."""
    first = file.read(len(GZIP_MAGIC))
    while len(first) < len(GZIP_MAGIC):
        more = file.read(len(GZIP_MAGIC) - len(first))
        if not more:
            break
        first += more
    if first != GZIP_MAGIC:
        yield first
        while piece := file.read(PIECE_BYTES):
            yield piece
        return
    import gzip
    import zlib

    whole: Any = Rejoined(first, file)
    try:
        with gzip.GzipFile(fileobj=whole) as inner:
            while piece := inner.read(PIECE_BYTES):
                yield piece
    except EOFError:
        raise ValueError(f"{name} ends too early: its gzip data is truncated") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name} has damaged gzip data: {error}") from None


class Rejoined:
    """A stream of which the first bytes were read already: a pipe cannot go back."""

    def __init__(self, first: bytes, rest: Any) -> None:
        self.first = first
        self.rest = rest

    def read(self, count: int) -> bytes:
        found, self.first = self.first[:count], self.first[count:]
        return found or bytes(self.rest.read(count))


def keep(pieces: Iterator[bytes]) -> Stored:
    """All of a stream's bytes."""
    kept = bytearray()
    for piece in pieces:
        kept += piece
        if len(kept) > KEPT_BYTES:
            return keep_in_file(kept, pieces)
    data = bytes(kept)
    return Stored(lambda start, stop: data[start:stop], lambda: None)


def keep_in_file(first: bytearray, pieces: Iterator[bytes]) -> Stored:
    import tempfile

    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it is read later, and closed with the handle
    try:
        write(file, first)
        first.clear()
        for piece in pieces:
            write(file, piece)
    except BaseException:
        file.close()
        raise
    return in_place(file.fileno(), 0, file.close)


def write(file: Any, piece: bytes | bytearray) -> None:
    with memoryview(piece) as view:
        done = 0
        while done < len(view):
            done += file.write(view[done:])


def close_when_gone(owner: object, stored: Stored) -> Callable[[], Any]:
    """Lets go of the file when its owner is no more, or when what is returned is called."""
    return weakref.finalize(owner, stored.close)
