"""What the engine promises of every registered metric, on a log of two thousand rows."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import groupby
from typing import Any

import numpy as np

import fastmetrics as fm
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.metric_spec import EXCHANGES, SCALES
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics.engine.plan.column_names import key_columns
from fastmetrics.testing.comparing import (
    Check,
    DoesNotApply,
    PassedChecks,
    make_checks,
    require,
    require_equal,
    require_error,
    run_all,
)
from fastmetrics.testing.function_texts import argument_kinds, docstring
from fastmetrics.testing.metric_cases import (
    SET_COLUMNS,
    MetricCase,
    content,
    expected,
    joint_cases,
    log_of,
    metric_cases,
    report_of,
    shorter_cases,
    weighted_cases,
)
from fastmetrics.testing.sample_logs import Log, class_columns, click_log, kind_columns, select

RELATIVE_ROUNDING = 1e-12
SPILLED_ROWS = 80_000  # more than 1 MiB holds
FEW_ROWS = 300
NO_WEIGHTS = "it takes no weights"
GOALS = {"closest_to_one": 1.0, "closest_to_zero": 0.0}
# A good and a bad prediction for each target. Both have every class, so that no value is undefined.
CLASSES: dict[str, list[Any]] = {
    "label": [0, 1, 0, 1, 1, 0],
    "good": [0.1, 0.9, 0.2, 0.8, 0.9, 0.1],
    "bad": [0.8, 0.3, 0.6, 0.2, 0.9, 0.7],
}
MODELS: dict[str, dict[str, list[Any]]] = {
    "binary": CLASSES,
    "real": {"label": [1.0, 2.0, 4.0, 8.0], "good": [1.1, 2.0, 4.0, 8.0], "bad": [3.0, 3.0, 2.0, 1.0]},
    "graded": CLASSES | {"label": [0, 2, 0, 1, 0, 0]},
    "text": {
        "label": ["the cat sat on the mat today"],
        "good": ["the cat sat on the mat now"],
        "bad": ["a dog on a road"],
    },
    "prediction": {"label": [0, 1, 0, 1, 1, 0], "good": [0, 1, 0, 1, 1, 0], "bad": [1, 1, 0, 0, 1, 0]},
    "predicted sets": {
        "label": [["a", "b"], [], ["c"]],
        "good": [["a", "b"], [], ["c", "b"]],
        "bad": [["c"], ["b"], ["a"]],
    },
    "sets": {
        "label": [[0], [1, 2], [2]],
        "good": [[0.9, 0.1, 0.2], [0.1, 0.8, 0.9], [0.3, 0.4, 0.5]],
        "bad": [[0.1, 0.9, 0.2], [0.9, 0.8, 0.1], [0.5, 0.5, 0.5]],
    },
    "probabilities": {
        "label": [0, 1, 2, 1],
        "good": [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.2, 0.7, 0.1]],
        "bad": [[0.1, 0.8, 0.1], [0.4, 0.2, 0.4], [0.4, 0.5, 0.1], [0.3, 0.3, 0.4]],
    },
    "partition": {"label": [*"aabbcc"], "good": [1, 1, 2, 2, 3, 3], "bad": [1, 2, 3, 1, 2, 3]},
}


def row_order(case: MetricCase) -> None:
    """The same rows in another order give the same report."""
    for order in (np.random.default_rng(0).permutation(len(case.log["label"])), slice(None, None, -1)):
        require_equal(expected(case), case.content(select(case.log, order)), "another order of rows")


def threads(case: MetricCase) -> None:
    """Any number of threads gives the same report."""
    for n_threads in (2, 3, 7):
        require_equal(expected(case), case.content(case.log, n_threads=n_threads), f"n_threads={n_threads}")


def batches(case: MetricCase) -> None:
    """Batches of any size give the same report."""
    for size in (9, 1000):
        reader = pa.table(case.log).to_reader(max_chunksize=size)
        require_equal(expected(case), case.content(reader), f"batches of {size} rows")


def unit_weights(case: MetricCase) -> None:
    """Weights of one are no weights, and rows of weight zero are absent."""
    if not case.takes_weights():
        raise DoesNotApply(NO_WEIGHTS)
    log = case.log
    found = case.evaluate({**log, "weight": np.ones(len(log["label"]))}, weight="weight")
    require_equal(expected(case)["results"][0]["value"], found[case.metric], "weights of one")
    kept = log["weight"] > 0
    zero_or_one = case.evaluate({**log, "weight": kept.astype(np.float64)}, weight="weight")
    require_equal(case.evaluate(select(log, kept))[case.metric], zero_or_one[case.metric], "rows of weight zero")


def repeated_rows(case: MetricCase) -> None:
    """An integer weight is a repeated row. A metric of groups may count the rows of a group: it is not asked."""
    if case.spec.exchange == "hash" or not case.takes_weights():
        raise DoesNotApply("a metric of groups may count rows" if case.takes_weights() else NO_WEIGHTS)
    log = case.log
    repeated = select(log, np.repeat(np.arange(len(log["label"])), log["weight"].astype(np.int64)))
    weighted, plain = case.evaluate(log, weight="weight")[case.metric], case.evaluate(repeated)[case.metric]
    agree = math.isclose(weighted, plain, rel_tol=RELATIVE_ROUNDING, abs_tol=RELATIVE_ROUNDING)
    require(agree, f"{weighted} with integer weights, {plain} with repeated rows")


def function_agrees(case: MetricCase) -> None:
    """The public function of the metric has the same bits."""
    metric, function = case.parsed, case.spec.function
    if function is None or metric.group_stat is not None:
        raise DoesNotApply("it has no public function")
    log, wanted = case.log, inspect.signature(function).parameters
    labels, scores = (columns_of_log(log, columns) for columns in case.columns.values())
    if "threshold" in metric.arguments:  # a function of predictions takes those at the threshold
        scores = (scores >= metric.arguments["threshold"]).astype(np.int8)
    columns = [scores.tolist(), labels.tolist()] if "hypotheses" in wanted else [labels, scores]
    columns += [log["group"]] if "groups" in wanted and case.spec.exchange == "hash" else []
    options = {name: value for name, value in metric.arguments.items() if name in wanted}
    if case.spec.target == "sets":
        (labels,), _ = columns_of_labels(columns[:1], {})
        columns = [labels, np.array(scores.tolist())]
    if case.columns == SET_COLUMNS:
        columns, options = columns_of_labels(columns, options)
    with warnings.catch_warnings():
        # Where a value says nothing, as the accuracy of the first 10 of 5 classes, functions warn.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        value = function(*columns, **options, **({"k": metric.k} if metric.k else {}))
    # Some functions return more than the value: a threshold, statistics of texts, several types of ROUGE.
    value = value[case.spec.base_name].fmeasure if hasattr(value, "keys") else value
    for attribute in ("value", "score"):
        value = getattr(value, attribute, value)
    require_equal(value, expected(case)["results"][0]["value"], f"evaluate against {function.__name__}")


def columns_of_labels(sets: list[Any], options: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Sets of labels as functions take them: a column for each label, which stands for it in options."""
    labels = sorted({label for column in sets for row in column for label in row})
    columns = [np.array([[label in row for label in labels] for row in column], np.int8) for column in sets]
    selected = options.get("labels")
    return columns, options | ({"labels": [*map(labels.index, selected)]} if selected else {})


