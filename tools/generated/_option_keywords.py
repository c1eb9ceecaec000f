"""The options of the table as keywords: a new entry of the table stands in every signature and docstring that takes it.

The table is `fastmetrics/engine/evaluation/options`. Keywords that a function has stay where they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from fastmetrics.engine.evaluation.options import OF_TASKS, OPTIONS, options_of
from fastmetrics.engine.evaluation.options import option as kinds
from fastmetrics.engine.evaluation.options.option import (
    ACCUMULATOR,
    COMPARE,
    DASK,
    DASK_COMPARE,
    EVALUATE,
    FROM_BYTES,
    LOAD,
    PARTIAL,
    PROCESSES,
    RAY,
    RAY_COMPARE,
    SPARK,
    SPARK_COMPARE,
    TRAINING,
    UPDATE,
    Option,
)

QUESTION, TASK = "Evaluation", "Task"
# Where each entry point stands: module, and class or None, and function.
PLACES = {
    EVALUATE: ("engine.evaluate", None, "evaluate"),
    COMPARE: ("engine.compare", None, "compare"),
    ACCUMULATOR: ("engine.accumulator", "Accumulator", "__init__"),
    LOAD: ("engine.accumulator", "Accumulator", "load"),
    PARTIAL: ("distributed.plan", "DistributedPlan", "partial"),
    PROCESSES: ("distributed.processes", None, "evaluate"),
    FROM_BYTES: ("engine.accumulator", "Accumulator", "from_bytes"),
    UPDATE: ("engine.accumulator", "Accumulator", "update"),
    TRAINING: ("engine.training_metrics", "TrainingMetrics", "__init__"),
    SPARK: ("spark.dataframe", None, "evaluate"),
    SPARK_COMPARE: ("spark.dataframe", None, "compare"),
    RAY: ("ray.dataset", None, "evaluate"),
    RAY_COMPARE: ("ray.dataset", None, "compare"),
    DASK: ("dask.dataframe", None, "evaluate"),
    DASK_COMPARE: ("dask.dataframe", None, "compare"),
    QUESTION: ("engine.evaluation.evaluation", "Evaluation", "__init__"),
    TASK: ("engine.plan.tasks", "Task", "__init__"),
}
SEVERAL = "ColumnName | Sequence[ColumnName] | None"
ANNOTATIONS = {
    kinds.METRICS: "Metrics | None",
    kinds.COLUMN: "ColumnName | None",
    kinds.COLUMNS: SEVERAL,
    kinds.UNITS: SEVERAL,
    kinds.BASELINE: SEVERAL,
    kinds.MODELS: f"{SEVERAL} | Sequence[Sequence[ColumnName]]",
    kinds.SLICES: f"{SEVERAL} | Sequence[Sequence[ColumnName]]",
    kinds.ROLES: "Mapping[str, ColumnName] | None",
    kinds.TRUTH: "Mapping[str, ColumnName | Sequence[ColumnName]] | None",
    kinds.MARGINS: "Mapping[str, float] | None",
    kinds.FILTER: "object",
    kinds.TASKS: "Mapping[str, Task] | None",
    kinds.LEVEL: "float | None",
    kinds.COUNT: "int",
    kinds.SEED: "int",
    kinds.FLAG: "bool",
    kinds.ZONE: "str | None",
    kinds.SIZE: "int | str",
    kinds.CHOICE: "str",
    kinds.PATH: "str | os.PathLike[str]",
    kinds.TEXT: "str",
    kinds.TEXTS: "Mapping[str, str]",
    kinds.CALLABLE: "Callable[..., None]",
    kinds.OBJECT: "object",
}


class Places(NamedTuple):
    """The lines of a module before which an option is written: a keyword, a docstring's entry, a class's attribute.

    `indent` is that of the entry.
    """

    keyword: int
    entry: int
    attribute: int | None
    indent: str


def with_keywords(lines: list[str], module: str) -> list[str]:
    """The lines of a module, with the keywords that its entry point lacks."""
    for name, (own_module, owner, function) in PLACES.items():
        if own_module == module:
            for option in missing_options(name, lines, owner, function):
                default = None if name == TASK else option.default  # a task takes what it does not name from the call
                lines = with_option(lines, option, default, find_places(lines, owner, function))
    return lines


def missing_options(name: str, lines: list[str], owner: str | None, function: str) -> Iterator[Option]:
    node, _ = find_function(lines, owner, function)
    known = {own.arg for own in (*node.args.args, *node.args.kwonlyargs)}
    wanted = {QUESTION: OPTIONS, TASK: OF_TASKS}.get(name) or tuple(options_of(name).values())
    yield from (option for option in wanted if option.name not in known)


def with_option(lines: list[str], option: Option, default: Any, places: Places) -> list[str]:
    """The lines with one option more."""
    kind = ANNOTATIONS[option.kind]
    annotation = f"{option.name}: {kind}" + (" | None" if default is None and "None" not in kind else "")
    value = f'"{default}"' if isinstance(default, str) else repr(default)
    optional = ", optional" if default is None else ""
    closing = lines[places.keyword]
    inside = " " * (len(closing) - len(closing.lstrip()) + 4 * closing.lstrip().startswith(")"))
    written = {
        places.keyword: f"{inside}{annotation} = {value},",
        places.entry: f"{places.indent}{option.name} : {option.type}{optional}",
    }
    if places.attribute is not None:
        written[places.attribute] = f"    {annotation}"
    for line in sorted(written, reverse=True):
        lines = [*lines[:line], written[line], *lines[line:]]
    return lines


def find_function(lines: list[str], owner: str | None, function: str) -> tuple[ast.FunctionDef, ast.ClassDef | None]:
    tree = ast.parse("\n".join(lines))
    body: list[ast.stmt] = tree.body
    inside = None
    if owner is not None:
        inside = next(own for own in body if isinstance(own, ast.ClassDef) and own.name == owner)
        body = inside.body
    return next(own for own in body if isinstance(own, ast.FunctionDef) and own.name == function), inside


def find_places(lines: list[str], owner: str | None, function: str) -> Places:
    node, inside = find_function(lines, owner, function)
    ends = (") ->", "**")  # further keywords come last
    keyword = next(line for line in range(node.lineno, len(lines)) if lines[line].strip().startswith(ends))
    documented = inside if inside is not None and function == "__init__" else node
    start = documented.body[0].lineno - 1
    heading = next(line for line in range(start, len(lines)) if lines[line].strip() == "Parameters")
    blank = next(
        line
        for line in range(heading + 2, len(lines))
        if not lines[line].strip() and set(lines[line + 2].strip()) == {"-"}
    )
    typed = [own for own in (documented.body if documented is inside else ()) if isinstance(own, ast.AnnAssign)]
    indent = lines[heading][: -len(lines[heading].lstrip())]
    return Places(keyword, blank, typed[-1].lineno if typed else None, indent)
