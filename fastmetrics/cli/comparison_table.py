"""Comparisons as tables for people: on a terminal drawn, elsewhere the plain text of the comparison."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fastmetrics.cli.table import GAP, INDENT, column_width, folded, parted
from fastmetrics.cli.terminal import standard_output
from fastmetrics.engine.table import MAX_DRAWN_ROWS

if TYPE_CHECKING:
    from fastmetrics import Comparison
    from fastmetrics._core.comparison import Difference

BETTER, WORSE = "bold green", "bold red"
WORDS = ("metric", "label", "baseline", "other")
NOTES = "notes"


def print_comparison(comparison: "Comparison") -> None:
    """Differences that are significant stand out: green where the other model is better, red where it is worse.

    Where the window has no room for all columns, they stand in several tables.
    """
    if not sys.stdout.isatty():
        typer.echo(str(comparison))
        return
    console = standard_output()
    head, *more = comparison.head()
    console.print("", Text(f" {head}", "dim"), *(Padding(Text(line), INDENT) for line in more), "", sep="\n")
    header, columns = columns_of(comparison)
    names = {*WORDS}.union(*(one.slice for one in comparison))
    n_fixed = next((place for place, name in enumerate(header) if name not in names), len(header))
    widths = [column_width(name, column) for name, column in zip(header, columns, strict=True)]
    fixed = folded(widths[:n_fixed], console.width // 2)
    room = console.width - INDENT[-1] - sum(width + GAP for width in fixed)
    for part in parted(widths[n_fixed:], room):
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, GAP - 1, 0, 0), header_style="bold")
        for name, width in zip(header, fixed, strict=False):
            table.add_column(Text(name), style="cyan", max_width=width, overflow="fold", vertical="bottom")
        for place in part:
            table.add_column(Text(header[n_fixed + place]), justify="right", no_wrap=True, vertical="bottom")
        shown = [*columns[:n_fixed], *(columns[n_fixed + place] for place in part)]
        for cells in zip(*shown, strict=True):
            table.add_row(*cells)
        console.print(*([""] if part and part[0] else []), Padding(table, INDENT, expand=False), sep="\n")
    if len(comparison) > MAX_DRAWN_ROWS:
        console.print(f"\n {len(comparison) - MAX_DRAWN_ROWS:,} more rows are in a pipe and in --json", style="yellow")
    console.print()
    for line in [*comparison.foot(), *reasons(comparison)]:
        console.print(Padding(Text(line), INDENT), style="dim")


def columns_of(comparison: "Comparison") -> tuple[list[str], list[list[Text]]]:
    """The table's columns, marks beside the numbers they are of; notes stand below the table."""
    header, *rows = comparison.table()
    shown = list(comparison)[:MAX_DRAWN_ROWS]
    columns: list[list[Text]] = []
    kept: list[str] = []
    for name, *cells in zip(header, *rows[:MAX_DRAWN_ROWS], strict=True):
        if name == "":
            columns[-1] = [Text(f"{own.plain} {mark or ' '}") for own, mark in zip(columns[-1], cells, strict=True)]
        elif name != NOTES:
            styles = [style_of(one, comparison) if name == "difference" else "" for one in shown]
            columns.append([Text(cell, style) for cell, style in zip(cells, styles, strict=True)])
            kept.append(name)
    return kept, columns


def reasons(comparison: "Comparison") -> Iterator[str]:
    """Why numbers are missing, with the metrics that lack them."""
    found: dict[str, dict[str, None]] = {}
    for one in comparison:
        if one.reason is not None:
            found.setdefault(one.reason, {})[one.metric] = None
    for reason, metrics in found.items():
        yield f"{', '.join(metrics)}: {reason}"


def style_of(one: "Difference", comparison: "Comparison") -> str:
    """Is the other model better or worse, and surely so? A value that says nothing about models is neither."""
    from fastmetrics._core.group_wins import GOODNESS
    from fastmetrics._core.registry import parse

    if not comparison.is_significant(one):
        return ""
    goodness = GOODNESS.get(parse(one.metric).spec.best)
    if goodness is None or one.difference == 0:
        return "bold"
    return BETTER if goodness(one.value_b) > goodness(one.value_a) else WORSE
