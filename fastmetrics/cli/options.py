"""Options that several commands have, each declared once; those of texts alone are in `cli/text/systems.py`."""

import os
import sys
from typing import Annotated, Any, Literal

import typer

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
LabelColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of labels: 0/1, -1/+1 or bool; any numbers for metrics of target real; the references for "
        "target text (default: column reference); the classes for target partition (default: column label). "
        "May be repeated: every score is compared with every label.",
    ),
]
ScoreColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of predictions; the hypotheses for target text (default: column hypothesis), the clusters "
        "for target partition (default: column cluster). May be repeated, for several models.",
    ),
]
PredictionColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of predicted labels, of the type of the labels: integers, strings or dates, any number of "
        "classes. For metrics of target prediction. May be repeated, for several models.",
    ),
]
ProbabilityColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN,...",
        help="The probabilities of several classes: a column of lists, or the columns of the classes, separated by "
        "commas. For metrics of target probabilities. May be repeated, for several models.",
    ),
]
GroupColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of group keys, such as users or queries: integers, strings, dates, times or floats. "
        "May be repeated, for keys of several columns.",
    ),
]
WeightColumn = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of row weights.")]
RowFilters = Annotated[
    str | None,
    typer.Option(
        metavar="CONDITION",
        help="Which rows are evaluated: a condition in SQL, such as \"clicked = 1 and country in ('DE', 'FR')\". "
        "Rows for which it is false or null are left out. Wherever a column is named, an expression may stand too.",
        show_default=False,
    ),
]
SliceColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="A slice for every value of the column, beside all rows. "
        "May be repeated, for every combination of values.",
    ),
]
GroupingSets = Annotated[
    list[str] | None,
    typer.Option(
        "--grouping-set",
        metavar="COLUMN,...",
        help="A slice for every combination of values of these columns, separated by commas. May be repeated: "
        "all sets are computed in one scan, as in --grouping-set channel --grouping-set channel,day.",
    ),
]
LeastRows = Annotated[
    int, typer.Option("--min-rows", metavar="N", min=0, help="Leave out slices of fewer rows; they are counted.")
]
SortedBy = Annotated[
    str | None,
    typer.Option("--sort", metavar="METRIC", help="Slices in the order of this metric, the worst first."),
]
RoleColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="ROLE=COLUMN",
        help="The column of another role that a metric reads, such as reward=revenue; see `fastmetrics list`. "
        "May be repeated.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        "--metric",
        "-m",
        metavar="NAME,...",
        help="See `fastmetrics list`; NAME(parameter=value) sets a parameter. May be repeated. "
        "Default: all of target binary that need no group, and with --group also those that do; to compare, the "
        "metrics of --fail-if, or else those of them that have a better direction.",
    ),
]
Tasks = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        metavar="TASK",
        help="A question of the log with columns of its own: 'cvr: label=conversion; score=pcvr'. What it does not "
        "name is that of the other options. May be repeated: all tasks share one scan.",
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
ResamplingUnits = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="The resampling unit: a column as for groups, which may be repeated, or 'row'. "
        "Default: the group, otherwise rows.",
    ),
]
IntervalMethod = Annotated[
    Literal["bootstrap", "normal", "delong"],
    typer.Option(help="Percentiles of the resampled values, their standard error, or DeLong's formula (for AUC)."),
]
Replicates = Annotated[int, typer.Option(metavar="N", min=1, help="How many times units are resampled.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Another seed draws other samples.")]
Threads = Annotated[int | None, typer.Option(metavar="N", min=1, help="Default: all cores.")]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="For example 2GiB or 500MB. When half of it is used, rows go to a spill file. "
        "Default: half of the free memory.",
    ),
]
SpillFolder = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="The folder of the spill file, if one is needed. Default: the system's folder."),
]
InvalidRows = Annotated[
    Literal["raise", "drop"],
    typer.Option(help="A null or NaN in a column that is read: raise an error, or drop the row and count it."),
]
JsonFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="Also write the result as JSON; '-' prints only JSON.")
]
HtmlFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="Also write the result as a page with plots; it needs no network.")
]
OutputFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Also write the result, with all digits, as the suffix says: .csv, .md, .parquet, .json or .html. "
        "May be repeated.",
    ),
]
NoClobber = Annotated[
    bool, typer.Option("--no-clobber", help="A file to write that exists is an error, before anything is read.")
]
ResultFormat = Annotated[
    Literal["table", "csv", "markdown", "json"] | None,
    typer.Option("--format", help="How to print the result. Default: table.", show_default=False),
]
Digits = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=17, help="Digits of the values in a printed table. Default: 5 on a terminal, else all."
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="Print neither the result nor progress: for files and exit codes.")
]
PrintJson = Annotated[bool, typer.Option("--json", help="Short for --format json: all digits.")]
LogUsers = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Users to draw from, by a power law. Default: rows / 10.")
]


def read_probabilities(probabilities: list[str] | None) -> list[list[str]] | None:
    """The columns of every model of --probabilities; None if there is none."""
    return [split_columns(text) for text in probabilities] if probabilities else None


def read_slices(by: list[str] | None, grouping_sets: list[str] | None) -> list[Any] | None:
    """The columns of --by, or the sets of --grouping-set; None if there are none."""
    if by and grouping_sets:
        raise typer.BadParameter("it has all columns of slices: leave out --by", param_hint="--grouping-set")
    return [split_columns(own) for own in grouping_sets] if grouping_sets else by or None


def split_columns(text: str) -> list[str]:
    """The columns of a model that are separated by commas."""
    return [name.strip() for name in text.split(",")]


def read_roles(roles: list[str] | None) -> dict[str, str]:
    """The columns of --role by role."""
    columns = {}
    for text in roles or ():
        role, _, column = text.partition("=")
        if not role or not column:
            raise typer.BadParameter(f"type ROLE=COLUMN, such as reward=revenue; found {text!r}", param_hint="--role")
        if role in columns:
            raise typer.BadParameter(f"role {role} is given twice", param_hint="--role")
        columns[role] = column
    return columns


def import_plugins(modules: list[str] | None) -> None:
    """Import the modules of --plugin. Those of the current folder are found, as with `python -m`."""
    if not modules:
        return
    from fastmetrics._core.registry import describe_metrics, import_plugin

    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    for module in modules:
        known = None if module in sys.modules else len(describe_metrics())
        import_plugin(module, "--plugin")
        if known == len(describe_metrics()):
            raise ValueError(
                f"--plugin: module {module!r} registers no metric; fastmetrics.extend.metric registers one"
            )


def was_given(context: typer.Context, parameter: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def check_json_layout(context: typer.Context, layout: str, *, as_json: bool) -> None:
    """--json is short for --format json: with another format it is wrong usage."""
    if as_json and layout != "json" and was_given(context, "layout"):
        raise typer.BadParameter(f"it is short for --format json, not for {layout}", param_hint="--json")
