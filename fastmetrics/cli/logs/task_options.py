"""The values of --task: "cvr: label=conversion; score=pcvr"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from fastmetrics import Task

FORM = "NAME: label=COLUMN; score=COLUMN; ..."
# Keys whose values are several columns if they are separated by commas.
COLUMN_KEYS = ("label", "score", "group", "prediction", "probabilities")


def read_tasks(texts: list[str] | Mapping[str, Task] | None) -> Mapping[str, Task] | None:
    """The tasks of --task by name, or those of --config; None if there are none. Keys are parameters of `Task`."""
    if not texts:
        return None
    if isinstance(texts, Mapping):
        return texts
    tasks: dict[str, Task] = {}
    for text in texts:
        name, colon, fields = (part.strip() for part in text.partition(":"))
        if not name or not colon:
            raise typer.BadParameter(f"type {FORM}; found {text!r}", param_hint="--task")
        if name in tasks:
            raise typer.BadParameter(f"task {name} is given twice", param_hint="--task")
        tasks[name] = read_task(fields, text)
    return tasks


def read_task(fields: str, text: str) -> Task:
    """One task from "label=conversion; score=pcvr"."""
    from fastmetrics.engine.evaluation.options import OF_TASKS
    from fastmetrics.engine.plan.tasks import Task

    known = [option.name for option in OF_TASKS if option.name != "roles"]
    values: dict[str, Any] = {}
    for field in filter(None, map(str.strip, fields.split(";"))):
        key, equals, value = (part.strip() for part in field.partition("="))
        if not equals or not value:
            raise typer.BadParameter(f"cannot read {field!r}, in {text!r}: type {FORM}", param_hint="--task")
        if key not in known:
            words = f"a task has no {key!r}, in {text!r}: it may have {', '.join(known)}"
            raise typer.BadParameter(words, param_hint="--task")
        if key in values:
            raise typer.BadParameter(f"{key} is given twice, in {text!r}", param_hint="--task")
        columns = split_names(value)
        values[key] = columns if key in COLUMN_KEYS and len(columns) > 1 else value
    return Task(**values)


def split_names(text: str) -> list[str]:
    """Names or expressions that are separated by commas. Commas inside brackets and quotes separate nothing."""
    names, start, depth, quote = [], 0, 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth <= 0:
            names.append(text[start:position].strip())
            start = position + 1
    return [*names, text[start:].strip()]
