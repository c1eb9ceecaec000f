"""``fastmetrics selfcheck``: definitions beside kernels, and the same bits, on this machine."""

import sys
from typing import Annotated

import typer

from fastmetrics.cli.terminal import examples
from fastmetrics.reporting.terminal.console import write_json, write_lines

EXAMPLES = examples("selfcheck", "selfcheck --seed 7", "selfcheck --json | jq .passed")


def selfcheck(
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed draws other rows for the definitions.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Write the report as JSON.")] = False,
) -> None:
    """Check this installation in about half a minute.

    Slow definitions in plain Python compute values again, on drawn rows. Then the same rows are computed in another
    order, with other numbers of threads, in batches, from merged states and under a memory limit: all bits must be
    equal. A check that fails is named, and the exit code is 1.
    """
    from fastmetrics.selfcheck.checks import run_selfcheck
    from fastmetrics.selfcheck.report_text import report_lines

    def note(family: str) -> None:
        if sys.stderr.isatty():
            typer.echo(f"{family} ...", err=True)

    report = run_selfcheck(seed, note)
    if json:
        write_json(**report.to_dict())
    else:
        write_lines(report_lines(report))
    if report.failures:
        raise typer.Exit(1)
