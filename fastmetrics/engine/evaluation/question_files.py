"""Questions as plain Python and as TOML: a layout whose version fixes every default."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fastmetrics._core.registry import Metric, is_own, parse
from fastmetrics._core.suggestions import suggest
from fastmetrics.engine.evaluation.options import BY_NAME, OF_TASKS
from fastmetrics.engine.evaluation.options import option as kinds
from fastmetrics.engine.evaluation.options.option import STORED, Option
from fastmetrics.engine.evaluation.values import DEFAULTS, canonical_value
from fastmetrics.engine.plan.tasks import Task

SCHEMA, PLUGINS, TASKS = "schema", "plugins", "tasks"
VERSION = 1
# Where a key stands in the text, for messages: "" if there is no text.
Locate = Callable[[tuple[str, ...]], str]
BARE_KEY = r"[A-Za-z0-9_-]+"
MOST_INTEGER = (1 << 63) - 1  # of TOML


def question_to_dict(question: Any) -> dict[str, Any]:
    """The question in plain types; options at their default are left out."""
    planned = {task.name: task for task in question.plan_for(STORED)}
    metrics = [metric for task in planned.values() for metric in task.plan.metrics]
    given = question.options()
    content: dict[str, Any] = {SCHEMA: VERSION, **options_to_dict(given, metrics)}
    if question.tasks is not None:
        content[TASKS] = {
            name: options_to_dict(task.columns_and_metrics(), planned[name].plan.metrics)
            for name, task in question.tasks.items()
        }
    plugins = {repr(metric): describe_module(metric) for metric in metrics if not is_own(module_of(metric))}
    return content | ({PLUGINS: plugins} if plugins else {})


def options_to_dict(given: Mapping[str, Any], metrics: Any) -> dict[str, Any]:
    """The options of a question or of a task, but for its tasks, in the order of the table."""
    names = [name for name in BY_NAME if name in given and name != TASKS]
    return {name: option_to_plain(BY_NAME[name], given[name], metrics) for name in names}


def option_to_plain(option: Option, value: Any, metrics: Any) -> Any:
    if option.kind == kinds.METRICS:
        full = {repr(metric): metric.full_text for metric in metrics}
        return [full.get(name, name) for name in value]
    if option.kind == kinds.SEED and value > MOST_INTEGER:
        return str(value)  # JSON and TOML have integers of 64 bits with a sign
    return as_plain(value)


def as_plain(value: Any) -> Any:
    """Tuples as lists, mappings as dicts."""
    if isinstance(value, tuple):
        return list(map(as_plain, value))
    return {key: as_plain(own) for key, own in value.items()} if isinstance(value, Mapping) else value


def module_of(metric: Metric) -> str:
    return str(metric.spec.finalize.__module__)


def describe_module(metric: Metric) -> dict[str, str]:
    """The module that registers a metric, and its version, if the package says one."""
    module = module_of(metric)
    package = sys.modules.get(module.partition(".")[0])
    version = getattr(package, "__version__", None)
    return {"module": module} | ({"version": str(version)} if version is not None else {})


def nowhere(place: tuple[str, ...]) -> str:
    return ""


def options_of_dict(content: Mapping[str, Any], locate: Locate = nowhere) -> dict[str, Any]:
    """The options of the question that a dict of plain types holds."""
    if not isinstance(content, Mapping):
        raise TypeError(f"a question is a dict of options; found {type(content).__name__}")
    check_schema(content, locate)
    check_plugins(content.get(PLUGINS, {}), locate)
    tasks = content.get(TASKS)
    if not (tasks is None or isinstance(tasks, Mapping)):
        raise ValueError(f"{locate((TASKS,))}tasks is a table of tasks by name; found {tasks!r}")
    if "metrics" in content and content["metrics"] is None:
        raise ValueError(f"{locate(('metrics',))}metrics is empty: name at least one")
    others = {key: value for key, value in content.items() if key not in (SCHEMA, PLUGINS, TASKS)}
    given = read_options(others, (), [*BY_NAME, PLUGINS, SCHEMA], locate)
    if tasks is not None:
        given[TASKS] = {name: read_task(name, own, locate) for name, own in tasks.items()}
    return given


def read_task(name: str, content: Any, locate: Locate) -> Task:
    if not isinstance(content, Mapping):
        raise ValueError(f"{locate((TASKS, name))}task {name!r} is a table of options; found {content!r}")
    return Task(**read_options(content, (TASKS, name), [option.name for option in OF_TASKS], locate))


def read_options(
    content: Mapping[str, Any], place: tuple[str, ...], known: Sequence[str], locate: Locate
) -> dict[str, Any]:
    """The options of a table, each checked where it stands; a key that is none is an error."""
    where = "".join(f"task {name!r}: " for name in place[1:])
    values = DEFAULTS | dict(content)
    found = {}
    for key, value in content.items():
        try:
            if key not in known:
                raise ValueError(f"there is no option {key!r}; {suggest(key, list(known))}")
            is_text = key == "seed" and isinstance(value, str) and value.isdecimal()
            found[key] = canonical_value(BY_NAME[key], int(value) if is_text else value, values)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{locate((*place, key))}{where}{error}") from error
    return found


def check_schema(content: Mapping[str, Any], locate: Locate) -> None:
    """The version of the layout is one that this version of the library reads."""
    if SCHEMA not in content:
        raise ValueError(f"the question has no schema: begin with schema = {VERSION}")
    if type(content[SCHEMA]) is not int or content[SCHEMA] != VERSION:
        raise ValueError(f"{locate((SCHEMA,))}schema {content[SCHEMA]!r} is not known: this version reads {VERSION}")


def check_plugins(plugins: Any, locate: Locate) -> None:
    """Metrics of other modules have to be registered."""
    if not isinstance(plugins, Mapping):
        raise ValueError(f"{locate((PLUGINS,))}plugins is a table of metrics; found {plugins!r}")
    for name, own in plugins.items():
        module = own.get("module") if isinstance(own, Mapping) else None
        if not isinstance(module, str):
            raise ValueError(f"{locate((PLUGINS, name))}plugin {name!r} has no module; found {own!r}")
        try:
            parse(str(name))
        except ValueError as error:
            raise ValueError(
                f"{locate((PLUGINS, name))}the question has metric {name!r} of module {module!r}, which is not "
                f"imported; type: import {module}"
            ) from error


def question_to_toml(question: Any) -> str:
    """The question as TOML: options first, then tables."""
    return "\n".join(toml_lines(question_to_dict(question))) + "\n"


def toml_lines(table: Mapping[str, Any], place: tuple[str, ...] = ()) -> Iterator[str]:
    for key, value in table.items():
        if not isinstance(value, Mapping):
            yield f"{toml_key(key)} = {toml_value(value)}"
    for key, value in table.items():
        if isinstance(value, Mapping):
            inner = (*place, key)
            if not value or not all(isinstance(own, Mapping) for own in value.values()):
                yield ""
                yield f"[{'.'.join(map(toml_key, inner))}]"
            yield from toml_lines(value, inner)


def toml_key(key: str) -> str:
    return key if re.fullmatch(BARE_KEY, key) else toml_value(key)


def toml_value(value: Any) -> str:
    """A value as TOML writes it: JSON has the same forms, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def options_of_toml(text: str) -> dict[str, Any]:
    """The options of the question that a text in TOML holds; errors name the line."""
    import tomllib

    if not isinstance(text, str):
        raise TypeError(f"from_toml reads a text; found {type(text).__name__}: for a file, Path(...).read_text()")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"the question is not TOML: {error}") from error

    def locate(place: tuple[str, ...]) -> str:
        line = line_of(text, place)
        return "" if line is None else f"line {line}: "

    return options_of_dict(content, locate)


def line_of(text: str, place: tuple[str, ...]) -> int | None:
    """The line in a text in TOML on which a key, or the table that has it inline, begins."""
    import tomllib

    lines = text.split("\n")
    complete = 0  # lines that end with a value, a comment or a header
    for number in range(1, len(lines) + 1):
        try:
            content: Any = tomllib.loads("\n".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue
        for key in place:
            content = content.get(key, ...) if isinstance(content, Mapping) else ...
        if content is not ...:
            return complete + 1
        complete = number
    return None
