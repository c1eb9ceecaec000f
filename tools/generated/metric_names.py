"""`fastmetrics/_core/types/metric_names.pyi`: every metric as a method of `Metric`, with its options and columns.

The values of an option are those that the registry allows; where it has a check, the type is that of the metric's
function. A metric with several forms (scores, predicted labels, with and without a cutoff) has an overload for each.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastmetrics._core.group_stat import STAT_DEFAULTS
from fastmetrics._core.metric_spec import REQUIRED, MetricSpec
from fastmetrics._core.registry import column_roles, known_specs, may_be_several
from fastmetrics._core.types import arrays, options
from generated import PACKAGE

WIDTH = 120
# Options of strings that are not those of functions.
OWN_TYPES = {
    "labels": "Sequence[Label] | None", "pos_label": "Label", "threshold": "float", "modules": "Sequence[MeteorModule]",
    "stat": "str", "rule": 'Literal["linear", "lower", "higher"]', "at": "float | None", "max_fpr": "float | None",
}  # fmt: skip
COLUMNS = "str | Sequence[str]"
HEAD = '''\
"""Written by tools/generate.py from the registry: the metrics as methods of `Metric`."""

from collections.abc import Sequence
from typing import Any, Literal, TypeVar, overload

{imports}
OfMetric = TypeVar("OfMetric")

class MetricNames(type):
'''


def outputs() -> dict[Path, str]:
    forms: dict[str, list[MetricSpec]] = defaultdict(list)
    for spec in sorted(known_specs().values(), key=lambda spec: spec.name):
        forms[spec.base_name] += spec.forms
    body = "".join(line for name in sorted(forms) for line in methods(name, forms[name]))
    return {PACKAGE / "_core" / "types" / "metric_names.pyi": HEAD.format(imports=imports(body)) + body}


def imports(body: str) -> str:
    """The lines that import the names of types."""
    words = set(re.findall(r"\w+", body))
    lines = []
    for module in (arrays, options):
        own = {name for name in vars(module) if name[0].isupper()} - {"Any", "Literal", "Sequence"}
        if used := sorted(words & own):
            lines.append(f"from {module.__name__} import (\n{wrapped(', '.join(used))},\n)\n")
    return "".join(lines)


def wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH - 1, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def methods(name: str, forms: list[MetricSpec]) -> Iterator[str]:
    """The method of a metric, or an overload for each of its forms."""
    for form in forms:
        if len(forms) > 1:
            yield "    @overload\n"
        parameters = [parameter.replace(" ", "\0") for parameter in parameters_of_form(form)]
        joined = ", ".join(["cls: type[OfMetric]".replace(" ", "\0"), "*", *parameters])
        yield f"    def {name}(\n"
        lines = textwrap.wrap(joined, WIDTH - 9, break_on_hyphens=False, break_long_words=False)
        yield "".join(f"        {line}\n" for line in lines).replace("\0", " ").rstrip("\n") + ",\n"
        yield "    ) -> OfMetric: ...\n"


def parameters_of_form(form: MetricSpec) -> Iterator[str]:
    if form.cutoff:
        yield "k: int" if form.cutoff == REQUIRED else "k: int | None = ..."
    of_groups = [name for name in STAT_DEFAULTS if form.exchange == "hash" and name not in form.parameters]
    for name in [*form.parameters, *of_groups]:
        yield f"{name}: {type_of_option(form, name)} = ..."
    for role in column_roles(form):
        yield f"{role}: {COLUMNS if may_be_several(form, role) else 'str'} = ..."


def type_of_option(form: MetricSpec, name: str) -> str:
    check = form.checks.get(name)
    if isinstance(check, tuple):
        return type_of_values(check)
    if name in OWN_TYPES:
        return OWN_TYPES[name]
    function = inspect.signature(form.function).parameters if form.function is not None else {}
    if name in function:
        return str(function[name].annotation)
    default = form.parameters[name]
    return "float" if isinstance(default, (int, float)) and not isinstance(default, bool) else type(default).__name__


def type_of_values(values: tuple[Any, ...]) -> str:
    """A Literal of the values, as an editor shows it."""
    named = [value for value in values if not isinstance(value, bool) and value is not None]
    quoted = ", ".join(f'"{value}"' if isinstance(value, str) else repr(value) for value in named)
    kinds = [f"Literal[{quoted}]"] if named else []
    kinds += ["bool"] if any(isinstance(value, bool) for value in values) else []
    return " | ".join([*kinds, *(["None"] if None in values else [])])
