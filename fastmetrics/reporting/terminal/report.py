"""Reports as tables on a terminal: decimal points are aligned, an undefined value has its reason."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from fastmetrics._core.grouping import grouped
from fastmetrics.reporting.class_tables import class_tables
from fastmetrics.reporting.number_formats import (
    ALL_DIGITS,
    TABLE_DIGITS,
    UNDEFINED,
    counted,
    format_coverage_value,
    format_row_rate,
    number_formatter,
)
from fastmetrics.reporting.report_notes import interval_note, left_out_texts, used_groups_text, used_rows_text
from fastmetrics.reporting.report_table import (
    column_roles,
    rows_by_model,
    slice_value_text,
    task_facts,
    wide_table,
)
from fastmetrics.reporting.tables import Note, ShownColumn, Table
from fastmetrics.reporting.terminal.console import digits_note, standard_output
from fastmetrics.reporting.terminal.drawn_tables import INDENT, drawn_table, print_wide_table
from fastmetrics.reporting.text_tables import titled_lines

if TYPE_CHECKING:
    from fastmetrics.engine.results.report import Report
    from fastmetrics.engine.results.result import Result


def print_report(report: "Report", digits: int = TABLE_DIGITS) -> None:
    """Draw the report as a table. Values have so many digits; 17 are all digits."""
    console = standard_output()
    print_heading(console, report)
    rows = rows_by_model(report.results)
    if len(rows) > 1:
        table = wide_table(rows, digits, with_positives=False)
        print_wide_table(console, table)
        print_notes(console, report, table.notes)
    else:
        print_metric_rows(console, report, digits)
    if digits < ALL_DIGITS:
        console.print(f" {digits_note(digits)}", style="dim")
    for line in (line for table in class_tables(report) for line in titled_lines(table)):
        console.print(Text(line), no_wrap=True, overflow="ellipsis")


def print_metric_rows(console: Console, report: "Report", digits: int) -> None:
    """A row for every metric, with what it is computed from."""
    columns = [ShownColumn("metric"), ShownColumn("value", "value"), ShownColumn("computed from", "note")]
    cells = zip(report, values_of_metrics(report, digits), strict=True)
    rows = [[row_name(result), value, computed_from(result)] for result, value in cells]
    console.print(drawn_table(Table(columns, rows)))
    print_notes(console, report, left_out_notes(report))


def print_reports(titled_reports: Sequence[tuple[str, "Report"]]) -> None:
    """Draw the same metrics of several reports side by side."""
    console = standard_output()
    titles, reports = zip(*titled_reports, strict=True)
    columns = [ShownColumn("metric"), *(ShownColumn(title, "value") for title in titles)]
    names = [result.metric for result in reports[0]]
    rows = list(zip(names, *(values_of_metrics(report, TABLE_DIGITS) for report in reports), strict=True))
    console.print(drawn_table(Table(columns, rows)))
    print_notes(console, reports[0], left_out_notes(reports[0]))


def print_heading(console: Console, report: "Report") -> None:
    roles = [Text.assemble((f"{role} ", "dim"), names) for role, names in column_roles(report)]
    lines = [Text(" ") + Text("  ").join(roles)] if roles or not report.tasks else []
    lines += [Text.assemble(" ", (f"task {name} ", "dim"), text) for name, text in task_facts(report)]
    console.print("", *lines, "", sep="\n")


def row_name(result: "Result") -> str:
    """The metric, and the slice if the only slice of the report is not all rows."""
    values = (f"{column}={slice_value_text(value)}" for column, value in result.slice.items())
    return " ".join([result.metric, *values])


def values_of_metrics(report: "Report", digits: int) -> list[str]:
    """The values of different metrics: each has so many digits."""
    values = (result.value for result in report.results)
    return [UNDEFINED if math.isnan(value) else number_formatter([value], digits)(value) for value in values]


def computed_from(result: "Result") -> str:
    """The rows or groups behind a value, with its interval; or the reason why it is undefined."""
    if math.isnan(result.value) and result.reason:
        return result.reason
    rows = used_groups_text(result.coverage) or used_rows_text(result.coverage)
    if "rows_per_group" in result.coverage:
        rows += f" of {format_coverage_value(result.coverage['rows_per_group'])} rows"
    return "; ".join(filter(None, [interval_note(result), rows]))


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
    pairs = ((text, result.metric) for result in report.results for text in left_out_texts(result.coverage))
    for text, metrics in grouped(pairs).items():
        yield ", ".join(metrics), text
