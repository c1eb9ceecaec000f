"""The tree of an expression: columns, literals and calls, each with its place in the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple

Place = tuple[int, int]  # the first character of a node in the text, and the one behind its last

# Functions of slices: they divide rows into slices and are read where `by` is read, nowhere else.
SLICE_FUNCTIONS = ("cut", "qcut")


class Column(NamedTuple):
    """A column by its name; a dotted name may be a nested field."""

    name: str
    place: Place


class Literal(NamedTuple):
    """A value: None, bool, int, Number, str, date, datetime or timedelta."""

    value: Any
    place: Place


class Number(NamedTuple):
    """A number with a point or an exponent, as it is written: a float64, or a decimal beside decimals."""

    text: str


class Call(NamedTuple):
    """An operator or a function. `options` are fixed words and numbers, such as the unit of a date or a type."""

    name: str
    arguments: tuple[Node, ...]
    place: Place
    options: tuple[Any, ...] = ()


Node = Column | Literal | Call


class Expression(NamedTuple):
    """An expression as it was written, and its tree."""

    text: str
    root: Node

    @property
    def columns(self) -> list[str]:
        """The names of the columns that it reads, each once."""
        return list(dict.fromkeys(node.name for node in iterate_nodes(self.root) if isinstance(node, Column)))


def iterate_nodes(node: Node) -> Iterator[Node]:
    """The node and all nodes below it, from left to right."""
    yield node
    if isinstance(node, Call):
        for argument in node.arguments:
            yield from iterate_nodes(argument)
