"""What every public function of rows promises: the same bits whatever the order, threads and memory of its input."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics.testing.comparing import (
    Check,
    PassedChecks,
    make_checks,
    require,
    require_equal,
    require_error,
    run_all,
)
from fastmetrics.testing.function_cases import FunctionCase, checked_values, function_case
from fastmetrics.testing.function_texts import argument_kinds, docstring
from fastmetrics.testing.sample_logs import Log, click_log, select

ROWS = 300
THREADED_ROWS = 140_000  # more than one block: several threads have work
RELATIVE_ROUNDING = 1e-12
FEW_ROWS = 6
NEVER_CHECKED = {"normalize", "labels", "pos_label"}  # options that take any value


def rows_of(rows: int, seed: int = 3) -> Log:
    """A log whose probabilities are above 0 and below 1."""
    log = click_log(rows, seed=seed)
    return {**log, "prob": np.clip(log["prob"], 0.01, 0.99)}


def with_weights(log: Log) -> Log:
    """The log with integer weights, some of them zero."""
    weight = np.random.default_rng(1).integers(0, 4, len(log["label"])).astype(np.float64)
    weight[:2] = 1.0
    return {**log, "weight": weight}


def values(case: FunctionCase, log: Log, **options: Any) -> dict[str, Any]:
    """The value for each of the options. An undefined value is NaN; its warning is ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return {f"{choice}": case.call(log, **choice, **options) for choice in case.options}


def logs_of(case: FunctionCase, rows: int = ROWS) -> list[Log]:
    log = rows_of(rows)
    return [log, with_weights(log)] if case.weighted else [log]


def row_order(case: FunctionCase) -> None:
    """The same rows in another order give the same bits."""
    for log in logs_of(case):
        expected = values(case, log)
        generator = np.random.default_rng(0)
        orders = (generator.permutation(ROWS), np.arange(ROWS)[::-1], np.argsort(log["score"], kind="stable"))
        for order in orders:
            require_equal(expected, values(case, select(log, order)), "another order of rows")


def threads(case: FunctionCase) -> None:
    """Any number of threads gives the same bits."""
    for log in logs_of(case, THREADED_ROWS):
        expected = values(case, log, n_threads=1)
        require_equal(expected, values(case, log, n_threads=3), "three threads")


def memory_layouts(case: FunctionCase) -> None:
    """Lists, read-only, strided, reversed and byte-swapped arrays are read; no input is modified."""
    layouts: dict[str, Callable[[np.ndarray], Any]] = {
        "a list": np.ndarray.tolist,
        "a strided array": lambda column: np.repeat(column, 3)[::3],
        "a negative stride": lambda column: column[::-1].copy()[::-1],
        "byte-swapped numbers": lambda column: column.astype(column.dtype.newbyteorder()),
    }
    for log in logs_of(case):
        before = {name: column.tobytes() for name, column in log.items()}
        expected = values(case, log)
        for column in log.values():
            column.flags.writeable = False
        require_equal(expected, values(case, log), "read-only arrays")
        for name, layout in layouts.items():
            changed = {column: layout(array) for column, array in log.items()}
            require_equal(expected, values(case, changed), name)
        for name, column in log.items():
            require(column.tobytes() == before[name], f"the call modified the column of {name!r}")


def unit_weights(case: FunctionCase) -> None:
    """Weights of one are no weights, and a row of weight zero is absent."""
    if not case.weighted:
        return
    log = rows_of(ROWS)
    for dtype in (np.float64, np.float32, np.int64, np.bool_):
        weighted = values(case, {**log, "weight": np.ones(ROWS, dtype)})
        require_equal(values(case, log), weighted, f"weights of one as {np.dtype(dtype)}")
    weighted_log = with_weights(log)
    kept = select(weighted_log, weighted_log["weight"] > 0)
    require_equal(values(case, kept), values(case, weighted_log), "rows of weight zero")


def repeated_rows(case: FunctionCase) -> None:
    """An integer weight is a repeated row. A function of groups or of bins may count rows: it is not asked."""
    if not case.weighted or case.grouped or case.returns is not float or "strategy" in case.options[0]:
        return
    log = with_weights(rows_of(ROWS))
    repeated = select(log, np.repeat(np.arange(ROWS), log["weight"].astype(np.int64)))
    weighted, plain = case.call(log, **case.options[0]), case.call({**repeated, "weight": None}, **case.options[0])
    agree = math.isclose(weighted, plain, rel_tol=RELATIVE_ROUNDING, abs_tol=RELATIVE_ROUNDING)
    require(agree, f"{weighted} with integer weights, {plain} with repeated rows")


def result_type(case: FunctionCase) -> None:
    """The result has the type that the docstring names first."""
    found = type(case.call(rows_of(ROWS), **case.options[0]))
    require(found is case.returns, f"the docstring says {case.returns.__name__}, found {found.__name__}")


