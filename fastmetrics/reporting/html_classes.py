"""Confusion matrices and tables by class, as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from fastmetrics._core.class_matrix import ClassMatrix
from fastmetrics.reporting.class_tables import (
    HEADER,
    MAX_MATRIX_CLASSES,
    class_cells,
    class_title,
    matrix_cells,
    matrix_title,
    shown_classes,
)
from fastmetrics.reporting.html_parts import caption, header_row, scroll_box
from fastmetrics.reporting.svg_plots import escape_text


def classes_body(matrices: Sequence[ClassMatrix]) -> str:
    """All matrices as HTML, each with its table by class."""
    body = ""
    for matrix in matrices:
        if len(matrix.classes) <= MAX_MATRIX_CLASSES:
            body += html_table(matrix_title(matrix), *matrix_cells(matrix))
        body += html_table(class_title(matrix), HEADER, [class_cells(row) for row in shown_classes(matrix)])
    return body


def html_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = caption(title) + header_row([(escape_text(name), number > 0) for number, name in enumerate(header)])
    body = ""
    for label, *cells in rows:
        numbers = "".join(f'<td class="n">{escape_text(cell)}</td>' for cell in cells)
        body += f'<tr><th scope="row">{escape_text(label)}</th>{numbers}</tr>'
    return scroll_box(f"<table>{head}<tbody>{body}</tbody></table>", title)
