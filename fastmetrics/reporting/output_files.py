"""Output files that get their name only when they are complete."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def complete_or_nothing(path: Path) -> Iterator[Path]:
    """Yield a temporary name in the same folder; rename it to ``path`` at the end, remove it on any exception.

    The temporary file is created at once: a folder that cannot be written to is an error before the work, not after it.
    A path that is not a regular file (a pipe, /dev/null) is written to directly.
    """
    target = path.resolve()
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    if target.exists() and not target.is_file():
        yield target
        return
    if not target.parent.is_dir():
        error = NotADirectoryError if target.parent.exists() else FileNotFoundError
        raise error(f"{path}: there is no folder {target.parent}; create it first")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.incomplete")
    try:
        create(temporary, path)
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def create(temporary: Path, path: Path) -> None:
    try:
        temporary.touch()
    except OSError as error:
        # The error names the file that the user typed, not the temporary file.
        raise type(error)(error.errno, f"cannot be written: {error.strerror}", str(path)) from None
