"""The options of a question as options of a command: names, types and texts are those of the table of options."""

from typing import Annotated, Any, Literal

import typer

from fastmetrics.engine.evaluation import options as kinds
from fastmetrics.engine.evaluation.options import COMPARE, EVALUATE, OPTIONS, Option

# The types of options, by the kind of their values, and what stands for a value in --help.
SEVERAL: Any = list[str] | None
TYPES: dict[str, Any] = {
    kinds.METRICS: SEVERAL, kinds.COLUMNS: SEVERAL, kinds.MODELS: SEVERAL, kinds.ROLES: SEVERAL,
    kinds.SLICES: SEVERAL, kinds.TASKS: SEVERAL, kinds.UNITS: SEVERAL, kinds.COLUMN: str | None,
    kinds.FILTER: str | None, kinds.ZONE: str | None, kinds.COUNT: int, kinds.SEED: int, kinds.FLAG: bool,
    kinds.SIZE: str,
}  # fmt: skip
METAVARS = {
    kinds.COLUMN: "COLUMN", kinds.COLUMNS: "COLUMN", kinds.SLICES: "COLUMN", kinds.UNITS: "COLUMN", kinds.COUNT: "N",
    kinds.SEED: "N", kinds.SIZE: "SIZE",
}  # fmt: skip
# Options that commands have in another form: the roles by --role, plots with a page, and those of one command alone.
OTHER_FORMS = ("item", "treatment", "propensity", "curves", "ci", "baseline", "correction")


def command_option(option: Option) -> Any:
    """The type of a command's parameter for an option of the question."""
    kind = Literal[option.choices] if option.kind == kinds.CHOICE else TYPES[option.kind]
    given = typer.Option(
        *flags_of(option),
        metavar=option.metavar or METAVARS.get(option.kind),
        help=option.help or f"{option.text.partition('. ')[0].removesuffix('.')}.",
        min=option.least,
        show_default=option.default is not None,
    )
    return Annotated[kind, given]


def flags_of(option: Option) -> tuple[str, ...]:
    """The names of an option on the command line."""
    return option.flags or (f"--{option.name.replace('_', '-')}",)


def further_options(known: tuple[str, ...]) -> list[Option]:
    """The options of logs that no command declares itself."""
    of_logs = [own for own in OPTIONS if EVALUATE in own.entry_points and COMPARE in own.entry_points]
    return [own for own in of_logs if own.name not in (*known, *OTHER_FORMS)]
