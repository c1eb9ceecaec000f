"""The public surface: names, signatures, attributes of classes, metrics, the command line's options.

Annotations are not part of it, nor is any wording of help.
"""

import inspect
from typing import Any, Literal, get_args, get_origin, get_type_hints

import fastmetrics as fm

# Names of classes that only our own code uses. They stand without an underscore, but no page describes them.
INTERNAL = {
    "Accumulator": {
        "as_worker", "bounds", "capacity", "check_labels", "check_mergeable", "check_types", "copy_rows", "empty",
        "fill_histograms", "flushed", "kept_columns", "needs_rows", "options_of_intervals",
    },
    "COCO": {"document"},
    "Comparison": {"foot", "head", "table", "too_few_replicates"},
    "TextComparison": {"foot", "head", "table", "too_few_replicates"},
    "CocoResult": {"describe", "lines"},
    "CategoryTable": {"lines"},
    "Report": {"head", "roles", "table", "with_pictures"},
    "RougeScore": {"of_pairs"},
    "TextFile": {"mean_length", "refuse", "report", "title"},
    "TrecQrels": {"arranged", "refuse_bytes", "strings", "value_name"},
    "TrecRun": {"refuse_bytes", "strings", "value_name"},
}  # fmt: skip
# Only functions make them, from objects that are not public.
MADE_BY_FUNCTIONS = {"CocoResult", "RankingResult", "SegmentStatistics", "TextFile", "TrecQrels", "TrecRun"}
METRIC_ATTRIBUTES = [
    "name", "word", "example", "family", "parameters", "default", "cutoff", "target", "negative_grades", "best",
]  # fmt: skip
METRIC_TEXTS = ["summary", "undefined"]  # for people: they are there, their words may change


def names() -> list[str]:
    return sorted(fm.__all__)


def parameters(function: Any) -> list[str]:
    """Parameters as they would be typed, without annotations."""
    signature = inspect.signature(function)
    return [f"{own.kind.name.lower()} {own.replace(annotation=own.empty)}" for own in signature.parameters.values()]


def functions() -> dict[str, list[str]]:
    return {name: parameters(getattr(fm, name)) for name in names() if inspect.isfunction(getattr(fm, name))}


def classes() -> dict[str, Any]:
    return {name: members(name, getattr(fm, name)) for name in names() if inspect.isclass(getattr(fm, name))}


def members(name: str, own_class: type) -> dict[str, Any]:
    """Constructor, methods with parameters, attributes, and the fields of a named tuple in their order."""
    basic = next(base for base in (tuple, float, Exception, object) if issubclass(own_class, base))
    found: dict[str, Any] = {"basic": basic.__name__}
    if hasattr(own_class, "_fields"):
        found["fields"] = list(own_class._fields)
    if name not in MADE_BY_FUNCTIONS and basic is not Exception:
        found["constructor"] = parameters(own_class)
    public = {own for own in dir(own_class) if own[0] != "_"} - set(dir(basic)) - INTERNAL.get(name, set())
    methods = {own for own in public if callable(getattr(own_class, own))}
    found["methods"] = {own: parameters(getattr(own_class, own)) for own in sorted(methods)}
    found["attributes"] = sorted(public - methods)
    return found


def metrics() -> dict[str, dict[str, Any]]:
    """What an entry of `describe_metrics` says, as plain values."""
    return {spec.name: describe(spec) for spec in fm.describe_metrics()}


def describe(spec: Any) -> dict[str, Any]:
    found = {name: getattr(spec, name) for name in METRIC_ATTRIBUTES}
    found["parameters"] = {name: repr(value) for name, value in spec.parameters.items()}
    found["allowed"] = {name: list(check) for name, check in spec.checks.items() if isinstance(check, tuple)}
    found["function"] = None if spec.function is None else spec.function.__name__
    found["interval"] = None if spec.interval is None else spec.interval.method
    return found


def exchanges() -> dict[str, str]:
    """What `spec.exchange` says of every metric."""
    return {spec.name: spec.exchange for spec in fm.describe_metrics()}


def commands() -> dict[str, Any]:
    """Commands with their options and arguments, as they are declared: Typer's own objects change with its version."""
    from fastmetrics.cli.app import app

    callbacks = {command.name: command.callback for command in app.registered_commands}
    callbacks["fastmetrics"] = app.registered_callback.callback
    return {name: declarations(callback) for name, callback in callbacks.items()}


def declarations(callback: Any) -> dict[str, Any]:
    """Options by their first long spelling, arguments by their place; what the parameters are called is ours."""
    hints = get_type_hints(callback, include_extras=True)
    typed = [own for own in inspect.signature(callback).parameters.values() if get_args(hints[own.name])]
    found: dict[str, Any] = {}
    for own in typed:  # others are a context
        typed_as, info = get_args(hints[own.name])[:2]
        is_argument = "Argument" in type(info).__name__
        spellings = [] if is_argument else spellings_of(own.name, info)
        name = f"argument {len(found)}" if is_argument else next(one for one in spellings if one.startswith("--"))
        found[name] = {
            "spellings": spellings,
            "type": type_of(typed_as),
            "default": "required" if own.default is own.empty else repr(getattr(own.default, "value", own.default)),
            **{bound: getattr(info, bound) for bound in ("min", "max") if getattr(info, bound) is not None},
        }
    return found


def spellings_of(name: str, info: Any) -> list[str]:
    """Where an option is declared in an annotation, the place of its default has the first spelling."""
    first = [info.default] if isinstance(info.default, str) else []
    return [*first, *(info.param_decls or ())] or [f"--{name.replace('_', '-')}"]


def type_of(typed: Any) -> Any:
    """A name of Python's own types; the choices of a literal."""
    if get_origin(typed) is Literal:
        return list(get_args(typed))
    if get_args(typed):
        outer = get_origin(typed)
        return {"of": [type_of(own) for own in get_args(typed)], "in": "list" if outer is list else "union"}
    return typed.__name__ if inspect.isclass(typed) else str(typed)


def spark() -> dict[str, Any]:
    """The public names of fastmetrics.spark with their parameters."""
    from fastmetrics import spark as module

    return {name: parameters(getattr(module, name)) for name in sorted(module.__all__)}


SECTIONS = {
    "names": names,
    "functions": functions,
    "classes": classes,
    "metric_names": fm.list_metrics,
    "metrics": metrics,
    "exchanges": exchanges,
    "commands": commands,
    "spark": spark,
}
