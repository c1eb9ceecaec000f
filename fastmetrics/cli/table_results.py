"""Results of commands that are a table: what is written of them to files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._core.results.output_files import write_parquet
from fastmetrics._version import __version__
from fastmetrics.reporting.tables import Table
from fastmetrics.reporting.terminal.console import versioned_json
from fastmetrics.reporting.text_tables import csv_text, markdown_lines

if TYPE_CHECKING:
    import pyarrow as pa


class TableResult(NamedTuple):
    """A result with the methods of reports that write files.

    `table` has all digits, and the tables of `shown` those that people read; `content` is for JSON. `notes` stand below
    the tables.
    """

    title: str
    table: Table
    shown: Sequence[Table]
    content: Mapping[str, Any]
    notes: Sequence[str] = ()

    def to_csv(self) -> str:
        return csv_text(self.table)

    def to_json(self, *, indent: int | None = None) -> str:
        return versioned_json(self.content, indent=indent)

    def to_markdown(self) -> str:
        notes = ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        tables = [line for table in self.shown for line in ["", *markdown_lines(table)]]
        return "\n".join([*tables[1:], *notes, ""])

    def to_parquet(self, path: Path) -> None:
        write_parquet(arrow_table(self.table), path)

    def to_html(self) -> str:
        from fastmetrics.reporting.html_page import Section, html_document
        from fastmetrics.reporting.html_tables import escape_text, text_table_html

        notes = "".join(f"<p>{escape_text(note)}</p>" for note in self.notes)
        tables = "".join(text_table_html(replace(table, title=table.title or self.title)) for table in self.shown)
        values = Section("values", "Values", tables + notes)
        return html_document(self.title, "fastmetrics", (), (), [values], __version__)


def arrow_table(table: Table) -> pa.Table:
    """The table with columns of numbers; rows that have a text in one of them, such as names of runs, are left out."""
    numeric = [number for number, column in enumerate(table.columns) if column.is_numeric]
    rows = [row for row in table.text_rows() if all(is_number(row[number]) for number in numeric)]
    texts = list(zip(*rows, strict=True)) or [()] * len(table.columns)
    return pyarrow.table(
        {
            column.name: numbers_of(own) if column.is_numeric else pyarrow.array(own, pyarrow.string())
            for column, own in zip(table.columns, texts, strict=True)
        }
    )


def is_number(text: str) -> bool:
    try:
        return not text or float(text) is not None
    except ValueError:
        return False


def numbers_of(texts: Sequence[str]) -> pa.Array:
    """The texts of a column as integers, or as floats; an empty text is null."""
    if all(text.lstrip("-").isdecimal() or not text for text in texts) and any(texts):
        return pyarrow.array([int(text) if text else None for text in texts], pyarrow.int64())
    return pyarrow.array([float(text) if text else None for text in texts], pyarrow.float64())
