"""Filters of rows, as callers give them: a text in SQL, or an expression of pyarrow or polars."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.named_tuples import NamedTuple

EXAMPLE = 'where="clicked = 1"'


class RowFilter(NamedTuple):
    """A filter by the name of its boolean column; `native` is the expression of another library, if it is one."""

    name: str
    native: Any = None


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


def refuse_native(where: RowFilter | None, user: str) -> None:
    """Engines that cannot run the expressions of other libraries say so."""
    if where is not None and where.native is not None:
        raise TypeError(
            f"{user} cannot run an expression of {library_of(where.native)}: write where= in SQL, such as {EXAMPLE}"
        )


def same_filters(first: RowFilter | None, second: RowFilter | None) -> bool:
    """Do both filters keep the same rows? The text of a native expression may leave out what it compares with."""
    if first is None or second is None or first.native is None or second.native is None:
        return first == second
    if library_of(first.native) != library_of(second.native):
        return False
    same = first.native.meta.eq if hasattr(first.native, "meta") else first.native.equals
    return bool(same(second.native))


def library_of(where: object) -> str:
    return type(where).__module__.partition(".")[0]
