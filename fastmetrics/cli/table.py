"""Reports as tables for people: digits aligned on the point, an undefined value with its reason."""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fastmetrics.cli.terminal import rate, standard_output

if TYPE_CHECKING:
    from fastmetrics import Report
    from fastmetrics.engine.report import Result

# Digits that people compare; the rest of the exact value is there to be copied.
BRIGHT_DECIMALS = 6


def print_report(report: "Report") -> None:
    """On a terminal a table, elsewhere the plain text of the report."""
    if not sys.stdout.isatty():
        typer.echo(str(report))
        return
    console = standard_output()
    print_heading(console, report)
    table = metric_table()
    table.add_column("value", no_wrap=True)
    table.add_column("computed from", style="dim")
    for result, value in zip(report, aligned([result.value for result in report]), strict=True):
        table.add_row(row_name(report, result), value, computed_from(result))
    console.print(table)
    print_notes(console, report)


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
    print_notes(console, titled_reports[0][1])


def metric_table() -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("metric", style="cyan", overflow="fold")
    return table


def print_heading(console: Console, report: "Report") -> None:
    roles = [Text.assemble((f"{role} ", "dim"), str(name)) for role, name in report.columns.items() if name]
    console.print("", Text(" ") + Text("  ").join(roles), "", sep="\n")


def row_name(report: "Report", result: "Result") -> str:
    """The metric; with the score and the slice where results differ in them."""
    parts = [result.metric]
    if len({other.score for other in report}) > 1:
        parts.append(result.score)
    parts.extend(f"{column}={value}" for column, value in result.slice.items())
    return " ".join(parts)


def aligned(values: Sequence[float]) -> list[Text]:
    """Shortest exact decimals, padded so that their points stand in one column."""
    width = max((len(repr(float(value)).partition(".")[0]) for value in values if math.isfinite(value)), default=0)
    return [number(value, width) for value in values]


def number(value: float, width: int) -> Text:
    if math.isnan(value):
        return Text("undefined", style="bold yellow")
    before, point, after = repr(float(value)).partition(".")
    bright = len(after) if "e" in after else BRIGHT_DECIMALS
    return Text.assemble((before.rjust(width) + point + after[:bright], "bold"), (after[bright:], "dim"))


def computed_from(result: "Result") -> str:
    """Rows or groups that the value stands on, or why there is none."""
    if math.isnan(result.value) and result.reason:
        return result.reason
    coverage = result.coverage
    if "groups_used" in coverage:
        return f"{coverage['groups_used']:,} of {counted(coverage['groups'], 'group')}"
    rows = counted(coverage["rows"], "row") if "rows" in coverage else ""
    return f"{rows}, {coverage['positives']:,} positive" if "positives" in coverage else rows


def counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def print_notes(console: Console, report: "Report") -> None:
    """What was left out and why, and how long it took."""
    console.print()
    for line in [*dropped_lines(report), *left_out_lines(report)]:
        console.print(Text(" ") + line)
    if report.seconds:
        speed = f"{counted(report.rows, 'row')} in {report.seconds:.2f} s ({rate(report.rows, report.seconds)})"
        console.print(f" {speed}", style="dim")


def dropped_lines(report: "Report") -> Iterator[Text]:
    for reason, rows in report.dropped.items():
        yield Text.assemble(("dropped ", "yellow"), f"{rows:,} of {counted(report.rows, 'row')}: {reason}")


def left_out_lines(report: "Report") -> Iterator[Text]:
    """One line per reason, with the metrics it concerns: variants of a metric leave out the same groups."""
    concerned: dict[str, list[str]] = {}
    for result in report:
        for line in left_out(result.coverage):
            concerned.setdefault(line, []).append(result.metric)
    for line, metrics in concerned.items():
        yield Text.assemble((f"{', '.join(metrics)}: ", "cyan"), line)


def left_out(coverage: Mapping[str, Any]) -> Iterator[str]:
    rows_of = coverage.get("rows_left_out", {})
    for reason, groups in coverage.get("groups_left_out", {}).items():
        if groups:
            rows = f" ({counted(rows_of[reason], 'row')})" if reason in rows_of else ""
            yield f"{counted(groups, 'group')}{rows} left out, {reason}"
    if coverage.get("rows_clipped"):
        yield f"{counted(coverage['rows_clipped'], 'row')} clipped"