def columns_of_log(log: Mapping[str, Any], columns: str | tuple[str, ...]) -> np.ndarray:
    """A column, or several columns as a matrix."""
    return log[columns] if isinstance(columns, str) else np.column_stack([log[name] for name in columns])


def names(case: MetricCase) -> None:
    """The canonical name, other spacing, and all parameters written out mean the same metric."""
    (result,) = report_of(case)
    spec, metric = case.spec, case.metric
    spaced = metric.replace("(", " ( ").replace("=", " = ").replace(")", " ) ")
    listed = ",".join(f"{name}={value!r}" for name, value in case.parsed.arguments.items())
    cutoff = f"@{case.parsed.k}" if case.parsed.k else ""
    for written in (result.metric, f" {spaced} ", f"{spec.base_name}({listed}){cutoff}"):
        (again,) = case._replace(metric=written).evaluate(case.log)
        require(again == result, f"{written!r} gives {again}, expected {result}")


def signature(case: MetricCase) -> None:
    """The signature names every parameter but options that are not used, and the version."""
    (result,) = report_of(case)
    arguments = case.parsed.arguments
    for name in (name for name in case.spec.parameters if arguments[name] is not None):
        require(f"|{name}:" in result.signature, f"no {name!r} in the signature {result.signature!r}")
    require(result.signature.endswith(f"|v:{fm.__version__}"), f"no version in the signature {result.signature!r}")


