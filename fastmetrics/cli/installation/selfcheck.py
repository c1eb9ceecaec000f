"""``fastmetrics selfcheck``: definitions beside kernels, and the same bits, on this machine."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from fastmetrics.cli.options import DEFAULT_OUTPUTS, OutputWords, with_outputs
from fastmetrics.cli.outputs import read_outputs, say, write_result
from fastmetrics.cli.table_results import TableResult
from fastmetrics.cli.terminal import examples
from fastmetrics.reporting.tables import Table, name_and_number_columns
from fastmetrics.reporting.terminal.console import write_lines

if TYPE_CHECKING:
    from fastmetrics.selfcheck.outcomes import SelfCheckReport

EXAMPLES = examples("selfcheck", "selfcheck --seed 7", "selfcheck --json | jq .passed")

COLUMNS = name_and_number_columns(["family"], ["checks", "failures", "seconds"])


@with_outputs
def selfcheck(
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed draws other rows for the definitions.")] = 0,
    words: OutputWords = DEFAULT_OUTPUTS,
) -> None:
    """Check this installation in about half a minute.

    Slow definitions in plain Python compute values again, on drawn rows. Then the same rows are computed in another
    order, with other numbers of threads, in batches, from merged states and under a memory limit: all bits must be
    equal. A check that fails is named, and the exit code is 1.
    """
    from fastmetrics.selfcheck.checks import run_selfcheck
    from fastmetrics.selfcheck.report_text import report_lines

    outputs = read_outputs(words.with_layout(), (), default="table", first_columns=("family",))

    def note(family: str) -> None:
        if sys.stderr.isatty():
            say(f"{family} ...", quiet=outputs.quiet)

    report = write_result(
        lambda: run_selfcheck(seed, note), outputs, lambda report: write_lines(report_lines(report)), table_result
    )
    if report.failures:
        raise typer.Exit(1)


def table_result(report: "SelfCheckReport") -> TableResult:
    """The families, for files."""
    rows = [[own.family, str(own.checks), str(len(own.failures)), f"{own.seconds:.1f}"] for own in report.families]
    table = Table(COLUMNS, rows)
    notes = [f"failed: {name}: {text}" for name, text in report.failures.items()]
    return TableResult("Self-check", table, [table], report.to_dict(), notes)
