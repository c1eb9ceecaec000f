"""One pass over a log for all tasks: every batch is read once, and each task selects its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics.engine.input.batch_validation import ValidatedBatch
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.plan.tasks import PlannedTask, name_task_in_errors
from fastmetrics.engine.scan.plan_scan import LogScan

PassBatch = list[list[ValidatedBatch]]  # of every task: of every part


class LogPass:
    """One pass over a log: each task has a scan, and all get every batch.

    Attributes
    ----------
    tasks : list of PlannedTask
    log_scans : list of LogScan
        One for each task.
    notes : list of str
        What the source says of the rows that were read.
    """

    def __init__(
        self,
        tasks: Sequence[PlannedTask],
        on_invalid: str,
        source: Source,
        budget: MemoryBudget | None = None,
        by_unit: bool = False,
    ) -> None:
        """`by_unit` is that of `Scan`."""
        self.tasks = list(tasks)
        self.notes: list[str] = []
        self.has_memory_limit = budget is not None and budget.explicit_limit is not None
        self.log_scans = [LogScan(task.parts, on_invalid, source.rows, budget, by_unit=by_unit) for task in tasks]
        for log_scan in self.log_scans:
            log_scan.find_numerals(source)

    @property
    def rows(self) -> int:
        """Rows read so far."""
        return self.log_scans[0].rows

    def process_batch(self, batch: Any, first_row: int) -> PassBatch:
        """Select and accumulate the rows of a batch for every task. Several threads may call this at the same time."""
        processed = []
        for task, log_scan in zip(self.tasks, self.log_scans, strict=True):
            with name_task_in_errors(task.name):
                of_task = log_scan.process_batch(batch, first_row)
                processed.append([own._replace(columns=None, keys=None) for own in of_task])
        return processed

    def record_batch(self, processed: PassBatch) -> None:
        """Add the counts of a batch to those of all scans. Only one thread may call this."""
        for task, log_scan, of_task in zip(self.tasks, self.log_scans, processed, strict=True):
            with name_task_in_errors(task.name):
                log_scan.record_batch(of_task)

    def close(self) -> None:
        """Release all rows, in memory and on disk."""
        for log_scan in self.log_scans:
            log_scan.close()
