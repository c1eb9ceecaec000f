"""A report as a table: what was read, the table, and its notes.

Plain Python, as the report itself. The terminal's table is `terminal/report.py`, the page is `html_report.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastmetrics._core.grouping import grouped
from fastmetrics.reporting.class_tables import class_tables
from fastmetrics.reporting.number_formats import TABLE_DIGITS, counted, format_counts, number_formatter
from fastmetrics.reporting.report_notes import (
    Model,
    ModelRow,
    interval_level,
    result_notes,
    short_interval,
    table_notes,
)
from fastmetrics.reporting.tables import Cell, Document, ShownColumn, Table

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison
    from fastmetrics._core.comparison.difference import Difference
    from fastmetrics.engine.results.report import Report
    from fastmetrics.engine.results.result import Result

ALL_ROWS = "(all)"
NULL = "null"


def report_document(report: Report, digits: int | None = TABLE_DIGITS) -> Document:
    """A report whose values have so many digits, or all if it is None."""
    heading = heading_lines(report, rows_text(report))
    return Document("report", heading, report_table(report, digits), other_tables=class_tables(report))


def heading_lines(made: Report | Comparison, found: str, more: Sequence[str] = ()) -> list[str]:
    """What was read or compared, with the time; the columns, and other lines."""
    between_roles = ", " if all(isinstance(name, str) for name in made.columns.values()) else "; "
    columns = between_roles.join(f"{role} {name}" for role, name in column_roles(made))
    seconds = "" if made.seconds is None else f", {made.seconds:.2f} s"
    facts = [*([columns] if columns else []), *map(": ".join, task_facts(made)), *slice_lines(made), *more]
    return [f"fastmetrics {made.version}: {found}{seconds}", *facts, *made.notes]


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


def column_roles(made: Report | Comparison) -> list[tuple[str, str]]:
    """Role and columns as text: ("score", "model_a, model_b")."""
    return [(role, column_text(columns)) for role, columns in made.columns.items()]


def report_table(report: Report, digits: int | None = TABLE_DIGITS) -> Table:
    """A row for every metric; with several slices, scores or labels a row for each and a column for every metric."""
    rows = rows_by_model(report.results)
    return wide_table(rows, digits) if len(rows) > 1 else metric_table(report, digits)


def rows_by_model(results: Sequence[Result]) -> list[ModelRow]:
    """A row for every task, label, score and slice."""
    rows = grouped(((Model.of(result), repr(result.slice)), result) for result in results)
    return [{result.metric: result for result in row} for row in rows.values()]


def metric_table(report: Report, digits: int | None) -> Table:
    """A row for every metric. Each value has so many digits."""
    used_rows = report.rows - (report.filtered or 0) - sum(report.dropped.values())
    keys = slice_keys(report.results)
    rows = [
        [
            result.metric,
            *(slice_text(result, key) for key in keys),
            number_formatter([result.value], digits)(result.value),
            result_notes(result, used_rows),
        ]
        for result in report.results
    ]
    columns = [*map(ShownColumn, ("metric", *keys)), ShownColumn("value", "value"), ShownColumn("notes", "note")]
    return Table(columns, rows)


def wide_table(table_rows: list[ModelRow], digits: int | None, *, with_positives: bool = True) -> Table:
    """A row for every label, score and slice, a column for every metric, and the notes of all rows together.

    Slices have a column with the positives of each, unless the table is to be narrow.
    """
    first_results = [next(iter(row.values())) for row in table_rows]
    metrics = list(dict.fromkeys(metric for row in table_rows for metric in row))
    keys = slice_keys(first_results)
    series = [name for name in Model._fields if len({getattr(result, name) for result in first_results}) > 1]
    counts = list(map(row_count, table_rows))
    with_counts = any(count is not None for count in counts)
    levels = interval_levels(table_rows)
    with_positives &= bool(keys) and all(result.positives is not None for result in first_results)
    columns = [
        *map(ShownColumn, (*series, *keys)),
        *([ShownColumn("rows", "count")] if with_counts else []),
        *([ShownColumn("positives", "count")] if with_positives else []),
    ]
    for metric in metrics:
        columns.append(ShownColumn(metric, "value", digits))
        columns += [ShownColumn(f"{levels[metric]} interval", "detail")] if metric in levels else []
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
    starts = {number for number in range(1, len(rows)) if series and slices[number] != slices[number - 1]}
    return Table(columns, rows, notes=table_notes(table_rows, sliced=bool(keys)), sections=starts)


def interval_levels(table_rows: list[ModelRow]) -> dict[str, str]:
    """The level of every metric that has confidence intervals."""
    found = ((metric, result) for row in table_rows for metric, result in row.items() if result.interval is not None)
    return {metric: level for metric, result in found if (level := interval_level(result)) is not None}


def metric_cells(result: Result | None, with_interval: bool) -> list[Cell]:
    """The value of a metric, and its interval if the table has a column for it."""
    value = None if result is None else result.value
    interval = None if result is None else result.interval
    return [value, *(["" if interval is None else short_interval(interval)] if with_interval else [])]


def row_count(row: ModelRow) -> int | None:
    """The most rows that a value of the row is of; None if no result has them."""
    return max((count for result in row.values() if (count := count_rows(result)) is not None), default=None)


def count_rows(result: Result) -> int | None:
    """The rows of a result's slice, or those that its value is computed from."""
    return result.coverage.get("rows") if result.rows is None else result.rows


def slice_keys(results: Sequence[Result] | Sequence[Difference]) -> list[str]:
    """The columns of the slices."""
    return list(dict.fromkeys(key for result in results for key in result.slice))


def slice_text(result: Result | Difference, key: str) -> str:
    """The value of a slice column as text, or "(all)"."""
    return slice_value_text(result.slice[key]) if key in result.slice else ALL_ROWS


def slice_value_text(value: Any) -> str:
    """A value of a slice as text; a null is null, and a text that could be taken for it is quoted."""
    text = NULL if value is None else str(value)
    is_clear = text and text.isprintable() and (value is None or text not in (NULL, ALL_ROWS))
    return text if is_clear else repr(text)
