"""The values of options in one form, whatever their spelling: equal questions have equal values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from fastmetrics._core import registry
from fastmetrics._core.columns.validation import check_flag, check_option
from fastmetrics._core.exchange.memory_size import parse_integer, parse_text
from fastmetrics._core.immutable import freeze
from fastmetrics._core.kinds import GROUP_ROLE, ITEM_ROLE, LABEL_ROLE, MODEL_ROLES
from fastmetrics._core.results.slice_order import check_count
from fastmetrics._core.suggestions import suggest
from fastmetrics.engine.evaluation.options import BY_NAME, OF_TASKS
from fastmetrics.engine.evaluation.options import option as kinds
from fastmetrics.engine.evaluation.options.option import Option
from fastmetrics.engine.expressions.time_zones import explain_zone
from fastmetrics.engine.plan.column_names import (
    KEYWORD_ROLES,
    as_column_tuple,
    as_model,
    as_models,
    join_roles,
    key_columns,
    named_model_roles,
    read_slice_columns,
    with_text_names,
)
from fastmetrics.engine.plan.resampling_options import MAX_REPLICATES, read_unit
from fastmetrics.engine.plan.row_filters import RowMask, read_filter
from fastmetrics.engine.plan.tasks import Task, check_tasks, name_task_in_errors

SMALLEST_STATE, DEFAULT_STATE = 1 << 12, 1 << 22
TRUTH_ROLES = [LABEL_ROLE, GROUP_ROLE, ITEM_ROLE]
Values = Mapping[str, Any]


def canonical_values(given: Values, *, compared: bool = False) -> dict[str, Any]:
    """The values of all options in one form; options that are not given have their default.

    `compared`: models are compared, so that the default metrics have a better direction.
    """
    values = {**DEFAULTS, **given}
    found = DEFAULTS.copy()
    for name, value in given.items():
        option = BY_NAME[name]
        if value is not option.default:
            found[name] = canonical_value(option, value, values)
    if not found["approximate"]:
        found["state_size"] = DEFAULT_STATE  # an exact state has no size
    return with_default_metrics(with_keyword_roles(found), compared)


def with_default_metrics(values: dict[str, Any], compared: bool) -> dict[str, Any]:
    """A question without metrics asks for the default ones of its columns, or of those of each task without any."""
    if values["metrics"] is not None:
        return values
    if values["tasks"] is None:
        return values | {"metrics": default_metrics_of(values, compared)}
    call = Task(**{own.name: values[own.name] for own in OF_TASKS})
    tasks = {}
    for name, task in values["tasks"].items():
        with name_task_in_errors(name):
            missing = task.metrics is None
            columns = task.inherit(call).columns_and_metrics()
            tasks[name] = task._replace(metrics=default_metrics_of(columns, compared)) if missing else task
    return values | {"tasks": freeze(tasks)}


def default_metrics_of(values: Values, compared: bool) -> tuple[str, ...]:
    """The default metrics of columns by keyword, in their shortest form."""
    if values.get("truth_columns") is not None:
        raise ValueError("lists that are joined with truth have no default metrics: name them, such as 'ndcg@10'")
    own_roles = (LABEL_ROLE, GROUP_ROLE, *MODEL_ROLES, *KEYWORD_ROLES)
    columns = {role: values.get(role) for role in own_roles} | dict(values.get("roles") or {})
    roles = named_model_roles(*(columns[role] for role in MODEL_ROLES))
    return tuple(map(repr, registry.read_metrics(registry.default_metrics(columns, compared=compared), roles)))


def canonical_task(task: Task) -> Task:
    """A task with its values in one form."""
    values = {own.name: getattr(task, own.name) for own in OF_TASKS}
    found = {
        own.name: None if values[own.name] is None else canonical_value(own, values[own.name], values)
        for own in OF_TASKS
    }
    return Task(**with_keyword_roles(found))


def canonical_value(option: Option, value: Any, values: Values) -> Any:
    """The value of one option; `values` are those of all."""
    if value is None and option.default is None:
        return None
    return READERS[option.kind](option, value, values)


def with_keyword_roles(values: dict[str, Any]) -> dict[str, Any]:
    """Columns of roles that have keywords of their own stand under these."""
    roles = values["roles"]
    if roles is None:
        return values
    joined = join_roles({role: values[role] for role in KEYWORD_ROLES}, roles)
    others = {role: column for role, column in roles.items() if role not in KEYWORD_ROLES}
    return values | {role: joined[role] for role in KEYWORD_ROLES} | {"roles": freeze(others) if others else None}


def read_metrics(option: Option, value: Any, values: Values) -> tuple[str, ...]:
    """Metric strings in their shortest form, each once."""
    roles = named_model_roles(values["score"], values["prediction"], values["probabilities"], values["roles"])
    return tuple(dict.fromkeys(map(repr, registry.read_metrics(value, roles))))


def read_columns(option: Option, value: Any, values: Values) -> Any:
    """One column, or a tuple of several."""
    columns = as_column_tuple(option.name, value)
    return columns[0] if len(columns) == 1 else columns


def read_column(option: Option, value: Any, values: Values) -> str:
    name = with_text_names(value)
    if not isinstance(name, str):
        raise TypeError(f"{option.name} must be the name of a column; found {value!r}")
    return name


def read_models(option: Option, value: Any, values: Values) -> Any:
    """The columns of every model; a single column of lists by its name."""
    models = tuple(map(key_columns, as_models(value)))
    return models[0][0] if len(models) == 1 and len(models[0]) == 1 else models


def read_roles(option: Option, value: Any, values: Values) -> dict[str, Any] | None:
    """Columns by role, in the order of the roles."""
    roles = join_roles({}, value)
    named = {role: with_text_names(column) for role, column in roles.items() if column is not None}
    return {role: tuple(own) if isinstance(own, list) else own for role, own in sorted(named.items())} or None


def read_truth(option: Option, value: Any, values: Values) -> Mapping[str, Any] | None:
    """The columns of the truth table by role; only a group may have several."""
    named = read_roles(option, value, values) or {}
    for role, column in named.items():
        if role not in TRUTH_ROLES:
            raise ValueError(f"{option.name} has no role {role!r}; {suggest(role, TRUTH_ROLES)}")
        columns = column if isinstance(column, tuple) else (column,)
        if not all(isinstance(own, str) for own in columns) or (len(columns) != 1 and role != GROUP_ROLE):
            raise TypeError(f"the {role} of {option.name} must be the name of a column; found {value[role]!r}")
    return freeze(named) if named else None


def read_where(option: Option, value: Any, values: Values) -> Any:
    found = read_filter(value)
    return found.native if found is not None and isinstance(found.native, RowMask) else value


def read_slices(option: Option, value: Any, values: Values) -> Any:
    """The columns of slices, or grouping sets; None of no column."""
    columns, sets = read_slice_columns(value)
    if sets or not columns:
        return sets or None
    return columns[0] if len(columns) == 1 else columns


def read_tasks(option: Option, value: Any, values: Values) -> Any:
    tasks = {}
    for name, task in check_tasks(value).items():
        with name_task_in_errors(name):
            tasks[name] = canonical_task(task)
    return freeze(tasks)


def read_level(option: Option, value: Any, values: Values) -> float:
    from fastmetrics._core.comparison.test_results import check_level

    check_level(value)
    return float(value)


def read_count(option: Option, value: Any, values: Values) -> int:
    if option.name == "min_rows":
        return check_count(value, option.name, least=0)
    from fastmetrics._core.comparison.test_results import check_replicates

    return check_replicates(value, MAX_REPLICATES)


def read_seed(option: Option, value: Any, values: Values) -> int:
    from fastmetrics._core.comparison.test_results import check_seed

    return check_seed(value)


def read_units(option: Option, value: Any, values: Values) -> Any:
    return read_unit(value)


def read_flag(option: Option, value: Any, values: Values) -> bool:
    check_flag(value, option.name)
    return bool(value)


def read_choice(option: Option, value: Any, values: Values) -> str:
    """One of the choices; None is "none" where that is one."""
    name = "none" if value is None else value
    check_option(name, option.name, option.choices)
    return str(name)


def read_zone(option: Option, value: Any, values: Values) -> str:
    wrong = explain_zone(value)
    if wrong is not None:
        raise ValueError(f"time_zone: {wrong}")
    return str(value)


def read_size(option: Option, value: Any, values: Values) -> int:
    """Bytes."""
    size = parse_text(value, option.name) if isinstance(value, str) else parse_integer(value, option.name)
    if size < SMALLEST_STATE:
        raise ValueError(f"{option.name} must be at least {SMALLEST_STATE} bytes; found {value!r}")
    return size


def read_baseline(option: Option, value: Any, values: Values) -> Any:
    name = with_text_names(value)
    return name if isinstance(name, str) else as_model(name)


def read_margins(option: Option, value: Any, values: Values) -> Mapping[str, float] | None:
    """Margins by metric, in its shortest form."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{option.name} must map metrics to numbers, such as {{'auc': 0.001}}; found {value!r}")
    roles = named_model_roles(values["score"], values["prediction"], values["probabilities"], values["roles"])
    found: dict[str, float] = {}
    for name, margin in value.items():
        metric = repr(registry.parse(name, roles))
        if metric in found:
            raise ValueError(f"{option.name} names {metric} twice")
        is_number = isinstance(margin, (int, float)) and not isinstance(margin, bool)
        if not is_number or not 0 < margin < math.inf:
            raise ValueError(f"the {option.name} of {name} must be a finite number above 0; found {margin!r}")
        found[metric] = float(margin)
    return freeze(found) if found else None


READERS: dict[str, Callable[[Option, Any, Values], Any]] = {
    kinds.METRICS: read_metrics,
    kinds.COLUMN: read_column,
    kinds.COLUMNS: read_columns,
    kinds.MODELS: read_models,
    kinds.ROLES: read_roles,
    kinds.TRUTH: read_truth,
    kinds.FILTER: read_where,
    kinds.SLICES: read_slices,
    kinds.TASKS: read_tasks,
    kinds.LEVEL: read_level,
    kinds.COUNT: read_count,
    kinds.SEED: read_seed,
    kinds.UNITS: read_units,
    kinds.FLAG: read_flag,
    kinds.CHOICE: read_choice,
    kinds.ZONE: read_zone,
    kinds.SIZE: read_size,
    kinds.BASELINE: read_baseline,
    kinds.MARGINS: read_margins,
}
# In the form of all values.
DEFAULTS: dict[str, Any] = {name: own.default for name, own in BY_NAME.items()} | {"state_size": DEFAULT_STATE}
