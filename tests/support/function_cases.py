"""Every public function of rows with its options, called on one log. Tests of guarantees compare the values with ==.

A log is a dict of arrays `label score prob group pred target forecast`, and `weight` for weighted calls. The cases are
those of `fastmetrics.testing`: a new function needs no line here.
"""

import inspect
import warnings
from typing import Any

import numpy as np

import fastmetrics as fm
from fastmetrics.testing.comparing import bits as exact
from fastmetrics.testing.function_cases import function_case

Log = dict[str, Any]

PUBLIC = {name: getattr(fm, name) for name in fm.__all__ if inspect.isfunction(getattr(fm, name))}
FUNCTIONS = {name: case for name, function in PUBLIC.items() if (case := function_case(function)) is not None}
UNGROUPED = [name for name, call in FUNCTIONS.items() if not call.grouped]
GROUPED = [name for name, call in FUNCTIONS.items() if call.grouped]
RANKING_FUNCTIONS = [name for name, call in FUNCTIONS.items() if call.grouped and not call.weighted]
WEIGHTED = [name for name, call in FUNCTIONS.items() if call.weighted]
CLASS_FUNCTIONS = [name for name, call in FUNCTIONS.items() if call.label_column == "label"]
REGRESSION_FUNCTIONS = [name for name, call in FUNCTIONS.items() if call.label_column == "target"]
PROBABILITY_FUNCTIONS = [name for name, call in FUNCTIONS.items() if call.score_column == "prob"]


def required(name: str) -> dict[str, Any]:
    """Values of the options that have no default: those of the first test case."""
    return FUNCTIONS[name].required


def call(name: str, log: Log, **options: Any) -> Any:
    """Call a function on a log, with the log's `weight` if it has one and the function takes weights."""
    return FUNCTIONS[name].call(log, **options)


def needs_both_classes(name: str) -> bool:
    """Whether one row is an error: the value is undefined, or the positive label is unknown."""
    log = {"label": [0], "score": [0.5], "prob": [0.5], "pred": [1], "group": [1], "target": [1.0], "forecast": [1.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            call(name, log, **FUNCTIONS[name].options[0])
        except ValueError:
            return True
    return False


def every_value(log: Log, names: list[str] | None = None, **options: Any) -> dict[str, Any]:
    """The values of all functions and options on a log. Undefined values are NaN; their warnings are ignored."""
    values = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for name in FUNCTIONS if names is None else names:
            for choice in FUNCTIONS[name].options:
                values[f"{name}({choice})"] = exact(call(name, log, **choice, **options))
    return values


def map_columns(log: Log, change: Any) -> Log:
    """The log with a change applied to every column."""
    return {name: change(column) for name, column in log.items()}


def add_weights(log: Log, seed: int = 0, integer: bool = True) -> Log:
    generator = np.random.default_rng(seed)
    rows = len(log["label"])
    weight = generator.integers(0, 5, rows).astype(np.float64) if integer else generator.random(rows)
    return {**log, "weight": weight}
