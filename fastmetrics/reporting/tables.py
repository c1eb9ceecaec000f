"""A table as data, and the document that a table of results stands in.

Builders make tables (`report_table.py`, `comparison_table.py`, `class_tables.py`, the commands); writers write any of
them: `text_tables.py` as text, Markdown and CSV, `html_tables.py` as HTML, `terminal/drawn_tables.py` with rich.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from fastmetrics.reporting.number_formats import UNDEFINED, number_formatter

MAX_TABLE_ROWS = 1000  # in a browser or on a terminal; text has all rows
BEST = "best"

# What the cells of a column are; writers take alignment and style from it.
Kind = Literal[
    "name",  # what a row is of
    "count",  # numbers of rows
    "value",  # values of a metric, with their decimal points below each other
    "number",  # other numbers, aligned right
    "detail",  # texts that belong to the column before: intervals, marks
    "note",  # other texts
]
Cell = str | int | float | None  # a text, a number of rows, a value (NaN: undefined), nothing
Note = tuple[str, str]  # subject and text


@dataclass(frozen=True)
class ShownColumn:
    """A column: its name, what its cells are, and the digits of its values (None: all)."""

    name: str
    kind: Kind = "name"
    digits: int | None = None

    @property
    def has_points(self) -> bool:
        """Decimal points are below each other, and the numbers begin below the name."""
        return self.kind in ("count", "value")

    @property
    def is_numeric(self) -> bool:
        return self.has_points or self.kind == "number"

    def texts(self, cells: Sequence[Cell]) -> list[str]:
        """The cells as text. If digits are asked for, all values have equally many decimals."""
        write = number_formatter([cell for cell in cells if isinstance(cell, float)], self.digits)
        return [cell_text(cell, write) for cell in cells]

    def aligned_texts(self, cells: Sequence[Cell]) -> list[str]:
        """The same with blanks before numbers, so that decimal points are below each other."""
        texts = self.texts(cells)
        if not self.has_points:
            return texts
        before = [0 if text == UNDEFINED else len(text.partition(".")[0]) for text in texts]
        width = max(before, default=0)
        return [" " * (width - n) + text if n else text for text, n in zip(texts, before, strict=True)]


@dataclass(frozen=True)
class Table:
    """Rows of cells below the names of columns.

    `emphasis` says of cells, by row and column, that they are the "best", "better", "worse" or just "different".
    `sections` are the rows at which another slice begins, if a slice has several rows. `notes` are about the cells.
    """

    columns: Sequence[ShownColumn]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    notes: Sequence[Note] = ()
    sections: Container[int] = ()
    emphasis: Mapping[tuple[int, int], str] = field(default_factory=dict)

    @property
    def header(self) -> list[str]:
        return [column.name for column in self.columns]

    def first_rows(self, n_rows: int | None = MAX_TABLE_ROWS) -> Table:
        return replace(self, rows=self.rows[:n_rows])

    def text_columns(self, *, aligned: bool = False) -> list[list[str]]:
        """The texts of every column; aligned: with decimal points below each other."""
        cells = [[row[number] for row in self.rows] for number in range(len(self.columns))]
        pairs = zip(self.columns, cells, strict=True)
        return [column.aligned_texts(own) if aligned else column.texts(own) for column, own in pairs]

    def text_rows(self, *, aligned: bool = False) -> list[list[str]]:
        return list(map(list, zip(*self.text_columns(aligned=aligned), strict=True)))


@dataclass(frozen=True)
class Document:
    """What is printed of a result: lines, its table, lines about the table's marks, and other tables."""

    noun: str  # the name of a variable that holds the result
    heading: Sequence[str]
    table: Table
    footer: Sequence[str] = ()
    other_tables: Sequence[Table] = ()

    def note_lines(self) -> list[str]:
        return list(map(": ".join, self.table.notes))


def name_and_number_columns(names: Sequence[str], numbers: Iterable[str]) -> list[ShownColumn]:
    """Columns of names, of which the first says what a row is of, and columns of numbers."""
    return [
        *(ShownColumn(name, "note" if place else "name") for place, name in enumerate(names)),
        *(ShownColumn(name, "number") for name in numbers),
    ]


def cell_text(cell: Cell, write_value: Callable[[float], str]) -> str:
    if isinstance(cell, float):
        return UNDEFINED if math.isnan(cell) else write_value(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell or ""
