"""Slices of numbers by intervals: `cut(price, [0, 10])` has edges, `qcut(score, 10)` about equal rows in each."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple

EDGES = "cut(price, [0, 10, 100])"
BINS_CALL = r"(?i)\s*(q?cut)\s*\("  # compiled at the first use
MOST_QUANTILES = 1000

Edge = int | float


class SliceBins(NamedTuple):
    """Intervals of the values of a column, closed on the left.

    Attributes
    ----------
    title : str
        The text of `by`, which names the slices.
    column : str
        The column, or an expression, whose values are cut.
    edges : tuple of numbers or None
        Ascending; None: quantiles, which are not known yet.
    n_bins : int or None
        The number of slices that quantiles make.
    """

    title: str
    column: str
    edges: tuple[Edge, ...] | None = None
    n_bins: int | None = None

    def labels(self) -> list[str]:
        """The names of the intervals, in order. The first and the last have one end."""
        ends = ["(-inf", *(f"[{edge!r}" for edge in self.edges or ())]
        stops = [*(f"{edge!r})" for edge in self.edges or ()), "inf)"]
        return [f"{end}, {stop}" for end, stop in zip(ends, stops, strict=True)]


def read_bins(title: str) -> SliceBins | None:
    """The intervals that an entry of `by` asks for; None if it is a column or another expression."""
    if not re.match(BINS_CALL, title):
        return None
    from fastmetrics.engine.expressions.parser import parse_expression
    from fastmetrics.engine.expressions.tree import SLICE_FUNCTIONS, Call, Column

    root = parse_expression(title).root
    if not isinstance(root, Call) or root.name not in SLICE_FUNCTIONS:
        return None  # such as cut(x) = 1, which the reader of expressions refuses
    if len(root.arguments) != 2:
        raise ValueError(f"by: {title!r} has {len(root.arguments)} arguments: type {EDGES} or qcut(score, 10)")
    value, how = root.arguments
    column = value.name if isinstance(value, Column) else title[value.place[0] : value.place[1]]
    if root.name == "qcut":
        return SliceBins(title, column, n_bins=read_n_bins(title, getattr(how, "value", None)))
    if not isinstance(how, Call) or how.name != "list":
        raise ValueError(f"by: the edges in {title!r} have to be a list of numbers, such as {EDGES}")
    return SliceBins(title, column, check_edges(title, [read_edge(title, own) for own in how.arguments]))


def read_n_bins(title: str, number: Any) -> int:
    if type(number) is not int or not 2 <= number <= MOST_QUANTILES:
        raise ValueError(f"by: {title!r} has to make 2 to {MOST_QUANTILES:,} slices, such as qcut(score, 10)")
    return number


def read_edge(title: str, node: Any) -> Edge:
    """An edge: an integer, or the float64 nearest to a number."""
    value = getattr(node, "value", None)
    if type(value) is int:
        return value
    text = getattr(value, "text", None)
    if text is None or not math.isfinite(float(text)):
        raise ValueError(f"by: the edges in {title!r} have to be finite numbers, such as {EDGES}")
    return float(text)


def check_edges(title: str, edges: Sequence[Edge]) -> tuple[Edge, ...]:
    if not edges:
        raise ValueError(f"by: {title!r} has no edges: name at least one, such as {EDGES}")
    for first, second in pairwise(edges):
        if not first < second:
            raise ValueError(f"by: the edges in {title!r} have to ascend; {second!r} comes after {first!r}")
    return tuple(edges)
