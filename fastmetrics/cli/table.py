"""Reports as tables for people: digits aligned on the point, an undefined value with its reason."""

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fastmetrics.cli.terminal import rate, standard_output
from fastmetrics.engine.table import MAX_DRAWN_ROWS, UNDEFINED, counted, interval_text, left_out
from fastmetrics.engine.table import text as shown

if TYPE_CHECKING:
    from fastmetrics import Report
    from fastmetrics.engine.report import Result
    from fastmetrics.engine.table import Cell
    from fastmetrics.engine.table import Table as Shape

# Digits that people compare; the rest of the exact value is there to be copied.
BRIGHT_DECIMALS = 6
# Outside of these a value of so many decimals has too few digits to compare, or too many to fit.
SMALLEST_ROUNDED, LARGEST_ROUNDED = 1e-3, 1e6
# Between the columns of a table with many.
GAP = 2
INDENT = (0, 0, 0, 1)
# A column of names is not folded to less.
NARROWEST_NAMES = 8


def print_report(report: "Report") -> None:
    """On a terminal a table, elsewhere the plain text of the report."""
    if not sys.stdout.isatty():
        typer.echo(str(report))
        return
    console = standard_output()
    print_heading(console, report)
    shape = report.table()
    if shape.n_fixed:
        print_side_by_side(console, shape)
        print_notes(console, report, shape.notes)
        return
    table = metric_table()
    table.add_column("value", no_wrap=True)
    table.add_column("computed from", style="dim")
    for result, value in zip(report, aligned([result.value for result in report]), strict=True):
        table.add_row(row_name(result), value, Text(computed_from(result)))
    console.print(table)
    print_notes(console, report, left_out_notes(report))


def print_comparison(titled_reports: Sequence[tuple[str, "Report"]]) -> None:
    """The same metrics of several reports side by side."""
    console = standard_output()
    table = metric_table()
    for title, _ in titled_reports:
        table.add_column(title, no_wrap=True)
    names = [result.metric for result in titled_reports[0][1]]
    columns = [aligned([result.value for result in report]) for _, report in titled_reports]
    for name, *values in zip(names, *columns, strict=True):
        table.add_row(name, *values)
    console.print(table)
    print_notes(console, titled_reports[0][1], left_out_notes(titled_reports[0][1]))


