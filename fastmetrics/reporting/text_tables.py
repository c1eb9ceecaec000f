"""Tables and documents as text: aligned columns, Markdown, CSV."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from fastmetrics.reporting.tables import BEST, Document, Table

Rows = Sequence[Sequence[str]]


def padded_columns(rows: Rows, left: Container[int], min_width: int = 0) -> list[list[str]]:
    """The rows with cells of equal width: columns whose numbers are in `left` are aligned left, the others right."""
    widths = [max(min_width, *map(len, column)) for column in zip(*rows, strict=True)]
    return [
        [
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]


def aligned_lines(rows: Rows, left: Container[int] = (0,)) -> list[str]:
    """The rows as lines of text, two blanks between columns."""
    return ["  ".join(cells).rstrip() for cells in padded_columns(rows, left)]


def table_lines(table: Table) -> list[str]:
    """The lines of a table. A star is after the best values, and a blank after the other values of their columns."""
    best = {place for place, how in table.emphasis.items() if how == BEST}
    starred_columns = {column for _, column in best}
    rows = [
        [
            text + ("*" if (row, column) in best else " " if column in starred_columns else "")
            for column, text in enumerate(texts)
        ]
        for row, texts in enumerate(table.text_rows(aligned=True))
    ]
    left = [number for number, column in enumerate(table.columns) if column.kind != "number"]
    return aligned_lines([table.header, *rows], left)


def titled_lines(table: Table) -> list[str]:
    """A table below its title and a blank line."""
    return ["", table.title, *table_lines(table)]


def document_text(document: Document, most_rows: int | None = None) -> str:
    """All of it, or so many rows of its table."""
    table, notes = document.table.first_rows(most_rows), document.note_lines()
    n_more = len(document.table.rows) - len(table.rows)
    more = [f"... {n_more:,} more rows: print shows all"] if n_more else []
    lines = [*document.heading, "", *table_lines(table), *more, *document.footer, *([""] if notes else []), *notes]
    return "\n".join([*lines, *(line for table in document.other_tables for line in titled_lines(table))])


def csv_text(table: Table) -> str:
    """The table separated by commas; the best values are not marked."""
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.header, *table.text_rows()])
    return text.getvalue()


# ----------------------------------------------------------------------------------------------------------- Markdown


def markdown_lines(table: Table) -> Iterator[str]:
    """A table of Markdown, the best values in bold."""
    cells = [
        [f"**{text}**" if table.emphasis.get((row, column)) == BEST else text for column, text in enumerate(texts)]
        for row, texts in enumerate(table.text_rows())
    ]
    left = [number for number, column in enumerate(table.columns) if not column.is_numeric]
    escaped_cells = [[cell.replace("|", "\\|") for cell in row] for row in [table.header, *cells]]
    header, *rows = padded_columns(escaped_cells, left, min_width=3)
    rule = ["-" * len(name) if column in left else "-" * (len(name) - 1) + ":" for column, name in enumerate(header)]
    for row in [header, rule, *rows]:
        yield f"| {' | '.join(row)} |"


def document_markdown(document: Document) -> str:
    """The tables of a document; below the first one, a list of what was read and of the notes."""
    listed = [f"- {escaped(line)}" for line in (*document.heading, *document.footer, *document.note_lines())]
    lines = [*markdown_lines(document.table), "", *listed]
    for table in document.other_tables:
        lines += ["", escaped(table.title), "", *markdown_lines(table)]
    return "\n".join([*lines, ""])


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: a star or an underscore would begin an emphasis, a line end the next item."""
    for sign in "\\`*_<>[]|":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
