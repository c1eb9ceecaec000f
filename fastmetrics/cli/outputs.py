"""Where the commands for logs write their result: standard output, and files that are checked before a log is read."""

from __future__ import annotations

import fnmatch
import glob
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.results.output_files import check_target, complete_or_nothing, write_text
from fastmetrics.cli.logs.log_options import LogOptions
from fastmetrics.cli.terminal import shown_path
from fastmetrics.reporting.tables import Document
from fastmetrics.reporting.text_tables import document_text

STANDARD_OUTPUT = "-"
JSON_INDENT = 2
ALL_DIGITS = ("csv", "json")
# The suffix of an output file -> how a result is written to it.
WRITERS: dict[str, Callable[[Any, Path], Any]] = {
    ".csv": lambda result, path: write_text(result.to_csv(), path),
    ".md": lambda result, path: write_text(result.to_markdown(), path),
    ".parquet": lambda result, path: result.to_parquet(path),
    ".json": lambda result, path: write_text(json_text(result), path),
    ".html": lambda result, path: write_text(result.to_html(), path),
}
SUFFIXES = {".html": (".html", ".htm")}
FIRST_BYTES = 1 << 16  # of a file that is replaced, which tell what it holds
FIRST_COLUMN = "metric"  # of the tables of all results
FIRST_KEY = b'{"schema"'  # of their JSON


class OutputFile(NamedTuple):
    """A file to write, the suffix that says how, and the option that names it."""

    path: Path
    suffix: str
    option: str


class Tables(NamedTuple):
    """How a result is drawn on a terminal, and the document that is written as text; both take `digits`."""

    draw: Callable[..., None]
    document: Callable[..., Document]


class Outputs(NamedTuple):
    """The files to write, and what is printed: a layout, or nothing."""

    files: list[OutputFile]
    layout: str | None = "table"
    digits: int | None = None

    @property
    def has_page(self) -> bool:
        return any(file.suffix == ".html" for file in self.files)


def json_text(result: Any) -> str:
    return f"{result.to_json(indent=JSON_INDENT)}\n"


def read_outputs(log: LogOptions, paths: Sequence[str], *, has_gates: bool = False) -> Outputs:
    """The outputs that the options ask for. Wrong usage and files that cannot be written are errors.

    No output is one of the inputs `paths`. `has_gates` says that the exit code is a result too.
    """
    files = [*named_files([log.json], "--json", ".json"), *named_files([log.html], "--html", ".html")]
    files += named_files(log.output or (), "--output", None)
    layout = printed_layout(log, files, has_gates=has_gates)
    check_names(files)
    for file in files:
        check_suffix(file)
        check_file(file, no_clobber=log.no_clobber)
        check_not_an_input(file, paths)
        check_replaced(file)
    check_standard_output(paths)
    if log.no_clobber and not files:
        raise typer.BadParameter("there is no file to keep: add --output FILE", param_hint="--no-clobber")
    return Outputs(files, layout, log.digits)


def named_files(names: Sequence[str | None], option: str, suffix: str | None) -> list[OutputFile]:
    """The files of an option. Without a `suffix` their own one says how to write them."""
    files = []
    for name in names:
        if name is None or (name == STANDARD_OUTPUT and option == "--json"):
            continue
        path = Path(name)
        found = suffix or path.suffix.lower()
        if name in ("", STANDARD_OUTPUT):
            raise typer.BadParameter(f"name a file, for instance report{suffix or '.csv'}", param_hint=option)
        if found not in WRITERS:
            known = ", ".join(WRITERS)
            raise typer.BadParameter(f"{name}: the name must end in one of {known}", param_hint=option)
        files.append(OutputFile(path, found, option))
    return files


def printed_layout(log: LogOptions, files: Sequence[OutputFile], *, has_gates: bool) -> str | None:
    """What is printed, None for nothing. Options that contradict each other, or have no effect, are errors."""
    if log.json == STANDARD_OUTPUT and log.layout not in (None, "json"):
        raise typer.BadParameter(f"--json - prints JSON, not --format {log.layout}", param_hint="--format")
    layout = "json" if log.json == STANDARD_OUTPUT else log.layout or "table"
    if log.quiet and (log.layout is not None or log.json == STANDARD_OUTPUT):
        option = "--json -" if log.layout is None else "--format"
        raise typer.BadParameter(f"nothing is printed, so {option} has no effect", param_hint="--quiet")
    if log.quiet and not files and not has_gates:
        raise typer.BadParameter("nothing is printed or written: add --output FILE", param_hint="--quiet")
    if log.digits is not None and (log.quiet or layout in ALL_DIGITS):
        why = "nothing is printed" if log.quiet else f"{layout} has all digits"
        raise typer.BadParameter(f"{why}, so it has no effect", param_hint="--digits")
    return None if log.quiet else layout


