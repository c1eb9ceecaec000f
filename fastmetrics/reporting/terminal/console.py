"""The console of standard output, and what the tables of the terminal share: borders, gaps, widths of columns."""

import sys
from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

# Wide enough for every line of a table that goes to a file or a pipe.
PIPED_WIDTH = 120
GAP = 2  # between the columns of a wide table
INDENT = (0, 0, 0, 1)
MIN_NAME_WIDTH = 8  # to which a column of names is folded


def standard_output() -> Console:
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)


def borderless_table() -> Table:
    """A table with a line below its header and no other border."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), header_style="bold")


def dense_table() -> Table:
    """The same with narrow gaps, for tables of many columns."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, GAP - 1, 0, 0), header_style="bold")


def add_name_column(table: Table, name: str, width: int) -> None:
    """A column of names, which are folded to `width`."""
    table.add_column(Text(name), style="cyan", max_width=width, overflow="fold", vertical="bottom")


def column_width(header: str, cells: Sequence[str | Text]) -> int:
    return max(cell_len(line) for text in (header, *map(str, cells)) for line in text.split("\n"))


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
