"""What all commands share: standard error, messages, the name of the program, examples of help pages."""

import os
import shlex
import shutil
import subprocess
import sys
from inspect import cleandoc
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from fastmetrics._core.exchange.spill import SpillError

GATE_FAILED = 3
EXIT_CODES = {
    0: "0 done",
    1: "1 error",
    2: "2 wrong usage",
    GATE_FAILED: "3 a gate of --fail-if failed",
    130: "130 interrupted",
}


def standard_error() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True)


def show_error(error: BaseException) -> None:
    """Print the message of an exception to standard error, without a traceback."""
    message = message_of(error) or type(error).__name__
    shown = message if is_for_people() else one_line(message)
    standard_error().print(Text.assemble(("error:", "bold red"), " ", shown))


def show_usage_error(error: Any) -> None:
    """Print an error of usage: one line in a pipe, a box below the usage on a terminal."""
    if is_for_people():
        from typer import rich_utils

        rich_utils.rich_format_error(error)
    else:
        message = one_line(error.format_message()).replace(": Value error, ", ": ")  # pydantic's words
        standard_error().print(Text.assemble(("error:", "bold red"), " ", message))


def is_for_people() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr.isatty()


def one_line(message: str) -> str:
    """The lines of a message as one: a text that is shown is in parentheses, without what points at places in it."""
    lines = [line for line in message.splitlines() if line.strip("^ \t")]
    return " ".join(f"(in: {line.strip()})" if line.startswith("  ") else line.strip() for line in lines)


def message_of(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return f"out of memory {error}".strip()
    if isinstance(error, LookupError) and len(error.args) == 1:
        return str(error.args[0])  # str() of a KeyError is the repr of its message
    if isinstance(error, SpillError):  # its message is complete, but names Python's arguments
        return str(error).replace("spill_dir=...", "--spill-dir").replace("memory_limit=...", "--memory-limit")
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        from fastmetrics._core.calls.missing_files import explain_missing

        return explain_missing(error.filename)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def show_warning(message: str) -> None:
    standard_error().print(Text.assemble(("warning:", "bold yellow"), " ", message))


def program() -> str:
    """How this program was called: commands that it suggests work when they are typed in the same folder."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{command_name(Path(sys.executable))} -m fastmetrics"
    return command_name(called)


def command_name(executable: Path) -> str:
    """The file name if the shell finds the same file by it, otherwise the path."""
    found = shutil.which(executable.name)
    if found is not None and Path(found).absolute() == executable.absolute():
        return executable.name
    path = shown_path(executable)
    return path if os.sep in path else os.path.join(".", path)


def shown_path(path: Path) -> str:
    """The path, relative if it is below the working directory, safe to paste into a shell."""
    absolute, here = path.absolute(), Path.cwd()
    return quoted(str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute))


def quoted(text: str) -> str:
    """The text as one word of a command line."""
    return subprocess.list2cmdline([text]) if sys.platform == "win32" else shlex.quote(text)


def paragraphs(text: str | None) -> str:
    """A docstring as --help shows it: lines of a paragraph are one, but for those of a list."""
    parts = cleandoc(text or "").split("\n\n")
    return "\n\n".join(part if part.startswith("[bold]") else " ".join(part.split()) for part in parts)


def examples(*commands: str, has_gates: bool = False) -> str:
    """The exit codes and examples of a --help page. Each is a paragraph, because the help joins single line breaks."""
    lines = [f"[cyan]fastmetrics {escape(command)}[/cyan]" for command in commands]
    codes = ", ".join(text for code, text in EXIT_CODES.items() if has_gates or code != GATE_FAILED)
    return "\n\n".join([f"[bold]Exit codes[/bold]: {codes}", "[bold]Examples[/bold]", *lines])
