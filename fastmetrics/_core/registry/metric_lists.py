"""The one reader of lists of metrics: every entry point that takes metrics calls it.

A list of metrics is a metric string, or several with commas between them; a `Metric`; a public function of a metric; or
an iterable of these, a generator too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from fastmetrics._core.calls.words import meant
from fastmetrics._core.kinds import LABEL_ROLE, MODEL_ROLES, SCORE_ROLE
from fastmetrics._core.metric_spec import REQUIRED
from fastmetrics._core.registry.metric_table import list_metrics
from fastmetrics._core.registry.parsed_metric import Metric, parse
from fastmetrics._core.registry.registration import known_specs
from fastmetrics._core.upper_layers import PUBLIC_NAMES

Metrics: TypeAlias = str | Metric | Callable[..., Any] | Iterable[str | Metric | Callable[..., Any]]


def list_metrics_of(
    metrics: Metrics, name: str = "metrics", split: Callable[[str], list[str]] | None = None
) -> list[str | Metric]:
    """The metrics of a list one by one, as strings or as `Metric`.

    `name` is what errors call the argument; `split` cuts a text of several, by default `split_metrics`.
    """
    split = split or split_metrics
    if isinstance(metrics, str | Metric) or callable(metrics):
        metrics = [metrics]
    if not isinstance(metrics, Iterable) or isinstance(metrics, bytes | bytearray | Mapping):
        raise TypeError(f"{name} must be a list of metric strings; found {type(metrics).__name__}")
    found: list[str | Metric] = []
    for place, metric in enumerate(metrics):
        if isinstance(metric, str):
            found += split(str(metric))
        elif isinstance(metric, Metric):
            found.append(metric)
        elif callable(metric):
            found.append(metric_of_function(metric, name))
        else:
            raise TypeError(
                f"{name} must be a list of metric strings; found {metric!r}, of type {type(metric).__name__}, at place "
                f"{place}"
            )
    if not found:
        raise ValueError(f"{name} is empty: name at least one; fastmetrics.list_metrics() lists them all")
    return found


def read_metrics(
    metrics: Metrics, model_roles: Sequence[str] = (SCORE_ROLE,), name: str = "metrics"
) -> tuple[Metric, ...]:
    """The metrics of a list, each once; `model_roles` as for `parse`."""
    return tuple(dict.fromkeys(parse(metric, model_roles) for metric in list_metrics_of(metrics, name)))


def split_metrics(text: str, *, repeat: bool = True) -> list[str]:
    """Cut "auc, gauc(weight=pairs,single_class=half)" at its commas outside parentheses.

    "ndcg@5,10" is "ndcg@5,ndcg@10", as trec_eval writes several cutoffs, unless `repeat` is false.
    """
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    names: list[str] = []
    for part in map(str.strip, parts):
        number = names and repeat and re.fullmatch(r"[0-9]+%?", part)
        before = re.fullmatch(r"(.*?)[0-9]+%?", names[-1]) if number else None
        names.append(part if before is None else before[1] + part)
    return names


def metric_of_function(function: Callable[..., Any], name: str = "metrics") -> str:
    """The metric string of a function of arrays, or of a function that `fastmetrics.extend` registered."""
    specs = [spec for spec in list_metrics().values() if function in (spec.function, spec.finalize)]
    own = getattr(function, "__name__", type(function).__name__)
    if not specs:
        raise ValueError(f"{name} has the function {own}, which is no metric of a log{advice_for_function(own)}")
    if len(specs) > 1:
        lines = ", ".join(repr(spec.example) for spec in specs)
        raise ValueError(f"{name} has the function {own}, which is of several metrics: write one of {lines}")
    (spec,) = specs
    if spec.cutoff == REQUIRED:
        raise ValueError(f"{name} has the function {own}, which needs a cutoff: write {spec.example!r}")
    return spec.base_name


def advice_for_function(name: str) -> str:
    """What is a metric of nearly this name."""
    try:
        metric = parse(name)
    except ValueError as error:
        found = re.search(r"(did you mean|write) .*", str(error))
        return f": {found[0]}" if found else ""
    function = metric.spec.function
    return f"; {repr(metric)!r} is" + ("" if function is None else f", whose function is {function.__name__}")


def advice_for_attribute(name: str) -> str:
    """What to type for a name that the package lacks: a metric's function and metric string, or a similar name."""
    from difflib import get_close_matches

    for text in (name, f"{name}@10"):
        try:
            metric = parse(text)
        except ValueError:
            continue
        function = metric.spec.function
        call = "" if function is None else f": fm.{function.__name__}"
        return f"{call}; in a metric list: {repr(metric)!r}"
    return "".join(f"; did you mean {own!r}?" for own in get_close_matches(name, PUBLIC_NAMES, n=1))


def metric_string_with(word: str) -> str | None:
    """A metric string with the parameter that a word means: parameters of metrics are no arguments of `evaluate`."""
    examples: dict[str, str] = {"k": "ndcg@10"}
    forms = (form for spec in known_specs().values() for form in spec.forms)
    for spec in sorted(forms, key=lambda form: form.exchange != "none"):
        for name in spec.parameters:
            values = (re.search(rf"\b{name}=(\[.*?\]|[^,()]+)", variant) for variant in spec.variants)
            value = next(filter(None, values), None)
            if value is not None:
                cutoff = "@10" if spec.cutoff == REQUIRED else ""
                examples.setdefault(name, f"{spec.base_name}({value[0]}){cutoff}")
    names = [word] if word in examples else meant(word, examples)
    return examples[names[0]] if names else None


def default_metrics(columns: Mapping[str, Any], *, compared: bool = False, target: str = "binary") -> list[str]:
    """The metrics that are evaluated when none are named: those of the columns that are given, by role.

    `compared`: those alone of which one value is better than another. `target`: the labels beside scores.
    """
    given = {role for role, column in columns.items() if column is not None}
    role = next((role for role in MODEL_ROLES if role in given), SCORE_ROLE)
    target = target if role == SCORE_ROLE else role
    known_specs()
    return [
        form.example
        for spec in list_metrics().values()
        for form in spec.forms
        if form.default
        and form.target == target
        and (form.exchange != "hash" or "group" in given)
        and form.roles.keys() <= {LABEL_ROLE, role, *given}
        and not (compared and (form.direction == "none" or form.model_role is None))
    ]
