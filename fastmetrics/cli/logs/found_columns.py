"""What a command says where no column was named: the columns of the log with their types, and a line to type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from fastmetrics.cli.input_names import STANDARD_INPUT
from fastmetrics.cli.terminal import is_for_people, message_of, program, quoted

MOST_COLUMNS = 40
# The types of labels, the likeliest first, and those of scores.
LABEL_TYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
SCORE_TYPES = ("float", "double", "halffloat")


def show_columns(command: str, paths: Sequence[str], arguments: dict[str, Any], n_scores: int) -> str:
    """What the error says of the columns of a log: the command with columns that fit. Pipes are not read.

    On a terminal, the columns are printed with their types, and the command. What the user typed is wrong usage also
    where the log cannot be opened: then the reason is said.
    """
    if STANDARD_INPUT in paths:
        return ""
    try:
        columns = read_columns(paths, arguments)
    except (OSError, ValueError, TypeError) as error:
        return f"; its columns cannot be listed: {message_of(error)}"
    line = line_to_type(command, paths, arguments, columns, n_scores)
    if not is_for_people():
        return f"; type, with the columns that you mean: {line}"
    width = max(map(len, columns), default=0)
    lines = [f"  {name:<{width}}  {kind}" for name, kind in list(columns.items())[:MOST_COLUMNS]]
    if len(columns) > MOST_COLUMNS:
        lines.append(f"  and {len(columns) - MOST_COLUMNS} more")
    where = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    text = [f"{where} has these columns:", *lines, "Type, with the columns that you mean:", f"  {line}"]
    typer.echo("\n".join(text), err=True)
    return ""


def read_columns(paths: Sequence[str], arguments: dict[str, Any]) -> dict[str, str]:
    """The columns of a log with their types, as Arrow names them."""
    from fastmetrics.engine.input.input_options import InputOptions
    from fastmetrics.engine.input.sources import open_source

    options: dict[str, Any] = {name: arguments.get(name) for name in InputOptions._fields}
    options["missing_columns"] = "null"  # all columns are listed
    source = open_source(list(paths), InputOptions(**options))
    kinds = {name: source.type_of(name) for name in source.column_names}
    types = {name: getattr(kind, "value_type", kind) if is_dictionary(kind) else kind for name, kind in kinds.items()}
    return {name: "" if kind is None else str(kind) for name, kind in types.items()}


def is_dictionary(kind: Any) -> bool:
    return str(kind).startswith("dictionary<")


def line_to_type(
    command: str, paths: Sequence[str], arguments: dict[str, Any], columns: dict[str, str], n_scores: int
) -> str:
    """The command with the columns that were named; of the others the likeliest label, and the first of floats."""
    labels = arguments.get("label") or [name for kind in LABEL_TYPES for name, own in columns.items() if own == kind]
    scores = list(arguments.get("score") or ())
    n_scores = max(n_scores, len(scores))
    scores += [name for name, kind in columns.items() if kind in SCORE_TYPES and name not in (*scores, *labels[:1])]
    scores += [f"SCORE{number}" for number in range(len(scores) + 1, n_scores + 1)]
    words = [program(), command, *map(quoted, paths), "--label", quoted(next(iter(labels), "LABEL"))]
    return " ".join([*words, *(word for name in scores[:n_scores] for word in ("--score", quoted(name)))])