def defined(case: MetricCase) -> None:
    """The sample log gives a finite float without a reason, and coverage says how many rows were used."""
    (result,) = report_of(case)
    is_defined = type(result.value) is float and math.isfinite(result.value) and result.reason is None
    require(is_defined, f"expected a finite float, found {result.value!r}, {result.reason}")
    require(result.coverage.get("rows", 1) > 0, f"coverage without rows: {result.coverage}")


def undefined(case: MetricCase) -> None:
    """One row, one class, equal scores, weights of zero: a value, or NaN with its reason; never an error."""
    log = log_of(FEW_ROWS)
    few: dict[str, Log] = {f"row {row} alone": select(log, slice(row, row + 1)) for row in (0, 1)}
    few |= {f"rows of label {label}": select(log, log["label"] == label) for label in (0, 1)}
    models = key_columns(case.columns.get(case.model_role))
    if models:
        few["rows of equal scores"] = log | {model: np.repeat(log[model][:1], FEW_ROWS) for model in models}
    reports = {rows: case.evaluate(chosen) for rows, chosen in few.items()}
    if case.takes_weights():
        reports["rows of weight zero"] = case.evaluate({**log, "weight": np.zeros(FEW_ROWS)}, weight="weight")
    for rows, report in reports.items():
        result = report.results[0]
        is_clear = math.isfinite(result.value) != bool(result.reason) or math.isinf(result.value)
        require(is_clear, f"{rows}: value {result.value} with the reason {result.reason!r}")


def bad_values(case: MetricCase) -> None:
    """NaN in a column is an error that names the column and the row, whatever the weight of the row."""
    if not all(kind.is_numeric for kind in case.spec.roles.values()):
        raise DoesNotApply("its columns are not numbers")
    log = log_of(FEW_ROWS)
    for column in case.column_names():
        for options in ({}, {"weight": "weight"}) if case.takes_weights() else ({},):
            with_nan = log[column].astype(np.float64)
            with_nan[[7, 9]] = math.nan
            weight = np.arange(FEW_ROWS) % 7.0  # 0 in row 7
            bad = {**log, column: with_nan, "weight": weight if case.spec.target != "graded" else log["weight"]}
            require_error(partial(case.evaluate, bad, **options), column, "NaN", "row 7")


def inputs_are_kept(case: MetricCase) -> None:
    """Read-only columns are read, and no input is modified."""
    log = {name: column.copy() for name, column in case.log.items()}
    for column in log.values():
        column.flags.writeable = False
    require_equal(expected(case), case.content(log), "read-only columns")
    for name, column in log.items():
        require(column.tobytes() == case.log[name].tobytes(), f"evaluate modified the column {name!r}")


def slices(case: MetricCase) -> None:
    """A slice has the value of its rows alone."""
    log = case.log
    for group, results in groupby(case.evaluate(log, by="slice"), lambda result: result.slice):
        rows = log["slice"] == group["slice"] if group else slice(None)
        for alone, result in zip(case.evaluate(select(log, rows)), results, strict=True):
            same = (alone.value, alone.reason, alone.coverage)
            require_equal(same, (result.value, result.reason, result.coverage), f"slice {group}")


def accumulators(case: MetricCase) -> None:
    """States of parts of the log, sent as bytes and merged in any order, give the report of the whole."""
    log = case.log
    parts = []
    cut = case.rows * 7 // 20
    for rows in (slice(0, cut), slice(cut, cut + 1), slice(cut + 1, None)):
        part = fm.Accumulator([*case.metrics], **case.keywords)
        part.update(select(log, rows))
        parts.append(fm.Accumulator.from_bytes(part.to_bytes()))
    merged = parts[1].merge(parts[2]).merge(parts[0])
    require_equal(expected(case)["results"], content(merged.result())["results"], "merged accumulators")


def intervals(case: MetricCase) -> None:
    """An interval by groups depends on the rows alone, and its ends are in order; where there is none it says why."""
    if case.parsed.no_interval is not None:
        raise DoesNotApply(f"it has no interval: {case.parsed.no_interval}")
    options: dict[str, Any] = {"ci": 0.9, "replicates": 8, "unit": "group"}
    report = case.evaluate(case.log, **options)
    for result in report.results:
        interval = result.interval
        is_right = "interval" in result.coverage if interval is None else interval[0] < interval[1]
        require(is_right, f"the interval is {interval}, without a reason")
    moved = case.content(select(case.log, slice(None, None, -1)), **options, n_threads=3)
    require_equal(content(report), moved, "an interval of rows in another order")


@cache
def long_log() -> Log:
    """A log that a mebibyte does not hold; it is only read."""
    return click_log(SPILLED_ROWS) | kind_columns(SPILLED_ROWS, seed=0) | class_columns(SPILLED_ROWS)


