"""The options of the table as options of a command: names, types and texts are those of the table."""

from typing import Annotated, Any, Literal

import typer

from fastmetrics._core.parallel import count_threads
from fastmetrics.cli.completion import (
    complete_columns,
    complete_condition,
    complete_metrics,
    complete_role,
    complete_task,
    complete_truth,
)
from fastmetrics.engine.evaluation.options import option as kinds
from fastmetrics.engine.evaluation.options import options_of
from fastmetrics.engine.evaluation.options.option import COMPARE, EVALUATE, Option

# The types of options, by the kind of their values, and what stands for a value in --help.
TYPES: dict[str, Any] = {
    kinds.COLUMN: str, kinds.FILTER: str, kinds.ZONE: str, kinds.SIZE: str, kinds.PATH: str, kinds.TEXT: str,
    kinds.COUNT: int, kinds.SEED: int, kinds.FLAG: bool,
}  # fmt: skip
METAVARS = {
    kinds.COLUMN: "COLUMN", kinds.COLUMNS: "COLUMN", kinds.SLICES: "COLUMN", kinds.UNITS: "COLUMN", kinds.COUNT: "N",
    kinds.SEED: "N", kinds.SIZE: "SIZE", kinds.PATH: "DIR",
}  # fmt: skip
COMPLETIONS = {
    kinds.METRICS: complete_metrics, kinds.FILTER: complete_condition, kinds.ROLES: complete_role,
    kinds.TASKS: complete_task, kinds.TRUTH: complete_truth,
    **dict.fromkeys((kinds.COLUMN, kinds.COLUMNS, kinds.MODELS, kinds.SLICES, kinds.UNITS), complete_columns),
}  # fmt: skip
# The options of logs that `evaluate` and `compare` have, by name.
OF_LOGS = {name: own for name, own in options_of(EVALUATE).items() if name in options_of(COMPARE)}
# Options that are typed several times, for several values.
SEVERAL: Any = list[str]


def command_option(option: Option) -> Any:
    """The type of a command's parameter for an option."""
    kind = Literal[option.choices] if option.kind == kinds.CHOICE else TYPES.get(option.kind, SEVERAL)
    given = typer.Option(
        *flags_of(option),
        metavar=option.metavar or METAVARS.get(option.kind),
        help=option.help or f"{option.text.partition('. ')[0].removesuffix('.')}.",
        min=option.least,
        callback=check_threads if option.name == "n_threads" else None,
        show_default=option.default is not None,
        autocompletion=COMPLETIONS.get(option.kind),
    )
    return Annotated[kind if option.default is not None else kind | None, given]


def check_threads(n_threads: int | None) -> int | None:
    """The number of threads as it is typed, if it is allowed."""
    try:
        count_threads(n_threads, "it")
    except ValueError as error:
        raise typer.BadParameter(str(error).replace(" or None", "")) from None
    return n_threads


def flags_of(option: Option) -> tuple[str, ...]:
    """The names of an option on the command line."""
    return (f"--{option.name.replace('_', '-')}",) if option.flags is None else option.flags


def further_options(known: tuple[str, ...]) -> list[Option]:
    """The options of logs that no command declares itself."""
    return [own for own in OF_LOGS.values() if own.name not in known and flags_of(own)]
