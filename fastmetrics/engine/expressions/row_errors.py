"""A row that a primitive refuses: which one, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastmetrics._core.optional_imports import pyarrow as pa


class RowError(ValueError):
    """Row `row` is refused; `what` says what was found, without the row."""

    def __init__(self, row: int, what: str) -> None:
        super().__init__(f"row {row}: {what}")
        self.row = row
        self.what = what


def first_failing_row(function: Callable[..., Any], arguments: list[Any]) -> int:
    """The first row for which a kernel raises; it raises for some row."""
    rows = max(len(argument) for argument in arguments if isinstance(argument, pa.Array))
    low, high = 0, rows  # it raises for the first `high` rows, and not for the first `low`
    while high - low > 1:
        middle = (low + high) // 2
        try:
            function(*(part_of(argument, middle) for argument in arguments))
            low = middle
        except pa.ArrowException:
            high = middle
    return low


def part_of(argument: Any, rows: int) -> Any:
    return argument.slice(0, rows) if isinstance(argument, pa.Array) else argument


def value_at(argument: Any, row: int) -> Any:
    """The value of a row, as Python has it."""
    return (argument[row] if isinstance(argument, pa.Array) else argument).as_py()