def memory_limit(case: MetricCase) -> None:
    """Under a memory limit, rows spill to disk and the report stays the same."""
    if case.spec.exchange == "none":
        raise DoesNotApply("it keeps no rows")
    log = long_log()
    require_equal(case.content(log), case.content(log, memory_limit="1MiB"), "memory_limit='1MiB'")


def direction(case: MetricCase) -> None:
    """A good model has a better value than a bad one, as the direction of the metric says.

    Of a metric that reads other columns than labels and those of models, it is not known which model is good.
    """
    if set(case.columns) != {"label", case.model_role}:
        raise DoesNotApply("it reads other columns than labels and scores")
    models = MODELS["predicted sets" if case.columns == SET_COLUMNS else case.spec.target]
    log = models | {"user": [1] * len(models["label"])}
    group = "user" if case.spec.exchange == "hash" else None
    compared = [["good"], ["bad"]] if case.spec.target == "probabilities" else ["good", "bad"]
    columns: dict[str, Any] = {"label": "label", case.model_role: compared, "group": group}
    report = fm.evaluate(log, [case.metric], **columns)
    good, bad = (report.value(case.metric, score=score) for score in ("good", "bad"))
    wanted = case.parsed.direction
    holds = {
        "maximize": good >= bad,
        "minimize": good <= bad,
        "none": good == bad,
        **{name: abs(good - goal) < abs(bad - goal) for name, goal in GOALS.items()},
    }
    require(holds[wanted], f"direction is {wanted!r}, but the good model has {good} and the bad one {bad}")


def scale(case: MetricCase) -> None:
    """Values are in the range of the scale that the metric declares."""
    name, low, high, _ = SCALES[case.parsed.scale]
    for group, results in groupby(case.evaluate(case.log, by="slice"), lambda result: result.slice):
        for result in results:
            is_in_range = result.reason is not None or low <= result.value <= high
            require(is_in_range, f"scale is {name!r}, from {low:g} to {high:g}; slice {group} has {result.value}")


def description(case: MetricCase) -> None:
    """The entry of the metric says in words what it is and when it is undefined; its function is documented."""
    spec = case.spec
    require(spec.exchange in EXCHANGES, f"exchange {spec.exchange!r}")
    require(spec.summary and "\n" not in spec.summary, f"the summary is {spec.summary!r}")
    require(spec.undefined, "nothing says when the metric is undefined")
    if spec.function is not None:
        docstring(spec.function)
        argument_kinds(spec.function)


# What the engine does with the rows: one call for all variants of a metric on the same columns.
JOINT_CHECKS: list[Callable[[MetricCase], None]] = [
    row_order, threads, batches, inputs_are_kept, slices, accumulators, intervals, memory_limit,
]  # fmt: skip
WEIGHTED_CHECKS = [row_order, threads, batches, slices, accumulators]  # with weights too
CHECKS: list[Callable[[MetricCase], None]] = [
    unit_weights, repeated_rows, function_agrees, names, signature, defined, undefined, bad_values, direction,
    scale,
]  # fmt: skip


@answers_unknown
def metric_checks(name: str) -> Iterator[Check]:
    """The checks of a registered metric, each with its name; provisional.

    Parameters
    ----------
    name : str
        A name of `fastmetrics.list_metrics()`. Its example and its `variants` are checked.

    Returns
    -------
    iterator of Check
        `name`, and `run` without arguments. `run` raises AssertionError with the metric, the check, and both values.
    """
    yield from make_checks(name, JOINT_CHECKS, lambda: joint_cases(name), shorter_cases)
    yield from make_checks(name, WEIGHTED_CHECKS, lambda: weighted_cases(name), shorter_cases, ", with weights")
    yield from make_checks(name, CHECKS, lambda: metric_cases(name), shorter_cases)
    yield from make_checks(name, [description], lambda: metric_cases(name)[:1])


@answers_unknown
def check_metric(name: str) -> PassedChecks:
    """Run all checks of a registered metric on a sample log of 2,000 rows; provisional.

    Parameters
    ----------
    name : str
        A name of `fastmetrics.list_metrics()`.

    Returns
    -------
    PassedChecks
        One record for each check: `name`, `promise`, `cases` (how many), `left_out` (why not). It prints as a table.

    Raises
    ------
    AssertionError
        With all failures: the check, both values, and the first rows of the sample log that are enough to show it.
    """
    return run_all(name, metric_checks(name))
