"""The options and columns of a metric string, checked against the forms of its metric."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from fastmetrics._core.calls.words import meant
from fastmetrics._core.group_stat import STAT_DEFAULTS
from fastmetrics._core.kinds import GROUP_ROLE
from fastmetrics._core.metric_spec import MetricSpec
from fastmetrics._core.metric_strings import read_columns
from fastmetrics._core.registry.registration import find_spelling
from fastmetrics._core.suggestions import ask_for, suggest

CUTOFF_WORD = "k"
# Arguments of `evaluate` that are no parameters of a metric.
OF_QUESTIONS = ("weight", "where", "by", "unit", "ci", "seed", "n_threads")


def choose_form(forms: Sequence[MetricSpec], model_roles: Sequence[str]) -> MetricSpec:
    """The form for the first of these roles, else the first form."""
    by_role = {form.model_role: form for form in forms}
    return next((by_role[role] for role in model_roles if role in by_role), forms[0])


def column_roles(spec: MetricSpec) -> list[str]:
    """The roles whose columns a metric string may name."""
    return [*spec.roles, *((GROUP_ROLE,) if spec.exchange == "hash" else ())]


def may_be_several(form: MetricSpec, role: str) -> bool:
    """May a role be several columns? Those of a key, and the probabilities of a model."""
    return role == GROUP_ROLE or (role == form.model_role and form.roles[role].has_vectors)


def parameters_of(spec: MetricSpec) -> list[str]:
    """The parameters that a metric string may have: those of groups are the same for all metrics of groups."""
    of_groups = [name for name in STAT_DEFAULTS if spec.exchange == "hash" and name not in spec.parameters]
    return [*spec.parameters, *of_groups]


def known_words(spec: MetricSpec) -> list[str]:
    """The options and roles of a metric, in all its forms."""
    return list(dict.fromkeys(word for form in spec.forms for word in (*parameters_of(form), *column_roles(form))))


def with_full_names(keywords: dict[str, ast.expr], spec: MetricSpec, text: str) -> dict[str, ast.expr]:
    """The keywords of a metric string as the metric names them: a number may be written without its n_, `bins=10`."""
    known = known_words(spec)
    named: dict[str, ast.expr] = {}
    for name, written in keywords.items():
        full = f"n_{name}" if name not in known and f"n_{name}" in known else name
        if full in named:
            raise ValueError(f"{full} is given twice in {text!r}")
        named[full] = written
    return named


def read_arguments(form: MetricSpec, spec: MetricSpec, keywords: dict[str, ast.expr], text: str) -> dict[str, Any]:
    """The arguments of a form of a metric, checked: parameters, and columns by role."""
    arguments: dict[str, Any] = {}
    roles = column_roles(form)
    for name, written in keywords.items():
        if name not in parameters_of(form) and name not in roles:
            known = known_words(spec)
            advice = spec.near_names.get(f"{spec.base_name}({name})") or advice_for_word(spec, name, written, known)
            if name in known:
                *others, last = [word for word in keywords if word in known]
                kinds = "scores, predicted labels or probabilities"
                advice = f"{', '.join(others)} and {last} are of different columns: {kinds}"
            raise ValueError(f"metric {spec.name!r} has no parameter {name!r}; {advice}")
        try:
            value = ast.literal_eval(written)
        except ValueError:
            raise ValueError(f"{name} in {text!r} must be a literal") from None
        if name in roles:
            value = read_columns(name, value, text, may_be_several(form, name))
        else:
            value = tuple(value) if isinstance(value, list) else value
            check_argument(form, name, value)
        arguments[name] = value
    return arguments


def advice_for_word(spec: MetricSpec, word: str, written: ast.expr, known: list[str]) -> str:
    """What to type for a parameter that a metric does not have."""
    near, others = meant(word, known), meant(word, OF_QUESTIONS) or ([word] if word in OF_QUESTIONS else [])
    if near:
        return ask_for(near)
    if (word == CUTOFF_WORD or meant(word, [CUTOFF_WORD])) and has_cutoff(spec.base_name):
        number = written.value if isinstance(written, ast.Constant) and isinstance(written.value, int) else 10
        return f"write '{spec.base_name}@{number}'"
    if others:
        return f"it is an argument of the whole question, {others[0]}="
    return suggest(word, known) if known else "it has none"


def has_cutoff(name: str) -> bool:
    """Is there a metric of this name that has a cutoff?"""
    return find_spelling(name, True) is not None


def check_argument(spec: MetricSpec, name: str, value: Any) -> None:
    check = spec.checks.get(name)
    if isinstance(check, tuple):
        if value not in check:
            raise ValueError(
                f"{name} of metric {spec.name!r} must be one of {', '.join(map(str, check))}; found {value!r}"
            )
    elif check is not None:
        check(value)
