"""What the shell proposes: metrics, columns of the log on the line, values of columns in conditions.

Nothing is said of what cannot be read: then nothing is proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import typer

FIRST_ROWS = 65_536  # of the log, whose values are proposed
MOST_VALUES = 100
COLUMN_TYPES = ("string", "int64", "float32", "double", "bool", "date", "timestamp", "decimal(10,2)")
# A condition up to a column, a comparison and the beginning of a text.
OPEN_TEXT = re.compile(
    r"(?P<before>.*?(?P<column>[A-Za-z_]\w*)\s*(?:=|!=|<>|in\s*\((?:\s*'[^']*'\s*,)*)\s*)'?(?P<text>[^'=<>]*)$", re.S
)
LAST_NAME = re.compile(r"(?P<before>.*?)(?P<name>[A-Za-z_]?\w*)$", re.S)


def complete_metrics(context: typer.Context, incomplete: str) -> list[str]:
    """The names of metrics; after a comma, the next one."""
    import fastmetrics

    before, comma, _ = incomplete.rpartition(",")
    names = [spec.example for spec in fastmetrics.list_metrics().values()]
    return sorted(f"{before}{comma}{name}" for name in dict.fromkeys(names))


def complete_measures(context: typer.Context, incomplete: str) -> list[str]:
    """The values of trec_eval's measures, and sets of measures."""
    import fastmetrics

    return ["official", "set", "all_trec", *fastmetrics.trec_metric_names("all_trec")]


def complete_gate(context: typer.Context, incomplete: str) -> list[str]:
    """The metric of a gate."""
    return [] if " " in incomplete else complete_metrics(context, incomplete)


def complete_columns(context: typer.Context, incomplete: str) -> list[str]:
    """The columns of the log; after a comma, the next one."""
    before, comma, _ = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in columns_of_log(context)]


def complete_condition(context: typer.Context, incomplete: str) -> list[str]:
    """The columns of the log, and after a column and = its values."""
    columns = columns_of_log(context)
    opened = OPEN_TEXT.match(incomplete)
    if opened is not None and opened["column"] in columns:
        values = values_of_column(context, opened["column"])
        return [f"{opened['before']}{value}" for value in values]
    last = LAST_NAME.match(incomplete)
    return [] if last is None else [f"{last['before']}{name}" for name in columns]


def complete_role(context: typer.Context, incomplete: str) -> list[str]:
    """The roles of metrics, of plugins too, that have no option, and after = the columns of the log."""
    import fastmetrics
    from fastmetrics._core.kinds import MODEL_ROLES
    from fastmetrics.engine.evaluation.options import BY_NAME

    role, equals, column = incomplete.partition("=")
    if equals:
        return [f"{role}={name}" for name in complete_columns(context, column)]
    with suppress(Exception):
        list(map(import_module, context.params.get("plugin") or ()))
    roles = {own for spec in fastmetrics.list_metrics().values() for own in spec.roles}
    return [f"{own}=" for own in sorted(roles - {*MODEL_ROLES, *BY_NAME})]


def complete_truth(context: typer.Context, incomplete: str) -> list[str]:
    """The roles of the truth table."""
    from fastmetrics.engine.evaluation.values import TRUTH_ROLES

    return [] if "=" in incomplete else [f"{role}=" for role in TRUTH_ROLES]


def complete_margin(context: typer.Context, incomplete: str) -> list[str]:
    """The metric of a margin."""
    return [] if "=" in incomplete else [f"{name}=" for name in complete_metrics(context, incomplete)]


def complete_column_type(context: typer.Context, incomplete: str) -> list[str]:
    """The columns of the log, and after = the types."""
    column, equals, _ = incomplete.rpartition("=")
    if equals:
        return [f"{column}={name}" for name in COLUMN_TYPES]
    return [f"{name}=" for name in columns_of_log(context)]


def complete_task(context: typer.Context, incomplete: str) -> list[str]:
    """The keys of a task after its name, and after = what the key has."""
    from fastmetrics.engine.evaluation.options import OF_TASKS

    name, colon, fields = incomplete.partition(":")
    if not colon:
        return []
    before, semicolon, field = fields.rpartition(";")
    key, equals, value = field.partition("=")
    start = f"{name}:{before}{semicolon}{' ' * (len(field) - len(field.lstrip()) or 1)}"
    if not equals:
        return [f"{start}{own.name}=" for own in OF_TASKS if own.name != "roles"]
    complete = {"metrics": complete_metrics, "where": complete_condition}.get(key.strip(), complete_columns)
    return [f"{name}:{before}{semicolon}{key}={found}" for found in complete(context, value)]


def columns_of_log(context: typer.Context) -> list[str]:
    source = open_log(context)
    return [] if source is None else list(source.column_names)


def values_of_column(context: typer.Context, column: str) -> Iterator[str]:
    """The values of a column in the first rows, as conditions have them."""
    source = open_log(context)
    seen: dict[Any, None] = {}
    rows = 0
    with suppress(Exception):
        for batch in source.batches([column]):
            seen |= dict.fromkeys(batch.column(0).unique().to_pylist())
            rows += batch.num_rows
            if rows >= FIRST_ROWS or len(seen) > MOST_VALUES:
                break
    for value in sorted((own for own in seen if own is not None), key=str)[:MOST_VALUES]:
        yield "'{}'".format(value.replace("'", "''")) if isinstance(value, str) else str(value)


def open_log(context: typer.Context) -> Any:
    """The log whose paths and options are on the line, or None."""
    from fastmetrics.engine.input.input_options import InputOptions
    from fastmetrics.engine.input.sources import open_source

    paths: Sequence[str] = [path for path in context.params.get("paths") or () if path != "-"]
    if not paths:
        return None
    with suppress(Exception):
        given = context.params.get
        csv = {"delimiter": given("delimiter"), "encoding": given("encoding"), "header": not given("no_header")}
        options = {name: value for name, value in csv.items() if value not in (None, True)}
        return open_source(list(paths), InputOptions(format=given("format"), format_options=options or None))
    return None
