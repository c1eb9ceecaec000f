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
from fastmetrics.reporting.number_formats import (
    ALL_DIGITS,
    UNDEFINED,
    counted,
    format_coverage_value,
    format_row_rate,
    number_formatter,
)
from fastmetrics.reporting.report_notes import Note, interval_note, left_out_texts
from fastmetrics.reporting.report_text import (
    MAX_TABLE_ROWS,
    column_roles,
    report_table,
    slice_value_text,
    task_facts,
)
from fastmetrics.reporting.terminal.console import (
    GAP,
    INDENT,
    add_name_column,
    borderless_table,
    column_width,
    dense_table,
    digits_note,
    folded_widths,
    split_columns,
    standard_output,
)

if TYPE_CHECKING:
    from fastmetrics.engine.results.report import Report
    from fastmetrics.engine.results.result import Result
    from fastmetrics.reporting.report_text import Cell, ReportTable

DIGITS = 5  # of values, if no other number is asked for


def print_report(report: "Report", digits: int = DIGITS) -> None:
    """Draw the report as a table. Values have so many digits; 17 are all digits."""
    console = standard_output()
    print_heading(console, report)
    cells = report_table(report, with_positives=False)
    if cells.n_fixed:
        print_wide_table(console, cells, digits)
        print_notes(console, report, cells.notes)
    else:
        print_metric_rows(console, report, digits)
    if digits < ALL_DIGITS:
        console.print(f" {digits_note(digits)}", style="dim")
    if report.confusion_matrices or report.label_tables:
        from fastmetrics.reporting.class_tables import class_lines

        for line in class_lines(report):
            console.print(Text(line), no_wrap=True, overflow="ellipsis")


def print_metric_rows(console: Console, report: "Report", digits: int) -> None:
    """A row for every metric, with what it is computed from."""
    table = metric_table()
    table.add_column("value", no_wrap=True)
    table.add_column("computed from", style="dim")
    for result, value in zip(report, values_of_metrics(report, digits), strict=True):
        table.add_row(row_name(result), value, Text(computed_from(result)))
    console.print(table)
    print_notes(console, report, left_out_notes(report))


def print_reports(titled_reports: Sequence[tuple[str, "Report"]]) -> None:
    """Draw the same metrics of several reports side by side; in a pipe with all digits."""
    console = standard_output()
    digits = DIGITS if console.is_terminal else ALL_DIGITS
    table = metric_table()
    for title, _ in titled_reports:
        table.add_column(title, no_wrap=True)
    names = [result.metric for result in titled_reports[0][1]]
    columns = [values_of_metrics(report, digits) for _, report in titled_reports]
    for name, *values in zip(names, *columns, strict=True):
        table.add_row(name, *values)
    console.print(table)
    print_notes(console, titled_reports[0][1], left_out_notes(titled_reports[0][1]))


def print_wide_table(console: Console, cells: "ReportTable", digits: int) -> None:
    """A row for every slice, score and label, a column for every metric; several tables if the window is too narrow.

    An interval stands in the column of its value.
    """
    n_rows = len(cells.rows)
    cells = cells._replace(rows=cells.rows[:MAX_TABLE_ROWS])
    n_fixed = cells.n_fixed
    sections = set(cells.sections)
    names = list(zip(*cells.texts(), strict=True))[:n_fixed]
    name_widths = [column_width(*column) for column in zip(cells.header, names, strict=False)]
    name_widths = folded_widths(name_widths, console.width // 2)
    available = console.width - sum(width + GAP for width in name_widths)
    headers, columns = metric_columns(cells, digits)
    widths = [column_width(*column) for column in zip(headers, columns, strict=True)]
    for metric_numbers in split_columns(widths, available):
        table = table_of_names(cells, cells.header, name_widths)
        for number in metric_numbers:
            table.add_column(Text(headers[number]), no_wrap=True, vertical="bottom")
        for row in range(len(cells.rows)):
            if row in sections:
                table.add_section()
            fixed_cells = (Text(column[row]) for column in names)
            table.add_row(*fixed_cells, *(columns[number][row] for number in metric_numbers))
        blank_line = [""] if metric_numbers[0] else []
        console.print(*blank_line, Padding(table, INDENT, expand=False), sep="\n")
    if n_rows > len(cells.rows):
        console.print(f"\n {n_rows - len(cells.rows):,} more rows are in a pipe and in --json", style="yellow")


def metric_columns(cells: "ReportTable", digits: int) -> tuple[list[str], list[list[Text]]]:
    """The headers and columns of metrics, each value with its interval beside it."""
    headers: list[str] = []
    columns: list[list[Text]] = []
    for number, column in enumerate(zip(*cells.rows, strict=True)):
        if number < cells.n_fixed:
            continue
        if number in cells.intervals:
            headers[-1] += f"\n{cells.header[number]}"
            columns[-1] = [beside(value, interval) for value, interval in zip(columns[-1], column, strict=True)]
        else:
            headers.append(broken_name(cells.header[number]))
            values = [float(value) for value in column if value is not None]
            columns.append(aligned_values(column, number_formatter(values, digits)))
    return headers, columns


def beside(value: Text, interval: "Cell") -> Text:
    return Text.assemble(value, (f"  {interval}", "dim")) if interval else value


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
    values = (f"{column}={slice_value_text(value)}" for column, value in result.slice.items())
    return Text(" ".join([result.metric, *values]))


def values_of_metrics(report: "Report", digits: int) -> list[Text]:
    """The values of different metrics: each has so many digits."""
    texts = [number_formatter([result.value], digits)(result.value) for result in report]
    return aligned_texts(texts)


def aligned_values(values: Sequence["Cell"], format_number: Callable[[float], str]) -> list[Text]:
    """Numbers padded so that their decimal points are aligned; None is empty."""
    return aligned_texts([format_number(float(own)) if isinstance(own, (int, float)) else "" for own in values])


def aligned_texts(texts: Sequence[str]) -> list[Text]:
    """Numbers padded to the left so that their decimal points are aligned, and to the right to equal width."""
    finite = [text for text in texts if text not in ("nan", "inf", "-inf")]
    width = max((len(text.partition(".")[0]) for text in finite), default=0)
    padded = [text if text in ("", "nan") else " " * (width - len(text.partition(".")[0])) + text for text in texts]
    longest = max(map(len, padded), default=0)
    return [
        Text(UNDEFINED, style="bold yellow") if text == "nan" else Text(text.ljust(longest), style="bold")
        for text in padded
    ]


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
    if report.filtered is not None:
        where = report.columns.get("where", "")
        text = f"{report.filtered:,} of {counted(report.rows, 'row')} by where: {where}"
        yield Text.assemble(("left out ", "yellow"), text)
    for reason, rows in report.dropped.items():
        yield Text.assemble(("dropped ", "yellow"), f"{rows:,} of {counted(report.rows, 'row')}: {reason}")
    for note in report.notes:
        yield Text.assemble(("note ", "yellow"), note)


def left_out_notes(report: "Report") -> Iterator[Note]:
    """A note for every reason, with its metrics: variants of a metric leave out the same groups."""
    pairs = ((text, result.metric) for result in report for text in left_out_texts(result.coverage))
    for text, metrics in grouped(pairs).items():
        yield ", ".join(metrics), text
