"""Tables of lakes by their folder: Delta Lake, Iceberg, Hudi."""

from __future__ import annotations

from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.files.table_markers import LakeTable
from fastmetrics.engine.input.input_options import InputOptions


def open_table(table: LakeTable, options: InputOptions) -> Source:
    """The snapshot of a table, as a source."""
    raise ValueError(
        f"{table.location} is a table of {table.kind}, whose files may hold rows that are removed from it; read it "
        "with its own library, and pass the Arrow table"
    )
