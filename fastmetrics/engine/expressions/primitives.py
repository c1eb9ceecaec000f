"""Primitives: what an expression computes, with a type for every value. All engines compute these, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.expressions.time_zones import zone_of_column

# Kinds of types. "timestamp" has no zone; "instant" is a point in time. "other" are types that can only be null or not.
BOOLEAN, INTEGER, UNSIGNED, DOUBLE, DECIMAL = "boolean", "integer", "unsigned", "double", "decimal"
TEXT, DATE, TIMESTAMP, INSTANT, NULL, OTHER = "text", "date", "timestamp", "instant", "null", "other"
NUMBERS = (INTEGER, UNSIGNED, DECIMAL, DOUBLE)

INT64_MIN, INT64_MAX, UINT64_MAX = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
MAX_PRECISION = 38
FIRST = "first"  # of two instants with the same local time
COMPARED = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
# Primitives that may refuse a row.
CAN_FAIL = {"add", "subtract", "multiply", "negate", "abs", "int_divide", "cast"}


class ValueType(NamedTuple):
    """The type of a value: `precision` and `scale` are those of decimals, `name` is that of another type.

    The name of an instant is the zone in which its days and hours are counted; empty: UTC. A timestamp without a zone
    has one if it is an instant in UTC for the caller.
    """

    kind: str
    precision: int = 0
    scale: int = 0
    name: str = ""

    def __str__(self) -> str:
        if self.kind == DECIMAL:
            return f"decimal({self.precision}, {self.scale})"
        return TYPE_TITLES.get(self.kind, self.name or self.kind)


TYPE_TITLES = {
    INTEGER: "an integer", UNSIGNED: "an unsigned integer", DOUBLE: "a float", TEXT: "a text", DATE: "a date",
    BOOLEAN: "a boolean", TIMESTAMP: "a timestamp without a zone", INSTANT: "a timestamp with a zone", NULL: "NULL",
}  # fmt: skip


def in_zone(kind: ValueType, zone: str | None) -> ValueType:
    """The type of a column whose times a caller reads in a zone; None: as the column has them."""
    if zone is None or kind.kind not in (TIMESTAMP, INSTANT):
        return kind
    return kind._replace(name=zone_of_column(zone) if kind.kind == INSTANT else zone)


class Primitive(NamedTuple):
    """A primitive with its arguments. `options` are constants: a literal's value, a unit, a pattern, a target."""

    operation: str
    type: ValueType
    arguments: tuple[Primitive, ...] = ()
    options: tuple[Any, ...] = ()

    @property
    def kind(self) -> str:
        return self.type.kind

    @property
    def is_literal(self) -> bool:
        return self.operation == "literal"

    def can_fail(self) -> bool:
        """May it, or a value below it, refuse a row that it is computed for?"""
        return any(may_refuse(value) for value in iterate_values(self))


def may_refuse(value: Primitive) -> bool:
    """May a primitive itself refuse a row?"""
    if value.operation == "cast":
        return "safe" not in value.options
    return value.operation in CAN_FAIL and value.kind in (INTEGER, UNSIGNED, DECIMAL)


def iterate_values(value: Primitive) -> Iterator[Primitive]:
    """The value and all values below it."""
    yield value
    for argument in value.arguments:
        yield from iterate_values(argument)


def columns_of(value: Primitive) -> list[str]:
    """The columns that a value reads, each once."""
    found = [own.options[0] for own in iterate_values(value) if own.operation == "column"]
    return list(dict.fromkeys(found))
