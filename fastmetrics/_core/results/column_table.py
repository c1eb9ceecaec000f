"""Tables that results hold: NumPy columns of equal length, by name."""

from __future__ import annotations

from collections.abc import KeysView
from typing import Any

import numpy as np

from fastmetrics._core.results.json_results import as_json_value
from fastmetrics._core.results.table_columns import TableColumn, python_values
from fastmetrics._core.results.table_rows import ReadByName, refuse_place
from fastmetrics._core.upper_layers import render

MAX_LISTED_ROWS = 10


class ColumnTable(ReadByName[np.ndarray]):
    """Columns by name: ``table["auc"]`` is one, ``dict(table)`` has all; `len` and iteration are those of the rows."""

    __slots__ = ("columns",)

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        self.columns = columns

    def __getattr__(self, name: str) -> Any:
        if name != "columns" and name in self.columns:
            return self.columns[name]
        return super().__getattr__(name)

    def __getitem__(self, column: str) -> np.ndarray:
        refuse_place(column, type(self).__name__)
        if column not in self.columns:
            raise KeyError(f"no column {column!r} in this table; it has {', '.join(self.columns)}")
        return self.columns[column]

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def keys(self) -> KeysView[str]:
        """The names of the columns."""
        return self.columns.keys()

    def _table_columns(self) -> list[TableColumn]:
        return [TableColumn(name, "array", column) for name, column in self.columns.items()]

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists of what JSON has: dates and times are texts, and NaN becomes None.

        Returns
        -------
        dict of str to list
        """
        found = {name: python_values(column) for name, column in self.columns.items()}
        others = [
            name
            for name, column in self.columns.items()
            if column.dtype.kind not in "biuf" or (column.dtype.kind == "f" and not np.isfinite(column).all())
        ]
        return found | {name: as_json_value(found[name]) for name in others}

    def __repr__(self) -> str:
        cells = {name: python_values(column[:MAX_LISTED_ROWS]) for name, column in self.columns.items()}
        left = [place for place, own in enumerate(cells.values()) if not own or isinstance(own[0], str)]
        rows = zip(*(map(format_cell, own) for own in cells.values()), strict=True)
        more = [f"... {len(self):,} rows in all"] if len(self) > MAX_LISTED_ROWS else []
        return "\n".join([*render("aligned lines", [list(cells), *map(list, rows)], left), *more])


def format_cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)
