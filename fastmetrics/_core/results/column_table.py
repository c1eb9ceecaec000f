"""Tables that results hold: NumPy columns of equal length, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.optional_imports import import_extra, pyarrow
from fastmetrics._core.results.table_columns import array_of_values


def arrow_array(column: np.ndarray) -> pyarrow.Array:
    """A column as an Arrow array; keys of several columns as structs."""
    if column.dtype.names is None:
        return array_of_values(column)
    names = list(column.dtype.names)
    return pyarrow.StructArray.from_arrays([array_of_values(column[name]) for name in names], names)


class ColumnTable:
    """Columns by name."""

    __slots__ = ("columns",)

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, column: str) -> np.ndarray:
        return self.columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def to_arrow(self) -> pyarrow.Table:
        """The same columns as an Arrow table.

        Returns
        -------
        pyarrow.Table
        """
        pa = import_extra("pyarrow", f"{type(self).__name__}.to_arrow")
        return pa.table({name: arrow_array(column) for name, column in self.columns.items()})

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists.

        Returns
        -------
        dict of str to list
        """
        return {name: column.tolist() for name, column in self.columns.items()}
