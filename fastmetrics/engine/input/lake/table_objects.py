"""Tables and scans that deltalake and pyiceberg made."""

from __future__ import annotations

from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.input_options import InputOptions


def open_table_object(data: object, options: InputOptions) -> Source | None:
    """The source of a table or a scan; None for other data."""
    return None
