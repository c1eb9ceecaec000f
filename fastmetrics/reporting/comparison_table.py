"""A comparison as a table: what was compared, a row for every difference, the meaning of the marks.

Plain Python, as the comparison itself. The terminal's table is `terminal/comparison.py`, the page is
`html_comparison.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastmetrics.reporting.number_formats import ALL_DIGITS, UNDEFINED, counted
from fastmetrics.reporting.report_table import heading_lines, rows_text, slice_keys, slice_text
from fastmetrics.reporting.tables import Document, ShownColumn, Table

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison

SIGNIFICANT = "*"
DIGITS = 6


def comparison_document(comparison: Comparison, digits: int | None = DIGITS) -> Document:
    """A comparison. Values have so many significant digits, or all of them if `digits` is None."""
    compared = counted(len(comparison), "difference")
    if comparison.unit:
        compared += f", paired by {comparison.unit}"
    if comparison.correction != "none":
        compared += f", p-values adjusted ({comparison.correction})"
    found, more = (compared, []) if comparison.rows is None else (rows_text(comparison), [compared])
    heading = heading_lines(comparison, found, more)
    return Document("comparison", heading, comparison_table(comparison, digits), comparison_footer(comparison))


def comparison_table(comparison: Comparison, digits: int | None = DIGITS) -> Table:
    """A row for every difference. Columns without any content are left out.

    If all differences are of the same two models, the columns of values have the models' names.
    """
    keys = slice_keys(comparison.differences)
    pairs = dict.fromkeys((one.baseline, one.other) for one in comparison.differences)
    several = len(pairs) > 1
    several_labels = len({one.label for one in comparison.differences}) > 1
    names = ("baseline's value", "other's value") if several else next(iter(pairs), ("", ""))
    interval = f"{100 * comparison.level:g}% interval" if comparison.level is not None else "interval"
    columns = [
        *map(ShownColumn, ("task", "metric", "label", *keys, "baseline", "other")),
        *(ShownColumn(name, "number") for name in (*names, "difference", interval, "p", "adjusted p")),
        ShownColumn("", "detail"),
        *(ShownColumn(name, "number") for name in ("won", "lost", "tied")),
        ShownColumn("notes", "note"),
    ]
    rows = [
        [
            one.task or "", one.metric, one.label or "" if several_labels else "",
            *(slice_text(one, key) for key in keys), *((one.baseline, one.other) if several else ("", "")),
            format_number(one.value_a, digits), format_number(one.value_b, digits),
            format_number(one.difference, digits, sign=True), format_ends(one.interval, digits),
            format_probability(one.pvalue),
            format_probability(one.adjusted_pvalue) if comparison.correction != "none" else "",
            SIGNIFICANT if comparison.is_significant(one) else "",
            format_count(one.won), format_count(one.lost), format_count(one.tied), one.reason or "",
        ]
        for one in comparison.differences
    ]  # fmt: skip
    shown = [place for place in range(len(columns)) if place == 1 or any(row[place] for row in rows)]
    return Table([columns[place] for place in shown], [[row[place] for place in shown] for row in rows])


def comparison_footer(comparison: Comparison) -> list[str]:
    """The meaning of the mark in the table, if the table has it, and a warning of too few replicates."""
    p = "adjusted p" if comparison.correction != "none" else "p"
    significant = any(map(comparison.is_significant, comparison.differences))
    meaning = f"{SIGNIFICANT} {p} below {threshold_text(comparison)}" if significant else ""
    return list(filter(None, [meaning, replicate_warning(comparison, "difference")]))


def threshold_text(comparison: Comparison) -> str:
    """The p that a significant difference is below."""
    return f"{round(1 - (comparison.level or 0.95), 12):g}"


def replicate_warning(comparison: Comparison, noun: str) -> str:
    """A warning of differences that are not significant only because there are too few replicates, or nothing."""
    replicates = [n for one in comparison.differences if (n := comparison.too_few_replicates(one))]
    if not replicates:
        return ""
    subject = f"{counted(len(replicates), noun)} {'has' if len(replicates) == 1 else 'have'}"
    return f"{subject} the least p that {max(replicates):,} replicates can give: ask for more replicates"


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
