"""Tables as HTML: those of pages, of cells with marks and numbers to sort by, and those of notebooks.

Every text that comes from data goes through `escape_text`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from fastmetrics.reporting.metric_facts import describe_metric
from fastmetrics.reporting.number_formats import TABLE_DIGITS, decimals_for
from fastmetrics.reporting.tables import MAX_TABLE_ROWS, Document, Kind, ShownColumn, Table

MAX_NAME_LENGTH = 40  # in a table
MIN_TALL_ROWS = 25  # from here on a table's box has a limited height
FIGURE_SPACE = "\u2007"  # as wide as a digit
NOTEBOOK_CELL = "text-align:left;padding:0.2em 1em 0.2em 0;border-bottom:1px solid rgba(128,128,128,0.35);"
NOTEBOOK_NUMBER = f"{NOTEBOOK_CELL}font-family:monospace;white-space:pre;"  # digits of equal width


def escape_text(text: str) -> str:
    """A text for HTML: escaped, and without the control characters that HTML forbids."""
    return escape("".join(letter if letter.isprintable() or letter == " " else "�" for letter in str(text)))


def shortened(text: str, max_length: int) -> str:
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


# ----------------------------------------------------------------------------------------------------- tables of pages


def html_table(columns: Sequence[ShownColumn], bodies: str, caption: str, label: str) -> str:
    """A table below its caption, which stays visible when the table scrolls in its box."""
    cells = "".join(
        f'<th scope="col"{" class=n" if column.is_numeric else ""}>{escape_text(column.name)}</th>'
        for column in columns
    )
    return scroll_box(f"<table>{table_head(cells, caption)}{bodies}</table>", label)


def sortable_table(
    columns: Sequence[ShownColumn], bodies: str, n_rows: int, caption: str, label: str, n_staying: int = 1
) -> str:
    """A table with buttons in its header, which sort the rows inside each of its bodies if scripts run.

    Rows of the classes "over" and "whole" stay above the others. The first `n_staying` columns stay in sight when the
    table scrolls sideways.
    """
    cells = "".join(
        f'<th scope="col" aria-sort="none" data-name="{escape_text(column.name)}"'
        f'{" class=n" if column.is_numeric else ""}><button type="button">'
        f"{name_html(column.name)}</button></th>"
        for column in columns
    )
    head = table_head(cells, caption)
    table = f'<table class="sortable" aria-describedby="sorted" data-stay="{n_staying}">{head}{bodies}</table>'
    box = scroll_box(table, label, is_tall=n_rows > MIN_TALL_ROWS)
    return f'{box}<p class="away" id="sorted" aria-live="polite"></p>'


def table_head(cells: str, caption: str) -> str:
    return f'<caption><span class="wide">{escape_text(caption)}</span></caption><thead><tr>{cells}</tr></thead>'


def scroll_box(table: str, label: str, *, is_tall: bool = False) -> str:
    """A table in a box that scrolls if the page is too narrow. The keyboard reaches the box."""
    css_class = "box tall" if is_tall else "box"
    return f'<div class="{css_class}" role="region" aria-label="{escape_text(label)}" tabindex="0">{table}</div>'


def text_table_html(table: Table) -> str:
    """A table of texts; the first column names the rows."""
    body = ""
    for name, *texts in table.text_rows():
        columns = zip(table.columns[1:], texts, strict=True)
        cells = (f'<td{" class=n" if column.is_numeric else ""}>{escape_text(text)}</td>' for column, text in columns)
        body += f'<tr><th scope="row">{escape_text(name)}</th>{"".join(cells)}</tr>'
    return html_table(table.columns, f"<tbody>{body}</tbody>", table.title, table.title)


# ------------------------------------------------------------------------------------------------------ cells of pages


def number_cell(
    text: str, value: float | None = None, *, below: str = "", bar: str = "", css_class: str = "n", strong: bool = False
) -> str:
    """A number with all its digits for programs, by which the table sorts; a smaller text and a bar below it."""
    is_finite = value is not None and math.isfinite(value)
    if isinstance(value, float) and not math.isnan(value):
        text = f'<data value="{value!r}">{text}</data>'
    content = f'<span class="value">{text}</span>' if strong else text
    content += f'<br><span class="why">{below}</span>' if below else ""
    return f'<td class="{css_class}" data-key="{repr(value) if is_finite else ""}">{content}{bar}</td>'


def slice_cells(texts: Iterable[str], values: Iterable[Any]) -> str:
    """The values of a slice at the start of a row; a number is sorted by its value instead of its text."""
    cells = ""
    for text, value in zip(texts, values, strict=True):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        key = f' data-key="{repr(value) if math.isfinite(value) else ""}"' if is_number else ""
        cells += f'<th scope="row"{key}>{name_html(text)}</th>'
    return cells


def name_html(name: str) -> str:
    """A name in a table. A very long one is cut and has its whole text as title; one of blanks is quoted."""
    name = name if name.strip() else repr(name)
    short = escape_text(shortened(name, MAX_NAME_LENGTH))
    return short if len(name) <= MAX_NAME_LENGTH else f'<span title="{escape_text(name)}">{short}</span>'


def metric_body(metric: str, rows: str) -> str:
    """The rows of a metric, which the reader of a page may hide."""
    return f'<tbody class="group" data-metric="{escape_text(metric)}">{rows}</tbody>'


def metric_header(metric: str, n_columns: int = 0) -> str:
    """The metric and its description: at the start of a row, or over `n_columns` columns as a row of its own."""
    description = " ".join(text for text in describe_metric(metric) if text)
    content = f'<span class="name">{escape_text(metric)}</span>'
    content += f' <span class="what">{escape_text(description)}</span>' if description else ""
    if not n_columns:
        return f'<th class="metric" scope="row">{content}</th>'
    wide = f'<span class="wide">{content}</span>'
    return f'<tr class="over"><th class="metric" scope="rowgroup" colspan="{n_columns}">{wide}</th></tr>'


def align_decimals(texts: Sequence[str]) -> list[str]:
    """Pad numbers of different decimals so that their points are aligned when the texts are aligned right."""
    n_after = [len(text) - text.rfind(".") if "." in text else 0 for text in texts]
    widest = max(n_after, default=0)
    # A point is narrower than a digit, so a number without a point gets the space of a point, too.
    return [text + (FIGURE_SPACE * (widest - n) if n else "") for text, n in zip(texts, n_after, strict=True)]


def common_decimals(
    values: Iterable[float], intervals: Iterable[Sequence[float] | None] = (), digits: int = TABLE_DIGITS
) -> int | None:
    """The decimals of a metric's values and intervals, the same for all."""
    return decimals_for([*values, *(end for interval in intervals if interval for end in interval)], digits)


