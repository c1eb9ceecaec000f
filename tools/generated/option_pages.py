"""docs/options.md and docs/evaluation.schema.json: the options of questions and of runs, from the one table of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fastmetrics.cli.question_options import flags_of
from fastmetrics.engine.evaluation.options import OF_TASKS, OPTIONS, RUN_OPTIONS
from fastmetrics.engine.evaluation.options import option as kinds
from fastmetrics.engine.evaluation.options.option import COMPARE, EVALUATE, STORED, Option, Refusal
from fastmetrics.engine.evaluation.question_files import PLUGINS, SCHEMA, TASKS, VERSION
from generated import ROOT

NAME = {"type": "string", "minLength": 1}
NAMES = {"type": "array", "items": NAME, "minItems": 1}
TYPES: dict[str, dict[str, Any]] = {
    kinds.METRICS: {"anyOf": [NAME, NAMES]},
    kinds.COLUMN: NAME,
    kinds.COLUMNS: {"anyOf": [NAME, NAMES]},
    kinds.UNITS: {"anyOf": [NAME, NAMES]},
    kinds.BASELINE: {"anyOf": [NAME, NAMES]},
    kinds.MODELS: {"anyOf": [NAME, {"type": "array", "items": {"anyOf": [NAME, NAMES]}, "minItems": 1}]},
    kinds.SLICES: {"anyOf": [NAME, NAMES, {"type": "array", "items": {"type": "array", "items": NAME}}]},
    kinds.ROLES: {"type": "object", "additionalProperties": NAME},
    kinds.TRUTH: {
        "type": "object",
        "properties": {"label": NAME, "group": {"anyOf": [NAME, NAMES]}, "item": NAME},
        "additionalProperties": False,
    },
    kinds.MARGINS: {"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}},
    kinds.FILTER: NAME,
    kinds.ZONE: NAME,
    kinds.FLAG: {"type": "boolean"},
    kinds.LEVEL: {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    kinds.COUNT: {"type": "integer"},
    kinds.SEED: {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}]},
    kinds.SIZE: {"anyOf": [{"type": "integer", "minimum": 1}, NAME]},
}
HEAD = """\
# Options

A question says what is computed. Its options are keywords of `evaluate`, `compare` and `Accumulator`, and of `evaluate`
and `compare` of `fastmetrics.spark`, `fastmetrics.ray` and `fastmetrics.dask` (below: `spark`, `ray`, `dask`), parts of
an `Evaluation`, keys of its TOML, and options of the commands. How a log is read, memory, threads and progress belong
to a run.
`python tools/generate.py` writes this page from `fastmetrics/engine/evaluation/options`.

## Of a question

"""
OF_RUNS = """
## Of a run

Memory, threads and progress change no number. How files are read is in [inputs.md](inputs.md).

"""
REFUSED = """
## What functions cannot do

It is an error before any row is read.

"""
FILES = f"""\

## Questions in files

```bash
fastmetrics sample-log clicks.parquet --rows 50000
```

```python
import fastmetrics as fm

question = fm.Evaluation(["auc", "gauc"], label="click", score="pctr", group="user_id")
question.to_toml("question.toml")
```

The file begins with `schema = {VERSION}`. That number fixes every default, also those of parameters of metrics: a
stored question means the same when a later version has another
default. Metric strings stand there with all their parameters. Tasks are tables, `[tasks.ctr]`, and metrics of a
plug-in stand with their module in `[plugins]`. Editors check the file
against [evaluation.schema.json](evaluation.schema.json) if it begins with `#:schema` and the path of that file.

```bash
fastmetrics evaluate clicks.parquet --config question.toml
fastmetrics evaluate clicks.parquet --config question.toml --metrics auc
```

An option that is typed replaces its key. `report.evaluation` is the question of a report, also in its JSON:
`fm.evaluate(other_log, report.evaluation)` asks it again.
"""


def outputs() -> dict[Path, str]:
    refused = [(option, refusal) for option in (*OPTIONS, *RUN_OPTIONS) for refusal in option.refusals]
    page = [
        HEAD, *table("option | default | kind | functions | command | meaning", map(cells_of, OPTIONS)),
        OF_RUNS, *table("option | default | kind | functions | command | meaning", map(cells_of, RUN_OPTIONS)),
        REFUSED, *table("option | functions | what", (cells_of_refusal(*own) for own in refused)),
    ]  # fmt: skip
    schema = json.dumps(schema_of_questions(), indent=2, ensure_ascii=False) + "\n"
    return {
        ROOT / "docs" / "options.md": "".join([*page, FILES]),
        ROOT / "docs" / "evaluation.schema.json": schema,
    }


def table(head: str, rows: Iterable[list[str]]) -> Iterator[str]:
    """The lines of a table in Markdown."""
    yield f"| {head} |\n{'|---' * len(head.split(' | '))}|\n"
    for cells in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def cells_of(option: Option) -> list[str]:
    default = "" if option.default is None else f"`{option.default!r}`"
    of_commands = EVALUATE in option.entry_points or COMPARE in option.entry_points
    flags = as_code(flags_of(option)) if of_commands else ""
    meaning = option.text.partition(". ")[0].removesuffix(".") + "."
    return [as_code([option.name]), default, option.type, as_code(short_names(option.entry_points)), flags, meaning]


def cells_of_refusal(option: Option, refusal: Refusal) -> list[str]:
    functions = as_code(short_names(name for name in refusal.entry_points if name != STORED))
    return [as_code([option.name]), functions, refusal.of or "all but the default"]


def short_names(entry_points: Iterable[str]) -> list[str]:
    """Entry points; a package stands for both of its own."""
    names = list(entry_points)
    of_packages = {name: name.removesuffix(".evaluate").removesuffix(".compare") for name in kinds.ON_CLUSTERS}
    packages = [of_packages.get(name, name) for name in names]
    both = {package for package in of_packages.values() if packages.count(package) == 2}
    return list(dict.fromkeys(own if own in both else name for name, own in zip(names, packages, strict=True)))


def as_code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def schema_of_questions() -> dict[str, Any]:
    """The JSON Schema of questions in files."""
    options = {option.name: schema_of_option(option) for option in OPTIONS}
    task = {option.name: options[option.name] for option in OF_TASKS}
    options[TASKS] |= {
        "type": "object",
        "additionalProperties": {"type": "object", "properties": task, "additionalProperties": False},
    }
    plugin = {"type": "object", "properties": {"module": NAME, "version": NAME}, "required": ["module"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A question of fastmetrics",
        "type": "object",
        "required": [SCHEMA],
        "properties": {
            SCHEMA: {"const": VERSION, "description": "The version of this layout."},
            **options,
            PLUGINS: {"type": "object", "additionalProperties": plugin},
        },
        "additionalProperties": False,
    }


def schema_of_option(option: Option) -> dict[str, Any]:
    kind = {"enum": list(option.choices)} if option.kind == kinds.CHOICE else TYPES.get(option.kind, {})
    least = {} if option.least is None or option.kind != kinds.COUNT else {"minimum": option.least}
    default = {} if option.default is None else {"default": option.default}
    return {**kind, **least, **default, "description": option.text}
