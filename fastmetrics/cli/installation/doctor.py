"""``fastmetrics doctor``: what this installation has, and what to type for the rest."""

from typing import Any

from fastmetrics.cli.installation.environment import describe_environment, environment_lines
from fastmetrics.cli.options import OutputWords, with_outputs
from fastmetrics.cli.outputs import read_outputs, write_result
from fastmetrics.cli.table_results import TableResult
from fastmetrics.cli.terminal import examples
from fastmetrics.reporting.tables import Table, name_and_number_columns
from fastmetrics.reporting.terminal.console import write_lines

EXAMPLES = examples("doctor", "doctor --json | jq '.parts[] | select(.status != \"ok\")'")


COLUMNS = ("part", "found", "needs", "status", "used_for", "get")


@with_outputs
def doctor(words: OutputWords) -> None:
    """Show versions, threads, memory, extras, Java and WordNet, and how to get what is missing.

    Everything but numpy is needed by some entry points only, so what is missing is no error. Reports of bugs begin with
    this text. Without the extra `cli`, `fastmetrics doctor` is the one command that works.
    """
    outputs = read_outputs(words.with_layout(), (), default="table", first_columns=COLUMNS[:1])
    write_result(
        describe_environment, outputs, lambda environment: write_lines(environment_lines(environment)), table_result
    )


def table_result(environment: dict[str, Any]) -> TableResult:
    """The packages and programs, for files."""
    rows = [[str(part[name] or "") for name in ("name", *COLUMNS[1:])] for part in environment["parts"]]
    table = Table(name_and_number_columns(COLUMNS, ()), rows)
    return TableResult("What is installed", table, [table], environment)
