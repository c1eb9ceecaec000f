"""docs/options.md and docs/evaluation.schema.json: the options of questions, from the one table of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fastmetrics.cli.question_options import flags_of
from fastmetrics.engine.evaluation import options as kinds
from fastmetrics.engine.evaluation.options import OF_TASKS, OPTIONS, Option
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
    kinds.FILTER: NAME,
    kinds.ZONE: NAME,
    kinds.FLAG: {"type": "boolean"},
    kinds.LEVEL: {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    kinds.COUNT: {"type": "integer"},
    kinds.SEED: {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}]},
    kinds.SIZE: {"anyOf": [{"type": "integer", "minimum": 1}, NAME]},
}
# The roles go by --role, plots by --html, and approximate states have no command.
WITHOUT_FLAGS = ("item", "treatment", "propensity", "curves", "approximate", "state_size")
HEAD = """\
# Options

A question says what is computed. Its options are keywords of `evaluate`, `compare`, `Accumulator` and
`fastmetrics.spark.evaluate`, parts of an `Evaluation`, keys of its TOML, and
options of the commands. `python tools/generate.py` writes this page from
`fastmetrics/engine/evaluation/options.py`.

How a log is read, memory, threads and progress belong to a run, not to the question: see [inputs.md](inputs.md).

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
    lines = ["| option | default | kind | functions | command | meaning |", "|---|---|---|---|---|---|"]
    lines += map(row_of, OPTIONS)
    schema = json.dumps(schema_of_questions(), indent=2, ensure_ascii=False) + "\n"
    return {
        ROOT / "docs" / "options.md": HEAD + "\n".join(lines) + "\n" + FILES,
        ROOT / "docs" / "evaluation.schema.json": schema,
    }


def row_of(option: Option) -> str:
    default = "" if option.default is None else f"`{option.default!r}`"
    functions = ", ".join(f"`{name}`" for name in option.entry_points)
    command = "" if option.name in WITHOUT_FLAGS else ", ".join(f"`{flag}`" for flag in flags_of(option))
    meaning = option.text.partition(". ")[0].removesuffix(".") + "."
    cells = [f"`{option.name}`", default, option.type, functions, command, meaning]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


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
