"""A file without a name that holds what memory does not: arrays are appended and read back by position.

The file loses its name before the first byte is written, so the system frees its space when the process ends, however
it ends: after an error, after SIGKILL, nothing is left to clean up. Between its making and the loss of its name lies an
instant on systems without O_TMPFILE; a process killed in just that instant leaves an empty file behind.

Positions are handed out under a lock, which costs an addition; the bytes travel outside of it, so that as many threads
as there are write and read at once.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock, get_ident
from types import TracebackType
from typing import Any

import numpy as np

# One system call takes at most so many pieces (IOV_MAX) and, on some systems, less than 2 GiB: with pieces of at most
# 1 MiB it is given no more than 1 GiB.
PIECE_BYTES = 1 << 20
PIECES_PER_CALL = 1024
# Windows has no calls that write or read at a position.
HAS_POSITIONED_CALLS = hasattr(os, "pwritev") and hasattr(os, "preadv")

REMEDY = "give another folder with spill_dir=..., or a larger memory_limit=... so that less is spilled"


class SpillError(OSError):
    """The spill file cannot be made, written or read back; `errno` is the system's, `filename` the folder.

    The text says what to do, without the "[Errno 28]" in front that other errors of the system have.
    """

    def __str__(self) -> str:
        return self.strerror or super().__str__()


class SpillFile:
    """Bytes of arrays in a file without a name, in a folder of the caller's choice.

    Parameters
    ----------
    folder
        Where the file is to be; None is the system's folder for temporary files. Nothing is made or looked at before
        `check_folder` or the first `append`.

    Notes
    -----
    Threads may append and read at the same time. A process made by a fork may not, for it would hand out the same
    positions again: append, read and check_folder raise RuntimeError there. It may close its copy of the file; as long
    as it keeps that, the space is not freed.
    """

    # Also known to __del__ when __init__ raises.
    _descriptor: int | None = None

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._folder = None if folder is None else as_path(folder)
        self._process = os.getpid()
        self._lock = Lock()
        self._closed = False
        self._users: frozenset[int] = frozenset()  # threads under way in an append or a read
        self._end = 0
        self._bytes_written = 0

    @property
    def bytes_written(self) -> int:
        """The bytes of all appends that are complete."""
        return self._bytes_written

    def check_folder(self) -> None:
        """Make a file without a name and drop it, so that a folder that cannot be used is found before work begins."""
        self._check_process()
        os.close(self._make_file())

    def append(self, arrays: Sequence[np.ndarray]) -> int:
        """Write the bytes of C-contiguous arrays one after the other; returns the position of the first.

        Raises SpillError if the file cannot be made or the disk is full. The file can be used on after that; the
        positions that were meant for the failed append stay unused.
        """
        pieces = [piece for array in arrays for piece in pieces_of(array)]
        n_bytes = sum(piece.nbytes for piece in pieces)
        with self._use(reserve=n_bytes) as (descriptor, position):
            self._write(descriptor, pieces, position, n_bytes)
        return position

    def read(self, position: int, out: np.ndarray) -> None:
        """Fill a C-contiguous array with the bytes from a position on; SpillError if the file has fewer."""
        if not out.flags.writeable:
            raise ValueError("an array to read into must be writeable")
        pieces = pieces_of(out)
        with self._use() as (descriptor, _):
            self._read(descriptor, pieces, position)

    def close(self) -> None:
        """Free the space, as soon as appends and reads of other threads have ended. May be called again."""
        if os.getpid() != self._process:
            # The lock may have been held when the process forked; nobody would release it here.
            self._close_descriptor()
            return
        with self._lock:
            self._closed = True
            # Whoever closes uses it no longer: what is left of a use of its own was interrupted before it ended.
            self._users -= {get_ident()}
            if not self._users:
                self._close_descriptor()

    def __enter__(self) -> SpillFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self._close_descriptor()

    # ------------------------------------------------------------------------------------------------ the file itself

    @contextmanager
    def _use(self, reserve: int = 0) -> Iterator[tuple[int, int]]:
        """The descriptor, kept open until the use ends, and the first of so many bytes that are this use's alone.

        A descriptor closed under a running write would soon be another file's, perhaps one with a name and a value.
        """
        self._check_process()
        with self._lock:
            if self._closed:
                raise ValueError("the spill file is closed")
            if reserve and self._descriptor is None:
                self._descriptor = self._make_file()
            descriptor = -1 if self._descriptor is None else self._descriptor
            position = self._end
            self._end += reserve
            self._users |= {get_ident()}
        try:
            yield descriptor, position
        finally:
            self._end_use()

    def _end_use(self) -> None:
        with self._lock:
            self._users -= {get_ident()}
            if self._closed and not self._users:
                self._close_descriptor()

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError(
                f"a spill file is used by the process that made it alone: made in process {self._process}, used in "
                f"{os.getpid()} after a fork; make a SpillFile of its own there"
            )

    def _make_file(self) -> int:
        """The descriptor of a new file without a name."""
        if self._folder is None:
            self._folder = default_folder()
        try:
            return open_nameless(self._folder)
        except OSError as error:
            raise self._error(error.errno, reason_of(error)) from error

    def _close_descriptor(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            # An error tells that bytes did not reach the disk, and they are not wanted any more.
            with suppress(OSError):
                os.close(descriptor)

    def _error(self, code: int | None, text: str) -> SpillError:
        return SpillError(code or errno.EIO, f"spilling to folder '{self._folder}': {text} ({REMEDY})", self._folder)

    # ---------------------------------------------------------------------------------------------- bytes to and fro

    def _write(self, descriptor: int, pieces: list[memoryview], position: int, n_bytes: int) -> None:
        done = 0
        try:
            while pieces:
                n_written = self._write_some(descriptor, pieces[:PIECES_PER_CALL], position + done)
                if n_written == 0:
                    raise OSError(errno.EIO, "the system writes nothing and tells no error")
                done += n_written
                drop_bytes(pieces, n_written)
        except OSError as error:
            before, missing = self._bytes_written + done, n_bytes - done
            text = f"{reason_of(error)} after {before:,} bytes; {missing:,} more were needed"
            raise self._error(error.errno, text) from error
        with self._lock:
            self._bytes_written += n_bytes

    def _read(self, descriptor: int, pieces: list[memoryview], position: int) -> None:
        while pieces:
            try:
                # Without a descriptor nothing was appended, and the file ends where it begins.
                n_read = 0 if descriptor < 0 else self._read_some(descriptor, pieces[:PIECES_PER_CALL], position)
            except OSError as error:
                text = f"reading back at byte {position:,}: {reason_of(error)}"
                raise self._error(error.errno, text) from error
            if n_read == 0:
                missing = sum(piece.nbytes for piece in pieces)
                text = f"reading back: the file ends at byte {position:,}, {missing:,} bytes too soon"
                raise self._error(errno.EIO, text)
            position += n_read
            drop_bytes(pieces, n_read)

    def _write_some(self, descriptor: int, pieces: list[memoryview], position: int) -> int:
        """Write as much as the system takes at once, which may be less than is given; returns how much."""
        if HAS_POSITIONED_CALLS:
            return os.pwritev(descriptor, pieces, position)
        with self._lock:
            os.lseek(descriptor, position, os.SEEK_SET)
            return os.write(descriptor, pieces[0])

    def _read_some(self, descriptor: int, pieces: list[memoryview], position: int) -> int:
        """Read as much as the system gives at once, at least a byte unless the file ends; returns how much."""
        if HAS_POSITIONED_CALLS:
            return os.preadv(descriptor, pieces, position)
        with self._lock:
            os.lseek(descriptor, position, os.SEEK_SET)
            found = os.read(descriptor, pieces[0].nbytes)
        pieces[0][: len(found)] = found
        return len(found)


def as_path(folder: Any) -> str:
    if not isinstance(folder, (str, os.PathLike)):
        raise TypeError(f"spill_dir must be the path of a folder; found {folder!r} of type {type(folder).__name__}")
    return os.path.expanduser(os.fsdecode(folder))


def pieces_of(array: np.ndarray) -> list[memoryview]:
    """Views of an array's bytes, each of at most PIECE_BYTES; none for an empty array."""
    if not array.flags.c_contiguous or array.dtype.hasobject:
        raise ValueError(
            f"a spill file takes C-contiguous arrays without Python objects; found dtype {array.dtype} with strides "
            f"{array.strides} for shape {array.shape}"
        )
    bytes_of_array = np.asarray(array).reshape(-1).view(np.uint8).data
    return [bytes_of_array[start : start + PIECE_BYTES] for start in range(0, array.nbytes, PIECE_BYTES)]


