"""A temporary file without a name for data that does not fit memory. Arrays are appended and read back by position.

The file loses its name before the first byte is written. So the system frees its space when the process ends, however
it ends: after an error or SIGKILL nothing is left to clean up. On systems without O_TMPFILE the file has a name for a
moment; a process killed in that moment leaves an empty file behind.

Positions are assigned under a lock, which costs an addition. Bytes are written and read outside of the lock, by all
threads at once.
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

from fastmetrics._core.exchange.memory_size import format_size

# A system call accepts at most so many pieces (IOV_MAX) and, on some systems, less than 2 GiB. With pieces of at most
# 1 MiB, a call writes or reads at most 1 GiB.
PIECE_BYTES = 1 << 20
PIECES_PER_CALL = 1024
# Windows has no system calls that write or read at a position.
HAS_POSITIONED_CALLS = hasattr(os, "pwritev") and hasattr(os, "preadv")

REMEDY = "give another folder with spill_dir=..., or a larger memory_limit=... so that less is spilled"


class SpillError(OSError):
    """The spill file cannot be made, written or read. `errno` is the system's, `filename` is the folder.

    The text says what to do. It does not begin with "[Errno 28]", as other system errors do.
    """

    def __str__(self) -> str:
        return self.strerror or super().__str__()


class SpillFile:
    """Bytes of arrays in a temporary file without a name.

    Parameters
    ----------
    folder
        The folder of the file; None is the system's folder for temporary files. The folder is not used before
        `check_folder` or the first `append`.

    Notes
    -----
    Threads may append and read at the same time. A forked process may not, because it would assign the same positions
    again: append, read and check_folder raise RuntimeError there. It may close its copy of the file. The space is not
    freed before it does.
    """

    # A class attribute, so that __del__ finds it if __init__ raises.
    _descriptor: int | None = None

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._folder = None if folder is None else as_path(folder)
        self._process = os.getpid()
        self._lock = Lock()
        self._closed = False
        self._users: frozenset[int] = frozenset()  # threads that are in an append or a read
        self._end = 0
        self._bytes_written = 0

    @property
    def bytes_written(self) -> int:
        """The bytes of all completed appends."""
        return self._bytes_written

    def check_folder(self) -> None:
        """Raise SpillError if no file can be made in the folder, so that the error comes before work begins."""
        self._check_process()
        os.close(self._make_file())

    def append(self, arrays: Sequence[np.ndarray]) -> int:
        """Write the bytes of C-contiguous arrays one after the other; return the position of the first.

        Raises SpillError if the file cannot be made or the disk is full. The file can still be used after that; the
        positions of the failed append stay unused.
        """
        pieces = [piece for array in arrays for piece in pieces_of(array)]
        n_bytes = sum(piece.nbytes for piece in pieces)
        with self._use(reserve=n_bytes) as (descriptor, position):
            self._write(descriptor, pieces, position, n_bytes)
        return position

    def read(self, position: int, out: np.ndarray) -> None:
        """Fill a C-contiguous array with the bytes at a position. Raises SpillError if the file has fewer."""
        if not out.flags.writeable:
            raise ValueError("an array to read into must be writeable")
        pieces = pieces_of(out)
        with self._use() as (descriptor, _):
            self._read(descriptor, pieces, position)

    def overwrite(self, position: int, values: np.ndarray) -> None:
        """Write a C-contiguous array in place of bytes that were appended before."""
        with self._use() as (descriptor, _):
            self._write(descriptor, list(pieces_of(values)), position, 0)

    def map(self, n_bytes: int) -> np.ndarray:
        """New bytes of the file as an array (uint8), which is written and read in place.

        Space is reserved first: SpillError if there is none. A file with maps has no appends. The array may be used
        after the file is closed; its space is then freed with it.
        """
        import mmap

        n_bytes = -(-n_bytes // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        with self._use(reserve=n_bytes) as (descriptor, position):
            try:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(descriptor, position, n_bytes)
                else:
                    os.truncate(descriptor, position + n_bytes)
                memory = mmap.mmap(descriptor, n_bytes, offset=position)
            except OSError as error:
                raise self._error(error.errno, f"{reason_of(error)}; {n_bytes:,} bytes were needed") from error
        return np.frombuffer(memory, np.uint8)

    def close(self) -> None:
        """Free the space as soon as the appends and reads of other threads have ended. May be called again."""
        if os.getpid() != self._process:
            # The lock may have been taken when the process forked; here it would never be released.
            self._close_descriptor()
            return
        with self._lock:
            self._closed = True
            # The closing thread is in no append or read: an entry of its own is left from one that was interrupted.
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
        """The open descriptor, and the position of `reserve` bytes that no other thread gets.

        The descriptor stays open until the use ends. If it were closed during a write, its number could become that of
        another file, and the write would damage that file.
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
                f"a spill file can only be used by the process that made it: made in process {self._process}, used in "
                f"{os.getpid()} after a fork; make a new SpillFile there"
            )

    def _make_file(self) -> int:
        """The descriptor of a new file without a name."""
        if self._folder is None:
            self._folder = default_folder()
        try:
            return open_unnamed(self._folder)
        except OSError as error:
            raise self._error(error.errno, reason_of(error)) from error

    def _close_descriptor(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            # An error means that bytes did not reach the disk, and they are not needed any more.
            with suppress(OSError):
                os.close(descriptor)

    def _error(self, code: int | None, text: str) -> SpillError:
        return SpillError(code or errno.EIO, f"spilling to folder '{self._folder}': {text} ({REMEDY})", self._folder)

    # ---------------------------------------------------------------------------------------------- bytes

    def _write(self, descriptor: int, pieces: list[memoryview], position: int, n_bytes: int) -> None:
        done = 0
        try:
            while pieces:
                n_written = self._write_some(descriptor, pieces[:PIECES_PER_CALL], position + done)
                if n_written == 0:
                    raise OSError(errno.EIO, "the system wrote nothing and reported no error")
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
                # Without a descriptor nothing was appended, and the file is empty.
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
        """Write as much as the system accepts in one call; return the number of bytes."""
        if HAS_POSITIONED_CALLS:
            return os.pwritev(descriptor, pieces, position)
        with self._lock:
            os.lseek(descriptor, position, os.SEEK_SET)
            return os.write(descriptor, pieces[0])

    def _read_some(self, descriptor: int, pieces: list[memoryview], position: int) -> int:
        """Read as much as the system returns in one call: at least one byte unless the file ends. Return the number."""
        if HAS_POSITIONED_CALLS:
            return os.preadv(descriptor, pieces, position)
        with self._lock:
            os.lseek(descriptor, position, os.SEEK_SET)
            data = os.read(descriptor, pieces[0].nbytes)
        pieces[0][: len(data)] = data
        return len(data)


def as_path(folder: Any) -> str:
    """The folder as text, with "~" expanded."""
    if not isinstance(folder, (str, os.PathLike)):
        raise TypeError(f"spill_dir must be the path of a folder; found {folder!r} of type {type(folder).__name__}")
    return os.path.expanduser(os.fsdecode(folder))


def pieces_of(array: np.ndarray) -> list[memoryview]:
    """Views of an array's bytes, each of at most PIECE_BYTES; none for an empty array."""
    if not array.flags.c_contiguous or array.dtype.hasobject:
        raise ValueError(
            f"a spill file accepts C-contiguous arrays without Python objects; found dtype {array.dtype} with strides "
            f"{array.strides} for shape {array.shape}"
        )
    bytes_of_array = np.asarray(array).reshape(-1).view(np.uint8).data
    return [bytes_of_array[start : start + PIECE_BYTES] for start in range(0, array.nbytes, PIECE_BYTES)]


def drop_bytes(pieces: list[memoryview], n_bytes: int) -> None:
    """Remove so many bytes from the front of a list of pieces."""
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


def free_space(folder: str) -> int:
    """The bytes that are free in a folder."""
    import shutil  # loaded when it is needed: imports stay short

    return shutil.disk_usage(folder).free


def check_free_space(folder: str | None, n_bytes: int) -> None:
    """Raise SpillError if fewer than n_bytes are free in the folder, or in the system's one for temporary files."""
    folder = default_folder() if folder is None else folder
    free = free_space(folder)
    if free < n_bytes:
        text = f"at least {format_size(n_bytes)} are needed there, and {format_size(free)} are free"
        raise SpillError(errno.ENOSPC, f"spilling to folder '{folder}': {text} ({REMEDY})", folder)


def open_unnamed(folder: str) -> int:
    """Open a new file that has no name; on Windows, one that is deleted when it is closed.

    Python opens files such that child processes do not inherit them.
    """
    unnamed_flag = getattr(os, "O_TMPFILE", None)
    if unnamed_flag is not None:
        # Some file systems do not support it. Any other error occurs again below.
        with suppress(OSError):
            return os.open(folder, unnamed_flag | os.O_RDWR | os.O_EXCL, 0o600)
    path = os.path.join(folder, f"fastmetrics-{os.urandom(8).hex()}.spill")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    delete_on_close = getattr(os, "O_TEMPORARY", 0)
    descriptor = os.open(path, flags | delete_on_close | getattr(os, "O_BINARY", 0), 0o600)
    if not delete_on_close:
        try:
            os.unlink(path)
        except BaseException:
            # Some network file systems do not unlink open files: a killed process would leave the file behind.
            os.close(descriptor)
            with suppress(OSError):
                os.unlink(path)
            raise
    return descriptor


def reason_of(error: OSError) -> str:
    """The reason of a system error, in plain words for the common cases."""
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
    # By name, because not every system has all the numbers.
    name = errno.errorcode.get(error.errno or 0, "")
    return reasons.get(name) or error.strerror or str(error)
