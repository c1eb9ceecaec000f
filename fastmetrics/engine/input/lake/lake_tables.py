"""Tables of lakes by their folder: Delta Lake, Iceberg, Hudi."""

from __future__ import annotations

from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.files.table_markers import DELTA, ICEBERG, LakeTable
from fastmetrics.engine.input.input_options import InputOptions


def open_table(table: LakeTable, options: InputOptions) -> Source:
    """The snapshot of a table, as a source."""
    for name in ("format", "format_options"):
        if getattr(options, name) is not None:
            raise ValueError(f"{name}: it is for files, and {table.location} is a table of {table.kind}")
    if table.kind == DELTA:
        from fastmetrics.engine.input.lake.delta_table import open_delta_folder

        return open_delta_folder(table.location, options)
    if table.kind == ICEBERG:
        from fastmetrics.engine.input.lake.iceberg_table import open_iceberg_folder

        return open_iceberg_folder(table.location, options)
    raise ValueError(
        f"{table.location} is a table of {table.kind}, which is not read here, and whose files may hold rows that are "
        "removed from it; read its snapshot with Spark, and use fastmetrics.spark"
    )
