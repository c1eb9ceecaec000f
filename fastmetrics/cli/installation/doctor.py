"""``fastmetrics doctor``: what this installation has, and what to type for the rest."""

from typing import Annotated

import typer

from fastmetrics.cli.installation.environment import describe_environment, environment_lines
from fastmetrics.cli.terminal import examples
from fastmetrics.reporting.terminal.console import write_json, write_lines

EXAMPLES = examples("doctor", "doctor --json | jq '.parts[] | select(.status != \"ok\")'")


def doctor(json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False) -> None:
    """Show versions, threads, memory, extras, Java and WordNet, and how to get what is missing.

    Everything but numpy is needed by some entry points only, so what is missing is no error. Reports of bugs begin with
    this text. Without the extra `cli`, `fastmetrics doctor` is the one command that works.
    """
    environment = describe_environment()
    if json:
        write_json(**environment)
    else:
        write_lines(environment_lines(environment))
