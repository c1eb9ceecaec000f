"""How the commands for logs read their input: standard input, stores, snapshots, formats and their options."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from fastmetrics.cli.completion import complete_column_type
from fastmetrics.cli.input_names import STANDARD_INPUT

Delimiter = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="What divides the fields of CSV. Default: a comma.")
]
Quote = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="The quote of CSV; '' for none. Default: a double quote.")
]
NoHeader = Annotated[bool, typer.Option("--no-header", help="CSV begins with a row: columns are f0, f1 and so on.")]
NullValues = Annotated[
    list[str] | None,
    typer.Option("--null-value", metavar="TEXT", help="A text of CSV that means null. May be repeated."),
]
DecimalPoint = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="The decimal point of CSV. Default: a full stop.")
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The encoding of CSV or JSON lines, such as latin-1 or utf-16. Default: utf-8."),
]
ColumnTypes = Annotated[
    list[str] | None,
    typer.Option(
        "--column-type",
        metavar="COLUMN=TYPE",
        autocompletion=complete_column_type,
        help="The type of a column of CSV or JSON lines, such as user_id=string: 007 then stays a text. Types are "
        "string, int64, float32, double, bool, date, timestamp, decimal(10,2). May be repeated.",
    ),
]


def read_format_options(
    delimiter: str | None,
    quote: str | None,
    no_header: bool,
    null_value: list[str] | None,
    column_type: list[str] | None,
    decimal_point: str | None = None,
    encoding: str | None = None,
) -> dict[str, Any] | None:
    """The options of a format, as `fastmetrics.evaluate` takes them; None if there are none."""
    given: dict[str, Any] = {}
    if delimiter is not None:
        given["delimiter"] = "\t" if delimiter == "\\t" else delimiter
    if quote is not None:
        given["quote"] = quote or None
    if no_header:
        given["header"] = False
    if null_value:
        given["null_values"] = list(null_value)
    if decimal_point is not None:
        given["decimal_point"] = decimal_point
    if encoding is not None:
        given["encoding"] = encoding
    if column_type:
        types: dict[str, str] = {}
        for text in column_type:
            column, _, name = text.rpartition("=")
            if not column or not name:
                example = f"type COLUMN=TYPE, such as user_id=string; found {text!r}"
                raise typer.BadParameter(example, param_hint="--column-type")
            if types.get(column, name) != name:
                both = f"column {column} is given two types, {types[column]} and {name}"
                raise typer.BadParameter(both, param_hint="--column-type")
            types[column] = name
        given["column_types"] = types
    return given or None


def read_data(paths: Sequence[str]) -> Any:
    """What a command evaluates: its paths, or standard input."""
    if STANDARD_INPUT not in paths:
        return list(paths)
    if len(paths) > 1:
        raise typer.BadParameter("standard input is the whole log: name it alone, or name files", param_hint="PATH")
    if sys.stdin is None or sys.stdin.isatty():
        what = "closed" if sys.stdin is None else "a terminal"
        raise typer.BadParameter(f"standard input is {what}: pipe a log into the command", param_hint="PATH")
    return sys.stdin.buffer


def read_storage_options(pairs: list[str] | None) -> dict[str, str] | None:
    """The values of --storage-option by their keys; None if there are none. Values stand in no message."""
    options: dict[str, str] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise typer.BadParameter("type KEY=VALUE, such as region=eu-west-1", param_hint="--storage-option")
        if key in options:
            raise typer.BadParameter(f"{key} is given twice", param_hint="--storage-option")
        options[key] = value
    return options or None
