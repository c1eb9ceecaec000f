"""A file of data in a file system: its name in messages, its size, and how it is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath, PurePosixPath
from threading import Lock
from typing import Any

from fastmetrics._core.calls.missing_files import printable
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.files.block_cache import CachedBlocks

# A store answers every read with a request: streams are read in pieces of this size.
STREAM_BYTES = 4 << 20


class ChangedFileError(ValueError):
    """A file was changed, replaced or deleted while it was read."""


def is_changed(before: os.stat_result, now: os.stat_result) -> bool:
    """Has a file other content, or another file its name?

    A new link changes only the time of the entry, and mounted stores may number files anew: neither is a change.
    """
    if (before.st_size, before.st_mtime_ns) != (now.st_size, now.st_mtime_ns):
        return True
    return before.st_ino != now.st_ino and before.st_ctime_ns != now.st_ctime_ns


class DataFile:
    """A file that can be opened any number of times.

    Attributes
    ----------
    path : str
        The name in messages: a local path, or a URI without credentials.
    filesystem : pyarrow.fs.FileSystem or None
        None: the local disk.
    address : str
        The path in the file system.
    footer : object or None
        What a format keeps of a file of a store, so that it is fetched once.
    parts : tuple of str
        The folders of the path, and the name: files are sorted by them.
    row_groups : tuple of int or None
        The rows of every row group, once a Parquet file was inspected.
    """

    __slots__ = ("_handle", "_lock", "_status", "address", "filesystem", "footer", "parts", "path", "row_groups")

    def __init__(self, path: str, filesystem: Any, address: str) -> None:
        self.path = path
        self.filesystem = filesystem
        self.address = address
        self.parts = (PurePath if filesystem is None else PurePosixPath)(address).parts
        self.footer: Any = None
        self.row_groups: tuple[int, ...] | None = None
        self._handle: pa.NativeFile | None = None
        self._lock = Lock()
        self._status: os.stat_result | None = None  # when it was first read

    @classmethod
    def local(cls, path: str | os.PathLike[str]) -> DataFile:
        """A file of the local disk."""
        text = os.fspath(path)
        return cls(printable(text), None, text)

    def __str__(self) -> str:
        return self.path

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.parts[-1]

    @property
    def is_local(self) -> bool:
        return self.filesystem is None

    def status(self) -> os.stat_result | None:
        """What the system knows of the file now; None where that tells nothing: in stores, and of pipes."""
        if not self.is_local:
            return None
        found = os.stat(self.address)
        return found if stat.S_ISREG(found.st_mode) else None

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Raise ChangedFileError if the file is another one than when it was first read, before or after the block.

        A file is opened for its columns, and again for each of its partitions. Whatever reading half of one file and
        half of another gives, a value or an error, says nothing.
        """
        try:
            if self._status is None:
                self._status = self.status()
            else:
                self.check_unchanged()
            yield
        except ChangedFileError:
            raise
        except Exception as error:
            self.check_unchanged(error)
            raise
        self.check_unchanged()

    def check_unchanged(self, cause: Exception | None = None) -> None:
        if self._status is None:
            return
        try:
            found = self.status()
        except FileNotFoundError:
            text = f"{self} was deleted or renamed while it was read; evaluate it when nothing replaces it"
            raise ChangedFileError(text) from cause
        if found is None or is_changed(self._status, found):
            text = f"{self} was changed or replaced while it was read; evaluate it when nothing writes it"
            raise ChangedFileError(text) from cause

    def handle(self) -> pa.NativeFile:
        """A file of a store, opened once for all reads at places: opening it again would be a request."""
        with self._lock:
            if self._handle is None:
                self._handle = self.filesystem.open_input_file(self.address)
            return self._handle

    def open_file(self) -> pa.NativeFile:
        """Open the file for reads at any place. A local file is not memory-mapped."""
        if self.filesystem is None:
            return pa.OSFile(os.fsencode(self.address))  # of a text, Arrow needs UTF-8
        return pa.PythonFile(CachedBlocks(self.handle()), mode="r")

    def open_stream(self, compression: str | None = None) -> pa.NativeFile:
        """Open the file for reads from its beginning to its end, decompressed if `compression` names a codec."""
        if self.filesystem is None:
            opened = self.open_file()
            return opened if compression is None else pa.CompressedInputStream(opened, compression)
        return self.filesystem.open_input_stream(self.address, compression=compression, buffer_size=STREAM_BYTES)
