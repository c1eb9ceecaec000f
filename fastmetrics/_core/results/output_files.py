"""Output files that get their name only when they are complete."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fastmetrics._core.optional_imports import parquet

if TYPE_CHECKING:
    import pyarrow as pa

# Distinguishes the temporary files of threads that write the same file; the last one wins.
COUNTER = itertools.count()


@contextmanager
def complete_or_nothing(path: Path) -> Iterator[Path]:
    """Yield a temporary name in the same folder; rename it to ``path`` at the end, remove it on any exception.

    The system has stored the content before the file gets its name.

    The temporary file is created at once: a folder that cannot be written to is an error before the work, not after it.
    A path that is not a regular file (a pipe, /dev/null) is written to directly. A file that is replaced keeps its
    permissions; a link keeps pointing to it.
    """
    target = path.resolve()
    check_target(path, target)
    if target.exists() and not target.is_file():
        yield target
        return
    temporary = target.with_name(f".{target.name[:200]}.{os.getpid()}-{next(COUNTER)}.incomplete")
    try:
        create(temporary, path)
        yield temporary
        if target.exists():
            shutil.copymode(target, temporary)
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(target)
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def check_target(path: Path, target: Path) -> None:
    """Raise OSError if no file can be written under this name."""
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    if not target.parent.is_dir():
        error = NotADirectoryError if target.parent.exists() else FileNotFoundError
        raise error(f"{path}: there is no folder {target.parent}; create it first")


def create(temporary: Path, path: Path) -> None:
    try:
        temporary.touch()
    except OSError as error:
        # The error names the file that the user typed, not the temporary file.
        raise type(error)(error.errno, f"cannot be written: {error.strerror}", str(path)) from None


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text file, completely or not at all; lines end alike on every system."""
    with complete_or_nothing(Path(path)) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_parquet(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table to a Parquet file, completely or not at all."""
    with complete_or_nothing(Path(path)) as temporary, temporary.open("wb") as sink:
        parquet.write_table(table, sink)
