"""A report as a table: the table's cells, its plain text, and its HTML for notebooks.

Plain Python, as the report itself. The terminal's table is `terminal/report.py`, the page is `html_report.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastmetrics._core.grouping import grouped
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.reporting.number_formats import UNDEFINED, counted, format_counts, number_formatter
from fastmetrics.reporting.report_notes import Model, Note, interval_level, result_notes, short_interval, table_notes
from fastmetrics.reporting.text_table import aligned_lines

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison
    from fastmetrics.engine.results.report import Report
    from fastmetrics.engine.results.result import Result

ALL_ROWS = "(all)"
NULL = "null"
MAX_TABLE_ROWS = 1000  # in a browser or on a terminal; the plain text has all rows

Cell = str | int | float | None


class ReportTable(NamedTuple):
    """The cells of a report's table, the same for plain text, HTML and the terminal.

    A cell is a text, a number of rows, a value (NaN: undefined), or None if there is nothing to show.

    A report with several slices, scores or labels has a row for each of them and a column for each metric: `n_fixed`
    columns come before the metrics, and `sections` are the rows at which another slice begins, if a slice has several
    rows. `intervals` are the columns of intervals, texts that belong to the column before. Otherwise every metric is a
    row, and `n_fixed` is 0.
    """

    header: list[str]
    rows: list[list[Cell]]
    notes: list[Note]
    n_fixed: int = 0
    sections: tuple[int, ...] = ()
    intervals: tuple[int, ...] = ()

    def texts(self, max_rows: int | None = None, digits: int | None = None) -> list[list[str]]:
        """The rows as text, with the decimal points of a column aligned. All digits, unless so many are asked for."""
        rows = self.rows[:max_rows]
        undefined = UNDEFINED if self.n_fixed else "nan"
        columns = [
            column_texts(column, undefined, digits, one_metric=bool(self.n_fixed)) for column in zip(*rows, strict=True)
        ]
        return [list(cells) for cells in zip(*columns, strict=True)]

    def note_lines(self) -> list[str]:
        return [f"{subject}: {text}" for subject, text in self.notes]


def report_heading(report: Report) -> list[str]:
    """What was read, in one line or two: rows, dropped rows with reasons, time; columns."""
    rows = rows_text(report) + seconds_text(report)
    between_roles = ", " if all(isinstance(name, str) for name in report.columns.values()) else "; "
    columns = between_roles.join(f"{role} {name}" for role, name in column_roles(report))
    tasks = map(": ".join, task_facts(report))
    facts = [*([columns] if columns else []), *tasks, *slice_lines(report), *report.notes]
    return [f"fastmetrics {report.version}: {rows}", *facts]


def slice_lines(made: Report | Comparison) -> list[str]:
    """Edges that were found in the log, and the slices that were left out."""
    lines = [
        f"{title}: edges {', '.join(map(repr, edges))}, found in a first read of the log"
        for title, edges in made.bins.items()
        if "qcut" in title.lower()
    ]
    small = made.small_slices
    if small:
        n_slices, n_rows = counted(small["slices"], "slice"), counted(small["rows"], "row")
        lines.append(f"{n_slices} of fewer than {counted(small['min_rows'], 'row')} left out, with {n_rows}")
    return lines


def task_facts(made: Report | Comparison) -> list[tuple[str, str]]:
    """What each task read: ("cvr", "label conversion, score pcvr; 120 rows, 7 dropped (null label: 7)")."""
    facts = []
    for name, task in made.tasks.items():
        columns = ", ".join(f"{role} {column_text(own)}" for role, own in task.columns.items())
        facts.append((name, f"{columns}; {task.rows:,} rows{filtered_text(task.filtered)}{dropped_text(task.dropped)}"))
    return facts


def filtered_text(filtered: int | None) -> str:
    """The rows that a filter left out; empty without a filter."""
    return "" if filtered is None else f", {filtered:,} left out by where"


def dropped_text(dropped: Mapping[str, int]) -> str:
    """The dropped rows with reasons; empty if there are none."""
    reasons = {reason: n for reason, n in dropped.items() if n}
    return f", {sum(reasons.values()):,} dropped ({format_counts(reasons)})" if reasons else ""


def column_text(columns: Any) -> str:
    """A column, or several; each grouping set is in parentheses."""
    if isinstance(columns, str):
        return columns
    return ", ".join(own if isinstance(own, str) else f"({', '.join(own)})" for own in columns)


def rows_text(made: Report | Comparison) -> str:
    """The rows read, left out and dropped with reasons: 12 rows read, 1 dropped (null label: 1)."""
    return f"{made.rows:,} rows read{filtered_text(made.filtered)}{dropped_text(made.dropped)}"


def seconds_text(made: Report | Comparison) -> str:
    return "" if made.seconds is None else f", {made.seconds:.2f} s"


def column_roles(made: Report | Comparison) -> list[tuple[str, str]]:
    """Role and columns as text: ("score", "model_a, model_b")."""
    return [(role, column_text(columns)) for role, columns in made.columns.items()]


def report_table(report: Report, *, with_positives: bool = True) -> ReportTable:
    """A row for every metric; with several slices, scores or labels a row for each and a column for every metric.

    Tables of slices have a column with the positives of each, unless they are to be narrow.
    """
    table_rows = rows_by_model(report.results)
    if len(table_rows) > 1:
        return wide_table(table_rows, with_positives)
    used_rows = report.rows - (report.filtered or 0) - sum(report.dropped.values())
    keys = slice_keys(report.results)
    rows: list[list[Cell]] = [
        [
            result.metric,
            *(slice_text(result, key) for key in keys),
            result.value,
            result_notes(result, used_rows),
        ]
        for result in report.results
    ]
    return ReportTable(["metric", *keys, "value", "notes"], rows, [])


def rows_by_model(results: Sequence[Result]) -> list[dict[str, Result]]:
    """A row for every task, label, score and slice: metric -> result."""
    rows = grouped(((Model.of(result), repr(result.slice)), result) for result in results)
    return [{result.metric: result for result in row} for row in rows.values()]


def wide_table(table_rows: list[dict[str, Result]], with_positives: bool) -> ReportTable:
    """A row for every label, score and slice, a column for every metric, and the notes of all rows together."""
    first_results = [next(iter(row.values())) for row in table_rows]
    metrics = list(dict.fromkeys(metric for row in table_rows for metric in row))
    keys = slice_keys(first_results)
    series = [name for name in Model._fields if len({getattr(result, name) for result in first_results}) > 1]
    counts = [
        max((count for result in row.values() if (count := count_rows(result)) is not None), default=None)
        for row in table_rows
    ]
    with_counts = any(count is not None for count in counts)
    levels = interval_levels(table_rows)
    with_positives &= bool(keys) and all(result.positives is not None for result in first_results)
    rows: list[list[Cell]] = [
        [
            *(getattr(result, name) or "" for name in series),
            *(slice_text(result, key) for key in keys),
            *([count] if with_counts else []),
            *([result.positives] if with_positives else []),
            *(cell for metric in metrics for cell in metric_cells(row.get(metric), metric in levels)),
        ]
        for row, result, count in zip(table_rows, first_results, counts, strict=True)
    ]
    slices = [result.slice for result in first_results]
    starts = [number for number in range(1, len(rows)) if slices[number] != slices[number - 1]]
    fixed = [*series, *keys, *(["rows"] if with_counts else []), *(["positives"] if with_positives else [])]
    notes = table_notes(table_rows, sliced=bool(keys))
    columns = [(name, level) for metric in metrics for name, level in metric_headers(metric, levels.get(metric))]
    intervals = tuple(number for number, (_, is_interval) in enumerate(columns, len(fixed)) if is_interval)
    header = [*fixed, *(name for name, _ in columns)]
    return ReportTable(header, rows, notes, len(fixed), tuple(starts) if series else (), intervals)


def interval_levels(table_rows: list[dict[str, Result]]) -> dict[str, str]:
    """The level of every metric that has confidence intervals."""
    found = ((metric, result) for row in table_rows for metric, result in row.items() if result.interval is not None)
    return {metric: level for metric, result in found if (level := interval_level(result)) is not None}


def metric_headers(metric: str, level: str | None) -> list[tuple[str, bool]]:
    """The names of a metric's columns, and which is that of its intervals."""
    return [(metric, False), *([] if level is None else [(f"{level} interval", True)])]


