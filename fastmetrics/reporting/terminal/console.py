"""The console of standard output, and what is written to it: lines, JSON, tables.

A table is drawn on a terminal, aligned in a pipe, or written as Markdown or CSV.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from rich.console import Console

from fastmetrics._core.results.json_results import as_json_value
from fastmetrics._version import __version__
from fastmetrics.reporting.number_formats import ALL_DIGITS
from fastmetrics.reporting.tables import Table
from fastmetrics.reporting.terminal.drawn_tables import drawn_table
from fastmetrics.reporting.text_tables import csv_text, markdown_lines, table_lines

# Wide enough for every line of a table that goes to a file or a pipe.
PIPED_WIDTH = 120
SCHEMA = 1
LINES_PER_WRITE = 4096


def digits_note(digits: int) -> str:
    """Where the digits are that a table does not show."""
    return f"{digits} digits; all of them are in --json, in --format csv and with --digits {ALL_DIGITS}"


def standard_output() -> Console:
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)


def write_table(table: Table, layout: str, *, is_first: bool = True) -> None:
    """Write the table as CSV, as Markdown, or for people. A table that is not the first follows a blank line."""
    if layout == "csv":
        sys.stdout.write(csv_text(table))
    elif layout != "markdown" and sys.stdout.isatty():
        standard_output().print("", drawn_table(table), "", sep="\n")
    else:
        lines = markdown_lines(table) if layout == "markdown" else table_lines(table)
        write_lines([*([] if is_first else [""]), *lines])


def versioned_json(content: Mapping[str, Any], *, indent: int | None = 2) -> str:
    """JSON with the version of its schema and of the library: all numbers with all digits; NaN is null."""
    versioned = {"schema": SCHEMA, "version": __version__, **content}
    return json.dumps(as_json_value(versioned), indent=indent)


def write_lines(lines: Iterable[str]) -> None:
    """Write many lines at once: one write per line would take longer than the evaluation."""
    remaining = iter(lines)
    while batch := list(islice(remaining, LINES_PER_WRITE)):
        sys.stdout.write("".join(f"{line}\n" for line in batch))
