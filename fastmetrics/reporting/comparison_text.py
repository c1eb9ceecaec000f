"""A comparison as a table: the table's cells, its plain text, and its HTML for notebooks.

Plain Python, as the comparison itself. The terminal's table is `terminal/comparison.py`, the page is
`html_comparison.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fastmetrics.reporting.number_formats import ALL_DIGITS, UNDEFINED, counted
from fastmetrics.reporting.report_text import (
    ALL_ROWS,
    MAX_TABLE_ROWS,
    NULL,
    column_roles,
    notebook_html,
    rows_text,
    seconds_text,
    slice_lines,
    task_facts,
)
from fastmetrics.reporting.text_table import aligned_lines

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison, Difference

SIGNIFICANT = "*"
DIGITS = 6
TEXT_COLUMNS = ("task", "metric", "label", "baseline", "other")


def comparison_heading(comparison: Comparison) -> list[str]:
    """What was read, if it was a log, and what was compared, in a few lines."""
    compared = counted(len(comparison), "difference")
    if comparison.unit:
        compared += f", paired by {comparison.unit}"
    if comparison.correction != "none":
        compared += f", p-values adjusted ({comparison.correction})"
    columns = "; ".join(f"{role} {name}" for role, name in column_roles(comparison))
    found, more = (compared, []) if comparison.rows is None else (rows_text(comparison), [compared])
    first = f"fastmetrics {comparison.version}: {found}{seconds_text(comparison)}"
    facts = [*map(": ".join, task_facts(comparison)), *slice_lines(comparison)]
    return [first, *filter(None, [columns]), *facts, *more, *comparison.notes]


def comparison_table(comparison: Comparison, digits: int | None = DIGITS) -> list[list[str]]:
    """The header, and a row of texts for every difference. Columns without any content are left out.

    Values have so many significant digits, or all of them if `digits` is None.

    If all differences are of the same two models, the columns of values have the models' names.
    """
    keys = list(dict.fromkeys(key for one in comparison.differences for key in one.slice))
    pairs = dict.fromkeys((one.baseline, one.other) for one in comparison.differences)
    several = len(pairs) > 1
    names = ("baseline's value", "other's value") if several else next(iter(pairs), ("", ""))
    interval = f"{100 * comparison.level:g}% interval" if comparison.level is not None else "interval"
    header = [
        "task", "metric", "label", *keys, "baseline", "other", *names, "difference", interval, "p", "adjusted p", "",
        "won", "lost", "tied", "notes",
    ]  # fmt: skip
    rows = [
        [
            one.task or "", one.metric, one.label or "", *(slice_value(one, key) for key in keys),
            *((one.baseline, one.other) if several else ("", "")), format_number(one.value_a, digits),
            format_number(one.value_b, digits), format_number(one.difference, digits, sign=True),
            format_ends(one.interval, digits),
            format_probability(one.pvalue),
            format_probability(one.adjusted_pvalue) if comparison.correction != "none" else "",
            SIGNIFICANT if comparison.is_significant(one) else "",
            format_count(one.won), format_count(one.lost), format_count(one.tied), one.reason or "",
        ]
        for one in comparison.differences
    ]  # fmt: skip
    if len({one.label for one in comparison.differences}) == 1:
        rows = [[*row[:2], "", *row[3:]] for row in rows]
    columns = [column for column in range(len(header)) if column == 1 or any(row[column] for row in rows)]
    return [[row[column] for column in columns] for row in (header, *rows)]


def comparison_footer(comparison: Comparison) -> list[str]:
    """The meaning of the mark in the table, if the table has it, and a warning of too few replicates."""
    p = "adjusted p" if comparison.correction != "none" else "p"
    lines = []
    if any(map(comparison.is_significant, comparison.differences)):
        lines.append(f"{SIGNIFICANT} {p} below {round(1 - (comparison.level or 0.95), 12):g}")
    limited = [n for one in comparison.differences if (n := comparison.too_few_replicates(one))]
    if limited:
        subject = "1 difference has" if len(limited) == 1 else f"{len(limited):,} differences have"
        lines.append(f"{subject} the least p that {max(limited):,} replicates can give: ask for more replicates")
    return lines


def comparison_text(comparison: Comparison, digits: int | None = DIGITS) -> str:
    """The comparison as plain text: heading, table, footer."""
    table = comparison_table(comparison, digits)
    text_columns = {*TEXT_COLUMNS, "", "notes"}.union(*(one.slice for one in comparison.differences))
    left = [column for column, name in enumerate(table[0]) if name in text_columns]
    lines = [*comparison_heading(comparison), "", *aligned_lines(table, left), *comparison_footer(comparison)]
    return "\n".join(lines)


def comparison_notebook_html(comparison: Comparison) -> str:
    """A table for notebooks. Its only color is a gray that is readable on light and dark pages."""
    header, *rows = comparison_table(comparison)
    heading = comparison_heading(comparison)
    if len(rows) > MAX_TABLE_ROWS:
        heading.append(f"{len(rows) - MAX_TABLE_ROWS:,} more rows: print(comparison), comparison.to_pandas()")
    footer = comparison_footer(comparison)
    return notebook_html(heading, header, rows[:MAX_TABLE_ROWS], footer, [False] * len(header))


def slice_value(difference: Difference, key: str) -> str:
    """The value of a slice column as text, or "(all)"."""
    if key not in difference.slice:
        return ALL_ROWS
    value: Any = difference.slice[key]
    if value is None:
        return NULL
    if isinstance(value, float) and not math.isfinite(value):
        return "None"  # as JSON has it
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def format_number(value: float, digits: int | None, *, sign: bool = False) -> str:
    """So many significant digits; the fields of the difference have all digits."""
    if math.isnan(value):
        return UNDEFINED
    if digits is None or digits >= ALL_DIGITS:
        return f"{'+' if sign and value >= 0 else ''}{value!r}"
    return f"{value:{'+' if sign else ''}.{digits}g}"


def format_probability(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}"


def format_ends(interval: tuple[float, float] | None, digits: int | None) -> str:
    if interval is None:
        return ""
    low, high = (format_number(end, digits, sign=True) for end in interval)
    return f"[{low}, {high}]"


def format_count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"
