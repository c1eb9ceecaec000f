"""The page of the command line, from the help of its commands."""

import re
from collections.abc import Iterator
from typing import Any

HEAD = """\
# Commands

The arguments and options of every command; `fastmetrics COMMAND --help` prints the same.
[The command line](../guides/cli.md) has exit codes, completion and colors.
"""


def pages() -> Iterator[tuple[str, str]]:
    import typer

    from fastmetrics.cli.app import app

    group = typer.main.get_command(app)
    context = group.make_context("fastmetrics", ["list"], resilient_parsing=True)
    yield "reference/commands.md", HEAD + "".join(section(group.commands[name], context) for name in group.commands)


def section(command: Any, parent: Any) -> str:
    """A command: its help, its usage, and a line for each argument and option."""
    context = type(parent)(command, info_name=command.name, parent=parent)
    usage = command.get_usage(context).removeprefix("Usage: ")
    usage = " ".join(usage.split())
    lines = [item(option, context) for option in command.get_params(context) if not getattr(option, "hidden", False)]
    return f"\n## {command.name}\n\n{escaped(command.help or '')}\n\n```text\n{usage}\n```\n\n{''.join(lines)}"


def item(option: Any, context: Any) -> str:
    """An entry of a definition list."""
    names, text = option.get_help_record(context) or (option.make_metavar(context), option.help or "")
    return f"`{names}`\n: {escaped(' '.join((text or '').split()))}\n\n"


def escaped(text: str) -> str:
    """Help is plain text: what Markdown would read as marks is not."""
    return re.sub(r"([*_<>|\[\]])", r"\\\1", text)
