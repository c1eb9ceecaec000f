"""Rows of text in aligned columns: plain, Markdown, CSV. Every table of text is made here."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence

from fastmetrics._core.named_tuples import NamedTuple

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


class TextTable(NamedTuple):
    """A table of texts: first columns with names, then `n_values` columns of numbers.

    `best` holds (row, column) of the best values, which are marked.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_values: int
    best: Collection[tuple[int, int]] = ()

    @property
    def n_names(self) -> int:
        return len(self.header) - self.n_values

    def plain_lines(self) -> list[str]:
        """Names to the left, numbers to the right, a star after the best."""
        return aligned_lines([self.header, *self.starred_rows()], range(self.n_names))

    def starred_rows(self) -> list[list[str]]:
        """A star after the best values, and a blank after the other values of their columns."""
        starred_columns = {column for _, column in self.best}
        return [
            [
                cell + ("*" if (row, column) in self.best else " " if column in starred_columns else "")
                for column, cell in enumerate(cells)
            ]
            for row, cells in enumerate(self.rows)
        ]

    def markdown_lines(self, names: Container[int] | None = None) -> Iterator[str]:
        """A table of Markdown, the best values in bold. `names` are the columns of names, if not the first ones."""
        left = range(self.n_names) if names is None else names
        cells = [
            [f"**{cell}**" if (row, column) in self.best else cell for column, cell in enumerate(cells)]
            for row, cells in enumerate(self.rows)
        ]
        escaped = [[cell.replace("|", "\\|") for cell in row] for row in [self.header, *cells]]
        header, *rows = padded_columns(escaped, left, min_width=3)
        widths = map(len, header)
        rule = ["-" * n if column in left else "-" * (n - 1) + ":" for column, n in enumerate(widths)]
        for row in [header, rule, *rows]:
            yield f"| {' | '.join(row)} |"

    def csv(self) -> str:
        """The table separated by commas; the best values are not marked."""
        import csv
        import io

        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.header, *self.rows])
        return text.getvalue()
