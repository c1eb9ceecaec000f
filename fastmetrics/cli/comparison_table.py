"""Comparisons as tables for people: on a terminal drawn, elsewhere the plain text of the comparison."""

import sys
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fastmetrics.cli.terminal import standard_output
from fastmetrics.engine.table import MAX_DRAWN_ROWS

if TYPE_CHECKING:
    from fastmetrics import Comparison
    from fastmetrics._core.comparison import Difference

INDENT = (0, 0, 0, 1)
BETTER, WORSE = "bold green", "bold red"
WORDS = ("metric", "label", "baseline", "other", "notes", "")


def print_comparison(comparison: "Comparison") -> None:
    """Differences that are significant stand out: green where the other model is better, red where it is worse."""
    if not sys.stdout.isatty():
        typer.echo(str(comparison))
        return
    console = standard_output()
    header, *rows = comparison.table()
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    words = {*WORDS}.union(*(one.slice for one in comparison))
    for name in header:
        is_word = name in words
        table.add_column(
            Text(name), style="cyan" if name == "metric" else None, justify="left" if is_word else "right",
            overflow="fold", vertical="bottom",
        )  # fmt: skip
    marked = header.index("difference") if "difference" in header else -1
    for one, row in zip(comparison, rows[:MAX_DRAWN_ROWS], strict=False):
        style = mark_of(one) if comparison.is_significant(one) else ""
        table.add_row(*(Text(cell, style if place == marked else "") for place, cell in enumerate(row)))
    head, *more = comparison.head()
    console.print("", Text(f" {head}", "dim"), *(Padding(Text(line), INDENT) for line in more), "", sep="\n")
    console.print(Padding(table, INDENT, expand=False))
    if len(rows) > MAX_DRAWN_ROWS:
        console.print(f"\n {len(rows) - MAX_DRAWN_ROWS:,} more rows are in a pipe and in --json", style="yellow")
    for line in comparison.foot():
        console.print(f" {line}", style="dim")


def mark_of(one: "Difference") -> str:
    """Is the other model better or worse? A value that says nothing about models is neither."""
    from fastmetrics._core.group_wins import GOODNESS
    from fastmetrics._core.registry import parse

    goodness = GOODNESS.get(parse(one.metric).spec.best)
    if goodness is None or one.difference == 0:
        return "bold"
    return BETTER if goodness(one.value_b) > goodness(one.value_a) else WORSE
