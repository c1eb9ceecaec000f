"""A comparison as a table: what was compared, a row for every difference, the meaning of the marks.

Plain Python, as the comparison itself. The terminal's table is `terminal/comparison.py`, the page is
`html_comparison.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastmetrics.reporting.comparison_answer import answer_lines, by_evidence
from fastmetrics.reporting.number_formats import (
    ALL_DIGITS,
    TABLE_DIGITS,
    UNDEFINED,
    counted,
    format_log_pvalue,
    format_pvalue,
)
from fastmetrics.reporting.report_table import heading_lines, rows_text, slice_keys, slice_text
from fastmetrics.reporting.tables import Document, ShownColumn, Table

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison
    from fastmetrics._core.comparison.difference import Difference

DIGITS_OF_SIZES = 3
CHANGE = "change of distance"
EMPHASIZED = ("better", "worse", "different")  # verdicts


def comparison_document(comparison: Comparison, digits: int | None = TABLE_DIGITS) -> Document:
    """A comparison: the answer, the table, what was compared. Values have so many digits, or all if it is None."""
    compared = counted(len(comparison), "difference")
    if comparison.unit:
        compared += f", paired by {comparison.unit}"
    compared += f", {correction_text(comparison)}"
    found, more = (compared, []) if comparison.rows is None else (rows_text(comparison), [compared])
    facts = heading_lines(comparison, found, more)
    return Document("comparison", answer_lines(comparison), comparison_table(comparison, digits), facts)


def correction_text(comparison: Comparison) -> str:
    if comparison.correction == "none":
        return "each decided by itself"
    adjusted = "" if comparison.correction == "holm" else f"; p-values adjusted ({comparison.correction})"
    return f"decided together by Holm's method: all rows, and each set of slices{adjusted}"


def shown_differences(comparison: Comparison) -> list[Difference]:
    """The differences in the order of tables: of all rows, then of slices by evidence unless they were sorted."""
    whole = [one for one in comparison.differences if not one.slice]
    sliced = [one for one in comparison.differences if one.slice]
    return [*whole, *(sliced if comparison.is_sorted else by_evidence(sliced))]


def comparison_table(comparison: Comparison, digits: int | None = TABLE_DIGITS) -> Table:
    """A row for every difference. Columns without any content are left out.

    If all differences are of the same two models, the columns of values have the models' names.
    """
    shown_rows = shown_differences(comparison)
    keys = slice_keys(comparison.differences)
    pairs = dict.fromkeys((one.baseline, one.other) for one in comparison.differences)
    several = len(pairs) > 1
    several_labels = len({one.label for one in comparison.differences}) > 1
    names = ("baseline's value", "other's value") if several else next(iter(pairs), ("", ""))
    columns = [
        *map(ShownColumn, ("task", "metric", "label", *keys, "baseline", "other")),
        *(ShownColumn(name, "number") for name in (*names, "difference")),
        ShownColumn("verdict", "detail"),
        *(ShownColumn(name, "number") for name in (CHANGE, "interval", "level", "margin", "detectable")),
        *(ShownColumn(name, "number") for name in ("p", "adjusted p")),
        *(ShownColumn(name, "number") for name in ("won", "lost", "tied")),
        ShownColumn("notes", "note"),
    ]
    size_digits = min(digits or TABLE_DIGITS, DIGITS_OF_SIZES)
    rows = [
        [
            one.task or "", one.metric, one.label or "" if several_labels else "",
            *(slice_text(one, key) for key in keys), *((one.baseline, one.other) if several else ("", "")),
            format_number(one.baseline_value, digits), format_number(one.other_value, digits),
            format_number(one.difference, digits, sign=True), one.verdict,
            format_number(one.change, digits, sign=True) if is_distance(one) else "",
            format_ends(one.verdict_interval, digits), level_text(one),
            "" if one.margin is None else f"{one.margin:g}",
            "" if one.detectable is None else format_number(one.detectable, size_digits),
            format_log_pvalue(one.pvalue, one.log_pvalue, 4),
            "" if comparison.correction == "none" else format_pvalue(one.adjusted_pvalue, 4),
            format_count(one.won), format_count(one.lost), format_count(one.tied), one.reason or "",
        ]
        for one in shown_rows
    ]  # fmt: skip
    shown = [place for place in range(len(columns)) if place == 1 or any(row[place] for row in rows)]
    found = [columns[place] for place in shown]
    place = next((place for place, column in enumerate(found) if column.name == "difference"), 0)
    emphasis = {(row, place): one.verdict for row, one in enumerate(shown_rows) if one.verdict in EMPHASIZED}
    return Table(found, [[row[place] for place in shown] for row in rows], emphasis=emphasis)


def is_distance(one: Difference) -> bool:
    """Is the change another number than the difference, that of distances from the best value?"""
    return one.change != one.difference and not math.isnan(one.change)


def level_text(one: Difference) -> str:
    """The level of the interval that is shown, from which the verdict is read, in percent."""
    return "" if one.verdict_level is None or one.verdict_interval is None else f"{100 * one.verdict_level:.4g}%"


def format_number(value: float, digits: int | None, *, sign: bool = False) -> str:
    """So many significant digits; the fields of the difference have all digits."""
    if math.isnan(value):
        return UNDEFINED
    if digits is None or digits >= ALL_DIGITS:
        return f"{'+' if sign and value >= 0 else ''}{value!r}"
    return f"{value:{'+' if sign else ''}.{digits}g}"


def format_ends(interval: tuple[float, float] | None, digits: int | None) -> str:
    if interval is None:
        return ""
    low, high = (format_number(end, digits, sign=True) for end in interval)
    return f"[{low}, {high}]"


def format_count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"
