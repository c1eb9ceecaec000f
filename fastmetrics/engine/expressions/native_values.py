"""Expressions of pyarrow and polars: the columns that they read, and their values for a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastmetrics._core.columns.arrow_columns import plain_column
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow as pa

OTHER_ROWS = "reads other rows than its own, as a mean or a rank does: make it a column of the log first"


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
            raise ValueError(f"{role}: the expression {native} of polars {OTHER_ROWS}")
    else:
        text = str(native)
        names = [name for name in column_names if name in text]
    for name in names:
        require(name, role)
    if not names:
        raise ValueError(f"{role}: the expression {native} reads no column of the log")
    return NativeExpression(native, names)


def reads_other_rows(native: Any) -> bool | None:
    """Does any part of an expression of polars read other rows than its own? None if polars cannot tell.

    It cannot tell for Python functions and some parts that need the columns' types, and in old versions.
    """
    from polars.exceptions import PolarsError

    try:
        found = not native.meta.is_row_separable()
    except (AttributeError, PolarsError):
        found = None
    of_parts = [found, *map(reads_other_rows, native.meta.pop())]
    return True if True in of_parts else None if None in of_parts else False


def values_of_native(native: Any, batch: Any, title: str) -> Any:
    """The values of an expression of pyarrow or polars for a batch; errors name what they are for."""
    try:
        if hasattr(native, "meta"):
            import polars as pl

            frame = pl.DataFrame(pa.Table.from_batches([batch]))
            found = frame.select(native.alias("value"))
            if reads_other_rows(native) is None:
                check_halves(native, frame, found, title)
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


def check_halves(native: Any, frame: Any, found: Any, title: str) -> None:
    """Refuse an expression that gives other values for the rows of a frame where it is computed for each half."""
    middle = len(frame) // 2
    halves = [part.select(native.alias("value")) for part in (frame[:middle], frame[middle:]) if len(part)]
    if len(found) == len(frame) and not found.equals(halves[0].extend(halves[1]) if halves[1:] else halves[0]):
        raise ValueError(f"{title}: the expression {native} of polars {OTHER_ROWS}")
