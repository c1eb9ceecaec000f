"""A file of data in a file system: its name in messages, its size, and how it is opened."""

from __future__ import annotations

import os
from pathlib import PurePath, PurePosixPath
from threading import Lock
from typing import Any

from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.files.block_cache import CachedBlocks

# A store answers every read with a request: streams are read in pieces of this size.
STREAM_BYTES = 4 << 20


def printable(text: str) -> str:
    """A path as messages show it: bytes of its name that are not UTF-8 cannot be printed, and are escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


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

    __slots__ = ("_handle", "_lock", "address", "filesystem", "footer", "parts", "path", "row_groups")

    def __init__(self, path: str, filesystem: Any, address: str) -> None:
        self.path = path
        self.filesystem = filesystem
        self.address = address
        self.parts = (PurePath if filesystem is None else PurePosixPath)(address).parts
        self.footer: Any = None
        self.row_groups: tuple[int, ...] | None = None
        self._handle: pa.NativeFile | None = None
        self._lock = Lock()

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
