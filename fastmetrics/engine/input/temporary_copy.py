"""Copies of streams in temporary files. Their size is seldom known before, so free space is checked piece by piece."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from fastmetrics._core.exchange.memory_size import format_size
from fastmetrics._core.exchange.spill import SpillError, default_folder, free_space, open_unnamed, reason_of


class TemporaryCopy:
    """What is written to a temporary file: errors name the folder, what is free, and what was needed.

    Parameters
    ----------
    what
        What is done, such as "storing standard input in"; the folder follows in messages.
    folder
        The folder of the file; None is the system's folder for temporary files.
    remedy
        What the user can do about it.
    """

    def __init__(self, what: str, folder: str | None, remedy: str) -> None:
        self.folder = default_folder() if folder is None else folder
        self._what = what
        self._remedy = remedy
        self._written = 0

    @contextmanager
    def path(self) -> Iterator[str]:
        """The path of a new file, which is gone after the block; on Linux, also after the process is killed."""
        try:
            descriptor = open_unnamed(self.folder)
        except OSError as error:
            raise self._error(error.errno or errno.EIO, reason_of(error), 0) from error
        path = f"/proc/self/fd/{descriptor}"
        if os.path.exists(path):
            try:
                yield path
            finally:
                os.close(descriptor)
            return
        os.close(descriptor)
        path = os.path.join(self.folder, f"fastmetrics-{os.urandom(8).hex()}.copy")
        try:
            yield path
        finally:
            if os.path.exists(path):
                os.unlink(path)

    def check_space(self, n_bytes: int) -> None:
        """Raise SpillError if fewer than n_bytes are free."""
        if n_bytes and free_space(self.folder) < n_bytes:
            raise self._error(errno.ENOSPC, "not enough space", n_bytes)

    @contextmanager
    def writing(self, n_bytes: int) -> Iterator[None]:
        """A block that writes so many bytes: SpillError if they do not fit, or are not written."""
        self.check_space(n_bytes)
        try:
            yield
        except OSError as error:
            raise self._error(error.errno or errno.EIO, reason_of(error), n_bytes) from error
        self._written += n_bytes

    def _error(self, code: int, reason: str, n_bytes: int) -> SpillError:
        text = f"{self._what} folder '{self.folder}': {reason}"
        if self._written:
            text += f" after {format_size(self._written)}"
        if n_bytes:
            free = format_size(free_space(self.folder))
            text += f"; {format_size(n_bytes)}{' more' * bool(self._written)} are needed there, and {free} are free"
        return SpillError(code, f"{text} ({self._remedy})", self.folder)