def check_names(files: Sequence[OutputFile]) -> None:
    """Two outputs must not be one file."""
    seen: dict[Path, OutputFile] = {}
    for file in files:
        real = file.path.resolve()
        other = next((own for path, own in seen.items() if path == real or is_same_file(path, real)), None)
        if other is not None:
            text = f"{file.path} and {other.option} {other.path} are one file"
            raise typer.BadParameter(text, param_hint=file.option)
        seen[real] = file


def check_suffix(file: OutputFile) -> None:
    """The name of an output ends as what is written: in `--json day1.parquet day2.parquet` a log follows the option."""
    is_special = file.path.exists() and not file.path.is_file()  # such as /dev/null or a pipe
    if not is_special and file.path.suffix.lower() not in SUFFIXES.get(file.suffix, (file.suffix,)):
        kind = file.suffix.removeprefix(".").upper()
        more = "; to print JSON, type --json -" if file.suffix == ".json" else ""
        text = f"{file.path}: the name of the {kind} file to write must end in {file.suffix}{more}"
        raise typer.BadParameter(text, param_hint=file.option)


def check_replaced(file: OutputFile) -> None:
    """An output replaces no log: neither a file of another kind nor rows that are no result."""
    if not file.path.is_file():
        return
    with file.path.open("rb") as opened:
        first = opened.read(FIRST_BYTES)
    found = describe_log(first, file)
    if found is not None:
        text = f"{file.path} exists and holds {found}, which would be lost; name another file, or remove it first"
        raise typer.BadParameter(text, param_hint=file.option)


def describe_log(first: bytes, file: OutputFile) -> str | None:
    """What an existing file holds, by its first bytes, if that is no result of the kind that is written."""
    from fastmetrics.engine.input.files.text_streams import kind_of_beginning

    kind = kind_of_beginning(first)
    if file.suffix == ".parquet" and kind == "Parquet":
        return None if FIRST_COLUMN in names_in_parquet(file.path)[:1] else "another table"
    if kind is not None:
        return kind
    lines = first.removeprefix(b"\xef\xbb\xbf").splitlines()[:2]
    if file.suffix == ".csv" and len(lines) == 2:
        is_table = any(sign in lines[0] and sign in lines[1] for sign in (b",", b";", b"\t", b"|"))
        return "other rows" if is_table and not lines[0].startswith(FIRST_COLUMN.encode()) else None
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


def check_file(file: OutputFile, *, no_clobber: bool) -> None:
    """Raise OSError if the file cannot be written, or exists although it must not be replaced."""
    check_target(file.path, file.path.resolve())
    if no_clobber and os.path.lexists(file.path):
        raise FileExistsError(f"{file.path} exists; name another {file.option} file, or leave out --no-clobber")


# --------------------------------------------------------------------------------------- outputs that would be inputs


def check_not_an_input(file: OutputFile, paths: Sequence[str]) -> None:
    """An output must not be a file of the log, nor a file that would be read with the log the next time.

    Files are compared by their identity, so that links and other spellings do not hide one.
    """
    for item in paths:
        if item == STANDARD_OUTPUT or ("://" in item and not item.startswith("file://")):
            continue
        text = os.path.expanduser(item.removeprefix("file://"))
        found = list(matches(text))
        if any(is_same_file(match, file.path) for match in found):
            raise typer.BadParameter(f"{file.path} is read as the input {item}; name another", param_hint=file.option)
        if is_matched(file.path, text) or any(is_below(file.path, match) for match in found if os.path.isdir(match)):
            raise typer.BadParameter(
                f"{file.path} would be read with the input {item} the next time; name a file elsewhere",
                param_hint=file.option,
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


# ------------------------------------------------------------------------------------------------------------ writing


def write_result(compute: Callable[[], Any], outputs: Outputs, tables: Tables) -> Any:
    """Compute the result, write the files, and print it. Files get their names when all of them are written."""
    with ExitStack() as files:
        temporary = [files.enter_context(complete_or_nothing(file.path)) for file in outputs.files]
        result = compute()
        for file, path in zip(outputs.files, temporary, strict=True):
            WRITERS[file.suffix](result, path)
    for file in outputs.files:
        if outputs.layout is not None:
            typer.echo(f"wrote {shown_path(file.path)}", err=True)
    if outputs.layout is not None:
        print_result(result, outputs, tables)
    return result


def print_result(result: Any, outputs: Outputs, tables: Tables) -> None:
    """Print a result in the layout that was asked for; a table is drawn if standard output is a terminal."""
    digits: dict[str, int] = {} if outputs.digits is None else {"digits": outputs.digits}
    if outputs.layout == "json":
        typer.echo(json_text(result), nl=False)
    elif outputs.layout == "csv":
        typer.echo(result.to_csv(), nl=False)
    elif outputs.layout == "markdown":
        typer.echo(result.to_markdown(**digits), nl=False)
    elif sys.stdout.isatty():
        tables.draw(result, **digits)
    else:
        typer.echo(document_text(tables.document(result, **digits)))
