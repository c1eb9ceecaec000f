"""``fastmetrics demo``: evaluate a synthetic log, and show the commands to run next."""

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

import fastmetrics
from fastmetrics._core.results.output_files import complete_or_nothing
from fastmetrics.cli.logs.log_evaluation import call_on_log, read_metrics
from fastmetrics.cli.options import DEFAULT_OUTPUTS, LogUsers, OutputWords, with_outputs
from fastmetrics.cli.outputs import JSON, Outputs, read_outputs, say, write_result
from fastmetrics.cli.synthetic.sample_log import default_users, evaluate_command, write_click_log
from fastmetrics.cli.terminal import examples, program, shown_path
from fastmetrics.reporting.number_formats import format_megabytes
from fastmetrics.reporting.terminal.console import standard_output

if TYPE_CHECKING:
    from fastmetrics import Report

EXAMPLES = examples("demo", "demo --rows 10000000 --seed 7", "demo --keep clicks.parquet")


@with_outputs
def demo(
    rows: Annotated[int, typer.Option(metavar="N", min=1, help="Impressions in the log.")] = 1_000_000,
    users: LogUsers = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same numbers.")] = 0,
    keep: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Keep the log: a new .parquet file, or a folder."),
    ] = None,
    words: OutputWords = DEFAULT_OUTPUTS,
) -> None:
    """Write a synthetic click log, evaluate it, and show what to run next.

    The true click probabilities of the log are known, so the table shows the
    model's predictions beside them: the best that any model could reach.
    """
    if keep is not None and (not keep or (Path(keep).suffix != ".parquet" and not Path(keep).is_dir())):
        raise typer.BadParameter(f"{keep!r} is not a folder and does not end in .parquet", param_hint="--keep")
    outputs = read_outputs(words.with_layout(), (), default="table")
    with tempfile.TemporaryDirectory(prefix="fastmetrics-") if keep is None else nullcontext(keep) as path:
        log = Path(path) / "clicks.parquet" if Path(path).is_dir() else Path(path)
        if log.exists():
            raise FileExistsError(f"{log} exists; choose another name for --keep")
        with complete_or_nothing(log) as temporary:
            write_click_log(temporary, rows=rows, users=users, items=None, seed=seed, quiet=outputs.quiet)
        if keep is not None:
            say(f"wrote {shown_path(log)}", quiet=outputs.quiet)
        is_read = bool(outputs.files) or outputs.layout == JSON

        def show(_: "Report | None") -> None:
            n_users = users or default_users(rows)
            show_evaluation(log, rows=rows, users=n_users, kept=keep is not None, quiet=outputs.quiet)

        write_result(lambda: evaluate_log(log, outputs) if is_read else None, outputs, show)


def evaluate_log(log: Path, outputs: Outputs) -> "Report":
    """The report for files and JSON, of the model's predictions and the true probabilities."""
    report: Report = call_on_log(
        fastmetrics.evaluate, [str(log)], read_metrics(None, grouped=True), label="click", score=["pctr", "p_true"],
        group="user_id", curves=outputs.has_page, quiet=outputs.quiet,
    )  # fmt: skip
    return report


def show_evaluation(log: Path, *, rows: int, users: int, kept: bool, quiet: bool) -> None:
    """Evaluate the model's predictions and the true probabilities, side by side."""
    from fastmetrics.reporting.terminal.report import print_reports

    console = standard_output()
    where = f"{log if kept else 'a temporary file'} of {format_megabytes(log.stat().st_size)}"
    console.print(f"\n {rows:,} impressions drawn from {users:,} users, in {where}.", soft_wrap=True)
    console.print(" Each click was drawn with probability p_true: on average no model can do better.\n", soft_wrap=True)
    metrics = read_metrics(None, grouped=True)
    columns: dict[str, Any] = {"label": "click", "group": "user_id"}
    reports = [
        (title, call_on_log(fastmetrics.evaluate, [str(log)], metrics, score=score, **columns, quiet=quiet))
        for title, score in (("pctr, the model", "pctr"), ("p_true, the perfect model", "p_true"))
    ]
    print_reports(reports)
    print_next_commands(console, log if kept else None)


def print_next_commands(console: Console, log: Path | None) -> None:
    """Commands that work as shown when they are typed one after the other."""
    commands = []
    if log is None:
        log = Path("clicks.parquet")
        commands.append(("a log to keep, as large as you like", f"{program()} sample-log {log} --rows 10000000"))
    commands += [
        ("evaluate it", evaluate_command(log)),
        ("all metrics and their parameters", f"{program()} list"),
        ("your own log", f"{program()} evaluate YOUR.parquet --label COLUMN --score COLUMN --group COLUMN"),
    ]
    console.print("\n Next", style="bold")
    for meaning, command in commands:
        console.print(Text.assemble((f"   # {meaning}", "dim")))
        console.print(Text.assemble("   ", (command, "cyan")), soft_wrap=True)
