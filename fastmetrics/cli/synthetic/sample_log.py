"""``fastmetrics sample-log``: write a synthetic click log of any size."""

import errno
import shutil
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fastmetrics._core.exchange.memory_size import format_size
from fastmetrics._core.results.output_files import complete_or_nothing
from fastmetrics.cli.options import LogUsers
from fastmetrics.cli.terminal import examples, program, shown_path, standard_error
from fastmetrics.reporting.number_formats import format_megabytes, format_row_rate
from fastmetrics.reporting.terminal.console import versioned_json

# Four blocks of the generator: a block is still in the cache when it is encoded, and memory stays below 200 MB.
ROW_GROUP_ROWS = 262_144
LEAST_ROW_BYTES = 20  # of the file: with few users and items; with the usual ones a row takes about 32

EXAMPLES = examples(
    "sample-log clicks.parquet --rows 10000000",
    "sample-log big.parquet --rows 100000000 --users 5000000 --seed 7",
    "sample-log clicks.parquet --rows 1000 --force",
)


def sample_log(
    out: Annotated[Path, typer.Argument(metavar="OUT.parquet", help="The file to write.", show_default=False)],
    rows: Annotated[int, typer.Option(metavar="N", min=1, help="Impressions to write.")] = 1_000_000,
    users: LogUsers = None,
    items: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Items to draw from, by a power law. Default: rows / 100.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed writes the same rows.")] = 0,
    row_group_rows: Annotated[
        int, typer.Option(metavar="N", min=1, help="Rows of a Parquet row group; more of them need more memory.")
    ] = ROW_GROUP_ROWS,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages but errors.")] = False,
) -> None:
    """Write a synthetic click log whose true click probabilities are known.

    [bold]user_id[/], [bold]item_id[/]  integers, power-law frequencies
    [bold]channel[/], [bold]ts[/]       a few strings; times of four weeks in ms
    [bold]p_true[/]            the probability that the click was drawn with, greater at weekends
    [bold]pctr[/]              what a noisy model predicts that ages and does not know weekends
    [bold]click[/]             0 or 1, about one in twenty

    The same arguments write the same rows on every machine.
    Memory does not grow with the rows. The file gets its name when it is complete.
    """
    if out.suffix != ".parquet":
        raise typer.BadParameter(f"'{out}' must end in .parquet", param_hint="OUT.parquet")
    if out.exists() and not force:
        raise FileExistsError(f"{out} exists; choose another name, or replace it with --force")
    check_disk_space(out, rows)
    started = time.perf_counter()
    try:
        with complete_or_nothing(out) as temporary:
            write_click_log(
                temporary, rows=rows, users=users, items=items, seed=seed, row_group_rows=row_group_rows, quiet=quiet
            )
    except KeyboardInterrupt:
        standard_error().print(f"stopped: {out} was not written", style="yellow")
        raise
    seconds = time.perf_counter() - started
    rate = format_row_rate(rows, seconds)
    size = f"{rows:,} rows, {format_megabytes(out.stat().st_size)} in {seconds:.2g} s ({rate})"
    if as_json:
        written = {"path": str(out), "rows": rows, "bytes": out.stat().st_size, "seconds": seconds}
        typer.echo(versioned_json(written))
    if not quiet:
        messages = standard_error()
        messages.print(Text.assemble("wrote ", (str(out), "bold"), f": {size}"), soft_wrap=True)
        messages.print(Text.assemble("next: ", (evaluate_command(out), "cyan")), soft_wrap=True)


def write_click_log(
    path: Path,
    *,
    rows: int,
    users: int | None,
    items: int | None,
    seed: int,
    row_group_rows: int = ROW_GROUP_ROWS,
    quiet: bool,
) -> None:
    """Write the log under a progress bar. Users and items default to shares of the number of rows."""
    from fastmetrics.cli.progress import row_progress
    from fastmetrics.cli.synthetic.synthetic_log import ClickLog

    log = ClickLog(rows, users or default_users(rows), items or max(1, rows // 100), seed)
    with row_progress(quiet=quiet) as report:
        rows_done = 0

        def count_written(n_rows: int) -> None:
            nonlocal rows_done
            rows_done += n_rows
            if report is not None:
                report("write", rows_done, rows)

        log.write(str(path), row_group_rows=row_group_rows, on_write=count_written)


def check_disk_space(out: Path, rows: int) -> None:
    """Raise OSError if the log cannot fit the disk, before anything is written."""
    folder = out.absolute().parent
    if not folder.is_dir():
        return  # writing says so
    free = shutil.disk_usage(folder).free
    if free < rows * LEAST_ROW_BYTES:
        text = f"{rows:,} rows take at least {format_size(rows * LEAST_ROW_BYTES)}, and {format_size(free)} are free"
        raise OSError(errno.ENOSPC, f"{text} in {folder}; write fewer rows, or to another disk")


def default_users(rows: int) -> int:
    return max(1, rows // 10)


def evaluate_command(path: Path) -> str:
    """The command that evaluates a log with the columns of the synthetic log."""
    return f"{program()} evaluate {shown_path(path)} --label click --score pctr --group user_id"
