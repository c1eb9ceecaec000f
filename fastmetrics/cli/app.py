"""The commands under one name, and the only place where an exception becomes a message and an exit code."""

from typing import Annotated

import typer

import fastmetrics
from fastmetrics.cli import coco, compare, demo, evaluate, list_metrics, sample_log, text, trec, voc
from fastmetrics.cli.systems import SystemsCommand
from fastmetrics.cli.terminal import examples, show_error

# What bad input and a bad file raise. Anything else is a bug in fastmetrics, and its traceback is the bug report.
USER_ERRORS = (ValueError, TypeError, LookupError, OSError, ImportError, MemoryError, OverflowError)

app = typer.Typer(
    help="Exact evaluation metrics for click logs, rankings, texts and detections, at memory speed.",
    epilog=examples("demo", "evaluate clicks.parquet --label click --score pctr --group user_id", "list"),
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("evaluate", epilog=evaluate.EXAMPLES)(evaluate.evaluate)
app.command("compare", epilog=compare.EXAMPLES)(compare.compare)
app.command("trec", epilog=trec.EXAMPLES)(trec.trec)
app.command("coco", epilog=coco.EXAMPLES)(coco.coco)
app.command("voc", epilog=voc.EXAMPLES)(voc.voc)
for command, command_examples in text.COMMANDS:
    app.command(command.__name__, cls=SystemsCommand, epilog=command_examples)(command)
app.command("demo", epilog=demo.EXAMPLES)(demo.demo)
app.command("sample-log", epilog=sample_log.EXAMPLES)(sample_log.sample_log)
app.command("list", epilog=list_metrics.EXAMPLES)(list_metrics.list_metrics)


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fastmetrics {fastmetrics.__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Exact evaluation metrics for click logs, rankings, texts and detections, at memory speed."""


def run(arguments: list[str]) -> int:
    """Run one command line; nothing at all typed shows the help."""
    try:
        app(arguments or ["--help"])
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except ModuleNotFoundError:
        raise
    except USER_ERRORS as error:
        show_error(error)
        return 1
    return 0
