"""How a name of another tool is answered.

A text is the metric string that the name means. `Line` is a refusal whose text holds a line to type; the number of the
tool is another one. `NONE` is a number that the library does not have: the error names no metric. `Shared` is a name of
ours too.
"""

import math
from collections.abc import Callable
from typing import NamedTuple


class Line(NamedTuple):
    """A line that an error says to type: a metric string, or a function ("fm.name")."""

    text: str


class Shared(NamedTuple):
    """A name that is also ours, or another tool's, and of another number in this tool.

    It is accepted as `text`; the tool's number is `of` the value of `line`, or of no line where that is None.
    """

    text: str
    line: str | None
    of: Callable[[float], float] = lambda value: value


def percent(value: float) -> float:
    return 100 * value


def one_less(value: float) -> float:
    return 1 - value


def bits(value: float) -> float:
    return value / math.log(2)


def sum_of_rows(value: float) -> float:
    return 160 * value


NONE = None
