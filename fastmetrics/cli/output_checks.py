"""Checks of output files before anything is read: an output is no input, replaces no log, and can be written."""

from __future__ import annotations

import fnmatch
import glob
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.results.output_files import check_target
from fastmetrics.cli.input_names import STANDARD_INPUT

FIRST_BYTES = 1 << 16  # of a file that is replaced, which tell what it holds
FIRST_KEY = b'{"schema"'  # of results as JSON
OPTION = "--output"


class OutputFile(NamedTuple):
    """A file to write, and the suffix that says how."""

    path: Path
    suffix: str


def check_outputs(
    files: Sequence[OutputFile], paths: Sequence[str], *, no_clobber: bool, first_columns: Sequence[str]
) -> None:
    """Raise if one of the files cannot be written, or must not be.

    `paths` are the inputs; `first_columns` are of the tables that the command writes.
    """
    check_names(files)
    for file in files:
        check_target(file.path, file.path.resolve())
        if no_clobber and os.path.lexists(file.path):
            raise FileExistsError(f"{file.path} exists; name another {OPTION} file, or leave out --no-clobber")
        check_not_an_input(file, paths)
        check_replaced(file, first_columns)
    check_standard_output(paths)


def check_names(files: Sequence[OutputFile]) -> None:
    """Two outputs must not be one file."""
    seen: list[Path] = []
    for file in files:
        real = file.path.resolve()
        if any(real == other or is_same_file(real, other) for other in seen):
            raise typer.BadParameter(f"{file.path} is named twice", param_hint=OPTION)
        seen.append(real)


def check_replaced(file: OutputFile, first_columns: Sequence[str]) -> None:
    """An output replaces no log: neither a file of another kind nor rows that are no result."""
    if not file.path.is_file():
        return
    with file.path.open("rb") as opened:
        first = opened.read(FIRST_BYTES)
    found = describe_log(first, file, first_columns)
    if found is not None:
        text = f"{file.path} exists and holds {found}, which would be lost; name another file, or remove it first"
        raise typer.BadParameter(text, param_hint=OPTION)


def describe_log(first: bytes, file: OutputFile, first_columns: Sequence[str]) -> str | None:
    """What an existing file holds, by its first bytes, if that is no result of the kind that is written."""
    from fastmetrics.engine.input.files.text_streams import kind_of_beginning

    kind = kind_of_beginning(first)
    if file.suffix == ".parquet" and kind == "Parquet":
        return None if set(names_in_parquet(file.path)[:1]) & set(first_columns) else "another table"
    if kind is not None:
        return kind
    lines = first.removeprefix(b"\xef\xbb\xbf").splitlines()[:2]
    if file.suffix == ".csv" and len(lines) == 2:
        is_table = any(sign in lines[0] and sign in lines[1] for sign in (b",", b";", b"\t", b"|"))
        is_result = lines[0].partition(b",")[0].decode(errors="replace") in first_columns
        return "other rows" if is_table and not is_result else None
    if file.suffix == ".json" and lines and lines[0].startswith(b"{") and lines[0].rstrip().endswith(b"}"):
        return None if lines[0].startswith(FIRST_KEY) else "JSON lines"
    return None


def names_in_parquet(path: Path) -> list[str]:
    """The columns of a Parquet file; none of a damaged one."""
    from fastmetrics._core.optional_imports import parquet, pyarrow

    try:
        with path.open("rb") as opened:
            return list(parquet.read_schema(opened).names)
    except (pyarrow.ArrowException, OSError):
        return []


# --------------------------------------------------------------------------------------- outputs that would be inputs


def check_not_an_input(file: OutputFile, paths: Sequence[str]) -> None:
    """An output must not be a file of the log, nor a file that would be read with the log the next time.

    Files are compared by their identity, so that links and other spellings do not hide one.
    """
    for item in paths:
        if item == STANDARD_INPUT or ("://" in item and not item.startswith("file://")):
            continue
        text = os.path.expanduser(item.removeprefix("file://"))
        found = list(matches(text))
        if any(is_same_file(match, file.path) for match in found):
            raise typer.BadParameter(f"{file.path} is read as the input {item}; name another", param_hint=OPTION)
        if is_matched(file.path, text) or any(is_below(file.path, match) for match in found if os.path.isdir(match)):
            raise typer.BadParameter(
                f"{file.path} would be read with the input {item} the next time; name a file elsewhere",
                param_hint=OPTION,
            )


def check_standard_output(paths: Sequence[str]) -> None:
    """A shell's >> that points to a file of the log would add the result to it."""
    try:
        status = os.fstat(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # no file
        return
    if not stat.S_ISREG(status.st_mode):
        return
    for item in paths:
        for name in matches(os.path.expanduser(item)):
            if os.path.isfile(name) and os.path.samestat(os.stat(name), status):
                raise typer.BadParameter(f"standard output is the input {name}; write to another file")


def matches(text: str) -> Iterator[str]:
    """The path itself, or the files of a glob."""
    if os.path.exists(text):
        yield text
    elif glob.has_magic(text):
        yield from glob.iglob(text, recursive=True)


def is_matched(output: Path, pattern: str) -> bool:
    """Whether a glob would match an output that does not exist yet."""
    folder, name = os.path.split(pattern)
    if not glob.has_magic(pattern) or not fnmatch.fnmatchcase(output.name, name):
        return False
    folders = [os.curdir] if folder in ("", "**") else []  # the latter matches no folder too
    folders += glob.iglob(folder, recursive=True)
    return any(is_same_file(own, output.absolute().parent) for own in folders)


def is_below(output: Path, folder: str) -> bool:
    """Whether a file would be read with a folder: it is in it or in a folder below, also one that is a link.

    Names that begin with a dot are not read.
    """
    if output.name.startswith("."):
        return False
    real = output.resolve()
    if Path(folder).resolve() in real.parents:
        return True
    exists = output.exists()
    seen: set[str] = set()
    for here, subfolders, names in os.walk(folder, followlinks=True):
        path = os.path.realpath(here)
        if path in seen:  # a link to a folder above
            subfolders.clear()
            continue
        seen.add(path)
        if path == str(real.parent):
            return True
        if exists and any(is_same_file(os.path.join(here, name), output) for name in names):
            return True
    return False


def is_same_file(first: str | Path, second: str | Path) -> bool:
    try:
        return os.path.samefile(first, second)
    except (OSError, ValueError):  # one of them does not exist
        return False
