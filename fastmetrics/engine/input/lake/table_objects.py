"""Tables and scans that deltalake and pyiceberg made."""

from __future__ import annotations

from fastmetrics._core.optional_imports import library_of
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.input_options import InputOptions


def open_table_object(data: object, options: InputOptions) -> Source | None:
    """The source of a table or a scan; None for other data."""
    module = library_of(data)
    if module == "deltalake":
        import deltalake

        if isinstance(data, deltalake.DeltaTable):
            from fastmetrics.engine.input.lake.delta_table import open_delta_object

            return open_delta_object(data, options)
    if module == "pyiceberg":
        from pyiceberg.table import DataScan, Table

        from fastmetrics.engine.input.lake.iceberg_table import open_iceberg_scan, open_iceberg_table

        if isinstance(data, Table):
            return open_iceberg_table(data, options)
        if isinstance(data, DataScan):
            for name in ("version", "timestamp"):
                if getattr(options, name) is not None:
                    raise ValueError(f"{name}: the scan has a snapshot; table.scan(snapshot_id=...) has another")
            return open_iceberg_scan(data, data.io)
    return None
