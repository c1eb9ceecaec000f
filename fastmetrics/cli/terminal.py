"""What all commands share: the two streams, error messages, the command's own name, numbers for human eyes."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from fastmetrics._core.spill import SpillError

# Wide enough for every line of a table that goes to a file or a pipe, where nobody's window wraps it.
PIPED_WIDTH = 120


def standard_output() -> Console:
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)


def standard_error() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True)


def show_error(error: BaseException) -> None:
    """The message of an exception on standard error, without a traceback."""
    message = message_of(error) or type(error).__name__
    standard_error().print(Text.assemble(("error:", "bold red"), " ", message))


def message_of(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return f"out of memory {error}".strip()
    if isinstance(error, LookupError) and len(error.args) == 1:
        return str(error.args[0])  # str() of a KeyError is the repr of its message
    if isinstance(error, SpillError):  # it is a sentence already, in the words of Python
        return str(error).replace("spill_dir=...", "--spill-dir").replace("memory_limit=...", "--memory-limit")
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def show_warning(message: str) -> None:
    standard_error().print(Text.assemble(("warning:", "bold yellow"), " ", message))


def program() -> str:
    """How this command was called, so that the lines it suggests work when they are typed in the same place."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{command_name(Path(sys.executable))} -m fastmetrics"
    return command_name(called)


def command_name(executable: Path) -> str:
    """Its bare name where the shell finds the same file by it, else its path."""
    found = shutil.which(executable.name)
    if found is not None and Path(found).absolute() == executable.absolute():
        return executable.name
    path = shown_path(executable)
    return path if os.sep in path else os.path.join(".", path)


def shown_path(path: Path) -> str:
    """Relative where the path lies below the working directory, and safe to paste into a shell."""
    absolute, here = path.absolute(), Path.cwd()
    return quoted(str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute))


def quoted(text: str) -> str:
    """The text as one word of a command line."""
    return subprocess.list2cmdline([text]) if sys.platform == "win32" else shlex.quote(text)


def examples(*commands: str) -> str:
    """The end of a --help page: typed lines, each a paragraph because the help joins single line breaks."""
    lines = [f"[cyan]fastmetrics {escape(command)}[/cyan]" for command in commands]
    return "\n\n".join(["[bold]Examples[/bold]", *lines])


def megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"


def rate(rows: int, seconds: float) -> str:
    """Rows per second in three digits: 31.2M rows/s."""
    per_second = rows / seconds if seconds > 0 else 0.0
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if per_second >= size:
            return f"{per_second / size:.3g}{unit} rows/s"
    return f"{per_second:.0f} rows/s"