def undefined(case: FunctionCase) -> None:
    """One row, one class: a value, NaN with an UndefinedMetricWarning, or an error that names an argument."""
    log = rows_of(ROWS)
    for few in (select(log, slice(0, 1)), select(log, slice(1, 2)), select(log, log["label"] == 0)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                value = case.call(few, **case.options[0])
            except ValueError as error:
                require(any(name in str(error) for name in (*case.columns, "labels")), f"unclear error: {error}")
                continue
        if isinstance(value, float) and math.isnan(value):
            warned = any(issubclass(warning.category, UndefinedMetricWarning) for warning in caught)
            require(warned, f"NaN without an UndefinedMetricWarning for {len(few['label'])} rows")


def bad_values(case: FunctionCase) -> None:
    """NaN, columns of another length and no rows at all are errors that name the argument, and the row."""
    log = rows_of(FEW_ROWS)
    accepts_any_label = case.score_column == "pred"  # labels of any type, so that NaN may be one of them
    for argument, column in case.columns.items():
        if column == "group" or accepts_any_label:
            continue
        with_nan = log[column].astype(np.float64)
        with_nan[[3, 5]] = np.nan
        bad = {**log, column: with_nan}
        require_error(partial(case.call, bad, **case.options[0]), argument, "NaN", "row 3")
    for argument, column in case.columns.items():
        if len(case.columns) > 1:
            shorter = {**log, column: log[column][:-1]}
            require_error(partial(case.call, shorter, **case.options[0]), argument, 5, 6)
    require_equal(values(case, log, n_threads=-1), values(case, log, n_threads=None), "n_threads=-1 for all CPUs")
    for n_threads in (0, -2, 1.5):
        require_error(partial(case.call, log, n_threads=n_threads), "n_threads")


def bad_weights(case: FunctionCase) -> None:
    """Weights that are negative, NaN, infinite or too many are errors that name sample_weight, and the row."""
    if not case.weighted:
        return
    log = rows_of(FEW_ROWS)
    for value in (-1.0, math.nan, math.inf):
        weight = np.ones(FEW_ROWS)
        weight[4] = value
        require_error(partial(case.call, {**log, "weight": weight}, **case.options[0]), "sample_weight", "row 4")
    require_error(partial(case.call, {**log, "weight": np.ones(7)}, **case.options[0]), "sample_weight", 6, 7)


def bad_rows_of_weight_zero(case: FunctionCase) -> None:
    """A bad value is an error whatever the weight of its row, and rows of weight zero do not shift row numbers."""
    if not case.weighted or case.score_column == "pred":
        return
    log = {**rows_of(FEW_ROWS), "weight": np.array([1.0, 1.0, 0.0, 1.0, 0.0, 1.0])}
    for row in (2, 5):
        scores = log[case.score_column].astype(np.float64)
        scores[row] = np.nan
        bad = {**log, case.score_column: scores}
        require_error(partial(case.call, bad, **case.options[0]), case.score_argument, f"row {row}")


def options_are_used(case: FunctionCase) -> None:
    """A wrong value of any option raises, so that no option is ignored."""
    log = rows_of(ROWS)
    for option in set(inspect.signature(case.function).parameters) - {*case.columns, *case.required, *NEVER_CHECKED}:
        require_error(partial(case.call, log, **{option: object()}), option)


def stated_values(function: Callable[..., Any]) -> None:
    """The calls of CHECKED_VALUES beside the function return exactly the values there."""
    for arguments, options, value in checked_values(function):
        require_equal(value, function(*arguments, **options), f"the call of {arguments} with {options}")


CHECKS = [
    row_order, threads, memory_layouts, unit_weights, repeated_rows, result_type, undefined, bad_values, bad_weights,
    bad_rows_of_weight_zero, options_are_used,
]  # fmt: skip


@answers_unknown
def function_checks(function: Callable[..., Any]) -> Iterator[Check]:
    """The checks of a public function, each with its name; provisional.

    Parameters
    ----------
    function : callable
        A function of columns: its data arguments are called as fastmetrics calls them (y_true, y_score, y_prob ...).
        Of a function of other things, only the docstring and the kinds of the arguments are checked.

    Returns
    -------
    iterator of Check
        `name`, and `run` without arguments. `run` raises AssertionError with the function, the check, and both values.
    """
    yield from make_checks(function.__name__, [docstring, argument_kinds, stated_values], lambda: [function])
    case = function_case(function)
    if case is not None:
        yield from make_checks(function.__name__, CHECKS, lambda: [case])


@answers_unknown
def check_function(function: Callable[..., Any]) -> PassedChecks:
    """Run all checks of a public function, and return what they did; provisional. Raises one AssertionError for all."""
    return run_all(function.__name__, function_checks(function))
