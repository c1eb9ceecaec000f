"""`--config question.toml`: a stored question in place of options; an option that is typed replaces its key."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fastmetrics.cli import options
from fastmetrics.cli.logs.log_options import LogOptions
from fastmetrics.cli.terminal import message_of
from fastmetrics.engine.evaluation.options import BY_NAME

if TYPE_CHECKING:
    from fastmetrics import Evaluation

# Options of the question that the command line has under other names.
ROLES = ("item", "treatment", "propensity")


def read_config(path: str) -> "Evaluation":
    """The question of --config."""
    from fastmetrics import Evaluation

    try:
        return Evaluation.from_toml(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{path}: {message_of(error)}", param_hint="--config") from error


def with_config(context: typer.Context, log: LogOptions) -> tuple[LogOptions, dict[str, Any]]:
    """The options of a command, with those of --config where none was typed; and all options of --config."""
    options.import_plugins(log.plugin)
    if log.config is None:
        return log, {}
    given = read_config(log.config).options()
    typed = {name for name in (*LogOptions._fields, *log.more) if options.was_given(context, name)}
    if typed & {"by", "grouping_set"}:
        typed |= {"by", "grouping_set"}
    more = {name: given[name] for name in log.more.keys() & given.keys() - typed}
    fields = {name: value for name, value in fields_of(given).items() if name not in typed}
    return log._replace(**fields, more={**log.more, **more}), given


def stored_question(
    given: Mapping[str, Any], metrics: Any, arguments: dict[str, Any]
) -> tuple["Evaluation", dict[str, Any]]:
    """The question of --config with what the command has in place of its own; and the arguments that are of a run."""
    from fastmetrics import Evaluation

    own = {name: value for name, value in arguments.items() if name in BY_NAME}
    others = {name: value for name, value in given.items() if name not in ROLES}  # they are in the roles of the command
    return Evaluation(**(others | own | {"metrics": metrics})), {
        name: value for name, value in arguments.items() if name not in BY_NAME
    }


def fields_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of `LogOptions` for the options of a question."""
    fields = {name: own for name, own in given.items() if name in LogOptions._fields}
    for name in ("label", "score", "prediction", "group", "unit", "metrics"):
        if name in fields:
            fields[name] = [fields[name]] if isinstance(fields[name], str) else list(fields[name])
    if "probabilities" in fields:
        models = fields["probabilities"]
        fields["probabilities"] = [[models]] if isinstance(models, str) else list(map(list, models))
    if "by" in fields:
        columns = fields["by"] if isinstance(fields["by"], tuple) else (fields["by"],)
        sets = isinstance(columns[0], tuple)
        fields |= {"by": None, "grouping_set": list(map(list, columns))} if sets else {"by": list(columns)}
    roles = {name: given[name] for name in ROLES if name in given} | dict(given.get("roles", {}))
    if roles:
        fields["roles"] = [f"{role}={column}" for role, column in roles.items()]
    return fields