def metric_cells(result: Result | None, with_interval: bool) -> list[Cell]:
    """The value of a metric, and its interval if the table has a column for it."""
    value = None if result is None else result.value
    interval = None if result is None else result.interval
    return [value, *(["" if interval is None else short_interval(interval)] if with_interval else [])]


def count_rows(result: Result) -> int | None:
    """The rows of a result's slice, or those that its value is computed from."""
    rows: int | None = result.coverage.get("rows") if result.rows is None else result.rows
    return rows


def report_text(report: Report, digits: int | None = None) -> str:
    """The report as plain text: heading, table, notes. Values have all digits, unless so many are asked for."""
    table = report_table(report)
    lines = aligned_lines([table.header, *table.texts(digits=digits)], range(len(table.header)))
    notes = table.note_lines()
    matrices: list[str] = []
    if report.confusion_matrices or report.label_tables:
        from fastmetrics.reporting.class_tables import class_lines

        matrices = class_lines(report)
    return "\n".join([*report_heading(report), "", *lines, *([""] if notes else []), *notes, *matrices])


def report_notebook_html(report: Report) -> str:
    """A table for notebooks. Its only color is a gray that is readable on light and dark pages."""
    table = report_table(report)
    rows = table.texts(MAX_TABLE_ROWS)
    notes = table.note_lines()
    if len(table.rows) > len(rows):
        notes.insert(0, f"{len(table.rows) - len(rows):,} more rows: print(report), report.to_pandas()")
    columns = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.header)
    is_number = [any(isinstance(one, (int, float)) for one in column) for column in columns]
    return notebook_html(report_heading(report), table.header, rows, notes, is_number)


