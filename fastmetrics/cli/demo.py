"""``fastmetrics demo``: from nothing to a table, and to the command for one's own log."""

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from fastmetrics.cli.evaluate import default_metrics, evaluate_log
from fastmetrics.cli.files import complete_or_nothing
from fastmetrics.cli.sample_log import default_users, evaluate_command, write_click_log
from fastmetrics.cli.terminal import examples, megabytes, program, standard_output

EXAMPLES = examples("demo", "demo --rows 10000000 --seed 7", "demo --keep clicks.parquet")


def demo(
    rows: Annotated[int, typer.Option(metavar="N", min=1, help="Impressions in the log.")] = 1_000_000,
    users: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Users to draw from, by a power law. Default: rows / 10.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same numbers.")] = 0,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Keep the log: a new .parquet file, or a folder."),
    ] = None,
) -> None:
    """Write a synthetic click log, evaluate it, and show what to run next.

    The true click probabilities of the log are known, so the table shows the
    model's predictions beside them: the best that any model could reach.
    """
    if keep is not None and keep.suffix != ".parquet" and not keep.is_dir():
        raise typer.BadParameter(f"{keep} is no folder and does not end in .parquet", param_hint="--keep")
    with tempfile.TemporaryDirectory(prefix="fastmetrics-") if keep is None else nullcontext(str(keep)) as place:
        log = Path(place) / "clicks.parquet" if Path(place).is_dir() else Path(place)
        if log.exists():
            raise FileExistsError(f"{log} exists; choose another name for --keep")
        with complete_or_nothing(log) as temporary:
            write_click_log(temporary, rows=rows, users=users, items=None, seed=seed)
        show(log, rows=rows, users=users or default_users(rows), kept=keep is not None)


def show(log: Path, *, rows: int, users: int, kept: bool) -> None:
    from fastmetrics.cli.table import print_comparison

    console = standard_output()
    where = f"{log if kept else 'a temporary file'} of {megabytes(log.stat().st_size)}"
    console.print(f"\n {rows:,} impressions drawn from {users:,} users, in {where}.", soft_wrap=True)
    console.print(" Each click was drawn with probability p_true: on average no model can do better.\n", soft_wrap=True)
    reports = [
        (title, evaluate_log([str(log)], default_metrics(grouped=True), label="click", score=score, group="user_id"))
        for title, score in (("pctr, the model", "pctr"), ("p_true, the perfect model", "p_true"))
    ]
    print_comparison(reports)
    print_next(console, log if kept else None)


def print_next(console: Console, log: Path | None) -> None:
    """Commands that work as they stand when they are typed one after the other."""
    steps = []
    if log is None:
        log = Path("clicks.parquet")
        steps.append(("a log to keep, as large as you like", f"{program()} sample-log {log} --rows 10000000"))
    steps += [
        ("evaluate it", evaluate_command(log)),
        ("all metrics and their parameters", f"{program()} list"),
        ("your own log", f"{program()} evaluate YOUR.parquet --label COLUMN --score COLUMN --group COLUMN"),
    ]
    console.print("\n Next", style="bold")
    for meaning, command in steps:
        console.print(Text.assemble((f"   # {meaning}", "dim")))
        console.print(Text.assemble("   ", (command, "cyan")), soft_wrap=True)
