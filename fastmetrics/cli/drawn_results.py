"""How reports and comparisons are printed, by every command that has one."""

import sys
from collections.abc import Callable
from typing import Any

import typer

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.cli.outputs import Outputs
from fastmetrics.reporting.tables import Document
from fastmetrics.reporting.text_tables import document_text


class Tables(NamedTuple):
    """How a result is drawn on a terminal, and the document that is written as text; both take `digits`."""

    draw: Callable[..., None]
    document: Callable[..., Document]


def print_result(result: Any, outputs: Outputs, tables: Tables) -> None:
    """Print a result in the layout that was asked for; a table is drawn if standard output is a terminal."""
    digits: dict[str, int] = {} if outputs.digits is None else {"digits": outputs.digits}
    if outputs.layout == "csv":
        typer.echo(result.to_csv(), nl=False)
    elif outputs.layout == "markdown":
        typer.echo(result.to_markdown(**digits), nl=False)
    elif sys.stdout.isatty():
        tables.draw(result, **digits)
    else:
        typer.echo(document_text(tables.document(result, **digits)))
