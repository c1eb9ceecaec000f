"""Names of input files, as tables show them, and standard input among them."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from fastmetrics._core.calls.missing_files import printable

STANDARD_INPUT = "-"
AS_FILE = "/dev/stdin"


def file_names(paths: Sequence[str], preferred: Sequence[str] = ()) -> list[str]:
    """The preferred names, or else the files' names without folders, or else the paths: the first that are distinct."""
    names = ["standard input" if path == STANDARD_INPUT else printable(Path(path).name) for path in paths]
    for candidates in (list(preferred), names):
        if candidates and all(candidates) and len(set(candidates)) == len(candidates):
            return candidates
    return list(map(printable, paths))


def readable(paths: Sequence[str], argument: str) -> list[str]:
    """The paths of files that functions read, with that of standard input for -; wrong usage is reported."""
    if STANDARD_INPUT not in paths:
        return list(paths)
    if paths.count(STANDARD_INPUT) > 1:
        raise typer.BadParameter("standard input can be only one of the files", param_hint=argument)
    if sys.stdin is None or sys.stdin.isatty():
        what = "closed" if sys.stdin is None else "a terminal"
        raise typer.BadParameter(f"standard input is {what}: pipe a file into the command", param_hint=argument)
    if not os.path.exists(AS_FILE):
        raise typer.BadParameter("this system has no file of standard input: name a file", param_hint=argument)
    return [AS_FILE if path == STANDARD_INPUT else path for path in paths]
