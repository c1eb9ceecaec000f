"""All commands as one program. Only here do exceptions become messages and exit codes."""

from typing import Annotated

import typer

import fastmetrics
from fastmetrics.cli import coco, list_metrics, trec, voc
from fastmetrics.cli.command import Command, Group, UsageError
from fastmetrics.cli.installation import doctor, selfcheck
from fastmetrics.cli.logs import compare, evaluate
from fastmetrics.cli.logs.log_evaluation import LogCommand
from fastmetrics.cli.synthetic import demo, sample_log
from fastmetrics.cli.terminal import examples, paragraphs, show_error, show_usage_error
from fastmetrics.cli.text import bleu, chrf, meteor, nist, rouge, ter
from fastmetrics.cli.text.systems import SystemsCommand

# The errors of bad input and bad files. Any other exception is a bug in fastmetrics and keeps its traceback.
USER_ERRORS = (ValueError, TypeError, LookupError, OSError, ImportError, MemoryError, OverflowError)

app = typer.Typer(
    cls=Group,
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
    (Command, trec, trec.trec),
    (Command, coco, coco.coco),
    (Command, voc, voc.voc),
    (SystemsCommand, bleu, bleu.bleu),
    (SystemsCommand, chrf, chrf.chrf),
    (SystemsCommand, nist, nist.nist),
    (SystemsCommand, ter, ter.ter),
    (SystemsCommand, rouge, rouge.rouge),
    (SystemsCommand, meteor, meteor.meteor),
    (Command, demo, demo.demo),
    (Command, sample_log, sample_log.sample_log),
    (Command, doctor, doctor.doctor),
    (Command, selfcheck, selfcheck.selfcheck),
    (Command, list_metrics, list_metrics.list_metrics),
):
    name = command.__name__.removesuffix("_metrics").replace("_", "-")
    app.command(name, cls=kind, epilog=module.EXAMPLES, help=paragraphs(command.__doc__))(command)


def show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"fastmetrics {fastmetrics.__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Exact evaluation metrics for click logs, rankings, texts and detections."""


def run(arguments: list[str]) -> int:
    """Run one command line. Without any argument it shows the help."""
    try:
        code = app(arguments or ["--help"], standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except UsageError as error:
        show_usage_error(error)
        return int(error.exit_code)
    except ModuleNotFoundError:
        raise
    except USER_ERRORS as error:
        show_error(error)
        return 1
