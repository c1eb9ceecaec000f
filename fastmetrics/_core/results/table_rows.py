"""What every result that is a table has: rows as named tuples, and the tables of other libraries."""

from __future__ import annotations

from collections.abc import Collection, ItemsView, Iterator, KeysView, Sequence, ValuesView
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.immutable import equal_contents
from fastmetrics._core.results.table_columns import (
    TableColumn,
    arrow_table,
    csv_text,
    pandas_frame,
    polars_frame,
    python_values,
)
from fastmetrics._core.results.unknown_attributes import answer_to_attribute
from fastmetrics._core.upper_layers import render

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import polars as pl
    import pyarrow as pa

Row = TypeVar("Row", bound="TableRow")
Named = TypeVar("Named")


class TableRow(tuple[Any, ...]):
    """A row of a table: a named tuple whose names are those of the columns, which may be any texts.

    ``row.metric`` and ``row._asdict()["metric"]`` are a cell. Rows are equal by content, undefined cells included.
    """

    _fields: tuple[str, ...] = ()

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __getattr__(self, name: str) -> Any:
        if name in self._fields:
            return self[self._fields.index(name)]
        raise AttributeError(f"no column {name!r} in this row; there are {', '.join(self._fields)}")

    def __eq__(self, other: object) -> bool:
        return equal_contents(tuple(self), tuple(other)) if isinstance(other, tuple) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._fields)

    def _ordered(self) -> tuple[Any, ...]:
        """The cells so that missing ones, which have no order, come first."""
        return tuple((cell is not None, 0 if cell is None else cell) for cell in self)

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        return self._ordered() < other._ordered() if isinstance(other, TableRow) else NotImplemented

    def __gt__(self, other: tuple[Any, ...]) -> bool:
        return self._ordered() > other._ordered() if isinstance(other, TableRow) else NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        return make_row, (type(self).__base__, self._fields, tuple(self))

    def __repr__(self) -> str:
        return f"Row({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"


@lru_cache(maxsize=256)
def row_class(base: type[Row], fields: tuple[str, ...]) -> type[Row]:
    """The class of the rows of a table with these columns."""
    return type(base.__name__, (base,), {"_fields": fields, "__module__": base.__module__})


def make_row(base: type[Row], fields: tuple[str, ...], cells: Sequence[Any]) -> Row:
    row: Row = row_class(base, fields)(cells)
    return row


class Tabular:
    """A result that is a table: `len` is the number of its rows, iteration gives them as named tuples.

    So a data frame of pandas is ``pd.DataFrame(result)``. Libraries that read Arrow take it as it is:
    ``pl.DataFrame(result)``, ``pa.table(result)``, DuckDB's queries.
    """

    __slots__ = ()

    def _table_columns(self) -> list[TableColumn]:
        """The columns of all tables that are made of the result."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(answer_to_attribute(self, name))

    def _caller(self, method: str) -> str:
        return f"{type(self).__name__}.{method}"

    def __len__(self) -> int:
        return len(self._table_columns()[0].values)

    def __iter__(self) -> Iterator[Any]:
        """The rows as named tuples of the columns of `to_arrow`."""
        columns = self._table_columns()
        make = row_class(TableRow, tuple(column.name for column in columns))
        return map(make, zip(*(python_values(column.values) for column in columns), strict=True))

    def to_arrow(self) -> pa.Table:
        """The rows as a table of pyarrow.

        Returns
        -------
        pyarrow.Table
        """
        return arrow_table(self._table_columns(), self._caller("to_arrow"))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table of `to_arrow` for any library that reads Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """The same rows and columns as `to_arrow`. Counts, and slices of integers or booleans, have nullable types.

        Returns
        -------
        pandas.DataFrame
        """
        return pandas_frame(self._table_columns(), self._caller("to_pandas"))

    def to_polars(self) -> pl.DataFrame:
        """The same rows, columns and types as `to_arrow`.

        Returns
        -------
        polars.DataFrame
        """
        return polars_frame(self._table_columns(), self._caller("to_polars"))

    @answers_unknown
    def to_csv(self, path: str | Path | None = None) -> str:
        """The same rows and columns as `to_arrow`, as CSV with all digits.

        A null is an empty cell, an empty text is "". Needs no other library.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well. It is written completely or not at all.

        Returns
        -------
        str
            CSV.
        """
        text = csv_text(self._table_columns())
        if path is not None:
            from fastmetrics._core.results.output_files import write_text  # takes milliseconds

            write_text(text, path)
        return text

    @answers_unknown
    def to_parquet(self, path: str | Path) -> None:
        """Write the table of `to_arrow` to a Parquet file.

        Parameters
        ----------
        path : str or Path
            The file. It is written completely or not at all.
        """
        from fastmetrics._core.results.output_files import write_parquet

        write_parquet(arrow_table(self._table_columns(), self._caller("to_parquet")), path)

    def _content(self) -> Any:
        """What makes two of them equal."""
        return [(column.name, python_values(column.values)) for column in self._table_columns()]

    def __eq__(self, other: object) -> bool:
        return equal_contents(self._content(), other._content()) if isinstance(other, type(self)) else NotImplemented

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        names = [column.name for column in self._table_columns()]
        return str(render("notebook rows", names, list(self)))


def refuse_place(key: object, result: str) -> None:
    """TypeError for a place, ``result[0]`` or ``result[:3]``, where names are the keys: a list has places."""
    if isinstance(key, slice):
        typed = ":".join("" if end is None else repr(end) for end in (key.start, key.stop, key.step))
        typed = typed if key.step is not None else typed.removesuffix(":")
    elif isinstance(key, int):
        typed = repr(key)
    else:
        return
    raise TypeError(f"a {result} is read by names, not by places; list(...)[{typed}] reads by places")


class ReadByName(Tabular, Generic[Named]):
    """A table with names that lead to values, as a dict has them; iteration gives the rows, not the names."""

    __slots__ = ()

    def __getitem__(self, name: Any) -> Named:
        raise NotImplementedError

    def __contains__(self, name: object) -> bool:
        raise NotImplementedError

    def keys(self) -> Collection[Any]:
        """The names: ``dict(result)`` has their values."""
        raise NotImplementedError

    @answers_unknown
    def items(self) -> ItemsView[Any, Named]:
        """The names with their values."""
        return {name: self[name] for name in self.keys()}.items()

    @answers_unknown
    def values(self) -> ValuesView[Named]:
        """The values of the names."""
        return {name: self[name] for name in self.keys()}.values()

    @answers_unknown
    def get(self, name: Any, default: Any = None) -> Any:
        """The value of a name, or `default`."""
        if name in self:
            return self[name]
        return default


class NamedValues(ReadByName[Named]):
    """A table whose first column has names that lead to values: ``result[name]``, ``dict(result)``."""

    __slots__ = ()

    def _named(self) -> dict[Any, Named]:
        raise NotImplementedError

    def __getitem__(self, name: Any) -> Named:
        known = self._named()
        if isinstance(name, slice) or (name not in known and all(isinstance(own, str) for own in known)):
            refuse_place(name, type(self).__name__)
        if name not in known:
            raise KeyError(f"no {name!r} in this {type(self).__name__}; it has {', '.join(map(str, known))}")
        return known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._named()

    def __len__(self) -> int:
        return len(self._named())

    def keys(self) -> KeysView[Any]:
        """The names: ``dict(result)`` has their values."""
        return self._named().keys()
