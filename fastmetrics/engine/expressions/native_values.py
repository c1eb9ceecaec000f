"""Expressions of pyarrow and polars: the columns that they read, and their values for a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastmetrics._core.columns.arrow_columns import plain_column
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow as pa


class NativeExpression(NamedTuple):
    """An expression of another library, and the columns that it reads."""

    native: Any
    columns: list[str]

    def can_fail(self) -> bool:
        """May it raise an error for a row? It is not known."""
        return True


def read_native(
    native: Any, role: str, column_names: Sequence[str], require: Callable[[str, str], None]
) -> NativeExpression:
    """An expression of another library with the columns that it reads; `require` raises an error for a missing one."""
    if hasattr(native, "meta"):
        names = list(dict.fromkeys(native.meta.root_names()))
        if reads_other_rows(native):
            raise ValueError(
                f"{role}: the expression {native} of polars reads other rows than its own, as a mean or a rank does: "
                "make it a column of the log first"
            )
    else:
        text = str(native)
        names = [name for name in column_names if name in text]
    for name in names:
        require(name, role)
    if not names:
        raise ValueError(f"{role}: the expression {native} reads no column of the log")
    return NativeExpression(native, names)


def reads_other_rows(native: Any) -> bool:
    """Does any part of an expression of polars read other rows than its own, as far as polars says so?"""
    is_separable = getattr(native.meta, "is_row_separable", None)  # not in old versions
    try:
        found = is_separable is not None and not is_separable()
    except Exception:  # noqa: BLE001 - of some expressions polars asks for the columns
        found = False
    return found or any(map(reads_other_rows, native.meta.pop()))


def values_of_native(native: Any, batch: Any, title: str) -> Any:
    """The values of an expression of pyarrow or polars for a batch; errors name what they are for."""
    try:
        if hasattr(native, "meta"):
            import polars as pl

            found = pl.DataFrame(pa.Table.from_batches([batch])).select(native.alias("value"))
            column = found.to_arrow().column(0)
        else:
            from pyarrow import acero

            table = acero.TableSourceNodeOptions(pa.Table.from_batches([batch]))
            plan = acero.Declaration.from_sequence([
                acero.Declaration("table_source", table),
                acero.Declaration("project", acero.ProjectNodeOptions([native], ["value"])),
            ])
            column = plan.to_table(use_threads=False).column(0)
    except Exception as error:  # polars has a class of its own for every kind
        if not isinstance(error, pa.ArrowException) and type(error).__module__.partition(".")[0] != "polars":
            raise
        library = type(native).__module__.partition(".")[0].removeprefix("_")
        raise ValueError(f"{title}: the expression of {library} cannot be computed: {error}") from error
    if len(column) != batch.num_rows:
        raise ValueError(f"{title}: the expression gives {len(column)} values for {batch.num_rows} rows")
    return plain_column(column.combine_chunks())


def mask_of_native(native: Any, batch: Any) -> Any:
    """The values of a condition of pyarrow or polars for a batch."""
    column = values_of_native(native, batch, "where")
    if not pa.types.is_boolean(column.type):
        raise TypeError(f"where: the expression gives values of type {column.type}, not booleans")
    return column