def print_side_by_side(console: Console, shape: "Shape") -> None:
    """A row for every slice, score and label, the metrics side by side, in as many tables as the window asks for.

    Values have all their digits where one table has room for them, else six decimals.
    """
    n_rows = len(shape.rows)
    shape = shape._replace(rows=shape.rows[:MAX_DRAWN_ROWS])
    n_fixed = shape.n_fixed
    sections = set(shape.sections)
    heads = [*shape.header[:n_fixed], *map(broken_name, shape.header[n_fixed:])]
    names = list(zip(*shape.texts(), strict=True))[:n_fixed]
    values = list(zip(*shape.rows, strict=True))[n_fixed:]
    name_widths = folded([column_width(*column) for column in zip(heads, names, strict=False)], console.width // 2)
    room = console.width - sum(width + GAP for width in name_widths)
    for spell in (exactly, rounded):
        columns = [aligned(column, spell) for column in values]
        parts = parted([column_width(*column) for column in zip(heads[n_fixed:], columns, strict=True)], room)
        if len(parts) == 1:
            break
    for part in parts:
        table = names_table(shape, heads, name_widths)
        for place in part:
            table.add_column(Text(heads[n_fixed + place]), no_wrap=True, vertical="bottom")
        for row in range(len(shape.rows)):
            if row in sections:
                table.add_section()
            table.add_row(*(Text(column[row]) for column in names), *(columns[place][row] for place in part))
        console.print(*([""] if part[0] else []), Padding(table, INDENT, expand=False), sep="\n")
    if n_rows > len(shape.rows):
        console.print(f"\n {n_rows - len(shape.rows):,} more rows are in a pipe and in --json", style="yellow")
    if spell is rounded:
        console.print("\n rounded to fit the window; every digit is in a pipe and in --json", style="dim")


def names_table(shape: "Shape", heads: Sequence[str], widths: Sequence[int]) -> Table:
    """A table with the columns that say what a row is of."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, GAP - 1, 0, 0), header_style="bold")
    for place, width in enumerate(widths):
        if any(isinstance(row[place], int) for row in shape.rows):
            table.add_column(Text(heads[place]), style="dim", justify="right", no_wrap=True, vertical="bottom")
        else:
            table.add_column(Text(heads[place]), style="cyan", max_width=width, overflow="fold", vertical="bottom")
    return table


def broken_name(name: str) -> str:
    """A metric's parameters below its name, for the head of a narrow column."""
    return re.sub(r",\s*", ",\n ", name.replace("(", "\n(", 1))


def column_width(head: str, cells: Sequence[str | Text]) -> int:
    return max(cell_len(line) for text in (head, *map(str, cells)) for line in text.split("\n"))


def folded(widths: Sequence[int], room: int) -> list[int]:
    """The widths of columns of names where the widest are folded so that all of them have room."""
    widest = max(widths)
    while sum(min(width, widest) + GAP for width in widths) > room and widest > NARROWEST_NAMES:
        widest -= 1
    return [min(width, widest) for width in widths]


def parted(widths: Sequence[int], room: int) -> list[list[int]]:
    """Columns in order, as many together as there is room for, and at least one."""
    parts: list[list[int]] = [[]]
    left = room
    for place, width in enumerate(widths):
        if parts[-1] and width + GAP > left:
            parts.append([])
            left = room
        parts[-1].append(place)
        left -= width + GAP
    return parts


def rounded(value: float) -> str:
    """Six decimals, or as many digits where the decimals would be too few of them."""
    if value == 0 or SMALLEST_ROUNDED <= abs(value) < LARGEST_ROUNDED:
        return f"{value:.{BRIGHT_DECIMALS}f}"
    return repr(float(f"{value:.{BRIGHT_DECIMALS}g}"))


def metric_table() -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("metric", style="cyan", overflow="fold")
    return table


def print_heading(console: Console, report: "Report") -> None:
    roles = [Text.assemble((f"{role} ", "dim"), names) for role, names in report.roles()]
    console.print("", Text(" ") + Text("  ").join(roles), "", sep="\n")


def row_name(result: "Result") -> Text:
    """The metric, with the slice where the one slice of the report is not all rows."""
    return Text(" ".join([result.metric, *(f"{column}={value}" for column, value in result.slice.items())]))


def exactly(value: float) -> str:
    """The shortest decimals that mean exactly the value."""
    return repr(value)


def aligned(values: Sequence["Cell"], spell: Callable[[float], str] = exactly) -> list[Text]:
    """Decimals, padded so that their points stand in one column; nothing for None."""
    texts = [spell(float(value)) if isinstance(value, (int, float)) else "" for value in values]
    width = max((len(text.partition(".")[0]) for text in texts if text not in ("nan", "inf", "-inf")), default=0)
    return [number(text, width) for text in texts]


def number(text: str, width: int) -> Text:
    if text == "nan":
        return Text(UNDEFINED, style="bold yellow")
    before, point, after = text.partition(".")
    bright = len(after) if "e" in after else BRIGHT_DECIMALS
    return Text.assemble((before.rjust(width) + point + after[:bright], "bold"), (after[bright:], "dim"))


def computed_from(result: "Result") -> str:
    """Rows or groups that the value stands on, or why there is none."""
    if math.isnan(result.value) and result.reason:
        return result.reason
    stands_on = used(result)
    if result.interval is None:
        return stands_on
    return f"{interval_text(result)}{f'; {stands_on}' if stands_on else ''}"


def used(result: "Result") -> str:
    coverage = result.coverage
    if "groups_used" in coverage:
        groups = f"{coverage['groups_used']:,} of {counted(coverage['groups'], 'group')}"
        rows = coverage.get("rows_per_group")
        return groups if rows is None else f"{groups} of {shown(rows)} rows"
    rows = counted(coverage["rows"], "row") if "rows" in coverage else ""
    return f"{rows}, {coverage['positives']:,} positive" if "positives" in coverage else rows


def print_notes(console: Console, report: "Report", notes: Iterable[tuple[str, str]]) -> None:
    """What was left out and why, and how long it took."""
    console.print()
    subjects = (Text.assemble((f"{subject}: ", "cyan"), text) for subject, text in notes)
    for line in [*dropped_lines(report), *subjects]:
        console.print(Padding(line, INDENT, expand=False))
    if report.seconds:
        speed = f"{counted(report.rows, 'row')} in {report.seconds:.2f} s ({rate(report.rows, report.seconds)})"
        console.print(f" {speed}", style="dim")


def dropped_lines(report: "Report") -> Iterator[Text]:
    for reason, rows in report.dropped.items():
        yield Text.assemble(("dropped ", "yellow"), f"{rows:,} of {counted(report.rows, 'row')}: {reason}")


def left_out_notes(report: "Report") -> Iterator[tuple[str, str]]:
    """One line per reason, with the metrics it concerns: variants of a metric leave out the same groups."""
    concerned: dict[str, list[str]] = {}
    for result in report:
        for line in left_out(result.coverage):
            concerned.setdefault(line, []).append(result.metric)
    for line, metrics in concerned.items():
        yield ", ".join(metrics), line
