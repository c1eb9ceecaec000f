"""How the checks call a public function: its columns from the names of its arguments, its options from its module.

Options are data beside the function: `CHECKED_OPTIONS = {"name": ({}, {"option": value})}` in its module. Without an
entry they are the parameters of the metric's `variants`. `CHECKED_VALUES = {"name": [(arguments, options, value)]}` has
calls with the value that each must return.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core.metric_spec import REQUIRED, MetricSpec
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import list_metrics, parse
from fastmetrics.testing.sample_logs import Log

# The column of a log for each argument: of labels 0 and 1, and of numbers.
COLUMN_OF = {
    "y_true": "label", "y1": "label", "y_score": "score", "y_prob": "prob", "y_proba": "prob", "y_pred": "pred",
    "y2": "pred", "groups": "group",
}  # fmt: skip
NUMBER_COLUMN_OF = {"y_true": "target", "y_score": "forecast", "y_pred": "forecast", "groups": "group"}
LABELS = ("label", "target")
EXAMPLE_CUTOFF = 3


class FunctionCase(NamedTuple):
    """A function of rows, and how it is called on a log.

    Attributes
    ----------
    columns : dict
        Data argument -> column of the log, in the order of the arguments.
    options : tuple of dict
        The options to check.
    required : dict
        Values of the options that have no default: those of the first case.
    weighted : bool
        Does `sample_weight` weigh rows?
    returns : type
        The type of the result.
    """

    function: Callable[..., Any]
    columns: dict[str, str]
    options: tuple[dict[str, Any], ...]
    required: dict[str, Any]
    weighted: bool
    returns: type

    def __str__(self) -> str:
        return self.function.__name__

    @property
    def label_column(self) -> str:
        """The column of y_true; empty if the function has no labels."""
        return next((column for column in self.columns.values() if column in LABELS), "")

    @property
    def score_argument(self) -> str:
        return next(name for name, column in self.columns.items() if column not in (*LABELS, "group"))

    @property
    def score_column(self) -> str:
        return self.columns[self.score_argument]

    @property
    def grouped(self) -> bool:
        return "groups" in self.columns

    def call(self, log: Log, **options: Any) -> Any:
        """Call the function on a log, with the log's `weight` if it has one and the function weighs rows."""
        options = {**self.required, **options}
        if self.weighted and log.get("weight") is not None:
            options = {"sample_weight": log["weight"], **options}
        return self.function(*(log[column] for column in self.columns.values()), **options)


def function_case(function: Callable[..., Any]) -> FunctionCase | None:
    """The case of a function; None if its arguments are not columns of rows, as its docstring says of the first."""
    parameters = inspect.signature(function).parameters
    specs = [spec for spec in list_metrics().values() if spec.function is function]
    family = f"{function.__module__}...".split(".")[2]
    numeric = family == "regression" or any(spec.target == "real" for spec in specs)
    column_of = NUMBER_COLUMN_OF if numeric else COLUMN_OF
    columns = {
        name: column_of[name]
        for name, parameter in parameters.items()
        if name in column_of and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    }
    documentation = inspect.getdoc(function) or ""
    takes_rows = columns and re.search(rf"\n{next(iter(columns))}\b[^\n]* :[^\n]*\(n,\)", documentation)
    if not takes_rows or not set(columns.values()) - {*LABELS, "group"}:
        return None
    returns = return_type(function)
    # The weights of ranked lists weigh lists, not rows; a text shows weights as it likes.
    weighted = "sample_weight" in parameters and "offsets" not in parameters and returns is not str
    options = options_of(function, columns, specs)
    required = {name: options[0][name] for name in required_options(function, columns)}
    return FunctionCase(function, columns, options, required, weighted, returns)


def return_type(function: Callable[..., Any]) -> type:
    """The type that the docstring names first under "Returns"; several named results are a tuple."""
    found = re.search(r"\nReturns\n-+\n(?:(?P<name>\w[\w, ]*) : )?(?P<type>[\w.]+)", inspect.getdoc(function) or "")
    if found is None or found["name"]:
        return tuple
    text = found["type"].removeprefix("numpy.")
    kind = {"float": float, "int": int, "str": str, "tuple": tuple, "ndarray": np.ndarray}.get(text)
    return kind or vars(sys.modules[function.__module__]).get(text, object)


def checked_values(function: Callable[..., Any]) -> list[tuple[tuple[Any, ...], dict[str, Any], Any]]:
    """The calls of a function with their values: what its module says in CHECKED_VALUES."""
    values: dict[str, list[Any]] = getattr(sys.modules[function.__module__], "CHECKED_VALUES", {})
    return values.get(function.__name__, [])


def required_options(function: Callable[..., Any], columns: dict[str, str]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [own.name for own in parameters if own.default is own.empty and own.name not in columns]


def options_of(
    function: Callable[..., Any], columns: dict[str, str], specs: list[MetricSpec]
) -> tuple[dict[str, Any], ...]:
    module = sys.modules[function.__module__]
    options = getattr(module, "CHECKED_OPTIONS", {}).get(function.__name__)
    if options is None:
        options = [{"k": EXAMPLE_CUTOFF} if any(spec.cutoff == REQUIRED for spec in specs) else {}]
        names = inspect.signature(function).parameters
        for metric in (parse(variant) for spec in specs for variant in spec.variants):
            changed = {name: own for name, own in metric.arguments.items() if own != metric.spec.parameters.get(name)}
            changed |= {"k": metric.k} if metric.k else {}
            options.append({name: value for name, value in changed.items() if name in names})
    missing = [name for name in required_options(function, columns) if name not in options[0]]
    if missing:
        entry = f"CHECKED_OPTIONS = {{{function.__name__!r}: ({{...}},)}}"
        raise LookupError(f"{function.__name__} needs {missing}: add {entry} to {module.__name__}")
    return tuple(option for number, option in enumerate(options) if option not in options[:number])
