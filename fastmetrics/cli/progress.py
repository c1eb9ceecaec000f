"""A progress bar over rows, on standard error, if that is a terminal."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

import fastmetrics
from fastmetrics.reporting.number_formats import format_row_rate

Reporter = Callable[[str, int, int | None], None]


class RowsColumn(ProgressColumn):
    """12,300,000 of 98,000,000 rows"""

    def render(self, task: Task) -> Text:
        of = f" of {int(task.total):,}" if task.total is not None else ""
        return Text(f"{int(task.completed):,}{of} rows", style="progress.download")


class RateColumn(ProgressColumn):
    """31.2M rows/s"""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(format_row_rate(int(speed), 1.0) if speed else "", style="progress.data.speed")


@contextmanager
def show_evaluation(path: str, *, quiet: bool) -> Iterator[None]:
    """A spinner for work without a row count; nothing if standard error is not a terminal, or if `quiet`.

    Undefined values give no warnings: the notes below a table list them.
    """
    spinner = Console(stderr=True).status(f"evaluating {path}") if sys.stderr.isatty() and not quiet else nullcontext()
    with spinner, warnings.catch_warnings():
        warnings.simplefilter("ignore", fastmetrics.UndefinedMetricWarning)
        yield


@contextmanager
def row_progress(*, quiet: bool) -> Iterator[Reporter | None]:
    """A callable (stage, rows done, all rows or None) that draws one bar per stage; None if there is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn(" {task.description}"),
        BarColumn(bar_width=None),
        RowsColumn(table_column=Column(no_wrap=True)),
        RateColumn(table_column=Column(no_wrap=True, min_width=len("31.2M rows/s"))),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, expand=True) as bars:
        stages: dict[str, TaskID] = {}

        def report(stage: str, rows_done: int, rows_total: int | None) -> None:
            if stage not in stages:
                stages[stage] = bars.add_task(stage, total=rows_total)
            bars.update(stages[stage], completed=rows_done, total=rows_total)

        yield report
