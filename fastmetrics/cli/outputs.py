"""Where commands write their result: standard output, and files that are checked before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.results.output_files import complete_or_nothing, write_text
from fastmetrics.cli.input_names import STANDARD_INPUT
from fastmetrics.cli.output_checks import OPTION, OutputFile, check_outputs
from fastmetrics.cli.terminal import shown_path

JSON_INDENT = 2
JSON = "json"
ALL_DIGITS = ("csv", JSON)
# The suffix of an output file -> how a result is written to it.
WRITERS: dict[str, Callable[[Any, Path], Any]] = {
    ".json": lambda result, path: write_text(json_text(result), path),
    ".html": lambda result, path: write_text(result.to_html(), path),
    ".csv": lambda result, path: write_text(result.to_csv(), path),
    ".parquet": lambda result, path: result.to_parquet(path),
    ".md": lambda result, path: write_text(result.to_markdown(), path),
}
SUFFIXES = f"{', '.join(list(WRITERS)[:-1])} or {list(WRITERS)[-1]}"


class OutputOptions(NamedTuple):
    """What is typed about outputs."""

    output: Sequence[str] | None = None
    no_clobber: bool = False
    layout: str | None = None  # None: --format is not typed
    as_json: bool = False
    digits: int | None = None
    quiet: bool = False


class Outputs(NamedTuple):
    """The files to write, and what is printed: a layout, or nothing."""

    files: list[OutputFile]
    layout: str | None
    digits: int | None = None
    quiet: bool = False

    @property
    def has_page(self) -> bool:
        return any(file.suffix == ".html" for file in self.files)


def json_text(result: Any) -> str:
    return f"{result.to_json(indent=JSON_INDENT)}\n"


def read_outputs(
    given: OutputOptions,
    paths: Sequence[str],
    *,
    default: str,
    first_columns: Sequence[str] = ("metric",),
    has_gates: bool = False,
) -> Outputs:
    """The outputs that the options ask for. Wrong usage and files that cannot be written are errors.

    No output is one of the inputs `paths`. `default` is the layout where none is typed. `has_gates` says that the exit
    code is a result too.
    """
    check_json_file(given, paths)
    files = list(map(output_file, given.output or ()))
    layout = printed_layout(given, default, is_kept=bool(files) or has_gates)
    check_outputs(files, paths, no_clobber=given.no_clobber, first_columns=first_columns)
    if given.no_clobber and not files:
        raise typer.BadParameter("there is no file to keep: add --output FILE", param_hint="--no-clobber")
    return Outputs(files, layout, given.digits, given.quiet)


def check_json_file(given: OutputOptions, paths: Sequence[str]) -> None:
    """A file that is named behind --json is an input, which it was not meant to be if it does not exist."""
    for path in paths:
        if given.as_json and path.endswith(".json") and not Path(path).exists():
            message = f"it prints JSON, and there is no file {path}; to write it type -o {path}"
            raise typer.BadParameter(message, param_hint="--json")


def output_file(name: str) -> OutputFile:
    """A file of --output, whose suffix says what is written to it."""
    path = Path(name)
    if name == STANDARD_INPUT:
        raise typer.BadParameter("name a file; to print JSON type --json", param_hint=OPTION)
    if not name or path.suffix.lower() not in WRITERS:
        raise typer.BadParameter(f"the name of the file must end in {SUFFIXES}; found {name!r}", param_hint=OPTION)
    return OutputFile(path, path.suffix.lower())


def printed_layout(given: OutputOptions, default: str, *, is_kept: bool) -> str | None:
    """What is printed, None for nothing. Options that contradict each other, or have no effect, are errors."""
    if given.as_json and given.layout not in (None, JSON):
        raise typer.BadParameter(f"it is short for --format json, not for {given.layout}", param_hint="--json")
    layout = JSON if given.as_json else given.layout or default
    is_silent = given.quiet and is_kept and not (given.as_json or given.layout)
    if given.digits is not None and (is_silent or layout in ALL_DIGITS):
        why = "nothing is printed" if is_silent else f"{layout} has all digits"
        raise typer.BadParameter(f"{why}, so it has no effect", param_hint="--digits")
    return None if is_silent else layout


# ------------------------------------------------------------------------------------------------------------ writing


def write_result(
    compute: Callable[[], Any],
    outputs: Outputs,
    show: Callable[[Any], None],
    written: Callable[[Any], Any] = lambda result: result,
) -> Any:
    """Compute the result, write the files, and print it. Files get their names when all of them are written.

    `written` makes what has the methods of reports, `to_csv` and so on.
    """
    with ExitStack() as files:
        temporary = [files.enter_context(complete_or_nothing(file.path)) for file in outputs.files]
        result = compute()
        for file, path in zip(outputs.files, temporary, strict=True):
            WRITERS[file.suffix](written(result), path)
    for file in outputs.files:
        say(f"wrote {shown_path(file.path)}", quiet=outputs.quiet)
    if outputs.layout == JSON:
        typer.echo(json_text(written(result)), nl=False)
    elif outputs.layout is not None:
        show(result)
    return result


def say(message: str, *, quiet: bool) -> None:
    """Tell on standard error what was done."""
    if not quiet:
        typer.echo(message, err=True)
