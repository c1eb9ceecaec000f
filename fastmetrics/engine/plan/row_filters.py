"""Filters of rows, as callers give them: a text in SQL, or an expression of pyarrow or polars."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.named_tuples import NamedTuple

EXAMPLE = 'where="clicked = 1"'


class RowFilter(NamedTuple):
    """A filter by the name of its boolean column; `native` is the expression of another library, if it is one."""

    name: str
    native: Any = None

    def __eq__(self, other: object) -> bool:
        """Do both keep the same rows? The text of a native expression may leave out what it compares with."""
        if not isinstance(other, RowFilter) or self.native is None or other.native is None:
            return tuple.__eq__(self, other) if isinstance(other, RowFilter) else NotImplemented
        if library_of(self.native) != library_of(other.native):
            return False
        same = self.native.meta.eq if library_of(self.native) == "polars" else self.native.equals
        return bool(same(other.native))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)


def read_filter(where: Any) -> RowFilter | None:
    """The caller's filter."""
    if where is None or isinstance(where, RowFilter):
        return where
    if isinstance(where, str):
        if not where.strip():
            raise ValueError(f"where is empty: write a condition, such as {EXAMPLE}")
        return RowFilter(where)
    if library_of(where) in ("pyarrow", "polars") and type(where).__name__ in ("Expression", "Expr"):
        return RowFilter(str(where), where)
    raise TypeError(
        f"where must be a condition in SQL, or an expression of pyarrow or polars; found {type(where).__name__}"
    )


def join_filters(first: Any, second: Any) -> Any:
    """Both filters: that of a call and that of a task."""
    if first is None or second is None:
        return second if first is None else first
    if isinstance(first, str) and isinstance(second, str):
        return f"({first}) and ({second})"
    raise TypeError("where of a call and where of a task are joined if both are SQL; write one of them only")


def library_of(where: object) -> str:
    return type(where).__module__.partition(".")[0]