def notebook_html(
    heading: Iterable[str],
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    footer: Iterable[str],
    is_number: Sequence[bool],
) -> str:
    """A table between lines of text. Cells in columns of numbers have digits of equal width."""
    from html import escape

    cell = "text-align:left;padding:0.2em 1em 0.2em 0;border-bottom:1px solid rgba(128,128,128,0.35);"
    styles = [f"{cell}font-family:monospace;white-space:pre;" if own else cell for own in is_number]
    head = "".join(f'<th style="{cell}">{escape(name)}</th>' for name in header)
    body = ""
    for texts in rows:
        cells = (f'<td style="{style}">{escape(text)}</td>' for text, style in zip(texts, styles, strict=True))
        body += f"<tr>{''.join(cells)}</tr>"
    above, below = (
        f'<p style="opacity:0.75;">{"<br>".join(map(escape, lines))}</p>' if lines else ""
        for lines in (list(heading), list(footer))
    )
    return (
        f'<div style="color:inherit;background:transparent;">{above}'
        f'<table style="border-collapse:collapse;color:inherit;background:transparent;">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def column_texts(
    cells: Sequence[Cell], undefined: str, digits: int | None = None, *, one_metric: bool = False
) -> list[str]:
    """A column as text: decimal points of values aligned, numbers of rows aligned right.

    Values of one metric have equally many decimals if `digits` are asked for.
    """
    values = [cell for cell in cells if isinstance(cell, float)]
    of_column = number_formatter(values, digits)
    texts = [
        cell_text(cell, undefined, of_column if one_metric else number_formatter([cell], digits))
        if isinstance(cell, float)
        else cell_text(cell, undefined, of_column)
        for cell in cells
    ]
    is_number = [isinstance(cell, (int, float)) and text != UNDEFINED for cell, text in zip(cells, texts, strict=True)]
    before = [len(text.partition(".")[0]) * number for text, number in zip(texts, is_number, strict=True)]
    width = max(before, default=0)
    return [
        " " * (width - n) + text if number else text for text, n, number in zip(texts, before, is_number, strict=True)
    ]


def cell_text(cell: Cell, undefined: str, format_number: Callable[[float], str]) -> str:
    """A cell as text."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    if isinstance(cell, int):
        return f"{cell:,}"
    return undefined if math.isnan(cell) else format_number(cell)


def slice_keys(results: Sequence[Result]) -> list[str]:
    """The columns of the slices."""
    return list(dict.fromkeys(key for result in results for key in result.slice))


def slice_text(result: Result, key: str) -> str:
    """The value of a slice column as text, or "(all)"."""
    return slice_value_text(result.slice[key]) if key in result.slice else ALL_ROWS


def slice_value_text(value: Any) -> str:
    """A value of a slice as text; a null is null, and a text that could be taken for it is quoted."""
    text = NULL if value is None else str(value)
    is_clear = text and text.isprintable() and (value is None or text not in (NULL, ALL_ROWS))
    return text if is_clear else repr(text)
