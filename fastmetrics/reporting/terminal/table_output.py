"""Tables of text on standard output: drawn on a terminal, aligned in a pipe, as Markdown, as CSV."""

import json
import sys
from collections.abc import Iterable
from itertools import islice
from typing import Any

from rich.text import Text

from fastmetrics._core.result_set import as_json_value
from fastmetrics._version import __version__
from fastmetrics.reporting.terminal.console import borderless_table, standard_output
from fastmetrics.reporting.text_table import TextTable

SCHEMA = 1
BEST_STYLE = "bold green"
CSV, MARKDOWN = "csv", "markdown"
LINES_PER_WRITE = 4096


def write_table(table: TextTable, layout: str, *, is_first: bool = True) -> None:
    """Write the table as CSV, as Markdown, or for people. A table that is not the first follows a blank line."""
    if layout == CSV:
        sys.stdout.write(table.csv())
    elif layout == MARKDOWN:
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
