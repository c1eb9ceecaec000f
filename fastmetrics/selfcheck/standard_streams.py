"""The standard streams of a command: a result that cannot be written is an error, whatever writes it.

Python has None for a stream that was closed before it started (``>&-``), and libraries then print nothing, without an
error. The descriptors of such streams are free, so the next file that is opened would get one of them, and with it
what is printed later. Here they are taken, in a mode that refuses what the stream is for.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from typing_extensions import Buffer

READ, WRITE, MESSAGES = 0, 1, 2
FAILURES = {errno.EBADF: "it is closed", errno.EPIPE: "its reader stopped reading"}


class StandardOutput(io.FileIO):
    """Standard output. The error of a failed write names it; it has no number, so no library takes it for its own.

    The first error ends the command. What is still in a buffer then has nowhere to go, and is no second error.
    """

    has_failed = False

    def write(self, data: Buffer, /) -> int:
        if self.has_failed:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as error:
            self.has_failed = True
            reason = FAILURES.get(error.errno or 0) or error.strerror
            raise OSError(f"the result was not written to standard output: {reason}") from error


class Messages(io.FileIO):
    """Standard error. Messages that nobody can read do not change what a command does, nor its exit code."""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


@contextmanager
def checked_streams() -> Iterator[None]:
    """Standard output and error as above while a command runs. Streams that the caller replaced are left alone."""
    take_closed_descriptors()
    output, messages = sys.stdout, sys.stderr
    try:
        sys.stdout = opened(output, sys.__stdout__, StandardOutput, WRITE)
        sys.stderr = opened(messages, sys.__stderr__, Messages, MESSAGES)
        yield
    finally:
        sys.stdout, sys.stderr = output, messages


def flush() -> int:
    """Write what standard output still holds; an error has the exit code 1."""
    try:
        sys.stdout.flush()
    except OSError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def take_closed_descriptors() -> None:
    """Open what reading refuses as standard input, and what writing refuses as standard output and error."""
    for descriptor in (READ, WRITE, MESSAGES):
        try:
            os.fstat(descriptor)
        except OSError:  # closed; the lowest free descriptor is taken
            os.open(os.devnull, os.O_WRONLY if descriptor == READ else os.O_RDONLY)


def opened(stream: TextIO | None, original: TextIO | None, kind: type[io.FileIO], descriptor: int) -> TextIO:
    """The stream of this process anew, with the writes of `kind`. A terminal stays what it is."""
    if stream is not None and (stream is not original or stream.isatty()):
        return stream
    raw = kind(descriptor, "w", closefd=False)
    if stream is None:
        encoding, errors = "utf-8", "backslashreplace"
    else:
        stream.flush()
        encoding, errors = stream.encoding, stream.errors or "strict"
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=descriptor == MESSAGES)
