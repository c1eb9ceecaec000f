"""The columns of a table with a row for every result, and the tables of other libraries made from them.

A column has a kind, which decides its type in every library: Arrow, pandas, polars, CSV.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import import_extra, pyarrow

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

# "slice" is the type of the values themselves, "array" that of a NumPy array; of floats in it NaN becomes null.
Kind = Literal["text", "number", "count", "slice", "array"]
SLICED_BY = "sliced_by"
# The ends of an interval in every result: attributes, columns, flat names, JSON. A prefix says of which interval.
CI_LOW, CI_HIGH = INTERVAL_ENDS = ("ci_low", "ci_high")


class TableColumn(NamedTuple):
    """A column: a value for every row, None if there is none."""

    name: str
    kind: Kind
    values: Any


def slice_columns(slices: Sequence[Mapping[str, Any]], taken: Container[str]) -> list[TableColumn]:
    """A column for every column of slices, null in rows of other slices, and the names of those that a row is of.

    A name in `taken` gets "slice_" before it. The last column tells a slice of null values from all rows.
    """
    columns: list[TableColumn] = []
    names: dict[str, str] = {}
    for key in dict.fromkeys(key for one in slices for key in one):
        name = key
        while name in taken or name == SLICED_BY or name in names.values():
            name = f"slice_{name}"
        names[key] = name
        columns.append(TableColumn(name, "slice", [one.get(key) for one in slices]))
    return [*columns, TableColumn(SLICED_BY, "text", [", ".join(names[key] for key in one) for one in slices])]


def interval_columns(intervals: Sequence[tuple[float, float] | None], prefix: str = "") -> list[TableColumn]:
    """The ends of intervals."""
    return [
        TableColumn(prefix + name, "number", [None if own is None else own[end] for own in intervals])
        for end, name in enumerate(INTERVAL_ENDS)
    ]


def interval_fields(interval: tuple[float, float] | None, prefix: str = "") -> dict[str, float | None]:
    """The ends of an interval by name."""
    return {prefix + name: None if interval is None else interval[end] for end, name in enumerate(INTERVAL_ENDS)}


def array_of_values(values: Any) -> Any:
    """A pyarrow array of values: integers that it has no type for are decimals, values of several types texts."""
    from decimal import Decimal

    try:
        return pyarrow.array(values)
    except (pyarrow.ArrowException, OverflowError):
        known = [value for value in values if value is not None]
        if all(type(value) in (int, Decimal) for value in known):
            try:
                return pyarrow.array([None if value is None else Decimal(value) for value in values])
            except pyarrow.ArrowException:
                pass  # too long for decimals
        return pyarrow.array([None if value is None else str(value) for value in values], pyarrow.string())


def python_values(values: Any) -> list[Any]:
    """The values of a column as Python's; keys of several columns are tuples."""
    if isinstance(values, list):
        return values
    if values.dtype.str.endswith("[ns]"):  # Python's times have microseconds, and NumPy would give integers
        rounded = values.astype(values.dtype.str.replace("[ns]", "[us]"))
        return list(rounded.tolist() if (rounded == values).all() else values)
    return list(values.tolist())


def arrow_array(column: Any) -> Any:
    """A NumPy array as an Arrow array; keys of several columns as structs, undefined floats as nulls."""
    if column.dtype.names is not None:
        names = list(column.dtype.names)
        return pyarrow.StructArray.from_arrays([array_of_values(column[name]) for name in names], names)
    return pyarrow.array(column, from_pandas=True) if column.dtype.kind == "f" else array_of_values(column)


def arrow_table(columns: Iterable[TableColumn], caller: str) -> pa.Table:
    """The columns as an Arrow table."""
    import_extra("pyarrow", caller)
    types = {"text": pyarrow.string(), "number": pyarrow.float64(), "count": pyarrow.int64()}

    def array(column: TableColumn) -> Any:
        if column.kind == "array":
            return arrow_array(column.values)
        if column.kind != "slice":
            return pyarrow.array(column.values, types[column.kind])
        found = array_of_values(column.values)
        return found.cast(pyarrow.string()) if pyarrow.types.is_null(found.type) else found

    return pyarrow.table({column.name: array(column) for column in columns})


def pandas_frame(columns: Iterable[TableColumn], caller: str) -> pd.DataFrame:
    """The columns as a data frame of pandas: counts, and slices of integers or booleans, have its nullable types."""
    pandas = import_extra("pandas", caller)

    def series(column: TableColumn) -> Any:
        if column.kind == "array":
            names = column.values.dtype.names
            return [dict(zip(names, key, strict=True)) for key in column.values.tolist()] if names else column.values
        dtype = {"number": "float64", "count": "Int64"}.get(column.kind)
        if column.kind == "slice":
            # Otherwise the null of all rows would turn every 1 into 1.0.
            kinds = {type(value) for value in column.values if value is not None}
            dtype = {int: "Int64", bool: "boolean"}.get(kinds.pop()) if len(kinds) == 1 else None
        return pandas.Series(column.values, dtype=dtype or (None if column.values else "object"))

    return cast("pd.DataFrame", pandas.DataFrame({column.name: series(column) for column in columns}))


def polars_frame(columns: Iterable[TableColumn], caller: str) -> pl.DataFrame:
    """The columns as a data frame of polars, with the types of the Arrow table."""
    polars = import_extra("polars", caller)
    return cast("pl.DataFrame", polars.from_arrow(arrow_table(columns, caller)))


def csv_text(columns: Sequence[TableColumn]) -> str:
    """The columns as CSV. A null is empty, and so is NaN; an empty text is "", so that it differs from a null."""
    rows = zip(*(python_values(column.values) for column in columns), strict=True)
    lines = [",".join(map(csv_cell, row)) for row in ([column.name for column in columns], *rows)]
    return "\n".join([*lines, ""])


def csv_cell(value: Any) -> str:
    """A value as a cell of CSV: floats with the shortest digits that mean exactly them, dates as in ISO 8601."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, bytes):
        text = value.decode("utf-8", "backslashreplace")
    else:
        text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    if text == "" or text != text.strip() or any(sign in text for sign in ',"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text
