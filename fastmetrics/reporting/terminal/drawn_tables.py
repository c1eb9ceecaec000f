"""Tables drawn with rich: small ones, and wide ones in several parts if the window is too narrow."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.reporting.number_formats import UNDEFINED
from fastmetrics.reporting.tables import Kind, Table

GAP = 2  # between the columns of a wide table
INDENT = (0, 0, 0, 1)
MIN_NAME_WIDTH = 8  # to which a column of names is folded
EMPHASIS_STYLES = {"best": "bold green", "better": "bold green", "worse": "bold red", "different": "bold"}
COLUMN_OPTIONS: dict[Kind, dict[str, Any]] = {
    "name": {"style": "cyan", "overflow": "fold"},
    "count": {"style": "dim", "justify": "right", "no_wrap": True},
    "value": {"no_wrap": True},
    "number": {"justify": "right", "overflow": "fold"},
    "note": {"style": "dim"},
}


def borderless_table() -> RichTable:
    """A table with a line below its header and no other border."""
    return RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), header_style="bold")


def drawn_table(table: Table) -> RichTable:
    drawn = borderless_table()
    for column in table.columns:
        drawn.add_column(Text(column.name), **COLUMN_OPTIONS[column.kind])
    for cells in zip(*styled_columns(table), strict=True):
        drawn.add_row(*cells)
    return drawn


def styled_columns(table: Table) -> Iterator[list[Text]]:
    """The cells of every column: values of equal width, undefined and emphasized ones in a style of their own."""
    for number, (column, texts) in enumerate(zip(table.columns, table.text_columns(aligned=True), strict=True)):
        is_value = column.kind == "value"
        width = max((len(text) for text in texts if text != UNDEFINED), default=0) if is_value else 0
        styles = [
            "bold yellow" if is_value and text == UNDEFINED
            else EMPHASIS_STYLES.get(table.emphasis.get((row, number), ""), "bold" if is_value else "")
            for row, text in enumerate(texts)
        ]  # fmt: skip
        yield [Text(text.ljust(width), style) for text, style in zip(texts, styles, strict=True)]


def print_wide_table(console: Console, table: Table) -> None:
    """Print names and as many other columns as fit, then the names with further columns. Notes are left out."""
    shown = table.first_rows()
    columns = columns_with_details(shown)
    names = list(takewhile(lambda column: column.kind in ("name", "count"), columns))
    others = columns[len(names) :]
    name_widths = folded_widths(list(map(DrawnColumn.width, names)), console.width // 2)
    available = console.width - sum(width + GAP for width in name_widths)
    for part, places in enumerate(split_columns(list(map(DrawnColumn.width, others)), available)):
        drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, GAP - 1, 0, 0), header_style="bold")
        part_columns = [*names, *(others[place] for place in places)]
        for column, width in zip_longest(part_columns, name_widths):
            max_width = width if column.kind == "name" else None
            drawn.add_column(Text(column.header), vertical="bottom", max_width=max_width, **COLUMN_OPTIONS[column.kind])
        for row in range(len(shown.rows)):
            if row in shown.sections:
                drawn.add_section()
            drawn.add_row(*(column.cells[row] for column in part_columns))
        console.print(*([""] if part else []), Padding(drawn, INDENT, expand=False), sep="\n")
    if more := len(table.rows) - len(shown.rows):
        console.print(f"\n {more:,} more rows are in a pipe and in --json", style="yellow")


class DrawnColumn(NamedTuple):
    """A column of a wide table: its kind, its header of one or several lines, its cells."""

    kind: Kind
    header: str
    cells: list[Text]

    def width(self) -> int:
        return max(cell_len(line) for text in (self.header, *map(str, self.cells)) for line in text.split("\n"))


def columns_with_details(table: Table) -> list[DrawnColumn]:
    """The columns, where a detail stands in the column before it."""
    drawn: list[DrawnColumn] = []
    for column, cells in zip(table.columns, styled_columns(table), strict=True):
        if column.kind == "detail":
            kind, header, numbers = drawn.pop()
            header += f"\n{column.name}" if column.name else ""
            pairs = zip(numbers, cells, strict=True)
            drawn.append(DrawnColumn(kind, header, [beside(*pair, is_mark=not column.name) for pair in pairs]))
        elif column.kind != "note":
            header = broken_name(column.name) if column.kind == "value" else column.name
            drawn.append(DrawnColumn(column.kind, header, cells))
    return drawn


def beside(number: Text, detail: Text, *, is_mark: bool) -> Text:
    """A number with its interval, or with its mark of one letter, whose place stays empty without one."""
    if is_mark:
        return Text.assemble(number, f" {detail.plain or ' '}")
    return Text.assemble(number, (f"  {detail.plain}", "dim")) if detail.plain else number


def broken_name(name: str) -> str:
    """A metric with its parameters on lines of their own, for the header of a narrow column."""
    return re.sub(r",\s*", ",\n ", name.replace("(", "\n(", 1))


def folded_widths(widths: Sequence[int], available: int) -> list[int]:
    """The widths of columns of names. The widest are folded until all columns fit into the available width."""
    widest = max(widths)
    while sum(min(width, widest) + GAP for width in widths) > available and widest > MIN_NAME_WIDTH:
        widest -= 1
    return [min(width, widest) for width in widths]


def split_columns(widths: Sequence[int], available: int) -> list[list[int]]:
    """The columns of several tables: as many columns in order as fit into the available width, and at least one."""
    tables: list[list[int]] = [[]]
    left = available
    for column, width in enumerate(widths):
        if tables[-1] and width + GAP > left:
            tables.append([])
            left = available
        tables[-1].append(column)
        left -= width + GAP
    return tables
