"""Reports and comparisons as tables of Markdown, with their notes below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastmetrics.reporting.comparison_text import (
    TEXT_COLUMNS,
    comparison_footer,
    comparison_heading,
    comparison_table,
)
from fastmetrics.reporting.report_text import report_heading, report_table
from fastmetrics.reporting.text_table import TextTable

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison
    from fastmetrics.engine.results.report import Report


def report_markdown(report: Report, digits: int | None = None) -> str:
    """The table of a report, with what was read and the notes below it."""
    table = report_table(report)
    rows = [[cell.strip() for cell in row] for row in table.texts(digits=digits)]
    is_number = [any(isinstance(cell, (int, float)) for cell in column) for column in zip(*table.rows, strict=True)]
    names = [column for column, numeric in enumerate(is_number) if not numeric]
    return markdown_page(TextTable(table.header, rows, 0), names, [*report_heading(report), *table.note_lines()])


def comparison_markdown(comparison: Comparison, digits: int | None = None) -> str:
    """The table of a comparison, with what was compared and the meaning of its marks below it."""
    header, *rows = comparison_table(comparison, digits)
    texts = {*TEXT_COLUMNS, "", "notes"}.union(*(one.slice for one in comparison.differences))
    names = [column for column, name in enumerate(header) if name in texts]
    notes = [*comparison_heading(comparison), *comparison_footer(comparison)]
    return markdown_page(TextTable(header, rows, 0), names, notes)


def markdown_page(table: TextTable, names: Sequence[int], notes: Sequence[str]) -> str:
    """A table and a list of notes. Columns of names are aligned left, numbers right."""
    listed = [f"- {escaped(note)}" for note in notes]
    return "\n".join([*table.markdown_lines(names), "", *listed, ""])


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: a star or an underscore would begin an emphasis, a line end the next item."""
    for sign in "\\`*_<>[]|":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
