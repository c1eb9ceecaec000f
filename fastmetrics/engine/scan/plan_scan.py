"""The scans of all parts of a plan, which share one pass over a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics.engine.input.batch_validation import ValidatedBatch
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.input.row_selection import RowSelector
from fastmetrics.engine.plan.column_names import key_columns
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.scan.scan import Scan


class LogScan:
    """One pass over a log for all parts of a plan: each has a scan, and all get the rows that have every value.

    Attributes
    ----------
    scans : list of Scan
    selector : RowSelector
    """

    def __init__(
        self,
        parts: Sequence[PlanPart],
        on_invalid: str,
        expected_rows: int | None,
        budget: MemoryBudget | None = None,
        only: Sequence[int] | None = None,
        slices: GroupingSets | None = None,
        by_unit: bool = False,
        is_merged: bool = False,
    ) -> None:
        """`only` are the numbers of the parts to scan: rows are selected by the columns of all parts nevertheless.

        `by_unit` and `is_merged` are those of `Scan`.
        """
        self.parts = parts
        self.selector = RowSelector(parts, on_invalid, slices)
        self.has_filter = self.selector.where is not None
        scanned = parts if only is None else [parts[number] for number in only]
        self.lock = Lock()
        self.scans = [Scan(part, self.selector.slices, expected_rows, budget, by_unit, is_merged) for part in scanned]

    @property
    def rows(self) -> int:
        """Rows read so far."""
        return self.scans[0].rows

    @property
    def rows_kept(self) -> int:
        """Rows read so far and not dropped."""
        return self.scans[0].rows_kept

    @property
    def filtered(self) -> int | None:
        """Rows that the filter left out; None if there is no filter."""
        return self.scans[0].filtered if self.has_filter else None

    def find_numerals(self, source: Source) -> None:
        """Ask a source which columns of slices and classes come as texts of which some write numbers."""
        self.slices.numerals = frozenset(filter(source.reads_numerals, self.slices.names))
        for scan in self.scans:
            names = [*scan.names.labels, *map(str, scan.names.scores)]
            scan.reader.numerals = frozenset(filter(source.reads_numerals, names))

    def slices_by_value(self) -> Iterator[tuple[str, bool]]:
        """The columns that are only slices, and whether they come as texts of which some write numbers."""
        names = [scan.names for scan in self.scans]
        keys = {name for own in names for key in (own.group, own.unit) for name in key_columns(key)}
        return ((name, name in self.slices.numerals) for name in names[0].slice_columns if name not in keys)

    def record_filtered(self, rows: int) -> None:
        """Count rows that a filter left out before the scan."""
        self.has_filter = True
        for scan in self.scans:
            scan.rows += rows
            scan.filtered += rows

    @property
    def dropped(self) -> dict[str, int]:
        """Dropped rows by reason."""
        return self.scans[0].dropped

    @property
    def slices(self) -> GroupingSets:
        return self.selector.slices

    def process_batch(self, batch: Any, first_row: int) -> list[ValidatedBatch]:
        """Validate a batch and accumulate it, for every scan. Several threads may call this at the same time."""
        with self.lock:
            for scan in self.scans:
                scan.create_exchanges(batch)
        selected = self.selector.select(batch, first_row)
        return [scan.process_rows(selected) for scan in self.scans]

    def record_batch(self, validated: list[ValidatedBatch]) -> None:
        """Add the counts of a batch to those of all scans. Only one thread may call this."""
        for scan, batch in zip(self.scans, validated, strict=True):
            scan.record_batch(batch)

    def close(self) -> None:
        """Release all rows, in memory and on disk."""
        for scan in self.scans:
            scan.close()
