"""The console of standard output, and what is written to it: lines, documents, tables.

A table of text is drawn on a terminal, aligned in a pipe, or written as Markdown or CSV. The tables of the terminal
share borders, gaps and widths of columns.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fastmetrics._core.results.result_set import as_json_value
from fastmetrics._version import __version__
from fastmetrics.reporting.number_formats import ALL_DIGITS
from fastmetrics.reporting.text_table import TextTable

# Wide enough for every line of a table that goes to a file or a pipe.
PIPED_WIDTH = 120
GAP = 2  # between the columns of a wide table
INDENT = (0, 0, 0, 1)
MIN_NAME_WIDTH = 8  # to which a column of names is folded
SCHEMA = 1
BEST_STYLE = "bold green"
LINES_PER_WRITE = 4096


def digits_note(digits: int) -> str:
    """Where the digits are that a table does not show."""
    return f"{digits} digits; all of them are in --json, in --format csv and with --digits {ALL_DIGITS}"


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


def write_table(table: TextTable, layout: str, *, is_first: bool = True) -> None:
    """Write the table as CSV, as Markdown, or for people. A table that is not the first follows a blank line."""
    if layout == "csv":
        sys.stdout.write(table.csv())
    elif layout == "markdown":
        write_lines([*([] if is_first else [""]), *table.markdown_lines()])
    elif sys.stdout.isatty():
        draw_table(table)
    else:
        write_lines([*([] if is_first else [""]), *table.plain_lines()])


def draw_table(table: TextTable) -> None:
    """Draw the table on a terminal; the best values are highlighted."""
    drawn = borderless_table()
    for column, name in enumerate(table.header):
        if column < table.n_names:
            drawn.add_column(Text(name), style="cyan" if column == 0 else "dim", no_wrap=True)
        else:
            drawn.add_column(Text(name), justify="right", overflow="fold")
    for row, cells in enumerate(table.rows):
        styles = [BEST_STYLE if (row, column) in table.best else "" for column in range(len(cells))]
        drawn.add_row(*(Text(cell, style) for cell, style in zip(cells, styles, strict=True)))
    standard_output().print("", drawn, "", sep="\n")


def write_json(**content: Any) -> None:
    """Write a document with the version of its schema and of the library: all numbers with all digits; NaN is null."""
    document = {"schema": SCHEMA, "version": __version__, **content}
    sys.stdout.write(json.dumps(as_json_value(document), indent=2) + "\n")


def write_lines(lines: Iterable[str]) -> None:
    """Write many lines at once: one write per line would take longer than the evaluation."""
    remaining = iter(lines)
    while batch := list(islice(remaining, LINES_PER_WRITE)):
        sys.stdout.write("".join(f"{line}\n" for line in batch))
