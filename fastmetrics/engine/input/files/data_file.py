"""A file of data in a file system: its name in messages, its size, and how it is opened."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any, NamedTuple

from fastmetrics._core.optional_imports import pyarrow as pa


class DataFile(NamedTuple):
    """A file that can be opened any number of times.

    Attributes
    ----------
    path : str
        The name in messages: a local path, or a URI.
    filesystem : pyarrow.fs.FileSystem or None
        None: the local disk.
    address : str
        The path in the file system.
    known_size : int or None
        The number of bytes, if the listing of a folder gave it.
    """

    path: str
    filesystem: Any
    address: str
    known_size: int | None = None

    @classmethod
    def local(cls, path: str | os.PathLike[str]) -> DataFile:
        """A file of the local disk."""
        text = os.fspath(path)
        return cls(text, None, text)

    def __str__(self) -> str:
        return self.path

    @property
    def parts(self) -> tuple[str, ...]:
        """The folders of the path, and the name: files are sorted by them."""
        return PurePath(self.address).parts

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePath(self.address).name

    def open_file(self) -> pa.NativeFile:
        """Open the file for reads at any place. A local file is not memory-mapped."""
        if self.filesystem is None:
            return pa.OSFile(self.address)
        return self.filesystem.open_input_file(self.address)

    def open_stream(self, compression: str | None = None) -> pa.NativeFile:
        """Open the file for reads from its beginning to its end, decompressed if `compression` names a codec."""
        if self.filesystem is None:
            return pa.input_stream(self.address, compression=compression)
        return self.filesystem.open_input_stream(self.address, compression=compression)
