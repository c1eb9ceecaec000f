"""Columns that an expression of pyarrow or polars computes, in place of the name of a column."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.optional_imports import library_of


class NativeColumn(str):
    """The name of a computed column: the alias of its expression, or its text. It is a text wherever names are read.

    Two are equal if their expressions are: a text may leave out what an expression compares with.
    """

    __slots__ = ("native",)

    native: Any

    def __new__(cls, native: Any) -> NativeColumn:
        found = str.__new__(cls, name_of(native))
        found.native = native
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NativeColumn):
            return str.__eq__(self, other)
        return str.__eq__(self, other) and are_equal(self.native, other.native)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return NativeColumn, (self.native,)


def is_native(value: object) -> bool:
    """Is it an expression of pyarrow or polars?"""
    return library_of(value) in ("pyarrow", "polars") and type(value).__name__ in ("Expression", "Expr")


def name_of(native: Any) -> str:
    """The alias of an expression of polars that has one, or the text of the expression."""
    if library_of(native) != "polars":
        return str(native)
    if native.meta.has_multiple_outputs():
        raise ValueError(f"the expression {native} of polars has several columns: name one")
    inner = native.meta.undo_aliases()
    return str(native) if native.meta.eq(inner) else str(native.meta.output_name())


def are_equal(first: Any, second: Any) -> bool:
    """Do two expressions of pyarrow or polars, or two masks, have the same values?"""
    if type(first) is not type(second):
        return False
    if not is_native(first):
        return bool(first == second)
    return bool(first.meta.eq(second) if library_of(first) == "polars" else first.equals(second))