# ----------------------------------------------------------------------------------------------------------- notebooks


def notebook_html(document: Document) -> str:
    """A table for notebooks. Its only color is a gray that is readable on light and dark pages."""
    table = document.table.first_rows()
    below = [*document.footer, *document.note_lines()]
    if more := len(document.table.rows) - len(table.rows):
        below.insert(0, f"{more:,} more rows: print({document.noun}), {document.noun}.to_pandas()")
    parts = [notebook_lines(document.heading), notebook_table(table), notebook_lines(below)]
    for other in document.other_tables:
        parts += [notebook_lines([other.title]), notebook_table(other)]
    return f'<div style="color:inherit;background:transparent;">{"".join(parts)}</div>'


def rows_html(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Rows of any cells as a table for notebooks."""
    columns = [[row[place] for row in rows[:MAX_TABLE_ROWS]] for place in range(len(names))]
    shown = [ShownColumn(name, cell_kind(cells), TABLE_DIGITS) for name, cells in zip(names, columns, strict=True)]
    plain = (int, float, str, type(None))
    cells = [
        [cell if isinstance(cell, plain) and not isinstance(cell, bool) else str(cell) for cell in row]
        for row in rows[:MAX_TABLE_ROWS]
    ]
    more = [f"{len(rows) - MAX_TABLE_ROWS:,} more rows"] if len(rows) > MAX_TABLE_ROWS else []
    table = notebook_table(Table(shown, cells))
    return f'<div style="color:inherit;background:transparent;">{table}{notebook_lines(more)}</div>'


def cell_kind(cells: Sequence[Any]) -> Kind:
    """What a column of cells is: counts, values or names."""
    kinds = {type(cell) for cell in cells if cell is not None}
    return "count" if kinds == {int} else "value" if kinds == {float} else "note"


def notebook_lines(lines: Sequence[str]) -> str:
    return f'<p style="opacity:0.75;">{"<br>".join(map(escape_text, lines))}</p>' if lines else ""


def notebook_table(table: Table) -> str:
    styles = [NOTEBOOK_NUMBER if column.has_points else NOTEBOOK_CELL for column in table.columns]
    head = "".join(f'<th style="{NOTEBOOK_CELL}">{escape_text(name)}</th>' for name in table.header)
    body = ""
    for texts in table.text_rows(aligned=True):
        cells = (f'<td style="{style}">{escape_text(text)}</td>' for text, style in zip(texts, styles, strict=True))
        body += f"<tr>{''.join(cells)}</tr>"
    return (
        '<table style="border-collapse:collapse;color:inherit;background:transparent;">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
