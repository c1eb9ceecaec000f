"""Options that several commands have, each declared once; those of texts alone are in `cli/text/systems.py`."""

import os
import sys
from typing import Annotated, Any, Literal

import typer

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.cli.completion import complete_columns, complete_metrics
from fastmetrics.cli.outputs import OutputOptions
from fastmetrics.cli.question_options import OF_LOGS, command_option
from fastmetrics.cli.records import fields_of, spread

# Panels of --help for options of one command beside shared ones.
COLUMNS, INTERVALS, OUTPUT = "Columns", "Intervals", "Output"

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help="Parquet, CSV, TSV, JSON lines, ORC or Arrow files, quoted globs of them, a folder partitioned as in "
        "column=value, a Delta or Iceberg table, also in a store as in s3://bucket/path, or - for standard input.",
        show_default=False,
    ),
]
GroupingSets = Annotated[
    list[str] | None,
    typer.Option(
        "--grouping-set",
        metavar="COLUMN,...",
        help="A slice for every combination of values of these columns, separated by commas. May be repeated: "
        "all sets are computed in one reading, as in --grouping-set channel --grouping-set channel,day.",
        autocompletion=complete_columns,
    ),
]
SortedBy = Annotated[
    str | None,
    typer.Option(
        "--sort",
        metavar="METRIC",
        help="Slices in the order of this metric, the worst first.",
        autocompletion=complete_metrics,
    ),
]
Config = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A question in TOML, as Evaluation.to_toml writes it. An option that is typed replaces its key there.",
    ),
]
Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="MODULE",
        help="Import a module that registers metrics, from the current folder or an installed package. "
        "May be repeated.",
    ),
]
Threads = command_option(OF_LOGS["n_threads"])
OutputFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Also write the result to a file, with all digits, as its suffix says: .json, .html (a page that needs no "
        "network), .csv, .parquet or .md. May be repeated.",
    ),
]
NoClobber = Annotated[
    bool, typer.Option("--no-clobber", help="A file to write that exists is an error, before anything is read.")
]
ResultFormat = Annotated[
    Literal["table", "csv", "markdown", "json"] | None,
    typer.Option("-f", "--format", help="How to print the result. Default: table.", show_default=False),
]
Digits = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=17, help="Digits of the values in a printed table. Default: 5 on a terminal, else all."
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="No progress and no messages but errors and warnings; nor the result, if a file has it or there is a gate "
        "and neither --json nor --format is typed.",
    ),
]
PrintJson = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON, with all digits, and nothing else; --format json.")
]
LogUsers = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Users to draw from, by a power law. Default: rows / 10.")
]


class OutputWords(NamedTuple):
    """The options of output that all commands have."""

    output: OutputFiles = None
    no_clobber: NoClobber = False
    as_json: PrintJson = False
    quiet: Quiet = False

    def with_layout(self, layout: str | None = None, digits: int | None = None) -> OutputOptions:
        return OutputOptions(**self._asdict(), layout=layout, digits=digits)


DEFAULT_OUTPUTS = OutputWords()
with_outputs = spread(OutputWords, fields_of(OutputWords), lambda values: OutputWords(**values))


def read_probabilities(probabilities: list[str] | None) -> list[list[str]] | None:
    """The columns of every model of --probabilities; None if there is none."""
    return list(map(split_columns, probabilities)) if probabilities else None


def read_slices(by: list[str] | None, grouping_sets: list[str] | None) -> list[Any] | None:
    """The columns of --by, or the sets of --grouping-set; None if there are none."""
    if by and grouping_sets:
        raise typer.BadParameter("it has all columns of slices: leave out --by", param_hint="--grouping-set")
    return list(map(split_columns, grouping_sets)) if grouping_sets else by or None


def split_columns(text: Any) -> list[str]:
    """The columns of a model that are separated by commas; a list, of --config, is of columns."""
    return text if isinstance(text, list) else [name.strip() for name in text.split(",")]


def read_roles(roles: list[str] | None, hint: str = "--role", example: str = "reward=revenue") -> dict[str, str]:
    """The columns of --role, or of another option, by role."""
    columns = {}
    for text in roles or ():
        role, _, column = text.partition("=")
        if not role or not column:
            raise typer.BadParameter(f"type ROLE=COLUMN, such as {example}; found {text!r}", param_hint=hint)
        if role in columns:
            raise typer.BadParameter(f"role {role} is given twice", param_hint=hint)
        columns[role] = column
    return columns


def import_plugins(modules: list[str] | None) -> None:
    """Import the modules of --plugin. Those of the current folder are found, as with `python -m`."""
    if not modules:
        return
    from fastmetrics._core.registry import import_plugin, list_metrics

    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    for module in modules:
        known = None if module in sys.modules else len(list_metrics().values())
        import_plugin(module, "--plugin")
        if known == len(list_metrics().values()):
            raise ValueError(
                f"--plugin: module {module!r} registers no metric; fastmetrics.extend.metric registers one"
            )


def was_given(context: typer.Context, parameter: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"
