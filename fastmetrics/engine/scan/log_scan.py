"""One pass over a log, from anything that `evaluate` reads to a scan with its rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.memory_size import parse_size
from fastmetrics._core.exchange.spill import SpillFile, as_path
from fastmetrics.engine.input.batch_validation import ZERO_WEIGHT, declare_column_kinds
from fastmetrics.engine.plan.column_names import ColumnNames
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.scan.batch_feed import Progress, release_arrow_memory, run_scan
from fastmetrics.engine.scan.scan import Scan


@contextmanager
def scan_log(
    data: Any,
    plan: Plan,
    names: ColumnNames,
    on_invalid: str,
    budget: MemoryBudget,
    n_threads: int,
    progress: Progress | None,
) -> Iterator[Scan]:
    """Read a log; yield the scan, which holds its rows until the context ends."""
    # Imported here because it takes milliseconds, which `import fastmetrics` should not take.
    from fastmetrics.engine.input.sources import open_source

    read = names if plan.needs("hash") else names._replace(group=None)
    source = open_source(data)
    for role, column in read.columns_with_roles():
        source.require(column, role)
    declare_column_kinds(source, plan, read)
    scan = Scan(plan, read, on_invalid, source.rows, budget)
    try:
        run_scan(scan, source, read.distinct_columns(), n_threads, progress)
        check_rows(scan)
        if progress is not None:
            progress("scan", scan.rows, scan.rows)
        release_arrow_memory()
        yield scan
    finally:
        scan.close()


def make_memory_budget(
    memory_limit: int | str | None, spill_dir: str | os.PathLike[str] | None, n_threads: int, processes: int = 1
) -> MemoryBudget:
    """The memory budget of rows. A default limit is divided by the number of processes.

    A spill folder that cannot be used is an error now, before anything is read.
    """
    limit = parse_size(memory_limit, "memory_limit")
    folder = None if spill_dir is None else as_path(spill_dir)
    if folder is not None:
        SpillFile(folder).check_folder()
    return MemoryBudget(limit, folder, n_threads, processes)


def check_rows(scan: Scan) -> None:
    """Check that labels are of one kind, and that there are rows to evaluate."""
    scan.check_labels()
    if scan.rows_kept == 0 and ZERO_WEIGHT not in scan.dropped:
        raise ValueError(explain_no_rows(scan))


def explain_no_rows(scan: Scan) -> str:
    if scan.rows == 0:
        return "data has no rows: at least one is needed"
    reasons = ", ".join(f"{count} with {reason}" for reason, count in scan.dropped.items())
    return f"no row is left of {scan.rows} read: {reasons}"
