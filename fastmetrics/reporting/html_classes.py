"""Confusion matrices and tables by class, as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from fastmetrics.engine.results.report import Report
from fastmetrics.reporting.class_tables import class_tables
from fastmetrics.reporting.html_parts import caption, header_row, scroll_box
from fastmetrics.reporting.svg_plots import escape_text


def classes_body(report: Report) -> str:
    """The tables of a report as HTML."""
    return "".join(html_table(title, header, rows) for title, header, rows in class_tables(report))


def html_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = caption(title) + header_row([(escape_text(name), number > 0) for number, name in enumerate(header)])
    body = ""
    for label, *cells in rows:
        numbers = "".join(f'<td class="n">{escape_text(cell)}</td>' for cell in cells)
        body += f'<tr><th scope="row">{escape_text(label)}</th>{numbers}</tr>'
    return scroll_box(f"<table>{head}<tbody>{body}</tbody></table>", title)
