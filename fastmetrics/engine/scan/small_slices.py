"""Slices of few rows, which are counted instead of evaluated: `min_rows`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastmetrics._core.results.slice_order import check_count
from fastmetrics.engine.partial.task_state import TaskState
from fastmetrics.engine.plan.column_names import LOG_COLUMN


class SmallSlices:
    """The slices that have fewer than `min_rows` rows, as far as they were met."""

    def __init__(self, min_rows: int = 0) -> None:
        self.min_rows = check_count(min_rows, "min_rows", least=0)
        self.slices = 0
        self.rows = 0

    def keep_large(self, state: TaskState) -> Iterator[tuple[int | None, dict[str, Any]]]:
        """Number and values of all rows (None), then of the slices that are not small, in order."""
        for slice_number, values in state.slices.in_order():
            is_whole = slice_number is None or tuple(values) == (LOG_COLUMN,)
            if is_whole or not self.is_small(state, slice_number or 0):
                yield slice_number, values

    def is_small(self, state: TaskState, slice_number: int) -> bool:
        """Has a slice too few rows? It is counted then."""
        if not self.min_rows:
            return False
        count = state.parts[0].row_count(slice_number)
        is_small = count.rows < self.min_rows
        self.slices += is_small
        self.rows += count.rows * is_small
        return is_small

    def as_dict(self) -> dict[str, int]:
        """What reports tell about them; nothing if none were asked for."""
        if not self.min_rows:
            return {}
        return {"min_rows": self.min_rows, "slices": self.slices, "rows": self.rows}
