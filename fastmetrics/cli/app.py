"""All commands as one program. Only here do exceptions become messages and exit codes."""

from typing import Annotated

import typer
from typer.core import TyperCommand

import fastmetrics
from fastmetrics.cli import coco, list_metrics, trec, voc
from fastmetrics.cli.installation import doctor, selfcheck
from fastmetrics.cli.logs import compare, evaluate
from fastmetrics.cli.logs.log_evaluation import LogCommand
from fastmetrics.cli.synthetic import demo, sample_log
from fastmetrics.cli.terminal import examples, show_error
from fastmetrics.cli.text import bleu, chrf, meteor, nist, rouge, ter
from fastmetrics.cli.text.systems import SystemsCommand

# The errors of bad input and bad files. Any other exception is a bug in fastmetrics and keeps its traceback.
USER_ERRORS = (ValueError, TypeError, LookupError, OSError, ImportError, MemoryError, OverflowError)

app = typer.Typer(
    help="Exact evaluation metrics for click logs, rankings, texts and detections.",
    epilog=examples(
        "demo", "evaluate clicks.parquet --label click --score pctr --group user_id", "list", has_gates=True
    ),
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# In the order of --help.
for kind, module, command in (
    (LogCommand, evaluate, evaluate.evaluate),
    (LogCommand, compare, compare.compare),
    (TyperCommand, trec, trec.trec),
    (TyperCommand, coco, coco.coco),
    (TyperCommand, voc, voc.voc),
    (SystemsCommand, bleu, bleu.bleu),
    (SystemsCommand, chrf, chrf.chrf),
    (SystemsCommand, nist, nist.nist),
    (SystemsCommand, ter, ter.ter),
    (SystemsCommand, rouge, rouge.rouge),
    (SystemsCommand, meteor, meteor.meteor),
    (TyperCommand, demo, demo.demo),
    (TyperCommand, sample_log, sample_log.sample_log),
    (TyperCommand, doctor, doctor.doctor),
    (TyperCommand, selfcheck, selfcheck.selfcheck),
):
    name = command.__name__.replace("_", "-")
    app.command(name, cls=kind, epilog=module.EXAMPLES)(command)
app.command("list", epilog=list_metrics.EXAMPLES)(list_metrics.list_metrics)


def show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"fastmetrics {fastmetrics.__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Exact evaluation metrics for click logs, rankings, texts and detections."""


def run(arguments: list[str]) -> int:
    """Run one command line. Without any argument it shows the help."""
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