def drop_bytes(pieces: list[memoryview], n_bytes: int) -> None:
    """Take so many bytes away from the front of a list of pieces."""
    n_whole = 0
    while n_whole < len(pieces) and pieces[n_whole].nbytes <= n_bytes:
        n_bytes -= pieces[n_whole].nbytes
        n_whole += 1
    del pieces[:n_whole]
    if n_bytes:
        pieces[0] = pieces[0][n_bytes:]


def default_folder() -> str:
    """The system's folder for temporary files."""
    import tempfile

    try:
        return tempfile.gettempdir()
    except OSError as error:
        text = f"spilling: {error.strerror}; give a folder with spill_dir=..., or a larger memory_limit=..."
        raise SpillError(error.errno or errno.ENOENT, text) from error


def open_nameless(folder: str) -> int:
    """Open a new file that has no name, or loses it when it is closed (Windows).

    Python opens every file such that programs started later do not inherit it.
    """
    nameless = getattr(os, "O_TMPFILE", None)
    if nameless is not None:
        # Not every file system knows it. Whatever else the error may be, it comes again below.
        with suppress(OSError):
            return os.open(folder, nameless | os.O_RDWR | os.O_EXCL, 0o600)
    path = os.path.join(folder, f"fastmetrics-{os.urandom(8).hex()}.spill")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    gone_when_closed = getattr(os, "O_TEMPORARY", 0)
    descriptor = os.open(path, flags | gone_when_closed | getattr(os, "O_BINARY", 0), 0o600)
    if not gone_when_closed:
        try:
            os.unlink(path)
        except BaseException:
            # A few network file systems keep the names of open files: those would be left behind by a killed process.
            os.close(descriptor)
            with suppress(OSError):
                os.unlink(path)
            raise
    return descriptor


def reason_of(error: OSError) -> str:
    """Why the system refuses, in plain words where it is one of the common cases."""
    forbidden = "no file may be made in it"
    reasons = {
        "ENOENT": "there is no such folder",
        "ENOTDIR": "it is not a folder",
        "EACCES": forbidden,
        "EPERM": forbidden,
        "EROFS": forbidden,
        "ENOSPC": "no space is left",
        "EDQUOT": "the disk quota is used up",
        "EFBIG": "a file may not grow larger here",
    }
    # By name, for no system has all the numbers.
    name = errno.errorcode.get(error.errno or 0, "")
    return reasons.get(name) or error.strerror or str(error)
