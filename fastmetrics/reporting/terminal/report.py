"""Reports as tables on a terminal: decimal points are aligned, an undefined value has its reason."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fastmetrics._core.grouping import grouped
from fastmetrics.reporting.number_formats import UNDEFINED, counted, format_coverage_value, format_row_rate
from fastmetrics.reporting.report_notes import Note, interval_note, left_out_texts
from fastmetrics.reporting.report_text import MAX_TABLE_ROWS, column_roles, report_table, task_facts
from fastmetrics.reporting.terminal.console import (
    GAP,
    INDENT,
    add_name_column,
    borderless_table,
    column_width,
    dense_table,
    folded_widths,
    split_columns,
    standard_output,
)

if TYPE_CHECKING:
    from fastmetrics.engine.results.report import Report, Result
    from fastmetrics.reporting.report_text import Cell, ReportTable

# Decimals for comparing values. The others are dimmed; they are there to be copied.
BRIGHT_DECIMALS = 6
# Values outside of these have too few digits in so many decimals, or too many to fit.
MIN_ROUNDED, MAX_ROUNDED = 1e-3, 1e6


def print_report(report: "Report") -> None:
    """Draw the report as a table."""
    console = standard_output()
    print_heading(console, report)
    cells = report_table(report)
    if cells.n_fixed:
        print_wide_table(console, cells)
        print_notes(console, report, cells.notes)
    else:
        print_metric_rows(console, report)
    if report.confusion_matrices or report.label_tables:
        from fastmetrics.reporting.class_tables import class_lines

        for line in class_lines(report):
            console.print(Text(line), no_wrap=True, overflow="ellipsis")


def print_metric_rows(console: Console, report: "Report") -> None:
    """A row for every metric, with what it is computed from."""
    table = metric_table()
    table.add_column("value", no_wrap=True)
    table.add_column("computed from", style="dim")
    for result, value in zip(report, aligned_values([result.value for result in report]), strict=True):
        table.add_row(row_name(result), value, Text(computed_from(result)))
    console.print(table)
    print_notes(console, report, left_out_notes(report))


def print_reports(titled_reports: Sequence[tuple[str, "Report"]]) -> None:
    """Draw the same metrics of several reports side by side."""
    console = standard_output()
    table = metric_table()
    for title, _ in titled_reports:
        table.add_column(title, no_wrap=True)
    names = [result.metric for result in titled_reports[0][1]]
    columns = [aligned_values([result.value for result in report]) for _, report in titled_reports]
    for name, *values in zip(names, *columns, strict=True):
        table.add_row(name, *values)
    console.print(table)
    print_notes(console, titled_reports[0][1], left_out_notes(titled_reports[0][1]))


def print_wide_table(console: Console, cells: "ReportTable") -> None:
    """A row for every slice, score and label, a column for every metric; several tables if the window is too narrow.

    Values have all digits if they fit into one table, otherwise six decimals.
    """
    n_rows = len(cells.rows)
    cells = cells._replace(rows=cells.rows[:MAX_TABLE_ROWS])
    n_fixed = cells.n_fixed
    sections = set(cells.sections)
    headers = [*cells.header[:n_fixed], *map(broken_name, cells.header[n_fixed:])]
    names = list(zip(*cells.texts(), strict=True))[:n_fixed]
    values = list(zip(*cells.rows, strict=True))[n_fixed:]
    name_widths = [column_width(*column) for column in zip(headers, names, strict=False)]
    name_widths = folded_widths(name_widths, console.width // 2)
    available = console.width - sum(width + GAP for width in name_widths)
    for format_number in (format_exact, format_rounded):
        columns = [aligned_values(column, format_number) for column in values]
        widths = [column_width(*column) for column in zip(headers[n_fixed:], columns, strict=True)]
        tables = split_columns(widths, available)
        if len(tables) == 1:
            break
    for metric_numbers in tables:
        table = table_of_names(cells, headers, name_widths)
        for number in metric_numbers:
            table.add_column(Text(headers[n_fixed + number]), no_wrap=True, vertical="bottom")
        for row in range(len(cells.rows)):
            if row in sections:
                table.add_section()
            fixed_cells = (Text(column[row]) for column in names)
            table.add_row(*fixed_cells, *(columns[number][row] for number in metric_numbers))
        blank_line = [""] if metric_numbers[0] else []
        console.print(*blank_line, Padding(table, INDENT, expand=False), sep="\n")
    if n_rows > len(cells.rows):
        console.print(f"\n {n_rows - len(cells.rows):,} more rows are in a pipe and in --json", style="yellow")
    if format_number is format_rounded:
        console.print("\n rounded to fit the window; every digit is in a pipe and in --json", style="dim")


def table_of_names(cells: "ReportTable", headers: Sequence[str], widths: Sequence[int]) -> Table:
    """A table with the fixed columns: label, score, slice, number of rows."""
    table = dense_table()
    for column, width in enumerate(widths):
        if any(isinstance(row[column], int) for row in cells.rows):
            table.add_column(Text(headers[column]), style="dim", justify="right", no_wrap=True, vertical="bottom")
        else:
            add_name_column(table, headers[column], width)
    return table


def broken_name(name: str) -> str:
    """A metric with its parameters on lines of their own, for the header of a narrow column."""
    return re.sub(r",\s*", ",\n ", name.replace("(", "\n(", 1))


def format_exact(value: float) -> str:
    """The shortest decimals that mean exactly the value."""
    return repr(value)


def format_rounded(value: float) -> str:
    """Six decimals; six digits where six decimals would be too few or too many."""
    if value == 0 or MIN_ROUNDED <= abs(value) < MAX_ROUNDED:
        return f"{value:.{BRIGHT_DECIMALS}f}"
    return repr(float(f"{value:.{BRIGHT_DECIMALS}g}"))


def metric_table() -> Table:
    table = borderless_table()
    table.add_column("metric", style="cyan", overflow="fold")
    return table


def print_heading(console: Console, report: "Report") -> None:
    roles = [Text.assemble((f"{role} ", "dim"), names) for role, names in column_roles(report)]
    lines = [Text(" ") + Text("  ").join(roles)] if roles or not report.tasks else []
    lines += [Text.assemble(" ", (f"task {name} ", "dim"), text) for name, text in task_facts(report)]
    console.print("", *lines, "", sep="\n")


def row_name(result: "Result") -> Text:
    """The metric, and the slice if the only slice of the report is not all rows."""
    return Text(" ".join([result.metric, *(f"{column}={value}" for column, value in result.slice.items())]))


def aligned_values(values: Sequence["Cell"], format_number: Callable[[float], str] = format_exact) -> list[Text]:
    """Numbers padded so that their decimal points are aligned; None is empty."""
    texts = [format_number(float(value)) if isinstance(value, (int, float)) else "" for value in values]
    width = max((len(text.partition(".")[0]) for text in texts if text not in ("nan", "inf", "-inf")), default=0)
    return [styled_number(text, width) for text in texts]


def styled_number(text: str, width: int) -> Text:
    if text == "nan":
        return Text(UNDEFINED, style="bold yellow")
    before, point, after = text.partition(".")
    bright = len(after) if "e" in after else BRIGHT_DECIMALS
    return Text.assemble((before.rjust(width) + point + after[:bright], "bold"), (after[bright:], "dim"))


def computed_from(result: "Result") -> str:
    """The rows or groups behind a value, with its interval; or the reason why it is undefined."""
    if math.isnan(result.value) and result.reason:
        return result.reason
    rows = used_rows(result)
    if result.interval is None:
        return rows
    return f"{interval_note(result)}{f'; {rows}' if rows else ''}"


def used_rows(result: "Result") -> str:
    coverage = result.coverage
    if "groups_used" in coverage:
        groups = f"{coverage['groups_used']:,} of {counted(coverage['groups'], 'group')}"
        rows_per_group = coverage.get("rows_per_group")
        return groups if rows_per_group is None else f"{groups} of {format_coverage_value(rows_per_group)} rows"
    rows = counted(coverage["rows"], "row") if "rows" in coverage else ""
    return f"{rows}, {coverage['positives']:,} positive" if "positives" in coverage else rows


def print_notes(console: Console, report: "Report", notes: Iterable[Note]) -> None:
    """What was left out and why, and the run time."""
    console.print()
    styled_notes = (Text.assemble((f"{subject}: ", "cyan"), text) for subject, text in notes)
    for line in [*dropped_lines(report), *styled_notes]:
        console.print(Padding(line, INDENT, expand=False))
    if report.seconds:
        rate = format_row_rate(report.rows, report.seconds)
        console.print(f" {counted(report.rows, 'row')} in {report.seconds:.2f} s ({rate})", style="dim")


def dropped_lines(report: "Report") -> Iterator[Text]:
    for reason, rows in report.dropped.items():
        yield Text.assemble(("dropped ", "yellow"), f"{rows:,} of {counted(report.rows, 'row')}: {reason}")


def left_out_notes(report: "Report") -> Iterator[Note]:
    """A note for every reason, with its metrics: variants of a metric leave out the same groups."""
    pairs = ((text, result.metric) for result in report for text in left_out_texts(result.coverage))
    for text, metrics in grouped(pairs).items():
        yield ", ".join(metrics), text
